// State messages as JSON (WIRE.md). Numbers are those of values.h, so that what
// a client holds does not depend on the codec: positions in millimetres,
// rotations packed, floats with up to four decimals.
#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "authority/json_state_reader.h"
#include "parlor/authority/limits.h"
#include "parlor/authority/wire_state_codec.h"
#include "parlor/byte_io.h"

namespace parlor::authority {
namespace {

using Bytes = std::vector<std::byte>;

constexpr std::int64_t kOne = 10'000;  // a float of 1 as a number
// Of a number in JSON: "-9007199254740991", "-999999999.9999", "-2147483648",
// "4294967295".
constexpr std::size_t kIntChars = 17;
constexpr std::size_t kFloatChars = 15;
constexpr std::size_t kMillimetreChars = 11;
constexpr std::size_t kU32Chars = 10;
constexpr std::size_t kEscapeChars = 6;  // of one byte: "\u001f"

void Append(std::string_view text, Bytes& out) {
  const auto bytes = AsBytes(text);
  out.insert(out.end(), bytes.begin(), bytes.end());
}

void AppendInteger(std::int64_t number, Bytes& out) {
  std::array<char, 24> digits{};
  const auto end =
      std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
  Append({digits.data(), static_cast<std::size_t>(end - digits.data())}, out);
}

// A float's number as the decimal that it stands for: 12500 is 1.25.
void AppendDecimal(std::int64_t number, Bytes& out) {
  if (number < 0) Append("-", out);
  const std::int64_t size = std::abs(number);
  AppendInteger(size / kOne, out);
  std::int64_t rest = size % kOne;
  if (rest == 0) return;
  std::array<char, 5> digits = {'.', '0', '0', '0', '0'};
  for (std::size_t i = 4; i > 0; --i) {
    digits[i] = static_cast<char>('0' + rest % 10);
    rest /= 10;
  }
  std::size_t length = digits.size();
  while (digits[length - 1] == '0') --length;
  Append({digits.data(), length}, out);
}

// UTF-8 in quotes; what JSON does not take as it is, escaped.
void AppendQuoted(std::string_view text, Bytes& out) {
  constexpr std::string_view kHex = "0123456789abcdef";
  Append("\"", out);
  for (const char c : text) {
    const auto code = static_cast<unsigned char>(c);
    if (code < 0x20) {
      Append("\\u00", out);
      Append(kHex.substr(code >> 4, 1), out);
      Append(kHex.substr(code & 15, 1), out);
      continue;
    }
    if (c == '"' || c == '\\') Append("\\", out);
    Append({&c, 1}, out);
  }
  Append("\"", out);
}

// Of three numbers [1,2,3]; `append` writes one.
template <typename Numbers>
void AppendList(const Numbers& numbers,
                void (*append)(std::int64_t number, Bytes& out), Bytes& out) {
  std::string_view before = "[";
  for (const auto number : numbers) {
    Append(before, out);
    append(number, out);
    before = ",";
  }
  Append("]", out);
}

void AppendValue(const RowView& row, const FieldLayout& field, Bytes& out) {
  const std::span<const std::int64_t> words = row.words(field);
  switch (field.type) {
    case FieldType::kBool:
      Append(words[0] != 0 ? "true" : "false", out);
      return;
    case FieldType::kInt:
    case FieldType::kQuat:
      AppendInteger(words[0], out);
      return;
    case FieldType::kFloat:
      AppendDecimal(words[0], out);
      return;
    case FieldType::kVec2:
    case FieldType::kVec3:
      AppendList(words, AppendDecimal, out);
      return;
    case FieldType::kString:
      AppendQuoted(row.text(field), out);
      return;
    case FieldType::kPosition:
      AppendList(words, AppendInteger, out);
      return;
  }
}

// {"id":12,"kind":"player","f":{"hp":5}}, with `mask` the fields. The comma
// makes pieces fit together in any number; EndRows drops the last.
void AppendRow(const RowView& row, bool whole, std::uint64_t mask, Bytes& out) {
  Append("{\"id\":", out);
  AppendInteger(row.id(), out);
  if (whole) {
    Append(",\"kind\":\"", out);
    Append(row.kind().name, out);
    Append("\"", out);
  }
  Append(",\"f\":{", out);
  for (std::uint64_t rest = mask; rest != 0; rest &= rest - 1) {
    const int index = std::countr_zero(rest);
    const FieldLayout& field =
        row.kind().fields[static_cast<std::size_t>(index)];
    Append(rest == mask ? "\"" : ",\"", out);
    Append(field.name, out);
    Append("\":", out);
    if (row.IsNull(index)) {
      Append("null", out);
    } else {
      AppendValue(row, field, out);
    }
  }
  Append("}},", out);
}

void DropComma(Bytes& bytes) {
  if (!bytes.empty() && bytes.back() == std::byte{','}) bytes.pop_back();
}

std::size_t CharsMax(FieldType type) {
  constexpr std::size_t kFalse = 5;
  switch (type) {
    case FieldType::kBool:
      return kFalse;
    case FieldType::kInt:
      return kIntChars;
    case FieldType::kFloat:
      return kFloatChars;
    case FieldType::kVec2:
      return 2 * kFloatChars + 3;
    case FieldType::kVec3:
      return 3 * kFloatChars + 4;
    case FieldType::kQuat:
      return kU32Chars;
    case FieldType::kString:
      return kEscapeChars * kStringBytesMax + 2;
    case FieldType::kPosition:
      return 3 * kMillimetreChars + 4;
  }
  return 0;
}

class JsonCodec final : public WireStateCodec {
 public:
  std::string_view name() const override { return "json"; }
  MessageKind message_kind() const override { return MessageKind::kText; }

