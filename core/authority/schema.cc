#include "parlor/authority/schema.h"

#include <algorithm>
#include <array>
#include <utility>

#include "authority/strict_json.h"
#include "parlor/authority/limits.h"
#include "parlor/status.h"

namespace parlor::authority {
namespace {

struct TypeRow {
  std::string_view name;
  int words;
};

// In the order of FieldType.
constexpr std::array<TypeRow, kFieldTypes> kTypes = {{{"bool", 1},
                                                      {"int", 1},
                                                      {"float", 1},
                                                      {"vec2", 2},
                                                      {"vec3", 3},
                                                      {"quat", 1},
                                                      {"string", 0},
                                                      {"position", 3}}};

const TypeRow& RowOf(FieldType type) {
  return kTypes[static_cast<std::size_t>(type)];
}

template <typename Named>
std::optional<int> IndexOf(const std::vector<Named>& all,
                           std::string_view name) {
  const auto at = std::find_if(all.begin(), all.end(), [&](const Named& one) {
    return one.name == name;
  });
  if (at == all.end()) return std::nullopt;
  return static_cast<int>(at - all.begin());
}

bool IsName(std::string_view name) {
  return !name.empty() && name.size() <= kNameBytesMax &&
         std::all_of(name.begin(), name.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
         });
}

std::string At(std::string_view path, std::size_t index) {
  return std::string(path) + "/" + std::to_string(index);
}

// A name that is none may be anything, and is not repeated.
template <typename Named>
absl::Status CheckName(const std::string& path, std::string_view name,
                       const std::vector<Named>& before) {
  if (!IsName(name)) {
    return InvalidArgument(path + "/name: must be 1 to " +
                           std::to_string(kNameBytesMax) +
                           " of a-z, 0-9 and _");
  }
  if (IndexOf(before, name)) {
    return InvalidArgument(path + "/name: " + std::string(name) +
                           " is there twice");
  }
  return absl::OkStatus();
}

void AddField(KindLayout& kind, const Field& field) {
  const bool text = field.type == FieldType::kString;
  const int words = WordsOf(field.type);
  kind.all_fields |= std::uint64_t{1} << kind.fields.size();
  kind.fields.push_back(
      {field.name, field.type, kind.words, words, text ? kind.texts : 0});
  kind.words += words;
  if (text) ++kind.texts;
}

absl::StatusOr<KindLayout> LayoutOf(const std::string& path, const Kind& kind) {
  KindLayout out;
  out.name = kind.name;
  out.transform = kind.transform;
  out.rows_max = kind.rows_max;
  absl::Status status =
      CheckLimit(limits::kRows, path + "/rows", kind.rows_max);
  if (!status.ok()) return status;
  const std::size_t own_max =
      kFieldsMax - (kind.transform ? std::size_t{kTransformFields} : 0);
  if (kind.fields.size() > own_max) {
    return InvalidArgument(path +
                           "/fields: " + std::to_string(kind.fields.size()) +
                           " are more than " + std::to_string(own_max));
  }
  if (kind.transform) {
    AddField(out, {"position", FieldType::kPosition});
    AddField(out, {"rotation", FieldType::kQuat});
    AddField(out, {"teleports", FieldType::kInt});
  }
  for (std::size_t i = 0; i < kind.fields.size(); ++i) {
    const Field& field = kind.fields[i];
    const std::string field_path = At(path + "/fields", i);
    status = CheckName(field_path, field.name, out.fields);
    if (!status.ok()) return status;
    if (static_cast<std::size_t>(field.type) >= kFieldTypes) {
      return InvalidArgument(field_path + "/type: there is no such type");
    }
    AddField(out, field);
  }
  return out;
}

// --- From JSON ---

// How deep ToJson nests: the schema, its kinds, a kind, its fields, a field.
constexpr int kDepth = 5;
// A little more, for members of later versions.
constexpr int kDepthMax = kDepth + 3;

absl::Status Wrong(const std::string& path, std::string_view must) {
  return InvalidArgument(path + ": must be " + std::string(must));
}

// Escapes are as good as what they stand for.
std::string KeyOf(const JsonItems& item) {
  return TextOf(item.key()).value_or("");
}

bool IsObject(std::string_view value) { return value.front() == '{'; }
bool IsArray(std::string_view value) { return value.front() == '['; }

absl::Status ReadName(const std::string& path, std::string_view value,
                      std::string& name) {
  std::optional<std::string> text = TextOf(value);
  if (!text) return Wrong(path + "/name", "a text");
  name = *std::move(text);
  return absl::OkStatus();
}

absl::StatusOr<FieldType> TypeOf(const std::string& path,
                                 std::string_view value) {
  const std::optional<std::string> name = TextOf(value);
  for (std::size_t i = 0; name && i < kTypes.size(); ++i) {
    if (kTypes[i].name == *name) return static_cast<FieldType>(i);
  }
  return Wrong(path + "/type", "the name of a type");
}

absl::StatusOr<Field> FieldFrom(const std::string& path,
                                std::string_view json) {
  if (!IsObject(json)) return Wrong(path, "an object");
  Field field;
  bool has_type = false;
  for (JsonItems items(json); items.Next();) {
    const std::string key = KeyOf(items);
    if (key == "name") {
      absl::Status status = ReadName(path, items.value(), field.name);
      if (!status.ok()) return status;
    } else if (key == "type") {
      absl::StatusOr<FieldType> type = TypeOf(path, items.value());
      if (!type.ok()) return type.status();
      field.type = *type;
      has_type = true;
    }
  }
  if (!has_type) return Wrong(path + "/type", "the name of a type");
  return field;
}

// Calls take(path, value) for each of an array, and ends with its first error.
template <typename Take>
absl::Status ForEachOf(const std::string& path, std::string_view json,
                       Take&& take) {
  if (!IsArray(json)) return Wrong(path, "an array");
  std::size_t index = 0;
  for (JsonItems items(json); items.Next();) {
    absl::Status status = take(At(path, index++), items.value());
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status ReadKindMember(const std::string& path, const JsonItems& member,
                            Kind& kind) {
  const std::string_view value = member.value();
  const std::string key = KeyOf(member);
  if (key == "name") return ReadName(path, value, kind.name);
  if (key == "rows") {
    const auto rows = WholeOf(value, 0, limits::kRows.ceiling + 1);
    if (!rows) return Wrong(path + "/rows", "a whole number that is in range");
    kind.rows_max = static_cast<int>(*rows);
  } else if (key == "transform") {
    if (value != "true" && value != "false") {
      return Wrong(path + "/transform", "true or false");
    }
    kind.transform = value == "true";
  } else if (key == "fields") {
    return ForEachOf(
        path + "/fields", value,
        [&](const std::string& at, std::string_view json) -> absl::Status {
          absl::StatusOr<Field> field = FieldFrom(at, json);
          if (!field.ok()) return field.status();
          kind.fields.push_back(*std::move(field));
          return absl::OkStatus();
        });
  }
  return absl::OkStatus();
}

absl::StatusOr<Kind> KindFrom(const std::string& path, std::string_view json) {
  if (!IsObject(json)) return Wrong(path, "an object");
  Kind kind;
  // Refused below where it is not there.
  kind.rows_max = 0;
  for (JsonItems items(json); items.Next();) {
    absl::Status status = ReadKindMember(path, items, kind);
    if (!status.ok()) return status;
  }
  return kind;
}

}  // namespace

int WordsOf(FieldType type) { return RowOf(type).words; }

std::string_view NameOf(FieldType type) { return RowOf(type).name; }

std::optional<int> KindLayout::FieldIndex(std::string_view field) const {
  return IndexOf(fields, field);
}

absl::StatusOr<Schema> Schema::Create(const std::vector<Kind>& kinds) {
  if (kinds.empty() || kinds.size() > kKindsMax) {
    return InvalidArgument("/kinds: " + std::to_string(kinds.size()) +
                           " is not in 1.." + std::to_string(kKindsMax));
  }
  Schema schema;
  std::int64_t rows = 0;
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    const std::string path = At("/kinds", i);
    absl::Status status = CheckName(path, kinds[i].name, schema.kinds_);
    if (!status.ok()) return status;
    absl::StatusOr<KindLayout> layout = LayoutOf(path, kinds[i]);
    if (!layout.ok()) return layout.status();
    rows += layout->rows_max;
    schema.kinds_.push_back(*std::move(layout));
  }
  if (rows > limits::kRows.ceiling) {
    return InvalidArgument("/kinds: " + std::to_string(rows) +
                           " rows together are more than " +
                           std::to_string(limits::kRows.ceiling));
  }
  return schema;
}

std::optional<int> Schema::KindIndex(std::string_view kind) const {
  return IndexOf(kinds_, kind);
}

absl::StatusOr<Schema> Schema::Parse(std::string_view json) {
  if (json.size() > kSchemaBytesMax) {
    return InvalidArgument("the schema has more than " +
                           std::to_string(kSchemaBytesMax) + " bytes");
  }
  if (CheckJson(json, kDepthMax) != JsonError::kNone) {
    return InvalidArgument("the schema is not the JSON of one");
  }
  const std::string_view schema = Trimmed(json);
  if (!IsObject(schema)) return Wrong("the schema", "an object");
  std::vector<Kind> kinds;
  for (JsonItems items(schema); items.Next();) {
    if (KeyOf(items) != "kinds") continue;
    absl::Status status = ForEachOf(
        "/kinds", items.value(),
        [&](const std::string& at, std::string_view value) -> absl::Status {
          absl::StatusOr<Kind> kind = KindFrom(at, value);
          if (!kind.ok()) return kind.status();
          kinds.push_back(*std::move(kind));
          return absl::OkStatus();
        });
    if (!status.ok()) return status;
  }
  return Create(kinds);
}

// Names need no escapes.
std::string Schema::ToJson() const {
  std::string json = R"({"kinds":[)";
  for (const KindLayout& kind : kinds_) {
    if (&kind != &kinds_.front()) json += ',';
    json += R"({"name":")" + kind.name + R"(","rows":)" +
            std::to_string(kind.rows_max) + R"(,"transform":)" +
            (kind.transform ? "true" : "false") + R"(,"fields":[)";
    const std::size_t first =
        kind.transform ? std::size_t{kTransformFields} : 0;
    for (std::size_t i = first; i < kind.fields.size(); ++i) {
      if (i > first) json += ',';
      json += R"({"name":")" + kind.fields[i].name + R"(","type":")";
      json += NameOf(kind.fields[i].type);
      json += R"("})";
    }
    json += "]}";
  }
  return json + "]}";
}

}  // namespace parlor::authority
