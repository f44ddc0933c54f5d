// NetUrl: where a client connects to, as MakeNetConnector documents it
// (parlor/transports/net_connector.h). Strict: what it does not know it
// refuses, and says what.
#ifndef PARLOR_TRANSPORTS_STREAM_NET_URL_H_
#define PARLOR_TRANSPORTS_STREAM_NET_URL_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace parlor::stream {

struct NetUrl {
  bool websocket = false;  // or plain TCP
  bool tls = false;
  // Small letters; a name, an IPv4 address, or an IPv6 address without its
  // brackets.
  std::string host;
  std::uint16_t port = 0;
  // Empty, or begins with a slash and does not end in one.
  std::string base;
  // What the Host header says: the host, with brackets where there were some,
  // and the port unless it is the scheme's own.
  std::string authority;
};

// InvalidArgument says what is wrong. It does not repeat the URL: who puts a
// secret in one by mistake does not find it in a log.
absl::StatusOr<NetUrl> ParseNetUrl(std::string_view url);

}  // namespace parlor::stream

#endif  // PARLOR_TRANSPORTS_STREAM_NET_URL_H_
