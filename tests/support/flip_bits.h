// Damage for parsers: bits flipped at random.
#ifndef PARLOR_TESTS_SUPPORT_FLIP_BITS_H_
#define PARLOR_TESTS_SUPPORT_FLIP_BITS_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "parlor/random.h"

namespace parlor::test {

inline void FlipBit(Random& random, std::byte& byte) {
  byte ^= std::byte{1} << random.Below(8);
}

// From one to three flips, anywhere in `bytes`, which is not empty; two of them
// may meet.
inline void FlipBits(Random& random, std::span<std::byte> bytes) {
  const auto size = static_cast<std::uint32_t>(bytes.size());
  for (std::uint32_t n = 1 + random.Below(3); n > 0; --n) {
    FlipBit(random, bytes[random.Below(size)]);
  }
}

}  // namespace parlor::test

#endif  // PARLOR_TESTS_SUPPORT_FLIP_BITS_H_
