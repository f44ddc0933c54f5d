// What clients and the game say to each other, and what a client may not say.
#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "authority/room_fixture.h"

namespace parlor::authority {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::ElementsAre;

class RoomMessageTest : public RoomTest {
 protected:
  static std::string Msg(std::string_view name, std::string_view payload) {
    return Write(
        MsgFrame{.name = std::string(name), .payload = std::string(payload)});
  }
};

// --- To the game

TEST_F(RoomMessageTest, ArriveInOrderWithTheirSeat) {
  Join("a");
  Join("b");
  Say("b", Msg("vote", "1"));
  Say("a", Msg("vote", "[2, 3]"));
  Say("b", Msg("picky", "1"));
  EXPECT_THAT(game_.TakeCalls(),
              ElementsAre("message 1 vote 1", "message 0 vote [2, 3]",
                          "message 1 picky 1"));
  EXPECT_EQ(room().counters().received, 3u);
  EXPECT_EQ(room().player_counters(1).received, 2u);
  EXPECT_EQ(room().player_counters(0).received, 1u);
}

// The next step sees them too, and the one behind it does not.
TEST_F(RoomMessageTest, AreThereInTheNextStep) {
  Join("a");
  std::vector<std::string> seen;
  game_.on_step = [&](Context& context, std::span<const SeatInput>) {
    for (const ReceivedMessage& message : context.messages()) {
      seen.push_back(std::to_string(message.from) + " " +
                     std::string(message.name) + " " +
                     std::string(message.payload));
    }
  };
  game_.on_message = [&](Context& context) {
    EXPECT_EQ(context.messages().size(), 0u);
  };
  Say("a", Msg("vote", "1"));
  Say("a", Msg("picky", "1"));
  RunTick();
  EXPECT_THAT(seen, ElementsAre("0 vote 1", "0 picky 1"));
  RunTick();
  EXPECT_EQ(seen.size(), 2u);
}

// Who sits there next did not say it.
TEST_F(RoomMessageTest, GoWithWhoLeavesBeforeTheStep) {
  Join("a");
  Join("b");
  std::vector<std::string> seen;
  game_.on_step = [&](Context& context, std::span<const SeatInput>) {
    for (const ReceivedMessage& message : context.messages()) {
      seen.push_back(std::to_string(message.from) + " " +
                     std::string(message.payload));
    }
  };
  Say("a", Msg("vote", "1"));
  Say("b", Msg("vote", "2"));
  Say("a", Msg("vote", "3"));
  Lose("a", 1000);
  Join("c");
  EXPECT_EQ(client("c").welcome.seat, 0);
  EXPECT_THAT(seen, ElementsAre("1 2"));
}

struct Dropped {
  const char* name;
  std::string said;
};

class RoomDroppedTest : public RoomTest,
                        public testing::WithParamInterface<Dropped> {};

TEST_P(RoomDroppedTest, IsCountedAndNeverHandedOn) {
  Join("a");
  Join("b");
  Forget();
  Say("b", GetParam().said);
  EXPECT_THAT(Told("b"), ElementsAre("error payload"));
  EXPECT_THAT(game_.TakeCalls(), ElementsAre());
  EXPECT_EQ(room().counters().dropped, 1u);
  EXPECT_EQ(room().player_counters(1).dropped, 1u);
  EXPECT_EQ(room().player_counters(0).dropped, 0u);
  EXPECT_EQ(room().seated(), 2);
  EXPECT_THAT(sink_.Take(), ElementsAre());
}

std::string Nested(int depth) {
  return std::string(static_cast<std::size_t>(depth), '[') +
         std::string(static_cast<std::size_t>(depth), ']');
}

INSTANTIATE_TEST_SUITE_P(
    Messages, RoomDroppedTest,
    testing::Values(
        Dropped{"OverItsBytes",
                R"({"t":"msg","name":"vote","payload":"abcdefghijklmno"})"},
        Dropped{"Undeclared", R"({"t":"msg","name":"veto","payload":1})"},
        Dropped{"Engine", R"({"t":"msg","name":"aos:phase","payload":1})"},
        Dropped{"FailsItsCheck", R"({"t":"msg","name":"picky","payload":2})"},
        Dropped{"ThrowsInItsCheck",
                R"({"t":"msg","name":"picky","payload":13})"},
        Dropped{"TooDeep",
                R"({"t":"msg","name":"picky","payload":)" + Nested(40) + "}"},
        Dropped{"KeyTwice",
                R"({"t":"msg","name":"picky","payload":{"a":1,"a":1}})"},
        Dropped{"HugeNumber", R"({"t":"msg","name":"vote","payload":1e999})"},
        Dropped{"NoPayload", R"({"t":"msg","name":"vote"})"},
        Dropped{"NotJson", R"({"t":"msg",)"}, Dropped{"NotUtf8", "\"\xff\""},
        Dropped{"NotAFrame", "[1]"},
        Dropped{"BadInput", R"({"t":"input","seq":-1})"}),
    [](const auto& row) { return std::string(row.param.name); });

TEST_F(RoomMessageTest, ATextIsCappedBeforeItIsParsed) {
  Join("a");
  std::string text = R"({"t":"rtt","at":1})";
  text.resize(kClientFrameBytesMax, ' ');
  Say("a", text);
  EXPECT_THAT(Told("a"), ElementsAre("rtt 1 0"));
  Say("a", text + " ");
  EXPECT_THAT(Told("a"), ElementsAre("closed 1009"));
  EXPECT_EQ(room().counters().kicked_size, 1u);
  EXPECT_EQ(room().players().size(), 0u);  // unheld
}

TEST_F(RoomMessageTest, BinaryJunkIsIgnoredAndCounted) {
  Join("a");
  for (const std::string_view junk :
       {"", "\x10", "\x11", "\x12", "\x01\x02\x03", "junk"}) {
    SayBytes("a", MessageKind::kBinary, AsBytes(junk));
  }
  std::vector<std::byte> input(EncodeInput({.seq = 1}).size() + 1);
  input[0] = kInputKind;
  SayBytes("a", MessageKind::kBinary, input);
  EXPECT_EQ(room().counters().ignored, 7u);
  EXPECT_EQ(room().seated(), 1);
  SayBytes("a", MessageKind::kBinary,
           std::vector<std::byte>(kClientFrameBytesMax + 1));
  EXPECT_THAT(Told("a"), ElementsAre("closed 1009"));
}

TEST_F(RoomMessageTest, FramesOfOtherRoomsAndTimesAreIgnored) {
  Join("a");
  for (const std::string_view text :
       {R"({"t":"chat","text":"hi"})", R"({"t":"ping","kind":"here"})",
        R"({"t":"mod","action":"lock"})",
        R"({"t":"publish","key":"a","value":1})",
        R"({"t":"unpublish","key":"a"})", R"({"t":"someday"})"}) {
    Say("a", text);
  }
  EXPECT_EQ(room().counters().ignored, 6u);
  EXPECT_EQ(room().counters().dropped, 0u);
  EXPECT_FALSE(room().locked());
  EXPECT_THAT(Told("a"), ElementsAre());
}

TEST_F(RoomMessageTest, RttTellsTheRoomsTime) {
  Join("a");
  Wait(milliseconds(1'234));
  Forget();
  Say("a", R"({"t":"rtt","at":77})");
  EXPECT_THAT(Told("a"), ElementsAre("rtt 77 1234"));
}

// --- Rates

TEST_F(RoomMessageTest, TheBudgetRefusesOnceByWordAndDropsTheHundredth) {
  Join("a");
  Join("b");
  for (int i = 0; i < 40; ++i) Say("b", Msg("vote", "1"));
  EXPECT_THAT(Told("b"), ElementsAre());
  Say("b", Msg("vote", "1"));
  EXPECT_THAT(Told("b"), ElementsAre("error budget"));
  // Acks, inputs, rtt do not draw on it, and a chat does.
  Say("b", R"({"t":"rtt","at":1})");
  EXPECT_THAT(Told("b"), ElementsAre("rtt 1 16"));
  Say("b", R"({"t":"chat","text":"hi"})");
  Say("b", "not a frame");
  for (int i = 0; i < 96; ++i) Say("b", Msg("vote", "1"));
  EXPECT_THAT(Told("b"), ElementsAre());
  EXPECT_EQ(room().counters().received, 40u);
  EXPECT_EQ(room().player_counters(1).dropped, 99u);
  Say("b", Msg("vote", "1"));
  EXPECT_THAT(Told("b"), ElementsAre("error budget", "closed 1008"));
  EXPECT_EQ(room().held(), 0);
  EXPECT_EQ(room().seated(), 1);
}

TEST_F(RoomMessageTest, TheBudgetFillsAndSurvivesAResume) {
  Join("a");
  for (int i = 0; i < 40; ++i) Say("a", Msg("vote", "1"));
  Lose("a", 1006);
  Resume("b", client("a").token);
  RunTick();
  Forget();
  Say("b", Msg("vote", "1"));
  EXPECT_THAT(Told("b"), ElementsAre("error budget"));
  Wait(seconds(5));
  Forget();
  for (int i = 0; i < 20; ++i) Say("b", Msg("vote", "1"));
  EXPECT_EQ(room().counters().received, 60u);
  Say("b", Msg("vote", "1"));
  EXPECT_THAT(Told("b"), ElementsAre("error budget"));
}

TEST_F(RoomMessageTest, OverTheMessageRateTheSeatIsGone) {
  Join("a");
  Join("b");
  client("b").acks = false;
  // One of the burst went with the join.
  for (int i = 0; i < 479; ++i) SayBytes("b", MessageKind::kBinary, {});
  EXPECT_EQ(room().seated(), 2);
  room().OnControl(now_, client("b").connection);
  Pump();
  EXPECT_THAT(Told("b"), ElementsAre("error rate", "closed 1008"));
  EXPECT_EQ(room().seated(), 1);
  EXPECT_EQ(room().held(), 0);
  EXPECT_EQ(room().counters().kicked_rate, 1u);
  EXPECT_THAT(game_.TakeCalls(), ElementsAre("remove p2"));
}

TEST_F(RoomMessageTest, TheMessageRateSurvivesAResume) {
  Join("a");
  client("a").acks = false;
  for (int i = 0; i < 470; ++i) SayBytes("a", MessageKind::kBinary, {});
  client("b").acks = false;
  Resume("b", client("a").token);
  for (int i = 0; i < 20 && room().seated() > 0; ++i) {
    SayBytes("b", MessageKind::kBinary, {});
  }
  EXPECT_EQ(room().seated(), 0);
}

TEST_F(RoomMessageTest, OverTheInputRateTheSeatIsGone) {
  Join("a");
  std::uint32_t seq = 0;
  for (int i = 0; i < 240; ++i) Input("a", {.seq = ++seq});
  EXPECT_EQ(room().seated(), 1);
  Input("a", {.seq = ++seq});
  EXPECT_THAT(Told("a"), ElementsAre("error rate", "closed 1008"));
}

// 120 a second for ten seconds, in whatever order with acks and rtts.
TEST_F(RoomMessageTest, TwiceTheInputsOfAClientAreWithinTheRate) {
  Join("a");
  std::uint32_t seq = 0;
  for (int i = 0; i < 600; ++i) {
    Input("a", {.seq = ++seq});
    Input("a", {.seq = ++seq});
    RunTick();
  }
  EXPECT_EQ(room().seated(), 1);
}

// --- From the game

TEST_F(RoomMessageTest, GoToASeatOrAll) {
  for (const char* name : {"a", "b", "c"}) Join(name);
  Lose("c", 1006);
  Forget();
  game_.on_message = [](Context& context) {
    EXPECT_TRUE(context.Send("vote", "1"));
    EXPECT_TRUE(context.Send("vote", R"({"x": "ü"})", 1));
    EXPECT_FALSE(context.Send("vote", "3", 2));  // held
    EXPECT_FALSE(context.Send("vote", "3", 3));  // nobody's
    EXPECT_FALSE(context.Send("vote", "3", 99));
    EXPECT_FALSE(context.Send("vote", "3", -2));
  };
  Say("a", Msg("vote", "0"));
  EXPECT_THAT(Told("a"), ElementsAre("msg -1 vote 1"));
  EXPECT_THAT(Told("b"),
              ElementsAre("msg -1 vote 1", "msg -1 vote {\"x\": \"ü\"}"));
  EXPECT_EQ(room().counters().unsent, 0u);
}

TEST_F(RoomMessageTest, WhatFailsItsCheckIsNotSentAndNotedOnce) {
  Join("a");
  Forget();
  game_.on_message = [](Context& context) {
    EXPECT_FALSE(context.Send("veto", "1"));
    EXPECT_FALSE(context.Send("aos:x", "1"));
    EXPECT_FALSE(context.Send("picky", "2"));
    EXPECT_FALSE(context.Send("picky", "13"));
    EXPECT_FALSE(context.Send("vote", "\"a secret of mine\""));
    EXPECT_FALSE(context.Send("vote", "{"));
    EXPECT_FALSE(context.SetCamera(0, "[]"));
    EXPECT_FALSE(context.SetHud(0, "{"));
    EXPECT_FALSE(
        context.SetHud(0, "{\"a\":\"" + std::string(2'048, 'x') + "\"}"));
    EXPECT_FALSE(context.SetPhase("no spaces"));
  };
  Say("a", Msg("vote", "0"));
  Say("a", Msg("vote", "0"));
  EXPECT_THAT(Told("a"), ElementsAre());
  EXPECT_EQ(room().counters().unsent, 20u);
  EXPECT_THAT(sink_.Take(),
              ElementsAre("unsent (undeclared)", "unsent (reserved)",
                          "unsent picky", "unsent vote", "unsent camera",
                          "unsent hud", "unsent phase"));
}

TEST_F(RoomMessageTest, CameraAndHudAreToldInTheirTickWhenTheyChange) {
  Join("a");
  Join("b");
  game_.on_step = [](Context& context, std::span<const SeatInput>) {
    if (context.tick() != 5 && context.tick() != 6) return;
    EXPECT_TRUE(context.SetCamera(1, R"({"x":1})"));
    EXPECT_TRUE(context.SetHud(1, context.tick() == 5 ? "{}" : "null"));
    EXPECT_FALSE(context.SetCamera(2, "{}"));
  };
  RunTick(6);
  EXPECT_THAT(News("a"), ElementsAre());
  EXPECT_THAT(News("b"),
              ElementsAre("tick 5 ack 0 entity 0 camera {\"x\":1} hud {}",
                          "tick 6 ack 0 entity 0 hud null"));
}

TEST_F(RoomMessageTest, TheEntityIsToldInItsTick) {
  Join("a");
  game_.on_step = [](Context& context, std::span<const SeatInput>) {
    if (context.tick() == 5) {
      EXPECT_TRUE(context.Possess(0, 7));
    }
    EXPECT_FALSE(context.Possess(1, 7));
  };
  RunTick(6);
  EXPECT_THAT(News("a"), ElementsAre("tick 5 ack 0 entity 7"));
  EXPECT_EQ(room().players().front().entity, 7u);
}

TEST_F(RoomMessageTest, ThePhaseIsForListingsAlone) {
  Join("a");
  Forget();
  std::string phase = "warm-up";
  game_.on_step = [&](Context& context, std::span<const SeatInput>) {
    context.SetPhase(phase);
  };
  RunTick(10);
  phase = "Play2";
  RunTick(10);
  EXPECT_THAT(sink_.Take(), ElementsAre("phase warm-up", "phase Play2"));
  EXPECT_EQ(room().phase(), "Play2");
  for (const std::string& bad :
       {std::string(), std::string(33, 'x'), std::string("a_b"),
        std::string("ä"), std::string("a\n")}) {
    phase = bad;
    RunTick();
  }
  EXPECT_EQ(room().phase(), "Play2");
  phase = std::string(32, 'x');
  RunTick();
  EXPECT_EQ(room().phase(), phase);
  EXPECT_THAT(News("a"), ElementsAre());
}

TEST_F(RoomMessageTest, WhatIsLocalIsToldNobody) {
  Join("a");
  Forget();
  game_.on_step = [](Context& context, std::span<const SeatInput>) {
    context.Local([&] {
      EXPECT_TRUE(context.Send("vote", "1"));
      EXPECT_TRUE(context.Send("veto", "1"));
      EXPECT_TRUE(context.SetHud(0, "{}"));
      EXPECT_TRUE(context.SetPhase("play"));
      context.rows().AddLocal(kThingKind);
    });
  };
  RunTick(60);
  EXPECT_THAT(News("a"), ElementsAre());
  EXPECT_EQ(room().phase(), "");
  EXPECT_EQ(room().counters().unsent, 0u);
  EXPECT_EQ(client("a").rows.size(), 0u);
}

}  // namespace
}  // namespace parlor::authority
