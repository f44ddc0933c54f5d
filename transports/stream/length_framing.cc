#include "stream/length_framing.h"

#include <algorithm>
#include <array>

#include "parlor/byte_io.h"
#include "parlor/check.h"
#include "parlor/limits.h"
#include "stream/codec_parts.h"

namespace parlor::stream {
namespace {

constexpr int kLengthShift = 8;
constexpr std::uint32_t kTypeMask = 0xff;
constexpr std::size_t kLengthMax = 0xff'ffff;
static_assert(limits::kMessageBytes.ceiling <
              static_cast<std::int64_t>(kLengthMax));

constexpr std::size_t kCodeBytes = 2;
static_assert(kCodeBytes + kCloseTextMax == kControlBytesMax);

// In the order of FrameType.
constexpr std::array<LengthType, 5> kTypes = {
    LengthType::kText, LengthType::kBinary, LengthType::kPing,
    LengthType::kPong, LengthType::kClose};

constexpr ShortHeaders kShortHeaders = {
    .bytes = kLengthHeaderBytes,
    .size_end = kControlBytesMax + 1,
    .text = static_cast<std::uint8_t>(LengthType::kText),
    .binary = static_cast<std::uint8_t>(LengthType::kBinary)};

class LengthFraming final : public Codec {
 public:
  explicit LengthFraming(std::size_t message_bytes_max)
      : Codec(kShortHeaders),
        message_bytes_max_(message_bytes_max),
        assembly_(message_bytes_max) {
    PARLOR_CHECK(message_bytes_max <=
                 static_cast<std::size_t>(limits::kMessageBytes.ceiling));
  }

  Incoming Next(std::span<std::byte>& input) override;
  std::size_t WriteHeader(FrameType type, Lane lane, std::size_t size,
                          std::span<std::byte, kHeaderMax> header) override;
  std::size_t WriteClose(
      CloseCode code, std::string_view text,
      std::span<std::byte, kControlBytesMax> payload) override;
  void Trim() override {
    if (!in_frame_) assembly_.Trim();
  }

 private:
  bool TakeHeader(std::span<std::byte>& input);
  Incoming CheckHeader() const;
  Incoming Finish(std::span<const std::byte> payload) const;

  const std::size_t message_bytes_max_;
  Assembly assembly_;  // of the payload of a frame that came in pieces
  // The header of the present frame; of its bytes, those that came so far.
  std::array<std::byte, kLengthHeaderBytes> header_;
  std::uint8_t header_size_ = 0;
  bool in_frame_ = false;  // behind a header
  LengthType type_ = LengthType::kText;
  Lane lane_ = Lane::kReliable;
  std::uint32_t size_ = 0;
};

Incoming LengthFraming::Next(std::span<std::byte>& input) {
  if (!in_frame_) {
    if (!TakeHeader(input)) return {};
    if (const Incoming error = CheckHeader();
        error.kind == Incoming::Kind::kError) {
      return error;
    }
    in_frame_ = true;
    assembly_.Clear();
  }
  if (assembly_.size() == 0 && size_ <= input.size()) {
    const std::span<const std::byte> payload = input.first(size_);
    input = input.subspan(size_);
    in_frame_ = false;
    return Finish(payload);
  }
  const std::size_t part = std::min(size_ - assembly_.size(), input.size());
  assembly_.Append(input.first(part));
  input = input.subspan(part);
  if (assembly_.size() < size_) return {};
  in_frame_ = false;
  return Finish(assembly_.bytes());
}

// False: more is needed.
bool LengthFraming::TakeHeader(std::span<std::byte>& input) {
  const std::byte* at = input.data();
  if (header_size_ == 0 && input.size() >= kLengthHeaderBytes) {
    input = input.subspan(kLengthHeaderBytes);
  } else {
    const std::size_t part =
        std::min(kLengthHeaderBytes - header_size_, input.size());
    std::copy_n(input.begin(), part, header_.begin() + header_size_);
    input = input.subspan(part);
    header_size_ = static_cast<std::uint8_t>(header_size_ + part);
    if (header_size_ < kLengthHeaderBytes) return false;
    header_size_ = 0;
    at = header_.data();
  }
  const std::uint32_t word = LoadU32(at);
  const bool marked = (word & kLengthStateBit) != 0;
  type_ = static_cast<LengthType>(word & kTypeMask & ~kLengthStateBit);
  lane_ = marked ? Lane::kState : Lane::kReliable;
  size_ = word >> kLengthShift;
  return true;
}

// An error, or nothing.
Incoming LengthFraming::CheckHeader() const {
  switch (type_) {
    case LengthType::kText:
    case LengthType::kBinary:
      if (size_ <= message_bytes_max_) return {};
      return MakeError(CloseReason::kMessageSize);
    case LengthType::kPing:
    case LengthType::kPong:
    case LengthType::kClose: {
      const bool cut = type_ == LengthType::kClose && size_ == 1;
      if (lane_ == Lane::kState || size_ > kControlBytesMax || cut) break;
      return {};
    }
    case LengthType::kHello:
    case LengthType::kRefused:
      break;
  }
  return MakeError(CloseReason::kProtocolError);
}

Incoming LengthFraming::Finish(std::span<const std::byte> payload) const {
  switch (type_) {
    case LengthType::kText:
      return MakeMessage(lane_, MessageKind::kText, payload);
    case LengthType::kBinary:
      return MakeMessage(lane_, MessageKind::kBinary, payload);
    case LengthType::kPing:
      return {.kind = Incoming::Kind::kPing, .bytes = payload};
    case LengthType::kPong:
      return {.kind = Incoming::Kind::kPong, .bytes = payload};
    default:
      break;
  }
  if (payload.empty()) {
    return {.kind = Incoming::Kind::kClose, .code = close_code::kNoCode};
  }
  return MakeClose(ByteReader(payload).U16(), payload.subspan(kCodeBytes));
}

std::size_t LengthFraming::WriteHeader(
    FrameType type, Lane lane, std::size_t size,
    std::span<std::byte, kHeaderMax> header) {
  const bool data = type == FrameType::kText || type == FrameType::kBinary;
  PARLOR_CHECK(data || size <= kControlBytesMax);
  // Nobody takes the longest that can be announced, nor anything above it.
  const auto length = static_cast<std::uint32_t>(std::min(size, kLengthMax));
  auto word =
      length << kLengthShift |
      static_cast<std::uint32_t>(kTypes[static_cast<std::size_t>(type)]);
  if (data && lane == Lane::kState) word |= kLengthStateBit;
  StoreU32(header.data(), word);
  return kLengthHeaderBytes;
}

std::size_t LengthFraming::WriteClose(
    CloseCode code, std::string_view text,
    std::span<std::byte, kControlBytesMax> payload) {
  if (code == close_code::kNoCode) return 0;
  PARLOR_CHECK(IsSendableCloseCode(code) && text.size() <= kCloseTextMax);
  payload[0] = static_cast<std::byte>(code & 0xff);
  payload[1] = static_cast<std::byte>(code >> 8);
  std::ranges::copy(AsBytes(text), payload.begin() + kCodeBytes);
  return kCodeBytes + text.size();
}

}  // namespace

std::unique_ptr<Codec> MakeLengthFraming(std::size_t message_bytes_max) {
  return std::make_unique<LengthFraming>(message_bytes_max);
}

}  // namespace parlor::stream