  void AppendWhole(const RowView& row, Bytes& out) const override {
    AppendRow(row, /*whole=*/true, row.NotDefault(), out);
  }
  void AppendChanged(const RowView& now, const RowView& /*base*/,
                     Bytes& out) const override {
    AppendRow(now, /*whole=*/false, now.changed(), out);
  }

  void Begin(const StateHeader& header, StateDraft& draft) const override;
  void AddPage(const PagePieces& pieces, StateDraft& draft) const override;
  void EndRows(StateDraft& draft) const override;
  void AppendOwn(const OwnWords* own, Bytes& out) const override;

  DecodeResult Decode(std::span<const std::byte> bytes, const RowTable& table,
                      StateEdits& edits) const override {
    return ReadJsonState(AsText(bytes), table, edits);
  }

  std::size_t WholeBytesMax(const KindLayout& kind) const override;
  std::size_t BaselineOverheadMax() const override;
};

void AppendMember(std::string_view name, std::uint32_t number, Bytes& out) {
  Append(",\"", out);
  Append(name, out);
  Append("\":", out);
  AppendInteger(number, out);
}

void JsonCodec::Begin(const StateHeader& header, StateDraft& draft) const {
  draft.header = header;
  draft.bytes.clear();
  draft.later.clear();
  Append("{\"t\":\"", draft.bytes);
  Append(NameOf(header.kind), draft.bytes);
  Append("\"", draft.bytes);
  AppendMember("epoch", header.epoch, draft.bytes);
  if (header.kind != StateKind::kRecovery) {
    AppendMember("base", header.base, draft.bytes);
  }
  AppendMember("tick", header.tick, draft.bytes);
  const bool delta = header.kind == StateKind::kDelta;
  Append(delta ? ",\"set\":[" : ",\"rows\":[", draft.bytes);
}

void JsonCodec::AddPage(const PagePieces& pieces, StateDraft& draft) const {
  for (const std::span<const std::byte> run : pieces.runs) {
    draft.bytes.insert(draft.bytes.end(), run.begin(), run.end());
  }
  for (std::uint64_t rest = pieces.gone; rest != 0; rest &= rest - 1) {
    const auto index = static_cast<std::uint32_t>(std::countr_zero(rest));
    AppendInteger(pieces.page * kPageRows + index, draft.later);
    Append(",", draft.later);
  }
}

void JsonCodec::EndRows(StateDraft& draft) const {
  DropComma(draft.bytes);
  if (draft.header.kind != StateKind::kDelta) {
    Append("]}", draft.bytes);
    return;
  }
  DropComma(draft.later);
  Append("],\"gone\":[", draft.bytes);
  draft.bytes.insert(draft.bytes.end(), draft.later.begin(), draft.later.end());
  Append("]", draft.bytes);
}

void JsonCodec::AppendOwn(const OwnWords* own, Bytes& out) const {
  if (own != nullptr) {
    Append(",\"own\":{\"seq\":", out);
    AppendInteger(own->seq, out);
    Append(",\"position\":", out);
    AppendList(own->position, AppendInteger, out);
    Append(",\"velocity\":", out);
    AppendList(own->velocity, AppendDecimal, out);
    Append(own->grounded ? ",\"grounded\":true}" : ",\"grounded\":false}", out);
  }
  Append("}", out);
}

std::size_t JsonCodec::WholeBytesMax(const KindLayout& kind) const {
  constexpr std::string_view kAround = R"({"id":,"kind":"","f":{}},)";
  std::size_t bytes = kAround.size() + kU32Chars + kind.name.size();
  for (const FieldLayout& field : kind.fields) {
    constexpr std::string_view kAroundField = R"("":,)";
    bytes += kAroundField.size() + field.name.size() + CharsMax(field.type);
  }
  return bytes;
}

std::size_t JsonCodec::BaselineOverheadMax() const {
  constexpr std::string_view kAround =
      R"({"t":"baseline","epoch":,"base":,"tick":,"rows":[]})";
  return kAround.size() + 3 * kU32Chars;
}

}  // namespace

const WireStateCodec& JsonStateCodec() {
  static const JsonCodec codec;
  return codec;
}

}  // namespace parlor::authority
