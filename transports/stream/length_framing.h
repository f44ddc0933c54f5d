// LengthFraming: messages over plain TCP, each behind its type and its length.
// TCP.md has the bytes.
#ifndef PARLOR_TRANSPORTS_STREAM_LENGTH_FRAMING_H_
#define PARLOR_TRANSPORTS_STREAM_LENGTH_FRAMING_H_

#include <cstddef>
#include <memory>

#include "stream/codec.h"

namespace parlor::stream {

// The same for both sides.
std::unique_ptr<Codec> MakeLengthFraming(std::size_t message_bytes_max);

}  // namespace parlor::stream

#endif  // PARLOR_TRANSPORTS_STREAM_LENGTH_FRAMING_H_
