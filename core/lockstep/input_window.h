// InputWindow: the inputs of one seat that a peer holds and has not run yet,
// from the next frame to run on, without a hole.
//
// Nothing else of a seat is ever of use. Its relayed frames rise strictly (the
// room sees to it), so a frame that was skipped will never come, and no frame
// after it will ever run with that seat's inputs.
#ifndef PARLOR_CORE_LOCKSTEP_INPUT_WINDOW_H_
#define PARLOR_CORE_LOCKSTEP_INPUT_WINDOW_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "parlor/check.h"

namespace parlor::lockstep {

class InputWindow {
 public:
  // An honest seat is at most 2 * 31 + 1 frames ahead. One that runs away is
  // kept this far (256 KiB), and memory grows only by frames that came: a
  // number in a message allocates nothing.
  static constexpr std::size_t kFramesMax = 65'536;

  bool empty() const { return size_ == 0; }
  std::size_t size() const { return size_; }

  // False, and nothing changed, when kFramesMax are held.
  bool Push(std::uint32_t word) {
    if (size_ == kFramesMax) return false;
    if (size_ == ring_.size()) Grow();
    ring_[(head_ + size_) & (ring_.size() - 1)] = word;
    ++size_;
    return true;
  }

  std::uint32_t Take() {
    PARLOR_DCHECK(size_ > 0);
    const std::uint32_t word = ring_[head_];
    head_ = (head_ + 1) & (ring_.size() - 1);
    --size_;
    return word;
  }

 private:
  void Grow() {
    std::vector<std::uint32_t> wider(ring_.size() * 2);
    for (std::size_t i = 0; i < size_; ++i) {
      wider[i] = ring_[(head_ + i) & (ring_.size() - 1)];
    }
    ring_ = std::move(wider);
    head_ = 0;
  }

  // A power of two, so that a mask wraps.
  std::vector<std::uint32_t> ring_ = std::vector<std::uint32_t>(64);
  std::size_t head_ = 0;
  std::size_t size_ = 0;
};

}  // namespace parlor::lockstep

#endif  // PARLOR_CORE_LOCKSTEP_INPUT_WINDOW_H_
