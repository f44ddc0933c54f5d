// Codec: turns messages and control frames into bytes and back, for one end of
// one connection. Pure: bytes in, frames out. WebSocketCodec and LengthFraming
// are the two there are.
#ifndef PARLOR_TRANSPORTS_STREAM_CODEC_H_
#define PARLOR_TRANSPORTS_STREAM_CODEC_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "parlor/close_reason.h"
#include "parlor/lane.h"

namespace parlor::stream {

enum class FrameType : std::uint8_t { kText, kBinary, kPing, kPong, kClose };

// The longest header of a frame, and the most a control frame may carry
// (RFC 6455 sections 5.2 and 5.5).
inline constexpr std::size_t kHeaderMax = 14;
inline constexpr std::size_t kControlBytesMax = 125;

// What Codec::Next found.
struct Incoming {
  enum class Kind : std::uint8_t {
    kNothing,  // all of the input is taken, and more is needed
    kMessage,  // whole, of lane `lane` and kind `message`
    kPing,     // `bytes` is what the pong has to repeat
    kPong,
    kClose,  // `code` (1005: none was given) and `bytes`, its text
    kError,  // the peer broke a rule: close with `error`, feed no more
  };

  Kind kind = Kind::kNothing;
  Lane lane = Lane::kReliable;
  MessageKind message = MessageKind::kBinary;
  CloseCode code = 0;
  CloseReason error = CloseReason::kProtocolError;
  // Points into the input or the codec; dies with the next call of Next or
  // Trim, and with the input.
  std::span<const std::byte> bytes{};
};

// How a codec that does not mask begins a short message of the reliable lane:
// with the first `bytes` of a little-endian word, which has the kind's number
// in its lowest byte and the size above it. It saves each such message the call
// of WriteHeader, which would write the same.
struct ShortHeaders {
  using Word = std::uint32_t;

  std::uint8_t bytes = 0;
  std::uint8_t size_end = 0;  // of messages below this size; 0: of none
  std::uint8_t text = 0;
  std::uint8_t binary = 0;

  Word WordOf(MessageKind kind, std::size_t size) const {
    return (kind == MessageKind::kText ? text : binary) |
           static_cast<Word>(size) << 8;
  }
};

class Codec {
 public:
  explicit Codec(const ShortHeaders& short_headers)
      : short_headers_(short_headers) {}
  Codec(const Codec&) = delete;
  Codec& operator=(const Codec&) = delete;
  virtual ~Codec() = default;

  // Whether both ends mark the lane of a message. If not, all that arrives
  // counts as reliable. Settled by the handshake; true until then.
  void set_lanes_marked(bool marked) { lanes_marked_ = marked; }
  bool lanes_marked() const { return lanes_marked_; }

  // Takes one event's worth off the front of `input`, whose bytes it may
  // change. Call it until it answers kNothing, which is all it has to say to an
  // empty input. What it answers does not depend on how the bytes were cut into
  // inputs. Errors: kProtocolError, kInvalidText, and kMessageSize as soon as a
  // length above the cap is announced.
  virtual Incoming Next(std::span<std::byte>& input) = 0;

  // Writes the header of a frame with `size` bytes of payload to the front of
  // `header`, and says how long it is. `lane` counts for kText and kBinary.
  virtual std::size_t WriteHeader(FrameType type, Lane lane, std::size_t size,
                                  std::span<std::byte, kHeaderMax> header) = 0;

  const ShortHeaders& short_headers() const { return short_headers_; }

  // Whether payload must go through Mask, which needs a copy of its own.
  virtual bool masks() const { return false; }
  // Masks part of the payload of the last frame that WriteHeader began;
  // `offset` is how much of that payload lies before the part.
  virtual void Mask(std::span<std::byte> /*part*/, std::size_t /*offset*/) {}

  // The payload of a close frame: nothing for code 1005. Returns its size.
  virtual std::size_t WriteClose(
      CloseCode code, std::string_view text,
      std::span<std::byte, kControlBytesMax> payload) = 0;

  // Gives back memory that is kept from one message to the next.
  virtual void Trim() {}

 private:
  const ShortHeaders short_headers_;
  bool lanes_marked_ = true;
};

}  // namespace parlor::stream

#endif  // PARLOR_TRANSPORTS_STREAM_CODEC_H_
