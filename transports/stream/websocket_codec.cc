#include "stream/websocket_codec.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <string_view>

#include "parlor/byte_io.h"
#include "parlor/check.h"
#include "stream/codec_parts.h"

namespace parlor::stream {
namespace {

// RFC 6455 section 5.2: the first byte of a frame, and the second.
constexpr unsigned kFin = 0x80;
constexpr unsigned kRsv = 0x70;
constexpr unsigned kStateLane = 0x20;  // RSV2
constexpr unsigned kOpcode = 0x0f;
constexpr unsigned kMasked = 0x80;
constexpr unsigned kLength = 0x7f;
constexpr unsigned kLength16 = 126;  // the length follows in two bytes
constexpr unsigned kLength64 = 127;  // in eight

enum class Opcode : std::uint8_t {
  kContinuation = 0x0,
  kText = 0x1,
  kBinary = 0x2,
  kClose = 0x8,
  kPing = 0x9,
  kPong = 0xa,
};

constexpr bool IsControl(Opcode opcode) { return opcode >= Opcode::kClose; }

constexpr std::array<Opcode, 5> kOpcodes = {
    Opcode::kText, Opcode::kBinary, Opcode::kPing, Opcode::kPong,
    Opcode::kClose};  // in the order of FrameType

// WebSocket's numbers are big-endian.
std::uint64_t LoadBig(const std::byte* at, std::size_t count) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < count; ++i) {
    value = (value << 8) | std::to_integer<std::uint64_t>(at[i]);
  }
  return value;
}

void StoreBig(std::byte* at, std::uint64_t value, std::size_t count) {
  for (std::size_t i = count; i-- > 0; value >>= 8) {
    at[i] = static_cast<std::byte>(value);
  }
}

template <typename Word>
Word LoadWord(const std::byte* at) {
  Word word;
  std::memcpy(&word, at, sizeof word);
  return word;
}

// The key (as it lies in memory) as it meets payload from `offset` on.
std::uint32_t Turned(std::uint32_t key, std::size_t offset) {
  constexpr int kByte = std::endian::native == std::endian::little ? -8 : 8;
  return std::rotl(key, kByte * static_cast<int>(offset % 4));
}

// For at least one Word of bytes. The last Word overlaps those before it, so
// that no bytes are left over; it is read before they change.
template <typename Word>
void XorWords(std::byte* at, std::size_t size, std::uint32_t key) {
  constexpr std::size_t kStep = sizeof(Word);
  const auto wide = [](std::uint32_t half) {
    return static_cast<Word>(half * 0x1'0000'0001u);
  };
  const Word here = wide(key);
  const Word last =
      LoadWord<Word>(at + size - kStep) ^ wide(Turned(key, size - kStep));
  for (std::size_t i = 0; i + kStep <= size; i += kStep) {
    const Word word = LoadWord<Word>(at + i) ^ here;
    std::memcpy(at + i, &word, kStep);
  }
  std::memcpy(at + size - kStep, &last, kStep);
}

// RFC 6455 section 5.3, for payload that begins with the key's first byte.
void Xor(std::span<std::byte> part, std::uint32_t key) {
  if (part.size() >= sizeof(std::uint64_t)) {
    XorWords<std::uint64_t>(part.data(), part.size(), key);
  } else if (part.size() >= sizeof(std::uint32_t)) {
    XorWords<std::uint32_t>(part.data(), part.size(), key);
  } else {
    for (std::size_t i = 0; i < part.size(); ++i) {
      const std::uint32_t turned = Turned(key, i);
      part[i] ^= *reinterpret_cast<const std::byte*>(&turned);
    }
  }
}

// A frame on its way in, from its header on.
struct Frame {
  Opcode opcode = Opcode::kContinuation;
  bool fin = false;
  Lane lane = Lane::kReliable;
  std::uint32_t key = 0;
  std::size_t size = 0;   // of its payload
  std::size_t taken = 0;  // how much of that was put aside
};

class WebSocketCodec final : public Codec {
 public:
  // A server has no `keys`.
  WebSocketCodec(std::size_t message_bytes_max, MaskKeys* keys)
      : message_bytes_max_(message_bytes_max),
        keys_(keys),
        message_(message_bytes_max) {}

  Incoming Next(std::span<std::byte>& input) override;
  std::size_t WriteHeader(FrameType type, Lane lane, std::size_t size,
                          std::span<std::byte, kHeaderMax> header) override;
  bool masks() const override { return is_client(); }
  void Mask(std::span<std::byte> part, std::size_t offset) override {
    Xor(part, Turned(key_, offset));
  }
  std::size_t WriteClose(
      CloseCode code, std::string_view text,
      std::span<std::byte, kControlBytesMax> payload) override;
  void Trim() override;

 private:
  enum class Step : std::uint8_t { kMore, kDone, kError };

  bool is_client() const { return keys_ != nullptr; }

  Step TakeHeader(std::span<std::byte>& input);
  Step ReadHeader(std::span<const std::byte> bytes, std::size_t& header_size);
  bool CheckFirst(unsigned first) const;
  void BeginPieces();
  bool TakePayload(std::span<std::byte>& input);

