// Games that fail: whatever they throw, wherever, stays inside the room.
#include <chrono>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "authority/room_fixture.h"
#include "support/status_matchers.h"

namespace parlor::authority {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;

class RoomGameTest : public RoomTest {};

TEST_F(RoomGameTest, AFailedTickIsCountedAndNamedAndTimeGoesOn) {
  Join("a");
  Forget();
  game_.throws_in = "step";
  RunTick(3);
  game_.throws_in = "";
  RunTick(3);
  EXPECT_EQ(room().counters().failed_ticks, 3u);
  EXPECT_EQ(room().tick(), 7u);
  // Snapshots go on: what the step had done is done.
  EXPECT_THAT(Told("a"), ElementsAre("delta 1 at 3", "delta 1 at 6"));
  EXPECT_THAT(sink_.Take(), ElementsAre("failed_tick step", "failed_tick step",
                                        "failed_tick step"));
}

TEST_F(RoomGameTest, TenFailedTicksInARowEndTheRoom) {
  Join("a");
  Join("b");
  Lose("b", 1006);
  Admit("c");
  Forget();
  game_.throws_in = "step";
  RunTick(9);
  game_.throws_in = "";
  RunTick();
  game_.throws_in = "step";
  RunTick(9);
  EXPECT_FALSE(room().ended());
  EXPECT_EQ(News("a"), std::vector<std::string>({"roster p1* p2-"}));
  RunTick();
  EXPECT_TRUE(room().ended());
  EXPECT_EQ(room().counters().failed_ticks, 19u);
  EXPECT_THAT(News("a"), ElementsAre("error ended", "closed 4004"));
  EXPECT_THAT(Told("c"), ElementsAre("error ended", "closed 4004"));
  EXPECT_EQ(sink_.Take().back(), "ended room_ended");
  EXPECT_EQ(room().next_alarm(), kNever);
}

// Several due at once: the room is over in the middle of them.
TEST_F(RoomGameTest, EndsInACatchUp) {
  Join("a");
  game_.throws_in = "step";
  RunTick(8);
  game_.steps = 0;
  now_ += seconds(1);
  room().OnAlarm(now_);
  EXPECT_TRUE(room().ended());
  EXPECT_EQ(game_.steps, 2);
}

TEST_F(RoomGameTest, AGameThatThrowsInWriteStateSendsNoSnapshot) {
  Join("a");
  Forget();
  game_.throws_in = "write_state";
  RunTick(5);
  EXPECT_THAT(Told("a"), ElementsAre());
  // Two of the five were snapshots.
  EXPECT_EQ(room().counters().failed_ticks, 2u);
  EXPECT_FALSE(room().ended());
  Ask("b");
  RunTick(2);
  EXPECT_THAT(Told("b"), ElementsAre());
  game_.throws_in = "";
  RunTick();
  EXPECT_THAT(Told("b"), ElementsAre("welcome p2 1", "baseline 1 at 1",
                                     "delta 1 at 9", "roster p1* p2"));
}

// The baseline of the second comes with the next snapshot instead.
// One that never gives a state: the ticks between two snapshots, which ask for
// none, are no success.
TEST_F(RoomGameTest, TenFailedSnapshotsInARowEndTheRoom) {
  for (const char* call : {"write_state", "own"}) {
    SCOPED_TRACE(call);
    const std::string name = std::string("a ") + call;
    Join(name);
    game_.throws_in = call;
    RunTick(9 * 3);
    game_.throws_in = "";
    RunTick(3);
    EXPECT_FALSE(room().ended());
    game_.throws_in = call;
    RunTick(9 * 3);
    EXPECT_FALSE(room().ended());
    game_.throws_in = "";
    RunTick(3);
  }
  game_.throws_in = "write_state";
  RunTick(10 * 3);
  EXPECT_TRUE(room().ended());
}

TEST_F(RoomGameTest, ABaselineIsMadeUpFor) {
  Join("a");
  RunTick(57);
  Forget();
  game_.throws_in = "write_state";
  RunTick(2);
  game_.throws_in = "";
  RunTick(3);
  EXPECT_EQ(room().tick(), 63u);
  EXPECT_THAT(Told("a"), ElementsAre("baseline 2 at 63", "delta 2 at 63"));
}

TEST_F(RoomGameTest, AThrowingValidateJoinRefuses) {
  Join("a");
  game_.throws_in = "validate_join";
  Ask("b");
  EXPECT_THAT(Told("b"), ElementsAre("error refused", "closed 1008"));
  EXPECT_EQ(client("b").error, "");
  EXPECT_EQ(room().players().size(), 1u);
  RunTick();
  EXPECT_EQ(room().counters().failed_ticks, 1u);
  EXPECT_THAT(sink_.Take(), ElementsAre("failed_tick validate_join"));
}

TEST_F(RoomGameTest, AThrowingAddPlayerRefusesAndFreesTheSeat) {
  Join("a");
  game_.throws_in = "add_player";
  Ask("b");
  EXPECT_THAT(Told("b"), ElementsAre("error refused", "closed 1008"));
  EXPECT_THAT(game_.TakeCalls(), ElementsAre("validate Ann {} []", "add p2 1"));
  Say("b", R"({"t":"leave"})");
  Lose("b", 1006);
  game_.throws_in = "";
  Ask("c");
  RunTick();
  EXPECT_EQ(client("c").welcome.player, "p3");
  EXPECT_EQ(client("c").welcome.seat, 1);
  EXPECT_THAT(News("a"), ElementsAre("roster p1* p3"));
  EXPECT_EQ(room().counters().failed_ticks, 1u);
}

TEST_F(RoomGameTest, ARoomWhoseOnlyPlayerIsRefusedSleeps) {
  game_.throws_in = "add_player";
  Ask("a");
  Wait(seconds(1));
  EXPECT_EQ(room().tick(), 0u);
  EXPECT_EQ(room().next_alarm(), kNever);
}

TEST_F(RoomGameTest, AThrowingRemovePlayerStillFreesTheSeat) {
  Join("a");
  Join("b");
  Forget();
  game_.throws_in = "remove_player";
  Say("b", R"({"t":"leave"})");
  EXPECT_EQ(room().players().size(), 1u);
  game_.throws_in = "";
  RunTick();
  EXPECT_EQ(room().counters().failed_ticks, 1u);
  EXPECT_THAT(News("a"), ElementsAre("roster p1*"));
}

TEST_F(RoomGameTest, AThrowingOnMessageFailsTheTickOnce) {
  Join("a");
  Forget();
  game_.throws_in = "on_message";
  for (int i = 0; i < 3; ++i) {
    Say("a", R"({"t":"msg","name":"vote","payload":1})");
  }
  RunTick();
  EXPECT_EQ(room().counters().failed_ticks, 1u);
  EXPECT_EQ(room().counters().received, 3u);
  EXPECT_THAT(sink_.Take(), ElementsAre("failed_tick on_message"));
}

TEST_F(RoomGameTest, AThrowingInViewHidesTheRow) {
  game_.views = true;
  game_.on_write = [](RowTable& rows) {
    if (rows.size() == 0) rows.Add(kThingKind);
  };
  Join("a");
  EXPECT_EQ(client("a").rows.size(), 1u);
  game_.throws_in = "in_view";
  RunTick(3);
  EXPECT_EQ(client("a").rows.size(), 0u);
  EXPECT_EQ(room().counters().failed_ticks, 1u);
  game_.throws_in = "";
  RunTick(3);
  EXPECT_EQ(client("a").rows.size(), 1u);
}

TEST_F(RoomGameTest, AThrowingOwnIsABodyLess) {
  Join("a");
  game_.throws_in = "own";
  RunTick(3);
  EXPECT_EQ(room().counters().failed_ticks, 1u);
  EXPECT_EQ(Told("a").back(), "delta 1 at 3");
}

// Not only exceptions of the library's.
TEST_F(RoomGameTest, WhateverIsThrown) {
  Join("a");
  game_.on_step = [](Context&, std::span<const SeatInput>) { throw 7; };
  RunTick();
  EXPECT_EQ(room().counters().failed_ticks, 1u);
}

TEST_F(RoomGameTest, RefusedValuesAreCountedAndNotedOnceWithTheirPlace) {
  Join("a");
  Forget();
  game_.on_write = [](RowTable& rows) {
    if (rows.size() == 0) rows.Add(kThingKind);
    rows.Set(1, kSize, std::numeric_limits<float>::quiet_NaN());
    rows.Set(1, kSize, std::numeric_limits<float>::infinity());
  };
  RunTick(6);
  EXPECT_EQ(room().counters().refused_values, 4u);
  const std::vector<std::string> notes = sink_.Take();
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_THAT(notes[0], HasSubstr("refused_value row 1 (thing) field size"));
}

// A client that makes a game throw at every message ends no more than the room
// that the game could not run, and the words stay inside.
TEST_F(RoomGameTest, NothingThatWasThrownIsNoted) {
  Join("a");
  for (const char* call : {"step", "write_state", "own", "on_message"}) {
    game_.throws_in = call;
    Say("a", R"({"t":"msg","name":"vote","payload":1})");
    RunTick(3);
  }
  for (const std::string& note : sink_.Take()) {
    EXPECT_THAT(note, testing::Not(HasSubstr("secret")));
  }
}

// --- Options

struct BadOption {
  const char* name;
  void (*spoil)(RoomOptions&);
  const char* why;
};

class RoomOptionsTest : public testing::TestWithParam<BadOption> {};

TEST_P(RoomOptionsTest, AreRefusedByName) {
  const TestGame game;
  RoomOptions options{.protocol = "duel 1"};
  EXPECT_THAT(ValidateOptions(options, game.schema()), IsOk());
  GetParam().spoil(options);
  EXPECT_THAT(
      ValidateOptions(options, game.schema()),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(GetParam().why)));
}

