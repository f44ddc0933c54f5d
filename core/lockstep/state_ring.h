// StateRing: the last frames of a match, with their hashes, inputs and states,
// in bounded memory. It has eight segments, and a group of frames in each: a
// whole state, and what changed from one to the next, or the next one whole
// where that is no larger. The oldest group gives way to the newest.
#ifndef PARLOR_CORE_LOCKSTEP_STATE_RING_H_
#define PARLOR_CORE_LOCKSTEP_STATE_RING_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "parlor/lockstep/desync.h"

namespace parlor::lockstep::state {

class StateRing {
 public:
  // In sixteenths of `bytes_max`: eight for the segments, three for the last
  // state, the present one and the difference, two for the index and inputs.
  StateRing(std::size_t bytes_max, int players);

  // The next frame; with `has_state`, present() has its state.
  void Add(std::uint32_t frame, std::uint32_t hash, bool has_state);
  // The newest frame has run.
  void SetInputs(std::span<const std::uint32_t> inputs, std::uint32_t bots);

  std::vector<std::byte>& present() { return present_; }
  // Of a state that can be kept.
  std::size_t state_bytes_max() const {
    return std::min(segment_bytes_, kStateBytesMax);
  }

  std::size_t frames() const { return count_; }
  std::size_t bytes() const;  // of memory
  // All frames, ascending. States are in those from `first_state` on, or in
  // the last ones, as many as kDesyncUnpackedMax has room for.
  std::vector<DesyncFrame> Unpack(
      std::optional<std::int64_t> first_state) const;

 private:
  enum class Kept : std::uint8_t { kNothing, kWhole, kDelta };
  struct Record {
    std::uint32_t frame = 0;
    std::uint32_t hash = 0;
    std::uint32_t bots = 0;
    std::uint32_t group = 0;
    std::uint32_t at = 0;  // in its segment
    std::uint32_t size = 0;
    Kept kept = Kept::kNothing;
    bool ran = false;
  };

  std::size_t Place(std::size_t i) const {
    return (first_ + i) % records_.size();
  }
  DesyncFrame UnpackFrame(std::size_t i) const;  // without its state
  std::span<const std::byte> BytesOf(const Record& record) const;
  void NextGroup();
  void KeepState(Record& record);
  void Store(std::span<const std::byte> bytes, Record& record);

  const std::size_t players_;
  const std::size_t segment_bytes_;
  std::vector<Record> records_;
  std::vector<std::uint32_t> inputs_;  // of each record, in their places
  std::size_t first_ = 0;
  std::size_t count_ = 0;
  // Of which only what is written takes memory.
  std::unique_ptr<std::byte[]> segments_;
  std::uint32_t group_ = 0;
  std::size_t group_frames_ = 0;
  std::size_t group_bytes_ = 0;
  std::vector<std::byte> last_, present_, delta_;
};

}  // namespace parlor::lockstep::state

#endif  // PARLOR_CORE_LOCKSTEP_STATE_RING_H_
