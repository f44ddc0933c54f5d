#include "parlor/entropy.h"

#include <array>

#include "parlor/byte_io.h"

namespace parlor {

std::uint32_t Entropy::Draw32() {
  std::array<std::byte, 4> bytes;
  Fill(bytes);
  return LoadU32(bytes.data());
}

void SeededEntropy::Fill(std::span<std::byte> out) {
  for (std::byte& byte : out) {
    byte = static_cast<std::byte>(random_.Next() >> 24);
  }
}

}  // namespace parlor
