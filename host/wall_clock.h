// The time of day, by which passes expire; all else goes by a steady clock.
#ifndef PARLOR_HOST_WALL_CLOCK_H_
#define PARLOR_HOST_WALL_CLOCK_H_

#include <chrono>
#include <cstdint>

namespace parlor::host {

// Since 1970.
inline std::int64_t WallClockSeconds() {
  return std::chrono::duration_cast<std::chrono::seconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

inline std::int64_t WallClockMilliseconds() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

}  // namespace parlor::host

#endif  // PARLOR_HOST_WALL_CLOCK_H_
