#include "parlor/transports/net_listener.h"

#include <algorithm>
#include <array>
#include <asio/basic_socket_acceptor.hpp>
#include <asio/error.hpp>
#include <asio/ip/address.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/ip/v6_only.hpp>
#include <asio/socket_base.hpp>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "asio/asio_loop.h"
#include "asio/handler_memory.h"
#include "asio/socket_stream.h"
#include "parlor/limits.h"
#include "parlor/time.h"
#include "parlor/transports/net_loop.h"
#include "parlor/transports/stream_options.h"
#include "stream/byte_stream.h"
#include "stream/parts.h"
#include "stream/server_opening.h"
#include "stream/stream_loop.h"
#include "stream/tls_stream.h"

namespace parlor {
namespace net_internal {
namespace {

using Tcp = asio::ip::tcp;
using Acceptor =
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

// As an address is written in a list of those that are let in: one that came by
// IPv4 to an IPv6 socket is an IPv4 address.
std::string Written(asio::ip::address address) {
  if (address.is_v6() && address.to_v6().is_v4_mapped()) {
    address = asio::ip::make_address_v4(asio::ip::v4_mapped, address.to_v6());
  }
  return address.to_string();
}

absl::Status Validate(const NetListenerOptions& options) {
  absl::Status status = ValidateOptions(options.stream, "listener.stream");
  status.Update(CheckLimit(limits::kUnseated, "listener.unseated_max",
                           static_cast<std::int64_t>(options.unseated_max)));
  return status;
}

class AsioListener final : public NetListener, private stream::LoopMember {
 public:
  AsioListener(AsioLoop& loop, NetListenerOptions options,
               NetListenerHandler* handler)
      : LoopMember(loop),
        loop_(loop),
        options_(std::move(options)),
        handler_(handler),
        acceptor_(loop.context()) {}
  ~AsioListener() override { tether_.Cut(); }

  absl::Status Listen();
  std::uint16_t port() const override { return port_; }

 private:
  class Client;

  void OnTurnEnd() override {}
  void OnAlarm() override { Accept(); }
  void OnReady();
  void Await();
  void Accept();
  void Failed(const asio::error_code& error);
  void Works();
  void Admit(Socket socket, const Tcp::endpoint& from);

  AsioLoop& loop_;
  NetListenerOptions options_;
  NetListenerHandler* handler_;
  std::uint16_t port_ = 0;
  bool failing_ = false;
  Tether<AsioListener> tether_{this};
  Acceptor acceptor_;
  std::list<Client> clients_;  // whose handshakes are not done; oldest first
};

// One whose handshake is not done.
class AsioListener::Client final : public stream::ServerOpening::Owner {
 public:
  Client(AsioListener& listener, const Tcp::endpoint& from)
      : listener_(listener), address_(Written(from.address())) {}

  void Open(std::list<Client>::iterator place, Socket socket);

 private:
  Verdict OnKnock(const stream::ServerOpening& opening,
                  const Request& request) override;
  void OnConnection(const stream::ServerOpening& opening,
                    const Request& request,
                    std::unique_ptr<Connection> connection) override;
  void OnDone(stream::ServerOpening& opening) override;

  Knock MakeKnock(const Request& request) const {
    return {request, address_, listener_.options_.tls.has_value()};
  }

