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

constexpr std::uint8_t FirstOf(Opcode opcode) {
  return static_cast<std::uint8_t>(kFin | static_cast<unsigned>(opcode));
}

// Of a server: a client masks.
constexpr ShortHeaders kShortHeaders = {.bytes = 2,
                                        .size_end = kLength16,
                                        .text = FirstOf(Opcode::kText),
                                        .binary = FirstOf(Opcode::kBinary)};

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

// Keys and what they are laid on are read as little-endian words: the lowest
// byte is the first one.
template <typename Word>
Word Little(Word word) {
  if constexpr (std::endian::native == std::endian::little) return word;
  Word turned = 0;
  for (std::size_t i = 0; i < sizeof word; ++i) {
    turned = (turned << 8) | ((word >> (8 * i)) & 0xff);
  }
  return turned;
}

template <typename Word>
Word LoadLittle(const std::byte* at) {
  Word word;
  std::memcpy(&word, at, sizeof word);
  return Little(word);
}

template <typename Word>
void StoreLittle(std::byte* at, Word word) {
  word = Little(word);
  std::memcpy(at, &word, sizeof word);
}

// The key as it meets payload from `offset` on.
std::uint32_t Turned(std::uint32_t key, std::size_t offset) {
  return std::rotr(key, 8 * static_cast<int>(offset % 4));
}

std::uint64_t Twice(std::uint32_t key) {
  return (std::uint64_t{key} << 32) | key;
}

// From one Word to two: the first and the last, which may overlap, so that no
// bytes are left over. Both are read before either is written.
template <typename Word>
void XorEnds(std::byte* at, std::size_t size, Word key, Word turned) {
  std::byte* const end = at + size - sizeof(Word);
  const Word first = LoadLittle<Word>(at) ^ key;
  const Word last = LoadLittle<Word>(end) ^ turned;
  StoreLittle(at, first);
  StoreLittle(end, last);
}

// RFC 6455 section 5.3, for payload that begins with the key's first byte. In
// line, and without anything a call or a vector needs, where a message is
// small.
[[gnu::always_inline]] inline void XorSmall(std::byte* at, std::size_t size,
                                            std::uint32_t key) {
  const std::uint64_t wide = Twice(key);
  for (; size > 16; at += 16, size -= 16) XorEnds(at, 16, wide, wide);
  const std::uint32_t turned = Turned(key, size);
  if (size >= 8) {
    XorEnds(at, size, wide, Twice(turned));
  } else if (size >= 4) {
    XorEnds(at, size, key, turned);
  } else {
    for (; size > 0; ++at, --size, key >>= 8) *at ^= std::byte(key & 0xff);
  }
}

// The same for any size: a compiler makes its widest instructions of the block.
void Xor(std::span<std::byte> part, std::uint32_t key) {
  std::byte* at = part.data();
  std::size_t size = part.size();
  std::array<std::uint64_t, 8> block;
  for (; size > sizeof block; at += sizeof block, size -= sizeof block) {
    std::memcpy(block.data(), at, sizeof block);
    for (std::uint64_t& word : block) word ^= Little(Twice(key));
    std::memcpy(at, block.data(), sizeof block);
  }
  XorSmall(at, size, key);
}

// Ours: nobody who has something to say needs one.
constexpr std::uint8_t kEmptyFragmentsMax = 64;

// A frame on its way in, from its header on.
struct Frame {
  Opcode opcode = Opcode::kContinuation;
  bool fin = false;
  Lane lane = Lane::kReliable;
  std::uint32_t key = 0;
  std::size_t size = 0;   // of its payload
  std::size_t taken = 0;  // how much of that was put aside
};

// A line of memory has all that a message asks for which is whole.
class alignas(64) WebSocketCodec final : public Codec {
 public:
  // A server has no `keys`.
  WebSocketCodec(std::size_t message_bytes_max, MaskKeys* keys)
      : Codec(keys == nullptr ? kShortHeaders : ShortHeaders{}),
        message_bytes_max_(message_bytes_max),
        keys_(keys),
        short_header_size_(is_client() ? 2 : 2 + sizeof key_),
        mask_bit_(is_client() ? 0 : kMasked),
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

  // Kept out of Next, which would save registers for it on every message.
  [[gnu::noinline]] Incoming NextInFull(std::span<std::byte>& input);
  Step TakeHeader(std::span<std::byte>& input);
  Step ReadHeader(std::span<const std::byte> bytes, std::size_t& header_size);
  bool CheckFirst(unsigned first) const;
  void BeginPieces();
  bool TakePayload(std::span<std::byte>& input);

  Incoming Finish(Opcode opcode, Lane lane, std::span<const std::byte> bytes);
  // Remembers that `in` is an error, if it is one.
  Incoming Noted(Incoming in);
  Incoming FinishClose(std::span<const std::byte> bytes);

  const std::size_t message_bytes_max_;
  MaskKeys* const keys_;
  // Of a frame that arrives: its header with a length in one byte, and what its
  // second byte has beside the length.
  const std::uint8_t short_header_size_;
  const std::uint8_t mask_bit_;
  std::uint32_t key_ = 0;  // of the last frame that WriteHeader began