  Incoming Finish(Opcode opcode, Lane lane, std::span<const std::byte> bytes);
  Incoming FinishClose(std::span<const std::byte> bytes);

  const std::size_t message_bytes_max_;
  MaskKeys* const keys_;
  std::uint32_t key_ = 0;  // of the last frame that WriteHeader began

  // What cannot be handed out where it lies: a header that came in pieces; a
  // frame that did; a message of several frames, and between its frames a
  // control frame.
  std::array<std::byte, kHeaderMax> header_;
  std::uint8_t header_size_ = 0;
  bool in_frame_ = false;    // behind the header of frame_
  bool in_message_ = false;  // behind the first header of what message_ is for
  Opcode message_opcode_ = Opcode::kText;
  Lane message_lane_ = Lane::kReliable;
  CloseReason error_ = CloseReason::kProtocolError;
  Frame frame_;
  std::array<std::byte, kControlBytesMax> control_;
  Assembly message_;
};

Incoming WebSocketCodec::Next(std::span<std::byte>& input) {
  while (true) {
    if (!in_frame_) {
      const Step step = TakeHeader(input);
      if (step == Step::kMore) return {};
      if (step == Step::kError) return MakeError(error_);
      const bool alone =
          frame_.fin && (!in_message_ || IsControl(frame_.opcode));
      if (alone && frame_.size <= input.size()) {
        const std::span<std::byte> payload = input.first(frame_.size);
        if (!is_client()) Xor(payload, frame_.key);
        input = input.subspan(frame_.size);
        return Finish(frame_.opcode, frame_.lane, payload);
      }
      BeginPieces();
    }
    if (!TakePayload(input)) return {};
    in_frame_ = false;
    if (IsControl(frame_.opcode)) {
      return Finish(frame_.opcode, frame_.lane,
                    std::span(control_).first(frame_.size));
    }
    if (frame_.fin) {
      in_message_ = false;
      return Finish(message_opcode_, message_lane_, message_.bytes());
    }
  }
}

// Takes a header off the front of `input` into frame_.
WebSocketCodec::Step WebSocketCodec::TakeHeader(std::span<std::byte>& input) {
  std::size_t size = 0;
  if (header_size_ == 0) {
    const Step step = ReadHeader(input, size);
    if (step == Step::kDone) input = input.subspan(size);
    if (step != Step::kMore) return step;
  }
  // All of an input that does not end the header belongs to it.
  const std::size_t before = header_size_;
  const std::size_t more = std::min(input.size(), kHeaderMax - before);
  std::ranges::copy(input.first(more), header_.begin() + before);
  const Step step = ReadHeader(std::span(header_).first(before + more), size);
  if (step == Step::kDone) {
    header_size_ = 0;
    input = input.subspan(size - before);
  } else {
    header_size_ = static_cast<std::uint8_t>(before + more);
    input = input.subspan(more);
  }
  return step;
}

// Reads a header from its first bytes, as many as there are, and says how long
// it is. What they break is found as soon as they are there, so that it makes
// no difference how they came.
WebSocketCodec::Step WebSocketCodec::ReadHeader(
    std::span<const std::byte> bytes, std::size_t& header_size) {
  if (bytes.empty()) return Step::kMore;
  const auto first = std::to_integer<unsigned>(bytes[0]);
  if (!CheckFirst(first)) return Step::kError;
  if (bytes.size() < 2) return Step::kMore;
  const auto second = std::to_integer<unsigned>(bytes[1]);
  if (((second & kMasked) != 0) == is_client()) return Step::kError;
  const auto opcode = static_cast<Opcode>(first & kOpcode);
  std::uint64_t size = second & kLength;
  std::size_t at = 2;
  if (size > kControlBytesMax) {
    if (IsControl(opcode)) return Step::kError;
    const bool wide = size == kLength64;
    const std::size_t count = wide ? 8 : 2;
    if (bytes.size() < at + count) return Step::kMore;
    size = LoadBig(&bytes[at], count);
    at += count;
    // The top bit must be 0, and the shortest form is the only one.
    if (size >> 63 != 0 || size < (wide ? 0x10000 : kLength16)) {
      return Step::kError;
    }
  }
  if (!IsControl(opcode) &&
      size > message_bytes_max_ - (in_message_ ? message_.size() : 0)) {
    error_ = CloseReason::kMessageSize;
    return Step::kError;
  }
  if (!is_client()) {
    if (bytes.size() < at + sizeof frame_.key) return Step::kMore;
    frame_.key = LoadWord<std::uint32_t>(&bytes[at]);
    at += sizeof frame_.key;
  }
  frame_.opcode = opcode;
  frame_.fin = (first & kFin) != 0;
  frame_.lane = (first & kStateLane) != 0 ? Lane::kState : Lane::kReliable;
  frame_.size = static_cast<std::size_t>(size);
  header_size = at;
  return Step::kDone;
}

