#include "parlor/constant_time.h"

namespace parlor {
namespace {

// Keeps the compiler from seeing the value, and so from leaving the loop as
// soon as the answer is known.
inline std::uint32_t Opaque(std::uint32_t value) {
  __asm__ volatile("" : "+r"(value));
  return value;
}

}  // namespace

bool ConstantTimeEquals(std::span<const std::byte> a,
                        std::span<const std::byte> b) {
  if (a.size() != b.size()) return false;
  std::uint32_t difference = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    difference =
        Opaque(difference | std::to_integer<std::uint32_t>(a[i] ^ b[i]));
  }
  return difference == 0;
}

bool ConstantTimeEquals(std::uint32_t a, std::uint32_t b) {
  return Opaque(a ^ b) == 0;
}

}  // namespace parlor
