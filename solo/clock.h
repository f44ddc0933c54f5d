// The system's steady clock, as parlor's time. Of the loops alone: what they
// turn is told the time.
#ifndef PARLOR_SOLO_CLOCK_H_
#define PARLOR_SOLO_CLOCK_H_

#include <chrono>
#include <thread>

#include "parlor/time.h"

namespace parlor::solo {

inline TimePoint SteadyNow() {
  return TimePoint(std::chrono::duration_cast<Duration>(
      std::chrono::steady_clock::now().time_since_epoch()));
}

inline void SleepUntil(TimePoint time) {
  if (time <= SteadyNow()) return;
  std::this_thread::sleep_until(
      std::chrono::steady_clock::time_point(time.time_since_epoch()));
}

}  // namespace parlor::solo

#endif  // PARLOR_SOLO_CLOCK_H_
