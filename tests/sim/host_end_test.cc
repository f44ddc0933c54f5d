// How a host in virtual time ends, in order or not, and what the next process
// takes back.
#include <cstdint>
#include <string>
#include <utility>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "parlor/close_reason.h"
#include "parlor/connector.h"
#include "parlor/lockstep/room.h"
#include "parlor/sim/world.h"
#include "parlor/time.h"
#include "sim/host_fixture.h"
#include "sim/host_machine.h"
#include "support/lockstep_client.h"

namespace parlor::test {
namespace {

using sim::Host;
using sim::Via;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class SimHostEndTest : public SimHostTest {
 protected:
  SimHostEndTest() { options_.drain_ms = 3'000; }

  // Both players of `room` come back and hear of each other.
  void ExpectResumed(std::uint32_t room, std::uint32_t token,
                     std::uint32_t other) {
    LockstepClient& first = Ask(Resume(room, token));
    LockstepClient& second = Ask(Resume(room, other));
    RunFor(100);
    EXPECT_EQ(first.token, token);
    EXPECT_EQ(second.token, other);
    ASSERT_NE(first.connection, nullptr);
    first.Take();
    second.Take();
    first.Input(77);
    RunFor(100);
    EXPECT_THAT(second.Take(), ElementsAre("INPUT 0 0 0 77 77"));
  }
};

INSTANTIATE_TEST_SUITE_P(Via, SimHostEndTest, ::testing::ValuesIn(kAllVias),
                         ViaName);

TEST_P(SimHostEndTest, ADrainRefusesJoinsAndLetsMatchesGoOn) {
  const auto [first, second] = Match(3);
  host_->Drain();
  RunFor(100);
  EXPECT_TRUE(host_->running());
  EXPECT_EQ(Answer({.room = 4, .players = 2}), "refused 503");
  // Before the path is looked at.
  EXPECT_EQ(Answer({.room = 100'000, .players = 2}), "refused 503");
  LockstepClient& back = Ask(Resume(3, first->token));
  RunFor(100);
  EXPECT_EQ(back.token, first->token);
  EXPECT_EQ(Last(*first), "close 4001 resumed");
  ASSERT_NE(back.connection, nullptr);
  back.Input(9);
  second->Take();
  RunFor(100);
  EXPECT_THAT(second->Take(), ElementsAre("INPUT 0 0 0 9 9"));
}

TEST_P(SimHostEndTest, ADrainEndsInItsTime) {
  const auto [first, second] = Match(3);
  const TimePoint drained_at = executor_.now();
  host_->Drain();
  executor_.RunUntil(drained_at + 2'999 * kMillisecond);
  EXPECT_THAT(first->heard, IsEmpty());
  RunFor(100);
  const std::string restart = "close 1012 restart";
  EXPECT_THAT(first->heard, ElementsAre(restart));
  EXPECT_THAT(second->heard, ElementsAre(restart));
  EXPECT_TRUE(host_->stopped());
  EXPECT_FALSE(host_->running());
  EXPECT_EQ(host_->figures().connections, 0u);
  EXPECT_EQ(Answer(Resume(3, first->token)), "close 1006 ");
}

TEST_P(SimHostEndTest, ASecondDrainEndsItNow) {
  const auto [first, second] = Match(3);
  host_->Drain();
  RunFor(500);
  host_->Drain();
  RunFor(100);
  EXPECT_EQ(Last(*first), Last(*second));
  EXPECT_TRUE(host_->stopped());
}

TEST_P(SimHostEndTest, TheNextProcessTakesBackWhatADrainKept) {
  options_.shards = 2;
  MakeHost();
  const auto even = Match(4);
  const auto odd = Match(5);
  host_->Drain();
  host_->Drain();
  RunFor(100);
  ASSERT_TRUE(host_->stopped());
  host_->Start();
  EXPECT_TRUE(host_->running());
  EXPECT_EQ(host_->figures().rooms, 2u);
  EXPECT_EQ(host_->figures().players, 0u);
  ExpectResumed(4, even.first->token, even.second->token);
  ExpectResumed(5, odd.first->token, odd.second->token);
}

TEST_P(SimHostEndTest, StopEndsMatchesForGood) {
  const auto [first, second] = Match(3);
  host_->Stop(CloseReason::kHostLeft);
  RunFor(100);
  EXPECT_THAT(first->heard, ElementsAre("close 1001 host left"));
  EXPECT_THAT(second->heard, ElementsAre("close 1001 host left"));
  EXPECT_TRUE(host_->stopped());
  host_->Start();
  EXPECT_EQ(host_->figures().rooms, 0u);
  LockstepClient& late = Ask(Resume(3, first->token));
  RunFor(100);
  EXPECT_THAT(late.heard, ElementsAre("open", "close 4002 seat gone"));
}

// A token of the process before would open a stranger's seat.
TEST_P(SimHostEndTest, EachProcessDrawsTokensOfItsOwn) {
  const auto [first, second] = Match(3);
  const std::uint32_t before = first->token;
  host_->Stop(CloseReason::kHostLeft);
  RunFor(100);
  host_->Start();
  EXPECT_NE(Match(3).first->token, before);
}

// Who does not answer a close is waited for as long as on sockets.
TEST_P(SimHostEndTest, IsNotStoppedWhileACloseIsOnItsWay) {
  const auto [first, second] = Match(3);
  homes_[0]->link.Cut();
  host_->Stop(CloseReason::kRestart);
  RunFor(1'000);
  EXPECT_FALSE(host_->stopped());
  RunFor(2 * options_.stream.linger_ms);
  EXPECT_TRUE(host_->stopped());
  EXPECT_THAT(first->heard, IsEmpty());
}

TEST_P(SimHostEndTest, WhenItsProcessCrashesEverybodyIsTold) {
  const auto [first, second] = Match(3);
  RunFor(1'100);
  host_->CrashNow(Host::Crash::kProcess);
  EXPECT_FALSE(host_->running());
  EXPECT_FALSE(host_->stopped());
  EXPECT_EQ(host_->FindRoom(3), nullptr);
  RunFor(10);
  EXPECT_THAT(first->heard, ElementsAre("close 1006 "));
  EXPECT_THAT(second->heard, ElementsAre("close 1006 "));
  EXPECT_EQ(Answer({.room = 4, .players = 2}), "close 1006 ");
  host_->Start();
  ASSERT_NE(host_->FindRoom(3), nullptr);
  ExpectResumed(3, first->token, second->token);
}

TEST_P(SimHostEndTest, WhenItsMachineCrashesNobodyIsTold) {
  const auto [first, second] = Match(3);
  host_->CrashNow(Host::Crash::kMachine);
  EXPECT_FALSE(host_->running());
  RunFor(5'000);
  EXPECT_THAT(first->heard, IsEmpty());
  // Who comes now hears nothing either, until his own patience ends.
  LockstepClient& late = Ask({.room = 4, .players = 2});
  RunFor(1'000);
  EXPECT_THAT(late.heard, IsEmpty());
  host_->Start();
  RunFor(1'000);
  ASSERT_THAT(first->heard, IsEmpty());
  first->Input(1);
  RunFor(100);
  EXPECT_THAT(first->heard, ElementsAre("close 1006 "));
  EXPECT_THAT(second->heard, IsEmpty());
  ExpectResumed(3, first->token, second->token);
}

TEST_P(SimHostEndTest, ASilentMachineIsNoticedByItsClients) {
  const auto [first, second] = Match(3);
  host_->CrashNow(Host::Crash::kMachine);
  RunFor(options_.stream.silence_ms + 1'000);
  EXPECT_THAT(first->heard, ElementsAre("close 1006 "));
  EXPECT_THAT(second->heard, ElementsAre("close 1006 "));
}

// The old connection is one of the level that the new one may not be of.
TEST_P(SimHostEndTest, ASeatGoesOnByAnyWay) {
  const auto [first, second] = Match(3);
  Home& home = *homes_[0];
  for (const Via via : kAllVias) {
    const std::size_t before = home.players.size();
    LockstepClient& old = before == 2 ? *first : home.players.back();
    LockstepClient& back = AskBy(via, Resume(3, first->token), home);
    RunFor(100);
    EXPECT_EQ(back.token, first->token);
    EXPECT_EQ(Last(old), "close 4001 resumed");
  }
  ASSERT_NE(home.players.back().connection, nullptr);
  home.players.back().Input(4);
  second->Take();
  RunFor(100);
  EXPECT_THAT(second->Take(), ElementsAre("INPUT 0 0 0 4 4"));
}

// A hold begins anew with the process that took the match back.
TEST_P(SimHostEndTest, WhoDoesNotComeBackIsHeldAndThenGone) {
  const auto [first, second] = Match(3);
  host_->CrashNow(Host::Crash::kProcess);
  RunFor(60'000);
  host_->Start();
  LockstepClient& back = Ask(Resume(3, first->token));
  RunFor(1'000);
  EXPECT_EQ(Last(back), "AWAY 1 2");
  RunFor(20'000);
  EXPECT_EQ(Last(back), "LEAVE 1 2");
  LockstepClient& late = Ask(Resume(3, second->token));
  RunFor(100);
  EXPECT_EQ(Last(late), "close 4002 seat gone");
}

TEST_P(SimHostEndTest, AHostThatKeepsNothingHasNothingToTakeBack) {
  options_.keeps_matches = false;
  const auto [first, second] = Match(3);
  host_->CrashNow(Host::Crash::kProcess);
  RunFor(1'000);
  host_->Start();
  EXPECT_EQ(host_->figures().rooms, 0u);
  LockstepClient& late = Ask(Resume(3, first->token));
  RunFor(100);
  EXPECT_EQ(Last(late), "close 4002 seat gone");
}

// Whatever is on its way when a process dies.
TEST_P(SimHostEndTest, CrashesAtAnyTime) {
  for (int ms = 0; ms < 12; ++ms) {
    SCOPED_TRACE(ms);
    if (host_ == nullptr) MakeHost();
    Ask({.room = 3, .players = 2});
    Ask({.room = 3, .players = 2});
    executor_.RunFor(ms * 100 * kMicrosecond);
    host_->CrashNow(ms % 2 == 0 ? Host::Crash::kProcess
                                : Host::Crash::kMachine);
    executor_.RunFor(100 * kMicrosecond);
    host_->Start();
    RunFor(60'000);
    for (const LockstepClient& player : homes_[0]->players) {
      EXPECT_FALSE(player.heard.empty());
    }
    homes_[0]->players.clear();
    RunFor(60'000);
    EXPECT_EQ(host_->figures().connections, 0u);
  }
}

TEST_P(SimHostEndTest, OneSeedIsOneRun) {
  const auto run = [] {
    Executor executor(5, Executor::Ties::kShuffled);
    sim::Network network(executor);
    sim::HostMachine host(network, {}, "host");
    Home home(network, "home");
    LockstepClient& player = home.players.emplace_back();
    player.connection = home.machine.Connect(
        home.link, {host.endpoint(), host.web_port(), host.tcp_port()},
        GetParam(), {.room = 1, .players = 1}, &player);
    executor.RunFor(1 * kSecond);
    const std::uint32_t token = player.token;
    home.players.clear();
    executor.RunFor(1 * kSecond);
    EXPECT_NE(token, 0u);
    return std::pair(network.digest(), token);
  };
  EXPECT_EQ(run(), run());
}

TEST(SimHostOptionsDeathTest, WhatIsNotValidIsNamed) {
  Executor executor(1);
  sim::Network network(executor);
  sim::HostOptions options;
  options.shard.rooms = 0;
  EXPECT_DEATH(sim::HostMachine(network, options, "host"),
               "server.shard.rooms");
}

}  // namespace
}  // namespace parlor::test
