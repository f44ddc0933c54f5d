// How far ahead a test may ask for.
#ifndef PARLOR_HOST_SIM_TIME_AHEAD_H_
#define PARLOR_HOST_SIM_TIME_AHEAD_H_

#include <string>

#include "parlor/check_text.h"
#include "parlor/limits.h"
#include "parlor/sim/world.h"
#include "parlor/time.h"

namespace parlor::sim {

// `time` is neither negative nor so long that times overflow; else the program
// stops with `what` ("RunFor").
inline void CheckTimeAhead(Duration time, const std::string& what) {
  constexpr Limit kAheadNs{"ahead_ns", 0, 0, kAheadMax.count()};
  PARLOR_CHECK_OK(CheckLimit(kAheadNs, what + ": ns", time.count()));
}

}  // namespace parlor::sim

#endif  // PARLOR_HOST_SIM_TIME_AHEAD_H_
