// Schema: the kinds of row a game has, declared once. The room holds its rows
// by it, `welcome` carries it to clients as JSON, and both sides lay a row out
// by it, so that a row on the wire names nothing.
//
// Immutable. Row tables, encoders and receivers keep a reference: the schema
// must outlive them, in one place (a moved one is another).
#ifndef PARLOR_AUTHORITY_SCHEMA_H_
#define PARLOR_AUTHORITY_SCHEMA_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace parlor::authority {

// What a field holds, and the words (64-bit numbers) that it is kept in, by
// values.h. The null of any of them is its words at 0 and a bit elsewhere.
enum class FieldType : std::uint8_t {
  kBool,      // 0 or 1
  kInt,       // -kIntMax..kIntMax
  kFloat,     // 1e-4
  kVec2,      // x, y, each as a float
  kVec3,      // x, y, z
  kQuat,      // a packed rotation
  kString,    // no word; at most kStringBytesMax bytes of UTF-8, kept apart
  kPosition,  // x, y, z in millimetres
};
inline constexpr std::size_t kFieldTypes = 8;

// 3 for a kVec3 or kPosition, 0 for a kString.
int WordsOf(FieldType type);
// "bool", "int", "float", "vec2", "vec3", "quat", "string", "position": the
// names that JSON and errors use.
std::string_view NameOf(FieldType type);

// As the game declares them.
struct Field {
  std::string name{};  // 1..32 of a-z, 0-9 and _
  FieldType type = FieldType::kBool;
};

struct Kind {
  std::string name{};  // 1..32 of a-z, 0-9 and _
  std::vector<Field> fields{};
  // A body in space: three fields come before its own, at the indices below.
  bool transform = false;
  // How many there may be at once.
  int rows_max = 1;
};

// The first fields of a transform kind. `teleports` counts them, so that a
// client which missed the snapshot of one still sees it.
inline constexpr int kPositionField = 0;   // "position", kPosition
inline constexpr int kRotationField = 1;   // "rotation", kQuat
inline constexpr int kTeleportsField = 2;  // "teleports", kInt
inline constexpr int kTransformFields = 3;

// As rows are laid out: words in the order of the fields, and the strings
// apart.
struct FieldLayout {
  std::string name;
  FieldType type = FieldType::kBool;
  int word = 0;   // its first
  int words = 0;  // WordsOf(type)
  int text = 0;   // of a kString: which of the kind's strings it is
};

struct KindLayout {
  std::string name;
  std::vector<FieldLayout> fields;  // a transform's three included
  bool transform = false;
  int rows_max = 0;
  int words = 0;  // of all fields
  int texts = 0;
  // A bit a field, from the lowest: what a presence mask may be.
  std::uint64_t all_fields = 0;

  std::optional<int> FieldIndex(std::string_view field) const;
};

class Schema {
 public:
  // InvalidArgument names the place and what is wrong with it:
  // "/kinds/2/fields/0/name: ..." for a name that is none or comes twice,
  // "/kinds/2/rows: ..." for a number outside limits::kRows, "/kinds: ..." for
  // none or more than kKindsMax, or more rows together than limits::kRows has,
  // "/kinds/2/fields: ..." for more than kFieldsMax, a transform's three
  // included.
  static absl::StatusOr<Schema> Create(const std::vector<Kind>& kinds);

  const std::vector<KindLayout>& kinds() const { return kinds_; }
  const KindLayout& kind(int index) const {
    return kinds_[static_cast<std::size_t>(index)];
  }
  std::optional<int> KindIndex(std::string_view kind) const;

  // {"kinds":[{"name":"player","rows":64,"transform":true,
  //            "fields":[{"name":"hp","type":"int"}]}]}
  // without spaces, kinds and fields in their order. A transform's three fields
  // are not listed.
  std::string ToJson() const;

  // What ToJson wrote, or anything that anybody sent instead: InvalidArgument
  // as from Create, or the place with what it should be, as in
  // "/kinds/0/fields: must be an array". Members that are not known here
  // are skipped; nothing of the text is repeated. More than kSchemaBytesMax
  // bytes are refused unread.
  static absl::StatusOr<Schema> Parse(std::string_view json);

 private:
  Schema() = default;

  std::vector<KindLayout> kinds_;
};

}  // namespace parlor::authority

#endif  // PARLOR_AUTHORITY_SCHEMA_H_
