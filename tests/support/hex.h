// Bytes as tests write them down.
#ifndef PARLOR_TESTS_SUPPORT_HEX_H_
#define PARLOR_TESTS_SUPPORT_HEX_H_

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "parlor/check.h"

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

inline std::vector<std::byte> FromHex(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  PARLOR_CHECK(text.size() % 2 == 0);
  std::vector<std::byte> bytes;
  for (std::size_t i = 0; i < text.size(); i += 2) {
    const std::size_t high = kDigits.find(text[i]);
    const std::size_t low = kDigits.find(text[i + 1]);
    PARLOR_CHECK(high != std::string_view::npos &&
                 low != std::string_view::npos);
    bytes.push_back(static_cast<std::byte>(16 * high + low));
  }
  return bytes;
}

}  // namespace parlor::test

#endif  // PARLOR_TESTS_SUPPORT_HEX_H_
