// Sums of desync dumps, for tests that change or make their bytes.
#ifndef PARLOR_TESTS_SUPPORT_DESYNC_SEAL_H_
#define PARLOR_TESTS_SUPPORT_DESYNC_SEAL_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "parlor/byte_io.h"

namespace parlor::test {

// CRC-32 as DESYNC.md has it, bit by bit: of eight zero bytes, and then these.
inline std::uint32_t DesyncSum(std::span<const std::byte> bytes) {
  std::uint32_t sum = 0xffffffff;
  const auto take = [&sum](std::uint32_t byte) {
    sum ^= byte;
    for (int i = 0; i < 8; ++i) sum = sum >> 1 ^ (sum & 1) * 0xedb88320u;
  };
  for (int i = 0; i < 8; ++i) take(0);
  for (const std::byte byte : bytes) take(std::to_integer<std::uint32_t>(byte));
  return ~sum;
}

inline std::vector<std::byte> Sealed(std::span<const std::byte> body) {
  std::vector<std::byte> bytes(body.begin(), body.end());
  ByteWriter(bytes).U32(DesyncSum(body));
  return bytes;
}

// With the sum that the rest of it should have.
inline std::vector<std::byte> Resealed(std::span<const std::byte> bytes) {
  if (bytes.size() < 4) return {bytes.begin(), bytes.end()};
  return Sealed(bytes.first(bytes.size() - 4));
}

}  // namespace parlor::test

#endif  // PARLOR_TESTS_SUPPORT_DESYNC_SEAL_H_
