// What a fault planted in the room could change without another test seeing it:
// exact bounds, what a resume must not give, and who is told.
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "authority/room_fixture.h"
#include "parlor/authority/input.h"

namespace parlor::authority {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::StartsWith;

class RoomEdgeTest : public RoomTest {};

// 240 inputs are a burst: what the old connection took of it stays taken.
TEST_F(RoomEdgeTest, TheInputRateSurvivesAResume) {
  options_.message_burst = 20'000;
  options_.message_rate_per_s = 10'000;
  Join("a");
  std::uint32_t seq = 0;
  while (seq < 230) Input("a", {.seq = ++seq});
  Resume("b", client("a").token);
  for (seq = 0; seq < 20 && room().seated() > 0;) Input("b", {.seq = ++seq});
  EXPECT_EQ(room().seated(), 0);
  EXPECT_THAT(Told("b"), ElementsAre("error rate", "closed 1008"));
}

TEST_F(RoomEdgeTest, AFullRoomGivesNoId) {
  options_.seats = 1;
  Join("a");
  Ask("b");
  EXPECT_THAT(Told("b"), ElementsAre("error full", "closed 4000"));
  room().Kick(now_, 0);
  Join("c");
  EXPECT_EQ(client("c").welcome.player, "p2");
}

TEST_F(RoomEdgeTest, AnotherIdentityDoesNotProlongTheHold) {
  Join("a", "pass-17");
  Lose("a", 1006);
  Wait(seconds(14));
  Resume("b", client("a").token, "pass-18");
  EXPECT_THAT(Told("b"), ElementsAre("error resume_refused"));
  EXPECT_EQ(room().held(), 1);
  Wait(seconds(1));
  EXPECT_EQ(room().held(), 0);
}

// Between two ticks, not at the next.
TEST_F(RoomEdgeTest, AHoldEndsWhenItEnds) {
  options_.grace_ms = 20;
  Join("a");
  Lose("a", 1006);
  Wait(milliseconds(19));
  EXPECT_EQ(room().held(), 1);
  Wait(milliseconds(1));
  EXPECT_EQ(room().held(), 0);
}

// However late the alarm.
TEST_F(RoomEdgeTest, HoldsEndInTheOrderOfTheirEnds) {
  for (const char* name : {"a", "b", "c"}) Join(name);
  Lose("b", 1006);
  Wait(milliseconds(2));
  Lose("a", 1006);
  Wait(milliseconds(2));
  Lose("c", 1006);
  game_.TakeCalls();
  now_ += seconds(20);
  room().OnAlarm(now_);
  EXPECT_THAT(game_.TakeCalls(),
              ElementsAre("remove p2", "remove p1", "remove p3"));
}

TEST_F(RoomEdgeTest, AHudIsToldAgainToWhoComesBack) {
  game_.on_add = [](Context& context, const Player& player) {
    EXPECT_TRUE(context.SetHud(player.seat, R"({"lives":3})"));
  };
  Join("a");
  Resume("b", client("a").token);
  RunTick();
  EXPECT_THAT(News("b"),
              testing::Contains(testing::HasSubstr(R"(hud {"lives":3})")));
}

TEST_F(RoomEdgeTest, ALockIsToldToAll) {
  Join("a");
  room().SetLocked(now_, true);
  RunTick();
  EXPECT_THAT(News("a"), ElementsAre("roster p1* locked"));
  room().SetLocked(now_, true);
  RunTick();
  EXPECT_THAT(News("a"), ElementsAre());
  room().SetLocked(now_, false);
  RunTick();
  EXPECT_THAT(News("a"), ElementsAre("roster p1*"));
}

TEST_F(RoomEdgeTest, AResyncIsOneBaseline) {
  Join("a");
  RunTick(8);
  Forget();
  Say("a", R"({"t":"resync"})");
  RunTick(9);
  EXPECT_THAT(Told("a"), ElementsAre("baseline 1 at 1", "delta 1 at 12",
                                     "delta 1 at 15", "delta 1 at 18"));
}

// Acks of what was acked before are no sign of life.
TEST_F(RoomEdgeTest, WhoRepeatsAnAckIsPutOutAllTheSame) {
  Join("a");
  client("a").acks = false;
  const std::uint32_t acked = client("a").tick;
  for (int second = 0; second < 6; ++second) {
    RunTick(60);
    Ack("a", acked);
  }
  EXPECT_EQ(room().counters().evicted, 1u);
}

// To the byte: of what is queued, messages behind the last baseline are no
// part of it.
// Who is put out takes the row along: what others are told in that tick is the
// state as it was written, for those behind the seat too.
TEST_F(RoomEdgeTest, AnEvictionChangesNothingOfItsTick) {
  options_.grace_ms = 0;
  game_.on_add = [](Context& context, const Player& player) {
    context.Possess(player.seat, context.rows().Add(kPlayerKind));
  };
  game_.on_remove = [](Context& context, const Player& player) {
    context.rows().Remove(player.entity);
  };
  Join("a");
  Join("b");
  client("a").acks = false;
  while (room().counters().evicted == 0 && room().tick() < 400) RunTick();
  ASSERT_EQ(room().counters().evicted, 1u);
  EXPECT_EQ(room().seated(), 1);
  EXPECT_EQ(client("b").tick, room().tick());
  EXPECT_EQ(client("b").rows.size(), 2u);
  RunTick(3);
  EXPECT_EQ(client("b").rows.size(), 1u);
}

TEST_F(RoomEdgeTest, EveryMessageBehindTheBaselineIsCounted) {
  for (const int to : {0, kEverybody}) {
    SCOPED_TRACE(to);
    const std::string name = to == 0 ? "a" : "b";
    game_.on_message = [&](Context& context) {
      for (int i = 0; i < 40; ++i) context.Send("vote", "1", to);
    };
    Join(name);
    RunTick(60 - room().tick() % 60);  // a baseline, and nothing behind it
    Forget();
    Say(name, R"({"t":"msg","name":"vote","payload":1})");
    const std::size_t each =
        Write(RoomMsgFrame{.name = "vote", .payload = "1"}).size() +
        kMessageOverhead;
    client(name).connection.Queue(40 * each);
    RunTick(3);
    std::vector<std::string> told = Told(name);
    ASSERT_FALSE(told.empty());
    EXPECT_THAT(told.back(), StartsWith("delta"));
    client(name).connection.Queue(40 * each + 1);
    RunTick(3);
    told = Told(name);
    ASSERT_FALSE(told.empty());
    EXPECT_THAT(told.back(), StartsWith("recovery"));
    client(name).connection.Queue(0);
    room().Kick(now_, room().SeatOf(client(name).connection));
  }
}

}  // namespace
}  // namespace parlor::authority
