#include "asio/acceptor.h"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <asio/basic_socket_acceptor.hpp>
#include <asio/error.hpp>
#include <asio/error_code.hpp>
#include <asio/io_context.hpp>
#include <asio/ip/address.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/ip/v6_only.hpp>
#include <asio/socket_base.hpp>
#include <cerrno>
#include <cstdint>
#include <memory>
#include <string>
#include <system_error>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "asio/asio_loop.h"
#include "asio/socket_set.h"
#include "asio/socket_stream.h"
#include "parlor/check.h"
#include "parlor/time.h"
#include "parlor/transports/net_listener.h"
#include "stream/stream_loop.h"

namespace parlor::net_internal {
namespace {

using Tcp = asio::ip::tcp;
using ListeningSocket =
    asio::basic_socket_acceptor<Tcp, asio::io_context::executor_type>;

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

class AsioAcceptor final : public Acceptor,
                           private stream::LoopMember,
                           private SocketSet::Member {
 public:
  AsioAcceptor(AsioLoop& loop, MakeCompanion make_companion, Owner& owner)
      : LoopMember(loop),
        Member(loop.sockets()),
        loop_(loop),
        make_companion_(std::move(make_companion)),
        owner_(owner) {}

  absl::Status Listen(const std::string& address, std::uint16_t port);
  std::uint16_t port() const override { return port_; }

 private:
  void OnTurnEnd() override {}
  void OnAlarm() override;
  void OnReadReady() override;
  void OnWriteReady() override {}
  bool Await() { return Watch(/*read=*/true, /*write=*/false); }
  void Accept();
  void Failed(int error);
  void Works();
  void Admit(int client, const Tcp::endpoint& from);

  AsioLoop& loop_;
  const MakeCompanion make_companion_;
  Owner& owner_;
  std::uint16_t port_ = 0;
  bool failing_ = false;
};

absl::Status AsioAcceptor::Listen(const std::string& address,
                                  std::uint16_t port) {
  asio::error_code error;
  const asio::ip::address numeric = asio::ip::make_address(address, error);
  if (error) {
    return absl::InvalidArgumentError("\"" + address +
                                      "\" is no numeric IPv4 or IPv6 address");
  }
  const Tcp::endpoint endpoint(numeric, port);
  ListeningSocket socket(loop_.context());
  socket.open(endpoint.protocol(), error);
  // A host that starts anew must not wait for its last connections to be
  // forgotten.
  if (!error) socket.set_option(ListeningSocket::reuse_address(true), error);
  // "::" is every address, also those of IPv4, whatever the system's default.
  if (!error && numeric.is_v6()) {
    socket.set_option(asio::ip::v6_only(false), error);
  }
  if (!error) socket.bind(endpoint, error);
  if (!error) socket.listen(ListeningSocket::max_listen_connections, error);
  if (!error) socket.non_blocking(true, error);
  if (!error) port_ = socket.local_endpoint(error).port();
  if (!error) Adopt(socket.release(error));
  if (!error && !Await()) error.assign(errno, asio::system_category());
  if (error) {
    return absl::UnavailableError("cannot listen on " + address + " port " +
                                  std::to_string(port) + ": " +
                                  error.message());
  }
  return absl::OkStatus();
}

void AsioAcceptor::OnAlarm() {
  if (Await()) {
    Accept();
  } else {
    Failed(errno);
  }
}

void AsioAcceptor::OnReadReady() {
  loop_.BeginTurn();
  Accept();
}

void AsioAcceptor::Accept() {
  for (int i = 0; i < kAcceptsPerEvent; ++i) {
    Tcp::endpoint from;
    auto size = static_cast<socklen_t>(from.capacity());
    const int client =
        accept4(socket(), from.data(), &size, SOCK_NONBLOCK | SOCK_CLOEXEC);
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
void AsioAcceptor::Failed(int error) {
  PARLOR_CHECK(Watch(false, false));
  SetAlarm(loop_.now() + kAcceptRetryMs * kMillisecond);
  if (std::exchange(failing_, true)) return;
  owner_.OnAcceptStatus(absl::ResourceExhaustedError(
      "cannot accept: " + std::generic_category().message(error)));
}

void AsioAcceptor::Works() {
  if (!std::exchange(failing_, false)) return;
  owner_.OnAcceptStatus(absl::OkStatus());
}

void AsioAcceptor::Admit(int client, const Tcp::endpoint& from) {
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
    AsioLoop& loop, const Options& options, Owner& owner) {
  auto acceptor =
      std::make_unique<AsioAcceptor>(loop, options.make_companion, owner);
  if (absl::Status status = acceptor->Listen(options.address, options.port);
      !status.ok()) {
    return status;
  }
  return acceptor;
}

}  // namespace parlor::net_internal
