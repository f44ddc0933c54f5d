// What the drawing of the swarm's worlds, and who plays in them, draw with.
#ifndef PARLOR_TESTS_SIM_SWARM_DRAW_H_
#define PARLOR_TESTS_SIM_SWARM_DRAW_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "parlor/random.h"
#include "parlor/time.h"

namespace parlor::test {

template <typename T, std::size_t n>
T OneOf(Random& random, const T (&values)[n]) {
  return values[random.Below(n)];
}

template <typename T>
const T& OneOf(Random& random, const std::vector<T>& values) {
  return values[random.Below(static_cast<std::uint32_t>(values.size()))];
}

// From low_ms on, up to a millisecond beyond high_ms.
inline Duration Between(Random& random, std::int32_t low_ms,
                        std::int32_t high_ms) {
  const std::int32_t ms = random.Between(low_ms, high_ms);
  return ms * kMillisecond + Duration(random.Below(1'000'000));
}

}  // namespace parlor::test

#endif  // PARLOR_TESTS_SIM_SWARM_DRAW_H_
