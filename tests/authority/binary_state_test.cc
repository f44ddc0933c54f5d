// The binary state messages, byte for byte as WIRE.md draws them.
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "authority/state_schema.h"
#include "parlor/authority/row_table.h"
#include "parlor/authority/snapshot_encoder.h"
#include "parlor/authority/wire_state_codec.h"
#include "support/hex.h"

namespace parlor::authority {
namespace {

using test::FromHex;
using test::Hex;

// Hex with spaces where they help.
std::string Packed(std::string_view text) {
  std::string packed;
  for (const char c : text) {
    if (c != ' ') packed += c;
  }
  return packed;
}

class BinaryStateTest : public testing::Test {
 protected:
  BinaryStateTest() { encoder_.AddViewer(0, BinaryStateCodec(), false); }

  std::string Baseline(std::uint32_t tick) {
    encoder_.BeginTick(tick, nullptr);
    encoder_.TakeBaseline();
    return Hex(encoder_.Baseline(0).bytes());
  }
  std::string Delta(std::uint32_t tick, const OwnWords* own = nullptr) {
    encoder_.BeginTick(tick, nullptr);
    return Hex(encoder_.Delta(0, own).bytes());
  }

  DecodeResult Decode(std::string_view hex) {
    return BinaryStateCodec().Decode(FromHex(Packed(hex)), client_, edits_);
  }
  void Apply(std::string_view hex) {
    ASSERT_EQ(Decode(hex), DecodeResult::kDecoded) << hex;
    client_.Apply(edits_);
  }
  void ExpectSameRows() {
    EXPECT_EQ(client_.size(), rows_.size());
    rows_.ForEach([&](const RowView& row) {
      EXPECT_EQ(client_.Get(row.id()), row) << row.id();
    });
  }

