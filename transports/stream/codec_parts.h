// What both codecs have in common: putting together what came in pieces, and
// the rules for what is in a frame once it is whole.
#ifndef PARLOR_TRANSPORTS_STREAM_CODEC_PARTS_H_
#define PARLOR_TRANSPORTS_STREAM_CODEC_PARTS_H_

#include <cstddef>
#include <span>
#include <vector>

#include "parlor/close_reason.h"
#include "parlor/lane.h"
#include "stream/codec.h"

namespace parlor::stream {

// What came in pieces, until it is whole. Its memory grows with what arrived,
// to at most twice that: announcing a length costs a peer more than it costs
// us. It is kept from one message to the next, until Trim.
class Assembly {
 public:
  // `bytes_max`: more than that is hardly ever put together, so that memory for
  // more is not taken ahead.
  explicit Assembly(std::size_t bytes_max) : bytes_max_(bytes_max) {}

  void Clear() { bytes_.clear(); }
  void Append(std::span<const std::byte> part);
  // Gives all memory back, and what is in it.
  void Trim() { std::vector<std::byte>().swap(bytes_); }

  std::size_t size() const { return bytes_.size(); }
  std::size_t capacity() const { return bytes_.capacity(); }
  // Dies with the next call of Append or Trim.
  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  const std::size_t bytes_max_;
  std::vector<std::byte> bytes_;
};

inline Incoming MakeError(CloseReason error) {
  return {.kind = Incoming::Kind::kError, .error = error};
}

// Text that is whole; kInvalidText where it is not UTF-8.
Incoming MakeText(Lane lane, std::span<const std::byte> bytes);

// A message that is whole. In line for the sake of small binary ones.
inline Incoming MakeMessage(Lane lane, MessageKind kind,
                            std::span<const std::byte> bytes) {
  if (kind == MessageKind::kText) return MakeText(lane, bytes);
  return {.kind = Incoming::Kind::kMessage,
          .lane = lane,
          .message = MessageKind::kBinary,
          .bytes = bytes};
}

// A close with a code, which may be any number, and a text: kProtocolError for
// a code that may not travel, kInvalidText for a text that is not UTF-8.
Incoming MakeClose(CloseCode code, std::span<const std::byte> text);

}  // namespace parlor::stream

#endif  // PARLOR_TRANSPORTS_STREAM_CODEC_PARTS_H_
