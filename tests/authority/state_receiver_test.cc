// StateReceiver: which frames it applies, what it shows then, and that nothing
// else changes it. The same by either codec.
#include "parlor/authority/state_receiver.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "authority/state_frames.h"
#include "authority/state_model.h"
#include "parlor/authority/row_table.h"
#include "parlor/authority/schema.h"
#include "parlor/authority/state_edits.h"
#include "parlor/authority/values.h"
#include "parlor/authority/wire_state_codec.h"
#include "parlor/byte_io.h"
#include "parlor/check.h"

namespace parlor::authority {
namespace {

constexpr int kHp = 0;
constexpr int kTag = 1;

Schema MakeSchema() {
  auto schema =
      Schema::Create({{"player",
                       {{"hp", FieldType::kInt}, {"tag", FieldType::kString}},
                       false,
                       8}});
  PARLOR_CHECK(schema.ok());
  return std::move(*schema);
}

using Bytes = std::vector<std::byte>;

class StateReceiverTest : public testing::TestWithParam<std::string> {
 protected:
  StateReceiverTest() { row_ = room_.Add(0); }

  Bytes Baseline(std::uint32_t tick) {
    room_.TakeBaseline();
    return WriteBaseline(codec_, room_, tick);
  }
  // What row_'s hp becomes, as a delta.
  Bytes Delta(std::uint32_t tick, int hp, const OwnWords* own = nullptr) {
    room_.Set(row_, kHp, hp);
    return WriteDelta(codec_, room_, tick, own);
  }
  Bytes Recovery(std::uint32_t tick, int hp) {
    room_.Set(row_, kHp, hp);
    return WriteRecovery(codec_, room_, tick);
  }
  StateOutcome Apply(const Bytes& bytes) {
    return client_.Apply(codec_.message_kind(), bytes);
  }
  // Refused, and nothing changes.
  void ExpectNothing(const Bytes& bytes, StateOutcome outcome) {
    const ModelRows rows = ModelOf(client_.rows());
    const std::uint32_t epoch = client_.epoch();
    const std::uint32_t tick = client_.tick();
    const std::uint32_t base = client_.base();
    const std::optional<OwnBody> own = client_.own();
    EXPECT_EQ(Apply(bytes), outcome);
    EXPECT_EQ(Difference(rows, ModelOf(client_.rows())), "");
    EXPECT_EQ(client_.epoch(), epoch);
    EXPECT_EQ(client_.tick(), tick);
    EXPECT_EQ(client_.base(), base);
    EXPECT_EQ(client_.own(), own);
  }
  void ExpectStale(const Bytes& bytes) {
    ExpectNothing(bytes, StateOutcome::kStale);
  }
  // row_ is the only one.
  void ExpectShown(std::uint32_t tick, int hp) {
    EXPECT_EQ(client_.tick(), tick);
    EXPECT_EQ(client_.rows().size(), 1u);
    ASSERT_TRUE(client_.rows().Get(row_).exists());
    EXPECT_EQ(client_.rows().Get(row_).GetInt(kHp), hp);
  }

