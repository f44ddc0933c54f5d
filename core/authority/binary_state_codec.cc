// The bytes are drawn in WIRE.md.
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "parlor/authority/limits.h"
#include "parlor/authority/wire_state_codec.h"
#include "parlor/byte_io.h"
#include "parlor/check.h"

namespace parlor::authority {
namespace {

using Bytes = std::vector<std::byte>;

enum class Op : std::uint8_t {
  kChanged = 0,
  kChangedNulls = 1,
  kWhole = 2,
  kGone = 3,
};

constexpr std::uint32_t kPageMax =
    std::numeric_limits<RowId>::max() / kPageRows;
constexpr std::uint64_t kVarMax = std::numeric_limits<std::uint64_t>::max();

std::byte PieceByte(unsigned index, Op op) {
  return static_cast<std::byte>(index | static_cast<unsigned>(op) << 6);
}

// Small numbers of either sign, small: 0 -1 1 -2 2 as 0 1 2 3 4.
std::uint64_t ZigZag(std::int64_t value) {
  const auto bits = static_cast<std::uint64_t>(value);
  return bits << 1 ^ (value < 0 ? kVarMax : 0);
}

std::int64_t UnZigZag(std::uint64_t bits) {
  return static_cast<std::int64_t>(bits >> 1 ^ ((bits & 1) != 0 ? kVarMax : 0));
}

// Far beyond what any two values of a field differ by, and its sum with one
// does not overflow.
constexpr std::uint64_t kDifferenceMax = std::uint64_t{1} << 60;

// Bytes of a var of this much.
constexpr std::size_t VarBytes(std::uint64_t value) {
  std::size_t bytes = 1;
  while (value >= 0x80) {
    value >>= 7;
    ++bytes;
  }
  return bytes;
}

// --- Writing ---

// Appends within memory that was made large enough: a row's words one by one,
// each with a check of the capacity, cost three times as much.
class Cursor {
 public:
  explicit Cursor(std::byte* at) : at_(at) {}

  void U8(std::byte value) { *at_++ = value; }
  void U32(std::uint32_t value) {
    StoreU32(at_, value);
    at_ += 4;
  }
  void Var(std::uint64_t value) {
    while (value >= 0x80) {
      U8(static_cast<std::byte>(value | 0x80));
      value >>= 7;
    }
    U8(static_cast<std::byte>(value));
  }
  void Text(std::string_view text) {
    Var(text.size());
    for (const std::byte byte : AsBytes(text)) U8(byte);
  }
  std::byte* at() const { return at_; }

 private:
  std::byte* at_;
};

// The most bytes of a field's value.
std::size_t ValueBytesMax(FieldType type) {
  constexpr std::size_t kFloatBytes =
      VarBytes(2 * std::uint64_t{2 * kFloatNumberMax});
  switch (type) {
    case FieldType::kBool:
      return 1;
    case FieldType::kInt:
      return VarBytes(2 * std::uint64_t{2 * kIntMax});
    case FieldType::kFloat:
      return kFloatBytes;
    case FieldType::kVec2:
      return 2 * kFloatBytes;
    case FieldType::kVec3:
      return 3 * kFloatBytes;
    case FieldType::kQuat:
      return 4;
    case FieldType::kString:
      return VarBytes(kStringBytesMax) + kStringBytesMax;
    case FieldType::kPosition:
      return 3 * VarBytes(2 * std::uint64_t{0xffffffff});
  }
  return 0;
}

// A piece of any op.
std::size_t PieceBytesMax(const KindLayout& kind) {
  std::size_t bytes = 1 + VarBytes(kKindsMax) + 2 * VarBytes(kind.all_fields);
  for (const FieldLayout& field : kind.fields) {
    bytes += ValueBytesMax(field.type);
  }
  return bytes;
}

// `base` is 0 words for values that are relative to 0.
void PutValue(const RowView& row, const FieldLayout& field,
              std::span<const std::int64_t> base, Cursor& out) {
  if (field.type == FieldType::kString) return out.Text(row.text(field));
  const std::span<const std::int64_t> words = row.words(field);
  if (field.type == FieldType::kBool) {
    return out.U8(static_cast<std::byte>(words[0]));
  }
  if (field.type == FieldType::kQuat) {
    return out.U32(static_cast<std::uint32_t>(words[0]));
  }
  for (std::size_t i = 0; i < words.size(); ++i) {
    out.Var(ZigZag(words[i] - (base.empty() ? 0 : base[i])));
  }
}

void PutValues(const RowView& row, const RowView* base, std::uint64_t mask,
               Cursor& out) {
  for (std::uint64_t rest = mask & ~row.nulls(); rest != 0; rest &= rest - 1) {
    const FieldLayout& field =
        row.kind().fields[static_cast<std::size_t>(std::countr_zero(rest))];
    PutValue(row, field,
             base == nullptr ? std::span<const std::int64_t>()
                             : base->words(field),
             out);
  }
}

// Makes room for a piece, lets `write` fill it and keeps what it wrote.
template <typename Write>
void AppendPiece(const KindLayout& kind, Bytes& out, Write&& write) {
  const std::size_t begin = out.size();
  const std::size_t end = begin + PieceBytesMax(kind);
  // Resizing fills: no more than what is missing.
  if (out.capacity() < end) out.reserve(2 * end);
  out.resize(end);
  Cursor cursor(out.data() + begin);
  write(cursor);
  out.resize(static_cast<std::size_t>(cursor.at() - out.data()));
}
