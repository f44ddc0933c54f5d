// How the conformance suite comes to rest over links where messages take time.
#ifndef PARLOR_TESTS_SUPPORT_SIM_PACE_H_
#define PARLOR_TESTS_SUPPORT_SIM_PACE_H_

#include "parlor/sim/network.h"
#include "parlor/time.h"

namespace parlor::test {

// At rest is where nothing happens for `quiet`, which the suite must not
// notice, since it counts the lingers. So its clock runs `slower` than the
// network's.
struct SimPace {
  Duration quiet{};
  int slower = 1;
};

constexpr SimPace PaceOn(const sim::Conditions& conditions) {
  if (conditions == sim::kPerfect) return {};
  return {.quiet = 700 * kMillisecond, .slower = 50};
}

}  // namespace parlor::test

#endif  // PARLOR_TESTS_SUPPORT_SIM_PACE_H_
