#include "asio/acceptor.h"

#include <algorithm>
#include <array>
#include <asio/basic_socket_acceptor.hpp>
#include <asio/error.hpp>
#include <asio/io_context.hpp>
#include <asio/ip/address.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/ip/v6_only.hpp>
#include <asio/socket_base.hpp>
#include <cerrno>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "asio/asio_loop.h"
#include "asio/handler_memory.h"
#include "asio/socket_stream.h"
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
bool IsPassing(const asio::error_code& error) {
  constexpr std::array kPassing = {
      ECONNABORTED, EINTR, EPROTO,     ENETDOWN,     ENOPROTOOPT, EHOSTDOWN,
      ENONET,       EPERM, EOPNOTSUPP, EHOSTUNREACH, ENETUNREACH,
  };
  return std::find(kPassing.begin(), kPassing.end(), error.value()) !=
         kPassing.end();
}

// As an address is written in a list of those that are let in.
std::string Written(asio::ip::address address) {
  if (address.is_v6() && address.to_v6().is_v4_mapped()) {
    address = asio::ip::make_address_v4(asio::ip::v4_mapped, address.to_v6());
  }
  return address.to_string();
}

class AsioAcceptor final : public Acceptor, private stream::LoopMember {
 public:
  AsioAcceptor(AsioLoop& loop, MakeCompanion make_companion, Owner& owner)
      : LoopMember(loop),
        loop_(loop),
        make_companion_(std::move(make_companion)),
        owner_(owner),
        socket_(loop.context()) {}
  ~AsioAcceptor() override { tether_.Cut(); }

  absl::Status Listen(const std::string& address, std::uint16_t port);
  std::uint16_t port() const override { return port_; }

 private:
  void OnTurnEnd() override {}
  void OnAlarm() override { Accept(); }
  void OnReady();
  void Await();
  void Accept();
  void Failed(const asio::error_code& error);
  void Works();
  void Admit(Socket socket, const Tcp::endpoint& from);

  AsioLoop& loop_;
  const MakeCompanion make_companion_;
  Owner& owner_;
  std::uint16_t port_ = 0;
  bool failing_ = false;
  Tether<AsioAcceptor> tether_{this};
  ListeningSocket socket_;
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
  socket_.open(endpoint.protocol(), error);
  // A host that starts anew must not wait for its last connections to be
  // forgotten.
  if (!error) socket_.set_option(ListeningSocket::reuse_address(true), error);
  // "::" is every address, also those of IPv4, whatever the system's default.
  if (!error && numeric.is_v6()) {
    socket_.set_option(asio::ip::v6_only(false), error);
  }
  // Or Asio keeps ECONNABORTED to itself and waits for the next connection,
  // with all of the loop.
  if (!error) {
    socket_.set_option(asio::socket_base::enable_connection_aborted(true),
                       error);
  }
  if (!error) socket_.bind(endpoint, error);
  if (!error) socket_.listen(ListeningSocket::max_listen_connections, error);
  if (!error) socket_.non_blocking(true, error);
  if (!error) port_ = socket_.local_endpoint(error).port();
  if (error) {
    return absl::UnavailableError("cannot listen on " + address + " port " +
                                  std::to_string(port) + ": " +
                                  error.message());
  }
  Await();
  return absl::OkStatus();
}

void AsioAcceptor::Await() {
  socket_.async_wait(ListeningSocket::wait_read,
                     TetheredHandler<AsioAcceptor, &AsioAcceptor::OnReady>(
                         tether_, tether_.reading()));
}

void AsioAcceptor::OnReady() {
  loop_.BeginTurn();
  Accept();
}

void AsioAcceptor::Accept() {
  for (int i = 0; i < kAcceptsPerEvent; ++i) {
    asio::error_code error;
    Tcp::endpoint from;
    Socket socket(loop_.context());
    socket_.accept(socket, from, error);
    if (error == asio::error::would_block || error == asio::error::try_again) {
      Works();
      break;
    }
    if (IsPassing(error)) continue;
    if (error) return Failed(error);
    Admit(std::move(socket), from);
  }
  Await();
}

// Descriptors or memory are used up, or something that we do not know. The
// connections that wait keep the socket readable, so waiting for it would spin.
// It is over when nobody waits any more: one who gets in may have taken the
// last descriptor, and the log would hear of each.
void AsioAcceptor::Failed(const asio::error_code& error) {
  SetAlarm(loop_.now() + kAcceptRetryMs * kMillisecond);
  if (std::exchange(failing_, true)) return;
  owner_.OnAcceptStatus(
      absl::ResourceExhaustedError("cannot accept: " + error.message()));
}

void AsioAcceptor::Works() {
  if (!std::exchange(failing_, false)) return;
  owner_.OnAcceptStatus(absl::OkStatus());
}

void AsioAcceptor::Admit(Socket socket, const Tcp::endpoint& from) {
  Companion companion;
  if (make_companion_) {
    companion = make_companion_();
    if (companion == nullptr) {
      // A reset: else the system would remember each for a minute.
      asio::error_code ignored;
      socket.set_option(asio::socket_base::linger(true, 0), ignored);
      socket.close(ignored);
      return;
    }
  }
  owner_.OnAccept(std::make_unique<SocketStream>(loop_, std::move(socket),
                                                 std::move(companion)),
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
