#include "authority/json_state_reader.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <system_error>
#include <utility>

#include "authority/strict_json.h"
#include "parlor/authority/frames.h"
#include "parlor/authority/limits.h"

namespace parlor::authority {
namespace {

constexpr std::int64_t kU32Max = std::numeric_limits<std::uint32_t>::max();
constexpr std::array kKinds = {StateKind::kBaseline, StateKind::kDelta,
                               StateKind::kRecovery};

// A key without its quotes; `store` keeps it if there are escapes to undo.
std::string_view KeyOf(std::string_view quoted, std::string& store) {
  if (quoted.find('\\') == std::string_view::npos) {
    return quoted.substr(1, quoted.size() - 2);
  }
  store = *TextOf(quoted);
  return store;
}

bool IsObject(std::string_view value) { return value.starts_with('{'); }
bool IsArray(std::string_view value) { return value.starts_with('['); }

// The members of a message; empty where it has none.
struct Members {
  std::string_view t;
  std::string_view epoch;
  std::string_view base;
  std::string_view tick;
  std::string_view rows;
  std::string_view set;
  std::string_view gone;
  std::string_view own;
};

Members MembersOf(std::string_view object) {
  Members members;
  std::string store;
  for (JsonItems items(object); items.Next();) {
    const std::string_view key = KeyOf(items.key(), store);
    if (key == "t") members.t = items.value();
    if (key == "epoch") members.epoch = items.value();
    if (key == "base") members.base = items.value();
    if (key == "tick") members.tick = items.value();
    if (key == "rows") members.rows = items.value();
    if (key == "set") members.set = items.value();
    if (key == "gone") members.gone = items.value();
    if (key == "own") members.own = items.value();
  }
  return members;
}

bool ReadU32(std::string_view value, std::uint32_t& out) {
  const auto whole = WholeOf(value, 0, kU32Max);
  if (!whole) return false;
  out = static_cast<std::uint32_t>(*whole);
  return true;
}

bool ReadHeader(const Members& members, StateHeader& header) {
  const std::optional<std::string> t = TextOf(members.t);
  if (!t) return false;
  for (const StateKind kind : kKinds) {
    if (*t != NameOf(kind)) continue;
    header.kind = kind;
    return ReadU32(members.epoch, header.epoch) &&
           (kind == StateKind::kRecovery ||
            ReadU32(members.base, header.base)) &&
           ReadU32(members.tick, header.tick);
  }
  return false;
}

// The number of a decimal, by values.h.
bool ReadDecimal(std::string_view value, std::int64_t& out) {
  double number = 0;
  const char* const end = value.data() + value.size();
  const auto [at, error] = std::from_chars(value.data(), end, number);
  if (error != std::errc() || at != end) return false;
  if (!(std::abs(number) <= static_cast<double>(kFloatMax))) return false;
  // A decimal of four places is no more than 2^-9 away from its number here:
  // 1e13 is below 2^44, and a double has 53 bits.
  out = std::llround(number * 1e4);
  return true;
}

bool ReadInteger(std::string_view value, std::int64_t& out) {
  const auto whole = WholeOf(value, -kIntMax, kIntMax);
  if (whole) out = *whole;
  return whole.has_value();
}

using ReadOne = bool (*)(std::string_view value, std::int64_t& out);

// [1,2,3], as many as `out` has.
bool ReadList(std::string_view value, ReadOne read,
              std::span<std::int64_t> out) {
  if (!IsArray(value)) return false;
  std::size_t count = 0;
  for (JsonItems items(value); items.Next(); ++count) {
    if (count == out.size() || !read(items.value(), out[count])) return false;
  }
  return count == out.size();
}

bool ReadBool(std::string_view value, bool& out) {
  out = value == "true";
  return out || value == "false";
}

bool ReadWords(FieldType type, std::string_view value,
               std::span<std::int64_t> words) {
  switch (type) {
    case FieldType::kBool: {
      bool on = false;
      if (!ReadBool(value, on)) return false;
      words[0] = on ? 1 : 0;
      return true;
    }
    case FieldType::kInt:
    case FieldType::kQuat:
      return ReadInteger(value, words[0]);
    case FieldType::kFloat:
      return ReadDecimal(value, words[0]);
    case FieldType::kVec2:
    case FieldType::kVec3:
      return ReadList(value, ReadDecimal, words);
    case FieldType::kPosition:
      return ReadList(value, ReadInteger, words);
    case FieldType::kString:
      return false;
  }
  return false;
}

bool ReadField(std::string_view name, std::string_view value,
               StateEdits& edits) {
  const std::optional<int> index = edits.kind().FieldIndex(name);
  if (!index) return false;
  if (value == "null") return edits.Null(*index);
  const FieldLayout& field =
      edits.kind().fields[static_cast<std::size_t>(*index)];
  if (field.type == FieldType::kString) {
    const std::optional<std::string> text = TextOf(value);
    return text && edits.Text(*index, *text);
  }
  std::array<std::int64_t, 3> store{};
  const std::span<std::int64_t> words(store.data(),
                                      static_cast<std::size_t>(field.words));
  return ReadWords(field.type, value, words) && edits.Words(*index, words);
}

// {"id":12,"kind":"player","f":{"hp":5}}; without "kind" one that the baseline
// has.
bool ReadRow(std::string_view row, const Schema& schema, StateEdits& edits) {
  if (!IsObject(row)) return false;
  std::string_view id_text;
  std::string_view kind_text;
  std::string_view fields;
  std::string store;
  for (JsonItems items(row); items.Next();) {
    const std::string_view key = KeyOf(items.key(), store);
    if (key == "id") id_text = items.value();
    if (key == "kind") kind_text = items.value();
    if (key == "f") fields = items.value();
  }
  std::uint32_t id = 0;
  if (!ReadU32(id_text, id) || !IsObject(fields)) return false;
  if (kind_text.empty()) {
    if (!edits.Changed(id)) return false;
  } else {
    const std::optional<std::string> name = TextOf(kind_text);
    const std::optional<int> kind =
        name ? schema.KindIndex(*name) : std::nullopt;
    if (!kind || !edits.Whole(id, *kind)) return false;
  }
  for (JsonItems items(fields); items.Next();) {
    if (!ReadField(KeyOf(items.key(), store), items.value(), edits)) {
      return false;
    }
  }
  return true;
}

bool ReadRows(std::string_view rows, const Schema& schema, StateEdits& edits) {
  if (!IsArray(rows)) return false;
  for (JsonItems items(rows); items.Next();) {
    if (!ReadRow(items.value(), schema, edits)) return false;
  }
  return true;
}

bool ReadGone(std::string_view gone, StateEdits& edits) {
  if (!IsArray(gone)) return false;
  for (JsonItems items(gone); items.Next();) {
    std::uint32_t id = 0;
    if (!ReadU32(items.value(), id) || !edits.Gone(id)) return false;
  }
  return true;
}

bool ReadOwn(std::string_view own, StateEdits& edits) {
  if (!IsObject(own)) return false;
  std::string_view seq;
  std::string_view position_text;
  std::string_view velocity;
  std::string_view grounded;
  std::string store;
  for (JsonItems items(own); items.Next();) {
    const std::string_view key = KeyOf(items.key(), store);
    if (key == "seq") seq = items.value();
    if (key == "position") position_text = items.value();
    if (key == "velocity") velocity = items.value();
    if (key == "grounded") grounded = items.value();
  }
  OwnWords words;
  std::array<std::int64_t, 3> position{};
  if (!ReadU32(seq, words.seq) ||
      !ReadList(position_text, ReadInteger, position) ||
      !ReadList(velocity, ReadDecimal, words.velocity) ||
      !ReadBool(grounded, words.grounded)) {
    return false;
  }
  for (std::size_t i = 0; i < position.size(); ++i) {
    if (!std::in_range<std::int32_t>(position[i])) return false;
    words.position[i] = static_cast<std::int32_t>(position[i]);
  }
  return edits.SetOwn(words);
}

bool ReadBody(const Members& members, const StateHeader& header,
              const Schema& schema, StateEdits& edits) {
  if (header.kind != StateKind::kDelta) {
    return ReadRows(members.rows, schema, edits);
  }
  return ReadRows(members.set, schema, edits) &&
         ReadGone(members.gone, edits) &&
         (members.own.empty() || ReadOwn(members.own, edits));
}

}  // namespace

std::string_view NameOf(StateKind kind) {
  switch (kind) {
    case StateKind::kBaseline:
      return "baseline";
    case StateKind::kDelta:
      return "delta";
    case StateKind::kRecovery:
      return "recovery";
  }
  return {};
}

DecodeResult ReadJsonState(std::string_view text, const RowTable& table,
                           StateEdits& edits) {
  // The message itself, and its members as deep as any frame's.
  if (CheckJson(text, 1 + kDepthMax) != JsonError::kNone) {
    return DecodeResult::kMalformed;
  }
  const Members members = MembersOf(text);
  StateHeader header;
  if (!ReadHeader(members, header)) return DecodeResult::kMalformed;
  const bool begun = edits.Begin(header, table);
  if (!StateEdits::IsFor(header, table)) return DecodeResult::kOther;
  if (!begun || !ReadBody(members, header, table.schema(), edits) ||
      !edits.Finish()) {
    return DecodeResult::kMalformed;
  }
  return DecodeResult::kDecoded;
}

}  // namespace parlor::authority
