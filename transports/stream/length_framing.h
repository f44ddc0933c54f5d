// LengthFraming: messages over plain TCP, each behind its type and its length.
// TCP.md has the bytes.
//
// What the decoder refuses:
//   kProtocolError  a type it does not know, which a hello is by then; a lane
//                   where there is none; a ping or pong above 125 bytes; a
//                   close of one byte, of more than 125, or with a code that
//                   may not travel (IsSendableCloseCode)
//   kMessageSize    a message whose header announces more than the cap
//   kInvalidText    a text message, or the text of a close, that is not UTF-8,
//                   once it is whole
// Lanes are always marked.
#ifndef PARLOR_TRANSPORTS_STREAM_LENGTH_FRAMING_H_
#define PARLOR_TRANSPORTS_STREAM_LENGTH_FRAMING_H_

#include <cstddef>
#include <cstdint>
#include <memory>

#include "stream/codec.h"

namespace parlor::stream {

// The header: the type, then the length in three bytes, little-endian.
inline constexpr std::size_t kLengthHeaderBytes = 4;

enum class LengthType : std::uint8_t {
  kText = 1,
  kBinary = 2,
  kPing = 3,
  kPong = 4,
  kClose = 5,
  kHello = 6,    // of the handshake only
  kRefused = 7,  // of the handshake only
};

// Set in the type of a text or binary message of the state lane.
inline constexpr std::uint32_t kLengthStateBit = 0x80;

// The same for both sides. `message_bytes_max` is at most limits::kMessageBytes
// allows. A message of 16 MiB or more, which no peer takes, is announced as
// the longest there can be, which none takes either.
std::unique_ptr<Codec> MakeLengthFraming(std::size_t message_bytes_max);

}  // namespace parlor::stream

#endif  // PARLOR_TRANSPORTS_STREAM_LENGTH_FRAMING_H_
