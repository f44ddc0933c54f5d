#include "lockstep/state_ring.h"

#include <algorithm>
#include <cstring>

#include "lockstep/state_delta.h"
#include "parlor/check.h"

namespace parlor::lockstep::state {
namespace {

constexpr std::size_t kGroups = 8;
// A minute: far more than any two peers of a match are apart.
constexpr std::size_t kGroupFramesMax = 3'600 / kGroups;

}  // namespace

StateRing::StateRing(std::size_t bytes_max, int players)
    : players_(static_cast<std::size_t>(players)),
      segment_bytes_(bytes_max / 16),
      segments_(std::make_unique_for_overwrite<std::byte[]>(kGroups *
                                                            segment_bytes_)) {
  const std::size_t each = sizeof(Record) + players_ * sizeof(std::uint32_t);
  records_.resize(kGroups *
                  std::min(kGroupFramesMax, bytes_max / 8 / each / kGroups));
  inputs_.resize(records_.size() * players_);
}

void StateRing::Add(std::uint32_t frame, std::uint32_t hash, bool has_state) {
  if (group_frames_ == records_.size() / kGroups) NextGroup();
  Record record{.frame = frame, .hash = hash};
  if (has_state) KeepState(record);
  record.group = group_;
  ++group_frames_;
  PARLOR_DCHECK(count_ < records_.size());
  records_[Place(count_++)] = record;
}

void StateRing::SetInputs(std::span<const std::uint32_t> inputs,
                          std::uint32_t bots) {
  if (count_ == 0) return;
  const std::size_t place = Place(count_ - 1);
  records_[place].ran = true;
  records_[place].bots = bots;
  std::copy(inputs.begin(), inputs.end(),
            inputs_.begin() + static_cast<std::ptrdiff_t>(place * players_));
}

// Whoever was in its segment goes.
void StateRing::NextGroup() {
  ++group_;
  group_frames_ = 0;
  group_bytes_ = 0;
  while (count_ > 0 && records_[first_].group + kGroups <= group_) {
    first_ = Place(1);
    --count_;
  }
}

void StateRing::KeepState(Record& record) {
  const std::size_t room = segment_bytes_ - group_bytes_;
  if (group_bytes_ > 0 && MakeDelta(last_, present_, room, delta_)) {
    record.kept = Kept::kDelta;
    Store(delta_, record);
  } else {
    // Of a small state a difference is often no smaller.
    if (present_.size() > room) NextGroup();
    record.kept = Kept::kWhole;
    Store(present_, record);
  }
  last_.swap(present_);
}

void StateRing::Store(std::span<const std::byte> bytes, Record& record) {
  record.at = static_cast<std::uint32_t>(group_bytes_);
  record.size = static_cast<std::uint32_t>(bytes.size());
  std::byte* const to =
      segments_.get() + group_ % kGroups * segment_bytes_ + group_bytes_;
  std::memcpy(to, bytes.data(), bytes.size());
  group_bytes_ += bytes.size();
}

std::span<const std::byte> StateRing::BytesOf(const Record& record) const {
  return {segments_.get() + record.group % kGroups * segment_bytes_ + record.at,
          record.size};
}

std::size_t StateRing::bytes() const {
  return sizeof(*this) + records_.capacity() * sizeof(Record) +
         inputs_.capacity() * sizeof(std::uint32_t) + kGroups * segment_bytes_ +
         last_.capacity() + present_.capacity() + delta_.capacity();
}

std::vector<DesyncFrame> StateRing::Unpack(
    std::optional<std::int64_t> first_state) const {
  std::vector<DesyncFrame> frames;
  if (count_ == 0) return frames;
  frames.reserve(count_);
  if (!first_state) {
    const std::size_t fit =
        kDesyncUnpackedMax / std::max<std::size_t>(last_.size(), 1);
    first_state = std::int64_t{records_[Place(count_ - 1)].frame} + 1 -
                  static_cast<std::int64_t>(fit);
  }
  std::vector<std::byte> state;
  std::size_t room = kDesyncUnpackedMax;
  for (std::size_t i = 0; i < count_; ++i) {
    const Record& record = records_[Place(i)];
    DesyncFrame& frame = frames.emplace_back(UnpackFrame(i));
    if (record.kept == Kept::kNothing) continue;
    const auto bytes = BytesOf(record);
    if (record.kept == Kept::kWhole) {
      state.assign(bytes.begin(), bytes.end());
    } else {
      PARLOR_CHECK(ApplyDelta(bytes, kStateBytesMax, state));
    }
    if (frame.frame < *first_state) continue;
    if (state.size() > room) break;
    room -= state.size();
    frame.state = state;
  }
  for (std::size_t i = frames.size(); i < count_; ++i) {
    frames.push_back(UnpackFrame(i));
  }
  return frames;
}

DesyncFrame StateRing::UnpackFrame(std::size_t i) const {
  const std::size_t place = Place(i);
  const Record& record = records_[place];
  DesyncFrame frame;
  frame.frame = record.frame;
  frame.hash = record.hash;
  frame.ran = record.ran;
  if (!record.ran) return frame;
  frame.bots = record.bots;
  const auto* const inputs = inputs_.data() + place * players_;
  frame.inputs.assign(inputs, inputs + players_);
  return frame;
}

}  // namespace parlor::lockstep::state
