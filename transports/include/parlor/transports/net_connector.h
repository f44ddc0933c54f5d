// NetConnector: opens connections to a host on the network. The scheme of its
// URL chooses the transport; nothing else of a game changes.
#ifndef PARLOR_TRANSPORTS_NET_CONNECTOR_H_
#define PARLOR_TRANSPORTS_NET_CONNECTOR_H_

#include <memory>
#include <optional>
#include <string_view>

#include "absl/status/statusor.h"
#include "parlor/connector.h"
#include "parlor/entropy.h"
#include "parlor/transports/net_loop.h"
#include "parlor/transports/stream_options.h"
#include "parlor/transports/tls.h"

namespace parlor {

struct NetConnectorOptions {
  StreamOptions stream{};
  // For wss and tls. Absent: verifying against the system's certificates.
  std::optional<TlsClient> tls{};
};

// `url` is
//   ws://host[:port][/base]    WebSocket (port 80)
//   wss://host[:port][/base]   WebSocket over TLS (port 443)
//   tcp://host:port[/base]     TCP (transports/stream/TCP.md)
//   tls://host:port[/base]     TCP over TLS
// where `host` is a name, an IPv4 address or an IPv6 address in brackets.
// InvalidArgument says what is wrong with the URL or the options.
//
// Connections live on `loop`'s thread. A host that cannot be found or reached
// is OnClose(1006), one that refuses OnClose(1006, refusal). A name is looked
// up anew for each connection, and its addresses are tried in turn. `loop` and
// `entropy` outlive the connector and its connections.
//
// Names are looked up by a thread of their own, one for each loop and one name
// after the other (getaddrinfo, which nothing can interrupt): behind a resolver
// that hangs the later ones wait, and their connections end when handshake_ms
// is over. The destruction of the loop waits for the look-up that is running.
// Where that matters, use numeric addresses: they need none.
//
// Connect's `now` is the loop's clock: what was given to Poll, or the system's
// steady clock under Run. Inside a turn (in a callback or a task) the time of
// the turn counts, whatever `now` says; between two turns an earlier `now` than
// the loop's counts as the loop's.
absl::StatusOr<std::unique_ptr<Connector>> MakeNetConnector(
    NetLoop& loop, Entropy& entropy, std::string_view url,
    const NetConnectorOptions& options = {});

}  // namespace parlor

#endif  // PARLOR_TRANSPORTS_NET_CONNECTOR_H_
