// Joining, leaving, being refused, losing the link and coming back. What is
// said in play is in peer_play_test.cc.
#include "parlor/authority/peer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "authority/peer_fixture.h"
#include "parlor/status.h"

namespace parlor::authority {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Values;

// ---- Options

TEST(PeerOptions, AreChecked) {
  const auto error = [](const PeerOptions& options) {
    return std::string(StatusText(ValidateOptions(options)));
  };
  EXPECT_EQ(error({.protocol = "toy/1"}), "");
  EXPECT_EQ(error({.protocol = ""}),
            "protocol: not 1 to 64 printable ASCII characters");
  EXPECT_EQ(error({.protocol = "a\n"}),
            "protocol: not 1 to 64 printable ASCII characters");
  EXPECT_EQ(error({.protocol = "a", .codecs = {}}),
            "codecs: not a list of binary and json");
  EXPECT_EQ(error({.protocol = "a", .codecs = {"xml"}}),
            "codecs: not a list of binary and json");
  EXPECT_EQ(error({.protocol = "a", .retries = 17}),
            "retries: 17 is not in 0..16");
  EXPECT_EQ(error({.protocol = "a", .retry_ms = 0}),
            "retry_ms: 0 is not in 1..60000");
  EXPECT_EQ(error({.protocol = "a", .connect_ms = 60'001}),
            "connect_ms: 60001 is not in 1..60000");
}

TEST_F(PeerTest, AProfileThatNoRoomTakesIsNotSent) {
  Make();
  for (const PlayerProfile& profile :
       {PlayerProfile{.name = ""}, PlayerProfile{.name = "a\nb"},
        PlayerProfile{.name = "Ann", .fields = "[]"},
        PlayerProfile{.name = "Ann", .fields = R"({"a":1,"a":2})"}}) {
    EXPECT_EQ(peer_->Join(now_, {}, profile).code(),
              absl::StatusCode::kInvalidArgument);
    EXPECT_EQ(peer_->state(), PeerState::kIdle);
  }
  EXPECT_THAT(connector_.calls(), IsEmpty());
}

// ---- Joining

TEST_F(PeerTest, JoinsAndIsWelcome) {
  Make();
  EXPECT_EQ(peer_->state(), PeerState::kIdle);
  EXPECT_FALSE(Step());
  Join();
  EXPECT_EQ(peer_->state(), PeerState::kConnecting);
  EXPECT_EQ(connector_.calls()[0].hello.access, "invite.CODE");
  EXPECT_FALSE(connector_.calls()[0].hello.resume.has_value());
  EXPECT_EQ(peer_->next_alarm(), now_ + 3'000 * kMs);
  link().Open(now_);
  EXPECT_EQ(peer_->state(), PeerState::kJoining);
  EXPECT_FALSE(Step());
  const auto sent = link().TakeSent();
  ASSERT_EQ(sent.size(), 1u);
  const std::string_view text(reinterpret_cast<const char*>(sent[0].data()),
                              sent[0].size());
  EXPECT_EQ(text,
            R"({"t":"join","protocol":"toy/1","name":"Ann","fields":{"hat":3},)"
            R"("codecs":["binary","json"]})");
  Say(Welcome(1));
  EXPECT_EQ(peer_->state(), PeerState::kPlaying);
  EXPECT_EQ(peer_->seat(), 2);
  EXPECT_EQ(peer_->welcome()->player, "p3");
  // The token is not for the game to see, or to write somewhere.
  EXPECT_EQ(peer_->welcome()->token, ResumeToken{});
  EXPECT_EQ(peer_->rows().size(), 0u);
}

TEST_F(PeerTest, AFirstConnectionThatNeverOpensFails) {
  Make();
  Join();
  Wait(3'000 * kMs);
  EXPECT_EQ(peer_->end(), PeerEnd::kConnectFailed);
  EXPECT_EQ(peer_->end_text(), "the room cannot be reached");
  EXPECT_TRUE(peer_->closed());
  EXPECT_TRUE(link().destroyed());
  EXPECT_EQ(peer_->next_alarm(), kNever);
}

TEST_F(PeerTest, ARoomThatNeverWelcomesFails) {
  Make();
  Join();
  link().Open(now_);
  Wait(3'000 * kMs);
  EXPECT_EQ(peer_->end(), PeerEnd::kConnectFailed);
}

TEST_F(PeerTest, TheGateRefuses) {
  Make();
  Join();
  link().Close(now_, close_code::kDropped, {}, 403);
  EXPECT_EQ(peer_->end(), PeerEnd::kRefused);
  EXPECT_EQ(peer_->end_refusal(), 403);
  EXPECT_EQ(peer_->end_text(), "the host refused access");
}

struct RefusedRow {
  const char* name;
  ErrorCode code;
  const char* text;
  PeerEnd end = PeerEnd::kRefused;
};

class PeerRefusedTest : public PeerTest,
                        public testing::WithParamInterface<RefusedRow> {};

TEST_P(PeerRefusedTest, InWords) {
  Make();
  Join();
  link().Open(now_);
  Say(ErrorFrame{.code = GetParam().code,
                 .message = "too\x1b[31m \xf0\x9f\x98\x80 short"});
  EXPECT_EQ(peer_->end(), GetParam().end);
  EXPECT_EQ(peer_->end_error(), GetParam().code);
  EXPECT_EQ(peer_->end_text(), GetParam().text);
  EXPECT_EQ(link().close_code(), close_code::kNormal);
}

INSTANTIATE_TEST_SUITE_P(
    Rows, PeerRefusedTest,
    Values(RefusedRow{"Protocol", ErrorCode::kProtocol,
                      "the room plays another game, or another version of it",
                      PeerEnd::kOtherGame},
           RefusedRow{"Name", ErrorCode::kName,
                      "the room does not take this name"},
           RefusedRow{"Full", ErrorCode::kFull, "every seat is taken"},
           RefusedRow{"Locked", ErrorCode::kLocked, "the room is locked"},
           RefusedRow{"Banned", ErrorCode::kBanned, "banned from this room"},
           RefusedRow{"Game", ErrorCode::kRefused,
                      "the game says: too\\x1b[31m \\xf0\\x9f\\x98\\x80 short"},
           RefusedRow{"Ended", ErrorCode::kEnded, "the room is over"},
           RefusedRow{"Rate", ErrorCode::kRate,
                      "the room refused to let this player in"}),
    [](const auto& row) { return std::string(row.param.name); });

TEST_F(PeerTest, AnotherGameIsLeftAlone) {
  for (const int what : {0, 1}) {
    Make();
    Join();
    link().Open(now_);
    WelcomeFrame welcome = Welcome(1);
    (what == 0 ? welcome.protocol : welcome.schema) = R"({"kinds":[]})";
    Say(welcome);
    EXPECT_EQ(peer_->end(), PeerEnd::kOtherGame);
    EXPECT_EQ(link().close_code(), close_code::kNormal);
  }
}

TEST_F(PeerTest, AWelcomeThatNoRoomSaysEndsIt) {
  for (int what = 0; what < 5; ++what) {
    Make();
    Join();
    link().Open(now_);
    WelcomeFrame welcome = Welcome(1);
    if (what == 0) welcome.codec = "morse";
    if (what == 1) welcome.tick_hz = 241;
    if (what == 2) welcome.tick_hz = 9;
    if (what == 3) welcome.tick_hz = 240, welcome.snapshot_hz = 121;
    if (what == 4) welcome.snapshot_hz = 61;
    Say(welcome);
    EXPECT_EQ(peer_->end(), PeerEnd::kProtocol) << what;
    EXPECT_EQ(link().close_code(), close_code::kProtocolError);
  }
}

TEST_F(PeerTest, WhatComesBeforeTheWelcomeIsIgnored) {
  Make();
  Join();
  link().Open(now_);
  // The state lane may be faster.
  SayDelta();
  Say(RosterFrame{});
  SayText(R"({"t":"later"})");
  EXPECT_EQ(peer_->counters().ignored, 3u);
  Say(Welcome(1));
  EXPECT_TRUE(Step());
  EXPECT_EQ(peer_->counters().stale, 0u);
}

// ---- Leaving

TEST_F(PeerTest, LeavesInOrder) {
  Play();
  peer_->Leave();
  EXPECT_THAT(TakeSent(), ElementsAre("leave"));
  EXPECT_EQ(link().close_code(), close_code::kNormal);
  EXPECT_EQ(peer_->end(), PeerEnd::kLeft);
  EXPECT_FALSE(peer_->closed());
  EXPECT_FALSE(Step());
  link().Close(now_, close_code::kNormal);
  EXPECT_TRUE(peer_->closed());
  peer_->Leave();
  EXPECT_EQ(peer_->end(), PeerEnd::kLeft);
}

TEST_F(PeerTest, LeavesWhileItJoinsAndWhileItComesBack) {
  Make();
  Join();
  peer_->Leave();
  EXPECT_EQ(peer_->end(), PeerEnd::kLeft);
  Play();
  DropLink();
  peer_->Leave();
  EXPECT_EQ(peer_->end(), PeerEnd::kLeft);
  EXPECT_TRUE(peer_->closed());
  EXPECT_EQ(peer_->next_alarm(), kNever);
}

// ---- Coming back

class PeerCodeTest : public PeerTest,
                     public testing::WithParamInterface<CloseCode> {};

class PeerDropTest : public PeerCodeTest {};

TEST_P(PeerDropTest, ComesBackWithTheNewestToken) {
  Play();
  DropLink(GetParam());
  EXPECT_EQ(peer_->state(), PeerState::kReconnecting);
  EXPECT_FALSE(Step());
  Reconnect();
  EXPECT_FALSE(connector_.calls()[1].hello.resume.has_value());
  EXPECT_THAT(TakeSent(),
              ElementsAre("join Ann resume " + TokenText(TokenOf(1))));
  Say(Welcome(2));
  EXPECT_EQ(peer_->state(), PeerState::kPlaying);
  EXPECT_EQ(peer_->counters().resumes, 1u);
  DropLink(GetParam());
  Reconnect();
  EXPECT_THAT(TakeSent(),
              ElementsAre("join Ann resume " + TokenText(TokenOf(2))));
}

INSTANTIATE_TEST_SUITE_P(Codes, PeerDropTest,
                         Values(1001, 1006, 1011, 1012, 1014));

class PeerCloseTest : public PeerCodeTest {};

TEST_P(PeerCloseTest, StaysAway) {
  Play();
  DropLink(GetParam());
  EXPECT_EQ(peer_->end(), PeerEnd::kClosed);
  EXPECT_EQ(peer_->end_code(), GetParam());
  EXPECT_FALSE(peer_->end_text().empty());
  EXPECT_EQ(peer_->next_alarm(), kNever);
}

INSTANTIATE_TEST_SUITE_P(Codes, PeerCloseTest,
                         Values(1000, 1002, 1005, 1008, 1009, 1013, 4000, 4001,
                                4003, 4004, 4999));

// A close's text may come from anyone.
TEST_F(PeerTest, TheEndIsToldInOurWords) {
  Play();
  link().Close(now_, close_code::kPutOut, "\x1b[31mrude words");
  EXPECT_EQ(peer_->end_text(), "put out of the room");
}

TEST_F(PeerTest, TriesSixTimesWithinTheHold) {
  Play();
  DropLink();
  const TimePoint dropped = now_;
  std::vector<std::int64_t> waits_ms;
  while (peer_->state() == PeerState::kReconnecting) {
    const TimePoint before = now_;
    now_ = peer_->next_alarm();
    peer_->OnAlarm(now_);
    waits_ms.push_back((now_ - before) / kMs);
    EXPECT_EQ(peer_->tries(), static_cast<int>(waits_ms.size()));
    DropLink();
  }
  EXPECT_THAT(waits_ms, ElementsAre(200, 400, 800, 1'600, 3'200, 6'400));
  EXPECT_LT(now_ - dropped, 15'000 * kMs);
  EXPECT_EQ(peer_->end(), PeerEnd::kRetriesSpent);
}

TEST_F(PeerTest, ATryThatHangsIsGivenUp) {
  Play();
  DropLink();
  Reconnect();
  // Open, and no welcome.
  Wait(2'999 * kMs);
  EXPECT_EQ(connector_.calls().size(), 2u);
  Wait(1'000 * kMs);
  EXPECT_EQ(connector_.calls().size(), 3u);
}

TEST_F(PeerTest, AHostThatIsFullForNowIsTriedAgain) {
  Play();
  DropLink();
  Wait(200 * kMs);
  link().Close(now_, close_code::kDropped, {}, 503);
  EXPECT_EQ(peer_->state(), PeerState::kReconnecting);
  Wait(400 * kMs);
  link().Close(now_, close_code::kDropped, {}, 404);
  EXPECT_EQ(peer_->end(), PeerEnd::kRefused);
}

TEST_F(PeerTest, ASeatThatIsGoneEndsIt) {
  Play();
  DropLink();
  Reconnect();
  Say(ErrorFrame{.code = ErrorCode::kResumeRefused});
  EXPECT_EQ(peer_->end(), PeerEnd::kRefused);
  EXPECT_EQ(peer_->end_error(), ErrorCode::kResumeRefused);
  EXPECT_EQ(peer_->end_text(),
            "the seat is gone: away for too long, or the host restarted");
}

TEST_F(PeerTest, AnotherSeatIsNoResume) {
  Play();
  DropLink();
  Reconnect();
  WelcomeFrame welcome = Welcome(2);
  welcome.player = "p4";
  Say(welcome);
  EXPECT_EQ(peer_->end(), PeerEnd::kProtocol);
}

TEST_F(PeerTest, ARestartIsComeBackFromAtDifferentTimes) {
  std::vector<TimePoint> tries;
  for (const std::uint64_t seed : {1, 2, 3}) {
    Play({.jitter_seed = seed});
    const TimePoint before = now_;
    DropLink(close_code::kRestart);
    tries.push_back(peer_->next_alarm());
    EXPECT_GE(tries.back(), before + 200 * kMs);
    EXPECT_LE(tries.back(), before + 400 * kMs);
  }
  EXPECT_NE(tries[0], tries[1]);
  EXPECT_NE(tries[1], tries[2]);
}

// ---- Silence

TEST_F(PeerTest, TwoSecondsOfSilenceAreADeadLink) {
  Play();
  Wait(1'500 * kMs);
  Say(RosterFrame{});
  Wait(1'999 * kMs);
  EXPECT_EQ(peer_->state(), PeerState::kPlaying);
  Wait(1 * kMs);
  EXPECT_EQ(peer_->state(), PeerState::kReconnecting);
  EXPECT_EQ(peer_->counters().dead_links, 1u);
  EXPECT_TRUE(link().destroyed());
  Reconnect();
  EXPECT_THAT(TakeSent(),
              ElementsAre("join Ann resume " + TokenText(TokenOf(1))));
}

// What the room said meanwhile waits to be delivered.
TEST_F(PeerTest, WhoSleptIsNotDead) {
  Play();
  now_ += 60'000 * kMs;
  peer_->OnAlarm(now_);
  EXPECT_EQ(peer_->state(), PeerState::kPlaying);
  // It does not sleep for ever, though.
  Wait(2'000 * kMs);
  EXPECT_EQ(peer_->state(), PeerState::kReconnecting);
}

}  // namespace
}  // namespace parlor::authority
