#include "net/acceptor.h"

#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <asio/error_code.hpp>
#include <asio/ip/address.hpp>
#include <asio/ip/tcp.hpp>
#include <cerrno>
#include <cstdint>
#include <memory>
#include <string>
#include <system_error>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "net/epoll_loop.h"
#include "net/socket_set.h"
#include "net/socket_stream.h"
#include "parlor/check.h"
#include "parlor/time.h"
#include "parlor/transports/net_listener.h"
#include "stream/stream_loop.h"

namespace parlor::net_internal {
namespace {

using Tcp = asio::ip::tcp;

// Connections accepted for one event: a crowd at the door does not keep those
// inside waiting.
constexpr int kAcceptsPerEvent = 16;

// What accept says of a connection, or of the network, and not of us
// (accept(2), "Error handling"): the next one may be well.
bool IsPassing(int error) {
  constexpr std::array kPassing = {
      ECONNABORTED, EINTR, EPROTO,     ENETDOWN,     ENOPROTOOPT, EHOSTDOWN,
      ENONET,       EPERM, EOPNOTSUPP, EHOSTUNREACH, ENETUNREACH,
  };
  return std::find(kPassing.begin(), kPassing.end(), error) != kPassing.end();
}

// As an address is written in a list of those that are let in.
std::string Written(asio::ip::address address) {
  if (address.is_v6() && address.to_v6().is_v4_mapped()) {
    address = asio::ip::make_address_v4(asio::ip::v4_mapped, address.to_v6());
  }
  return address.to_string();
}

class SocketAcceptor final : public Acceptor,
                             private stream::LoopMember,
                             private SocketSet::Member {
 public:
  SocketAcceptor(EpollLoop& loop, MakeCompanion make_companion, Owner& owner)
      : LoopMember(loop),
        Member(loop.sockets()),
        loop_(loop),
        make_companion_(std::move(make_companion)),
        owner_(owner) {}

  absl::Status Listen(const std::string& address, std::uint16_t port);
  std::uint16_t port() const override { return port_; }

 private:
  bool Open(Tcp::endpoint endpoint);
  void OnTurnEnd() override {}
  void OnAlarm() override;
  void OnReadReady() override;
  void OnWriteReady() override {}
  bool Await() { return Watch(/*read=*/true, /*write=*/false); }
  void Accept();
  void Failed(int error);
  void Works();
  void Admit(int client, const Tcp::endpoint& from);

  EpollLoop& loop_;
  const MakeCompanion make_companion_;
  Owner& owner_;
  std::uint16_t port_ = 0;
  bool failing_ = false;
};

absl::Status SocketAcceptor::Listen(const std::string& address,
                                    std::uint16_t port) {
  asio::error_code error;
  const asio::ip::address numeric = asio::ip::make_address(address, error);
  if (error) {
    return absl::InvalidArgumentError("\"" + address +
                                      "\" is no numeric IPv4 or IPv6 address");
  }
  if (!Open(Tcp::endpoint(numeric, port))) {
    return absl::UnavailableError("cannot listen on " + address + " port " +
                                  std::to_string(port) + ": " +
                                  std::generic_category().message(errno));
  }
  return absl::OkStatus();
}

// False: errno says why.
bool SocketAcceptor::Open(Tcp::endpoint endpoint) {
  const int socket = ::socket(endpoint.protocol().family(),
                              SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (socket < 0) return false;
  Adopt(socket);
  constexpr int kOn = 1;
  constexpr int kOff = 0;
  // A host that starts anew must not wait for its last connections to be
  // forgotten.
  if (setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &kOn, sizeof(kOn)) != 0) {
    return false;
  }
  // "::" is every address, also those of IPv4, whatever the system's default.
  if (endpoint.address().is_v6() &&
      setsockopt(socket, IPPROTO_IPV6, IPV6_V6ONLY, &kOff, sizeof(kOff)) != 0) {
    return false;
  }
  auto size = static_cast<socklen_t>(endpoint.size());
  if (bind(socket, endpoint.data(), size) != 0) return false;
  if (listen(socket, SOMAXCONN) != 0) return false;
  if (getsockname(socket, endpoint.data(), &size) != 0) return false;
  port_ = endpoint.port();
  return Await();
}

void SocketAcceptor::OnAlarm() {
  if (Await()) {
    Accept();
  } else {
    Failed(errno);
  }
}

void SocketAcceptor::OnReadReady() {
  loop_.BeginTurn();
  Accept();
}

void SocketAcceptor::Accept() {
  for (int i = 0; i < kAcceptsPerEvent; ++i) {
    Tcp::endpoint from;
    auto size = static_cast<socklen_t>(from.capacity());
    const int client =
        accept4(descriptor(), from.data(), &size, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (client >= 0) {
      from.resize(size);
      Admit(client, from);
    } else if (errno == EAGAIN) {
      return Works();
    } else if (!IsPassing(errno)) {
      return Failed(errno);
    }
  }
}

// Descriptors or memory are used up, or something that we do not know. The
// connections that wait keep the socket readable, so waiting for it would spin.
// It is over when nobody waits any more: one who gets in may have taken the
// last descriptor, and the log would hear of each.
void SocketAcceptor::Failed(int error) {
  PARLOR_CHECK(Watch(false, false));
  SetAlarm(loop_.now() + kAcceptRetryMs * kMillisecond);
  if (std::exchange(failing_, true)) return;
  owner_.OnAcceptStatus(absl::ResourceExhaustedError(
      "cannot accept: " + std::generic_category().message(error)));
}

void SocketAcceptor::Works() {
  if (!std::exchange(failing_, false)) return;
  owner_.OnAcceptStatus(absl::OkStatus());
}

void SocketAcceptor::Admit(int client, const Tcp::endpoint& from) {
  Companion companion;
  if (make_companion_) {
    companion = make_companion_();
    // A reset: else the system would remember each for a minute.
    if (companion == nullptr) return CloseWithReset(client);
  }
  Configure(client);
  owner_.OnAccept(
      std::make_unique<SocketStream>(loop_, client, std::move(companion)),
      Written(from.address()));
}

}  // namespace

absl::StatusOr<std::unique_ptr<Acceptor>> Acceptor::Listen(
    EpollLoop& loop, const Options& options, Owner& owner) {
  auto acceptor =
      std::make_unique<SocketAcceptor>(loop, options.make_companion, owner);
  if (absl::Status status = acceptor->Listen(options.address, options.port);
      !status.ok()) {
    return status;
  }
  return acceptor;
}

}  // namespace parlor::net_internal
