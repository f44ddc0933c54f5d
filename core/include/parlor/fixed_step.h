// FixedStep: says how many fixed steps are due. Deadlines are absolute (step n
// is due at start + n / rate), so that nothing drifts however late or early
// the caller comes. After a stall at most `catch_up_max` steps are made up at
// once; the rest is skipped and counted, instead of a burst that plays faster
// than anyone can follow.
#ifndef PARLOR_FIXED_STEP_H_
#define PARLOR_FIXED_STEP_H_

#include <cstdint>

#include "parlor/check.h"
#include "parlor/time.h"

namespace parlor {

class FixedStep {
 public:
  // The first step is due at `start`.
  FixedStep(TimePoint start, int rate_hz, int catch_up_max = 4)
      : start_(start), rate_hz_(rate_hz), catch_up_max_(catch_up_max) {
    PARLOR_CHECK(rate_hz > 0 && catch_up_max > 0);
  }

  // Steps due at or before `now` that were not taken yet. They count as taken.
  int Take(TimePoint now) {
    if (now < next()) return 0;
    // next() <= now, so at least one is due.
    std::int64_t due = 1;
    while (due <= catch_up_max_ && At(taken_ + due) <= now) ++due;
    if (due <= catch_up_max_) {
      taken_ += due;
      return static_cast<int>(due);
    }
    const std::int64_t all = (now - start_).count() * rate_hz_ / kSecond + 1;
    skipped_ += static_cast<std::uint64_t>(all - taken_ - catch_up_max_);
    taken_ = all;
    return catch_up_max_;
  }

  TimePoint next() const { return At(taken_); }
  std::uint64_t skipped() const { return skipped_; }

 private:
  static constexpr std::int64_t kSecond = 1'000'000'000;

  // Whole seconds and the rest apart: n * 1e9 would overflow in 5 years.
  TimePoint At(std::int64_t n) const {
    return start_ +
           Duration(n / rate_hz_ * kSecond + n % rate_hz_ * kSecond / rate_hz_);
  }

  TimePoint start_;
  std::int64_t rate_hz_;
  std::int64_t catch_up_max_;
  std::int64_t taken_ = 0;
  std::uint64_t skipped_ = 0;
};

}  // namespace parlor

#endif  // PARLOR_FIXED_STEP_H_
