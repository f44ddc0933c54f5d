// NetListener: accepts connections from the network on one port of one
// transport.
#ifndef PARLOR_TRANSPORTS_NET_LISTENER_H_
#define PARLOR_TRANSPORTS_NET_LISTENER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "parlor/connection.h"
#include "parlor/limits.h"
#include "parlor/time.h"
#include "parlor/transports/net_loop.h"
#include "parlor/transports/request.h"
#include "parlor/transports/stream_options.h"
#include "parlor/transports/tls.h"

namespace parlor {

enum class NetTransport : std::uint8_t { kWebSocket, kTcp };

struct NetListenerOptions {
  NetTransport transport = NetTransport::kWebSocket;
  // Numeric, IPv4 or IPv6. "0.0.0.0" is every address of IPv4, "::" every one.
  std::string address = "127.0.0.1";
  std::uint16_t port = 0;          // 0: the system picks one
  std::optional<TlsServer> tls{};  // set: the transport runs over TLS
  StreamOptions stream{};
  // Clients that have not finished their handshake; when there are more, the
  // oldest is cut off.
  std::size_t unseated_max =
      static_cast<std::size_t>(limits::kUnseated.fallback);
};

// Where a request came from.
struct Knock {
  const Request& request;    // dies when the callback returns
  std::string_view address;  // the peer's, without port; dies too
  bool tls = false;
};

// What is to become of a request.
struct Verdict {
  Refusal refusal;  // status 0: accepted
  // Accepted: which of the offered protocols it is, or empty for none. A view
  // into the request, or of what outlives it.
  std::string_view protocol;
};

class NetListenerHandler {
 public:
  // Asked once for each request. Accepted: OnConnection follows at once.
  virtual Verdict OnKnock(TimePoint now, const Knock& knock) = 0;

  // Its handler is to be set in here or later; no event is lost.
  virtual void OnConnection(TimePoint now, const Knock& knock,
                            std::unique_ptr<Connection> connection) = 0;

  // Accepting does not work (descriptors or memory are used up) and is tried
  // again every kAcceptRetryMs until it does: once when it begins, and once
  // with OK when it is over and everyone who waited is in. For the log.
  virtual void OnAcceptStatus(TimePoint /*now*/,
                              const absl::Status& /*status*/) {}

 protected:
  ~NetListenerHandler() = default;
};

// Ours: nobody at the door notices, and ten tries a second cost nothing.
inline constexpr std::int64_t kAcceptRetryMs = 100;

// One thread: its loop's. Its connections do not need it once they are handed
// over.
class NetListener {
 public:
  // Listens from here on. InvalidArgument: the options; Unavailable: the
  // address cannot be had (in use, not of this machine, not permitted).
  // `handler` outlives the listener.
  static absl::StatusOr<std::unique_ptr<NetListener>> Create(
      NetLoop& loop, const NetListenerOptions& options,
      NetListenerHandler* handler);

  // Stops listening and cuts off the handshakes that are not done. Not inside
  // its handler's callbacks.
  virtual ~NetListener() = default;

  // The one that was picked, when the options said 0.
  virtual std::uint16_t port() const = 0;
};

}  // namespace parlor

#endif  // PARLOR_TRANSPORTS_NET_LISTENER_H_