  const Schema schema_ = MakeSchema(TestKinds());
  RowTable rows_{schema_};
  SnapshotEncoder encoder_{rows_};
  RowTable client_{schema_};
  StateEdits edits_;
};

TEST_F(BinaryStateTest, ABaselineHasEachRowWhole) {
  rows_.Add(kPlayer);
  rows_.Set(1, kPositionField, Vec3{1.5F, 0, -2});
  rows_.Set(1, kHp, 100);
  rows_.Set(1, kName, "Ann");
  const std::string baseline = Baseline(300);
  EXPECT_EQ(baseline, Packed("01 01 01 ac02"
                             "  01 00"
                             "    81 00 19 00 b817 00 9f1f c801 03416e6e"
                             "  00"));
  Apply(baseline);
  ExpectSameRows();
  EXPECT_EQ(client_.epoch(), 1u);
  EXPECT_EQ(client_.base(), 1u);
  EXPECT_EQ(edits_.header().tick, 300u);
}

TEST_F(BinaryStateTest, AValueIsWrittenByItsType) {
  rows_.Add(kThing);
  rows_.Set(1, kOpen, true);
  rows_.Set(1, kCount, -7);
  rows_.Set(1, kHeat, 36.6F);
  rows_.Set(1, kUv, Vec2{0.25F, -1});
  rows_.Set(1, kColour, Vec3{1, 2, 3});
  rows_.Set(1, kFacing, Quat{0, 0, 1, 0});
  rows_.Set(1, kLabel, "lamp");
  rows_.Set(1, kPlace, Vec3{0.001F, -2, 0});
  rows_.SetNull(1, kNote);
  const std::string baseline = Baseline(0);
  EXPECT_EQ(baseline,
            Packed("01 01 01 00"
                   "  01 00"
                   "    81 01 ff03 8002"
                   "       01  0d  e0d62c  8827 9f9c01  a09c01 c0b802 e0d403"
                   "       000000c0  046c616d70  02 9f1f 00"
                   "  00"));
  Apply(baseline);
  ExpectSameRows();
}

TEST_F(BinaryStateTest, ADeltaHasWhatDiffersFromTheBaseline) {
  rows_.Add(kPlayer);
  rows_.Set(1, kPositionField, Vec3{1.5F, 0, -2});
  Apply(Baseline(300));
  EXPECT_EQ(Delta(301),
            "02"
            "01"
            "01"
            "ad02"
            "00"
            "00");
  rows_.Set(1, kPositionField, Vec3{1.6F, 0, -2});
  const std::string delta = Delta(303);
  EXPECT_EQ(delta, Packed("02 01 01 af02"
                          "  01 00"
                          "    01 01 c801 00 00"
                          "  00"
                          "  00"));
  Apply(delta);
  ExpectSameRows();
}

TEST_F(BinaryStateTest, ADeltaHasNullsNewRowsGoneOnesAndTheOwnBody) {
  rows_.Add(kPlayer);
  rows_.Set(1, kHp, 100);
  rows_.Add(kThing);
  rows_.Add(kMark);
  Apply(Baseline(1));
  rows_.SetNull(1, kHp);
  rows_.Set(2, kOpen, true);
  rows_.Set(2, kFacing, Quat{0, 0, 1, 1});
  rows_.Remove(3);
  rows_.Add(kMark);
  const OwnWords own{7, {1'500, 0, -2'000}, {5'000, 0, -1}, true};
  const std::string delta = Delta(2, &own);
  EXPECT_EQ(delta,
            Packed("02 01 01 02"
                   "  01 03"
                   "    41 08 08"
                   "    02 21 01 ff010000"
                   "    84 02 00 00"
                   "    c3"
                   "  00"
                   "  01 07000000 dc050000 00000000 30f8ffff 904e 00 01 01"));
  Apply(delta);
  ExpectSameRows();
  EXPECT_EQ(edits_.own(), own);
}

TEST_F(BinaryStateTest, ARecoveryHasNoBaseAndPagesTellHowFarOnTheyAre) {
  for (int i = 0; i < 130; ++i) rows_.Add(kMark);
  for (RowId row = 1; row < 130; ++row) {
    if (row != 64) rows_.Remove(row);
  }
  encoder_.BeginTick(5, nullptr);
  const std::string recovery = Hex(encoder_.Recovery(0).bytes());
  EXPECT_EQ(recovery, Packed("03 01 05"
                             "  02 00  80 02 00 00"
                             "  01 00  82 02 00 00"
                             "  00"));
  Apply(recovery);
  ExpectSameRows();
  EXPECT_EQ(client_.base(), 0u);
}

// The ends of each range. A row here, and the last there can be.
TEST_F(BinaryStateTest, TakesTheLargestOfEverything) {
  Apply(
      "03 ffffffff0f ffffffff0f"
      "  01 00  81 01 8601 00  feffffffffffff1f  808095e789c604"
      "                        feffffff0f ffffffff0f 00"
      "  ffffff1f 00  bf 02 00 00"
      "  00");
  EXPECT_EQ(client_.epoch(), ~0u);
  EXPECT_EQ(client_.Get(1).GetInt(kCount), (std::int64_t{1} << 53) - 1);
  EXPECT_EQ(client_.Get(1).GetFloat(kHeat), 1e9F);
  EXPECT_EQ(client_.Get(1).GetVec3(kPlace),
            (Vec3{2147483.647F, -2147483.648F, 0}));
  EXPECT_TRUE(client_.Get(~0u).exists());
}

// What a client has when the messages below arrive: player 1 of 100 hp called
// Ann, thing 2, open and its note null.
constexpr std::string_view kBefore =
    "01 01 01 01  01 01  81 00 18 00 c801 03416e6e  82 01 8102 8002 01  00";

struct Message {
  std::string_view name;
  std::string_view hex;
};

constexpr Message kMalformed[] = {
    {"Empty", ""},
    {"KindZero", "00 01 01 01 00"},
    {"KindFour", "04 01 01 01 00"},
    {"EpochZero", "01 00 02 05 00"},
    {"BaseZero", "01 01 00 05 00"},
    {"EpochBeyond32Bits", "01 8080808010 02 05 00"},
    {"LongVar", "01 8100 02 05 00"},
    {"BaselineWithAnOwnBody", "01 01 02 05 00 00"},
    {"RecoveryWithABase", "03 01 01 05 00"},
    {"DeltaWithoutItsEnd", "02 01 01 02 00"},
    {"Trailing", "02 01 01 02 00 00 00"},
    {"OwnFlag", "02 01 01 02 00 02"},
    {"OwnCut", "02 01 01 02 00 01 07000000 00000000 00000000 00000000 00 00"},
    {"OwnGrounded",
     "02 01 01 02 00"
     " 01 07000000 00000000 00000000 00000000 00 00 00 02"},
    {"OwnSpeed",
     "02 01 01 02 00 01 07000000 00000000 00000000 00000000"
     " 828095e789c604 00 00 00"},
    {"EmptyPageCut", "02 01 01 02 01"},
    {"CountAbove64", "02 01 01 02 01 40 00 00"},
    {"PageBeyond", "03 01 05 81808020 00 80 02 00 00 00"},
    {"PagesBeyond", "03 01 05 01 00 81 02 00 00 80808020 00 80 02 00 00 00"},
    {"RowZero", "03 01 05 01 00 80 02 00 00 00"},
    {"GoneRowZero", "02 01 01 02 01 00 c0 00 00"},
    {"RowsFall", "03 01 05 01 01 82 02 00 00 81 02 00 00 00"},
    {"RowTwice", "03 01 05 01 01 81 02 00 00 81 02 00 00 00"},
    {"NoSuchKind", "03 01 05 01 00 81 03 00 00 00"},
    {"MoreThanRowsMax",
     "03 01 05 01 03 81 01 00 00 82 01 00 00 83 01 00 00"
     " 84 01 00 00 00"},
    {"MoreThanRowsMaxWithThoseThere",
     "02 01 01 02 01 02 83 01 00 00 84 01 00 00 85 01 00 00 00 00"},
    {"ChangedInABaseline", "01 01 02 05 01 00 01 08 02 00"},
    {"GoneInARecovery", "03 01 05 01 00 c1 00"},
    {"ChangedUnknown", "02 01 01 02 01 00 03 01 02 00 00"},
    {"GoneUnknown", "02 01 01 02 01 00 c3 00 00"},
    {"WholeKnown", "02 01 01 02 01 00 81 00 00 00 00 00"},
    {"GoneTwice", "02 01 01 02 01 01 c1 c1 00 00"},
    {"GoneFall", "02 01 01 02 01 01 c2 c1 00 00"},
    {"GoneBeforeAnother", "02 01 01 02 01 01 c1 02 01 00 00 00"},
    {"ChangedAndGone", "02 01 01 02 01 01 01 08 02 c1 00 00"},
    {"NoField", "02 01 01 02 01 00 01 00 00 00"},
    {"NoFieldThenAnother", "02 01 01 02 01 01 01 00 02 01 00 00 00"},
    {"NoFieldThenGone", "02 01 01 02 01 01 01 00 c2 00 00"},
    {"FieldBeyond", "02 01 01 02 01 00 01 20 02 00 00"},
    {"NullsWithoutNull", "02 01 01 02 01 00 41 08 00 02 00 00"},
    {"NullsBeyondMask", "02 01 01 02 01 00 41 08 10 02 00 00"},
    {"NullAgain", "02 01 01 02 01 00 42 8002 8002 00 00"},
    {"SameInt", "02 01 01 02 01 00 01 08 00 00 00"},
    {"SameText", "02 01 01 02 01 00 01 10 03416e6e 00 00"},
    {"SameBool", "02 01 01 02 01 00 02 01 01 00 00"},
    {"ZeroInAWholeRow", "03 01 05 01 00 81 00 08 00 00 00"},
    {"EmptyTextInAWholeRow", "03 01 05 01 00 81 00 10 00 00 00"},
    {"Bool", "02 01 01 02 01 00 02 01 02 00 00"},
    {"IntBeyond", "03 01 05 01 00 81 01 02 00 8080808080808020 00"},
    {"IntFarBeyond", "03 01 05 01 00 81 01 02 00 ffffffffffffffff7f 00"},
    {"FloatBeyond", "03 01 05 01 00 81 01 04 00 828095e789c604 00"},
    {"PositionBeyond", "03 01 05 01 00 81 01 8001 00 8080808010 00 00 00"},
    {"PositionBelow", "03 01 05 01 00 81 01 8001 00 8180808010 00 00 00"},
    {"Quat", "03 01 05 01 00 81 01 20 00 00020000 00"},
    {"TextTooLong", "03 01 05 01 00 81 01 40 00 8102"},
    {"TextCut", "03 01 05 01 00 81 01 40 00 04 61"},
    {"TextNotUtf8", "03 01 05 01 00 81 01 40 00 01 ff 00"},
};

class MalformedStateTest : public BinaryStateTest,
                           public testing::WithParamInterface<Message> {};

TEST_P(MalformedStateTest, IsRefused) {
  Apply(kBefore);
  EXPECT_EQ(Decode(GetParam().hex), DecodeResult::kMalformed);
}

INSTANTIATE_TEST_SUITE_P(All, MalformedStateTest, testing::ValuesIn(kMalformed),
                         [](const auto& row) {
                           return std::string(row.param.name);
                         });

// The neighbours of the malformed ones, so that they are refused for what their
// names say.
constexpr Message kValid[] = {
    {"Baseline", "01 01 02 05 00"},
    {"Recovery", "03 01 05 00"},
    {"Nothing", "02 01 01 02 00 00"},
    {"Own",
     "02 01 01 02 00"
     " 01 07000000 00000000 00000000 00000000 808095e789c604 00 00 01"},
    {"Rows", "03 01 05 01 01 81 02 00 00 82 02 00 00 00"},
    {"RowsMax", "03 01 05 01 02 81 01 00 00 82 01 00 00 83 01 00 00 00"},
    {"RowsMaxInTheGonesPlace",
     "02 01 01 02 01 03 83 01 00 00 84 01 00 00 85 01 00 00 c2 00 00"},
    {"Gone", "02 01 01 02 01 01 c1 c2 00 00"},
    {"ChangedThenGone", "02 01 01 02 01 01 01 08 02 c2 00 00"},
    {"Null", "02 01 01 02 01 00 41 08 08 00 00"},
    {"NoMoreNull", "02 01 01 02 01 00 02 8002 00 00 00"},
    {"Text", "02 01 01 02 01 00 01 10 03426e6e 00 00"},
    {"Bool", "02 01 01 02 01 00 02 01 00 00 00"},
    {"NullInAWholeRow", "03 01 05 01 00 81 00 08 08 00"},
    {"Int", "03 01 05 01 00 81 01 02 00 feffffffffffff1f 00"},
    {"Position", "03 01 05 01 00 81 01 8001 00 feffffff0f 00 00 00"},
    {"Quat", "03 01 05 01 00 81 01 20 00 01020000 00"},
};

class ValidStateTest : public BinaryStateTest,
                       public testing::WithParamInterface<Message> {};

TEST_P(ValidStateTest, IsTakenAndNotWhenItIsCutShort) {
  Apply(kBefore);
  const auto bytes = FromHex(Packed(GetParam().hex));
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_EQ(BinaryStateCodec().Decode(std::span(bytes).first(size), client_,
                                        edits_),
              DecodeResult::kMalformed)
        << size;
  }
  Apply(GetParam().hex);
}

INSTANTIATE_TEST_SUITE_P(All, ValidStateTest, testing::ValuesIn(kValid),
                         [](const auto& row) {
                           return std::string(row.param.name);
                         });

TEST_F(BinaryStateTest, ADeltaForAnotherBaselineIsNoFaultOfItsOwn) {
  Apply(kBefore);
  EXPECT_EQ(Decode("02 01 02 05 00 00"), DecodeResult::kOther);
  EXPECT_EQ(edits_.header(), (StateHeader{StateKind::kDelta, 1, 2, 5}));
  EXPECT_EQ(Decode("02 02 01 05 00 00"), DecodeResult::kOther);
  EXPECT_EQ(Decode("02 02 01 05 ff ff"), DecodeResult::kOther);
}

// Deltas are not cumulative: each is the baseline and itself.
TEST_F(BinaryStateTest, ADeltaTakesTheOneBeforeBack) {
  Apply(kBefore);
  Apply("02 01 01 02 01 02 41 08 08 83 02 00 00 c2 00 00");
  EXPECT_TRUE(client_.Get(1).IsNull(kHp));
  EXPECT_FALSE(client_.Get(2).exists());
  EXPECT_TRUE(client_.Get(3).exists());
  EXPECT_EQ(client_.size(), 2u);
  Apply("02 01 01 03 01 00 01 10 0142 00 00");
  EXPECT_EQ(client_.Get(1).GetInt(kHp), 100);
  EXPECT_EQ(client_.Get(1).GetString(kName), "B");
  EXPECT_EQ(client_.Get(2), client_.GetBase(2));
  EXPECT_FALSE(client_.Get(3).exists());
  EXPECT_EQ(client_.size(), 2u);
}

TEST(BaselineBytesMaxTest, IsWhatTheLargestBaselineTakes) {
  std::vector<Kind> kinds;
  for (int i = 0; i < 200; ++i) {
    kinds.push_back({.name = "k" + std::to_string(i)});
  }
  kinds.push_back({.name = "all", .rows_max = 2});
  for (std::size_t i = 0; i < 64; ++i) {
    kinds.back().fields.push_back(
        {"f" + std::to_string(i), static_cast<FieldType>(i % kFieldTypes)});
  }
  const Schema schema = MakeSchema(kinds);
  RowTable rows(schema);
  for (int n = 0; n < 2; ++n) {
    const RowId row = rows.Add(200);
    for (int field = 0; field < 64; ++field) {
      rows.Set(row, field, true);
      rows.Set(row, field, -((std::int64_t{1} << 53) - 1));
      rows.Set(row, field, -1e9F);
      rows.Set(row, field, Vec2{-1e9F, -1e9F});
      rows.Set(row, field, Vec3{-1e9F, -1e9F, -1e9F});
      rows.Set(row, field, Quat{1, 2, 3, 4});
      rows.Set(row, field, std::string(256, 'x'));
    }
  }
  SnapshotEncoder encoder(rows);
  encoder.AddViewer(0, BinaryStateCodec(), false);
  encoder.BeginTick(1, nullptr);
  encoder.TakeBaseline();
  const std::size_t max = BaselineBytesMax(schema, BinaryStateCodec());
  const std::size_t size = encoder.Baseline(0).bytes().size();
  EXPECT_LE(size, max);
  // Beside 200 rows that are not there and take at most 11 each: two pages of
  // one row, and numbers that may be told from one of the other sign.
  EXPECT_GE(size + std::size_t{200 * 11} + 300, max);
}

}  // namespace
}  // namespace parlor::authority
