#include "parlor/utf8.h"

#include <cstdint>
#include <cstring>

namespace parlor {
namespace {

constexpr std::size_t kStep = 2 * sizeof(std::uint64_t);

// Most text of a game is ASCII, and all of JSON's skeleton is. Only whole steps
// are looked at.
std::size_t AsciiSteps(std::span<const std::byte> bytes) {
  constexpr std::uint64_t kHighBits = 0x8080808080808080;
  std::size_t at = 0;
  while (bytes.size() - at >= kStep) {
    std::uint64_t words[2];
    std::memcpy(words, bytes.data() + at, kStep);
    if (((words[0] | words[1]) & kHighBits) != 0) break;
    at += kStep;
  }
  return at;
}

bool IsTail(std::byte byte) {
  return (byte & std::byte{0xc0}) == std::byte{0x80};
}

// The length of the character that `bytes`, which are not empty, begin with; 0
// where they begin with none. Its second byte decides alone what is an overlong
// form (E0, F0), a surrogate (ED) and above U+10FFFF (F4).
std::size_t CharacterLength(std::span<const std::byte> bytes) {
  const auto lead = std::to_integer<unsigned>(bytes[0]);
  if (lead < 0x80) return 1;
  if (lead < 0xc2 || lead > 0xf4) return 0;
  const std::size_t length = lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  if (bytes.size() < length) return 0;
  const auto second = std::to_integer<unsigned>(bytes[1]);
  const unsigned low = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
  const unsigned high = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
  if (second < low || second > high) return 0;
  for (const std::byte byte : bytes.subspan(2, length - 2)) {
    if (!IsTail(byte)) return 0;
  }
  return length;
}

}  // namespace

bool IsUtf8(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    if (const std::size_t ascii = AsciiSteps(bytes); ascii > 0) {
      bytes = bytes.subspan(ascii);
      continue;
    }
    const std::size_t length = CharacterLength(bytes);
    if (length == 0) return false;
    bytes = bytes.subspan(length);
  }
  return true;
}

}  // namespace parlor
