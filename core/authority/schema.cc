#include "parlor/authority/schema.h"

#include <algorithm>
#include <array>
#include <utility>

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
