// Rows as a test knows them: plain values, compared and shown without any code
// of the row table's.
#ifndef PARLOR_TESTS_AUTHORITY_STATE_MODEL_H_
#define PARLOR_TESTS_AUTHORITY_STATE_MODEL_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "parlor/authority/row_table.h"
#include "parlor/authority/schema.h"

namespace parlor::authority {

// A field as the numbers of values.h; a null has none and no text.
struct ModelField {
  bool null = false;
  std::vector<std::int64_t> words;
  std::string text;

  friend bool operator==(const ModelField&, const ModelField&) = default;
};

struct ModelRow {
  int kind = 0;
  std::vector<ModelField> fields;

  friend bool operator==(const ModelRow&, const ModelRow&) = default;
};

using ModelRows = std::map<RowId, ModelRow>;

// As Add makes it.
inline ModelRow NewModelRow(const Schema& schema, int kind) {
  ModelRow row{kind, {}};
  for (const FieldLayout& field : schema.kind(kind).fields) {
    row.fields.push_back(
        {false, std::vector<std::int64_t>(WordsOf(field.type), 0), ""});
  }
  return row;
}

inline ModelRow ModelOf(const RowView& view) {
  ModelRow row{view.kind_index(), {}};
  for (std::size_t f = 0; f < view.kind().fields.size(); ++f) {
    const FieldLayout& field = view.kind().fields[f];
    ModelField value;
    value.null = view.IsNull(static_cast<int>(f));
    const auto words = view.words(field);
    if (!value.null) value.words.assign(words.begin(), words.end());
    if (!value.null && field.type == FieldType::kString) {
      value.text = view.text(field);
    }
    row.fields.push_back(value);
  }
  return row;
}

inline ModelRows ModelOf(const RowTable& table) {
  ModelRows rows;
  table.ForEach([&rows](const RowView& row) { rows[row.id()] = ModelOf(row); });
  return rows;
}

// A line a row that is not the same in both: what a failed comparison says.
inline std::string Difference(const ModelRows& want, const ModelRows& got) {
  std::ostringstream out;
  const auto show = [&out](const char* who, RowId id, const ModelRow& row) {
    out << who << " row " << id << " kind " << row.kind << ':';
    for (const ModelField& field : row.fields) {
      out << " [" << (field.null ? "null" : "");
      for (const std::int64_t word : field.words) out << ' ' << word;
      if (!field.text.empty()) out << " text of " << field.text.size();
      out << ']';
    }
    out << '\n';
  };
  for (const auto& [id, row] : want) {
    const auto other = got.find(id);
    if (other == got.end() || other->second != row) show("want", id, row);
  }
  for (const auto& [id, row] : got) {
    const auto other = want.find(id);
    if (other == want.end() || other->second != row) show("got ", id, row);
  }
  return out.str();
}

}  // namespace parlor::authority

#endif  // PARLOR_TESTS_AUTHORITY_STATE_MODEL_H_
