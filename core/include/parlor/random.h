// Random numbers that are the same on every machine: for games, tests and the
// simulator. Not for secrets; those come from an Entropy (entropy.h).
//
// The algorithm is PCG32 (XSH RR 64/32, M. E. O'Neill, pcg-random.org):
//   step:    state = state * 6364136223846793005 + increment   (mod 2^64)
//   output:  of the state before the step,
//            rotate_right32(((state >> 18) ^ state) >> 27, state >> 59)
//   seeding: increment = 2 * stream + 1; state = 0; step;
//            state += seed; step
// Published vector, seed 42, stream 54: a15c02b7 7b47f409 ba1d3330 83d2f293
// bfa4784b cbed606e (random_test.cc).
//
// 16 bytes, copyable, without padding: it can be part of a hashed game state.
// Never draw twice in one expression: compilers order the draws differently.
#ifndef PARLOR_RANDOM_H_
#define PARLOR_RANDOM_H_

#include <cstdint>

#include "parlor/check.h"

namespace parlor {

class Random {
 public:
  explicit constexpr Random(std::uint64_t seed, std::uint64_t stream = 0)
      : increment_(2 * stream + 1) {
    Next();
    state_ += seed;
    Next();
  }

  // Uniform over all 32-bit values.
  constexpr std::uint32_t Next() {
    const std::uint64_t old = state_;
    state_ = old * 6364136223846793005u + increment_;
    const auto mixed = static_cast<std::uint32_t>(((old >> 18) ^ old) >> 27);
    const auto turn = static_cast<std::uint32_t>(old >> 59);
    return (mixed >> turn) | (mixed << ((32 - turn) & 31));
  }

  // Two draws, the high half first.
  constexpr std::uint64_t Next64() {
    const std::uint64_t high = Next();
    return (high << 32) | Next();
  }

  // Uniform over 0 .. bound-1. Draws below 2^32 mod bound are thrown away, so
  // that no value comes up more often than another. bound is above 0.
  constexpr std::uint32_t Below(std::uint32_t bound) {
    PARLOR_CHECK(bound > 0);
    const std::uint32_t threshold = (0u - bound) % bound;
    while (true) {
      const std::uint32_t draw = Next();
      if (draw >= threshold) return draw % bound;
    }
  }

  // Uniform over low .. high, both included.
  constexpr std::int32_t Between(std::int32_t low, std::int32_t high) {
    PARLOR_CHECK(low <= high);
    const auto span =
        static_cast<std::uint32_t>(high) - static_cast<std::uint32_t>(low) + 1;
    const std::uint32_t offset = span == 0 ? Next() : Below(span);
    return static_cast<std::int32_t>(static_cast<std::uint32_t>(low) + offset);
  }

  // True `numerator` times in `denominator`.
  constexpr bool Chance(std::uint32_t numerator, std::uint32_t denominator) {
    return Below(denominator) < numerator;
  }

  friend constexpr bool operator==(const Random&, const Random&) = default;

 private:
  std::uint64_t state_ = 0;
  std::uint64_t increment_;
};

}  // namespace parlor

#endif  // PARLOR_RANDOM_H_
