#include "tcp_proxy.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstddef>

#include "parlor/check.h"
#include "support/socket_address.h"

namespace parlor {
namespace {

// How late an order is noticed at most.
constexpr int kLookMs = 10;

int NewSocket() { return socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0); }

void SendWithoutDelay(int socket) {
  const int on = 1;
  setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

}  // namespace

TcpProxy::TcpProxy(std::uint16_t target) : target_(target) {
  listener_ = NewSocket();
  sockaddr_in address = test::Loopback(0);
  PARLOR_CHECK(bind(listener_, test::Plain(address), sizeof address) == 0);
  PARLOR_CHECK(listen(listener_, 16) == 0);
  socklen_t size = sizeof address;
  getsockname(listener_, static_cast<sockaddr*>(static_cast<void*>(&address)),
              &size);
  port_ = ntohs(address.sin_port);
  thread_ = std::thread([this] { Run(); });
}

TcpProxy::~TcpProxy() {
  end_ = true;
  thread_.join();
  for (Pair& pair : pairs_) Reset(pair);
  close(listener_);
}

void TcpProxy::Run() {
  while (!end_) {
    std::vector<pollfd> waits = {
        {.fd = listener_, .events = POLLIN, .revents = 0}};
    // A negative descriptor is passed over.
    const auto wait = [&waits](const End& end) {
      waits.push_back(
          {.fd = end.done ? -1 : end.socket, .events = POLLIN, .revents = 0});
    };
    for (const Pair& pair : pairs_) {
      wait(pair.client);
      wait(pair.server);
    }
    poll(waits.data(), waits.size(), kLookMs);
    if (cut_) {
      for (Pair& pair : pairs_) Reset(pair);
    }
    for (std::size_t i = 0; i < pairs_.size(); ++i) {
      Pair& pair = pairs_[i];
      if (waits[1 + 2 * i].revents != 0) Move(pair, pair.client, pair.server);
      if (waits[2 + 2 * i].revents != 0) Move(pair, pair.server, pair.client);
    }
    std::erase_if(pairs_, [](const Pair& pair) { return !pair.open; });
    if (waits[0].revents != 0) Accept();
  }
}

void TcpProxy::Accept() {
  Pair pair;
  pair.client.socket = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
  if (pair.client.socket < 0) return;
  pair.server.socket = NewSocket();
  SendWithoutDelay(pair.client.socket);
  SendWithoutDelay(pair.server.socket);
  const sockaddr_in address = test::Loopback(target_);
  if (cut_ ||
      connect(pair.server.socket, test::Plain(address), sizeof address) != 0) {
    return Reset(pair);
  }
  pairs_.push_back(pair);
}

void TcpProxy::Move(Pair& pair, End& from, const End& to) {
  if (!pair.open) return;
  std::array<char, 16 * 1024> bytes;
  const ssize_t count = recv(from.socket, bytes.data(), bytes.size(), 0);
  if (count == 0) {
    from.done = true;
    shutdown(to.socket, SHUT_WR);
    if (!to.done) return;
    close(pair.client.socket);
    close(pair.server.socket);
    pair.open = false;
    return;
  }
  // An end that reads has room for what the other sends, or is lost.
  if (count < 0 ||
      send(to.socket, bytes.data(), static_cast<std::size_t>(count),
           MSG_NOSIGNAL) != count) {
    Reset(pair);
  }
}

void TcpProxy::Reset(Pair& pair) {
  if (!pair.open) return;
  const linger now{.l_onoff = 1, .l_linger = 0};
  for (const int socket : {pair.client.socket, pair.server.socket}) {
    setsockopt(socket, SOL_SOCKET, SO_LINGER, &now, sizeof now);
    close(socket);
  }
  pair.open = false;
}

}  // namespace parlor
