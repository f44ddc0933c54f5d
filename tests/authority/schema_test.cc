#include "parlor/authority/schema.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "authority/state_schema.h"
#include "parlor/authority/limits.h"
#include "support/status_matchers.h"

namespace parlor::authority {
namespace {

TEST(SchemaTest, LaysFieldsOutInTheirOrder) {
  const Schema schema = MakeSchema(TestKinds());
  const KindLayout& thing = schema.kind(kThing);
  EXPECT_EQ(thing.words, 1 + 1 + 1 + 2 + 3 + 1 + 3);
  EXPECT_EQ(thing.texts, 2);
  EXPECT_EQ(thing.all_fields, 0x1ffu);
  EXPECT_EQ(thing.fields[kUv].word, 3);
  EXPECT_EQ(thing.fields[kPlace].word, 9);
  EXPECT_EQ(thing.fields[kPlace].words, 3);
  EXPECT_EQ(thing.fields[kLabel].text, 0);
  EXPECT_EQ(thing.fields[kNote].text, 1);
}

TEST(SchemaTest, ATransformHasItsFieldsBeforeItsOwn) {
  const Schema schema = MakeSchema(TestKinds());
  const KindLayout& player = schema.kind(kPlayer);
  EXPECT_EQ(player.FieldIndex("position"), kPositionField);
  EXPECT_EQ(player.FieldIndex("rotation"), kRotationField);
  EXPECT_EQ(player.FieldIndex("teleports"), kTeleportsField);
  EXPECT_EQ(player.FieldIndex("hp"), kHp);
  EXPECT_EQ(player.FieldIndex("mana"), std::nullopt);
  EXPECT_EQ(schema.KindIndex("mark"), kMark);
  EXPECT_EQ(schema.KindIndex("position"), std::nullopt);
}

TEST(SchemaTest, IsToldAsJson) {
  EXPECT_EQ(MakeSchema({{.name = "body",
                         .fields = {{"hp", FieldType::kInt},
                                    {"home", FieldType::kPosition}},
                         .transform = true,
                         .rows_max = 64},
                        {.name = "flag", .fields = {}, .rows_max = 1}})
                .ToJson(),
            R"({"kinds":[{"name":"body","rows":64,"transform":true,"fields":[)"
            R"({"name":"hp","type":"int"},{"name":"home","type":"position"}]},)"
            R"({"name":"flag","rows":1,"transform":false,"fields":[]}]})");
}

struct RefusedRow {
  std::string name;
  std::vector<Kind> kinds;
  std::string error;
};

std::vector<Field> Fields(int count) {
  std::vector<Field> fields;
  for (int i = 0; i < count; ++i) {
    fields.push_back({"f" + std::to_string(i), FieldType::kBool});
  }
  return fields;
}

std::vector<Kind> Kinds(int count, int rows_max) {
  std::vector<Kind> kinds;
  for (int i = 0; i < count; ++i) {
    kinds.push_back(
        {.name = "k" + std::to_string(i), .fields = {}, .rows_max = rows_max});
  }
  return kinds;
}

Kind WithField(std::string name, FieldType type = FieldType::kInt) {
  return {.name = "k", .fields = {{std::move(name), type}}};
}

const RefusedRow kRefused[] = {
    {"NoKind", {}, "/kinds: 0 is not in 1..255"},
    {"TooManyKinds", Kinds(256, 1), "/kinds: 256 is not in 1..255"},
    {"NoName",
     {{.name = ""}},
     "/kinds/0/name: must be 1 to 32 of a-z, 0-9 and _"},
    {"LongName",
     {{.name = std::string(33, 'a')}},
     "/kinds/0/name: must be 1 to 32 of a-z, 0-9 and _"},
    {"Letters",
     {{.name = "a"}, {.name = "Bad"}},
     "/kinds/1/name: must be 1 to 32 of a-z, 0-9 and _"},
    {"KindTwice",
     {{.name = "a"}, {.name = "a"}},
     "/kinds/1/name: a is there twice"},
    {"FieldName",
     {WithField("h p")},
     "/kinds/0/fields/0/name: must be 1 to 32 of a-z, 0-9 and _"},
    {"FieldTwice",
     {{.name = "k",
       .fields = {{"a", FieldType::kInt}, {"a", FieldType::kBool}}}},
     "/kinds/0/fields/1/name: a is there twice"},
    {"TransformsOwn",
     {{.name = "k",
       .fields = {{"rotation", FieldType::kInt}},
       .transform = true}},
     "/kinds/0/fields/0/name: rotation is there twice"},
    {"Type",
     {WithField("a", static_cast<FieldType>(8))},
     "/kinds/0/fields/0/type: there is no such type"},
    {"TooManyFields",
     {{.name = "k", .fields = Fields(65)}},
     "/kinds/0/fields: 65 are more than 64"},
    {"TooManyWithATransform",
     {{.name = "k", .fields = Fields(62), .transform = true}},
     "/kinds/0/fields: 62 are more than 61"},
    {"NoRows",
     {{.name = "k", .fields = {}, .rows_max = 0}},
     "/kinds/0/rows: 0 is not in 1..65536"},
    {"RowsTogether", Kinds(2, 32'769),
     "/kinds: 65538 rows together are more than 65536"},
};

class RefusedSchemaTest : public testing::TestWithParam<RefusedRow> {};

TEST_P(RefusedSchemaTest, NamesThePlace) {
  EXPECT_THAT(Schema::Create(GetParam().kinds),
              StatusIs(absl::StatusCode::kInvalidArgument, GetParam().error));
}

INSTANTIATE_TEST_SUITE_P(All, RefusedSchemaTest, testing::ValuesIn(kRefused),
                         [](const auto& row) { return row.param.name; });

TEST(SchemaTest, TakesItsLargest) {
  EXPECT_THAT(Schema::Create(Kinds(255, 64)), IsOk());
  EXPECT_THAT(Schema::Create({{.name = "k", .fields = Fields(64)}}), IsOk());
  EXPECT_THAT(
      Schema::Create({{.name = "k", .fields = Fields(61), .transform = true}}),
      IsOk());
  const Schema schema = MakeSchema({{.name = "k", .fields = Fields(64)}});
  EXPECT_EQ(schema.kind(0).all_fields, ~std::uint64_t{0});
}

TEST(SchemaTest, IsReadBackFromItsJson) {
  for (const auto& kinds :
       {TestKinds(), Kinds(255, 64),
        std::vector<Kind>{
            {.name = "k", .fields = Fields(61), .transform = true}}}) {
    const std::string json = MakeSchema(kinds).ToJson();
    const absl::StatusOr<Schema> schema = Schema::Parse(json);
    ASSERT_THAT(schema, IsOk());
    EXPECT_EQ(schema->ToJson(), json);
  }
}

TEST(SchemaTest, SkipsWhatLaterVersionsAdd) {
  const absl::StatusOr<Schema> schema = Schema::Parse(
      R"( {"later":[{"x":1}],"kinds":[ {"name":"k","rows":2,"colour":"red",)"
      R"("fields":[{"type":"quat","n\u0061me":"q","unit":null}]} ]} )");
  ASSERT_THAT(schema, IsOk());
  EXPECT_EQ(schema->ToJson(),
            R"({"kinds":[{"name":"k","rows":2,"transform":false,)"
            R"("fields":[{"name":"q","type":"quat"}]}]})");
}

TEST(SchemaTest, TheLargestIsNotTooLarge) {
  std::vector<Kind> kinds;
  for (int i = 0; i < 255; ++i) {
    const std::string number = std::to_string(1'000 + i);
    kinds.push_back({.name = std::string(28, 'k') + number, .rows_max = 64});
    for (int n = 0; n < 64; ++n) {
      kinds.back().fields.push_back(
          {std::string(28, 'f') + std::to_string(1'000 + n),
           FieldType::kPosition});
    }
  }
  const Schema schema = MakeSchema(kinds);
  EXPECT_THAT(Schema::Parse(schema.ToJson()), IsOk());
  EXPECT_THAT(Schema::Parse(std::string(kSchemaBytesMax + 1, ' ')),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "the schema has more than 2097152 bytes"));
}

struct BadJson {
  std::string name;
  std::string json;
  std::string error;
};

const BadJson kBadJson[] = {
    {"Empty", "", "the schema is not the JSON of one"},
    {"Cut", R"({"kinds":[)", "the schema is not the JSON of one"},
    {"KeyTwice", R"({"kinds":[],"kinds":[]})",
     "the schema is not the JSON of one"},
    {"Deep", R"({"a":[[[[[[[[1]]]]]]]]})", "the schema is not the JSON of one"},
    {"Array", "[]", "the schema: must be an object"},
    {"Text", R"("kinds")", "the schema: must be an object"},
    {"NoKinds", "{}", "/kinds: 0 is not in 1..255"},
    {"Kinds", R"({"kinds":{}})", "/kinds: must be an array"},
    {"Kind", R"({"kinds":[7]})", "/kinds/0: must be an object"},
    {"NoName", R"({"kinds":[{"rows":1}]})",
     "/kinds/0/name: must be 1 to 32 of a-z, 0-9 and _"},
    {"Name", R"({"kinds":[{"name":1,"rows":1}]})",
     "/kinds/0/name: must be a text"},
    {"NoRows", R"({"kinds":[{"name":"k"}]})",
     "/kinds/0/rows: 0 is not in 1..65536"},
    {"Rows", R"({"kinds":[{"name":"k","rows":1.5}]})",
     "/kinds/0/rows: must be a whole number that is in range"},
    {"RowsFar", R"({"kinds":[{"name":"k","rows":4294967297}]})",
     "/kinds/0/rows: must be a whole number that is in range"},
    {"Transform", R"({"kinds":[{"name":"k","rows":1,"transform":1}]})",
     "/kinds/0/transform: must be true or false"},
    {"Fields", R"({"kinds":[{"name":"k","rows":1,"fields":"x"}]})",
     "/kinds/0/fields: must be an array"},
    {"Field", R"({"kinds":[{"name":"k","rows":1,"fields":[null]}]})",
     "/kinds/0/fields/0: must be an object"},
    {"NoType", R"({"kinds":[{"name":"k","rows":1,"fields":[{"name":"f"}]}]})",
     "/kinds/0/fields/0/type: must be the name of a type"},
    {"Type",
     R"({"kinds":[{"name":"k","rows":1,"fields":[{"name":"f","type":"u8"}]}]})",
     "/kinds/0/fields/0/type: must be the name of a type"},
};

class BadJsonSchemaTest : public testing::TestWithParam<BadJson> {};

TEST_P(BadJsonSchemaTest, NamesThePlace) {
  EXPECT_THAT(Schema::Parse(GetParam().json),
              StatusIs(absl::StatusCode::kInvalidArgument, GetParam().error));
}

INSTANTIATE_TEST_SUITE_P(All, BadJsonSchemaTest, testing::ValuesIn(kBadJson),
                         [](const auto& row) { return row.param.name; });

}  // namespace
}  // namespace parlor::authority