  // What cannot be handed out where it lies: a header that came in pieces; a
  // frame that did; a message of several frames, and between its frames a
  // control frame.
  std::array<std::byte, kHeaderMax> header_;
  std::uint8_t header_size_ = 0;
  bool in_frame_ = false;    // behind the header of frame_
  bool failed_ = false;      // kError was the last answer
  bool in_message_ = false;  // behind the first header of what message_ is for
  Opcode message_opcode_ = Opcode::kText;
  Lane message_lane_ = Lane::kReliable;
  std::uint8_t empty_fragments_ = 0;  // of the message, before its last
  CloseReason error_ = CloseReason::kProtocolError;
  Frame frame_;
  std::array<std::byte, kControlBytesMax> control_;
  Assembly message_;
};

Incoming WebSocketCodec::Noted(Incoming in) {
  failed_ = in.kind == Incoming::Kind::kError;
  return in;
}

// Nearly every message is short, whole, in one frame, and has nothing begun
// before it: that is all that is asked here. Anything else, right or wrong, is
// looked at in full.
Incoming WebSocketCodec::Next(std::span<std::byte>& input) {
  PARLOR_DCHECK(!failed_);
  const std::size_t header_size = short_header_size_;
  if (header_size_ != 0 || in_frame_ || in_message_ ||
      input.size() < header_size) {
    return NextInFull(input);
  }
  const auto first = std::to_integer<unsigned>(input[0]);
  const auto second = std::to_integer<unsigned>(input[1]);
  const unsigned state = first & (lanes_marked() ? kStateLane : 0);
  const auto opcode = static_cast<Opcode>(first ^ state ^ kFin);
  const std::size_t size = second ^ mask_bit_;
  if ((opcode != Opcode::kText && opcode != Opcode::kBinary) ||
      size >= kLength16 || size > message_bytes_max_ ||
      size > input.size() - header_size) {
    return NextInFull(input);
  }
  const std::span<std::byte> payload = input.subspan(header_size, size);
  if (!is_client()) {
    XorSmall(payload.data(), size, LoadLittle<std::uint32_t>(&input[2]));
  }
  input = input.subspan(header_size + size);
  const Lane lane = state != 0 ? Lane::kState : Lane::kReliable;
  if (opcode == Opcode::kText) return Noted(MakeText(lane, payload));
  return MakeMessage(lane, MessageKind::kBinary, payload);
}

Incoming WebSocketCodec::NextInFull(std::span<std::byte>& input) {
  while (true) {
    if (!in_frame_) {
      const Step step = TakeHeader(input);
      if (step == Step::kMore) return {};
      if (step == Step::kError) return Noted(MakeError(error_));
      const bool alone =
          frame_.fin && (!in_message_ || IsControl(frame_.opcode));
      if (alone && frame_.size <= input.size()) {
        const std::span<std::byte> payload = input.first(frame_.size);
        if (!is_client()) Xor(payload, frame_.key);
        input = input.subspan(frame_.size);
        return Noted(Finish(frame_.opcode, frame_.lane, payload));
      }
      BeginPieces();
      if (!frame_.fin && frame_.size == 0 &&
          ++empty_fragments_ > kEmptyFragmentsMax) {
        return Noted(MakeError(CloseReason::kMessageSize));
      }
    }
    if (!TakePayload(input)) return {};
    in_frame_ = false;
    if (IsControl(frame_.opcode)) {
      return Noted(Finish(frame_.opcode, frame_.lane,
                          std::span(control_).first(frame_.size)));
    }
    if (frame_.fin) {
      in_message_ = false;
      return Noted(Finish(message_opcode_, message_lane_, message_.bytes()));
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
  if ((second & kMasked) != mask_bit_) return Step::kError;
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
    frame_.key = LoadLittle<std::uint32_t>(&bytes[at]);
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
  empty_fragments_ = 0;
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
  unsigned first = FirstOf(opcode);
  if (lane == Lane::kState && !IsControl(opcode) && lanes_marked()) {
    first |= kStateLane;
  }
  const unsigned masked = is_client() ? kMasked : 0;
  if (is_client()) key_ = keys_->Next();
  if (size < kLength16) {
    // One store: the header is copied right away, and a processor that finds
    // its bytes in six stores waits for all of them to reach the cache.
    StoreLittle(header.data(),
                first | (masked | size) << 8 | std::uint64_t{key_} << 16);
    return is_client() ? 2 + sizeof key_ : 2;
  }
  const bool wide = size > 0xffff;
  header[0] = static_cast<std::byte>(first);
  header[1] = static_cast<std::byte>(masked | (wide ? kLength64 : kLength16));
  const std::size_t count = wide ? 8 : 2;
  StoreBig(&header[2], size, count);
  if (!is_client()) return 2 + count;
  StoreLittle(&header[2 + count], key_);
  return 2 + count + sizeof key_;
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
