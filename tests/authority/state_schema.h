// A schema that has every type of field, for tests of state.
#ifndef PARLOR_TESTS_AUTHORITY_STATE_SCHEMA_H_
#define PARLOR_TESTS_AUTHORITY_STATE_SCHEMA_H_

#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "parlor/authority/schema.h"
#include "parlor/check.h"

namespace parlor::authority {

// Kinds, by index.
inline constexpr int kPlayer = 0;  // a transform
inline constexpr int kThing = 1;
inline constexpr int kMark = 2;  // without a field

// Fields of a player, behind a transform's.
inline constexpr int kHp = 3;
inline constexpr int kName = 4;

// Fields of a thing.
inline constexpr int kOpen = 0;
inline constexpr int kCount = 1;
inline constexpr int kHeat = 2;
inline constexpr int kUv = 3;
inline constexpr int kColour = 4;
inline constexpr int kFacing = 5;
inline constexpr int kLabel = 6;
inline constexpr int kPlace = 7;
inline constexpr int kNote = 8;

inline std::vector<Kind> TestKinds() {
  return {{.name = "player",
           .fields = {{"hp", FieldType::kInt}, {"name", FieldType::kString}},
           .transform = true,
           .rows_max = 100},
          {.name = "thing",
           .fields = {{"open", FieldType::kBool},
                      {"count", FieldType::kInt},
                      {"heat", FieldType::kFloat},
                      {"uv", FieldType::kVec2},
                      {"colour", FieldType::kVec3},
                      {"facing", FieldType::kQuat},
                      {"label", FieldType::kString},
                      {"place", FieldType::kPosition},
                      {"note", FieldType::kString}},
           .rows_max = 3},
          {.name = "mark", .fields = {}, .rows_max = 200}};
}

inline Schema MakeSchema(const std::vector<Kind>& kinds) {
  absl::StatusOr<Schema> schema = Schema::Create(kinds);
  PARLOR_CHECK(schema.ok());
  return *std::move(schema);
}

}  // namespace parlor::authority

#endif  // PARLOR_TESTS_AUTHORITY_STATE_SCHEMA_H_
