#include "parlor/authority/row_table.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>
#include <utility>

#include "parlor/authority/limits.h"
#include "parlor/authority/state_edits.h"
#include "parlor/byte_io.h"
#include "parlor/check.h"
#include "parlor/utf8.h"

namespace parlor::authority {
namespace {

constexpr int kNoField = -1;

std::uint64_t BitOf(int field) { return std::uint64_t{1} << field; }

std::size_t Size(int count) { return static_cast<std::size_t>(count); }

}  // namespace

// --- RowView ---

const FieldLayout& RowView::Typed(int field, FieldType type) const {
  PARLOR_CHECK(exists() && field >= 0 && Size(field) < kind_->fields.size());
  const FieldLayout& layout = kind_->fields[Size(field)];
  PARLOR_CHECK(layout.type == type);
  return layout;
}

bool RowView::IsNull(int field) const {
  PARLOR_CHECK(exists() && field >= 0 && Size(field) < kind_->fields.size());
  return (nulls_ & BitOf(field)) != 0;
}

bool RowView::GetBool(int field) const {
  return words(Typed(field, FieldType::kBool))[0] != 0;
}

std::int64_t RowView::GetInt(int field) const {
  return words(Typed(field, FieldType::kInt))[0];
}

float RowView::GetFloat(int field) const {
  return FloatOf(words(Typed(field, FieldType::kFloat))[0]);
}

Vec2 RowView::GetVec2(int field) const {
  const auto at = words(Typed(field, FieldType::kVec2));
  return {FloatOf(at[0]), FloatOf(at[1])};
}

Vec3 RowView::GetVec3(int field) const {
  PARLOR_CHECK(exists() && field >= 0 && Size(field) < kind_->fields.size());
  if (kind_->fields[Size(field)].type == FieldType::kPosition) {
    const auto at = words(kind_->fields[Size(field)]);
    return {MetresOf(at[0]), MetresOf(at[1]), MetresOf(at[2])};
  }
  const auto at = words(Typed(field, FieldType::kVec3));
  return {FloatOf(at[0]), FloatOf(at[1]), FloatOf(at[2])};
}

Quat RowView::GetQuat(int field) const {
  return UnpackQuat(
      static_cast<std::uint32_t>(words(Typed(field, FieldType::kQuat))[0]));
}

std::string_view RowView::GetString(int field) const {
  return text(Typed(field, FieldType::kString));
}

Transform RowView::GetTransform() const {
  PARLOR_CHECK(exists() && kind_->transform);
  return {GetVec3(kPositionField), GetQuat(kRotationField)};
}

std::uint64_t RowView::NotDefault() const {
  std::uint64_t mask = nulls_;
  for (std::size_t i = 0; i < kind_->fields.size(); ++i) {
    const FieldLayout& layout = kind_->fields[i];
    bool zero = true;
    for (const std::int64_t word : words(layout)) zero = zero && word == 0;
    if (layout.type == FieldType::kString) zero = text(layout).empty();
    if (!zero) mask |= std::uint64_t{1} << i;
  }
  return mask;
}

bool operator==(const RowView& a, const RowView& b) {
  if (a.exists() != b.exists() || a.kind_index_ != b.kind_index_) return false;
  if (!a.exists()) return true;
  return a.nulls_ == b.nulls_ && std::ranges::equal(a.words_, b.words_) &&
         std::equal(a.texts_, a.texts_ + a.kind_->texts, b.texts_);
}

// --- Storage ---

RowTable::RowTable(const Schema& schema)
    : schema_(&schema), pools_(schema.kinds().size()) {}

std::size_t RowTable::PageIndex(std::uint32_t page) const {
  // Most tables have no hole.
  if (!pages_.empty() && page >= pages_.front()->bits.page) {
    const std::size_t guess = page - pages_.front()->bits.page;
    if (guess < pages_.size() && pages_[guess]->bits.page == page) return guess;
  }
  const auto at = std::partition_point(
      pages_.begin(), pages_.end(),
      [page](const auto& one) { return one->bits.page < page; });
  return static_cast<std::size_t>(at - pages_.begin());
}

RowTable::Page& RowTable::PageFor(std::uint32_t page) {
  // Nearly always the last one, or one behind it.
  std::size_t at = pages_.size();
  if (at > 0 && pages_.back()->bits.page >= page) at = PageIndex(page);
  if (at < pages_.size() && pages_[at]->bits.page == page) return *pages_[at];
  std::unique_ptr<Page> added;
  if (spare_pages_.empty()) {
    added = std::make_unique<Page>();
  } else {
    added = std::move(spare_pages_.back());
    spare_pages_.pop_back();
    *added = Page{};
  }
  added->bits.page = page;
  const auto place = pages_.begin() + static_cast<std::ptrdiff_t>(at);
  return **pages_.insert(place, std::move(added));
}

RowTable::Place RowTable::PlaceAt(Page& page, unsigned index) const {
  return {&page, std::uint64_t{1} << index, index, page.kinds[index],
          page.slots[index]};
}

std::optional<RowTable::Place> RowTable::Find(RowId row) const {
  const std::size_t at = PageIndex(row / kPageRows);
  if (at >= pages_.size() || pages_[at]->bits.page != row / kPageRows) {
    return std::nullopt;
  }
  const Place place = PlaceAt(*pages_[at], row % kPageRows);
  const std::uint64_t there = place.page->bits.live | place.page->local;
  if ((there & place.bit) == 0) return std::nullopt;
  return place;
}

std::int64_t* RowTable::NowWords(int kind, std::uint32_t slot) {
  const std::size_t words = Size(schema_->kind(kind).words);
  return pools_[Size(kind)].words.data() + 2 * words * slot;
}

std::int64_t* RowTable::BaseWords(int kind, std::uint32_t slot) {
  return NowWords(kind, slot) + schema_->kind(kind).words;
}

std::string* RowTable::NowTexts(int kind, std::uint32_t slot) {
  const std::size_t texts = Size(schema_->kind(kind).texts);
  return pools_[Size(kind)].texts.data() + 2 * texts * slot;
}

std::string* RowTable::BaseTexts(int kind, std::uint32_t slot) {
  return NowTexts(kind, slot) + schema_->kind(kind).texts;
}

RowView RowTable::View(const Page& page, unsigned index, bool base) const {
  const int kind = page.kinds[index];
  const Pool& pool = pools_[Size(kind)];
  const KindLayout& layout = schema_->kind(kind);
  const std::size_t at = 2 * std::size_t{page.slots[index]} + (base ? 1 : 0);
  const Masks& masks = pool.masks[page.slots[index]];
  RowView view;
  view.id_ = page.bits.page * kPageRows + index;
  view.kind_index_ = kind;
  view.kind_ = &layout;
  view.words_ = {pool.words.data() + at * Size(layout.words),
                 Size(layout.words)};
  view.texts_ = pool.texts.data() + at * Size(layout.texts);
  view.nulls_ = base ? masks.base_nulls : masks.nulls;
  view.changed_ = base ? 0 : masks.changed;
  return view;
}

std::uint32_t RowTable::TakeSlot(int kind) {
  Pool& pool = pools_[Size(kind)];
  const KindLayout& layout = schema_->kind(kind);
  if (pool.free.empty()) {
    pool.words.resize(pool.words.size() + 2 * Size(layout.words));
    pool.texts.resize(pool.texts.size() + 2 * Size(layout.texts));
    pool.masks.emplace_back();
    return static_cast<std::uint32_t>(pool.masks.size() - 1);
  }
  const std::uint32_t slot = pool.free.back();
  pool.free.pop_back();
  std::fill_n(NowWords(kind, slot), 2 * layout.words, 0);
  for (int i = 0; i < 2 * layout.texts; ++i) NowTexts(kind, slot)[i].clear();
  pool.masks[slot] = Masks{};
  return slot;
}

void RowTable::FreeSlot(int kind, std::uint32_t slot) {
  pools_[Size(kind)].free.push_back(slot);
}

void RowTable::CopyToBase(int kind, std::uint32_t slot) {
  const KindLayout& layout = schema_->kind(kind);
  std::copy_n(NowWords(kind, slot), layout.words, BaseWords(kind, slot));
  std::copy_n(NowTexts(kind, slot), layout.texts, BaseTexts(kind, slot));
  Masks& masks = MasksOf(kind, slot);
  masks.base_nulls = masks.nulls;
  masks.changed = 0;
}

void RowTable::CopyFromBase(int kind, std::uint32_t slot) {
  const KindLayout& layout = schema_->kind(kind);
  std::copy_n(BaseWords(kind, slot), layout.words, NowWords(kind, slot));
  std::copy_n(BaseTexts(kind, slot), layout.texts, NowTexts(kind, slot));
  Masks& masks = MasksOf(kind, slot);
  masks.nulls = masks.base_nulls;
  masks.changed = 0;
}

RowTable::Place RowTable::Insert(RowId row, int kind, bool local) {
  Page& page = PageFor(row / kPageRows);
  const unsigned index = row % kPageRows;
  page.slots[index] = TakeSlot(kind);
  page.kinds[index] = static_cast<std::uint8_t>(kind);
  const Place place = PlaceAt(page, index);
  (local ? page.local : page.bits.live) |= place.bit;
  if (!local) ++size_;
  ++pools_[Size(kind)].rows;
  return place;
}

// The baseline keeps its slot until the next one.
void RowTable::Erase(const Place& place) {
  Page& page = *place.page;
  if ((page.local & place.bit) == 0) --size_;
  page.local &= ~place.bit;
  page.bits.live &= ~place.bit;
  page.bits.changed &= ~place.bit;
  --pools_[Size(place.kind)].rows;
  if ((page.bits.base & place.bit) == 0) FreeSlot(place.kind, place.slot);
}

void RowTable::DropEmptyPages() {
  std::size_t kept = 0;
  for (std::unique_ptr<Page>& page : pages_) {
    if ((page->bits.live | page->bits.base | page->local) == 0) {
      spare_pages_.push_back(std::move(page));
    } else {
      std::swap(pages_[kept++], page);
    }
  }
  pages_.resize(kept);
}

void RowTable::Clear() {
  std::move(pages_.begin(), pages_.end(), std::back_inserter(spare_pages_));
  pages_.clear();
  for (Pool& pool : pools_) {
    pool.free.resize(pool.masks.size());
    // The lowest is taken first.
    for (std::size_t i = 0; i < pool.free.size(); ++i) {
      pool.free[i] = static_cast<std::uint32_t>(pool.free.size() - 1 - i);
    }
    pool.rows = 0;
    pool.base_rows = 0;
  }
  size_ = 0;
}

// --- The game's calls ---

bool RowTable::Refuse(RowId row, int field, std::string_view why) {
  ++refusals_;
  if (first_refusal_) return false;
  std::string text = "row " + std::to_string(row);
  if (const auto place = Find(row)) {
    const KindLayout& kind = schema_->kind(place->kind);
    text += " (" + kind.name + ")";
    if (field >= 0 && Size(field) < kind.fields.size()) {
      text += " field " + kind.fields[Size(field)].name;
    } else if (field != kNoField) {
      text += " field " + std::to_string(field);
    }
  }
  first_refusal_ = text + ": " + std::string(why);
  return false;
}

std::optional<std::string> RowTable::TakeRefusal() {
  return std::exchange(first_refusal_, std::nullopt);
}

RowId RowTable::AddRow(int kind, bool local) {
  if (kind < 0 || Size(kind) >= pools_.size()) {
    Refuse(0, kNoField, "kind " + std::to_string(kind) + " does not exist");
    return 0;
  }
  const KindLayout& layout = schema_->kind(kind);
  if (pools_[Size(kind)].rows >= layout.rows_max) {
    Refuse(0, kNoField,
           "there are " + std::to_string(layout.rows_max) + " of kind " +
               layout.name + ", and no more may be");
    return 0;
  }
  if (next_row_ == 0) {
    Refuse(0, kNoField, "no id is left in this epoch");
    return 0;
  }
  const RowId row = next_row_++;
  Insert(row, kind, local);
  return row;
}

RowId RowTable::Add(int kind) { return AddRow(kind, false); }

RowId RowTable::AddLocal(int kind) { return AddRow(kind, true); }

bool RowTable::Remove(RowId row) {
  const auto place = Find(row);
  if (!place) return Refuse(row, kNoField, "does not exist");
  Erase(*place);
  return true;
}

std::optional<RowTable::Place> RowTable::Settable(RowId row, int field) {
  auto place = Find(row);
  if (!place) {
    Refuse(row, field, "does not exist");
  } else if (field < 0 ||
             Size(field) >= schema_->kind(place->kind).fields.size()) {
    Refuse(row, field, "does not exist");
    place.reset();
  }
  return place;
}

bool RowTable::SetBool(RowId row, int field, bool value) {
  const auto place = Settable(row, field);
  if (!place) return false;
  const FieldType type = schema_->kind(place->kind).fields[Size(field)].type;
  if (type != FieldType::kBool) return Refuse(row, field, "is no bool");
  const std::int64_t word = value ? 1 : 0;
  StoreWords(*place, field, {&word, 1});
  return true;
}

bool RowTable::SetInt(RowId row, int field, std::int64_t value) {
  const auto place = Settable(row, field);
  if (!place) return false;
  const FieldType type = schema_->kind(place->kind).fields[Size(field)].type;
  if (type == FieldType::kFloat) {
    return Set(row, field, static_cast<double>(value));
  }
  if (type != FieldType::kInt) return Refuse(row, field, "is no int");
  if (value < -kIntMax || value > kIntMax) return OutOfRange(row, field);
  StoreWords(*place, field, {&value, 1});
  return true;
}

bool RowTable::OutOfRange(RowId row, int field) {
  return Refuse(row, field, "out of range");
}

bool RowTable::RefuseRotation(RowId row, int field) {
  return Refuse(row, field, "not a rotation of finite numbers");
}

// The floats of a field, quantised or refused.
bool RowTable::SetFloats(RowId row, int field, FieldType type,
                         std::span<const float> floats) {
  const auto place = Settable(row, field);
  if (!place) return false;
  const FieldLayout& layout = schema_->kind(place->kind).fields[Size(field)];
  const bool metres =
      type == FieldType::kVec3 && layout.type == FieldType::kPosition;
  if (layout.type != type && !metres) {
    return Refuse(row, field, "is no " + std::string(NameOf(type)));
  }
  std::array<std::int64_t, 3> words{};
  for (std::size_t i = 0; i < floats.size(); ++i) {
    if (!std::isfinite(floats[i])) {
      return Refuse(row, field, "not a finite number");
    }
    const auto number =
        metres ? std::optional<std::int64_t>(QuantiseMetres(floats[i]))
               : QuantiseFloat(floats[i]);
    if (!number) return OutOfRange(row, field);
    words[i] = *number;
  }
  StoreWords(*place, field, std::span(words).first(floats.size()));
  return true;
}

bool RowTable::Set(RowId row, int field, float value) {
  return SetFloats(row, field, FieldType::kFloat, {&value, 1});
}

bool RowTable::Set(RowId row, int field, double value) {
  // A larger one may have no float at all.
  if (std::isfinite(value) && std::abs(value) > kFloatMax) {
    return Settable(row, field) && OutOfRange(row, field);
  }
  return Set(row, field, static_cast<float>(value));
}

bool RowTable::Set(RowId row, int field, const Vec2& value) {
  const std::array<float, 2> floats = {value.x, value.y};
  return SetFloats(row, field, FieldType::kVec2, floats);
}

bool RowTable::Set(RowId row, int field, const Vec3& value) {
  const std::array<float, 3> floats = {value.x, value.y, value.z};
  return SetFloats(row, field, FieldType::kVec3, floats);
}

bool RowTable::Set(RowId row, int field, const Quat& value) {
  const auto place = Settable(row, field);
  if (!place) return false;
  const FieldType type = schema_->kind(place->kind).fields[Size(field)].type;
  if (type != FieldType::kQuat) return Refuse(row, field, "is no quat");
  const auto packed = PackQuat(value);
  if (!packed) return RefuseRotation(row, field);
  const std::int64_t word = *packed;
  StoreWords(*place, field, {&word, 1});
  return true;
}

bool RowTable::Set(RowId row, int field, std::string_view value) {
  const auto place = Settable(row, field);
  if (!place) return false;
  const FieldType type = schema_->kind(place->kind).fields[Size(field)].type;
  if (type != FieldType::kString) return Refuse(row, field, "is no string");
  if (value.size() > kStringBytesMax) {
    return Refuse(
        row, field,
        "has more than " + std::to_string(kStringBytesMax) + " bytes");
  }
  if (!IsUtf8(AsBytes(value))) return Refuse(row, field, "is not UTF-8");
  StoreText(*place, field, value);
  return true;
}

bool RowTable::SetNull(RowId row, int field) {
  const auto place = Settable(row, field);
  if (!place) return false;
  StoreNull(*place, field);
  return true;
}

bool RowTable::SetTransform(RowId row, const Transform& transform) {
  const auto place = Find(row);
  if (!place) return Refuse(row, kNoField, "does not exist");
  if (!schema_->kind(place->kind).transform) {
    return Refuse(row, kNoField, "is of no transform kind");
  }
  // The rotation is stored last, and asked first: neither without the other.
  const auto packed = PackQuat(transform.rotation);
  if (!packed) return RefuseRotation(row, kRotationField);
  if (!Set(row, kPositionField, transform.position)) return false;
  const std::int64_t word = *packed;
  StoreWords(*place, kRotationField, {&word, 1});
  return true;
}

bool RowTable::Teleport(RowId row, const Transform& transform) {
  if (!SetTransform(row, transform)) return false;
  const std::int64_t teleports = Get(row).teleports();
  return Set(row, kTeleportsField, teleports < kIntMax ? teleports + 1 : 0);
}

void RowTable::NewEpoch() {
  Clear();
  next_row_ = 1;
  ++epoch_;
  base_ = 0;
}

// --- Values ---

void RowTable::NoteChange(const Place& place, int field) {
  Page& page = *place.page;
  if ((page.bits.base & place.bit) == 0) return;
  const FieldLayout& layout = schema_->kind(place.kind).fields[Size(field)];
  const std::int64_t* now = NowWords(place.kind, place.slot) + layout.word;
  const std::int64_t* base = BaseWords(place.kind, place.slot) + layout.word;
  bool same = std::equal(now, now + layout.words, base);
  if (layout.type == FieldType::kString) {
    same = NowTexts(place.kind, place.slot)[layout.text] ==
           BaseTexts(place.kind, place.slot)[layout.text];
  }
  Masks& masks = MasksOf(place.kind, place.slot);
  const std::uint64_t bit = BitOf(field);
  if (((masks.nulls ^ masks.base_nulls) & bit) != 0) same = false;
  masks.changed = same ? masks.changed & ~bit : masks.changed | bit;
  if (masks.changed != 0) {
    page.bits.changed |= place.bit;
  } else {
    page.bits.changed &= ~place.bit;
  }
}

void RowTable::StoreWords(const Place& place, int field,
                          std::span<const std::int64_t> words) {
  const FieldLayout& layout = schema_->kind(place.kind).fields[Size(field)];
  std::ranges::copy(words, NowWords(place.kind, place.slot) + layout.word);
  MasksOf(place.kind, place.slot).nulls &= ~BitOf(field);
  NoteChange(place, field);
}

void RowTable::StoreText(const Place& place, int field, std::string_view text) {
  const FieldLayout& layout = schema_->kind(place.kind).fields[Size(field)];
  NowTexts(place.kind, place.slot)[layout.text] = text;
  MasksOf(place.kind, place.slot).nulls &= ~BitOf(field);
  NoteChange(place, field);
}

void RowTable::StoreNull(const Place& place, int field) {
  const FieldLayout& layout = schema_->kind(place.kind).fields[Size(field)];
  std::fill_n(NowWords(place.kind, place.slot) + layout.word, layout.words, 0);
  if (layout.type == FieldType::kString) {
    NowTexts(place.kind, place.slot)[layout.text].clear();
  }
  MasksOf(place.kind, place.slot).nulls |= BitOf(field);
  NoteChange(place, field);
}

// --- Reading ---

RowView RowTable::Get(RowId row) const {
  const auto place = Find(row);
  return place ? View(*place->page, place->index, false) : RowView();
}

RowView RowTable::GetBase(RowId row) const {
  const std::size_t at = PageIndex(row / kPageRows);
  if (at >= pages_.size() || pages_[at]->bits.page != row / kPageRows) {
    return {};
  }
  const unsigned index = row % kPageRows;
  if ((pages_[at]->bits.base >> index & 1) == 0) return {};
  return View(*pages_[at], index, true);
}

PageBits RowTable::page(std::size_t at) const { return pages_[at]->bits; }

RowView RowTable::RowAt(std::size_t at, unsigned index) const {
  return View(*pages_[at], index, false);
}

RowView RowTable::BaseAt(std::size_t at, unsigned index) const {
  return View(*pages_[at], index, true);
}

// --- The baseline ---

void RowTable::TakePageBaseline(Page& page) {
  PageBits& bits = page.bits;
  for (std::uint64_t gone = bits.base & ~bits.live; gone != 0;
       gone &= gone - 1) {
    const auto index = static_cast<unsigned>(std::countr_zero(gone));
    const Place place = PlaceAt(page, index);
    --pools_[Size(place.kind)].base_rows;
    FreeSlot(place.kind, place.slot);
  }
  for (std::uint64_t rest = (bits.live & ~bits.base) | bits.changed; rest != 0;
       rest &= rest - 1) {
    const auto index = static_cast<unsigned>(std::countr_zero(rest));
    const Place place = PlaceAt(page, index);
    CopyToBase(place.kind, place.slot);
    if ((bits.base & place.bit) == 0) ++pools_[Size(place.kind)].base_rows;
  }
  bits.base = bits.live;
  bits.changed = 0;
}

void RowTable::TakeBaseline() {
  for (const std::unique_ptr<Page>& page : pages_) TakePageBaseline(*page);
  DropEmptyPages();
  base_ = ++bases_taken_;
}

void RowTable::RevertPage(Page& page) {
  PageBits& bits = page.bits;
  for (std::uint64_t added = bits.live & ~bits.base; added != 0;
       added &= added - 1) {
    Erase(PlaceAt(page, static_cast<unsigned>(std::countr_zero(added))));
  }
  const std::uint64_t gone = bits.base & ~bits.live;
  for (std::uint64_t rest = gone | bits.changed; rest != 0; rest &= rest - 1) {
    const auto index = static_cast<unsigned>(std::countr_zero(rest));
    const Place place = PlaceAt(page, index);
    CopyFromBase(place.kind, place.slot);
    if ((gone & place.bit) == 0) continue;
    ++size_;
    ++pools_[Size(place.kind)].rows;
  }
  bits.live = bits.base;
  bits.changed = 0;
}

void RowTable::RevertToBase() {
  for (const std::unique_ptr<Page>& page : pages_) RevertPage(*page);
  DropEmptyPages();
}

// --- Messages ---

void RowTable::Apply(const StateEdits& edits) {
  const StateHeader& header = edits.header();
  if (header.kind == StateKind::kDelta) {
    PARLOR_CHECK(StateEdits::IsFor(header, *this));
    RevertToBase();
  } else {
    Clear();
    epoch_ = header.epoch;
  }
  std::size_t field = 0;
  for (const StateEdits::Row& row : edits.rows_) {
    const bool whole = row.op == StateEdits::Op::kWhole;
    const Place place = whole ? Insert(row.id, row.kind, false)
                              : Find(row.id).value_or(Place{});
    PARLOR_CHECK(place.page != nullptr);
    for (const std::size_t end = field + row.fields; field < end; ++field) {
      ApplyField(place, edits, field);
    }
  }
  for (const RowId row : edits.gone_) {
    const auto place = Find(row);
    PARLOR_CHECK(place.has_value());
    Erase(*place);
  }
  if (header.kind == StateKind::kDelta) return;
  base_ = header.base;
  if (header.kind == StateKind::kRecovery) return;
  for (const std::unique_ptr<Page>& page : pages_) TakePageBaseline(*page);
}

void RowTable::ApplyField(const Place& place, const StateEdits& edits,
                          std::size_t at) {
  const StateEdits::FieldEdit& edit = edits.fields_[at];
  const FieldLayout& layout = schema_->kind(place.kind).fields[edit.field];
  if (edit.null) {
    StoreNull(place, edit.field);
  } else if (layout.type == FieldType::kString) {
    StoreText(place, edit.field,
              std::string_view(edits.texts_).substr(edit.at, edit.bytes));
  } else {
    StoreWords(place, edit.field,
               std::span(edits.words_).subspan(edit.at, Size(layout.words)));
  }
}

}  // namespace parlor::authority
