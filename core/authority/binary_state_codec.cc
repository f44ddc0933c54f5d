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

// Of a number between -max and max, relative to another one.
constexpr std::size_t DifferenceBytes(std::int64_t max) {
  return VarBytes(4 * static_cast<std::uint64_t>(max));
}

constexpr std::size_t kFloatBytes = DifferenceBytes(kFloatNumberMax);
// The largest value but a text: three floats.
constexpr std::size_t kNumbersMax = 3 * kFloatBytes;

// --- Writing ---

// Collects a piece's numbers, and appends them together: one by one, each asks
// for the capacity.
class PieceWriter {
 public:
  explicit PieceWriter(Bytes& out) : out_(out) {}

  void U8(std::byte value) { numbers_[size_++] = value; }
  void U32(std::uint32_t value) {
    StoreU32(numbers_.data() + size_, value);
    size_ += 4;
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
    Flush();
    ByteWriter(out_).Bytes(AsBytes(text));
  }
  void Flush() {
    ByteWriter(out_).Bytes(std::span(numbers_).first(size_));
    size_ = 0;
  }

 private:
  Bytes& out_;
  std::size_t size_ = 0;
  // kFieldsMax of the largest, and what a piece begins with; not filled.
  std::array<std::byte, kFieldsMax * kNumbersMax + 32> numbers_;
};

// The most bytes of a field's value.
std::size_t ValueBytesMax(FieldType type) {
  switch (type) {
    case FieldType::kBool:
      return 1;
    case FieldType::kInt:
      return DifferenceBytes(kIntMax);
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
      return 3 * DifferenceBytes(std::int64_t{1} << 31);
  }
  return 0;
}

// `base` is empty for values that are relative to 0.
void PutValue(const RowView& row, const FieldLayout& field,
              std::span<const std::int64_t> base, PieceWriter& out) {
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
               PieceWriter& out) {
  for (std::uint64_t rest = mask & ~row.nulls(); rest != 0; rest &= rest - 1) {
    const FieldLayout& field =
        row.kind().fields[static_cast<std::size_t>(std::countr_zero(rest))];
    PutValue(
        row, field,
        base == nullptr ? std::span<const std::int64_t>() : base->words(field),
        out);
  }
}

// --- Reading ---

// The values of one row, each as RowTable keeps it.
class ValueReader {
 public:
  ValueReader(ByteReader& in, StateEdits& edits) : in_(in), edits_(edits) {}

  // Of the fields of `mask`, those of `nulls` being null.
  bool Read(std::uint64_t mask, std::uint64_t nulls) {
    for (std::uint64_t rest = mask; rest != 0; rest &= rest - 1) {
      const int field = std::countr_zero(rest);
      const bool null = (nulls >> field & 1) != 0;
      if (null ? !edits_.Null(field) : !Value(field)) return false;
    }
    return true;
  }

 private:
  bool Value(int field) {
    const FieldLayout& layout =
        edits_.kind().fields[static_cast<std::size_t>(field)];
    if (layout.type == FieldType::kString) return Text(field);
    std::array<std::int64_t, 3> words{};
    const auto count = static_cast<std::size_t>(layout.words);
    for (std::size_t i = 0; i < count; ++i) words[i] = Word(layout, i);
    return in_.ok() && edits_.Words(field, std::span(words).first(count));
  }

  bool Text(int field) {
    const std::uint64_t size = in_.VarUint(kStringBytesMax);
    const auto text = AsText(in_.Bytes(static_cast<std::size_t>(size)));
    return in_.ok() && edits_.Text(field, text);
  }

  std::int64_t Word(const FieldLayout& layout, std::size_t at) {
    if (layout.type == FieldType::kBool) return in_.U8();
    if (layout.type == FieldType::kQuat) return in_.U32();
    const std::int64_t difference = UnZigZag(in_.VarUint(kDifferenceMax));
    const RowView& base = edits_.base();
    return difference + (base.exists() ? base.words(layout)[at] : 0);
  }

  ByteReader& in_;
  StateEdits& edits_;
};

