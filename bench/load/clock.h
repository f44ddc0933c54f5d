// The time that all is measured by: CLOCK_MONOTONIC, in nanoseconds.
#ifndef PARLOR_BENCH_LOAD_CLOCK_H_
#define PARLOR_BENCH_LOAD_CLOCK_H_

#include <cstdint>
#include <ctime>
#include <limits>

namespace parlor::load {

inline constexpr std::int64_t kSecondNs = 1'000'000'000;
inline constexpr std::int64_t kNeverNs =
    std::numeric_limits<std::int64_t>::max();

inline std::int64_t Nanoseconds(double seconds) {
  return static_cast<std::int64_t>(seconds * 1e9);
}

inline std::int64_t NowNs() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * kSecondNs + time.tv_nsec;
}

}  // namespace parlor::load

#endif  // PARLOR_BENCH_LOAD_CLOCK_H_
