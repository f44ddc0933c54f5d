// RowTable: the rows of a room, in the room that decides them and in each
// client that shows them. It keeps every row twice, as it is now and as it was
// when the baseline was taken, and knows at each moment which rows and fields
// differ: what a delta says, at no cost for the rows that stay as they are.
//
// In the room, the game adds, sets and removes rows; TakeBaseline once a second
// makes now the baseline; SnapshotEncoder (snapshot_encoder.h) reads what
// changed. In a client, Apply (state_edits.h) is all that changes it.
//
// Values are compared as the numbers of values.h. A row that is set to what it
// was at the baseline has not changed, whatever it was between.
//
// One thread. No allocation once rows, strings and pages are as many as ever.
// The schema must outlive the table.
#ifndef PARLOR_AUTHORITY_ROW_TABLE_H_
#define PARLOR_AUTHORITY_ROW_TABLE_H_

#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "parlor/authority/schema.h"
#include "parlor/authority/values.h"

namespace parlor::authority {

class StateEdits;

// From 1, rising, never used twice in an epoch. 0 is no row.
using RowId = std::uint32_t;

// Rows lie in pages of 64 ids: id / 64 is the page, id % 64 the index in it.
inline constexpr std::uint32_t kPageRows = 64;

// A row, now or at the baseline. A view of the table: it dies with the table's
// next change. Copying it is cheap.
class RowView {
 public:
  // No row.
  RowView() = default;

  bool exists() const { return kind_ != nullptr; }
  RowId id() const { return id_; }
  int kind_index() const { return kind_index_; }
  const KindLayout& kind() const { return *kind_; }

  // `field` is a number below kind().fields.size(), of the type that the name
  // says: anything else is our own mistake and stops us. Null reads as 0,
  // false, empty, and as the rotation by nothing.
  bool IsNull(int field) const;
  bool GetBool(int field) const;
  std::int64_t GetInt(int field) const;
  float GetFloat(int field) const;
  Vec2 GetVec2(int field) const;
  Vec3 GetVec3(int field) const;  // of a position too: metres
  Quat GetQuat(int field) const;
  std::string_view GetString(int field) const;
  // Of a transform kind.
  Transform GetTransform() const;
  std::int64_t teleports() const { return GetInt(kTeleportsField); }

  // As numbers. A bit a field: those that are null.
  std::uint64_t nulls() const { return nulls_; }
  // Of all fields; a null's are 0.
  std::span<const std::int64_t> words() const { return words_; }
  std::span<const std::int64_t> words(const FieldLayout& field) const {
    return words_.subspan(static_cast<std::size_t>(field.word),
                          static_cast<std::size_t>(field.words));
  }
  std::string_view text(const FieldLayout& field) const {
    return texts_[field.text];
  }
  // A bit a field: those that differ from the baseline's. 0 for a row that the
  // baseline does not have, which a delta tells whole.
  std::uint64_t changed() const { return changed_; }
  // A bit a field: those that differ from a new row's, which are neither null
  // nor other than 0.
  std::uint64_t NotDefault() const;

  // Same kind, same values: what two tables that agree have.
  friend bool operator==(const RowView& a, const RowView& b);

 private:
  friend class RowTable;

  const FieldLayout& Typed(int field, FieldType type) const;

  RowId id_ = 0;
  int kind_index_ = 0;
  const KindLayout* kind_ = nullptr;
  std::span<const std::int64_t> words_;
  const std::string* texts_ = nullptr;
  std::uint64_t nulls_ = 0;
  std::uint64_t changed_ = 0;
};

// One page, a bit a row.
struct PageBits {
  std::uint32_t page = 0;
  std::uint64_t live = 0;     // there now; local rows are not among them
  std::uint64_t base = 0;     // there at the baseline
  std::uint64_t changed = 0;  // both, and not the same
};

class RowTable {
 public:
  explicit RowTable(const Schema& schema);

  RowTable(const RowTable&) = delete;
  RowTable& operator=(const RowTable&) = delete;

  const Schema& schema() const { return *schema_; }