// `any_gone`: whether a piece of this page was.
bool ReadPiece(std::uint32_t page, bool& any_gone, ByteReader& in,
               StateEdits& edits) {
  const unsigned byte = in.U8();
  const auto op = static_cast<Op>(byte >> 6);
  const RowId row = page * kPageRows + (byte & 63);
  if (!in.ok()) return false;
  if (op == Op::kGone) {
    any_gone = true;
    return edits.Gone(row);
  }
  // Those that are gone come behind the others.
  if (any_gone) return false;
  if (op == Op::kWhole) {
    const auto kind = static_cast<int>(in.VarUint(kKindsMax));
    if (!in.ok() || !edits.Whole(row, kind)) return false;
  } else if (!edits.Changed(row)) {
    return false;
  }
  const std::uint64_t mask = in.VarUint(edits.kind().all_fields);
  const bool has_nulls = op != Op::kChanged;
  const std::uint64_t nulls = has_nulls ? in.VarUint(mask) : 0;
  if (!in.ok() || (mask & ~edits.kind().all_fields) != 0 ||
      (nulls & ~mask) != 0 || (op == Op::kChangedNulls && nulls == 0)) {
    return false;
  }
  return ValueReader(in, edits).Read(mask, nulls);
}

bool ReadPages(ByteReader& in, StateEdits& edits) {
  std::uint64_t next = 0;
  while (true) {
    const std::uint64_t gap = in.VarUint(kPageMax + 1);
    if (!in.ok()) return false;
    if (gap == 0) return true;
    const std::uint64_t page = next + gap - 1;
    const unsigned count = 1u + in.U8();
    if (page > kPageMax || count > kPageRows) return false;
    bool any_gone = false;
    for (unsigned i = 0; i < count; ++i) {
      if (!ReadPiece(static_cast<std::uint32_t>(page), any_gone, in, edits)) {
        return false;
      }
    }
    next = page + 1;
  }
}

std::int32_t ReadMillimetres(ByteReader& in) {
  return static_cast<std::int32_t>(in.U32());
}

bool ReadOwn(ByteReader& in, StateEdits& edits) {
  const std::uint8_t has_own = in.U8();
  if (has_own == 0) return in.ok();
  OwnWords own;
  own.seq = in.U32();
  for (std::int32_t& metres : own.position) metres = ReadMillimetres(in);
  for (std::int64_t& speed : own.velocity) {
    speed = UnZigZag(in.VarUint(kDifferenceMax));
  }
  const std::uint8_t grounded = in.U8();
  own.grounded = grounded == 1;
  return in.ok() && has_own == 1 && grounded <= 1 && edits.SetOwn(own);
}

std::optional<StateHeader> ReadHeader(ByteReader& in) {
  constexpr std::uint64_t kMax = std::numeric_limits<std::uint32_t>::max();
  StateHeader header;
  const std::uint8_t kind = in.U8();
  header.kind = static_cast<StateKind>(kind);
  header.epoch = static_cast<std::uint32_t>(in.VarUint(kMax));
  if (header.kind != StateKind::kRecovery) {
    header.base = static_cast<std::uint32_t>(in.VarUint(kMax));
  }
  header.tick = static_cast<std::uint32_t>(in.VarUint(kMax));
  if (!in.ok() || kind < 1 || kind > 3) return std::nullopt;
  return header;
}

class BinaryCodec final : public WireStateCodec {
 public:
  std::string_view name() const override { return "binary"; }
  MessageKind message_kind() const override { return MessageKind::kBinary; }

  void AppendWhole(const RowView& row, Bytes& out) const override {
    PieceWriter piece(out);
    const std::uint64_t mask = row.NotDefault();
    piece.U8(PieceByte(row.id() % kPageRows, Op::kWhole));
    piece.Var(static_cast<std::uint64_t>(row.kind_index()));
    piece.Var(mask);
    piece.Var(row.nulls());
    PutValues(row, nullptr, mask, piece);
    piece.Flush();
  }

