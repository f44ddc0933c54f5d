// Reading and writing bytes in wire order: little-endian, bounds checked.
#ifndef PARLOR_BYTE_IO_H_
#define PARLOR_BYTE_IO_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

namespace parlor {

// Fixed places in a buffer whose size the caller has checked.
inline std::uint32_t LoadU32(const std::byte* at) {
  std::uint32_t value = 0;
  for (int i = 3; i >= 0; --i) {
    value = (value << 8) | std::to_integer<std::uint32_t>(at[i]);
  }
  return value;
}

inline void StoreU32(std::byte* at, std::uint32_t value) {
  for (int i = 0; i < 4; ++i) {
    at[i] = static_cast<std::byte>(value >> (8 * i));
  }
}

// memcpy, without the call for the sizes that most messages have.
inline void CopyBytes(std::byte* to, std::span<const std::byte> from) {
  const std::size_t size = from.size();
  if (size > 32) {
    std::memcpy(to, from.data(), size);
    return;
  }
  // Two pieces that overlap cover every size between one and two of them.
  const auto ends = [&](auto piece) {
    constexpr std::size_t kBytes = sizeof(piece);
    auto last = piece;
    std::memcpy(&piece, from.data(), kBytes);
    std::memcpy(&last, from.data() + size - kBytes, kBytes);
    std::memcpy(to, &piece, kBytes);
    std::memcpy(to + size - kBytes, &last, kBytes);
  };
  if (size >= 16) {
    ends(std::array<std::uint64_t, 2>());
  } else if (size >= 8) {
    ends(std::uint64_t{});
  } else if (size >= 4) {
    ends(std::uint32_t{});
  } else {
    for (std::size_t i = 0; i < size; ++i) to[i] = from[i];
  }
}

inline std::span<const std::byte> AsBytes(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

// The view lives as long as what `bytes` points to.
inline std::string_view AsText(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// Takes values off the front of a message. The first read past the end fails
// the reader: that read and all later ones give zero or an empty view, and
// ok() is false. So a parser reads all its fields, then asks once.
// Views point into the bytes the reader was made from.
class ByteReader {
 public:
  explicit ByteReader(std::span<const std::byte> bytes) : rest_(bytes) {}

  std::uint8_t U8();
  std::uint16_t U16();
  std::uint32_t U32();
  std::uint64_t U64();
  // LEB128, at most `max`; a longer form than the value needs fails too, so
  // that each value has one encoding.
  std::uint64_t VarUint(std::uint64_t max);
  std::span<const std::byte> Bytes(std::size_t count);

  bool ok() const { return ok_; }
  std::size_t remaining() const { return rest_.size(); }
  // Nothing failed and nothing is left: what a parser asks at its end.
  bool AtEnd() const { return ok_ && rest_.empty(); }

 private:
  std::uint64_t Little(std::size_t count);

  std::span<const std::byte> rest_;
  bool ok_ = true;
};

// Appends to a buffer that the caller owns and may reuse.
class ByteWriter {
 public:
  explicit ByteWriter(std::vector<std::byte>& out) : out_(out) {}

  void U8(std::uint8_t value) { Little(value, 1); }
  void U16(std::uint16_t value) { Little(value, 2); }
  void U32(std::uint32_t value) { Little(value, 4); }
  void U64(std::uint64_t value) { Little(value, 8); }
  void VarUint(std::uint64_t value);
  void Bytes(std::span<const std::byte> bytes);

 private:
  void Little(std::uint64_t value, std::size_t count);

  std::vector<std::byte>& out_;
};

}  // namespace parlor

#endif  // PARLOR_BYTE_IO_H_
