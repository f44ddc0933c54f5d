// A room with gather_ms, row by row: what waits for whom, and when it goes
// (room_script.h explains the lines); and that nobody hears anything else than
// without it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "parlor/lockstep/replay_log.h"
#include "parlor/lockstep/room.h"
#include "parlor/lockstep/room_state.h"
#include "parlor/random.h"
#include "room_script.h"
#include "support/seed.h"

namespace parlor::lockstep {
namespace {

using test::RoomRowName;
using test::RoomScript;
using test::StartedRoom;
using Line = test::RoomLine;
using Row = test::RoomRow;

constexpr RoomOptions kGather{.gather_ms = 20};

class RoomGatherTest : public testing::TestWithParam<Row> {};

TEST_P(RoomGatherTest, TellsExactly) { test::TellsExactly(GetParam()); }

Row OfTwo(const char* name, const std::vector<Line>& lines,
          const RoomOptions& options = kGather) {
  return {
      name, {.players = 2, .options = options}, test::AfterTwoJoined(lines)};
}

Row OfThree(const char* name, const std::vector<Line>& lines,
            const RoomOptions& options = kGather) {
  return {
      name, {.players = 3, .options = options}, test::AfterThreeJoined(lines)};
}

INSTANTIATE_TEST_SUITE_P(
    Frames, RoomGatherTest,
    testing::Values(
        // Whoever speaks last waits for no one's but the others', so it has
        // them before it has spoken.
        OfThree("AFrameGoesOutWhenTheOthersHaveSaidIt",
                {{"a INPUT 0 0 0 0 1"},
                 {"b INPUT 0 0 0 0 2", "c INPUT 0 0 0 0 1; c INPUT 1 0 0 0 2"},
                 {"c INPUT 0 0 0 0 3",
                  "a INPUT 1 0 0 0 2; a INPUT 2 0 0 0 3; "
                  "b INPUT 0 0 0 0 1; b INPUT 2 0 0 0 3"},
                 {"c INPUT 0 0 0 1 4"},
                 {"a INPUT 0 0 0 1 5", "b INPUT 2 0 0 1 4; b INPUT 0 0 0 1 5"},
                 {"b INPUT 0 0 0 1 6",
                  "a INPUT 2 0 0 1 4; a INPUT 1 0 0 1 6; "
                  "c INPUT 0 0 0 1 5; c INPUT 1 0 0 1 6"},
                 {"wait 20"},
                 {"alarm"}}),
        // Each waits for the other alone, and it has just spoken.
        OfTwo("NothingWaitsForTwo",
              {{"a INPUT 0 0 0 0 1", "b INPUT 0 0 0 0 1"},
               {"a INPUT 0 0 0 1 1", "b INPUT 0 0 0 1 1"},
               {"b INPUT 0 0 0 0 1", "a INPUT 1 0 0 0 1"}}),
        Row{"NobodyToWaitFor",
            {.players = 1, .options = kGather},
            {{"join a", "a WELCOME 0 1 0 77 10"},
             {"a INPUT 0 0 0 0 1"},
             {"wait 20"},
             {"alarm"}}},
        OfTwo("AHashWaitsForTheNextInput",
              {{"a HASH 0 0 0 0 9"},
               {"wait 19"},
               {"alarm"},
               {"a INPUT 0 0 0 0 1", "b HASH 0 0 0 0 9; b INPUT 0 0 0 0 1"}}),
        OfTwo("AHashMovesNothing",
              {{"a HASH 0 0 0 0 9"},
               {"b HASH 0 0 0 0 9"},
               {"a HASH 0 0 0 30 9"},
               {"wait 20"},
               {"alarm",
                "a HASH 1 0 0 0 9; b HASH 0 0 0 0 9; b HASH 0 0 0 30 9"}}),
        OfThree("AStaleFrameMovesNothing",
                {{"a INPUT 0 0 0 5 1"},
                 {"b INPUT 0 0 0 5 2", "c INPUT 0 0 0 5 1; c INPUT 1 0 0 5 2"},
                 {"b INPUT 0 0 0 5 3"},
                 {"b INPUT 0 0 0 4 3"},
                 {"c HASH 0 0 0 7 3"},
                 {"c INPUT 0 0 0 5 4",
                  "a INPUT 1 0 0 5 2; a HASH 2 0 0 7 3; a INPUT 2 0 0 5 4; "
                  "b INPUT 0 0 0 5 1; b HASH 2 0 0 7 3; b INPUT 2 0 0 5 4"}}),
        // One that is ahead is never who others wait for.
        OfThree("OneThatRunsFarAheadIsNotWaitedFor",
                {{"a INPUT 0 0 0 100 1"},
                 {"a INPUT 0 0 0 4294967295 2"},
                 {"b INPUT 0 0 0 0 3",
                  "c INPUT 0 0 0 100 1; c INPUT 0 0 0 4294967295 2; "
                  "c INPUT 1 0 0 0 3"},
                 {"c INPUT 0 0 0 0 4",
                  "a INPUT 1 0 0 0 3; a INPUT 2 0 0 0 4; "
                  "b INPUT 0 0 0 100 1; b INPUT 0 0 0 4294967295 2; "
                  "b INPUT 2 0 0 0 4"},
                 // From here on b and c wait for each other alone.
                 {"b INPUT 0 0 0 1 3", "c INPUT 1 0 0 1 3"},
                 {"c INPUT 0 0 0 1 4",
                  "a INPUT 1 0 0 1 3; a INPUT 2 0 0 1 4; b INPUT 2 0 0 1 4"}}),
        OfThree("OneThatSkipsFramesIsNotWaitedForInThem",
                {{"a INPUT 0 0 0 0 1"},
                 {"b INPUT 0 0 0 0 1", "c INPUT 0 0 0 0 1; c INPUT 1 0 0 0 1"},
                 {"c INPUT 0 0 0 9 1",
                  "a INPUT 1 0 0 0 1; a INPUT 2 0 0 9 1; "
                  "b INPUT 0 0 0 0 1; b INPUT 2 0 0 9 1"},
                 {"a INPUT 0 0 0 3 1", "b INPUT 0 0 0 3 1"},
                 {"b INPUT 0 0 0 2 1",
                  "a INPUT 1 0 0 2 1; c INPUT 0 0 0 3 1; c INPUT 1 0 0 2 1"}}),
        // What c is told depends on a and b alone, and theirs on it.
        OfThree("OneThatLagsIsToldAtOnceAndWaitedFor",
                {{"a INPUT 0 0 0 0 1"},
                 {"b INPUT 0 0 0 0 1", "c INPUT 0 0 0 0 1; c INPUT 1 0 0 0 1"},
                 {"a INPUT 0 0 0 1 1"},
                 {"b INPUT 0 0 0 1 1", "c INPUT 0 0 0 1 1; c INPUT 1 0 0 1 1"},
                 {"c INPUT 0 0 0 0 1",
                  "a INPUT 1 0 0 0 1; a INPUT 1 0 0 1 1; a INPUT 2 0 0 0 1; "
                  "b INPUT 0 0 0 0 1; b INPUT 0 0 0 1 1; b INPUT 2 0 0 0 1"},
                 {"c INPUT 0 0 0 1 1",
                  "a INPUT 2 0 0 1 1; b INPUT 2 0 0 1 1"}})),
    RoomRowName);

INSTANTIATE_TEST_SUITE_P(
    Bound, RoomGatherTest,
    testing::Values(
        OfThree("NothingWaitsForLonger",
                {{"a INPUT 0 0 0 0 1"},
                 {"wait 19"},
                 {"alarm"},
                 {"wait 1"},
                 {"alarm", "b INPUT 0 0 0 0 1; c INPUT 0 0 0 0 1"},
                 {"wait 20"},
                 {"alarm"}}),
        OfThree("ItCountsFromTheOldestOfEachReceiver",
                {{"a INPUT 0 0 0 0 1"},
                 {"wait 15"},
                 {"b INPUT 0 0 0 0 2", "c INPUT 0 0 0 0 1; c INPUT 1 0 0 0 2"},
                 {"wait 4"},
                 {"a INPUT 0 0 0 1 3"},
                 {"wait 1"},
                 // The younger one goes with it.
                 {"alarm", "b INPUT 0 0 0 0 1; b INPUT 0 0 0 1 3"},
                 {"wait 15"},
                 {"alarm", "a INPUT 1 0 0 0 2"},
                 {"wait 4"},
                 {"alarm", "c INPUT 0 0 0 1 3"}}),
        OfThree("AReleaseCancelsIt",
                {{"a INPUT 0 0 0 0 1"},
                 {"wait 10"},
                 {"b INPUT 0 0 0 0 2", "c INPUT 0 0 0 0 1; c INPUT 1 0 0 0 2"},
                 {"c INPUT 0 0 0 0 3",
                  "a INPUT 1 0 0 0 2; a INPUT 2 0 0 0 3; "
                  "b INPUT 0 0 0 0 1; b INPUT 2 0 0 0 3"},
                 {"wait 5"},
                 {"a INPUT 0 0 0 1 1"},
                 {"wait 5"},
                 {"alarm"},
                 {"wait 14"},
                 {"alarm"},
                 {"wait 1"},
                 {"alarm", "b INPUT 0 0 0 1 1; c INPUT 0 0 0 1 1"}}),
        // Whatever call comes first after it finds it done.
        OfThree("AMessageThatComesBeforeTheAlarm",
                {{"a INPUT 0 0 0 0 1"},
                 {"wait 25"},
                 {"c HASH 0 0 0 0 9", "b INPUT 0 0 0 0 1; c INPUT 0 0 0 0 1"},
                 {"wait 20"},
                 {"ping a", "a HASH 2 0 0 0 9; b HASH 2 0 0 0 9"}}),
        // a and b get on only when c speaks, and it does not.
        OfThree("OneThatIsSilentCostsTheOthersTheBound",
                {{"a INPUT 0 0 0 0 1"},
                 {"b INPUT 0 0 0 0 2", "c INPUT 0 0 0 0 1; c INPUT 1 0 0 0 2"},
                 {"wait 20"},
                 {"alarm", "a INPUT 1 0 0 0 2; b INPUT 0 0 0 0 1"},
                 {"a INPUT 0 0 0 1 1"},
                 {"b INPUT 0 0 0 1 2", "c INPUT 0 0 0 1 1; c INPUT 1 0 0 1 2"},
                 {"wait 20"},
                 {"alarm", "a INPUT 1 0 0 1 2; b INPUT 0 0 0 1 1"}}),
        OfThree("ItIsZeroWhenOff",
                {{"a INPUT 0 0 0 0 1", "b INPUT 0 0 0 0 1; c INPUT 0 0 0 0 1"}},
                {})),
    RoomRowName);

INSTANTIATE_TEST_SUITE_P(
    Seats, RoomGatherTest,
    testing::Values(
        Row{"NothingWaitsInALobby",
            {.players = 3, .options = kGather},
            {{"join a", "a LOBBY 0 3 1"},
             {"join b", "a LOBBY 0 3 2; b LOBBY 1 3 2"},
             {"lose b 1006", "a LOBBY 0 3 1"},
             {"join c", "a LOBBY 0 3 2; c LOBBY 1 3 2"},
             {"kick 1", "a LOBBY 0 3 1; c closed 1008 kicked"},
             {"join d", "a LOBBY 0 3 2; d LOBBY 1 3 2"},
             {"a START 0 0 4", "a WELCOME 0 2 4 77 10; d WELCOME 1 2 4 77 11"},
             {"a INPUT 0 0 0 0 1", "d INPUT 0 0 0 0 1"}}},
        OfThree(
            "AwayComesBehindWhatWaits",
            {{"a INPUT 0 0 0 0 1"},
             {"b HASH 0 0 0 0 9"},
             {"lose c 1006",
              "a HASH 1 0 0 0 9; a AWAY 2 3; b INPUT 0 0 0 0 1; b AWAY 2 3"},
             // Who is away is not waited for: they are two.
             {"b INPUT 0 0 0 0 2", "a INPUT 1 0 0 0 2"},
             {"a INPUT 0 0 0 1 3", "b INPUT 0 0 0 1 3"}}),
        OfThree("LeaveComesBehindWhatWaits",
                {{"a INPUT 0 0 0 0 1"},
                 {"c INPUT 0 0 0 0 2", "b INPUT 0 0 0 0 1; b INPUT 2 0 0 0 2"},
                 {"lose c 1000", "a INPUT 2 0 0 0 2; a LEAVE 2 3; b LEAVE 2 3"},
                 {"b INPUT 0 0 0 0 2", "a INPUT 1 0 0 0 2"}}),
        OfThree("TheEndOfAHoldComesBehindWhatWaits",
                {{"lose c 1006", "a AWAY 2 3; b AWAY 2 3"},
                 {"wait 50"},
                 {"a HASH 0 0 0 0 9"},
                 {"wait 10"},
                 {"alarm", "a LEAVE 2 3; b HASH 0 0 0 0 9; b LEAVE 2 3"}},
                {.hold_ms = 60, .gather_ms = 20}),
        OfThree("WhoIsKickedHearsWhatWaits",
                {{"a INPUT 0 0 0 0 1"},
                 {"kick 1",
                  "a LEAVE 1 3; b INPUT 0 0 0 0 1; b closed 1008 kicked; "
                  "c INPUT 0 0 0 0 1; c LEAVE 1 3"}}),
        OfThree("WhoSaysTooMuchHearsWhatWaits",
                {{"a INPUT 0 0 0 0 1"},
                 {"bytes b 11",
                  "a LEAVE 1 3; b INPUT 0 0 0 0 1; b closed 1009 message size; "
                  "c INPUT 0 0 0 0 1; c LEAVE 1 3"}}),
        OfThree("ARoomThatEndsTellsWhatWaits",
                {{"wait 990"},
                 {"a INPUT 0 0 0 0 1"},
                 {"wait 10"},
                 {"alarm",
                  "a closed 1001 room time is up; "
                  "b INPUT 0 0 0 0 1; b closed 1001 room time is up; "
                  "c INPUT 0 0 0 0 1; c closed 1001 room time is up"}},
                {.lifetime_ms = 1'000, .gather_ms = 20}),
        // d has each INPUT once: by the replay, and then as it is said.
        OfThree("AReplayComesBehindWhatWaits",
                {{"lose c 1006", "a AWAY 2 3; b AWAY 2 3"},
                 {"a INPUT 0 0 0 0 1", "b INPUT 0 0 0 0 1"},
                 {"a HASH 0 0 0 0 9"},
                 {"resume d c",
                  "a RESUME 2 3; b HASH 0 0 0 0 9; b RESUME 2 3; "
                  "d WELCOME 2 3 0 77 12; d RESUME 2 3; d INPUT 0 0 0 0 1"},
                 {"a INPUT 0 0 0 1 1"},
                 {"b INPUT 0 0 0 0 2", "d INPUT 0 0 0 1 1; d INPUT 1 0 0 0 2"},
                 // It is waited for again, from its last INPUT on.
                 {"d INPUT 0 0 0 0 3",
                  "a INPUT 1 0 0 0 2; a INPUT 2 0 0 0 3; "
                  "b INPUT 0 0 0 1 1; b INPUT 2 0 0 0 3"}}),
        OfThree("WhoTakesASeatOverHasWhatWaitedOnce",
                {{"a INPUT 0 0 0 0 1"},
                 {"resume d b",
                  "a RESUME 1 3; b INPUT 0 0 0 0 1; b closed 4001 resumed; "
                  "c INPUT 0 0 0 0 1; c RESUME 1 3; d WELCOME 1 3 0 77 11; "
                  "d RESUME 1 3; d INPUT 0 0 0 0 1"},
                 {"wait 20"},
                 {"alarm"}}),
        // What waited for b is gone with its link, and in the replay.
        OfThree("WhatWaitedForWhoDropped",
                {{"a INPUT 0 0 0 0 1"},
                 {"lose b 1006", "a AWAY 1 3; c INPUT 0 0 0 0 1; c AWAY 1 3"},
                 {"wait 20"},
                 {"alarm"},
                 {"resume d b",
                  "a RESUME 1 3; c RESUME 1 3; d WELCOME 1 3 0 77 11; "
                  "d RESUME 1 3; d INPUT 0 0 0 0 1"}}),
        OfThree("WrongTokensMoveNothing",
                {{"a INPUT 0 0 0 0 1"},
                 {"resume d ff", "d closed 4002 seat gone"},
                 {"join e", "e closed 4000 room full"}}),
        // Its queue is longer than its lane; that it is closed comes later.
        OfThree("AnOverflowWhileFlushing",
                {{"full c 1"},
                 {"a INPUT 0 0 0 0 1"},
                 {"b INPUT 0 0 0 0 2",
                  "c INPUT 0 0 0 0 1; c closed 1011 too slow"},
                 {"lose c 1011",
                  "a INPUT 1 0 0 0 2; a AWAY 2 3; "
                  "b INPUT 0 0 0 0 1; b AWAY 2 3"}})),
    RoomRowName);

// --- Rules that are longer than a row

// What `to` was told of `seat`: INPUTs of frames first..last.
std::string Inputs(char to, int seat, int first, int last) {
  std::string text;
  for (int frame = first; frame <= last; ++frame) {
    if (!text.empty()) text += "; ";
    text += to + std::string(" INPUT ") + std::to_string(seat) + " 0 0 " +
            std::to_string(frame) + " 1";
  }
  return text;
}

// Its size is told in room.h: of 3 seats, the largest power of two up to 24.
TEST(RoomGatherStoreTest, WhenItIsFullWhoHasWaitedLongestIsFlushed) {
  StartedRoom script({.players = 3, .options = kGather});
  script.Do("wait 1");
  script.Do("c INPUT 0 0 0 0 1");  // for a and b
  script.Do("a INPUT 0 0 0 0 1");  // and b is flushed
  for (int frame = 1; frame < 15; ++frame) {
    EXPECT_EQ(script.Do("a INPUT 0 0 0 " + std::to_string(frame) + " 1"), "");
  }
  // 16 wait. What is said goes behind them, so a, for whom the oldest is, has
  // it first; c has them all, but the first, only with the next one.
  EXPECT_EQ(script.Do("a INPUT 0 0 0 15 1"), Inputs('a', 2, 0, 0));
  EXPECT_EQ(script.Do("a INPUT 0 0 0 16 1"), Inputs('c', 0, 0, 15));
  EXPECT_EQ(script.Do("a INPUT 0 0 0 17 1"), Inputs('b', 0, 1, 16));
  EXPECT_EQ(script.Do("wait 20"), "");
  EXPECT_EQ(script.Do("alarm"),
            Inputs('b', 0, 17, 17) + "; " + Inputs('c', 0, 16, 17));
}

// Whatever the others do, no seat is told later than without.
TEST(RoomGatherStoreTest, AFloodGrowsNothing) {
  StartedRoom script({.players = 2,
                      .options = {.message_rate_per_s = 10'000,
                                  .message_burst = 20'000,
                                  .gather_ms = 100}});
  const std::size_t memory = script.room().memory_bytes();
  std::size_t told = 0;
  for (int frame = 0; frame < 10'000; ++frame) {
    const std::string hash = "a HASH 0 0 0 " + std::to_string(frame) + " 1";
    if (!script.Do(hash).empty()) ++told;
  }
  EXPECT_EQ(told, 9'999u / 16);  // each time that 16 had waited
  EXPECT_EQ(script.room().memory_bytes(), memory);
}

TEST(RoomGatherCountersTest, DeliveredIsWhatWasSent) {
  StartedRoom script({.players = 3, .options = kGather});
  const RoomCounters& counters = script.room().counters();
  script.Do("a INPUT 0 0 0 0 1");
  EXPECT_EQ(counters.relayed, 1u);
  EXPECT_EQ(counters.delivered, 0u);
  script.Do("b INPUT 0 0 0 0 1");
  EXPECT_EQ(counters.relayed, 2u);
  EXPECT_EQ(counters.delivered, 2u);
  // What waited for who dropped counts as little as what its link lost.
  script.Do("lose a 1006");
  EXPECT_EQ(counters.delivered, 3u);
  script.Do("full b 0");
  script.Do("c INPUT 0 0 0 0 1");
  EXPECT_EQ(counters.relayed, 3u);
  EXPECT_EQ(counters.delivered, 3u);
}

TEST(RoomGatherMemoryTest, TwoKibibytesAndOneASeat) {
  for (int players = 1; players <= limits::kSeats.ceiling; ++players) {
    RoomScript without({.players = players});
    RoomScript with({.players = players, .options = kGather});
    const auto seats = static_cast<std::size_t>(players);
    EXPECT_LE(with.room().memory_bytes(), 2048 + 1024 * seats);
    EXPECT_GT(with.room().memory_bytes(),
              without.room().memory_bytes() + 4 * seats * kMessageSize);
  }
}

TEST(RoomGatherAlarmTest, ComesForWhatWaits) {
  using std::chrono::milliseconds;
  StartedRoom script({.players = 3, .options = kGather});
  const TimePoint start = script.now();
  Room& room = script.room();
  script.Do("wait 5");
  script.Do("a INPUT 0 0 0 0 1");
  EXPECT_EQ(room.next_alarm(), start + milliseconds(25));
  script.Do("wait 10");
  script.Do("b INPUT 0 0 0 0 1");
  EXPECT_EQ(room.next_alarm(), start + milliseconds(25));
  script.Do("wait 10");
  EXPECT_EQ(script.Do("alarm"), "b INPUT 0 0 0 0 1");
  EXPECT_EQ(room.next_alarm(), start + milliseconds(35));
  script.Do("c INPUT 0 0 0 0 1");
  EXPECT_EQ(room.next_alarm(), start + milliseconds(35));
  script.Do("wait 10");
  // Nothing waits, and messages came: once more, then only for its deadline.
  EXPECT_EQ(script.Do("alarm"), "");
  EXPECT_EQ(room.next_alarm(), start + milliseconds(55));
  script.Do("wait 20");
  EXPECT_EQ(script.Do("alarm"), "");
  EXPECT_EQ(room.next_alarm(),
            start + milliseconds(25) + milliseconds(limits::kIdleMs.fallback));
  // Two wait for nobody, and need none.
  script.Do("lose c 1000");
  script.Do("a INPUT 0 0 0 1 1");
  EXPECT_GT(room.next_alarm(), start + milliseconds(100));
}

class RelayTimes final : public RoomRecorder {
 public:
  void OnRelay(TimePoint now, const MessageBytes&) override {
    times.push_back(now);
  }
  void OnEvent(TimePoint, const ReplayEvent&) override {}

  std::vector<TimePoint> times;
};

TEST(RoomGatherRecorderTest, HearsAtOnce) {
  StartedRoom script({.players = 3, .options = kGather});
  RelayTimes recorder;
  script.room().SetRecorder(&recorder);
  const TimePoint first = script.now();
  script.Do("a INPUT 0 0 0 0 1");
  script.Do("wait 10");
  const TimePoint second = script.now();
  script.Do("a HASH 0 0 0 0 1");
  script.Do("wait 10");
  script.Do("alarm");
  EXPECT_EQ(recorder.times, (std::vector{first, second}));
}

// What waited when a room was saved is in what it is taken back with.
TEST(RoomGatherStateTest, ARestartLosesNothingOfIt) {
  StartedRoom script({.players = 3, .options = kGather});
  script.Do("b INPUT 0 0 0 4 1");
  script.Do("c INPUT 0 0 0 4 1");
  EXPECT_EQ(script.Do("a INPUT 0 0 0 6 1"),
            "b INPUT 2 0 0 4 1; b INPUT 0 0 0 6 1; "
            "c INPUT 1 0 0 4 1; c INPUT 0 0 0 6 1");
  script.Do("a INPUT 0 0 0 7 1");
  std::vector<std::byte> saved;
  script.room().Save(script.now(), saved);
  const auto state = ParseRoomState(saved);
  ASSERT_TRUE(state.ok());
  test::ListedEntropy entropy({});
  Room room(script.now(), *state, kGather, entropy);
  std::array<test::RecordingConnection, 3> seats;
  room.Resume(script.now(), seats[0], "a");
  room.Resume(script.now(), seats[1], "b");
  EXPECT_EQ(seats[1].Take().size(), 2u + 3u + 2u);  // WELCOME, RESUME; states
  // 0 and 1 are two, and what one says the other has; 0 is at frame 7.
  const auto say = [&](std::size_t seat, std::uint32_t frame) {
    room.OnMessage(script.now(), seats[seat], MessageKind::kBinary,
                   Encode({.kind = Kind::kInput, .frame = frame}));
  };
  say(1, 5);
  EXPECT_EQ(seats[0].Take().size(), 2u + 2u + 2u + 1u + 1u);
  room.Resume(script.now(), seats[2], "c");
  for (auto& seat : seats) seat.Take();
  // 2 is the last, and 1 behind it: both are waited for.
  say(0, 8);
  EXPECT_TRUE(seats[1].Take().empty() && seats[2].Take().empty());
  say(2, 5);
  EXPECT_EQ(seats[0].Take().size(), 1u);
  EXPECT_EQ(seats[1].Take().size(), 2u);
  EXPECT_TRUE(seats[2].Take().empty());
}

// --- Beside a room without it

// What one connection was told, and by it the last INPUT frame of each seat.
struct Heard {
  struct Entry {
    std::string text;
    TimePoint at;
  };
  void Add(const std::string& text, TimePoint at) {
    entries.push_back({text, at});
    std::istringstream words(text);
    std::string kind;
    int seat = 0, skipped = 0;
    std::int64_t frame = 0;
    words >> kind >> seat >> skipped >> skipped >> frame;
    if (kind == "INPUT") inputs[seat] = frame;
    if (kind == "closed") closed = true;
  }
  std::int64_t InputOf(int seat) const {
    const auto found = inputs.find(seat);
    return found == inputs.end() ? -1 : found->second;
  }

  std::vector<Entry> entries;
  std::map<int, std::int64_t> inputs;
  bool closed = false;
};

class Side {
 public:
  Side(int players, std::int64_t gather_ms)
      : script_({.players = players,
                 .options = {.hold_ms = 200,
                             .message_rate_per_s = 10'000,
                             .message_burst = 20'000,
                             .gather_ms = gather_ms}}) {}

  void Do(const std::string& line) {
    std::istringstream pieces(script_.Do(line));
    for (std::string piece; std::getline(pieces, piece, ';');) {
      if (piece.front() == ' ') piece.erase(0, 1);
      heard_[piece.substr(0, 1)].Add(piece.substr(2), script_.now());
    }
  }

  Room& room() { return script_.room(); }
  TimePoint now() const { return script_.now(); }
  const Heard& heard(const std::string& name) { return heard_[name]; }
  int SeatOf(const std::string& name) {
    return script_.room().SeatOf(script_.connection(name));
  }

 private:
  RoomScript script_;
  std::map<std::string, Heard> heard_;
};

// The same things happen to a room with and to one without.
class Beside {
 public:
  explicit Beside(std::uint64_t seed)
      : random_(seed * 0x9e3779b97f4a7c15u),
        players_(random_.Between(2, 6)),
        gather_ms_(random_.Between(1, 100)),
        with_(players_, gather_ms_),
        without_(players_, 0) {
    for (int i = 0; i < players_; ++i) Join();
  }

  void Step() {
    const std::uint32_t dice = random_.Below(100);
    if (dice < 70) return Say();
    if (dice < 90) return Wait(random_.Between(0, 2 * gather_ms_ / players_));
    if (dice < 94) return Both("lose " + Seated() + " 1006");
    if (dice < 99) return Resume();
    if (random_.Chance(1, 4)) Both("lose " + Seated() + " 1000");
    if (random_.Chance(1, 4)) Both("kick " + std::to_string(Seat()));
  }
  void Wait(int ms) {
    Both("wait " + std::to_string(ms));
    Both("alarm");
  }
  bool ended() { return with_.room().seated() == 0; }
  int gather_ms() const { return gather_ms_; }
  const std::string& history() const { return history_; }

  // What the one with it says is what the other says, of each message at most
  // gather_ms later, and never a frame that is complete for a seat: one that
  // all the others who are connected have said their INPUT for.
  void Check() {
    const Duration bound = gather_ms_ * kMillisecond;
    for (const std::string& name : names_) {
      SCOPED_TRACE(name);
      const Heard& with = with_.heard(name);
      const Heard& without = without_.heard(name);
      ASSERT_LE(with.entries.size(), without.entries.size());
      std::size_t& i = compared_[name];
      for (; i < with.entries.size(); ++i) {
        ASSERT_EQ(with.entries[i].text, without.entries[i].text);
      }
      ASSERT_EQ(with.closed, without.closed);
      const int seat = with_.SeatOf(name);
      ASSERT_EQ(seat, without_.SeatOf(name));
      if (seat < 0) continue;
      ASSERT_EQ(Complete(with, seat), Complete(without, seat));
      if (with.entries.size() == without.entries.size()) continue;
      ASSERT_GT(without.entries[with.entries.size()].at + bound, with_.now());
    }
    ASSERT_EQ(with_.room().counters().relayed,
              without_.room().counters().relayed);
  }

 private:
  void Both(const std::string& line) {
    history_ += line + "\n";
    with_.Do(line);
    without_.Do(line);
  }

  // The last frame for which `seat` has every other seat's INPUT.
  std::int64_t Complete(const Heard& heard, int seat) {
    std::int64_t lowest = std::numeric_limits<std::int64_t>::max();
    for (const std::string& name : names_) {
      const int other = with_.SeatOf(name);
      if (other < 0 || other == seat) continue;
      lowest = std::min(lowest, heard.InputOf(other));
    }
    return lowest;
  }

  void Join() {
    names_.emplace_back(1, static_cast<char>('a' + names_.size()));
    Both("join " + names_.back());
  }
  void Resume() {
    if (names_.size() == 26) return;
    names_.emplace_back(1, static_cast<char>('a' + names_.size()));
    Both("resume " + names_.back() + " " + TokenText(10 + Seat()));
  }
  void Say() {
    const std::string name = Seated();
    std::int64_t& frame = frames_[with_.SeatOf(name)];
    const char* const kind = random_.Chance(1, 8) ? "HASH" : "INPUT";
    // Mostly the next, at times an old one, or some are skipped.
    frame += random_.Chance(1, 10) ? random_.Between(-2, 3) : 1;
    frame = std::max<std::int64_t>(frame, 0);
    Both(name + " " + kind + " 0 0 0 " + std::to_string(frame) + " " +
         std::to_string(random_.Below(100)));
  }

  std::uint32_t Seat() {
    return random_.Below(static_cast<std::uint32_t>(players_));
  }
  // Somebody who has a seat; one of them speaks more than the others.
  std::string Seated() {
    std::vector<std::string> seated;
    for (const std::string& name : names_) {
      if (with_.SeatOf(name) >= 0) seated.push_back(name);
    }
    if (random_.Chance(1, 4)) return seated.back();
    return seated[random_.Below(static_cast<std::uint32_t>(seated.size()))];
  }

  Random random_;
  const int players_;
  const int gather_ms_;
  Side with_;
  Side without_;
  std::vector<std::string> names_;
  std::map<int, std::int64_t> frames_;
  std::map<std::string, std::size_t> compared_;  // entries of each
  std::string history_;
};

TEST(RoomGatherBesideTest, EachHearsTheSameAndNoFrameIsLater) {
  const std::uint64_t seed = test::TestSeed();
  const std::uint64_t sequences = test::NumberFromEnv("PARLOR_SEQUENCES", 120);
  for (std::uint64_t i = 0; i < sequences; ++i) {
    Beside beside(seed + i);
    for (int step = 0; step < 150 && !beside.ended(); ++step) {
      beside.Step();
      beside.Check();
      ASSERT_FALSE(testing::Test::HasFatalFailure())
          << "rerun: PARLOR_SEED=" << seed + i
          << " PARLOR_SEQUENCES=1 room_test "
             "--gtest_filter=RoomGatherBesideTest.*, gather "
          << beside.gather_ms() << "\n"
          << beside.history();
    }
  }
}

}  // namespace
}  // namespace parlor::lockstep
