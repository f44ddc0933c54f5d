// WebSocketCodec: frames of RFC 6455, without extensions but our own: where
// both ends agreed to it in the handshake, RSV2 on the first frame of a message
// says that it is of the state lane.
#ifndef PARLOR_TRANSPORTS_STREAM_WEBSOCKET_CODEC_H_
#define PARLOR_TRANSPORTS_STREAM_WEBSOCKET_CODEC_H_

#include <cstddef>
#include <memory>

#include "parlor/entropy.h"
#include "stream/codec.h"

namespace parlor::stream {

// Masking keys that nobody can foresee (RFC 6455 section 10.3), drawn from
// `entropy` many at a time.
class MaskKeys;

std::unique_ptr<Codec> MakeWebSocketServerCodec(std::size_t message_bytes_max);

// `keys` outlives the codec.
std::unique_ptr<Codec> MakeWebSocketClientCodec(std::size_t message_bytes_max,
                                                MaskKeys& keys);

}  // namespace parlor::stream

#endif  // PARLOR_TRANSPORTS_STREAM_WEBSOCKET_CODEC_H_