bool WebSocketCodec::CheckFirst(unsigned first) const {
  const unsigned rsv = first & kRsv;
  switch (static_cast<Opcode>(first & kOpcode)) {
    case Opcode::kText:
    case Opcode::kBinary:
      return !in_message_ &&
             (rsv == 0 || (rsv == kStateLane && lanes_marked()));
    case Opcode::kContinuation:
      return in_message_ && rsv == 0;
    case Opcode::kClose:
    case Opcode::kPing:
    case Opcode::kPong:
      return rsv == 0 && (first & kFin) != 0;
  }
  return false;
}

// frame_ has to be put together.
void WebSocketCodec::BeginPieces() {
  in_frame_ = true;
  frame_.taken = 0;
  if (in_message_ || IsControl(frame_.opcode)) return;
  in_message_ = true;
  message_opcode_ = frame_.opcode;
  message_lane_ = frame_.lane;
  message_.Clear();
}

// Puts aside what `input` has of the payload of frame_. True: that was the last
// of it.
bool WebSocketCodec::TakePayload(std::span<std::byte>& input) {
  const std::span<std::byte> part =
      input.first(std::min(frame_.size - frame_.taken, input.size()));
  input = input.subspan(part.size());
  if (!is_client()) Xor(part, Turned(frame_.key, frame_.taken));
  if (IsControl(frame_.opcode)) {
    std::ranges::copy(part, control_.begin() + frame_.taken);
  } else {
    message_.Append(part);
  }
  frame_.taken += part.size();
  return frame_.taken == frame_.size;
}

Incoming WebSocketCodec::Finish(Opcode opcode, Lane lane,
                                std::span<const std::byte> bytes) {
  switch (opcode) {
    case Opcode::kPing:
      return {.kind = Incoming::Kind::kPing, .bytes = bytes};
    case Opcode::kPong:
      return {.kind = Incoming::Kind::kPong, .bytes = bytes};
    case Opcode::kClose:
      return FinishClose(bytes);
    default:
      break;
  }
  return MakeMessage(
      lane, opcode == Opcode::kText ? MessageKind::kText : MessageKind::kBinary,
      bytes);
}

// RFC 6455 section 5.5.1: nothing, or a code and a text.
Incoming WebSocketCodec::FinishClose(std::span<const std::byte> bytes) {
  if (bytes.empty()) {
    return {.kind = Incoming::Kind::kClose, .code = close_code::kNoCode};
  }
  if (bytes.size() < 2) return MakeError(CloseReason::kProtocolError);
  const auto code = static_cast<CloseCode>(LoadBig(bytes.data(), 2));
  return MakeClose(code, bytes.subspan(2));
}

std::size_t WebSocketCodec::WriteHeader(
    FrameType type, Lane lane, std::size_t size,
    std::span<std::byte, kHeaderMax> header) {
  const Opcode opcode = kOpcodes[static_cast<std::size_t>(type)];
  PARLOR_DCHECK(!IsControl(opcode) || size <= kControlBytesMax);
  unsigned first = kFin | static_cast<unsigned>(opcode);
  if (lane == Lane::kState && !IsControl(opcode) && lanes_marked()) {
    first |= kStateLane;
  }
  header[0] = static_cast<std::byte>(first);
  const unsigned masked = is_client() ? kMasked : 0;
  std::size_t at = 2;
  if (size < kLength16) {
    header[1] = static_cast<std::byte>(masked | size);
  } else {
    const bool wide = size > 0xffff;
    header[1] = static_cast<std::byte>(masked | (wide ? kLength64 : kLength16));
    const std::size_t count = wide ? 8 : 2;
    StoreBig(&header[at], size, count);
    at += count;
  }
  if (is_client()) {
    key_ = keys_->Next();
    std::memcpy(&header[at], &key_, sizeof key_);
    at += sizeof key_;
  }
  return at;
}

std::size_t WebSocketCodec::WriteClose(
    CloseCode code, std::string_view text,
    std::span<std::byte, kControlBytesMax> payload) {
  if (code == close_code::kNoCode) return 0;
  PARLOR_CHECK(IsSendableCloseCode(code) && text.size() <= kCloseTextMax);
  StoreBig(payload.data(), code, 2);
  std::ranges::copy(AsBytes(text), payload.begin() + 2);
  return 2 + text.size();
}

void WebSocketCodec::Trim() {
  if (!in_message_) message_.Trim();
}

}  // namespace

void MaskKeys::Refill() {
  entropy_.Fill(std::as_writable_bytes(std::span(keys_)));
  next_ = 0;
}

std::unique_ptr<Codec> MakeWebSocketServerCodec(std::size_t message_bytes_max) {
  return std::make_unique<WebSocketCodec>(message_bytes_max, nullptr);
}

std::unique_ptr<Codec> MakeWebSocketClientCodec(std::size_t message_bytes_max,
                                                MaskKeys& keys) {
  return std::make_unique<WebSocketCodec>(message_bytes_max, &keys);
}

}  // namespace parlor::stream