  // --- For the game ---
  // Nothing here stops the game: what cannot be done is refused (false, or row
  // 0), changes nothing and is counted; see TakeRefusal.

  // A new row, every field 0, false or empty, its rotation by nothing. Refused
  // if there is no such kind, or as many rows of it as its rows_max.
  RowId Add(int kind);
  // One that never leaves this table: no message has it.
  RowId AddLocal(int kind);
  bool Remove(RowId row);

  // Sets a field. Refused: no such row or field, another type, NaN, infinities,
  // what is out of range (schema.h), text that is not UTF-8 or too long. A
  // Vec3 is a kVec3's or, in metres and clamped, a kPosition's; a whole number
  // is a kInt's or a kFloat's.
  template <std::integral Number>
  bool Set(RowId row, int field, Number value);
  bool Set(RowId row, int field, float value);
  bool Set(RowId row, int field, double value);
  bool Set(RowId row, int field, const Vec2& value);
  bool Set(RowId row, int field, const Vec3& value);
  bool Set(RowId row, int field, const Quat& value);
  bool Set(RowId row, int field, std::string_view value);
  bool Set(RowId row, int field, const char* value) {
    return Set(row, field, std::string_view(value));
  }
  bool SetNull(RowId row, int field);
  // Of a transform kind; both parts or, where one is refused, neither.
  bool SetTransform(RowId row, const Transform& transform);
  // SetTransform, and nobody blends from where the row was.
  bool Teleport(RowId row, const Transform& transform);

  // A new world: no row, ids from 1 again, no baseline until the next
  // TakeBaseline.
  void NewEpoch();

  // How often something was refused, ever.
  std::uint64_t refusals() const { return refusals_; }
  // The text of the first refusal since the last call, if there was one:
  // "row 12 (player) field hp: not a finite number". It has names of the
  // schema and numbers, never a value.
  std::optional<std::string> TakeRefusal();

  // --- For reading ---

  // The row as it is now, local ones too, or as it was at the baseline. A view
  // that does not exist where there is none.
  RowView Get(RowId row) const;
  RowView GetBase(RowId row) const;
  // Rows there are now, local ones not counted.
  std::size_t size() const { return size_; }
  // Calls with the RowView of each row there is now, by rising id, local ones
  // left out. The call may not change the table.
  template <typename Call>
  void ForEach(Call&& call) const;

  // From 1.
  std::uint32_t epoch() const { return epoch_; }
  // The number of the baseline, from 1 in the table's life; epochs do not start
  // it again. 0 while this epoch has none.
  std::uint32_t base() const { return base_; }

  // --- For encoders ---

  // Pages by rising number; all that have a row, now or at the baseline, and
  // some that have none. In a room, `at` stays a page's until TakeBaseline or
  // NewEpoch.
  std::size_t page_count() const { return pages_.size(); }
  PageBits page(std::size_t at) const;
  // `index` is one whose bit is set in live, or in base.
  RowView RowAt(std::size_t at, unsigned index) const;
  RowView BaseAt(std::size_t at, unsigned index) const;

  // Now becomes the baseline, under the next number.
  void TakeBaseline();

  // --- For clients ---

  // Does what a message says, which was checked against this table
  // (StateEdits::Begin), and which the table has not changed since:
  //   baseline  every row is forgotten; the message's are now and baseline, and
  //             epoch and base are the message's
  //   delta     every row goes back to the baseline's (added ones vanish,
  //             removed ones are back), then: changed fields are set, whole
  //             rows added, gone ones removed. The baseline stays.
  //   recovery  every row is forgotten, and the baseline; the message's are
  //             now, and epoch is the message's. A client that wants to go on
  //             from its baseline applies it to another table
  //             (state_receiver.h)
  void Apply(const StateEdits& edits);

 private:
  friend class StateEdits;

  static constexpr std::uint32_t kNoSlot = 0xffffffff;

