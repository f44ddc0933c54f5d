#include "parlor/authority/snapshot_encoder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "authority/state_schema.h"
#include "parlor/authority/row_table.h"
#include "parlor/authority/wire_state_codec.h"
#include "parlor/random.h"
#include "support/counting_allocator.h"
#include "support/seed.h"

namespace parlor::authority {
namespace {

// A client, as far as its rows go.
class Client {
 public:
  explicit Client(const Schema& schema)
      : rows_(std::make_unique<RowTable>(schema)) {}

  void Take(const Payload& payload) {
    ASSERT_EQ(BinaryStateCodec().Decode(payload.bytes(), *rows_, edits_),
              DecodeResult::kDecoded);
    rows_->Apply(edits_);
  }
  const RowTable& rows() const { return *rows_; }
  const StateEdits& last() const { return edits_; }

 private:
  std::unique_ptr<RowTable> rows_;
  StateEdits edits_;
};

class SnapshotEncoderTest : public testing::Test, public ViewFilter {
 protected:
  static constexpr int kAll = 0;   // sees every row
  static constexpr int kSome = 7;  // does not see hidden_ ones

  SnapshotEncoderTest() {
    encoder_.AddViewer(kAll, BinaryStateCodec(), false);
    encoder_.AddViewer(kSome, BinaryStateCodec(), true);
  }

  bool InView(int viewer, RowId row) override {
    return viewer == kAll || hidden_.count({viewer, row}) == 0;
  }
  void Hide(RowId row) { hidden_.insert({kSome, row}); }
  void Show(RowId row) { hidden_.erase({kSome, row}); }

  void Begin() { encoder_.BeginTick(++tick_, this); }
  void TakeBaseline() {
    Begin();
    encoder_.TakeBaseline();
  }
  // To both, at a new tick.
  void SendBaseline() {
    TakeBaseline();
    all_.Take(encoder_.Baseline(kAll));
    some_.Take(encoder_.Baseline(kSome));
    ExpectSame();
  }
  void SendDelta() {
    Begin();
    all_.Take(encoder_.Delta(kAll, nullptr));
    some_.Take(encoder_.Delta(kSome, nullptr));
    ExpectSame();
  }

  void ExpectSame() {
    ExpectSees(kAll, all_);
    ExpectSees(kSome, some_);
  }
  // The client's rows are the room's in its view, and no others.
  void ExpectSees(int viewer, const Client& client) {
    std::size_t seen = 0;
    rows_.ForEach([&](const RowView& row) {
      if (!InView(viewer, row.id())) return;
      ++seen;
      EXPECT_EQ(client.rows().Get(row.id()), row) << "row " << row.id();
    });
    EXPECT_EQ(client.rows().size(), seen);
  }

