// RateCredit: how many messages of a kind may still come. It fills with time,
// up to a burst, and is counted in billionths of a message: one nanosecond at a
// rate of one message a second. So no rate is rounded.
#ifndef PARLOR_CORE_AUTHORITY_RATE_CREDIT_H_
#define PARLOR_CORE_AUTHORITY_RATE_CREDIT_H_

#include <algorithm>
#include <cstdint>

#include "parlor/time.h"

namespace parlor::authority {

struct Rate {
  std::int64_t per_s = 1;
  std::int64_t burst = 1;
};

class RateCredit {
 public:
  // A whole burst, at `now`.
  RateCredit(TimePoint now, const Rate& rate)
      : at_(now), credit_(rate.burst * kOne) {}

  // False, and nothing is taken, when less than one is left.
  bool Take(TimePoint now, const Rate& rate) {
    // What is missing fills in so long: a longer time would overflow.
    const std::int64_t missing = rate.burst * kOne - credit_;
    const std::int64_t passed =
        std::min<std::int64_t>((now - at_).count(), missing / rate.per_s + 1);
    credit_ = std::min(credit_ + passed * rate.per_s, rate.burst * kOne);
    at_ = now;
    if (credit_ < kOne) return false;
    credit_ -= kOne;
    return true;
  }

 private:
  static constexpr std::int64_t kOne = 1'000'000'000;

  TimePoint at_;
  std::int64_t credit_;
};

}  // namespace parlor::authority

#endif  // PARLOR_CORE_AUTHORITY_RATE_CREDIT_H_