  struct Masks {
    std::uint64_t nulls = 0;
    std::uint64_t base_nulls = 0;
    std::uint64_t changed = 0;
  };
  // The rows of one kind, a slot each: now's words, then the baseline's, and
  // the same for strings.
  struct Pool {
    std::vector<std::int64_t> words;
    std::vector<std::string> texts;
    std::vector<Masks> masks;
    std::vector<std::uint32_t> free;
    int rows = 0;       // there now, local ones too
    int base_rows = 0;  // at the baseline
  };
  struct Page {
    PageBits bits;
    std::uint64_t local = 0;
    // Of rows that are live, local or in the baseline.
    std::array<std::uint32_t, kPageRows> slots{};
    std::array<std::uint8_t, kPageRows> kinds{};
  };
  // A row, found.
  struct Place {
    Page* page = nullptr;
    std::uint64_t bit = 0;
    unsigned index = 0;
    int kind = 0;
    std::uint32_t slot = kNoSlot;
  };

  // The first of these whose number is not below `page`.
  std::size_t PageIndex(std::uint32_t page) const;
  Page& PageFor(std::uint32_t page);
  // A row that is there now, local or not.
  std::optional<Place> Find(RowId row) const;
  Place PlaceAt(Page& page, unsigned index) const;
  RowView View(const Page& page, unsigned index, bool base) const;

  std::int64_t* NowWords(int kind, std::uint32_t slot);
  std::int64_t* BaseWords(int kind, std::uint32_t slot);
  std::string* NowTexts(int kind, std::uint32_t slot);
  std::string* BaseTexts(int kind, std::uint32_t slot);
  Masks& MasksOf(int kind, std::uint32_t slot) {
    return pools_[static_cast<std::size_t>(kind)].masks[slot];
  }

  RowId AddRow(int kind, bool local);
  Place Insert(RowId row, int kind, bool local);
  void Erase(const Place& place);
  std::uint32_t TakeSlot(int kind);
  void FreeSlot(int kind, std::uint32_t slot);
  void CopyToBase(int kind, std::uint32_t slot);
  void CopyFromBase(int kind, std::uint32_t slot);
  void DropEmptyPages();
  void Clear();

  std::optional<Place> Settable(RowId row, int field);
  bool SetInt(RowId row, int field, std::int64_t value);
  bool SetBool(RowId row, int field, bool value);
  bool OutOfRange(RowId row, int field);
  bool RefuseRotation(RowId row, int field);
  bool SetFloats(RowId row, int field, FieldType type,
                 std::span<const float> floats);
  void StoreWords(const Place& place, int field,
                  std::span<const std::int64_t> words);
  void StoreText(const Place& place, int field, std::string_view text);
  void StoreNull(const Place& place, int field);
  void NoteChange(const Place& place, int field);

  bool Refuse(RowId row, int field, std::string_view why);

  void ApplyField(const Place& place, const StateEdits& edits, std::size_t at);
  void RevertToBase();
  void RevertPage(Page& page);
  void TakePageBaseline(Page& page);

  const Schema* schema_;
  std::vector<Pool> pools_;  // by kind
  std::vector<std::unique_ptr<Page>> pages_;
  std::vector<std::unique_ptr<Page>> spare_pages_;
  std::size_t size_ = 0;
  RowId next_row_ = 1;
  std::uint32_t epoch_ = 1;
  std::uint32_t base_ = 0;
  std::uint32_t bases_taken_ = 0;
  std::uint64_t refusals_ = 0;
  std::optional<std::string> first_refusal_;
};

template <std::integral Number>
bool RowTable::Set(RowId row, int field, Number value) {
  if constexpr (std::same_as<Number, bool>) {
    return SetBool(row, field, value);
  } else {
    if (!std::in_range<std::int64_t>(value)) return OutOfRange(row, field);
    return SetInt(row, field, static_cast<std::int64_t>(value));
  }
}

template <typename Call>
void RowTable::ForEach(Call&& call) const {
  for (const std::unique_ptr<Page>& page : pages_) {
    for (std::uint64_t rest = page->bits.live; rest != 0; rest &= rest - 1) {
      call(View(*page, static_cast<unsigned>(std::countr_zero(rest)), false));
    }
  }
}

}  // namespace parlor::authority

#endif  // PARLOR_AUTHORITY_ROW_TABLE_H_
