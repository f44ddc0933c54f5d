// The time by which loops and servers go that are not turned by virtual time.
#ifndef PARLOR_TESTS_SUPPORT_STEADY_NOW_H_
#define PARLOR_TESTS_SUPPORT_STEADY_NOW_H_

#include <chrono>

#include "parlor/time.h"

namespace parlor::test {

inline TimePoint SteadyNow() {
  return TimePoint(std::chrono::duration_cast<Duration>(
      std::chrono::steady_clock::now().time_since_epoch()));
}

}  // namespace parlor::test

#endif  // PARLOR_TESTS_SUPPORT_STEADY_NOW_H_
