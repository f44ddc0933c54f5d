#include "stream/codec_parts.h"

#include <algorithm>

#include "parlor/utf8.h"

namespace parlor::stream {

void Assembly::Append(std::span<const std::byte> part) {
  const std::size_t size = bytes_.size() + part.size();
  if (size > bytes_.capacity()) {
    bytes_.reserve(std::max(size, std::min(2 * bytes_.capacity(), bytes_max_)));
  }
  bytes_.insert(bytes_.end(), part.begin(), part.end());
}

Incoming MakeText(Lane lane, std::span<const std::byte> bytes) {
  if (!IsUtf8(bytes)) return MakeError(CloseReason::kInvalidText);
  return {.kind = Incoming::Kind::kMessage,
          .lane = lane,
          .message = MessageKind::kText,
          .bytes = bytes};
}

Incoming MakeClose(CloseCode code, std::span<const std::byte> text) {
  if (!IsSendableCloseCode(code)) {
    return MakeError(CloseReason::kProtocolError);
  }
  if (!IsUtf8(text)) return MakeError(CloseReason::kInvalidText);
  return {.kind = Incoming::Kind::kClose, .code = code, .bytes = text};
}

}  // namespace parlor::stream
