// WebSocketCodec: frames of RFC 6455, without extensions but our own: where
// both ends agreed to it in the handshake, RSV2 on the first frame of a message
// says that it is of the state lane.
//
// What the decoder refuses, as soon as the bytes that say so are there:
//   kProtocolError  an RSV bit nobody agreed to, an opcode without a meaning
//                   (section 5.2), masking where it must not be or none where
//                   it must (5.1), a control frame that is fragmented or above
//                   125 bytes (5.5), a fragment out of place (5.4), a length in
//                   more bytes than it needs or above 2^63 (5.2), a close frame
//                   of one byte, or with a code that may not travel (7.4)
//   kMessageSize    the fragments so far and the length that the next one
//                   announces are more than `message_bytes_max`; or more than
//                   64 fragments without a byte before a message's last, which
//                   cost work and are no message that a rate could count
//   kInvalidText    a text message or the text of a close that is not UTF-8
//                   (8.1), once it is whole
//
// A message that came whole and in one frame is handed out where it lies.
// Anything else is put together in memory of the codec's: at most twice what
// the longest such message brought, at most `message_bytes_max`, and none for a
// length that was only announced. It is kept until Trim.
#ifndef PARLOR_TRANSPORTS_STREAM_WEBSOCKET_CODEC_H_
#define PARLOR_TRANSPORTS_STREAM_WEBSOCKET_CODEC_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "parlor/entropy.h"
#include "stream/codec.h"

namespace parlor::stream {

// Masking keys that nobody can foresee (RFC 6455 section 10.3), drawn from
// `entropy` many at a time. None is given out twice. One thread; many codecs
// may share it.
class MaskKeys {
 public:
  // `entropy` outlives it, and is asked when the first key is.
  explicit MaskKeys(Entropy& entropy) : entropy_(entropy) {}
  MaskKeys(const MaskKeys&) = delete;
  MaskKeys& operator=(const MaskKeys&) = delete;

  // A key: its lowest byte is the first one on the wire.
  std::uint32_t Next() {
    if (next_ == keys_.size()) Refill();
    return keys_[next_++];
  }

 private:
  void Refill();

  Entropy& entropy_;
  // 4 KiB: the price of asking the system is spread over 1,024 messages.
  std::array<std::uint32_t, 1024> keys_;
  std::size_t next_ = keys_.size();
};

// `message_bytes_max`: of a whole message that arrives, however it is
// fragmented.
std::unique_ptr<Codec> MakeWebSocketServerCodec(std::size_t message_bytes_max);

// `keys` outlives the codec.
std::unique_ptr<Codec> MakeWebSocketClientCodec(std::size_t message_bytes_max,
                                                MaskKeys& keys);

}  // namespace parlor::stream

#endif  // PARLOR_TRANSPORTS_STREAM_WEBSOCKET_CODEC_H_
