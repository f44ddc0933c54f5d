#include "parlor/transports/net_listener.h"

#include <cstdint>
#include <iterator>
#include <list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "net/acceptor.h"
#include "net/epoll_loop.h"
#include "parlor/limits.h"
#include "parlor/transports/net_loop.h"
#include "parlor/transports/stream_options.h"
#include "stream/byte_stream.h"
#include "stream/parts.h"
#include "stream/server_opening.h"
#include "stream/tls_stream.h"

namespace parlor {
namespace net_internal {
namespace {

absl::Status Validate(const NetListenerOptions& options) {
  absl::Status status = ValidateOptions(options.stream, "listener.stream");
  status.Update(CheckLimit(limits::kUnseated, "listener.unseated_max",
                           static_cast<std::int64_t>(options.unseated_max)));
  return status;
}

class SocketListener final : public NetListener, private Acceptor::Owner {
 public:
  SocketListener(EpollLoop& loop, NetListenerOptions options,
                 NetListenerHandler* handler)
      : loop_(loop), options_(std::move(options)), handler_(handler) {}

  absl::Status Listen();
  std::uint16_t port() const override { return acceptor_->port(); }

 private:
  class Client;

  void OnAccept(std::unique_ptr<stream::ByteStream> stream,
                std::string_view address) override;
  void OnAcceptStatus(const absl::Status& status) override {
    handler_->OnAcceptStatus(loop_.now(), status);
  }

  EpollLoop& loop_;
  NetListenerOptions options_;
  NetListenerHandler* handler_;
  std::unique_ptr<Acceptor> acceptor_;  // not null once it listens
  std::list<Client> clients_;  // whose handshakes are not done; oldest first
};

// One whose handshake is not done.
class SocketListener::Client final : public stream::ServerOpening::Owner {
 public:
  Client(SocketListener& listener, std::string_view address)
      : listener_(listener), address_(address) {}

  void Open(std::list<Client>::iterator place,
            std::unique_ptr<stream::ByteStream> stream);

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

  SocketListener& listener_;
  const std::string address_;
  std::list<Client>::iterator place_;
  std::unique_ptr<stream::ServerOpening> opening_;
};

void SocketListener::Client::Open(std::list<Client>::iterator place,
                                  std::unique_ptr<stream::ByteStream> stream) {
  place_ = place;
  EpollLoop& loop = listener_.loop_;
  const NetListenerOptions& options = listener_.options_;
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

Verdict SocketListener::Client::OnKnock(
    const stream::ServerOpening& /*opening*/, const Request& request) {
  return listener_.handler_->OnKnock(listener_.loop_.now(), MakeKnock(request));
}

void SocketListener::Client::OnConnection(
    const stream::ServerOpening& /*opening*/, const Request& request,
    std::unique_ptr<Connection> connection) {
  listener_.handler_->OnConnection(listener_.loop_.now(), MakeKnock(request),
                                   std::move(connection));
}

void SocketListener::Client::OnDone(stream::ServerOpening& /*opening*/) {
  listener_.clients_.erase(place_);
}

absl::Status SocketListener::Listen() {
  absl::StatusOr<std::unique_ptr<Acceptor>> acceptor =
      Acceptor::Listen(loop_,
                       {.address = options_.address,
                        .port = options_.port,
                        .make_companion = {}},
                       *this);
  if (absl::IsInvalidArgument(acceptor.status())) {
    return absl::InvalidArgumentError(
        absl::StrCat("listener.address: ", acceptor.status().message()));
  }
  if (!acceptor.ok()) return acceptor.status();
  acceptor_ = *std::move(acceptor);
  return absl::OkStatus();
}

void SocketListener::OnAccept(std::unique_ptr<stream::ByteStream> stream,
                              std::string_view address) {
  clients_.emplace_back(*this, address);
  clients_.back().Open(std::prev(clients_.end()), std::move(stream));
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
  auto listener = std::make_unique<net_internal::SocketListener>(
      loop.internal(), options, handler);
  if (absl::Status status = listener->Listen(); !status.ok()) return status;
  return listener;
}

}  // namespace parlor
