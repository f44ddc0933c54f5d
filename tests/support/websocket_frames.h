// WebSocket frames as tests write them, by code that has nothing in common with
// the codec's.
#ifndef PARLOR_TESTS_SUPPORT_WEBSOCKET_FRAMES_H_
#define PARLOR_TESTS_SUPPORT_WEBSOCKET_FRAMES_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "support/hex.h"

namespace parlor::test {

// Who reads: a server's frames come masked.
enum class Reader : std::uint8_t { kServer, kClient };

inline constexpr std::array<std::byte, 4> kMaskKey = {
    std::byte{0x37}, std::byte{0xfa}, std::byte{0x21}, std::byte{0x3d}};

// Bytes from words of hex, separated by spaces. In a frame for a server:
//   m05  is 85: the second byte, with the mask bit
//   k    is the key, and masks what follows
//   ;    ends that
// For a client k is nothing and m05 is 05. 61*125 is 125 times 61.
inline std::vector<std::byte> Wire(std::string_view notation,
                                   Reader reader = Reader::kClient) {
  const bool masked = reader == Reader::kServer;
  std::vector<std::byte> wire;
  bool masking = false;
  std::size_t masked_from = 0;
  while (!notation.empty()) {
    std::string_view word = notation.substr(0, notation.find(' '));
    notation.remove_prefix(std::min(word.size() + 1, notation.size()));
    if (word == "k" && masked) {
      wire.insert(wire.end(), kMaskKey.begin(), kMaskKey.end());
      masking = true;
      masked_from = wire.size();
    }
    if (word == ";") masking = false;
    if (word.empty() || word == "k" || word == ";") continue;
    const bool with_mask_bit = word.front() == 'm';
    if (with_mask_bit) word.remove_prefix(1);
    std::size_t count = 1;
    if (const std::size_t star = word.find('*');
        star != std::string_view::npos) {
      count = std::stoul(std::string(word.substr(star + 1)));
      word = word.substr(0, star);
    }
    for (; count > 0; --count) {
      for (std::byte byte : FromHex(word)) {
        if (with_mask_bit && masked) byte |= std::byte{0x80};
        if (masking) byte ^= kMaskKey[(wire.size() - masked_from) % 4];
        wire.push_back(byte);
      }
    }
  }
  return wire;
}

// Appends one frame, with its length in the shortest form.
inline void AppendFrame(std::vector<std::byte>& wire, Reader reader,
                        unsigned first, std::span<const std::byte> payload,
                        std::array<std::byte, 4> key = kMaskKey) {
  const unsigned masked = reader == Reader::kServer ? 0x80 : 0;
  const std::size_t size = payload.size();
  const auto put = [&](std::size_t value) {
    wire.push_back(static_cast<std::byte>(value & 0xff));
  };
  put(first);
  if (size < 126) {
    put(masked | size);
  } else if (size < 65536) {
    put(masked | 126);
    put(size >> 8);
    put(size);
  } else {
    put(masked | 127);
    for (int shift = 56; shift >= 0; shift -= 8) put(size >> shift);
  }
  if (masked == 0) {
    wire.insert(wire.end(), payload.begin(), payload.end());
    return;
  }
  wire.insert(wire.end(), key.begin(), key.end());
  for (std::size_t i = 0; i < size; ++i)
    wire.push_back(payload[i] ^ key[i % 4]);
}

}  // namespace parlor::test

#endif  // PARLOR_TESTS_SUPPORT_WEBSOCKET_FRAMES_H_
