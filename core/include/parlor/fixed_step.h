// FixedStep: says how many fixed steps are due. Deadlines are absolute (step n
// is due at start + n / rate), so that nothing drifts however late or early
// the caller comes. After a stall at most `catch_up_max` steps are made up at
// once; the rest is skipped and counted, instead of a burst that plays faster
// than anyone can follow.
#ifndef PARLOR_FIXED_STEP_H_
#define PARLOR_FIXED_STEP_H_

#include <algorithm>
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

  // Steps due at or before `now` that were not taken yet, but no more than
  // `catch_up_max`. All of them count as taken.
  int Take(TimePoint now) {
    if (now < next()) return 0;
    const std::int64_t due = DueBy(now) - taken_;
    const std::int64_t made_up = std::min(due, catch_up_max_);
    skipped_ += static_cast<std::uint64_t>(due - made_up);
    taken_ += due;
    return static_cast<int>(made_up);
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

  // How many n, from 0 on, have At(n) <= now; `now` is not before start_.
  // At rounds down, so step n is due by t when n * 1e9 < (t + 1) * rate: the
  // count is that product over 1e9, rounded up. Seconds and rest apart again.
  std::int64_t DueBy(TimePoint now) const {
    const std::int64_t time = (now - start_).count();
    const std::int64_t rest = (time % kSecond + 1) * rate_hz_;
    return time / kSecond * rate_hz_ + (rest + kSecond - 1) / kSecond;
  }

  TimePoint start_;
  std::int64_t rate_hz_;
  std::int64_t catch_up_max_;
  std::int64_t taken_ = 0;
  std::uint64_t skipped_ = 0;
};

}  // namespace parlor

#endif  // PARLOR_FIXED_STEP_H_
