#include "parlor/authority/input.h"

#include <algorithm>
#include <limits>

#include "parlor/byte_io.h"
#include "parlor/check.h"

namespace parlor::authority {
namespace {

void StoreU16(std::byte* at, std::uint16_t value) {
  at[0] = static_cast<std::byte>(value);
  at[1] = static_cast<std::byte>(value >> 8);
}

void StoreU64(std::byte* at, std::uint64_t value) {
  StoreU32(at, static_cast<std::uint32_t>(value));
  StoreU32(at + 4, static_cast<std::uint32_t>(value >> 32));
}

void StoreAxes(std::byte* at, const Axes& axes) {
  for (std::size_t i = 0; i < kAxes; ++i) {
    StoreU16(at + 2 * i, static_cast<std::uint16_t>(axes[i]));
  }
}

Axes ReadAxes(ByteReader& reader) {
  Axes axes;
  for (std::int16_t& axis : axes) {
    axis = static_cast<std::int16_t>(reader.U16());
  }
  return axes;
}

std::int16_t AddSaturating(std::int16_t a, std::int16_t b) {
  using Limits = std::numeric_limits<std::int16_t>;
  return static_cast<std::int16_t>(
      std::clamp<int>(a + b, Limits::min(), Limits::max()));
}

// `next` came behind `into`, and one tick takes both.
void Fold(const InputFrame& next, InputFrame& into) {
  into.seq = next.seq;
  into.held = next.held;
  into.pressed |= next.pressed;
  into.axes = next.axes;
  for (std::size_t i = 0; i < kAxes; ++i) {
    into.summed[i] = AddSaturating(into.summed[i], next.summed[i]);
  }
}

}  // namespace

std::array<std::byte, kInputBytes> EncodeInput(const InputFrame& input) {
  std::array<std::byte, kInputBytes> bytes;
  bytes[0] = kInputKind;
  StoreU32(&bytes[1], input.seq);
  StoreU64(&bytes[5], input.held);
  StoreU64(&bytes[13], input.pressed);
  StoreAxes(&bytes[21], input.axes);
  StoreAxes(&bytes[29], input.summed);
  return bytes;
}

std::array<std::byte, kAckBytes> EncodeAck(std::uint32_t tick) {
  std::array<std::byte, kAckBytes> bytes;
  bytes[0] = kAckKind;
  StoreU32(&bytes[1], tick);
  return bytes;
}

std::optional<InputFrame> DecodeInput(std::span<const std::byte> bytes) {
  if (bytes.size() != kInputBytes || bytes[0] != kInputKind) {
    return std::nullopt;
  }
  ByteReader reader(bytes.subspan(1));
  InputFrame input;
  input.seq = reader.U32();
  input.held = reader.U64();
  input.pressed = reader.U64();
  input.axes = ReadAxes(reader);
  input.summed = ReadAxes(reader);
  PARLOR_CHECK(reader.AtEnd());
  if (input.seq == 0) return std::nullopt;
  return input;
}

std::optional<std::uint32_t> DecodeAck(std::span<const std::byte> bytes) {
  if (bytes.size() != kAckBytes || bytes[0] != kAckKind) return std::nullopt;
  return LoadU32(&bytes[1]);
}

InputQueue::InputQueue(int waiting_max)
    : waiting_max_(static_cast<std::size_t>(waiting_max)) {
  PARLOR_CHECK(waiting_max >= 1 &&
               waiting_max <= static_cast<int>(kWaitingCeiling));
}

InputQueue::Put InputQueue::Add(TimePoint now, const InputFrame& input) {
  if (input.seq <= newest_) return Put::kStale;
  newest_ = input.seq;
  heard_ = now;
  if (waiting_count_ == waiting_max_) {
    Fold(input, waiting_[waiting_count_ - 1]);
    return Put::kFolded;
  }
  waiting_[waiting_count_++] = input;
  return Put::kQueued;
}

InputFrame InputQueue::Take(TimePoint now) {
  if (waiting_count_ > 0) {
    last_ = waiting_[0];
    std::shift_left(waiting_.begin(), waiting_.end(), 1);
    --waiting_count_;
    return last_;
  }
  last_.pressed = 0;
  last_.summed = {};
  if (now - heard_ >= kInputSilence) Release();
  return last_;
}

void InputQueue::Release() {
  waiting_count_ = 0;
  last_ = InputFrame{.seq = last_.seq};
}

void InputQueue::Restart() {
  Release();
  last_.seq = 0;
  newest_ = 0;
}

}  // namespace parlor::authority