  const Schema schema_ = MakeSchema(TestKinds());
  RowTable rows_{schema_};
  SnapshotEncoder encoder_{rows_};
  std::set<std::pair<int, RowId>> hidden_;
  std::uint32_t tick_ = 0;
  Client all_{schema_};
  Client some_{schema_};
};

TEST_F(SnapshotEncoderTest, ViewersOfEveryRowShareOneMessage) {
  encoder_.AddViewer(1, BinaryStateCodec(), false);
  rows_.Add(kPlayer);
  TakeBaseline();
  EXPECT_EQ(encoder_.Baseline(kAll).bytes().data(),
            encoder_.Baseline(1).bytes().data());
  rows_.Set(1, kHp, 5);
  Begin();
  const Payload delta = encoder_.Delta(kAll, nullptr);
  const OwnWords own{3, {1, 2, 3}, {}, false};
  const Payload with_own = encoder_.Delta(1, &own);
  EXPECT_EQ(encoder_.Delta(1, nullptr).bytes().data(), delta.bytes().data());
  EXPECT_NE(with_own.bytes().data(), delta.bytes().data());
  EXPECT_EQ(encoder_.Recovery(kAll).bytes().data(),
            encoder_.Recovery(1).bytes().data());
  Begin();
  EXPECT_NE(encoder_.Delta(kAll, nullptr).bytes().data(), delta.bytes().data());
}

TEST_F(SnapshotEncoderTest, ABodyIsItsViewersAlone) {
  rows_.Add(kPlayer);
  SendBaseline();
  Begin();
  const OwnWords mine{3, {1, 2, 3}, {4, 5, 6}, false};
  const OwnWords theirs{9, {}, {}, true};
  all_.Take(encoder_.Delta(kAll, &mine));
  some_.Take(encoder_.Delta(kSome, &theirs));
  EXPECT_EQ(all_.last().own(), mine);
  EXPECT_EQ(some_.last().own(), theirs);
  all_.Take(encoder_.Delta(kAll, nullptr));
  EXPECT_EQ(all_.last().own(), std::nullopt);
}

TEST_F(SnapshotEncoderTest, UnchangedRowsCostNothing) {
  for (int i = 0; i < 100; ++i) rows_.Add(kPlayer);
  SendBaseline();
  Begin();
  // Kind, epoch, base, tick; no page; no body.
  EXPECT_EQ(encoder_.Delta(kAll, nullptr).bytes().size(), 6u);
  EXPECT_EQ(encoder_.Delta(kSome, nullptr).bytes().size(), 6u);
}

TEST_F(SnapshotEncoderTest, RowsComeChangeAndGo) {
  for (int i = 0; i < 100; ++i) rows_.Add(kPlayer);
  SendBaseline();
  for (RowId row = 1; row <= 100; row += 3) rows_.Set(row, kHp, row);
  for (RowId row = 2; row <= 100; row += 7) rows_.Remove(row);
  SendDelta();
  for (int i = 0; i < 9; ++i) rows_.Set(rows_.Add(kMark), 0, 1);
  rows_.Remove(rows_.Add(kMark));
  SendDelta();
  for (RowId row = 1; row <= 100; row += 3) rows_.Set(row, kHp, 0);
  SendDelta();
  SendBaseline();
  SendDelta();
}

TEST_F(SnapshotEncoderTest, ARowEntersAViewWholeAndLeavesIt) {
  rows_.Add(kPlayer);
  rows_.Add(kPlayer);
  rows_.Set(2, kHp, 50);
  Hide(2);
  SendBaseline();
  EXPECT_FALSE(some_.rows().Get(2).exists());
  Show(2);
  SendDelta();
  EXPECT_EQ(some_.rows().Get(2).GetInt(kHp), 50);
  rows_.Set(2, kHp, 51);
  SendDelta();
  Hide(2);
  SendDelta();
  EXPECT_FALSE(some_.rows().Get(2).exists());
  Show(2);
  rows_.Remove(2);
  SendDelta();
}

TEST_F(SnapshotEncoderTest, ARowThatLeavesAViewAndComesBackIsNotToldAgain) {
  rows_.Add(kPlayer);
  rows_.Set(1, kName, "a name that would be long to tell");
  SendBaseline();
  Hide(1);
  SendDelta();
  Show(1);
  rows_.Set(1, kHp, 1);
  SendDelta();
  Begin();
  // A page of one row, and in it the mask and a number.
  EXPECT_EQ(encoder_.Delta(kSome, nullptr).bytes().size(), 6u + 2 + 3);
}

TEST_F(SnapshotEncoderTest, ANewRowOutOfViewIsNotTold) {
  SendBaseline();
  rows_.Add(kPlayer);
  Hide(1);
  SendDelta();
  EXPECT_EQ(some_.rows().size(), 0u);
  // Gone before it was ever seen.
  rows_.Remove(1);
  SendDelta();
}

// Who joins later in the second gets the baseline that the others have.
TEST_F(SnapshotEncoderTest, ABaselineSentLaterIsAsItWasTaken) {
  rows_.Add(kPlayer);
  rows_.Add(kPlayer);
  rows_.Add(kPlayer);
  rows_.Set(1, kHp, 10);
  SendBaseline();
  rows_.Set(1, kHp, 11);
  rows_.Remove(2);
  rows_.Add(kPlayer);
  Hide(3);
  Begin();
  encoder_.AddViewer(1, BinaryStateCodec(), false);
  EXPECT_FALSE(encoder_.HasBaseline(1));
  Client late(schema_);
  late.Take(encoder_.Baseline(1));
  EXPECT_EQ(late.last().header(), (StateHeader{StateKind::kBaseline, 1, 1, 1}));
  EXPECT_EQ(late.rows().Get(1).GetInt(kHp), 10);
  EXPECT_TRUE(late.rows().Get(2).exists());
  EXPECT_FALSE(late.rows().Get(4).exists());
  late.Take(encoder_.Delta(1, nullptr));
  ExpectSees(kAll, late);
  encoder_.RemoveViewer(kSome);
  encoder_.AddViewer(kSome, BinaryStateCodec(), true);
  Client late_some(schema_);
  late_some.Take(encoder_.Baseline(kSome));
  // Of what it sees now.
  EXPECT_EQ(late_some.rows().size(), 1u);
  EXPECT_EQ(late_some.rows().Get(1).GetInt(kHp), 10);
  late_some.Take(encoder_.Delta(kSome, nullptr));
  ExpectSees(kSome, late_some);
}

TEST_F(SnapshotEncoderTest, WhoMissedABaselineHasNone) {
  SendBaseline();
  TakeBaseline();
  EXPECT_FALSE(encoder_.HasBaseline(kAll));
  all_.Take(encoder_.Baseline(kAll));
  EXPECT_TRUE(encoder_.HasBaseline(kAll));
  EXPECT_FALSE(encoder_.HasBaseline(kSome));
  EXPECT_FALSE(encoder_.HasBaseline(99));
}

TEST_F(SnapshotEncoderTest, AnEpochStartsAgain) {
  rows_.Add(kPlayer);
  rows_.Set(1, kHp, 1);
  SendBaseline();
  rows_.NewEpoch();
  EXPECT_FALSE(encoder_.HasBaseline(kAll));
  rows_.Add(kThing);
  SendBaseline();
  EXPECT_EQ(all_.rows().epoch(), 2u);
  EXPECT_EQ(all_.rows().Get(1).kind_index(), kThing);
  rows_.Set(1, kOpen, true);
  SendDelta();
}

TEST_F(SnapshotEncoderTest, ARecoveryHasEveryRowInView) {
  for (int i = 0; i < 70; ++i) rows_.Add(kPlayer);
  SendBaseline();
  rows_.Set(1, kHp, 1);
  rows_.Remove(2);
  rows_.Add(kPlayer);
  Hide(5);
  Begin();
  Client shown(schema_);
  shown.Take(encoder_.Recovery(kAll));
  ExpectSees(kAll, shown);
  EXPECT_EQ(shown.rows().base(), 0u);
  Client shown_some(schema_);
  shown_some.Take(encoder_.Recovery(kSome));
  ExpectSees(kSome, shown_some);
  // Deltas go on from the baseline as if nothing had been.
  SendDelta();
}

TEST_F(SnapshotEncoderTest, LocalRowsLeaveInNoMessage) {
  rows_.AddLocal(kPlayer);
  rows_.Add(kPlayer);
  SendBaseline();
  rows_.Set(1, kHp, 5);
  rows_.AddLocal(kPlayer);
  SendDelta();
  EXPECT_EQ(all_.rows().size(), 1u);
  EXPECT_FALSE(all_.rows().Get(1).exists());
  Client shown(schema_);
  shown.Take(encoder_.Recovery(kAll));
  EXPECT_EQ(shown.rows().size(), 1u);
}

TEST_F(SnapshotEncoderTest, OnlyPayloadsAreAllocated) {
  if (PARLOR_COUNTS_ALLOCATIONS == 0) return;
  for (int i = 0; i < 100; ++i) rows_.Add(kPlayer);
  std::uint64_t before = 0;
  std::uint64_t payloads = 0;
  for (int second = 0; second < 4; ++second) {
    if (second == 2) before = parlor_allocation_count();
    if (second == 2) payloads = 0;
    rows_.Remove(rows_.Add(kMark));
    TakeBaseline();
    encoder_.Baseline(kAll);
    encoder_.Baseline(kSome);
    payloads += 2;
    for (RowId row = 1; row <= 100; ++row) {
      rows_.Set(row, kPositionField, Vec3{static_cast<float>(second), 2, 3});
    }
    Begin();
    const OwnWords own{3, {1, 2, 3}, {4, 5, 6}, false};
    encoder_.Delta(kAll, &own);
    encoder_.Delta(kSome, nullptr);
    encoder_.Recovery(kSome);
    payloads += 3;
  }
  // The bytes, and what shares them.
  EXPECT_LE(parlor_allocation_count() - before, 2 * payloads);
}

// A game at random; each client hears of some deltas, and is right at each.
TEST_F(SnapshotEncoderTest, WhateverIsLostAClientIsRightAtEachMessage) {
  Random random(test::TestSeed());
  std::vector<RowId> ids;
  for (int step = 0; step < 3'000; ++step) {
    for (std::uint32_t n = random.Below(6); n > 0; --n) {
      const auto kind = static_cast<int>(random.Below(3));
      if (random.Chance(1, 3)) {
        if (const RowId row = rows_.Add(kind); row != 0) ids.push_back(row);
      }
      if (ids.empty()) break;
      const RowId row =
          ids[random.Below(static_cast<std::uint32_t>(ids.size()))];
      const auto field = static_cast<int>(random.Below(9));
      const auto value = static_cast<int>(random.Below(3));
      const auto metres = static_cast<float>(value);
      switch (random.Below(9)) {
        case 0:
          rows_.Remove(row);
          break;
        case 1:
          rows_.SetNull(row, field);
          break;
        case 2:
          rows_.Set(row, field, value % 2 == 0);
          break;
        case 3:
          rows_.Set(row, field, value * 100'000);
          break;
        case 4:
          rows_.Set(row, field, Vec3{metres, -2 * metres, 0});
          break;
        case 5:
          rows_.Set(row, field, std::string(value, 'x'));
          break;
        case 6:
          rows_.Teleport(row, {{metres, 0, 0}, {0, 0, 1, 1}});
          break;
        case 7:
          Hide(row);
          break;
        default:
          Show(row);
      }
    }
    if (random.Chance(1, 400)) {
      rows_.NewEpoch();
      ids.clear();
    }
    if (rows_.base() == 0 || random.Chance(1, 15)) {
      ASSERT_NO_FATAL_FAILURE(SendBaseline());
    }
    Begin();
    if (random.Chance(1, 2)) {
      ASSERT_NO_FATAL_FAILURE(all_.Take(encoder_.Delta(kAll, nullptr)));
      ExpectSees(kAll, all_);
    }
    if (random.Chance(1, 2)) {
      ASSERT_NO_FATAL_FAILURE(some_.Take(encoder_.Delta(kSome, nullptr)));
      ExpectSees(kSome, some_);
    }
    ASSERT_FALSE(HasFailure()) << "step " << step;
  }
}

}  // namespace
}  // namespace parlor::authority
