// Joining, the lobby, playing, hashes and seats that leave. Coming back after
// a drop is in peer_resume_test.cc.
#include "parlor/lockstep/peer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <tuple>
#include <vector>

#include "core/peer_fixture.h"
#include "parlor/status.h"

namespace parlor::lockstep {
namespace {

using testing::TestWithParam;
using testing::Values;

// ---- Options

struct OptionsRow {
  const char* name;
  PeerOptions options;
  const char* error;  // null: valid
};

class PeerOptionsTest : public TestWithParam<OptionsRow> {};

TEST_P(PeerOptionsTest, AreChecked) {
  const absl::Status status = ValidateOptions(GetParam().options);
  if (GetParam().error == nullptr) {
    EXPECT_TRUE(status.ok()) << status;
  } else {
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_EQ(StatusText(status), GetParam().error);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Rows, PeerOptionsTest,
    Values(OptionsRow{"Defaults", {}, nullptr},
           OptionsRow{"DelayLeast", {.delay = 1}, nullptr},
           OptionsRow{"DelayMost", {.delay = 31}, nullptr},
           OptionsRow{"DelayNone", {.delay = 0}, "delay: 0 is not in 1..31"},
           OptionsRow{"DelayOver", {.delay = 32}, "delay: 32 is not in 1..31"},
           OptionsRow{"HashEveryNone",
                      {.hash_every = 0},
                      "hash_every: 0 is not in 1..100000"},
           OptionsRow{"NoRetries", {.retries = 0}, nullptr},
           OptionsRow{
               "RetriesOver", {.retries = 17}, "retries: 17 is not in 0..16"},
           OptionsRow{
               "RetryNow", {.retry_ms = 0}, "retry_ms: 0 is not in 1..60000"},
           OptionsRow{"ConnectOver",
                      {.connect_ms = 60'001},
                      "connect_ms: 60001 is not in 1..60000"},
           OptionsRow{"LeftSeat",
                      {.left_seat = static_cast<LeftSeat>(3)},
                      "left_seat: not one of its values"}),
    [](const auto& row) { return std::string(row.param.name); });

// ---- Joining and the lobby

TEST_F(PeerTest, JoinsAndWaitsInTheLobby) {
  Make({});
  EXPECT_EQ(peer_->state(), PeerState::kIdle);
  EXPECT_EQ(peer_->Step(now_), StepResult::kNotPlaying);
  EXPECT_EQ(peer_->next_alarm(), kNever);
  Join(4);
  EXPECT_EQ(peer_->state(), PeerState::kConnecting);
  EXPECT_EQ(connector_.calls()[0].hello.room, 4u);
  EXPECT_EQ(connector_.calls()[0].hello.players, 4);
  EXPECT_EQ(connector_.calls()[0].hello.access, "invite.CODE");
  EXPECT_FALSE(connector_.calls()[0].hello.resume.has_value());
  EXPECT_EQ(peer_->next_alarm(), now_ + 3'000 * kMs);

  link().Open(now_);
  EXPECT_EQ(peer_->state(), PeerState::kLobby);
  EXPECT_EQ(peer_->next_alarm(), kNever);
  EXPECT_EQ(peer_->seat(), -1);
  EXPECT_EQ(peer_->size(), 4);
  Say({.kind = Kind::kLobby, .slot = 2, .players = 4, .mode = 3});
  EXPECT_EQ(peer_->seat(), 2);
  EXPECT_EQ(peer_->seated(), 3);
  Say({.kind = Kind::kLobby, .slot = 1, .players = 4, .mode = 2});
  EXPECT_EQ(peer_->seat(), 1);
  EXPECT_EQ(peer_->seated(), 2);
  EXPECT_EQ(peer_->Step(now_), StepResult::kNotPlaying);
  EXPECT_EQ(TakeSent(), Texts{});
}

TEST_F(PeerTest, OnlyTheHostStarts) {
  Make({});
  EXPECT_FALSE(peer_->Start(0, 0));
  Join(4);
  EXPECT_FALSE(peer_->Start(0, 0));
  link().Open(now_);
  EXPECT_FALSE(peer_->Start(0, 0)) << "no seat is known yet";
  Say({.kind = Kind::kLobby, .slot = 1, .players = 4, .mode = 2});
  EXPECT_FALSE(peer_->Start(0, 0));
  Say({.kind = Kind::kLobby, .slot = 0, .players = 4, .mode = 1});
  EXPECT_TRUE(peer_->Start(3, 77));
  EXPECT_TRUE(peer_->Start(0, 5));
  EXPECT_EQ(TakeSent(), (Texts{"START 3 77", "START 0 5"}));
  Say({.kind = Kind::kWelcome, .slot = 0, .players = 1, .value = 1});
  TakeSent();
  EXPECT_FALSE(peer_->Start(0, 0));
  EXPECT_EQ(TakeSent(), Texts{});
}

TEST_F(PeerTest, WelcomeStartsTheMatchWithTheHashOfFrameZero) {
  Make({.delay = 3});
  Join(4);
  link().Open(now_);
  Say({.kind = Kind::kWelcome,
       .slot = 1,
       .players = 2,
       .mode = 9,
       .frame = kSeed,
       .value = kToken});
  EXPECT_EQ(peer_->state(), PeerState::kPlaying);
  ASSERT_TRUE(game_.match().has_value());
  EXPECT_EQ(game_.match()->seat, 1);
  EXPECT_EQ(game_.match()->players, 2);
  EXPECT_EQ(game_.match()->size, 4);
  EXPECT_EQ(game_.match()->seed, kSeed);
  EXPECT_EQ(game_.match()->mode, 9);
  EXPECT_EQ(game_.match()->delay, 3);
  EXPECT_EQ(peer_->seat(), 1);
  const auto sent = link().TakeSent();
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_EQ(Decode(std::span(sent[0]).first<kMessageSize>()),
            (Message{.kind = Kind::kHash, .slot = 1, .value = game_.Hash()}));
}

struct MessageRow {
  const char* name;
  Message message;
};
std::string NameOf(const testing::TestParamInfo<MessageRow>& row) {
  return row.param.name;
}

class IgnoredInLobbyTest : public PeerTest,
                           public testing::WithParamInterface<MessageRow> {};

TEST_P(IgnoredInLobbyTest, IsCounted) {
  Make({});
  Join(4);
  link().Open(now_);
  Say({.kind = Kind::kLobby, .slot = 1, .players = 4, .mode = 2});
  Say(GetParam().message);
  EXPECT_EQ(peer_->state(), PeerState::kLobby);
  EXPECT_EQ(peer_->seat(), 1);
  EXPECT_EQ(peer_->seated(), 2);
  EXPECT_EQ(peer_->counters().dropped, 1u);
}

INSTANTIATE_TEST_SUITE_P(
    Rows, IgnoredInLobbyTest,
    Values(MessageRow{"LobbySlot", {Kind::kLobby, 4, 4, 2, 0, 0}},
           MessageRow{"LobbySize", {Kind::kLobby, 0, 3, 2, 0, 0}},
           MessageRow{"LobbySeated", {Kind::kLobby, 0, 4, 5, 0, 0}},
           MessageRow{"Input", {Kind::kInput, 0, 0, 0, 2, 0}},
           MessageRow{"Hash", {Kind::kHash, 0, 0, 0, 0, 0}},
           MessageRow{"Leave", {Kind::kLeave, 0, 4, 0, 0, 0}},
           MessageRow{"Resume", {Kind::kResume, 1, 4, 0, 0, 0}},
           MessageRow{"Away", {Kind::kAway, 0, 4, 0, 0, 0}},
           MessageRow{"Start", {Kind::kStart, 0, 4, 0, 0, 0}},
           MessageRow{"Unknown", {static_cast<Kind>(99), 0, 4, 0, 0, 0}}),
    NameOf);

class BadWelcomeTest : public PeerTest,
                       public testing::WithParamInterface<MessageRow> {};

TEST_P(BadWelcomeTest, EndsTheMatchBeforeItBegins) {
  Make({});
  Join(4);
  link().Open(now_);
  Say(GetParam().message);
  EXPECT_EQ(peer_->state(), PeerState::kEnded);
  EXPECT_EQ(peer_->end(), PeerEnd::kProtocol);
  EXPECT_EQ(peer_->end_code(), close_code::kProtocolError);
  EXPECT_EQ(link().close_code(), close_code::kProtocolError);
  EXPECT_FALSE(game_.match().has_value());
}

INSTANTIATE_TEST_SUITE_P(
    Rows, BadWelcomeTest,
    Values(MessageRow{"NoPlayers", {Kind::kWelcome, 0, 0, 0, 1, 1}},
           MessageRow{"PlayersOverSize", {Kind::kWelcome, 0, 5, 0, 1, 1}},
           MessageRow{"SlotOverPlayers", {Kind::kWelcome, 2, 2, 0, 1, 1}},
           MessageRow{"NoToken", {Kind::kWelcome, 0, 2, 0, 1, 0}}),
    NameOf);

// ---- Ends before the match

TEST_F(PeerTest, AFirstConnectionThatNeverOpensIsGivenUp) {
  Make({});
  Join(2);
  Wait(2'999 * kMs);
  EXPECT_EQ(peer_->state(), PeerState::kConnecting);
  Wait(1 * kMs);
  EXPECT_EQ(peer_->end(), PeerEnd::kConnectFailed);
  EXPECT_EQ(peer_->end_text(), "the room cannot be reached");
  EXPECT_TRUE(link().destroyed());
  EXPECT_EQ(connector_.calls().size(), 1u);
}

struct EndRow {
  const char* name;
  CloseCode code;
  const char* text;  // the host's
  std::uint16_t refusal;
  PeerEnd end;
  const char* words;
};
std::string EndName(const testing::TestParamInfo<EndRow>& row) {
  return row.param.name;
}

class EndWhileConnectingTest : public PeerTest,
                               public testing::WithParamInterface<EndRow> {};

TEST_P(EndWhileConnectingTest, IsTold) {
  const EndRow& row = GetParam();
  Make({});
  Join(2);
  link().Close(now_, row.code, row.text, row.refusal);
  EXPECT_EQ(peer_->state(), PeerState::kEnded);
  EXPECT_EQ(peer_->end(), row.end);
  EXPECT_EQ(peer_->end_code(), row.code);
  EXPECT_EQ(peer_->end_refusal(), row.refusal);
  EXPECT_EQ(peer_->end_text(), row.words);
  EXPECT_TRUE(link().destroyed());
  EXPECT_EQ(peer_->next_alarm(), kNever);
}

INSTANTIATE_TEST_SUITE_P(
    Rows, EndWhileConnectingTest,
    Values(EndRow{"Lost", 1006, "", 0, PeerEnd::kConnectFailed,
                  "the room cannot be reached"},
           EndRow{"Refused403", 1006, "", 403, PeerEnd::kRefused,
                  "the host refused access"},
           EndRow{"Refused404", 1006, "", 404, PeerEnd::kRefused,
                  "there is no such room"},
           EndRow{"Refused409", 1006, "", 409, PeerEnd::kRefused,
                  "the room was opened for another number of players"},
           EndRow{"Refused429", 1006, "", 429, PeerEnd::kRefused,
                  "too many tries: wait a minute"},
           EndRow{"Refused503", 1006, "", 503, PeerEnd::kRefused,
                  "the host takes nobody in at the moment"},
           EndRow{"Refused400", 1006, "", 400, PeerEnd::kRefused,
                  "the host refused the connection"},
           EndRow{"Full", 4000, "room full", 0, PeerEnd::kClosed,
                  "the room is full or plays already"}),
    EndName);

class EndInLobbyTest : public PeerTest,
                       public testing::WithParamInterface<EndRow> {};

TEST_P(EndInLobbyTest, IsToldInOurWords) {
  const EndRow& row = GetParam();
  Make({});
  Join(2);
  link().Open(now_);
  link().Close(now_, row.code, row.text);
  EXPECT_EQ(peer_->state(), PeerState::kEnded);
  EXPECT_EQ(peer_->end(), row.end);
  EXPECT_EQ(peer_->end_code(), row.code);
  EXPECT_EQ(peer_->end_text(), row.words);
  EXPECT_EQ(connector_.calls().size(), 1u) << "the lobby holds no seats";
}

INSTANTIATE_TEST_SUITE_P(
    Rows, EndInLobbyTest,
    Values(EndRow{"Full", 4000, "room full", 0, PeerEnd::kClosed,
                  "the room is full or plays already"},
           EndRow{"NotFilled", 1001, "room not filled", 0, PeerEnd::kClosed,
                  "the room was not filled in time"},
           EndRow{"TimeUp", 1001, "room time is up", 0, PeerEnd::kClosed,
                  "the room's time is up"},
           EndRow{"Idle", 1001, "room idle", 0, PeerEnd::kClosed,
                  "nobody played for too long"},
           EndRow{"HostLeft", 1001, "host left", 0, PeerEnd::kClosed,
                  "the host left"},
           EndRow{"Kicked", 1008, "kicked", 0, PeerEnd::kClosed,
                  "put out of the room"},
           EndRow{"TheirWords", 1001, "<b>send money</b>", 0, PeerEnd::kClosed,
                  "the host left"},
           EndRow{"UnknownCode", 4777, "room full", 0, PeerEnd::kClosed,
                  "the room closed the connection"},
           EndRow{"Lost", 1006, "", 0, PeerEnd::kClosed,
                  "the connection to the room was lost"},
           EndRow{"Restart", 1012, "restart", 0, PeerEnd::kClosed,
                  "the host restarts"}),
    EndName);

TEST_F(PeerTest, LeavingCancelsAJoin) {
  Make({});
  Join(2);
  peer_->Leave();
  EXPECT_EQ(peer_->end(), PeerEnd::kLeft);
  EXPECT_EQ(link().close_code(), close_code::kNormal);
  EXPECT_FALSE(link().destroyed()) << "the close has to be flushed";
  link().Close(now_, 1000);
  EXPECT_TRUE(link().destroyed());
  EXPECT_EQ(peer_->next_alarm(), kNever);
}

TEST_F(PeerTest, LeavingBeforeJoiningEndsIt) {
  Make({});
  peer_->Leave();
  EXPECT_EQ(peer_->state(), PeerState::kEnded);
  EXPECT_EQ(peer_->end(), PeerEnd::kLeft);
  EXPECT_EQ(peer_->end_text(), "you left");
}

TEST_F(PeerTest, LeavingTheLobbyClosesInOrder) {
  Make({});
  Join(2);
  link().Open(now_);
  peer_->Leave();
  peer_->Leave();
  EXPECT_EQ(link().close_code(), close_code::kNormal);
  Say({.kind = Kind::kWelcome, .slot = 0, .players = 2, .value = 1});
  EXPECT_FALSE(game_.match().has_value());
}

TEST_F(PeerTest, DestroyingItGivesTheConnectionUp) {
  Make({});
  Join(2);
  peer_.reset();
  EXPECT_TRUE(link().destroyed());
}

// ---- Playing

class DelayTest : public PeerTest, public testing::WithParamInterface<int> {};

TEST_P(DelayTest, OneInputAStepForTheFrameDelayAhead) {
  const auto delay = static_cast<std::uint32_t>(GetParam());
  Play(2, 0, {.delay = GetParam(), .hash_every = 1000});
  for (std::uint32_t f = 0; f < 100; ++f) {
    if (f >= delay) SayInputs(1, f, f);
    ASSERT_EQ(Step(), StepResult::kRan);
    EXPECT_EQ(TakeSent(), OwnInputs(f + delay, f + delay));
  }
  ASSERT_EQ(game_.frames.size(), 100u);
  for (std::uint32_t f = 0; f < 100; ++f) {
    // Frames before the first input are 0 for everyone.
    const std::vector<std::uint32_t> expected =
        f < delay ? std::vector<std::uint32_t>{0, 0}
                  : std::vector<std::uint32_t>{1000 + f, f};
    EXPECT_EQ(game_.frames[f], (test::ToyGame::Frame{f, expected, 0}));
    EXPECT_EQ(game_.asked[f], f + delay);
  }
}

INSTANTIATE_TEST_SUITE_P(Delays, DelayTest, Values(1, 2, 7, 31));

TEST_F(PeerTest, StallsUntilEveryInputIsInAndNeverGuesses) {
  Play(3, 1);
  EXPECT_EQ(Step(), StepResult::kRan);
  EXPECT_EQ(Step(), StepResult::kRan);
  EXPECT_EQ(Step(), StepResult::kStalled);
  EXPECT_EQ(peer_->waiting_for(), 0b101u);
  SayInputs(0, 2, 4);
  EXPECT_EQ(peer_->waiting_for(), 0b100u);
  EXPECT_EQ(Step(), StepResult::kStalled);
  EXPECT_EQ(peer_->counters().stalls, 2u);
  EXPECT_EQ(TakeSent(), OwnInputs(2, 4)) << "one input a frame, not a step";
  SayInputs(2, 2, 2);
  EXPECT_EQ(Step(), StepResult::kRan);
  EXPECT_EQ(Step(), StepResult::kStalled);
  EXPECT_EQ(peer_->frame(), 3u);
  EXPECT_EQ(game_.frames[2].inputs, (std::vector<std::uint32_t>{2, 1002, 2}));
}

TEST_F(PeerTest, ASeatAloneRunsFreely) {
  Play(1, 0, {.delay = 5});
  StepWith({}, 200);
  EXPECT_EQ(peer_->frame(), 200u);
  EXPECT_EQ(game_.frames[5].inputs, std::vector<std::uint32_t>{1005});
}

TEST_F(PeerTest, FirstWriteWins) {
  Play(2, 0);
  Say(Kind::kInput, 1, 2, 111);
  Say(Kind::kInput, 1, 2, 222);
  Say(Kind::kInput, 1, 1, 333);
  Say(Kind::kInput, 1, 3, 444);
  EXPECT_EQ(peer_->counters().dropped, 2u);
  for (int i = 0; i < 4; ++i) ASSERT_EQ(Step(), StepResult::kRan);
  EXPECT_EQ(game_.frames[1].inputs[1], 0u);
  EXPECT_EQ(game_.frames[2].inputs[1], 111u);
  EXPECT_EQ(game_.frames[3].inputs[1], 444u);
  Say(Kind::kInput, 1, 2, 555);
  EXPECT_EQ(peer_->counters().dropped, 3u);
}

class IgnoredInMatchTest : public PeerTest,
                           public testing::WithParamInterface<MessageRow> {};

TEST_P(IgnoredInMatchTest, IsCounted) {
  Play(2, 0);
  SayInputs(1, 2, 3);
  Say(GetParam().message);
  EXPECT_EQ(peer_->counters().dropped, 1u);
  EXPECT_EQ(peer_->state(), PeerState::kPlaying);
  EXPECT_EQ(peer_->lost(), 0u);
  EXPECT_EQ(peer_->away(), 0u);
  for (int i = 0; i < 4; ++i) ASSERT_EQ(Step(), StepResult::kRan);
  EXPECT_EQ(Step(), StepResult::kStalled);
  EXPECT_EQ(TakeSent(), OwnInputs(2, 6)) << "nothing is sent again";
  EXPECT_EQ(peer_->desync(), -1);
}

INSTANTIATE_TEST_SUITE_P(
    Rows, IgnoredInMatchTest,
    Values(MessageRow{"OwnInput", {Kind::kInput, 0, 0, 0, 4, 7}},
           MessageRow{"InputSlot", {Kind::kInput, 2, 0, 0, 4, 7}},
           MessageRow{"InputSlot255", {Kind::kInput, 255, 0, 0, 4, 7}},
           MessageRow{"OwnHash", {Kind::kHash, 0, 0, 0, 0, 7}},
           MessageRow{"HashSlot", {Kind::kHash, 2, 0, 0, 0, 7}},
           MessageRow{"HashBetween", {Kind::kHash, 1, 0, 0, 1, 7}},
           MessageRow{"HashFarAhead", {Kind::kHash, 1, 0, 0, 30, 7}},
           MessageRow{"OwnLeave", {Kind::kLeave, 0, 2, 0, 0, 0}},
           MessageRow{"LeaveSlot", {Kind::kLeave, 2, 2, 0, 0, 0}},
           MessageRow{"OwnAway", {Kind::kAway, 0, 2, 0, 0, 0}},
           MessageRow{"AwaySlot", {Kind::kAway, 32, 2, 0, 0, 0}},
           MessageRow{"OwnResume", {Kind::kResume, 0, 2, 0, 0, 0}},
           MessageRow{"ResumeSlot", {Kind::kResume, 9, 2, 0, 0, 0}},
           MessageRow{"Welcome", {Kind::kWelcome, 1, 2, 0, kSeed, 5}},
           MessageRow{"OwnWelcome", {Kind::kWelcome, 0, 2, 9, kSeed, kToken}},
           MessageRow{"Start", {Kind::kStart, 1, 2, 0, 0, 0}},
           MessageRow{"Lobby", {Kind::kLobby, 1, 2, 2, 0, 0}},
           MessageRow{"Kind0", {static_cast<Kind>(0), 1, 2, 0, 0, 0}},
           MessageRow{"Kind9", {static_cast<Kind>(9), 1, 2, 0, 0, 0}},
           MessageRow{"Kind255", {static_cast<Kind>(255), 1, 2, 0, 0, 0}}),
    NameOf);

class WrongSizeTest
    : public PeerTest,
      public testing::WithParamInterface<std::tuple<std::size_t, MessageKind>> {
};

TEST_P(WrongSizeTest, EndsTheMatch) {
  const auto [size, kind] = GetParam();
  Play(2, 0);
  link().Say(now_, std::vector<std::byte>(size, std::byte{1}), kind);
  EXPECT_EQ(peer_->end(), PeerEnd::kProtocol);
  EXPECT_EQ(link().close_code(), close_code::kProtocolError);
  EXPECT_EQ(peer_->end_text(),
            "the host does not speak like a room of this game");
  EXPECT_EQ(Step(), StepResult::kNotPlaying);
}

INSTANTIATE_TEST_SUITE_P(Rows, WrongSizeTest,
                         Values(std::tuple(0, MessageKind::kBinary),
                                std::tuple(11, MessageKind::kBinary),
                                std::tuple(13, MessageKind::kBinary),
                                std::tuple(65'536, MessageKind::kBinary),
                                std::tuple(0, MessageKind::kText),
                                std::tuple(12, MessageKind::kText)));

TEST_F(PeerTest, NothingIsSentAfterTheEnd) {
  Play(2, 0);
  SayInputs(1, 2, 9);
  StepWith({}, 3);
  TakeSent();
  peer_->Leave();
  EXPECT_EQ(link().close_code(), close_code::kNormal);
  Say(Kind::kResume, 1);
  Say(Kind::kLeave, 1);
  EXPECT_EQ(Step(), StepResult::kNotPlaying);
  EXPECT_FALSE(peer_->Start(0, 0));
  EXPECT_EQ(peer_->lost(), 0u);
  EXPECT_EQ(peer_->frame(), 3u);
  EXPECT_EQ(TakeSent(), Texts{});
  EXPECT_FALSE(link().destroyed());
  link().Close(now_, 1006);
  EXPECT_TRUE(link().destroyed());
  EXPECT_EQ(peer_->end(), PeerEnd::kLeft);
  EXPECT_EQ(peer_->next_alarm(), kNever);
}

TEST_F(PeerTest, TheGameMayLeaveFromItsOwnCalls) {
  const std::vector<std::function<void()> test::ToyGame::*> calls = {
      &test::ToyGame::on_start, &test::ToyGame::on_input,
      &test::ToyGame::on_step, &test::ToyGame::on_hash};
  for (const auto call : calls) {
    game_ = test::ToyGame();
    game_.*call = [this] { peer_->Leave(); };
    Play(2, 0, {.hash_every = 1});
    for (int i = 0; i < 3; ++i) Step();
    EXPECT_EQ(peer_->end(), PeerEnd::kLeft);
    EXPECT_EQ(link().close_code(), close_code::kNormal);
    EXPECT_LE(game_.frames.size(), 1u);
  }
}

// ---- Hashes

TEST_F(PeerTest, HashesGoOutBeforeTheirFrameRuns) {
  Play(1, 0, {.delay = 1, .hash_every = 3});
  Texts sent;
  for (int i = 0; i < 7; ++i) {
    Step();
    for (std::string& text : TakeSent()) sent.push_back(text);
  }
  EXPECT_EQ(sent, (Texts{"INPUT 1 1001", "INPUT 2 1002", "INPUT 3 1003",
                         "HASH 3", "INPUT 4 1004", "INPUT 5 1005",
                         "INPUT 6 1006", "HASH 6", "INPUT 7 1007"}));
}

// A game that ran the same frames as game_, for its hashes.
class HashTest : public PeerTest {
 protected:
  std::uint32_t HashAt(std::uint32_t frame) {
    test::ToyGame twin;
    twin.OnStart(*peer_->match());
    for (std::uint32_t f = 0; f < frame; ++f) {
      const std::vector<std::uint32_t> inputs =
          f < 2 ? std::vector<std::uint32_t>(3, 0)
                : std::vector<std::uint32_t>{1000 + f, f, f};
      twin.Step(f, inputs, 0);
    }
    return twin.Hash();
  }
};

TEST_F(HashTest, EqualHashesAreInStepWhoeverIsFirst) {
  Play(3, 0, {.hash_every = 4});
  for (const int slot : {1, 2}) Say(Kind::kHash, slot, 0, HashAt(0));
  for (std::uint32_t f = 0; f < 40; ++f) {
    const bool hashed = f % 4 == 0 && f > 0;
    // Seat 1 is a frame ahead of us, seat 2 a frame behind.
    if ((f + 1) % 4 == 0) Say(Kind::kHash, 1, f + 1, HashAt(f + 1));
    if (f >= 2) SayInputs(1, f, f), SayInputs(2, f, f);
    ASSERT_EQ(Step(), StepResult::kRan);
    if (hashed) Say(Kind::kHash, 2, f, HashAt(f));
  }
  EXPECT_EQ(peer_->desync(), -1);
  EXPECT_EQ(peer_->desync_seat(), -1);
  EXPECT_EQ(peer_->counters().dropped, 0u);
}

TEST_F(HashTest, ALaterDifferenceIsToldAndTheMatchGoesOn) {
  Play(3, 0, {.hash_every = 4});
  StepWith({1, 2}, 4);
  Say(Kind::kHash, 1, 0, HashAt(0));
  Say(Kind::kHash, 1, 4, HashAt(4) ^ 1);  // it comes after ours
  EXPECT_EQ(peer_->desync(), 4);
  EXPECT_EQ(peer_->desync_seat(), 1);
  EXPECT_EQ(peer_->state(), PeerState::kPlaying);
  // Seat 2 is slower, but differed at an earlier frame: it is the first one.
  Say(Kind::kHash, 2, 4, HashAt(4) ^ 1);
  EXPECT_EQ(peer_->desync_seat(), 1);
  StepWith({1, 2}, 8);
  EXPECT_EQ(peer_->desync(), 4);
}

TEST_F(HashTest, TheFirstFrameThatDifferedCountsNotTheFirstReport) {
  Play(3, 0, {.hash_every = 1});
  StepWith({1, 2}, 6);
  Say(Kind::kHash, 1, 6, HashAt(6) ^ 1);
  EXPECT_EQ(peer_->desync(), 6);
  Say(Kind::kHash, 2, 4, HashAt(4) ^ 1);
  EXPECT_EQ(peer_->desync(), 4);
  EXPECT_EQ(peer_->desync_seat(), 2);
}

TEST_F(HashTest, ADifferenceAheadShowsWhenTheFrameIsReached) {
  Play(3, 0, {.hash_every = 4});
  StepWith({1, 2}, 3);
  Say(Kind::kHash, 2, 4, HashAt(4) ^ 1);
  EXPECT_EQ(peer_->desync(), -1);
  StepWith({1, 2}, 1);
  EXPECT_EQ(peer_->desync(), 4);
  EXPECT_EQ(peer_->desync_seat(), 2);
}

TEST_F(HashTest, TheFirstHashOfAFrameCounts) {
  Play(3, 0, {.hash_every = 4});
  StepWith({1, 2}, 4);
  Say(Kind::kHash, 1, 4, HashAt(4));
  Say(Kind::kHash, 1, 4, HashAt(4) ^ 1);
  Say(Kind::kHash, 1, 0, HashAt(0) ^ 1);
  EXPECT_EQ(peer_->counters().dropped, 2u);
  EXPECT_EQ(peer_->desync(), -1);
  EXPECT_EQ(peer_->state(), PeerState::kPlaying);
}

TEST_F(HashTest, AnotherBuildIsToldBeforeAnyonePlays) {
  Play(3, 0);
  Say(Kind::kHash, 2, 0, HashAt(0) ^ 1);
  EXPECT_EQ(peer_->end(), PeerEnd::kOtherBuild);
  EXPECT_EQ(peer_->end_text(),
            "seat 2 plays another build of this game, or with other options");
  EXPECT_EQ(link().close_code(), close_code::kNormal);
  EXPECT_EQ(peer_->desync(), -1);
  EXPECT_EQ(Step(), StepResult::kNotPlaying);
  EXPECT_TRUE(game_.frames.empty());
}

// The farthest apart that honest seats can be, at every delay.
TEST_F(HashTest, HashesOfAllHonestDistancesAreCompared) {
  for (int delay = 1; delay <= 31; ++delay) {
    for (const int every : {1, 2, 30}) {
      const auto ahead = static_cast<std::uint32_t>(delay + 1);
      Play(1, 0, {.delay = delay, .hash_every = every});
      Play(2, 0, {.delay = delay, .hash_every = every});
      SCOPED_TRACE(testing::Message() << delay << " " << every);
      SayInputs(1, static_cast<std::uint32_t>(delay), 200);
      for (std::uint32_t f = 0; f <= ahead; f += 1) {
        if (f % static_cast<std::uint32_t>(every) == 0 && f > 0) {
          Say(Kind::kHash, 1, f, 1);  // wrong, and ahead of us
        }
      }
      EXPECT_EQ(peer_->counters().dropped, 0u);
      for (std::uint32_t f = 0; f < ahead; ++f) Step();
      const bool any = every <= delay + 1;
      EXPECT_EQ(peer_->desync(), any ? every : -1);
    }
  }
}

// ---- Seats that leave

TEST_F(PeerTest, ABotTakesOverAtTheFirstMissingFrame) {
  Play(3, 0);
  SayInputs(1, 2, 4);
  SayInputs(2, 2, 9);
  Say(Kind::kLeave, 1);
  EXPECT_EQ(peer_->lost(), 2u);
  EXPECT_EQ(peer_->bots(), 0u) << "its last inputs are still to be run";
  for (int i = 0; i < 5; ++i) ASSERT_EQ(Step(), StepResult::kRan);
  EXPECT_EQ(peer_->bots(), 2u);
  for (int i = 0; i < 5; ++i) ASSERT_EQ(Step(), StepResult::kRan);
  EXPECT_EQ(Step(), StepResult::kStalled);
  for (std::uint32_t f = 0; f < 10; ++f) {
    EXPECT_EQ(game_.frames[f].bots, f < 5 ? 0u : 2u) << f;
    EXPECT_EQ(game_.frames[f].inputs[1], f >= 2 && f < 5 ? f : 0u) << f;
  }
  // It cannot come back, and says nothing more.
  Say(Kind::kResume, 1);
  Say(Kind::kAway, 1);
  Say(Kind::kInput, 1, 5, 5);
  EXPECT_EQ(peer_->counters().dropped, 3u);
  EXPECT_EQ(peer_->away(), 0u);
}

TEST_F(PeerTest, ASeatThatLeavesBeforeItSaidAnythingIsABotFromTheFirstInput) {
  Play(2, 0, {.delay = 4});
  Say(Kind::kLeave, 1);
  for (int i = 0; i < 6; ++i) ASSERT_EQ(Step(), StepResult::kRan);
  EXPECT_EQ(game_.first_bot_frame, 4u);
}

TEST_F(PeerTest, InputsBeyondASkippedFrameAreNeverUsed) {
  Play(2, 0);
  Say(Kind::kInput, 1, 2, 2);
  Say(Kind::kInput, 1, 4, 4);
  Say(Kind::kInput, 1, 3, 3);  // no room relays this: frames rise
  Say(Kind::kInput, 1, 5, 5);
  EXPECT_EQ(peer_->counters().dropped, 3u);
  for (int i = 0; i < 3; ++i) ASSERT_EQ(Step(), StepResult::kRan);
  EXPECT_EQ(Step(), StepResult::kStalled);
  Say(Kind::kLeave, 1);
  for (int i = 0; i < 5; ++i) ASSERT_EQ(Step(), StepResult::kRan);
  EXPECT_EQ(game_.first_bot_frame, 3u);
}

TEST_F(PeerTest, UnderWaitTheMatchStallsUntilTheGameLeaves) {
  Play(2, 0, {.left_seat = LeftSeat::kWait});
  SayInputs(1, 2, 3);
  Say(Kind::kLeave, 1);
  for (int i = 0; i < 4; ++i) ASSERT_EQ(Step(), StepResult::kRan);
  for (int i = 0; i < 10; ++i) ASSERT_EQ(Step(), StepResult::kStalled);
  EXPECT_EQ(peer_->lost(), 2u);
  EXPECT_EQ(peer_->bots(), 0u);
  EXPECT_EQ(peer_->state(), PeerState::kPlaying);
}

TEST_F(PeerTest, UnderEndTheMatchEndsInWords) {
  Play(3, 0, {.left_seat = LeftSeat::kEnd});
  SayInputs(1, 2, 9);
  Say(Kind::kLeave, 2);
  EXPECT_EQ(peer_->end(), PeerEnd::kSeatLeft);
  EXPECT_EQ(peer_->end_text(), "seat 2 left the match");
  EXPECT_EQ(link().close_code(), close_code::kNormal);
  EXPECT_EQ(peer_->lost(), 4u);
}

TEST_F(PeerTest, AwayIsShownUntilTheSeatIsBackOrGone) {
  Play(4, 0);
  Say(Kind::kAway, 1);
  Say(Kind::kAway, 3);
  EXPECT_EQ(peer_->away(), 0b1010u);
  Say(Kind::kResume, 1);
  EXPECT_EQ(peer_->away(), 0b1000u);
  Say(Kind::kLeave, 3);
  EXPECT_EQ(peer_->away(), 0u);
  EXPECT_EQ(peer_->lost(), 0b1000u);
  Say(Kind::kLeave, 3);
  EXPECT_EQ(peer_->counters().dropped, 0u);
}

TEST_F(PeerTest, TheLastOfThirtyTwoSeatsHasABit) {
  Play(32, 30);
  for (int s = 0; s < 32; ++s) {
    if (s != 30) Say(Kind::kLeave, s);
  }
  EXPECT_EQ(peer_->lost(), ~(1u << 30));
  for (int i = 0; i < 3; ++i) ASSERT_EQ(Step(), StepResult::kRan);
  EXPECT_EQ(game_.frames[2].bots, ~(1u << 30));
  EXPECT_EQ(game_.frames[2].inputs[30], 1002u);
}

// ---- Hostile seats

TEST_F(PeerTest, ASeatMayRunAheadAsFarAsIsKept) {
  Play(3, 0);
  SayInputs(1, 2, 65'535);  // 65,536 frames with the two that are 0
  EXPECT_EQ(peer_->state(), PeerState::kPlaying);
  Say(Kind::kInput, 1, 65'536, 0);
  EXPECT_EQ(peer_->end(), PeerEnd::kAhead);
  EXPECT_EQ(peer_->end_text(), "seat 1 ran too far ahead of the match");
  EXPECT_EQ(link().close_code(), close_code::kNormal);
}

TEST_F(PeerTest, InputsOfASeatThatRanAheadAreAllRun) {
  Play(2, 0, {.hash_every = 100'000});
  SayInputs(1, 2, 40'000);
  StepWith({}, 40'001);
  EXPECT_EQ(Step(), StepResult::kStalled);
  SayInputs(1, 40'001, 105'000);  // the window moved on
  EXPECT_EQ(peer_->state(), PeerState::kPlaying);
  StepWith({}, 65'000);
  for (const auto& frame : game_.frames) {
    ASSERT_EQ(frame.inputs[1], frame.frame < 2 ? 0 : frame.frame);
  }
}

TEST_F(PeerTest, AFrameNumberFarAwayCostsNothing) {
  Play(3, 0);
  Say(Kind::kInput, 1, 0xffffffff, 7);
  Say(Kind::kInput, 2, 4'000'000'000, 7);
  EXPECT_EQ(peer_->counters().dropped, 2u);
  EXPECT_EQ(peer_->state(), PeerState::kPlaying);
  for (const int slot : {1, 2}) Say(Kind::kLeave, slot);
  for (int i = 0; i < 5; ++i) ASSERT_EQ(Step(), StepResult::kRan);
  EXPECT_EQ(game_.first_bot_frame, 2u);
}

}  // namespace
}  // namespace parlor::lockstep
