// Right checksums on changed bytes of a replay file, for as many records as
// can be followed: what is behind the checksums is tested with it.
#ifndef PARLOR_TESTS_SOLO_REPLAY_SEAL_H_
#define PARLOR_TESTS_SOLO_REPLAY_SEAL_H_

#include <xxhash.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "parlor/byte_io.h"

namespace parlor::solo {

inline std::vector<std::byte> Resealed(std::vector<std::byte> bytes) {
  constexpr std::size_t kHeader = 48;
  constexpr std::size_t kAround = 3 + 8;  // type and size, checksum
  const auto seal = [&bytes](std::size_t start, std::size_t size,
                             std::uint64_t seed) {
    std::vector<std::byte> sum;
    ByteWriter(sum).U64(XXH3_64bits_withSeed(&bytes[start], size, seed));
    std::copy(sum.begin(), sum.end(), &bytes[start + size]);
  };
  if (bytes.size() < kHeader) return bytes;
  seal(0, kHeader - 8, 0);
  std::size_t at = kHeader;
  while (at + kAround <= bytes.size()) {
    const std::size_t size = std::to_integer<std::size_t>(bytes[at + 1]) |
                             std::to_integer<std::size_t>(bytes[at + 2]) << 8;
    if (at + kAround + size > bytes.size()) break;
    seal(at, 3 + size, at);
    at += kAround + size;
  }
  return bytes;
}

}  // namespace parlor::solo

#endif  // PARLOR_TESTS_SOLO_REPLAY_SEAL_H_
