#include "parlor/authority/row_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "authority/state_schema.h"
#include "parlor/authority/limits.h"

namespace parlor::authority {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

std::uint64_t Bit(int at) { return std::uint64_t{1} << at; }

class RowTableTest : public testing::Test {
 protected:
  std::uint64_t Changed(RowId row) const { return rows_.Get(row).changed(); }
  std::vector<RowId> Ids() const {
    std::vector<RowId> ids;
    rows_.ForEach([&](const RowView& row) { ids.push_back(row.id()); });
    return ids;
  }

  const Schema schema_ = MakeSchema(TestKinds());
  RowTable rows_{schema_};
};

TEST_F(RowTableTest, HoldsEveryType) {
  const RowId row = rows_.Add(kThing);
  EXPECT_TRUE(rows_.Set(row, kOpen, true));
  EXPECT_TRUE(rows_.Set(row, kCount, -7));
  EXPECT_TRUE(rows_.Set(row, kHeat, 36.6F));
  EXPECT_TRUE(rows_.Set(row, kUv, Vec2{0.25F, -1}));
  EXPECT_TRUE(rows_.Set(row, kColour, Vec3{1, 2, 3}));
  EXPECT_TRUE(rows_.Set(row, kFacing, Quat{0, 0, 1, 0}));
  EXPECT_TRUE(rows_.Set(row, kLabel, "lamp"));
  EXPECT_TRUE(rows_.Set(row, kPlace, Vec3{0.0014F, -2, 1e9F}));
  const RowView view = rows_.Get(row);
  EXPECT_TRUE(view.GetBool(kOpen));
  EXPECT_EQ(view.GetInt(kCount), -7);
  EXPECT_FLOAT_EQ(view.GetFloat(kHeat), 36.6F);
  EXPECT_EQ(view.GetVec2(kUv), (Vec2{0.25F, -1}));
  EXPECT_EQ(view.GetVec3(kColour), (Vec3{1, 2, 3}));
  EXPECT_EQ(view.GetQuat(kFacing), (Quat{0, 0, 1, 0}));
  EXPECT_EQ(view.GetString(kLabel), "lamp");
  EXPECT_EQ(view.GetString(kNote), "");
  EXPECT_EQ(view.GetVec3(kPlace), (Vec3{0.001F, -2, 2147483.647F}));
  EXPECT_EQ(view.kind().name, "thing");
  EXPECT_EQ(rows_.refusals(), 0u);
}

TEST_F(RowTableTest, ANewRowIsZeroAndNothingIsNull) {
  const RowView view = rows_.Get(rows_.Add(kPlayer));
  EXPECT_EQ(view.GetTransform(), Transform{});
  EXPECT_EQ(view.GetInt(kHp), 0);
  EXPECT_EQ(view.nulls(), 0u);
  EXPECT_EQ(view.NotDefault(), 0u);
}

TEST_F(RowTableTest, NullIsAValueOfItsOwn) {
  const RowId row = rows_.Add(kThing);
  rows_.Set(row, kCount, 5);
  rows_.Set(row, kLabel, "x");
  rows_.SetNull(row, kCount);
  rows_.SetNull(row, kLabel);
  EXPECT_TRUE(rows_.Get(row).IsNull(kCount));
  EXPECT_EQ(rows_.Get(row).GetInt(kCount), 0);
  EXPECT_EQ(rows_.Get(row).GetString(kLabel), "");
  EXPECT_EQ(rows_.Get(row).NotDefault(), Bit(kCount) | Bit(kLabel));
  rows_.Set(row, kCount, 0);
  rows_.Set(row, kLabel, "");
  EXPECT_EQ(rows_.Get(row).NotDefault(), 0u);
}

TEST_F(RowTableTest, IdsRiseAndAreNeverUsedAgain) {
  EXPECT_EQ(rows_.Add(kMark), 1u);
  EXPECT_EQ(rows_.Add(kMark), 2u);
  rows_.Remove(2);
  EXPECT_EQ(rows_.Add(kMark), 3u);
  EXPECT_THAT(Ids(), testing::ElementsAre(1, 3));
  EXPECT_EQ(rows_.size(), 2u);
  for (int i = 0; i < 150; ++i) rows_.Add(kMark);
  for (RowId row = 1; row < 130; ++row) rows_.Remove(row);
  EXPECT_EQ(Ids().front(), 130u);
  EXPECT_EQ(Ids().back(), 153u);
}

TEST_F(RowTableTest, OnlyWhatDiffersFromTheBaselineHasChanged) {
  const RowId row = rows_.Add(kThing);
  rows_.Set(row, kCount, 5);
  EXPECT_EQ(Changed(row), 0u);  // of no baseline yet
  rows_.TakeBaseline();
  EXPECT_EQ(rows_.page(0).changed, 0u);
  rows_.Set(row, kCount, 5);
  rows_.Set(row, kHeat, 0.00004F);  // rounds to the 0 it has
  EXPECT_EQ(rows_.page(0).changed, 0u);
  rows_.Set(row, kCount, 6);
  rows_.Set(row, kLabel, "x");
  EXPECT_EQ(Changed(row), Bit(kCount) | Bit(kLabel));
  EXPECT_EQ(rows_.page(0).changed, Bit(static_cast<int>(row)));
  EXPECT_EQ(rows_.GetBase(row).GetInt(kCount), 5);
  rows_.Set(row, kCount, 5);
  EXPECT_EQ(Changed(row), Bit(kLabel));
  rows_.Set(row, kLabel, "");
  EXPECT_EQ(rows_.page(0).changed, 0u);
}

// Where the last value is compared with instead, this drifts away unseen.
TEST_F(RowTableTest, SmallStepsAddUp) {
  const RowId row = rows_.Add(kThing);
  rows_.TakeBaseline();
  float heat = 0;
  for (int i = 0; i < 4; ++i) rows_.Set(row, kHeat, heat += 0.00002F);
  EXPECT_EQ(Changed(row), Bit(kHeat));
}

TEST_F(RowTableTest, BecomingNullIsAChangeAndSoIsBecomingZero) {
  const RowId row = rows_.Add(kThing);
  rows_.SetNull(row, kOpen);
  rows_.TakeBaseline();
  rows_.SetNull(row, kCount);  // was 0
  rows_.Set(row, kOpen, false);
  EXPECT_EQ(Changed(row), Bit(kCount) | Bit(kOpen));
  rows_.Set(row, kCount, 0);
  rows_.SetNull(row, kOpen);
  EXPECT_EQ(Changed(row), 0u);
}

TEST_F(RowTableTest, TheBaselineKeepsWhatIsGone) {
  const RowId gone = rows_.Add(kPlayer);
  rows_.Set(gone, kHp, 9);
  rows_.TakeBaseline();
  const RowId added = rows_.Add(kPlayer);
  rows_.Remove(gone);
  rows_.Set(added, kHp, 4);  // not in the removed one's place
  EXPECT_FALSE(rows_.Get(gone).exists());
  EXPECT_EQ(rows_.GetBase(gone).GetInt(kHp), 9);
  EXPECT_FALSE(rows_.GetBase(added).exists());
  EXPECT_EQ(rows_.page(0).base, Bit(1));
  EXPECT_EQ(rows_.page(0).live, Bit(2));
  rows_.TakeBaseline();
  EXPECT_FALSE(rows_.GetBase(gone).exists());
  EXPECT_EQ(rows_.GetBase(added).GetInt(kHp), 4);
}

TEST_F(RowTableTest, ARowInTheSlotOfAnotherHasNothingOfIt) {
  const RowId first = rows_.Add(kThing);
  rows_.Set(first, kCount, 9);
  rows_.Set(first, kLabel, "nine");
  rows_.SetNull(first, kUv);
  rows_.TakeBaseline();
  rows_.Remove(first);
  rows_.TakeBaseline();
  const RowId second = rows_.Add(kThing);
  EXPECT_EQ(rows_.Get(second).NotDefault(), 0u);
  EXPECT_EQ(Changed(second), 0u);
}

TEST_F(RowTableTest, BaselinesAreNumberedOverEpochs) {
  EXPECT_EQ(rows_.base(), 0u);
  rows_.TakeBaseline();
  rows_.TakeBaseline();
  EXPECT_EQ(rows_.base(), 2u);
  EXPECT_EQ(rows_.epoch(), 1u);
  rows_.Add(kMark);
  rows_.NewEpoch();
  EXPECT_EQ(rows_.epoch(), 2u);
  EXPECT_EQ(rows_.base(), 0u);
  EXPECT_EQ(rows_.size(), 0u);
  EXPECT_EQ(rows_.Add(kMark), 1u);
  rows_.TakeBaseline();
  EXPECT_EQ(rows_.base(), 3u);
}

TEST_F(RowTableTest, LocalRowsAreInNoBitmap) {
  const RowId local = rows_.AddLocal(kPlayer);
  const RowId shared = rows_.Add(kPlayer);
  EXPECT_TRUE(rows_.Set(local, kHp, 3));
  EXPECT_EQ(rows_.Get(local).GetInt(kHp), 3);
  rows_.TakeBaseline();
  rows_.Set(local, kHp, 4);
  EXPECT_EQ(rows_.page(0).live, Bit(static_cast<int>(shared)));
  EXPECT_EQ(rows_.page(0).base, Bit(static_cast<int>(shared)));
  EXPECT_EQ(rows_.page(0).changed, 0u);
  EXPECT_THAT(Ids(), testing::ElementsAre(shared));
  EXPECT_EQ(rows_.size(), 1u);
  EXPECT_TRUE(rows_.Remove(local));
  EXPECT_FALSE(rows_.Get(local).exists());
}

TEST_F(RowTableTest, ATeleportIsCounted) {
  const RowId row = rows_.Add(kPlayer);
  const Transform there{{1, 2, 3}, {0, 1, 0, 0}};
  EXPECT_TRUE(rows_.SetTransform(row, there));
  EXPECT_EQ(rows_.Get(row).teleports(), 0);
  EXPECT_EQ(rows_.Get(row).GetTransform(), there);
  EXPECT_TRUE(rows_.Teleport(row, Transform{}));
  EXPECT_EQ(rows_.Get(row).teleports(), 1);
  EXPECT_EQ(rows_.Get(row).GetTransform(), Transform{});
}

struct Refused {
  std::string name;
  bool (*set)(RowTable& rows);
  std::string text;
};

// Row 1 is a thing, row 2 a player, row 3 was removed.
const Refused kRefused[] = {
    {"FloatNan", [](RowTable& rows) { return rows.Set(1, kHeat, kNan); },
     "row 1 (thing) field heat: not a finite number"},
    {"FloatInfinity",
     [](RowTable& rows) { return rows.Set(1, kHeat, -kInfinity); },
     "row 1 (thing) field heat: not a finite number"},
    {"DoubleNan",
     [](RowTable& rows) { return rows.Set(1, kHeat, double{kNan}); },
     "row 1 (thing) field heat: not a finite number"},
    {"FloatRange", [](RowTable& rows) { return rows.Set(1, kHeat, 1.1e9F); },
     "row 1 (thing) field heat: out of range"},
    {"DoubleRange", [](RowTable& rows) { return rows.Set(1, kHeat, 1e300); },
     "row 1 (thing) field heat: out of range"},
    {"Vec2Nan",
     [](RowTable& rows) {
       return rows.Set(1, kUv, Vec2{0, kNan});
     },
     "row 1 (thing) field uv: not a finite number"},
    {"Vec3Infinity",
     [](RowTable& rows) {
       return rows.Set(1, kColour, Vec3{0, 0, kInfinity});
     },
     "row 1 (thing) field colour: not a finite number"},
    {"Vec3Range",
     [](RowTable& rows) {
       return rows.Set(1, kColour, Vec3{-2e9F, 0, 0});
     },
     "row 1 (thing) field colour: out of range"},
    {"PositionNan",
     [](RowTable& rows) {
       return rows.Set(1, kPlace, Vec3{kNan, 0, 0});
     },
     "row 1 (thing) field place: not a finite number"},
    {"QuatNan",
     [](RowTable& rows) {
       return rows.Set(1, kFacing, Quat{kNan, 0, 0, 1});
     },
     "row 1 (thing) field facing: not a rotation of finite numbers"},
    {"TransformPosition",
     [](RowTable& rows) {
       return rows.SetTransform(2, {{0, kNan, 0}, {1, 0, 0, 0}});
     },
     "row 2 (player) field position: not a finite number"},
    {"TransformRotation",
     [](RowTable& rows) {
       return rows.Teleport(2, {{1, 1, 1}, {0, 0, 0, kInfinity}});
     },
     "row 2 (player) field rotation: not a rotation of finite numbers"},
    {"IntRange",
     [](RowTable& rows) { return rows.Set(1, kCount, kIntMax + 1); },
     "row 1 (thing) field count: out of range"},
    {"UnsignedRange",
     [](RowTable& rows) { return rows.Set(1, kCount, ~std::uint64_t{0}); },
     "row 1 (thing) field count: out of range"},
    {"IntFloat", [](RowTable& rows) { return rows.Set(1, kCount, 1.5F); },
     "row 1 (thing) field count: is no float"},
    {"BoolInt", [](RowTable& rows) { return rows.Set(1, kOpen, 1); },
     "row 1 (thing) field open: is no int"},
    {"IntBool", [](RowTable& rows) { return rows.Set(1, kCount, true); },
     "row 1 (thing) field count: is no bool"},
    {"IntText", [](RowTable& rows) { return rows.Set(1, kCount, "1"); },
     "row 1 (thing) field count: is no string"},
    {"IntQuat", [](RowTable& rows) { return rows.Set(1, kCount, Quat{}); },
     "row 1 (thing) field count: is no quat"},
    {"TextVec3", [](RowTable& rows) { return rows.Set(1, kLabel, Vec3{}); },
     "row 1 (thing) field label: is no vec3"},
    {"PositionVec2", [](RowTable& rows) { return rows.Set(1, kPlace, Vec2{}); },
     "row 1 (thing) field place: is no vec2"},
    {"TextLength",
     [](RowTable& rows) { return rows.Set(1, kLabel, std::string(257, 'x')); },
     "row 1 (thing) field label: has more than 256 bytes"},
    {"TextUtf8", [](RowTable& rows) { return rows.Set(1, kLabel, "\xff"); },
     "row 1 (thing) field label: is not UTF-8"},
    {"Field", [](RowTable& rows) { return rows.Set(1, 9, 1); },
     "row 1 (thing) field 9: does not exist"},
    {"NegativeField", [](RowTable& rows) { return rows.SetNull(1, -2); },
     "row 1 (thing) field -2: does not exist"},
    {"RemovedRow", [](RowTable& rows) { return rows.Set(3, kHp, 1); },
     "row 3: does not exist"},
    {"NoRow", [](RowTable& rows) { return rows.Remove(0); },
     "row 0: does not exist"},
    {"FarRow", [](RowTable& rows) { return rows.Remove(~0u); },
     "row 4294967295: does not exist"},
    {"NoTransform",
     [](RowTable& rows) { return rows.SetTransform(1, Transform{}); },
     "row 1 (thing): is of no transform kind"},
    {"NoKind", [](RowTable& rows) { return rows.Add(3) != 0; },
     "row 0: kind 3 does not exist"},
    {"NoMoreRows",
     [](RowTable& rows) {
       rows.Add(kThing);
       rows.AddLocal(kThing);
       return rows.Add(kThing) != 0;
     },
     "row 0: there are 3 of kind thing, and no more may be"},
};

class RefusedValueTest : public testing::TestWithParam<Refused> {};

TEST_P(RefusedValueTest, ChangesNothingAndNamesRowAndField) {
  const Schema schema = MakeSchema(TestKinds());
  RowTable rows(schema);
  rows.Add(kThing);
  rows.Add(kPlayer);
  rows.Remove(rows.Add(kPlayer));
  rows.TakeBaseline();
  EXPECT_FALSE(GetParam().set(rows));
  EXPECT_EQ(rows.refusals(), 1u);
  EXPECT_EQ(rows.TakeRefusal(), GetParam().text);
  EXPECT_EQ(rows.TakeRefusal(), std::nullopt);
  EXPECT_EQ(rows.page(0).changed, 0u);
  EXPECT_EQ(rows.Get(1), rows.GetBase(1));
  EXPECT_EQ(rows.Get(2), rows.GetBase(2));
}

INSTANTIATE_TEST_SUITE_P(All, RefusedValueTest, testing::ValuesIn(kRefused),
                         [](const auto& row) { return row.param.name; });

TEST_F(RowTableTest, KeepsTheFirstRefusalAndCountsAll) {
  rows_.Add(kThing);
  rows_.Set(1, kHeat, kNan);
  rows_.Set(1, kUv, Vec2{kNan, 0});
  EXPECT_EQ(rows_.refusals(), 2u);
  EXPECT_EQ(rows_.TakeRefusal(),
            "row 1 (thing) field heat: not a finite number");
  rows_.Set(1, kUv, Vec2{kNan, 0});
  EXPECT_EQ(rows_.TakeRefusal(), "row 1 (thing) field uv: not a finite number");
  EXPECT_EQ(rows_.refusals(), 3u);
}

TEST_F(RowTableTest, RowsMaxCountsWhatIsThere) {
  for (int i = 0; i < 3; ++i) EXPECT_NE(rows_.Add(kThing), 0u);
  rows_.TakeBaseline();
  EXPECT_EQ(rows_.Add(kThing), 0u);
  rows_.Remove(2);
  EXPECT_EQ(rows_.Add(kThing), 4u);
  EXPECT_EQ(rows_.Add(kThing), 0u);
}

TEST_F(RowTableTest, EqualRowsAreOfOneKindAndHaveTheSameValues) {
  const RowId a = rows_.Add(kThing);
  const RowId b = rows_.Add(kThing);
  EXPECT_EQ(rows_.Get(a), rows_.Get(b));
  EXPECT_NE(rows_.Get(a), rows_.Get(rows_.Add(kMark)));
  EXPECT_NE(rows_.Get(a), RowView());
  rows_.Set(b, kNote, "b");
  EXPECT_NE(rows_.Get(a), rows_.Get(b));
  rows_.Set(a, kNote, "b");
  EXPECT_EQ(rows_.Get(a), rows_.Get(b));
  rows_.SetNull(a, kCount);
  EXPECT_NE(rows_.Get(a), rows_.Get(b));
  rows_.Set(a, kCount, 1);
  EXPECT_NE(rows_.Get(a), rows_.Get(b));
}

}  // namespace
}  // namespace parlor::authority
