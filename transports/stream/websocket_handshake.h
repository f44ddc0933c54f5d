// The WebSocket handshake: an HTTP/1.1 upgrade (RFC 6455 section 4), strict on
// both sides, since a head that two readers understand differently is an
// attack.
//
// Both sides speak the extension "parlor-lanes", offered by our client and
// accepted by our server, without which lanes are not marked; browsers do not
// offer it. How a frame marks its lane is in websocket_codec.h.
#ifndef PARLOR_TRANSPORTS_STREAM_WEBSOCKET_HANDSHAKE_H_
#define PARLOR_TRANSPORTS_STREAM_WEBSOCKET_HANDSHAKE_H_

#include <memory>
#include <string_view>

#include "parlor/entropy.h"
#include "stream/handshake.h"
#include "stream/http_head.h"

namespace parlor::stream {

// Fails with, in the order in which it looks:
//   400, 431, 501, 505  what http_head.h refuses
//   501, 405            a method that is unknown, or is not GET
//   426                 no "Upgrade: websocket", or no "Connection: Upgrade"
//   400                 a body is announced
//   426                 no "Sec-WebSocket-Version: 13"
//   400                 Sec-WebSocket-Key is not the base64 of 16 bytes
//   400                 a subprotocol is no token, or comes twice; extensions
//                       are not written as RFC 6455 section 9.1 has it
std::unique_ptr<ServerHandshake> MakeWebSocketServerHandshake();

// The same for a head that was read already (kDone), by a front that had to see
// its path first. The first Feed, which takes nothing, is kRequest or kFailed.
std::unique_ptr<ServerHandshake> MakeWebSocketServerHandshake(
    std::unique_ptr<HttpRequestHead> head);

// `authority` is what the Host header says: "example.org:8080". `entropy` is
// asked for the key once, at once. The target, the protocols and `authority`
// are what http_head.h calls a target, distinct tokens and an authority: the
// caller sees to that. The request's origin is not sent.
//
// When protocols are offered, an answer that names none of them is kFailed.
std::unique_ptr<ClientHandshake> MakeWebSocketClientHandshake(
    const Request& request, std::string_view authority, Entropy& entropy);

}  // namespace parlor::stream

#endif  // PARLOR_TRANSPORTS_STREAM_WEBSOCKET_HANDSHAKE_H_
