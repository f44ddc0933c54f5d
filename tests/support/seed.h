// The seed of a random test: printed first, so that even a crash tells it, and
// taken from PARLOR_SEED, so that a failure can be run again.
#ifndef PARLOR_TESTS_SUPPORT_SEED_H_
#define PARLOR_TESTS_SUPPORT_SEED_H_

#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace parlor::test {

// A number from the environment, or `fallback`.
inline std::uint64_t NumberFromEnv(const char* name, std::uint64_t fallback) {
  const char* text = std::getenv(name);
  return text == nullptr ? fallback : std::strtoull(text, nullptr, 0);
}

inline std::uint64_t TestSeed(std::uint64_t fallback = 1) {
  const std::uint64_t seed = NumberFromEnv("PARLOR_SEED", fallback);
  std::printf("PARLOR_SEED=%llu\n", static_cast<unsigned long long>(seed));
  std::fflush(stdout);
  return seed;
}

}  // namespace parlor::test

#endif  // PARLOR_TESTS_SUPPORT_SEED_H_
