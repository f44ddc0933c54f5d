// Coming back after a drop: tries, waits, what is sent again, and holes.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <tuple>
#include <vector>

#include "core/peer_fixture.h"

namespace parlor::lockstep {
namespace {

using testing::Values;

// ---- What is a drop, and how it tries to come back

class DropTest : public PeerTest, public testing::WithParamInterface<int> {};

TEST_P(DropTest, ALinkThatIsLostIsTriedAgain) {
  Play(2, 1);
  DropLink(static_cast<CloseCode>(GetParam()));
  EXPECT_EQ(peer_->state(), PeerState::kReconnecting);
  EXPECT_EQ(peer_->away(), 2u) << "the own seat is held";
  EXPECT_EQ(peer_->lost(), 0u);
  EXPECT_TRUE(link().destroyed());
  Reconnect();
  const Hello& hello = connector_.calls()[1].hello;
  EXPECT_EQ(hello.resume, "abc123");
  EXPECT_EQ(hello.room, 4u);
  EXPECT_EQ(hello.players, 2);
  EXPECT_EQ(hello.access, "invite.CODE");
  EXPECT_EQ(peer_->state(), PeerState::kReconnecting);
  WelcomeBack();
  EXPECT_EQ(peer_->state(), PeerState::kPlaying);
  EXPECT_EQ(peer_->away(), 0u);
  EXPECT_EQ(peer_->counters().resumes, 1u);
  EXPECT_EQ(peer_->next_alarm(), kNever);
}

INSTANTIATE_TEST_SUITE_P(Codes, DropTest, Values(1006, 1011, 1012, 1014));

class EndOfMatchTest : public PeerTest,
                       public testing::WithParamInterface<int> {};

TEST_P(EndOfMatchTest, AnyOtherCloseEndsIt) {
  const auto code = static_cast<CloseCode>(GetParam());
  Play(2, 1);
  DropLink(code);
  EXPECT_EQ(peer_->state(), PeerState::kEnded);
  EXPECT_EQ(peer_->end(), PeerEnd::kClosed);
  EXPECT_EQ(peer_->end_code(), code);
  EXPECT_FALSE(peer_->end_text().empty());
  EXPECT_EQ(peer_->next_alarm(), kNever);
}

TEST_P(EndOfMatchTest, AlsoWhileItComesBack) {
  const auto code = static_cast<CloseCode>(GetParam());
  Play(2, 1);
  DropLink();
  Reconnect();
  DropLink(code);
  EXPECT_EQ(peer_->end(), PeerEnd::kClosed);
  EXPECT_EQ(peer_->end_code(), code);
  EXPECT_EQ(peer_->away(), 0u);
  EXPECT_EQ(peer_->lost(), 2u);
}

INSTANTIATE_TEST_SUITE_P(Codes, EndOfMatchTest,
                         Values(1000, 1001, 1002, 1005, 1007, 1008, 1009, 1013,
                                3000, 4000, 4001, 4002, 4999));

TEST_F(PeerTest, ASeatThatIsGoneIsToldSo) {
  Play(2, 1);
  DropLink();
  Reconnect();
  link().Close(now_, 4002, "seat gone");
  EXPECT_EQ(peer_->end_text(),
            "the seat is gone: away for too long, or the host restarted");
}

TEST_F(PeerTest, SixTriesWhoseWaitsDouble) {
  Play(2, 1);
  const TimePoint lost = now_;
  DropLink();
  std::vector<std::int64_t> at_ms;
  while (peer_->next_alarm() != kNever) {
    now_ = peer_->next_alarm();
    peer_->OnAlarm(now_);
    at_ms.push_back((now_ - lost) / kMs);
    EXPECT_EQ(peer_->tries(), static_cast<int>(at_ms.size()));
    link().Close(now_, 1006);  // each try fails at once
  }
  EXPECT_EQ(peer_->retries(), 6);
  EXPECT_EQ(at_ms,
            (std::vector<std::int64_t>{250, 750, 1'750, 3'750, 7'750, 15'750}));
  EXPECT_EQ(connector_.calls().size(), 7u);
  EXPECT_EQ(peer_->end(), PeerEnd::kRetriesSpent);
  EXPECT_EQ(peer_->end_text(), "the connection was lost and did not come back");
  EXPECT_EQ(peer_->lost(), 2u);
  EXPECT_EQ(peer_->away(), 0u);
  EXPECT_EQ(Step(), StepResult::kNotPlaying);
}

TEST_F(PeerTest, NoTriesMeansNone) {
  Play(2, 1, {.retries = 0});
  DropLink();
  EXPECT_EQ(peer_->end(), PeerEnd::kRetriesSpent);
  EXPECT_EQ(connector_.calls().size(), 1u);
}

TEST_F(PeerTest, AnAlarmThatComesEarlyDoesNothing) {
  Play(2, 1);
  peer_->OnAlarm(now_);
  DropLink();
  peer_->OnAlarm(now_);
  peer_->OnAlarm(now_ + 249 * kMs);
  EXPECT_EQ(connector_.calls().size(), 1u);
  peer_->OnAlarm(now_ + 250 * kMs);
  EXPECT_EQ(connector_.calls().size(), 2u);
}

// How far a try gets before the host falls silent.
class SilentTryTest : public PeerTest,
                      public testing::WithParamInterface<int> {};

TEST_P(SilentTryTest, IsGivenUpAfterThreeSecondsAndCounts) {
  Play(2, 1);
  DropLink();
  for (int tries = 1; tries <= 6; ++tries) {
    Wait(peer_->next_alarm() - now_);
    ASSERT_EQ(connector_.calls().size(), static_cast<std::size_t>(tries) + 1);
    if (GetParam() >= 1) link().Open(now_);
    if (GetParam() >= 2) {
      Say({.kind = Kind::kWelcome,
           .slot = 1,
           .players = 2,
           .mode = 9,
           .frame = kSeed,
           .value = kToken});
    }
    Wait(2'999 * kMs);
    EXPECT_FALSE(link().destroyed());
    EXPECT_EQ(peer_->state(), PeerState::kReconnecting);
    Wait(1 * kMs);
    EXPECT_TRUE(link().destroyed());
    EXPECT_EQ(link().TakeSent().size(), 0u);
  }
  EXPECT_EQ(peer_->end(), PeerEnd::kRetriesSpent);
}

INSTANTIATE_TEST_SUITE_P(UntilConnectOpenWelcome, SilentTryTest,
                         Values(0, 1, 2));

class RefusedTryTest
    : public PeerTest,
      public testing::WithParamInterface<std::tuple<int, bool>> {};

TEST_P(RefusedTryTest, EndsTheTriesOrNot) {
  const auto [status, for_good] = GetParam();
  Play(2, 1);
  DropLink();
  now_ = peer_->next_alarm();
  peer_->OnAlarm(now_);
  link().Close(now_, 1006, "", static_cast<std::uint16_t>(status));
  if (for_good) {
    EXPECT_EQ(peer_->end(), PeerEnd::kRefused);
    EXPECT_EQ(peer_->end_refusal(), status);
    EXPECT_EQ(peer_->lost(), 2u);
  } else {
    EXPECT_EQ(peer_->state(), PeerState::kReconnecting);
    EXPECT_EQ(peer_->next_alarm(), now_ + 500 * kMs);
    ComeBack();
    EXPECT_EQ(peer_->state(), PeerState::kPlaying);
  }
}

INSTANTIATE_TEST_SUITE_P(Statuses, RefusedTryTest,
                         Values(std::tuple(403, true), std::tuple(404, true),
                                std::tuple(409, true), std::tuple(429, false),
                                std::tuple(503, false), std::tuple(500, false),
                                std::tuple(400, false)));

TEST_F(PeerTest, EachDropHasAllItsTries) {
  Play(2, 1, {.retries = 2});
  for (int drop = 0; drop < 5; ++drop) {
    DropLink();
    EXPECT_EQ(peer_->next_alarm(), now_ + 250 * kMs);
    Reconnect();
    DropLink();
    EXPECT_EQ(peer_->next_alarm(), now_ + 500 * kMs);
    ComeBack();
    EXPECT_EQ(peer_->state(), PeerState::kPlaying);
  }
  EXPECT_EQ(peer_->counters().resumes, 5u);
}

TEST_F(PeerTest, OnlyARestartSpreadsTheTries) {
  std::vector<Duration> waits;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    for (const CloseCode code : {1006, 1011, 1014}) {
      Play(2, 1, {.jitter_seed = seed});
      DropLink(code);
      ASSERT_EQ(peer_->next_alarm(), now_ + 250 * kMs);
    }
    Play(2, 1, {.jitter_seed = seed});
    DropLink(1012);
    waits.push_back(peer_->next_alarm() - now_);
    ASSERT_GE(waits.back(), 250 * kMs);
    ASSERT_LE(waits.back(), 500 * kMs);
    Play(2, 1, {.jitter_seed = seed});
    DropLink(1012);
    ASSERT_EQ(peer_->next_alarm() - now_, waits.back()) << "same seed";
  }
  const auto [least, most] = std::minmax_element(waits.begin(), waits.end());
  EXPECT_LT(*least, 270 * kMs);
  EXPECT_GT(*most, 480 * kMs);
}

TEST_F(PeerTest, LeavingWhileItWaitsForATry) {
  Play(2, 1);
  DropLink();
  peer_->Leave();
  EXPECT_EQ(peer_->end(), PeerEnd::kLeft);
  EXPECT_EQ(peer_->next_alarm(), kNever);
  EXPECT_EQ(peer_->away(), 0u);
}

TEST_F(PeerTest, LeavingInTheMiddleOfATry) {
  Play(2, 1);
  DropLink();
  Reconnect();
  peer_->Leave();
  EXPECT_EQ(link().close_code(), close_code::kNormal);
  WelcomeBack();
  EXPECT_EQ(peer_->state(), PeerState::kEnded);
  link().Close(now_, 1000);
  EXPECT_TRUE(link().destroyed());
}

// ---- What is said on a new connection

TEST_F(PeerTest, NothingIsSentBeforeTheOwnResume) {
  Play(2, 1);
  StepWith({0}, 10);
  DropLink();
  for (int i = 0; i < 3; ++i) Step();
  Reconnect();
  for (int i = 0; i < 3; ++i) Step();
  EXPECT_EQ(TakeSent(), Texts{});
  Say({.kind = Kind::kWelcome,
       .slot = 1,
       .players = 2,
       .mode = 9,
       .frame = kSeed,
       .value = kToken});
  for (int i = 0; i < 3; ++i) Step();
  EXPECT_EQ(TakeSent(), Texts{});
  Say(Kind::kResume, 1);
  Step();
  // At frame 10 with delay 2: 7 to 12, in one go and nothing before it.
  EXPECT_EQ(TakeSent(), OwnInputs(7, 12));
  EXPECT_EQ(peer_->counters().resends, 5u) << "12 was said while it was down";
  Step();
  EXPECT_EQ(TakeSent(), Texts{});
}

TEST_F(PeerTest, InputsSaidWhileDownAreSentBeforeNewerOnes) {
  Play(2, 0);
  StepWith({1}, 10);
  SayInputs(1, 10, 12);
  DropLink();
  for (int i = 0; i < 3; ++i) EXPECT_EQ(Step(), StepResult::kRan);
  EXPECT_EQ(Step(), StepResult::kStalled);
  EXPECT_EQ(peer_->frame(), 13u);
  EXPECT_EQ(game_.asked.back(), 15u) << "asked while down too";
  ComeBack();
  SayInputs(1, 13, 13);
  EXPECT_EQ(Step(), StepResult::kRan);
  EXPECT_EQ(TakeSent(), OwnInputs(10, 15));
  SayInputs(1, 14, 14);
  EXPECT_EQ(Step(), StepResult::kRan);
  EXPECT_EQ(TakeSent(), OwnInputs(16, 16));
  for (std::size_t i = 1; i < game_.asked.size(); ++i) {
    ASSERT_EQ(game_.asked[i], game_.asked[i - 1] + 1) << "once, in order";
  }
}

TEST_F(PeerTest, TheResendBeginsAtTheFirstInputThereIs) {
  Play(2, 0, {.delay = 4, .hash_every = 1'000});
  Step();
  DropLink();
  ComeBack();
  Step();
  EXPECT_EQ(TakeSent(), (Texts{"HASH 0", "INPUT 4 1004", "INPUT 5 1005"}));
}

TEST_F(PeerTest, HashesAroundTheDropAreSentAgain) {
  Play(2, 0, {.hash_every = 2});
  StepWith({1}, 10);
  SayInputs(1, 10, 11);
  DropLink();
  EXPECT_EQ(Step(), StepResult::kRan);
  EXPECT_EQ(Step(), StepResult::kRan);  // the hash of 12 is said while down
  ComeBack();
  Step();
  // Each after the inputs that its state was made with.
  EXPECT_EQ(TakeSent(),
            (Texts{"HASH 6", "HASH 8", "INPUT 9 1009", "INPUT 10 1010",
                   "INPUT 11 1011", "INPUT 12 1012", "INPUT 13 1013",
                   "INPUT 14 1014", "HASH 10", "HASH 12"}));
}

TEST_F(PeerTest, EachConnectionGetsTheWholeResend) {
  Play(2, 1);
  StepWith({0}, 10);
  for (int i = 0; i < 4; ++i) {
    DropLink();
    ComeBack();
    Step();
    EXPECT_EQ(TakeSent(), OwnInputs(7, 12));
  }
}

// What the lost connection had taken of it says nothing about the new one.
TEST_F(PeerTest, ADropInTheMiddleOfAResendBeginsItAnew) {
  Play(2, 1, {.delay = 31, .hash_every = 1'000});
  StepWith({0}, 100);
  Step();
  TakeSent();
  const Texts whole = OwnInputs(68, 131);
  Texts sent = whole;
  for (int i = 0; i < 20 && sent == whole; ++i) {  // until the budget is spent
    Say(Kind::kResume, 0);
    Step();
    sent = TakeSent();
  }
  ASSERT_LT(sent.size(), whole.size());
  DropLink();
  ComeBack();
  Step();
  sent = TakeSent();
  ASSERT_FALSE(sent.empty());
  EXPECT_EQ(sent.front(), whole.front());
}

// WELCOME on a new connection, field by field.
struct WelcomeRow {
  const char* name;
  Message message;
};
class OtherMatchTest : public PeerTest,
                       public testing::WithParamInterface<WelcomeRow> {};

TEST_P(OtherMatchTest, EndsIt) {
  Play(3, 1);
  DropLink();
  Reconnect();
  Say(GetParam().message);
  EXPECT_EQ(peer_->end(), PeerEnd::kProtocol);
  EXPECT_EQ(peer_->end_text(), "the host plays another match by now");
  EXPECT_EQ(link().close_code(), close_code::kProtocolError);
  EXPECT_EQ(peer_->lost(), 2u);
}

INSTANTIATE_TEST_SUITE_P(
    Rows, OtherMatchTest,
    Values(WelcomeRow{"Seat", {Kind::kWelcome, 2, 3, 9, kSeed, kToken}},
           WelcomeRow{"Players", {Kind::kWelcome, 1, 2, 9, kSeed, kToken}},
           WelcomeRow{"Mode", {Kind::kWelcome, 1, 3, 8, kSeed, kToken}},
           WelcomeRow{"Seed", {Kind::kWelcome, 1, 3, 9, kSeed + 1, kToken}},
           WelcomeRow{"Token", {Kind::kWelcome, 1, 3, 9, kSeed, kToken + 1}}),
    [](const auto& row) { return std::string(row.param.name); });

TEST_F(PeerTest, OnlyWelcomeThenTheOwnResumeBringItBack) {
  Play(3, 1);
  StepWith({0, 2}, 4);
  DropLink();
  Reconnect();
  Say(Kind::kResume, 1);  // before WELCOME
  Say(Kind::kInput, 0, 4, 4);
  Say(Kind::kLeave, 0);
  Say({.kind = Kind::kLobby, .slot = 1, .players = 3, .mode = 2});
  EXPECT_EQ(peer_->counters().dropped, 4u);
  Say({.kind = Kind::kWelcome,
       .slot = 1,
       .players = 3,
       .mode = 9,
       .frame = kSeed,
       .value = kToken});
  Say({.kind = Kind::kWelcome,
       .slot = 1,
       .players = 3,
       .mode = 9,
       .frame = kSeed,
       .value = kToken});
  Say(Kind::kResume, 0);
  EXPECT_EQ(peer_->counters().dropped, 6u);
  EXPECT_EQ(peer_->state(), PeerState::kReconnecting);
  EXPECT_EQ(peer_->lost(), 0u);
  Say(Kind::kResume, 1);
  EXPECT_EQ(peer_->state(), PeerState::kPlaying);
}

TEST_F(PeerTest, TheStateOfTheOthersIsToldAnew) {
  Play(4, 0);
  Say(Kind::kAway, 1);
  Say(Kind::kAway, 2);
  DropLink();
  EXPECT_EQ(peer_->away(), 0b0111u);
  ComeBack();
  EXPECT_EQ(peer_->away(), 0b0110u);
  Say(Kind::kResume, 1);
  Say(Kind::kLeave, 2);
  Say(Kind::kAway, 3);
  EXPECT_EQ(peer_->away(), 0b1000u);
  EXPECT_EQ(peer_->lost(), 0b0100u);
}

// ---- At the last frame, and at the end

// Of a game that runs no frame any more: nobody may lack its last inputs.
TEST_F(PeerTest, AFlushSaysWhatAStepWouldAndRunsNothing) {
  Play(2, 1);
  StepWith({0}, 10);
  TakeSent();
  EXPECT_TRUE(peer_->all_said());
  DropLink();
  EXPECT_FALSE(peer_->all_said());
  EXPECT_EQ(Step(), StepResult::kStalled);  // says 12, to nobody
  peer_->Flush(now_);
  ComeBack();
  SayInputs(0, 10, 11);
  EXPECT_FALSE(peer_->all_said());
  peer_->Flush(now_);
  EXPECT_EQ(TakeSent(), OwnInputs(7, 12));
  EXPECT_TRUE(peer_->all_said());
  Say(Kind::kResume, 0);
  EXPECT_FALSE(peer_->all_said()) << "another seat asks again";
  peer_->Flush(now_);
  EXPECT_EQ(TakeSent(), OwnInputs(7, 12));
  peer_->Flush(now_);
  EXPECT_EQ(TakeSent(), Texts{});
  EXPECT_EQ(peer_->frame(), 10u);
  EXPECT_EQ(peer_->counters().stalls, 1u);
  peer_->Leave();
  peer_->Flush(now_);
  EXPECT_FALSE(peer_->all_said());
}

// As long as the burst lasts: what is held back is not said.
TEST_F(PeerTest, AResendThatIsHeldBackIsNotAllSaid) {
  Play(2, 1);
  StepWith({0}, 10);
  TakeSent();
  int flushes = 0;
  do {
    ASSERT_LT(++flushes, 100);
    ASSERT_TRUE(peer_->all_said());
    Say(Kind::kResume, 0);
    peer_->Flush(now_);
  } while (peer_->all_said());
  EXPECT_GT(TakeSent().size(), 200u);
  now_ += kStep * 10;
  peer_->Flush(now_);
  EXPECT_TRUE(peer_->all_said());
  EXPECT_EQ(TakeSent().back(), OwnInputs(11, 11).back());
}

TEST_F(PeerTest, ItIsClosedOnceTheRoomHasBeenTold) {
  Play(2, 1);
  EXPECT_FALSE(peer_->closed());
  peer_->Leave();
  EXPECT_EQ(peer_->state(), PeerState::kEnded);
  EXPECT_FALSE(peer_->closed());
  link().Close(now_, 1000);
  EXPECT_TRUE(peer_->closed());
}

TEST_F(PeerTest, ATryThatIsCancelledClosesToo) {
  Play(2, 1);
  DropLink();
  EXPECT_TRUE(peer_->closed()) << "between two tries";
  Reconnect();
  EXPECT_FALSE(peer_->closed());
  peer_->Leave();
  EXPECT_FALSE(peer_->closed());
  link().Close(now_, 1000);
  EXPECT_TRUE(peer_->closed());
}

// ---- On another seat's RESUME

class ResendTest : public PeerTest, public testing::WithParamInterface<int> {};

TEST_P(ResendTest, TheWholeWindowAscendingOnceAStep) {
  const auto delay = static_cast<std::uint32_t>(GetParam());
  Play(3, 0, {.delay = GetParam(), .hash_every = 1'000});
  StepWith({1, 2}, 100);
  Step();
  TakeSent();
  for (int i = 0; i < 10; ++i) Say(Kind::kResume, 1 + i % 2);
  EXPECT_EQ(TakeSent(), Texts{}) << "in the next step";
  Step();
  EXPECT_EQ(TakeSent(), OwnInputs(100 - delay - 1, 100 + delay));
  Step();
  EXPECT_EQ(TakeSent(), Texts{});
  EXPECT_EQ(peer_->counters().resends, 2 * delay + 2);
}

INSTANTIATE_TEST_SUITE_P(Delays, ResendTest, Values(1, 2, 16, 31));

// The room's own count (GCRA, as 240/s with a burst of 480), fed by what the
// peer sends.
class Rate {
 public:
  bool Take(TimePoint now, std::size_t messages) {
    paid_ = std::max(paid_, now);
    paid_ += static_cast<std::int64_t>(messages) * Duration(4'166'667);
    return paid_ - now <= 480 * Duration(4'166'667);
  }

 private:
  TimePoint paid_{};
};

TEST_P(ResendTest, AStormOfResumesStaysUnderTheRateAndStarvesNobody) {
  const auto delay = static_cast<std::uint32_t>(GetParam());
  Play(2, 0, {.delay = GetParam()});
  Rate rate;
  std::uint32_t newest = delay - 1;  // own input that the host has
  const auto step = [&] {
    // Seat 1 is honest: its newest input is delay ahead of its frame, which
    // our newest input bounds.
    const std::uint32_t next = std::min(newest + 1, peer_->frame()) + delay;
    Say(Kind::kInput, 1, next, 0);
    Step();
    const auto sent = link().TakeSent();
    ASSERT_TRUE(rate.Take(now_, sent.size()));
    for (const auto& bytes : sent) {
      const Message m = Decode(std::span(bytes).first<kMessageSize>());
      if (m.kind != Kind::kInput || m.frame <= newest) continue;
      ASSERT_EQ(m.frame, newest + 1) << "one left out is lost for good";
      newest = m.frame;
    }
  };
  for (int i = 0; i < 3'000 && !HasFatalFailure(); ++i) {
    for (int resumes = 0; resumes < 20; ++resumes) Say(Kind::kResume, 1);
    step();
  }
  // The budget leaves room for every new input, now and then a bit late.
  EXPECT_GT(peer_->frame(), 2'900u);
  EXPECT_GT(peer_->counters().resends, 6'000u);
  // Once it is over, what was due is done, and then nothing more.
  for (int i = 0; i < 300 && !HasFatalFailure(); ++i) step();
  const std::uint64_t resends = peer_->counters().resends;
  const std::uint32_t frame = peer_->frame();
  for (int i = 0; i < 300 && !HasFatalFailure(); ++i) step();
  EXPECT_EQ(peer_->counters().resends, resends);
  EXPECT_EQ(peer_->frame(), frame + 300);
}

// ---- Holes: inputs that may have been lost while this peer was away

// Seat 0's inputs up to `had` came before the drop; after the own RESUME come
// first..last. Then seat 0 leaves.
struct HoleRow {
  const char* name;
  std::uint32_t had;
  std::uint32_t first;
  std::uint32_t last;
  bool hole;
  std::uint32_t bot_from;
};

class HoleTest : public PeerTest,
                 public testing::WithParamInterface<HoleRow> {};

TEST_P(HoleTest, IsToldOrThereIsNone) {
  const HoleRow& row = GetParam();
  Play(2, 1, {.hash_every = 1'000});
  if (row.had >= 2) SayInputs(0, 2, row.had);
  DropLink();
  ComeBack();
  SayInputs(0, row.first, row.last);
  if (peer_->state() == PeerState::kPlaying) Say(Kind::kLeave, 0);
  if (row.hole) {
    EXPECT_EQ(peer_->end(), PeerEnd::kHole);
    EXPECT_EQ(peer_->end_text().substr(0, 7), "seat 0 ");
    EXPECT_EQ(link().close_code(), close_code::kNormal);
    return;
  }
  ASSERT_EQ(peer_->state(), PeerState::kPlaying);
  for (std::uint32_t f = 0; f < row.bot_from + 5; ++f) {
    ASSERT_EQ(Step(), StepResult::kRan) << f;
  }
  EXPECT_EQ(game_.first_bot_frame, row.bot_from);
}

INSTANTIATE_TEST_SUITE_P(
    Rows, HoleTest,
    Values(HoleRow{"JoinsExactly", 9, 10, 73, false, 74},
           HoleRow{"Overlaps", 9, 5, 68, false, 69},
           HoleRow{"OneMissing", 9, 11, 74, true, 0},
           HoleRow{"FarAhead", 9, 500, 563, true, 0},
           // Nothing came of it before, and this is all that it ever said.
           HoleRow{"SkippedItsFirst", 0, 3, 65, false, 2},
           HoleRow{"SkippedItsFirstByFar", 0, 1'000'000, 1'000'062, false, 2},
           // 64 inputs: there may have been more before them.
           HoleRow{"MayHaveSaidMore", 0, 3, 66, true, 0},
           // A room that does not replay a seat that left.
           HoleRow{"ReplayForgotten", 9, 1, 0, true, 0},
           HoleRow{"NothingSaidEver", 0, 1, 0, false, 2}),
    [](const auto& row) { return std::string(row.param.name); });

TEST_F(PeerTest, ASkipAfterTheReplayJoinedIsASkip) {
  Play(2, 1, {.hash_every = 1'000});
  SayInputs(0, 2, 9);
  DropLink();
  ComeBack();
  SayInputs(0, 2, 12);
  SayInputs(0, 14, 200);
  EXPECT_EQ(peer_->state(), PeerState::kPlaying);
  Say(Kind::kLeave, 0);
  for (int i = 0; i < 20; ++i) ASSERT_EQ(Step(), StepResult::kRan);
  EXPECT_EQ(game_.first_bot_frame, 13u);
}

TEST_F(PeerTest, ASkipBeforeTheDropStaysASkip) {
  Play(2, 1, {.hash_every = 1'000});
  SayInputs(0, 2, 9);
  SayInputs(0, 11, 30);
  DropLink();
  ComeBack();
  SayInputs(0, 60, 123);  // a whole replay, all beyond
  Say(Kind::kLeave, 0);
  EXPECT_EQ(peer_->state(), PeerState::kPlaying);
  for (int i = 0; i < 20; ++i) ASSERT_EQ(Step(), StepResult::kRan);
  EXPECT_EQ(game_.first_bot_frame, 10u);
}

TEST_F(PeerTest, EachResumeCountsItsOwnReplay) {
  Play(2, 1, {.hash_every = 1'000});
  for (int i = 0; i < 5; ++i) {
    DropLink();
    ComeBack();
    SayInputs(0, 3, 42);  // 40 inputs, again and again: a skip of frame 2
    ASSERT_EQ(peer_->state(), PeerState::kPlaying);
  }
  Say(Kind::kLeave, 0);
  EXPECT_EQ(peer_->state(), PeerState::kPlaying);
  for (int i = 0; i < 5; ++i) ASSERT_EQ(Step(), StepResult::kRan);
  EXPECT_EQ(game_.first_bot_frame, 2u);
}

TEST_F(PeerTest, ASeatThatLeftBeforeTheDropNeedsNoReplay) {
  Play(3, 1, {.hash_every = 1'000});
  SayInputs(0, 2, 9);
  SayInputs(2, 2, 30);
  Say(Kind::kLeave, 0);
  DropLink();
  ComeBack();
  SayInputs(0, 2, 9);
  Say(Kind::kLeave, 0);
  EXPECT_EQ(peer_->state(), PeerState::kPlaying);
  for (int i = 0; i < 20; ++i) ASSERT_EQ(Step(), StepResult::kRan);
  EXPECT_EQ(game_.first_bot_frame, 10u);
}

TEST_F(PeerTest, UnderWaitALeftSeatWithoutItsReplayIsNoHole) {
  Play(2, 1, {.left_seat = LeftSeat::kWait});
  SayInputs(0, 2, 9);
  DropLink();
  ComeBack();
  Say(Kind::kLeave, 0);
  EXPECT_EQ(peer_->state(), PeerState::kPlaying);
}

}  // namespace
}  // namespace parlor::lockstep
