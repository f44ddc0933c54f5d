#include "parlor/transports/net_connector.h"

#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "net/epoll_loop.h"
#include "net/socket_stream.h"
#include "parlor/connection.h"
#include "parlor/connector.h"
#include "parlor/entropy.h"
#include "parlor/time.h"
#include "parlor/transports/net_listener.h"
#include "parlor/transports/net_loop.h"
#include "parlor/transports/request.h"
#include "parlor/transports/stream_options.h"
#include "parlor/transports/tls.h"
#include "stream/byte_stream.h"
#include "stream/net_url.h"
#include "stream/parts.h"
#include "stream/stream_connection.h"
#include "stream/tls_stream.h"

namespace parlor {
namespace net_internal {
namespace {

class NetConnector final : public Connector {
 public:
  NetConnector(EpollLoop& loop, Entropy& entropy, stream::NetUrl url,
               StreamOptions options, std::optional<TlsClient> tls)
      : loop_(loop),
        entropy_(entropy),
        url_(std::move(url)),
        options_(options),
        tls_(std::move(tls)) {}

  std::unique_ptr<Connection> Connect(TimePoint now, const Hello& hello,
                                      ConnectionHandler* handler) override;

 private:
  EpollLoop& loop_;
  Entropy& entropy_;
  stream::NetUrl url_;
  StreamOptions options_;
  std::optional<TlsClient> tls_;  // set if the URL asks for TLS
};

std::unique_ptr<Connection> NetConnector::Connect(TimePoint now,
                                                  const Hello& hello,
                                                  ConnectionHandler* handler) {
  loop_.AdvanceTo(now);
  const Request request = RequestForRoom(hello, url_.base);
  std::unique_ptr<stream::ByteStream> stream =
      std::make_unique<SocketStream>(loop_, url_.host, url_.port);
  if (tls_) {
    stream = stream::MakeTlsClientStream(loop_, std::move(stream),
                                         tls_->context(), url_.host);
  }
  stream::ClientStart start = stream::MakeClientStart(
      url_.websocket ? NetTransport::kWebSocket : NetTransport::kTcp, options_,
      std::move(stream),
      {.request = request,
       .authority = url_.authority,
       .entropy = entropy_,
       .keys = loop_.mask_keys(entropy_)});
  return stream::MakeClientConnection(loop_, options_, std::move(start),
                                      handler);
}

}  // namespace
}  // namespace net_internal

absl::StatusOr<std::unique_ptr<Connector>> MakeNetConnector(
    NetLoop& loop, Entropy& entropy, std::string_view url,
    const NetConnectorOptions& options) {
  absl::StatusOr<stream::NetUrl> parsed = stream::ParseNetUrl(url);
  if (!parsed.ok()) return parsed.status();
  if (absl::Status status = ValidateOptions(options.stream, "connector.stream");
      !status.ok()) {
    return status;
  }
  std::optional<TlsClient> tls;
  if (parsed->tls) {
    tls = options.tls;
    if (!tls) {
      absl::StatusOr<TlsClient> verifying = TlsClient::Create({});
      if (!verifying.ok()) return verifying.status();
      tls = *std::move(verifying);
    }
  }
  return std::make_unique<net_internal::NetConnector>(
      loop.internal(), entropy, *std::move(parsed), options.stream,
      std::move(tls));
}

}  // namespace parlor