  AsioListener& listener_;
  const std::string address_;
  std::list<Client>::iterator place_;
  std::unique_ptr<stream::ServerOpening> opening_;
};

void AsioListener::Client::Open(std::list<Client>::iterator place,
                                Socket socket) {
  place_ = place;
  AsioLoop& loop = listener_.loop_;
  const NetListenerOptions& options = listener_.options_;
  std::unique_ptr<stream::ByteStream> stream =
      std::make_unique<SocketStream>(loop, std::move(socket));
  if (options.tls) {
    stream = stream::MakeTlsServerStream(loop, std::move(stream),
                                         options.tls->context());
  }
  opening_ = std::make_unique<stream::ServerOpening>(
      loop, options.stream,
      stream::MakeServerParts(options.transport, options.stream,
                              std::move(stream)),
      *this);
}

Verdict AsioListener::Client::OnKnock(const stream::ServerOpening& /*opening*/,
                                      const Request& request) {
  return listener_.handler_->OnKnock(listener_.loop_.now(), MakeKnock(request));
}

void AsioListener::Client::OnConnection(
    const stream::ServerOpening& /*opening*/, const Request& request,
    std::unique_ptr<Connection> connection) {
  listener_.handler_->OnConnection(listener_.loop_.now(), MakeKnock(request),
                                   std::move(connection));
}

void AsioListener::Client::OnDone(stream::ServerOpening& /*opening*/) {
  listener_.clients_.erase(place_);
}

absl::Status AsioListener::Listen() {
  asio::error_code error;
  const asio::ip::address address =
      asio::ip::make_address(options_.address, error);
  if (error) {
    return absl::InvalidArgumentError("listener.address: \"" +
                                      options_.address +
                                      "\" is no numeric IPv4 or IPv6 address");
  }
  const Tcp::endpoint endpoint(address, options_.port);
  acceptor_.open(endpoint.protocol(), error);
  // A host that starts anew must not wait for its last connections to be
  // forgotten.
  if (!error) acceptor_.set_option(Acceptor::reuse_address(true), error);
  // "::" is every address, also those of IPv4, whatever the system's default.
  if (!error && address.is_v6()) {
    acceptor_.set_option(asio::ip::v6_only(false), error);
  }
  // Or Asio keeps ECONNABORTED to itself and waits for the next connection,
  // with all of the loop.
  if (!error) {
    acceptor_.set_option(asio::socket_base::enable_connection_aborted(true),
                         error);
  }
  if (!error) acceptor_.bind(endpoint, error);
  if (!error) acceptor_.listen(Acceptor::max_listen_connections, error);
  if (!error) acceptor_.non_blocking(true, error);
  if (!error) port_ = acceptor_.local_endpoint(error).port();
  if (error) {
    return absl::UnavailableError("cannot listen on " + options_.address +
                                  " port " + std::to_string(options_.port) +
                                  ": " + error.message());
  }
  Await();
  return absl::OkStatus();
}

void AsioListener::Await() {
  acceptor_.async_wait(Acceptor::wait_read,
                       TetheredHandler<AsioListener, &AsioListener::OnReady>(
                           tether_, tether_.reading()));
}

void AsioListener::OnReady() {
  loop_.BeginTurn();
  Accept();
}

void AsioListener::Accept() {
  for (int i = 0; i < kAcceptsPerEvent; ++i) {
    asio::error_code error;
    Tcp::endpoint from;
    Socket socket(loop_.context());
    acceptor_.accept(socket, from, error);
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
void AsioListener::Failed(const asio::error_code& error) {
  SetAlarm(loop_.now() + kAcceptRetryMs * kMillisecond);
  if (std::exchange(failing_, true)) return;
  handler_->OnAcceptStatus(
      loop_.now(),
      absl::ResourceExhaustedError("cannot accept: " + error.message()));
}

void AsioListener::Works() {
  if (!std::exchange(failing_, false)) return;
  handler_->OnAcceptStatus(loop_.now(), absl::OkStatus());
}

void AsioListener::Admit(Socket socket, const Tcp::endpoint& from) {
  clients_.emplace_back(*this, from);
  clients_.back().Open(std::prev(clients_.end()), std::move(socket));
  if (clients_.size() > options_.unseated_max) clients_.pop_front();
}

}  // namespace
}  // namespace net_internal

absl::StatusOr<std::unique_ptr<NetListener>> NetListener::Create(
    NetLoop& loop, const NetListenerOptions& options,
    NetListenerHandler* handler) {
  if (absl::Status status = net_internal::Validate(options); !status.ok()) {
    return status;
  }
  auto listener = std::make_unique<net_internal::AsioListener>(
      loop.internal(), options, handler);
  if (absl::Status status = listener->Listen(); !status.ok()) return status;
  return listener;
}

}  // namespace parlor
