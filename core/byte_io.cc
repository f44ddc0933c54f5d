#include "parlor/byte_io.h"

namespace parlor {

std::uint64_t ByteReader::Little(std::size_t count) {
  const std::span<const std::byte> bytes = Bytes(count);
  std::uint64_t value = 0;
  for (std::size_t i = bytes.size(); i-- > 0;) {
    value = (value << 8) | std::to_integer<std::uint64_t>(bytes[i]);
  }
  return value;
}

std::uint8_t ByteReader::U8() { return static_cast<std::uint8_t>(Little(1)); }
std::uint16_t ByteReader::U16() {
  return static_cast<std::uint16_t>(Little(2));
}
std::uint32_t ByteReader::U32() {
  return static_cast<std::uint32_t>(Little(4));
}
std::uint64_t ByteReader::U64() { return Little(8); }

std::uint64_t ByteReader::VarUint(std::uint64_t max) {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    const std::uint64_t byte = U8();
    const std::uint64_t bits = byte & 0x7f;
    const bool lost = (bits << shift) >> shift != bits;
    const bool padded = shift > 0 && byte == 0;
    if (!ok_ || lost || padded) break;
    value |= bits << shift;
    if ((byte & 0x80) == 0) {
      if (value > max) break;
      return value;
    }
  }
  ok_ = false;
  rest_ = {};
  return 0;
}

std::span<const std::byte> ByteReader::Bytes(std::size_t count) {
  if (!ok_ || count > rest_.size()) {
    ok_ = false;
    rest_ = {};
    return {};
  }
  const std::span<const std::byte> out = rest_.first(count);
  rest_ = rest_.subspan(count);
  return out;
}

void ByteWriter::Little(std::uint64_t value, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    out_.push_back(static_cast<std::byte>(value >> (8 * i)));
  }
}

void ByteWriter::VarUint(std::uint64_t value) {
  while (value >= 0x80) {
    U8(static_cast<std::uint8_t>(value | 0x80));
    value >>= 7;
  }
  U8(static_cast<std::uint8_t>(value));
}

void ByteWriter::Bytes(std::span<const std::byte> bytes) {
  out_.insert(out_.end(), bytes.begin(), bytes.end());
}

}  // namespace parlor