  void AppendChanged(const RowView& now, const RowView& base,
                     Bytes& out) const override {
    PieceWriter piece(out);
    const std::uint64_t mask = now.changed();
    const std::uint64_t nulls = mask & now.nulls();
    PARLOR_DCHECK(mask != 0);
    piece.U8(PieceByte(now.id() % kPageRows,
                       nulls == 0 ? Op::kChanged : Op::kChangedNulls));
    piece.Var(mask);
    if (nulls != 0) piece.Var(nulls);
    PutValues(now, &base, mask, piece);
    piece.Flush();
  }

  void Begin(const StateHeader& header, StateDraft& draft) const override {
    draft.header = header;
    draft.bytes.clear();
    draft.later.clear();
    draft.next_page = 0;
    ByteWriter out(draft.bytes);
    out.U8(static_cast<std::uint8_t>(header.kind));
    out.VarUint(header.epoch);
    if (header.kind != StateKind::kRecovery) out.VarUint(header.base);
    out.VarUint(header.tick);
  }

  void AddPage(const PagePieces& pieces, StateDraft& draft) const override {
    const unsigned count =
        pieces.count + static_cast<unsigned>(std::popcount(pieces.gone));
    PARLOR_DCHECK(count >= 1 && count <= kPageRows);
    PARLOR_DCHECK(pieces.page >= draft.next_page);
    ByteWriter out(draft.bytes);
    out.VarUint(pieces.page - draft.next_page + 1);
    out.U8(static_cast<std::uint8_t>(count - 1));
    for (const std::span<const std::byte> run : pieces.runs) out.Bytes(run);
    for (std::uint64_t rest = pieces.gone; rest != 0; rest &= rest - 1) {
      draft.bytes.push_back(
          PieceByte(static_cast<unsigned>(std::countr_zero(rest)), Op::kGone));
    }
    draft.next_page = pieces.page + 1;
  }

  void EndRows(StateDraft& draft) const override {
    ByteWriter(draft.bytes).VarUint(0);
  }

  void AppendOwn(const OwnWords* own, Bytes& bytes) const override {
    ByteWriter out(bytes);
    out.U8(own != nullptr ? 1 : 0);
    if (own == nullptr) return;
    out.U32(own->seq);
    for (const std::int32_t metres : own->position) {
      out.U32(static_cast<std::uint32_t>(metres));
    }
    for (const std::int64_t speed : own->velocity) out.VarUint(ZigZag(speed));
    out.U8(own->grounded ? 1 : 0);
  }

  DecodeResult Decode(std::span<const std::byte> bytes, const RowTable& table,
                      StateEdits& edits) const override {
    ByteReader in(bytes);
    const auto header = ReadHeader(in);
    if (!header) return DecodeResult::kMalformed;
    if (!edits.Begin(*header, table)) {
      return StateEdits::IsFor(*header, table) ? DecodeResult::kMalformed
                                               : DecodeResult::kOther;
    }
    bool valid = ReadPages(in, edits);
    if (header->kind == StateKind::kDelta) valid = valid && ReadOwn(in, edits);
    valid = valid && in.AtEnd() && edits.Finish();
    return valid ? DecodeResult::kDecoded : DecodeResult::kMalformed;
  }

  std::size_t WholeBytesMax(const KindLayout& kind) const override {
    // A page of its own, then the piece.
    std::size_t bytes = VarBytes(kPageMax + 1) + 1;
    bytes += 1 + VarBytes(kKindsMax) + 2 * VarBytes(kind.all_fields);
    for (const FieldLayout& field : kind.fields) {
      bytes += ValueBytesMax(field.type);
    }
    return bytes;
  }

  std::size_t BaselineOverheadMax() const override {
    // Kind, epoch, base and tick, and the end of the pages.
    return 1 + 3 * VarBytes(std::numeric_limits<std::uint32_t>::max()) + 1;
  }
};

}  // namespace

const WireStateCodec& BinaryStateCodec() {
  static const BinaryCodec codec;
  return codec;
}

}  // namespace parlor::authority
