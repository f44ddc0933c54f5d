// The WebSocket handshake: an HTTP/1.1 upgrade (RFC 6455 section 4), strict on
// both sides, since a head that two readers understand differently is an
// attack.
#ifndef PARLOR_TRANSPORTS_STREAM_WEBSOCKET_HANDSHAKE_H_
#define PARLOR_TRANSPORTS_STREAM_WEBSOCKET_HANDSHAKE_H_

#include <memory>
#include <string_view>

#include "parlor/entropy.h"
#include "stream/handshake.h"

namespace parlor::stream {

std::unique_ptr<ServerHandshake> MakeWebSocketServerHandshake();

// `authority` is what the Host header says: "example.org:8080". `entropy` is
// asked for the key once, at once.
std::unique_ptr<ClientHandshake> MakeWebSocketClientHandshake(
    const Request& request, std::string_view authority, Entropy& entropy);

}  // namespace parlor::stream

#endif  // PARLOR_TRANSPORTS_STREAM_WEBSOCKET_HANDSHAKE_H_