  const WireStateCodec& codec_ =
      GetParam() == "json" ? JsonStateCodec() : BinaryStateCodec();
  const Schema schema_ = MakeSchema();
  RowTable room_{schema_};
  RowId row_ = 0;
  StateReceiver client_{schema_};
};

INSTANTIATE_TEST_SUITE_P(Codecs, StateReceiverTest,
                         testing::Values("binary", "json"),
                         [](const auto& row) { return row.param; });

TEST_P(StateReceiverTest, ShowsNothingAtFirst) {
  EXPECT_EQ(client_.rows().size(), 0u);
  EXPECT_EQ(client_.tick(), 0u);
  EXPECT_EQ(client_.base(), 0u);
  EXPECT_FALSE(client_.own().has_value());
}

TEST_P(StateReceiverTest, BaselineThenDeltas) {
  EXPECT_EQ(Apply(Baseline(10)), StateOutcome::kBaseline);
  ExpectShown(10, 0);
  EXPECT_EQ(client_.base(), 1u);
  EXPECT_EQ(client_.epoch(), 1u);
  EXPECT_EQ(Apply(Delta(13, 5)), StateOutcome::kDelta);
  ExpectShown(13, 5);
  EXPECT_EQ(Apply(Delta(16, 6)), StateOutcome::kDelta);
  ExpectShown(16, 6);
  EXPECT_EQ(Apply(Baseline(19)), StateOutcome::kBaseline);
  ExpectShown(19, 6);
  EXPECT_EQ(client_.base(), 2u);
}

// The second delta does not name what the first one changed: it is as the
// baseline has it again.
TEST_P(StateReceiverTest, DeltasAreNeverCumulative) {
  Apply(Baseline(10));
  room_.Set(row_, kTag, "it");
  const RowId other = room_.Add(0);
  Apply(Delta(13, 5));
  EXPECT_EQ(client_.rows().size(), 2u);
  EXPECT_EQ(client_.rows().Get(row_).GetString(kTag), "it");
  room_.Remove(other);
  room_.Set(row_, kTag, "");
  EXPECT_EQ(Apply(Delta(16, 6)), StateOutcome::kDelta);
  ExpectShown(16, 6);
  EXPECT_EQ(client_.rows().Get(row_).GetString(kTag), "");
  room_.Remove(row_);
  const Bytes none = WriteDelta(codec_, room_, 19);
  EXPECT_EQ(Apply(none), StateOutcome::kDelta);
  EXPECT_EQ(client_.rows().size(), 0u);
}

TEST_P(StateReceiverTest, GoneComesBack) {
  Apply(Baseline(10));
  const Bytes there = WriteDelta(codec_, room_, 16);
  room_.Remove(row_);
  Apply(WriteDelta(codec_, room_, 13));
  EXPECT_EQ(client_.rows().size(), 0u);
  EXPECT_EQ(Apply(there), StateOutcome::kDelta);
  ExpectShown(16, 0);
}

TEST_P(StateReceiverTest, LostDeltasDoNotMatter) {
  Apply(Baseline(10));
  Delta(13, 5);
  Delta(16, 6);
  EXPECT_EQ(Apply(Delta(19, 7)), StateOutcome::kDelta);
  ExpectShown(19, 7);
}

TEST_P(StateReceiverTest, OvertakenAndRepeatedDeltasAreStale) {
  Apply(Baseline(10));
  const Bytes at_baseline = Delta(10, 3);
  const Bytes slow = Delta(13, 5);
  const Bytes quick = Delta(16, 6);
  Apply(quick);
  ExpectStale(slow);
  ExpectStale(quick);
  ExpectStale(at_baseline);
  EXPECT_EQ(client_.counters().stale, 3u);
}

TEST_P(StateReceiverTest, ABaselinesOwnTickMayBringTheBodyOnce) {
  OwnWords own;
  own.seq = 7;
  const Bytes baseline = Baseline(10);
  const Bytes with_body = Delta(10, 3, &own);
  Apply(baseline);
  EXPECT_EQ(client_.own(), std::nullopt);
  EXPECT_EQ(Apply(with_body), StateOutcome::kDelta);
  ExpectShown(10, 3);
  ASSERT_TRUE(client_.own());
  EXPECT_EQ(client_.own()->seq, 7u);
  ExpectStale(with_body);
  Apply(Recovery(12, 4));
  ExpectStale(Delta(12, 5));
}

TEST_P(StateReceiverTest, DeltasOfOtherBaselinesAreStale) {
  const Bytes late = Baseline(8);
  ExpectStale(Delta(9, 1));
  EXPECT_EQ(Apply(late), StateOutcome::kBaseline);
  Apply(Baseline(10));
  const Bytes old = Delta(13, 5);
  const Bytes next = Baseline(16);
  const Bytes newer = Delta(19, 7);
  // Faster than its baseline; it may come again.
  ExpectStale(newer);
  EXPECT_EQ(Apply(next), StateOutcome::kBaseline);
  ExpectShown(16, 5);
  ExpectStale(old);
  EXPECT_EQ(Apply(newer), StateOutcome::kDelta);
  ExpectShown(19, 7);
}

TEST_P(StateReceiverTest, OldBaselinesAreStale) {
  const Bytes first = Baseline(10);
  const Bytes second = Baseline(13);
  Apply(second);
  ExpectStale(first);
  ExpectStale(second);
}

TEST_P(StateReceiverTest, RecoveryIsShownAndNoBase) {
  Apply(Baseline(10));
  const Bytes slow = Delta(13, 5);
  EXPECT_EQ(Apply(Recovery(16, 6)), StateOutcome::kRecovery);
  EXPECT_TRUE(client_.shows_recovery());
  ExpectShown(16, 6);
  EXPECT_EQ(client_.base(), 1u);
  ExpectStale(slow);
  ExpectStale(Recovery(16, 7));
  ExpectStale(Recovery(15, 7));
  // Back to the baseline and what differs from that.
  room_.Set(row_, kTag, "it");
  EXPECT_EQ(Apply(Delta(19, 0)), StateOutcome::kDelta);
  EXPECT_FALSE(client_.shows_recovery());
  ExpectShown(19, 0);
  EXPECT_EQ(client_.rows().Get(row_).GetString(kTag), "it");
  EXPECT_EQ(Apply(Recovery(22, 9)), StateOutcome::kRecovery);
  ExpectShown(22, 9);
}

TEST_P(StateReceiverTest, RecoveryBeforeAnyBaseline) {
  EXPECT_EQ(Apply(Recovery(16, 6)), StateOutcome::kRecovery);
  ExpectShown(16, 6);
  EXPECT_EQ(client_.base(), 0u);
  // The stored baseline, for one that joined a while ago: older, but what
  // deltas refer to.
  EXPECT_EQ(Apply(Baseline(10)), StateOutcome::kBaseline);
  ExpectShown(10, 6);
  EXPECT_EQ(Apply(Delta(19, 7)), StateOutcome::kDelta);
  ExpectShown(19, 7);
}

TEST_P(StateReceiverTest, EpochsStartIdsAfresh) {
  const Bytes baseline = Baseline(10);
  const Bytes old = Delta(13, 5);
  Apply(baseline);
  room_.NewEpoch();
  row_ = room_.Add(0);
  room_.Set(row_, kTag, "new");
  const Bytes next = Baseline(16);
  const Bytes quick = Delta(19, 8);
  ExpectStale(quick);
  EXPECT_EQ(Apply(next), StateOutcome::kBaseline);
  EXPECT_EQ(client_.epoch(), 2u);
  ExpectShown(16, 0);
  EXPECT_EQ(client_.rows().Get(row_).GetString(kTag), "new");
  ExpectStale(old);
  ExpectStale(baseline);
  EXPECT_EQ(Apply(quick), StateOutcome::kDelta);
  ExpectShown(19, 8);
}

// The recovery is of a world whose baseline has not come yet.
TEST_P(StateReceiverTest, RecoveryOfANewEpoch) {
  Apply(Baseline(10));
  const Bytes old_delta = Delta(30, 5);
  const Bytes old_baseline = Baseline(31);
  room_.NewEpoch();
  row_ = room_.Add(0);
  EXPECT_EQ(Apply(Recovery(16, 6)), StateOutcome::kRecovery);
  EXPECT_EQ(client_.epoch(), 2u);
  ExpectShown(16, 6);
  ExpectStale(old_delta);
  ExpectStale(old_baseline);
  EXPECT_EQ(Apply(Baseline(19)), StateOutcome::kBaseline);
  ExpectShown(19, 6);
  EXPECT_EQ(Apply(Delta(22, 7)), StateOutcome::kDelta);
  ExpectShown(22, 7);
}

TEST_P(StateReceiverTest, OwnBodyIsOfTheFrameThatIsShown) {
  Apply(Baseline(10));
  const OwnWords own{4, {1'000, 0, -2'500}, {15'000, 0, 0}, true};
  Apply(Delta(13, 5, &own));
  ASSERT_TRUE(client_.own().has_value());
  EXPECT_EQ(client_.own()->seq, 4u);
  EXPECT_EQ(client_.own()->position, (Vec3{1, 0, -2.5F}));
  EXPECT_EQ(client_.own()->velocity, (Vec3{1.5F, 0, 0}));
  EXPECT_TRUE(client_.own()->grounded);
  Apply(Delta(16, 6));
  EXPECT_FALSE(client_.own().has_value());
  Apply(Delta(19, 6, &own));
  Apply(Baseline(22));
  EXPECT_FALSE(client_.own().has_value());
}

TEST_P(StateReceiverTest, MalformedFramesChangeNothing) {
  Apply(Baseline(10));
  Apply(Delta(13, 5));
  const Bytes good = Delta(16, 6);
  for (std::size_t length = 0; length < good.size(); ++length) {
    ExpectNothing(Bytes(good.data(), good.data() + length),
                  StateOutcome::kMalformed);
  }
  Bytes longer = good;
  longer.push_back(std::byte{'0'});
  ExpectNothing(longer, StateOutcome::kMalformed);
  EXPECT_EQ(client_.counters().malformed, good.size() + 1);
  EXPECT_EQ(Apply(good), StateOutcome::kDelta);
  ExpectShown(16, 6);
}

TEST_P(StateReceiverTest, CountsByOutcome) {
  Apply(Baseline(10));
  const Bytes delta = Delta(13, 5);
  Apply(delta);
  Apply(delta);
  Apply(Recovery(16, 6));
  Apply({});
  const StateCounters& counters = client_.counters();
  EXPECT_EQ(counters.baselines, 1u);
  EXPECT_EQ(counters.deltas, 1u);
  EXPECT_EQ(counters.recoveries, 1u);
  EXPECT_EQ(counters.stale, 1u);
  EXPECT_EQ(counters.malformed, 1u);
}

// One connection may carry both: a text message is JSON, a binary one is not.
TEST(StateReceiver, TakesBothCodecsByTurns) {
  const Schema schema = MakeSchema();
  RowTable room(schema);
  StateReceiver client(schema);
  const RowId row = room.Add(0);
  room.TakeBaseline();
  EXPECT_EQ(client.Apply(MessageKind::kText,
                         WriteBaseline(JsonStateCodec(), room, 10)),
            StateOutcome::kBaseline);
  room.Set(row, kHp, 1);
  EXPECT_EQ(client.Apply(MessageKind::kBinary,
                         WriteDelta(BinaryStateCodec(), room, 13)),
            StateOutcome::kDelta);
  EXPECT_EQ(Difference(ModelOf(room), ModelOf(client.rows())), "");
  room.Set(row, kTag, "x");
  EXPECT_EQ(
      client.Apply(MessageKind::kText, WriteDelta(JsonStateCodec(), room, 16)),
      StateOutcome::kDelta);
  EXPECT_EQ(Difference(ModelOf(room), ModelOf(client.rows())), "");
}

}  // namespace
}  // namespace parlor::authority
