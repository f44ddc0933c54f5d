#include "parlor/lockstep/state_description.h"

#include <algorithm>

namespace parlor::lockstep::state {

VectorSink::VectorSink(std::vector<std::byte>& out, std::size_t bytes_max)
    : out_(out), bytes_max_(bytes_max) {
  if (out_.size() > bytes_max_) out_.resize(bytes_max_);
}

StateSink::Room VectorSink::Begin() {
  return {out_.data(), out_.data() + out_.size()};
}

bool VectorSink::Finish(const std::byte* next) {
  if (!fits_) return false;
  out_.resize(static_cast<std::size_t>(next - out_.data()));
  return true;
}

StateSink::Room VectorSink::MakeRoom(std::byte* next, std::size_t size) {
  const std::size_t used =
      fits_ ? static_cast<std::size_t>(next - out_.data()) : 0;
  if (!fits_ || bytes_max_ - used < size) {
    fits_ = false;
    return {spill_.data(), spill_.data() + spill_.size()};
  }
  const std::size_t enlarged =
      std::min(bytes_max_, std::max(used + size, 2 * out_.size()));
  out_.reserve(enlarged);  // exactly: memory may be what is bounded
  out_.resize(enlarged);
  return {out_.data() + used, out_.data() + out_.size()};
}

StateSink::Room VectorSink::Take(std::byte* next, const std::byte* bytes,
                                 std::size_t size) {
  Room room = MakeRoom(next, size);
  if (!fits_) return room;
  CopyBytes(room.next, bytes, size);
  room.next += size;
  return room;
}

}  // namespace parlor::lockstep::state
