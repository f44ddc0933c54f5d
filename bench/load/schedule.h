// Schedule: when each seat's frame is due, in nanoseconds of the clock.
//
// A place is a seat of all rooms: room * seats + seat.
#ifndef PARLOR_BENCH_LOAD_SCHEDULE_H_
#define PARLOR_BENCH_LOAD_SCHEDULE_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include "load/clock.h"
#include "load/load_options.h"
#include "parlor/random.h"

namespace parlor::load {

class Schedule {
 public:
  // From `start_ns` on. Every seat has a moment in the step, drawn from the
  // seed, or 0.
  Schedule(const LoadOptions& options, std::size_t places,
           std::int64_t start_ns)
      : rate_(options.rate),
        seats_(static_cast<std::size_t>(options.seats)),
        closed_(options.loop == LoadOptions::Loop::kClosed),
        start_ns_(start_ns),
        phases_ns_(places),
        last_phases_ns_(places),
        order_(places),
        said_ns_(closed_ ? places * kSaid : 0, start_ns) {
    Random random(options.seed);
    for (std::int64_t& phase_ns : phases_ns_) {
      if (options.phases == LoadOptions::Phases::kStep || closed_) continue;
      phase_ns = static_cast<std::int64_t>(
          random.Next64() % static_cast<std::uint64_t>(step_ns()));
    }
    for (std::size_t place = 0; place < places; ++place) {
      last_phases_ns_[place] = OfOthers(
          place, [this](std::size_t other) { return phases_ns_[other]; });
    }
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    std::stable_sort(order_.begin(), order_.end(),
                     [this](std::size_t a, std::size_t b) {
                       return phases_ns_[a] < phases_ns_[b];
                     });
  }

  std::int64_t step_ns() const { return kSecondNs / rate_; }

  // When `place` was or is to send `frame`. Closed loop: of the last 4 frames
  // that it said, beyond which no receiver can lag; at first the start.
  std::int64_t DueNs(std::size_t place, std::uint32_t frame) const {
    if (closed_) return said_ns_[place * kSaid + frame % kSaid];
    return start_ns_ + phases_ns_[place] + FrameNs(frame);
  }
  // The last of the others' moments for that frame.
  std::int64_t LastDueNs(std::size_t place, std::uint32_t frame) const {
    if (!closed_) return start_ns_ + last_phases_ns_[place] + FrameNs(frame);
    return OfOthers(place,
                    [&](std::size_t other) { return DueNs(other, frame); });
  }

  // Closed loop: `place` may send `frame` now.
  void MayNow(std::size_t place, std::uint32_t frame, std::int64_t now_ns) {
    said_ns_[place * kSaid + frame % kSaid] = now_ns;
  }

  // Who is next by the clock, and when; in a closed loop that is each place
  // once, at the start. Frames go round in the order of the moments, which is
  // the order in time.
  std::size_t next_place() const { return order_[next_]; }
  std::int64_t next_ns() const {
    if (closed_ && frame_ > 0) return kNeverNs;
    return DueNs(next_place(), frame_);
  }
  void Advance() {
    if (++next_ < order_.size()) return;
    next_ = 0;
    ++frame_;
  }

 private:
  static constexpr std::size_t kSaid = 4;

  std::int64_t FrameNs(std::uint32_t frame) const {
    return frame * kSecondNs / rate_;
  }
  template <typename When>
  std::int64_t OfOthers(std::size_t place, When&& when) const {
    const std::size_t first = place / seats_ * seats_;
    std::int64_t last = 0;
    for (std::size_t other = first; other < first + seats_; ++other) {
      if (other != place) last = std::max(last, when(other));
    }
    return last;
  }

  const std::int64_t rate_;
  const std::size_t seats_;
  const bool closed_;
  const std::int64_t start_ns_;
  std::vector<std::int64_t> phases_ns_;       // by place
  std::vector<std::int64_t> last_phases_ns_;  // by place: of the others
  std::vector<std::size_t> order_;            // places by their moments
  std::vector<std::int64_t> said_ns_;         // by place, kSaid each
  std::size_t next_ = 0;                      // in `order_`
  std::uint32_t frame_ = 0;                   // of who is next
};

}  // namespace parlor::load

#endif  // PARLOR_BENCH_LOAD_SCHEDULE_H_
