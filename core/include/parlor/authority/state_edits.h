// StateEdits: what one state message says, checked whole before anything is
// done: the step between a codec's decoder and RowTable::Apply. The rules of a
// valid message are here, once for all codecs; a decoder only takes the bytes
// apart and hands each thing over in turn:
//
//   Begin(header, table)
//   for each row:  Whole(row, kind) | Changed(row) | Gone(row), and for a whole
//                  or changed one any of: Null(field) | Words(field, words) |
//                  Text(field, text), each field at most once, in any order
//   SetOwn(own)    a delta's at most
//   Finish()
//
// Each answers false for what no encoder of ours sends, and from then on the
// message is refused whole. What may be said:
//   - a baseline and a recovery have whole rows alone; a delta's whole rows are
//     not in the table's baseline, its changed and gone ones are
//   - ids are above 0 and rise: those of whole and changed rows together, and
//     those of gone ones; none is both
//   - a whole row names the fields that are not a new row's (0, false, empty,
//     the rotation by nothing), a changed one those that are not the
//     baseline's, at least one: a value that says nothing is refused
//   - a kind has no more rows afterwards than its rows_max
//   - words are as many as the field's type has, each in its range; text is
//     UTF-8 of at most kStringBytesMax bytes
//
// Reused from message to message; keeps copies, and its memory is in proportion
// to the message's.
#ifndef PARLOR_AUTHORITY_STATE_EDITS_H_
#define PARLOR_AUTHORITY_STATE_EDITS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "parlor/authority/row_table.h"
#include "parlor/authority/values.h"

namespace parlor::authority {

enum class StateKind : std::uint8_t {
  kBaseline = 1,  // all rows; what deltas refer to
  kDelta = 2,     // what differs from the baseline `base`
  kRecovery = 3,  // all rows, to be shown and no more
};

struct StateHeader {
  StateKind kind = StateKind::kBaseline;
  std::uint32_t epoch = 0;
  std::uint32_t base = 0;  // the baseline's number; 0 in a recovery
  std::uint32_t tick = 0;  // whose state it is
  friend bool operator==(const StateHeader&, const StateHeader&) = default;
};

class StateEdits {
 public:
  // `table` is the one the message is for, and does not change before Apply.
  // False for a base of 0 (in a recovery: any other), an epoch of 0, and a
  // delta that is not for the table's epoch and base, which is no fault of the
  // message's: ask IsFor first. What was here before is forgotten.
  bool Begin(const StateHeader& header, const RowTable& table);

  // A delta for this table's epoch and baseline, or no delta.
  static bool IsFor(const StateHeader& header, const RowTable& table);

  bool Whole(RowId row, int kind);
  bool Changed(RowId row);
  bool Gone(RowId row);

  // Of the row begun last, which is whole or changed.
  bool Null(int field);
  bool Words(int field, std::span<const std::int64_t> words);
  bool Text(int field, std::string_view text);
  // For decoders that read words relative to the baseline's. The row begun last
  // as the baseline has it; no row for a whole one, whose values are relative
  // to 0.
  const RowView& base() const { return base_row_; }
  // The kind of the row begun last.
  const KindLayout& kind() const { return *kind_; }

  bool SetOwn(const OwnWords& own);

  bool Finish();

  const StateHeader& header() const { return header_; }
  const std::optional<OwnWords>& own() const { return own_; }

 private:
  friend class RowTable;

  enum class Op : std::uint8_t { kWhole, kChanged, kGone };
  struct Row {
    RowId id = 0;
    Op op = Op::kWhole;
    std::uint8_t kind = 0;
    std::uint8_t fields = 0;  // how many of fields_ are its
  };
  struct FieldEdit {
    std::uint8_t field = 0;
    bool null = false;
    std::uint16_t bytes = 0;  // of a text
    std::uint32_t at = 0;     // in words_ or texts_
  };

  bool BeginRow(RowId row, Op op, int kind);
  bool EndRow() const;
  const FieldLayout* TakeField(int field);
  bool IsNews(int field, bool same) const;
  bool GoneIsDisjoint() const;
  bool FitsRowsMax() const;

  const RowTable* table_ = nullptr;
  StateHeader header_;
  std::vector<Row> rows_;  // whole and changed
  std::vector<RowId> gone_;
  std::vector<FieldEdit> fields_;
  std::vector<std::int64_t> words_;
  std::string texts_;
  std::vector<int> counts_;  // rows of each kind afterwards
  std::optional<OwnWords> own_;

  const KindLayout* kind_ = nullptr;
  RowView base_row_;
  std::uint64_t mask_ = 0;  // fields of the row begun last
};

}  // namespace parlor::authority

#endif  // PARLOR_AUTHORITY_STATE_EDITS_H_
