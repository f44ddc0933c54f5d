// Who gets into a room, and how (contract, "Join, resume, reap").
#include <chrono>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "authority/room_fixture.h"

namespace parlor::authority {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::ElementsAre;

class RoomJoinTest : public RoomTest {};

TEST_F(RoomJoinTest, IsAnsweredAtTheEndOfTheNextTick) {
  Admit("a");
  EXPECT_EQ(room().next_alarm(), now_ + seconds(10));  // asleep
  Say("a", JoinText());
  EXPECT_THAT(Told("a"), ElementsAre());
  EXPECT_EQ(room().next_alarm(), now_);
  RunTick();
  EXPECT_THAT(Told("a"), ElementsAre("welcome p1 0", "baseline 1 at 1",
                                     "delta 1 at 1", "roster p1*"));
  EXPECT_THAT(game_.TakeCalls(), ElementsAre("validate Ann {} []", "add p1 0"));
  const WelcomeFrame& welcome = client("a").welcome;
  EXPECT_EQ(welcome.protocol, "duel 1");
  EXPECT_EQ(welcome.codec, "binary");
  EXPECT_EQ(welcome.schema, game_.schema().ToJson());
  EXPECT_EQ(welcome.tick_hz, 60);
  EXPECT_EQ(welcome.snapshot_hz, 20);
  EXPECT_EQ(welcome.epoch, 1u);
  EXPECT_EQ(welcome.tick, 1u);
  EXPECT_EQ(welcome.entity, 0u);
  EXPECT_EQ(welcome.grace_ms, 15'000);
}

TEST_F(RoomJoinTest, TheGameIsToldAllThatIsKnown) {
  Admit("a", "pass-17");
  Say("a",
      Write(JoinFrame{
          .protocol = "duel 1", .name = "Zoë", .fields = R"({"color": 3})"}));
  EXPECT_THAT(game_.TakeCalls(),
              ElementsAre("validate Zoë {\"color\": 3} [pass-17]", "add p1 0"));
  ASSERT_EQ(room().players().size(), 1u);
  const Player& player = room().players().front();
  EXPECT_EQ(player.id, "p1");
  EXPECT_EQ(player.name, "Zoë");
  EXPECT_EQ(player.fields, R"({"color": 3})");
  EXPECT_EQ(player.identity, "pass-17");
  EXPECT_TRUE(player.connected);
  EXPECT_TRUE(player.host);
}

TEST_F(RoomJoinTest, TheBaselineOfTheSecondGoesToWhoeverComesInIt) {
  game_.on_add = [](Context& context, const Player& player) {
    const RowId row = context.rows().Add(kPlayerKind);
    EXPECT_TRUE(context.Possess(player.seat, row));
  };
  Ask("a");
  RunTick(7);
  Ask("b");
  RunTick();
  EXPECT_THAT(Told("b"), ElementsAre("welcome p2 1", "baseline 1 at 1",
                                     "delta 1 at 8", "roster p1* p2"));
  EXPECT_EQ(client("b").welcome.entity, 2u);
  EXPECT_TRUE(SameRows(client("b").rows, room().rows()));
  EXPECT_EQ(client("b").rows.size(), 2u);
}

// What the game sends before the welcome follows it.
TEST_F(RoomJoinTest, WelcomeIsFirst) {
  game_.on_add = [](Context& context, const Player& player) {
    EXPECT_TRUE(context.Send("vote", "1", player.seat));
    EXPECT_TRUE(context.Send("vote", "2"));
    EXPECT_TRUE(context.SetHud(player.seat, R"({"lives":3})"));
  };
  Ask("a");
  Say("a", R"({"t":"rtt","at":5})");
  RunTick();
  EXPECT_THAT(
      Told("a"),
      ElementsAre("welcome p1 0", "baseline 1 at 1", "delta 1 at 1",
                  "roster p1*", "msg -1 vote 1", "msg -1 vote 2",
                  "tick 1 ack 0 entity 0 hud {\"lives\":3}", "rtt 5 0"));
}

TEST_F(RoomJoinTest, SeatsAreTheLowestFreeAndIdsNeverComeBack) {
  for (const char* name : {"a", "b", "c"}) Join(name);
  Say("b", R"({"t":"leave"})");
  EXPECT_THAT(Told("b"), ElementsAre("closed 1000"));
  Ask("d");
  Ask("e");
  RunTick();
  EXPECT_EQ(client("d").welcome.player, "p4");
  EXPECT_EQ(client("d").welcome.seat, 1);
  EXPECT_EQ(client("e").welcome.player, "p5");
  EXPECT_EQ(client("e").welcome.seat, 3);
}

TEST_F(RoomJoinTest, AFullRoomCountsHeldSeats) {
  options_.seats = 2;
  Join("a");
  Join("b");
  Lose("b", 1006);
  Ask("c");
  EXPECT_THAT(Told("c"), ElementsAre("error full", "closed 4000"));
  // The game was asked before: the order is the contract's.
  EXPECT_THAT(game_.TakeCalls(), ElementsAre("validate Ann {} []"));
}

TEST_F(RoomJoinTest, BothCodecsServeOneRoom) {
  game_.on_write = [&](RowTable& rows) {
    if (rows.size() == 0) rows.Add(kPlayerKind);
    EXPECT_TRUE(rows.Set(1, kHp, room().tick()));
  };
  Join("a");
  Admit("b");
  Say("b", R"({"t":"join","protocol":"duel 1","name":"B","codecs":["new"]})");
  Admit("c");
  Say("c", R"({"t":"join","protocol":"duel 1","name":"C",)"
           R"("codecs":["json","binary"]})");
  Join("d");
  RunTick(61);
  ASSERT_EQ(room().tick(), 63u);
  for (const auto& [name, codec] :
       {std::pair("a", "binary"), std::pair("b", "json"),
        std::pair("c", "json"), std::pair("d", "binary")}) {
    EXPECT_EQ(client(name).welcome.codec, codec);
    EXPECT_TRUE(SameRows(client(name).rows, room().rows())) << name;
  }
  // Who comes back may read another one.
  Admit("e");
  Say("e", Write(JoinFrame{.protocol = "duel 1",
                           .name = "B",
                           .codecs = {"binary"},
                           .resume = ParseToken(client("b").token)}));
  RunTick(3);
  EXPECT_EQ(client("e").welcome.codec, "binary");
  EXPECT_TRUE(SameRows(client("e").rows, room().rows()));
}

TEST_F(RoomJoinTest, TheClientsFirstCodecOfOursIsTaken) {
  Admit("a");
  Say("a",
      R"({"t":"join","protocol":"duel 1","name":"A","codecs":["x","binary"]})");
  RunTick();
  EXPECT_EQ(client("a").welcome.codec, "binary");
}

struct Refusal {
  const char* name;
  std::string said;
  std::vector<std::string> told;
};

class RoomRefusalTest : public RoomTest,
                        public testing::WithParamInterface<Refusal> {};

TEST_P(RoomRefusalTest, SaysWhyAndChangesNothing) {
  Admit("a");
  Say("a", GetParam().said);
  EXPECT_EQ(Told("a"), GetParam().told);
  EXPECT_THAT(game_.TakeCalls(), ElementsAre());
  EXPECT_EQ(room().players().size(), 0u);
  EXPECT_EQ(room().tick(), 0u);
}

INSTANTIATE_TEST_SUITE_P(
    Joins, RoomRefusalTest,
    testing::Values(
        Refusal{"Protocol",
                R"({"t":"join","protocol":"duel 2","name":"A"})",
                {"error protocol", "closed 1008"}},
        Refusal{"ProtocolPrefix",
                R"({"t":"join","protocol":"duel 11","name":"A"})",
                {"error protocol", "closed 1008"}},
        Refusal{"NoProtocol",
                R"({"t":"join","name":"A"})",
                {"error protocol", "closed 1008"}},
        Refusal{"NoName",
                R"({"t":"join","protocol":"duel 1"})",
                {"error name", "closed 1008"}},
        Refusal{"EmptyName",
                R"({"t":"join","protocol":"duel 1","name":""})",
                {"error name", "closed 1008"}},
        Refusal{"BidiName",
                R"({"t":"join","protocol":"duel 1","name":"A\u202e"})",
                {"error name", "closed 1008"}},
        Refusal{"FieldsNotAnObject",
                R"({"t":"join","protocol":"duel 1","name":"A","fields":3})",
                {"error payload", "closed 1008"}},
        Refusal{"TokenNotHex",
                R"({"t":"join","protocol":"duel 1","name":"A","resume":"x"})",
                {"error resume_refused"}},
        Refusal{"TokenOfNobody",
                R"({"t":"join","protocol":"duel 1","name":"A",)"
                R"("resume":"00000000000000000000000000000000"})",
                {"error resume_refused"}},
        Refusal{"OtherFrame", R"({"t":"chat","text":"hi"})", {}},
        Refusal{"NotJson", "{", {}}, Refusal{"Nothing", "", {}},
        Refusal{"Leave", R"({"t":"leave"})", {"closed 1000"}},
        Refusal{"Oversize",
                std::string(kClientFrameBytesMax + 1, ' '),
                {"closed 1009"}}),
    [](const auto& row) { return std::string(row.param.name); });

TEST_F(RoomJoinTest, WhatIsEarlyIsIgnoredAndCounted) {
  Admit("a");
  Input("a", {.seq = 1});
  Ack("a", 1);
  SayBytes("a", MessageKind::kBinary, AsBytes("junk"));
  Say("a", R"({"t":"msg","name":"vote","payload":1})");
  Say("a", "[]");
  EXPECT_EQ(room().counters().ignored, 5u);
  EXPECT_THAT(Told("a"), ElementsAre());
  Say("a", JoinText());
  RunTick();
  EXPECT_EQ(client("a").welcome.player, "p1");
}

TEST_F(RoomJoinTest, TheGameMayRefuse) {
  // The cut is not inside the last ä.
  game_.refusal = std::string(199, 'x') + "ä";
  Ask("a");
  EXPECT_THAT(Told("a"), ElementsAre("error refused", "closed 1008"));
  EXPECT_EQ(client("a").error, std::string(199, 'x'));
  EXPECT_EQ(room().players().size(), 0u);
  game_.refusal = "";
  Ask("b");
  RunTick();
  EXPECT_EQ(client("b").welcome.player, "p1");
}

TEST_F(RoomJoinTest, ALockKeepsJoinsOutAndNotResumes) {
  Join("a");
  Join("b");
  Lose("b", 1006);
  room().SetLocked(now_, true);
  RunTick();
  EXPECT_THAT(News("a"), ElementsAre("roster p1* p2- locked"));
  Ask("c");
  EXPECT_THAT(Told("c"), ElementsAre("error locked", "closed 1008"));
  Resume("d", client("b").token);
  RunTick();
  EXPECT_THAT(News("d"), ElementsAre("welcome p2 1", "roster p1* p2 locked"));
  room().SetLocked(now_, false);
  room().SetLocked(now_, false);
  Ask("e");
  RunTick();
  EXPECT_EQ(client("e").welcome.player, "p3");
}

TEST_F(RoomJoinTest, ADrainKeepsJoinsOutAndNotResumes) {
  Join("a");
  Lose("a", 1001);
  room().Drain(now_);
  Ask("b");
  EXPECT_THAT(Told("b"), ElementsAre("closed 1012"));
  Resume("c", client("a").token);
  RunTick();
  EXPECT_EQ(client("c").welcome.player, "p1");
}

TEST_F(RoomJoinTest, ADrainEndsARoomThatNobodyHasASeatIn) {
  Join("a");
  Say("a", R"({"t":"leave"})");
  Admit("b");
  Forget();
  room().Drain(now_);
  Pump();
  EXPECT_TRUE(room().ended());
  EXPECT_THAT(Told("b"), ElementsAre("closed 1012"));
  EXPECT_THAT(sink_.Take(), ElementsAre("ended restart"));
  EXPECT_EQ(room().next_alarm(), kNever);
  room().Drain(now_);
  EXPECT_THAT(sink_.Take(), ElementsAre());
}

// Neither a player nor a held seat is left behind.
TEST_F(RoomJoinTest, ADrainEndsARoomWithItsLastSeat) {
  options_.grace_ms = 500;
  Join("a");
  Join("b");
  Lose("a", 1006);
  room().Drain(now_);
  Wait(milliseconds(400));
  Say("b", R"({"t":"leave"})");
  EXPECT_FALSE(room().ended()) << "one may still come back";
  Admit("c");
  Forget();
  Wait(milliseconds(99));
  EXPECT_FALSE(room().ended());
  Wait(milliseconds(1));
  EXPECT_TRUE(room().ended());
  EXPECT_THAT(Told("c"), ElementsAre("closed 1012"));
  EXPECT_THAT(sink_.Take(), ElementsAre("ended restart"));
}

// --- Without a seat

TEST_F(RoomJoinTest, WhoDoesNotJoinInTimeGoes) {
  Admit("a");
  Wait(milliseconds(5'000));
  Admit("b");
  Wait(milliseconds(4'999));
  EXPECT_THAT(Told("a"), ElementsAre());
  Wait(milliseconds(1));
  EXPECT_THAT(Told("a"), ElementsAre("closed 1008"));
  Say("a", JoinText());  // too late
  Wait(milliseconds(4'999));
  EXPECT_THAT(Told("b"), ElementsAre());
  Wait(milliseconds(1));
  EXPECT_THAT(Told("b"), ElementsAre("closed 1008"));
  EXPECT_EQ(room().next_alarm(), kNever);
  EXPECT_EQ(room().players().size(), 0u);
}

TEST_F(RoomJoinTest, OfTooManyWithoutASeatTheOldestGoes) {
  options_.unjoined = 2;
  for (const char* name : {"a", "b", "c"}) Admit(name);
  EXPECT_THAT(Told("a"), ElementsAre("closed 1008"));
  Say("b", JoinText());
  Admit("d");
  EXPECT_THAT(Told("c"), ElementsAre());
  RunTick();
  EXPECT_EQ(client("b").welcome.player, "p1");
}

TEST_F(RoomJoinTest, WhoClosesBeforeJoiningIsForgotten) {
  Admit("a");
  Lose("a", 1006);
  EXPECT_EQ(room().next_alarm(), now_ + seconds(10));
  Wait(seconds(11));
  EXPECT_EQ(room().next_alarm(), kNever);
  EXPECT_THAT(Told("a"), ElementsAre());
}

TEST_F(RoomJoinTest, AFloodWithoutASeatIsOverTheRate) {
  Admit("a");
  for (int i = 0; i < 480; ++i) Say("a", "x");
  EXPECT_THAT(Told("a"), ElementsAre());
  Say("a", "x");
  EXPECT_THAT(Told("a"), ElementsAre("error rate", "closed 1008"));
  Admit("b");
  for (int i = 0; i < 481; ++i) room().OnControl(now_, client("b").connection);
  Pump();
  EXPECT_THAT(Told("b"), ElementsAre("error rate", "closed 1008"));
  EXPECT_EQ(room().counters().kicked_rate, 2u);
}

// A new connection is no new burst: who says much before joining has as much
// less afterwards.
TEST_F(RoomJoinTest, WhatWasSaidBeforeCountsAfterJoining) {
  Admit("a");
  for (int i = 0; i < 479; ++i) Say("a", "x");
  Say("a", JoinText());
  client("a").acks = false;
  Say("a", R"({"t":"resync"})");
  EXPECT_THAT(News("a"), ElementsAre("welcome p1 0", "roster p1*", "error rate",
                                     "closed 1008"));
}

// --- Joined

TEST_F(RoomJoinTest, JoiningAgainIsIgnored) {
  Join("a");
  Say("a", JoinText());
  Say("a", JoinText(client("a").token));
  RunTick();
  EXPECT_EQ(room().players().size(), 1u);
  EXPECT_EQ(room().counters().ignored, 2u);
  EXPECT_EQ(room().counters().resumes, 0u);
  EXPECT_THAT(News("a"), ElementsAre());
}

TEST_F(RoomJoinTest, TwoJoinsBeforeTheAnswerAreOne) {
  Ask("a");
  Say("a", JoinText());
  RunTick();
  EXPECT_EQ(room().players().size(), 1u);
  EXPECT_THAT(News("a"), ElementsAre("welcome p1 0", "roster p1*"));
}

// Nobody could come back into it: no token was ever sent.
TEST_F(RoomJoinTest, ADropBeforeTheAnswerIsALeave) {
  game_.throws_in = "write_state";  // no answer, as long as it does
  Ask("a");
  Lose("a", 1006);
  EXPECT_EQ(room().players().size(), 0u);
  EXPECT_THAT(game_.TakeCalls(),
              ElementsAre("validate Ann {} []", "add p1 0", "remove p1"));
  Wait(seconds(1));
  EXPECT_EQ(room().next_alarm(), kNever);  // asleep again
  EXPECT_EQ(game_.steps, 1);
}

struct CloseRow {
  CloseCode code;
  bool drop;
};

class RoomCloseTest : public RoomTest,
                      public testing::WithParamInterface<CloseRow> {};

TEST_P(RoomCloseTest, DropsOrLeaves) {
  Join("a");
  Join("b");
  Lose("b", GetParam().code);
  EXPECT_EQ(room().held(), GetParam().drop ? 1 : 0);
  EXPECT_EQ(room().seated(), 1);
  RunTick();
  EXPECT_THAT(News("a"),
              ElementsAre(GetParam().drop ? "roster p1* p2-" : "roster p1*"));
}

INSTANTIATE_TEST_SUITE_P(
    Codes, RoomCloseTest,
    testing::Values(
        CloseRow{1001, true}, CloseRow{1005, true}, CloseRow{1006, true},
        CloseRow{1011, true}, CloseRow{1012, true}, CloseRow{1014, true},
        CloseRow{1000, false}, CloseRow{1002, false}, CloseRow{1003, false},
        CloseRow{1007, false}, CloseRow{1008, false}, CloseRow{1009, false},
        CloseRow{1010, false}, CloseRow{1013, false}, CloseRow{3000, false},
        CloseRow{4001, false}, CloseRow{4999, false}),
    [](const auto& row) { return std::to_string(row.param.code); });

// --- Coming back

TEST_F(RoomJoinTest, AResumeIsTheSamePlayer) {
  game_.on_add = [](Context& context, const Player& player) {
    EXPECT_TRUE(context.Possess(player.seat, context.rows().Add(kPlayerKind)));
    EXPECT_TRUE(context.SetCamera(player.seat, R"({"zoom":2})"));
  };
  Join("a");
  Join("b");
  const std::string token = client("b").token;
  Lose("b", 1001);
  Wait(milliseconds(14'999));
  Forget();
  Resume("c", token);
  RunTick();
  const std::string tick = std::to_string(room().tick());
  EXPECT_THAT(
      News("c"),
      ElementsAre("welcome p2 1", "roster p1* p2",
                  "tick " + tick + " ack 0 entity 2 camera {\"zoom\":2}"));
  EXPECT_TRUE(SameRows(client("c").rows, room().rows()));
  EXPECT_NE(client("c").token, token);
  EXPECT_THAT(News("a"), ElementsAre("roster p1* p2"));
  EXPECT_THAT(game_.TakeCalls(), ElementsAre());
  EXPECT_EQ(room().counters().resumes, 1u);
  Wait(seconds(60));
  EXPECT_EQ(room().seated(), 2);
}

TEST_F(RoomJoinTest, PastTheGraceTheSeatIsGone) {
  Join("a");
  Join("b");
  Lose("b", 1006);
  Wait(milliseconds(14'999));
  EXPECT_EQ(room().held(), 1);
  Wait(milliseconds(1));
  EXPECT_EQ(room().held(), 0);
  EXPECT_THAT(game_.TakeCalls(), ElementsAre("remove p2"));
  RunTick();
  Forget();
  Resume("c", client("b").token);
  EXPECT_THAT(Told("c"), ElementsAre("error resume_refused"));
  // And may join afresh, on the same connection.
  Say("c", JoinText());
  RunTick();
  EXPECT_THAT(News("c"), ElementsAre("welcome p3 1", "roster p1* p3"));
}

// Whichever call comes first at that time.
TEST_F(RoomJoinTest, ATokenDiesWithItsHoldHoweverLateTheAlarm) {
  Join("a");
  Lose("a", 1006);
  Admit("b");
  now_ += seconds(15);
  Say("b", JoinText(client("a").token));
  EXPECT_THAT(Told("b"), testing::Contains("closed 1008"));  // 10 s were over
  Admit("c");
  Say("c", JoinText(client("a").token));
  EXPECT_THAT(Told("c"), ElementsAre("error resume_refused"));
}

TEST_F(RoomJoinTest, AWrongTokenChangesNothing) {
  Join("a");
  Lose("a", 1006);
  std::string wrong = client("a").token;
  wrong.back() = wrong.back() == '0' ? '1' : '0';
  for (int i = 0; i < 3; ++i) {
    Resume("b" + std::to_string(i), wrong);
    EXPECT_THAT(Told("b" + std::to_string(i)),
                ElementsAre("error resume_refused"));
  }
  EXPECT_EQ(room().counters().resumes_refused, 3u);
  EXPECT_EQ(room().held(), 1);
  // The hold ends when it would have.
  Wait(milliseconds(14'999));
  EXPECT_EQ(room().held(), 1);
  Wait(milliseconds(1));
  EXPECT_EQ(room().held(), 0);
}

TEST_F(RoomJoinTest, ATokenOfAnIdentityIsForItAlone) {
  Join("a", "pass-17");
  Lose("a", 1006);
  Resume("b", client("a").token, "pass-18");
  EXPECT_THAT(Told("b"), ElementsAre("error resume_refused"));
  Resume("c", client("a").token);
  EXPECT_THAT(Told("c"), ElementsAre("error resume_refused"));
  Resume("d", client("a").token, "pass-17");
  RunTick();
  EXPECT_EQ(client("d").welcome.player, "p1");
}

TEST_F(RoomJoinTest, TheOldConnectionIsReplacedAndInert) {
  Join("a");
  Resume("b", client("a").token);
  EXPECT_THAT(Told("a"), ElementsAre("closed 4001"));
  RunTick();
  Forget();
  Say("a", R"({"t":"leave"})");
  Input("a", {.seq = 9, .held = 1});
  room().OnControl(now_, client("a").connection);
  Lose("a", 1000);
  EXPECT_EQ(room().seated(), 1);
  EXPECT_EQ(room().SeatOf(client("b").connection), 0);
  RunTick(30);
  EXPECT_THAT(News("b"), ElementsAre());
}

TEST_F(RoomJoinTest, TwoTokensOpenUntilTheFirstAck) {
  Join("a");
  const std::string first = client("a").token;
  client("b").acks = false;
  Resume("b", first);
  RunTick();
  const std::string second = client("b").token;
  ASSERT_NE(second, "");
  // Its welcome was lost: the first is offered again.
  client("c").acks = false;
  Resume("c", first);
  RunTick();
  EXPECT_THAT(News("b"),
              ElementsAre("welcome p1 0", "roster p1*", "closed 4001"));
  const std::string third = client("c").token;
  Resume("d", second);
  EXPECT_THAT(Told("d"), ElementsAre("error resume_refused"));
  // An ack of what was never sent proves nothing.
  Ack("c", client("c").tick + 1);
  Ack("c", client("c").tick);
  Resume("e", first);
  EXPECT_THAT(Told("e"), ElementsAre("error resume_refused"));
  Resume("f", third);
  RunTick();
  EXPECT_EQ(client("f").welcome.player, "p1");
}

TEST_F(RoomJoinTest, AnAckOfTheFutureProvesNothing) {
  Join("a");
  const std::string first = client("a").token;
  client("b").acks = false;
  Resume("b", first);
  RunTick();
  Ack("b", client("b").tick + 1);
  Ack("b", 0xffffffff);
  EXPECT_EQ(room().counters().stale_acks, 2u);
  Resume("c", first);
  RunTick();
  EXPECT_EQ(client("c").welcome.player, "p1");
}

TEST_F(RoomJoinTest, WithoutGraceADropIsALeave) {
  options_.grace_ms = 0;
  Join("a");
  Join("b");
  Lose("a", 1006);
  EXPECT_EQ(room().held(), 0);
  EXPECT_THAT(game_.TakeCalls(), ElementsAre("remove p1"));
}

// --- The host

TEST_F(RoomJoinTest, TheFirstIsHostUntilTheyLeave) {
  for (const char* name : {"a", "b", "c"}) Join(name);
  Say("a", R"({"t":"leave"})");
  RunTick();
  EXPECT_THAT(News("b"), ElementsAre("roster p2* p3"));
  // Seat 0 is taken again, and the host stays who it is.
  Join("d");
  EXPECT_EQ(room().players().front().id, "p4");
  EXPECT_FALSE(room().players().front().host);
  EXPECT_TRUE(room().players()[1].host);
}

TEST_F(RoomJoinTest, AHeldSeatIsNotHostAndDoesNotGetItBack) {
  for (const char* name : {"a", "b", "c"}) Join(name);
  Lose("a", 1006);
  RunTick();
  EXPECT_THAT(News("b"), ElementsAre("roster p1- p2* p3"));
  Resume("d", client("a").token);
  RunTick();
  EXPECT_THAT(News("b"), ElementsAre("roster p1 p2* p3"));
}

TEST_F(RoomJoinTest, WithAllHeldNobodyIsHostUntilOneIsBack) {
  for (const char* name : {"a", "b"}) Join(name);
  Lose("a", 1006);
  Lose("b", 1006);
  for (const Player& player : room().players()) EXPECT_FALSE(player.host);
  Resume("c", client("b").token);
  RunTick();
  EXPECT_THAT(News("c"), ElementsAre("welcome p2 1", "roster p1- p2*"));
}

}  // namespace
}  // namespace parlor::authority
