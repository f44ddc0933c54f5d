// LocalClock: a machine's clock that runs a little too fast or too slow.
#ifndef PARLOR_HOST_SIM_LOCAL_CLOCK_H_
#define PARLOR_HOST_SIM_LOCAL_CLOCK_H_

#include <cstdint>

#include "parlor/check.h"
#include "parlor/time.h"

namespace parlor::sim {

class LocalClock {
 public:
  // A clock of a computer is off by some 100 ppm at the most.
  static constexpr std::int32_t kPpmMax = 100'000;

  // Right at `start`; from there on it runs `ppm` parts in a million faster.
  LocalClock(TimePoint start, std::int32_t ppm)
      : start_(start), rate_(kMillion + ppm) {
    PARLOR_CHECK(ppm >= -kPpmMax && ppm <= kPpmMax);
  }

  // What it shows at `time`, not before the start.
  TimePoint At(TimePoint time) const {
    const std::int64_t real = (time - start_).count();
    return start_ + Duration(real / kMillion * rate_ +
                             real % kMillion * rate_ / kMillion);
  }
  // The first time at which it shows `shown` or more.
  TimePoint When(TimePoint shown) const {
    const std::int64_t local = (shown - start_).count();
    return start_ + Duration(local / rate_ * kMillion +
                             (local % rate_ * kMillion + rate_ - 1) / rate_);
  }

 private:
  static constexpr std::int64_t kMillion = 1'000'000;

  TimePoint start_;
  std::int64_t rate_;  // what it counts while a million pass
};

}  // namespace parlor::sim

#endif  // PARLOR_HOST_SIM_LOCAL_CLOCK_H_
