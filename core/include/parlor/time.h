// Time as core knows it: a number that its caller passes in. The clock tag has
// no now(), so reading the time inside a room does not compile; a host passes
// a steady clock's value, a test or the simulator a virtual one.
//
// The epoch is whatever the caller's clock counts from. Values must not fall
// from one call to the next on the same object.
#ifndef PARLOR_TIME_H_
#define PARLOR_TIME_H_

#include <chrono>
#include <cstdint>

namespace parlor {

// Nanoseconds: 292 years in 63 bits, and no rounding for 60 Hz steps that
// matters (a step is 16,666,667 ns, wrong by 2e-8).
using Duration = std::chrono::duration<std::int64_t, std::nano>;

inline constexpr Duration kMicrosecond{1'000};
inline constexpr Duration kMillisecond{1'000'000};
inline constexpr Duration kSecond{1'000'000'000};

struct ClockTag {
  using rep = Duration::rep;
  using period = Duration::period;
  using duration = Duration;
  using time_point = std::chrono::time_point<ClockTag>;
  static constexpr bool is_steady = true;
};

using TimePoint = ClockTag::time_point;

// The deadline of something that has none.
inline constexpr TimePoint kNever = TimePoint::max();

}  // namespace parlor

#endif  // PARLOR_TIME_H_
