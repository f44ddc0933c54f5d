#include "parlor/lockstep/state_description.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "parlor/lockstep/state_hash.h"
#include "support/counting_allocator.h"
#include "support/entity_game.h"
#include "support/hex.h"
#include "support/status_matchers.h"

namespace parlor::test {
namespace {

using lockstep::CheckSchema;
using lockstep::CheckState;
using lockstep::CompareStates;
using lockstep::HashState;
using lockstep::HashState64;
using lockstep::LoadState;
using lockstep::SaveState;
using lockstep::SchemaOf;
using lockstep::StateDifference;
using lockstep::StateField;
using lockstep::StateSchema;
using lockstep::StateText;
using lockstep::StateType;

// One of everything; padded, so that no field lies as it is saved.
struct Part {
  bool on = false;
  std::uint16_t wide = 0;
  Mood mood = Mood::kCalm;
  double height = 0;
};
template <class Fields>
void DescribeState(Fields& fields, Part& part) {
  fields("on", part.on)("wide", part.wide)("mood", part.mood, kMoods);
  fields("height", part.height);
}

struct Whole {
  std::int8_t tiny = 0;
  std::int64_t deep = 0;
  float warm = 0;
  std::array<std::uint8_t, 4> key{};
  std::array<Part, 2> parts{};
  std::vector<Part> more{};
  std::vector<std::vector<std::uint16_t>> rows{};
  int grid[2][2] = {};
  std::array<Mood, 2> moods{};
};
template <class Fields>
void DescribeState(Fields& fields, Whole& whole) {
  fields("tiny", whole.tiny)("deep", whole.deep)("warm", whole.warm);
  fields.Block("key", whole.key);
  fields("parts", whole.parts)("more", whole.more)("rows", whole.rows);
  fields("grid", whole.grid)("moods", whole.moods, kMoods);
}

Whole Sample() {
  Whole whole{.tiny = -2, .deep = -3, .warm = 0.5f, .key = {1, 2, 3, 4}};
  whole.parts[1] = {.on = true, .wide = 0x1234, .mood = Mood::kAngry};
  whole.parts[1].height = -0.0;
  whole.more.push_back({.on = true, .wide = 7});
  whole.rows = {{1, 2}, {}};
  whole.grid[1][0] = 9;
  whole.moods[1] = Mood::kAsleep;
  return whole;
}

template <class T>
std::vector<std::byte> Saved(const T& value) {
  std::vector<std::byte> bytes;
  EXPECT_TRUE(SaveState(value, bytes));
  return bytes;
}

std::vector<StateDifference> Differences(const Whole& a, const Whole& b) {
  return CompareStates(SchemaOf<Whole>(), Saved(a), Saved(b)).differences;
}

TEST(StateDescriptionTest, TheBytesAreTheFieldsInOrder) {
  EXPECT_EQ(Hex(Saved(Sample())),
            "fe"
            "fdffffffffffffff"
            "0000003f"
            "01020304"
            "00"
            "0000"
            "00"
            "0000000000000000"
            "01"
            "3412"
            "01"
            "0000000000000080"
            "01000000"
            "01"
            "0700"
            "00"
            "0000000000000000"
            "02000000"
            "02000000"
            "01000200"
            "00000000"
            "00000000000000000900000000000000"
            "0002");
  EXPECT_THAT(CheckState(SchemaOf<Whole>(), Saved(Sample())), IsOk());
}

TEST(StateDescriptionTest, WhatWasSavedIsLoaded) {
  Whole loaded;
  loaded.more.resize(5);
  ASSERT_THAT(LoadState(Saved(Sample()), loaded), IsOk());
  EXPECT_EQ(Saved(loaded), Saved(Sample()));
  EXPECT_EQ(loaded.parts[1].mood, Mood::kAngry);
  EXPECT_TRUE(std::signbit(loaded.parts[1].height));
}

TEST(StateDescriptionTest, WhatIsNoStateIsNotLoaded) {
  const std::vector<std::byte> right = Saved(Sample());
  Whole loaded = Sample();
  loaded.tiny = 5;
  const std::vector<std::byte> before = Saved(loaded);
  for (std::size_t size = 0; size < right.size(); ++size) {
    const auto cut = std::span(right).first(size);
    EXPECT_THAT(LoadState(cut, loaded),
                StatusIs(absl::StatusCode::kInvalidArgument));
    EXPECT_THAT(CheckState(SchemaOf<Whole>(), cut),
                StatusIs(absl::StatusCode::kInvalidArgument));
  }
  std::vector<std::byte> wrong = right;
  wrong.push_back({});
  EXPECT_FALSE(LoadState(wrong, loaded).ok());
  EXPECT_FALSE(CheckState(SchemaOf<Whole>(), wrong).ok());
  wrong = right;
  wrong[17] = std::byte{2};  // parts[0].on
  EXPECT_FALSE(LoadState(wrong, loaded).ok());
  wrong = right;
  wrong[20] = std::byte{3};  // parts[0].mood
  EXPECT_FALSE(LoadState(wrong, loaded).ok());
  wrong = right;
  wrong.back() = std::byte{3};  // moods[1]
  EXPECT_FALSE(LoadState(wrong, loaded).ok());
  // more.size, of which no program should allocate 4 billion.
  wrong = right;
  wrong[44] = wrong[43] = wrong[42] = std::byte{0xff};
  EXPECT_FALSE(LoadState(wrong, loaded).ok());
  EXPECT_THAT(CheckState(SchemaOf<Whole>(), wrong),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       testing::HasSubstr("byte 45: ")));
  EXPECT_EQ(Saved(loaded), before);
}

TEST(StateDescriptionTest, AGameRefusesWhatItsStepCannotRun) {
  EntityWorld world{.entities = std::vector<Entity>(1)};
  EXPECT_THAT(LoadState(Saved(EntityWorld()), world),
              StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_EQ(world.entities.size(), 1u);
}

TEST(StateDescriptionTest, ASizeIsNotExceeded) {
  const std::size_t size = Saved(Sample()).size();
  std::vector<std::byte> out;
  EXPECT_FALSE(SaveState(Sample(), out, size - 1));
  EXPECT_TRUE(SaveState(Sample(), out, size));
  const EntityWorld world{.entities = std::vector<Entity>(100)};
  std::vector<std::byte> bytes;
  EXPECT_FALSE(SaveState(world, bytes, 3'000));
  EXPECT_LE(bytes.capacity(), 3'000u);
  EXPECT_TRUE(SaveState(world, bytes));
}

TEST(StateDescriptionTest, SavingAndHashingAgainAllocatesNothing) {
  const EntityWorld world{.entities = std::vector<Entity>(100)};
  std::vector<std::byte> bytes = Saved(world);
  HashState(world);
  const std::uint64_t before = parlor_allocation_count();
  SaveState(world, bytes);
  HashState(world);
  EXPECT_EQ(parlor_allocation_count(), before);
}

// The same fields in another order of memory, so that they are saved one by
// one.
struct Shuffled : Entity {
  std::uint8_t gap = 0;
};
template <class Fields>
void DescribeState(Fields& fields, Shuffled& entity) {
  DescribeState(fields, static_cast<Entity&>(entity));
}

TEST(StateDescriptionTest, HowAnArrayIsCopiedChangesNoByte) {
  EXPECT_TRUE(lockstep::state::LiesAsSaved<Entity>());
  EXPECT_FALSE(lockstep::state::LiesAsSaved<Shuffled>());
  EXPECT_FALSE(lockstep::state::LiesAsSaved<Part>());
  std::vector<Entity> whole(1'000);
  std::vector<Shuffled> fields(1'000);
  for (std::size_t i = 0; i < whole.size(); ++i) {
    whole[i] = {.x = static_cast<std::int32_t>(i * 77), .id = i << 40};
    static_cast<Entity&>(fields[i]) = whole[i];
  }
  EXPECT_EQ(Saved(whole), Saved(fields));
  EXPECT_EQ(HashState64(whole), HashState64(fields));
}

// On every compiler and in every build.
TEST(StateHashTest, IsPinned) {
  EXPECT_EQ(HashState64(Sample()), 8061246900679959056u);
  EXPECT_EQ(HashState64(std::vector<Entity>(10'000)), 5476866104932223271u);
}

TEST(StateHashTest, OrderCounts) {
  EntityWorld world{.entities = std::vector<Entity>(100)};
  world.entities[3].x = 1;
  world.entities[4].x = 2;
  const std::uint64_t before = HashState64(world);
  std::swap(world.entities[3], world.entities[4]);
  EXPECT_NE(HashState64(world), before);
  std::swap(world.entities[3], world.entities[4]);
  std::swap(world.entities[3].x, world.entities[3].y);
  EXPECT_NE(HashState64(world), before);
  std::swap(world.entities[3].x, world.entities[3].y);
  EXPECT_EQ(HashState64(world), before);
}

TEST(StateSchemaTest, DifferencesHavePathsAndValues) {
  Whole other = Sample();
  EXPECT_TRUE(Differences(Sample(), other).empty());
  other.tiny = 4;
  other.warm = 1e-7f;
  other.key[2] = 0xff;
  other.parts[1].mood = Mood::kAsleep;
  other.parts[1].height = 0;
  other.rows[1].push_back(8);
  other.rows[0][1] = 3;
  other.grid[0][1] = -1;
  other.moods[0] = static_cast<Mood>(9);
  EXPECT_EQ(Differences(Sample(), other),
            (std::vector<StateDifference>{
                {"tiny", "-2", "4"},
                {"warm", "0.5 (0x3f000000)", "1e-07 (0x33d6bf95)"},
                {"key[2]", "0304", "ff04"},
                {"parts[1].mood", "angry (1)", "asleep (2)"},
                {"parts[1].height", "-0 (0x8000000000000000)",
                 "0 (0x0000000000000000)"},
                {"rows[0][1]", "2", "3"},
                {"rows[1].size", "0", "1"},
                {"grid[0][1]", "0", "-1"},
                {"moods[0]", "calm (0)", "no name (9)"},
            }));
}

TEST(StateSchemaTest, DifferencesAreCountedBeyondThoseThatAreShown) {
  const std::vector<Entity> a(100);
  std::vector<Entity> b(100);
  for (Entity& entity : b) entity.x = entity.y = 1;
  const auto found =
      CompareStates(SchemaOf<std::vector<Entity>>(), Saved(a), Saved(b), 3);
  EXPECT_EQ(found.total, 200u);
  ASSERT_EQ(found.differences.size(), 3u);
  EXPECT_EQ(found.differences[2].path, "[1].x");
}

TEST(StateSchemaTest, AStateIsShownInLines) {
  const std::string text = StateText(SchemaOf<Whole>(), Saved(Sample()));
  EXPECT_THAT(text, testing::StartsWith("tiny: -2\ndeep: -3\nwarm: 0.5 "
                                        "(0x3f000000)\nkey: 01020304\n"
                                        "parts[0].on: false\n"));
  EXPECT_THAT(text, testing::HasSubstr("more.size: 1\nmore[0].on: true\n"));
  EXPECT_THAT(text, testing::HasSubstr("moods[1]: asleep (2)\n"));
}

TEST(StateSchemaTest, TwoBuildsDifferInAField) {
  const StateSchema schema = SchemaOf<Whole>();
  EXPECT_EQ(CompareSchemas(schema, schema), std::nullopt);
  StateSchema other = schema;
  other.fields[4].fields[0].fields[2].values.pop_back();
  EXPECT_EQ(CompareSchemas(schema, other), "parts[].mood");
  other = schema;
  other.fields.pop_back();
  EXPECT_EQ(CompareSchemas(schema, other), "moods");
  EXPECT_EQ(CompareSchemas(other, schema), "moods");
  other.fields[1].name = "deeper";
  EXPECT_EQ(CompareSchemas(schema, other), "deep");
}

StateSchema Of(StateField field) {
  field.name = "f";
  StateSchema schema;
  schema.type = StateType::kStruct;
  schema.fields.push_back(std::move(field));
  return schema;
}

StateField Field(StateType type, std::uint32_t size) {
  StateField field;
  field.type = type;
  field.size = size;
  return field;
}

TEST(StateSchemaTest, WhatNoDescriptionMakesIsRefused) {
  EXPECT_THAT(CheckSchema(Of(Field(StateType::kUnsigned, 4))), IsOk());
  const auto bad = [](StateField field) {
    const absl::Status status = CheckSchema(Of(std::move(field)));
    EXPECT_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument));
    EXPECT_EQ(StatusText(status).substr(0, 1), "f") << StatusText(status);
  };
  bad(Field(StateType::kUnsigned, 3));
  bad(Field(StateType::kBool, 2));
  bad(Field(StateType::kFloat, 2));
  bad(Field(StateType::kBytes, 0));
  bad(Field(StateType::kBytes, 1u << 25));
  bad(Field(static_cast<StateType>(0), 1));
  bad(Field(static_cast<StateType>(9), 1));
  bad(Field(StateType::kStruct, 0));
  bad(Field(StateType::kList, 0));
  StateField array = Field(StateType::kArray, 1u << 31);
  array.fields.push_back(Field(StateType::kArray, 1u << 31));
  array.fields[0].fields.push_back(Field(StateType::kUnsigned, 8));
  bad(array);
  StateField deep = Field(StateType::kUnsigned, 1);
  for (int i = 0; i < 20; ++i) {
    StateField around = Field(StateType::kArray, 1);
    around.fields.push_back(deep);
    deep = around;
  }
  bad(deep);
  StateField named = Field(StateType::kUnsigned, 1);
  named.values = {"a", "b\n"};
  bad(named);
  named.values.assign(5'000, "a");
  bad(named);
}

}  // namespace
}  // namespace parlor::test