INSTANTIATE_TEST_SUITE_P(
    All, RoomOptionsTest,
    testing::Values(
        BadOption{"NoProtocol", [](RoomOptions& o) { o.protocol = ""; },
                  "protocol"},
        BadOption{"LongProtocol",
                  [](RoomOptions& o) { o.protocol = std::string(65, 'x'); },
                  "protocol"},
        BadOption{"ControlProtocol", [](RoomOptions& o) { o.protocol = "a\n"; },
                  "protocol"},
        BadOption{"Seats", [](RoomOptions& o) { o.seats = 257; }, "seats"},
        BadOption{"TickHz", [](RoomOptions& o) { o.tick_hz = 9; }, "tick_hz"},
        BadOption{"SnapshotHz", [](RoomOptions& o) { o.snapshot_hz = 0; },
                  "snapshot_hz"},
        BadOption{"SnapshotsAboveTicks",
                  [](RoomOptions& o) {
                    o.tick_hz = 20;
                    o.snapshot_hz = 21;
                  },
                  "snapshot_hz: 21 is above the ticks a second, 20"},
        BadOption{"Grace", [](RoomOptions& o) { o.grace_ms = 120'001; },
                  "grace_ms"},
        BadOption{"Join", [](RoomOptions& o) { o.join_ms = 0; }, "join_ms"},
        BadOption{"Unjoined", [](RoomOptions& o) { o.unjoined = 0; },
                  "unjoined"},
        BadOption{"Rate", [](RoomOptions& o) { o.message_rate_per_s = 0; },
                  "message_rate"},
        BadOption{"Burst", [](RoomOptions& o) { o.message_burst = 0; },
                  "message_burst"},
        BadOption{"Inputs", [](RoomOptions& o) { o.input_rate_per_s = 481; },
                  "input_rate"},
        BadOption{"Waiting", [](RoomOptions& o) { o.inputs_waiting = 3; },
                  "inputs_waiting"},
        BadOption{"NoCodec", [](RoomOptions& o) { o.codecs.clear(); },
                  "codecs"},
        BadOption{"Baseline",
                  [](RoomOptions& o) { o.baseline_bytes_max = 100; },
                  "baseline_bytes_max: 100 is less than the schema's largest "
                  "baseline in binary, "}),
    [](const auto& row) { return std::string(row.param.name); });

}  // namespace
}  // namespace parlor::authority
