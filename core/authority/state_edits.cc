#include "parlor/authority/state_edits.h"

#include <algorithm>
#include <limits>

#include "parlor/authority/limits.h"
#include "parlor/byte_io.h"
#include "parlor/check.h"
#include "parlor/utf8.h"

namespace parlor::authority {
namespace {

bool IsIn(std::int64_t value, std::int64_t low, std::int64_t high) {
  return value >= low && value <= high;
}

bool IsInRange(FieldType type, std::int64_t word) {
  switch (type) {
    case FieldType::kBool:
      return IsIn(word, 0, 1);
    case FieldType::kInt:
      return IsIn(word, -kIntMax, kIntMax);
    case FieldType::kFloat:
    case FieldType::kVec2:
    case FieldType::kVec3:
      return IsIn(word, -kFloatNumberMax, kFloatNumberMax);
    case FieldType::kQuat:
      return IsIn(word, 0, std::numeric_limits<std::uint32_t>::max()) &&
             IsPackedQuat(static_cast<std::uint32_t>(word));
    case FieldType::kPosition:
      return IsIn(word, std::numeric_limits<std::int32_t>::min(),
                  std::numeric_limits<std::int32_t>::max());
    case FieldType::kString:
      break;
  }
  return false;
}

bool IsZero(std::int64_t word) { return word == 0; }

}  // namespace

bool StateEdits::IsFor(const StateHeader& header, const RowTable& table) {
  return header.kind != StateKind::kDelta ||
         (header.epoch == table.epoch() && header.base == table.base());
}

bool StateEdits::Begin(const StateHeader& header, const RowTable& table) {
  table_ = &table;
  header_ = header;
  rows_.clear();
  gone_.clear();
  fields_.clear();
  words_.clear();
  texts_.clear();
  own_.reset();
  kind_ = nullptr;
  base_row_ = RowView();
  mask_ = 0;
  counts_.resize(table.pools_.size());
  const bool delta = header.kind == StateKind::kDelta;
  for (std::size_t kind = 0; kind < counts_.size(); ++kind) {
    counts_[kind] = delta ? table.pools_[kind].base_rows : 0;
  }
  const bool recovery = header.kind == StateKind::kRecovery;
  return header.epoch != 0 && (header.base == 0) == recovery &&
         IsFor(header, table);
}

// A changed row that names no field says nothing.
bool StateEdits::EndRow() const {
  return kind_ == nullptr || !base_row_.exists() || mask_ != 0;
}

bool StateEdits::BeginRow(RowId row, Op op, int kind) {
  if (!EndRow() || row == 0) return false;
  if (!rows_.empty() && row <= rows_.back().id) return false;
  rows_.push_back({row, op, static_cast<std::uint8_t>(kind), 0});
  kind_ = &table_->schema().kind(kind);
  mask_ = 0;
  return true;
}

bool StateEdits::Whole(RowId row, int kind) {
  const auto kinds = static_cast<int>(counts_.size());
  if (kind < 0 || kind >= kinds) return false;
  if (header_.kind == StateKind::kDelta && table_->GetBase(row).exists()) {
    return false;
  }
  if (!BeginRow(row, Op::kWhole, kind)) return false;
  base_row_ = RowView();
  ++counts_[static_cast<std::size_t>(kind)];
  // Far more than fit need not be kept.
  return counts_[static_cast<std::size_t>(kind)] <= limits::kRows.ceiling;
}

bool StateEdits::Changed(RowId row) {
  if (header_.kind != StateKind::kDelta) return false;
  const RowView base = table_->GetBase(row);
  if (!base.exists()) return false;
  if (!BeginRow(row, Op::kChanged, base.kind_index())) return false;
  base_row_ = base;
  return true;
}

bool StateEdits::Gone(RowId row) {
  if (header_.kind != StateKind::kDelta || !EndRow()) return false;
  if (!gone_.empty() && row <= gone_.back()) return false;
  const RowView base = table_->GetBase(row);
  if (!base.exists()) return false;
  gone_.push_back(row);
  kind_ = nullptr;
  --counts_[static_cast<std::size_t>(base.kind_index())];
  return true;
}

const FieldLayout* StateEdits::TakeField(int field) {
  if (kind_ == nullptr || field < 0) return nullptr;
  const auto index = static_cast<std::size_t>(field);
  if (index >= kind_->fields.size()) return nullptr;
  const std::uint64_t bit = std::uint64_t{1} << index;
  if ((mask_ & bit) != 0) return nullptr;
  mask_ |= bit;
  ++rows_.back().fields;
  return &kind_->fields[index];
}

// The field is not null now; `same`: it has the words or the text it had.
bool StateEdits::IsNews(int field, bool same) const {
  return !same || (base_row_.exists() && base_row_.IsNull(field));
}

bool StateEdits::Null(int field) {
  const FieldLayout* layout = TakeField(field);
  if (layout == nullptr) return false;
  fields_.push_back({static_cast<std::uint8_t>(field), true, 0, 0});
  return !base_row_.exists() || !base_row_.IsNull(field);
}

bool StateEdits::Words(int field, std::span<const std::int64_t> words) {
  const FieldLayout* layout = TakeField(field);
  if (layout == nullptr || layout->type == FieldType::kString ||
      words.size() != static_cast<std::size_t>(layout->words)) {
    return false;
  }
  for (const std::int64_t word : words) {
    if (!IsInRange(layout->type, word)) return false;
  }
  fields_.push_back({static_cast<std::uint8_t>(field), false, 0,
                     static_cast<std::uint32_t>(words_.size())});
  words_.insert(words_.end(), words.begin(), words.end());
  const bool same = base_row_.exists()
                        ? std::ranges::equal(words, base_row_.words(*layout))
                        : std::ranges::all_of(words, IsZero);
  return IsNews(field, same);
}

bool StateEdits::Text(int field, std::string_view text) {
  const FieldLayout* layout = TakeField(field);
  if (layout == nullptr || layout->type != FieldType::kString ||
      text.size() > kStringBytesMax || !IsUtf8(AsBytes(text))) {
    return false;
  }
  fields_.push_back({static_cast<std::uint8_t>(field), false,
                     static_cast<std::uint16_t>(text.size()),
                     static_cast<std::uint32_t>(texts_.size())});
  texts_ += text;
  const bool same =
      base_row_.exists() ? text == base_row_.text(*layout) : text.empty();
  return IsNews(field, same);
}

bool StateEdits::SetOwn(const OwnWords& own) {
  if (header_.kind != StateKind::kDelta || own_) return false;
  for (const std::int64_t speed : own.velocity) {
    if (!IsInRange(FieldType::kFloat, speed)) return false;
  }
  own_ = own;
  return true;
}

bool StateEdits::GoneIsDisjoint() const {
  auto gone = gone_.begin();
  for (const Row& row : rows_) {
    while (gone != gone_.end() && *gone < row.id) ++gone;
    if (gone != gone_.end() && *gone == row.id) return false;
  }
  return true;
}

bool StateEdits::FitsRowsMax() const {
  for (std::size_t kind = 0; kind < counts_.size(); ++kind) {
    if (counts_[kind] > table_->schema().kinds()[kind].rows_max) return false;
  }
  return true;
}

bool StateEdits::Finish() {
  return EndRow() && GoneIsDisjoint() && FitsRowsMax();
}

}  // namespace parlor::authority
