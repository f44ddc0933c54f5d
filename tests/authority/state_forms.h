// What holds of whatever a client applied, for tests that damage messages.
#ifndef PARLOR_TESTS_AUTHORITY_STATE_FORMS_H_
#define PARLOR_TESTS_AUTHORITY_STATE_FORMS_H_

#include <cstddef>
#include <vector>

#include "authority/state_frames.h"
#include "authority/state_model.h"
#include "parlor/authority/row_table.h"
#include "parlor/authority/schema.h"
#include "parlor/authority/state_edits.h"
#include "parlor/authority/state_receiver.h"
#include "parlor/authority/values.h"
#include "parlor/authority/wire_state_codec.h"
#include "parlor/check.h"

namespace parlor::authority {

// The rows are as many as the schema allows, and messages can say them.
inline void CheckRows(const RowTable& rows) {
  const Schema& schema = rows.schema();
  std::vector<int> counts(schema.kinds().size());
  rows.ForEach([&counts](const RowView& row) {
    ++counts[static_cast<std::size_t>(row.kind_index())];
  });
  for (std::size_t k = 0; k < counts.size(); ++k) {
    PARLOR_CHECK(counts[k] <= schema.kinds()[k].rows_max);
  }
  for (const WireStateCodec* codec : {&JsonStateCodec(), &BinaryStateCodec()}) {
    StateReceiver other(schema);
    PARLOR_CHECK(
        other.Apply(codec->message_kind(), WriteRecovery(*codec, rows, 1)) ==
        StateOutcome::kRecovery);
    PARLOR_CHECK(ModelOf(other.rows()) == ModelOf(rows));
  }
}

// A client that takes every message for news, be it old or new.
class StateForms {
 public:
  explicit StateForms(const Schema& schema)
      : state_(schema), recovery_(schema) {}

  // Whether the message was taken. What it made of the rows is written again,
  // and is the same bytes; or, of JSON, some that say the same.
  bool Check(const WireStateCodec& codec, const std::vector<std::byte>& bytes) {
    if (codec.Decode(bytes, state_, edits_) != DecodeResult::kDecoded) {
      return false;
    }
    const StateHeader header = edits_.header();
    RowTable& table = header.kind == StateKind::kRecovery ? recovery_ : state_;
    table.Apply(edits_);
    const OwnWords* own = edits_.own() ? &*edits_.own() : nullptr;
    const auto again = WriteState(codec, header, table, own);
    PARLOR_CHECK(codec.message_kind() == MessageKind::kText || again == bytes);
    const ModelRows rows = ModelOf(table);
    PARLOR_CHECK(codec.Decode(again, state_, edits_) == DecodeResult::kDecoded);
    table.Apply(edits_);
    PARLOR_CHECK(ModelOf(table) == rows);
    return true;
  }

 private:
  RowTable state_;
  RowTable recovery_;
  StateEdits edits_;
};

}  // namespace parlor::authority

#endif  // PARLOR_TESTS_AUTHORITY_STATE_FORMS_H_
