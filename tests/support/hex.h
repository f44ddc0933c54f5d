// Bytes as tests write them down.
#ifndef PARLOR_TESTS_SUPPORT_HEX_H_
#define PARLOR_TESTS_SUPPORT_HEX_H_

#include <cstddef>
#include <span>
#include <string>

namespace parlor::test {

inline std::string Hex(std::span<const std::byte> bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  text.reserve(2 * bytes.size());
  for (std::byte byte : bytes) {
    text += kDigits[std::to_integer<int>(byte) >> 4];
    text += kDigits[std::to_integer<int>(byte) & 15];
  }
  return text;
}

}  // namespace parlor::test

#endif  // PARLOR_TESTS_SUPPORT_HEX_H_
