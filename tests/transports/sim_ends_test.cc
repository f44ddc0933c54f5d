// How connections over the simulated network begin and end, and machines that
// stand still or are off.
#include <gtest/gtest.h>

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "parlor/close_reason.h"
#include "parlor/lane.h"
#include "parlor/sim/network.h"
#include "parlor/time.h"
#include "parlor/transports/stream_options.h"
#include "sim_fixture.h"

namespace parlor {
namespace {

using sim::Conditions;
using sim::Direction;
using sim::Endpoint;
using sim::Opening;
using test::SimEnd;
using test::SimMachines;

constexpr Duration kUp = 20 * kMillisecond;
constexpr Duration kDown = 30 * kMillisecond;
constexpr Conditions kClear{.up = {.latency = kUp}, .down = {.latency = kDown}};

// ---- Openings.

TEST(SimOpeningTest, TakesARoundTripAndWhatIsSentMeanwhileFollows) {
  SimMachines sim(kClear);
  Hello seen;
  std::string link;
  const auto accept = sim.on_opening;
  sim.on_opening = [&](std::unique_ptr<Opening> opening) {
    seen = opening->hello();
    link = opening->link().name();
    accept(std::move(opening));
  };
  sim.Connect();
  EXPECT_TRUE(sim.a.is_open());
  EXPECT_EQ(sim.a.Send("early"), SendResult::kQueued);
  EXPECT_EQ(sim.a.Send("old", Lane::kState), SendResult::kQueued);
  EXPECT_EQ(sim.a.Send("new", Lane::kState), SendResult::kReplaced);
  sim.RunMs(1'000);
  EXPECT_EQ(seen.room, 7u);
  EXPECT_EQ(seen.players, 2);
  EXPECT_EQ(link, "link");
  EXPECT_EQ(sim.b.opened_at - TimePoint{}, kUp);
  EXPECT_EQ(sim.a.opened_at - TimePoint{}, kUp + kDown);
  EXPECT_EQ(sim.b.On(Lane::kReliable), std::vector<std::string>{"early"});
  EXPECT_EQ(sim.b.On(Lane::kState), std::vector<std::string>{"new"});
  EXPECT_EQ(sim.b.messages.at(0).at - TimePoint{}, 2 * kUp + kDown);
}

TEST(SimOpeningTest, IsAnsweredWhenTheHostLikes) {
  SimMachines sim(kClear);
  std::unique_ptr<Opening> waiting;
  sim.on_opening = [&](std::unique_ptr<Opening> opening) {
    waiting = std::move(opening);
  };
  sim.Connect();
  sim.RunMs(1'000);
  ASSERT_NE(waiting, nullptr);
  EXPECT_EQ(sim.a.opened_at, kNever);
  sim.b.connection = waiting->Accept();
  waiting.reset();
  sim.b.connection->SetHandler(&sim.b);
  sim.RunMs(1'000);
  EXPECT_EQ(sim.a.opened_at - TimePoint{}, kSecond + kDown);
}

TEST(SimOpeningTest, ARefusalSaysItsStatus) {
  SimMachines sim(kClear);
  sim.on_opening = [](std::unique_ptr<Opening> opening) {
    opening->Refuse({.status = 409});
  };
  sim.Connect();
  sim.a.Send("never heard");
  sim.RunMs(20'000);
  EXPECT_EQ(sim.a.opened_at, kNever);
  EXPECT_EQ(sim.a.closes, std::vector<CloseCode>{1006});
  EXPECT_EQ(sim.a.refusal, 409);
  EXPECT_FALSE(sim.a.closed_by_us);
  EXPECT_EQ(sim.a.closed_at - TimePoint{}, kUp + kDown);
}

TEST(SimOpeningTest, UnansweredItIsALostLink) {
  SimMachines sim(kClear);
  sim.on_opening = [](std::unique_ptr<Opening>) {};
  sim.Connect();
  sim.RunMs(1'000);
  EXPECT_EQ(sim.a.closes, std::vector<CloseCode>{1006});
  EXPECT_EQ(sim.a.refusal, 0);
}

TEST(SimOpeningTest, WhereNobodyListensItIsTurnedAway) {
  SimMachines sim(kClear);
  sim.host.SetListener(nullptr);
  sim.Connect();
  sim.RunMs(1'000);
  EXPECT_EQ(sim.a.closes, std::vector<CloseCode>{1006});
  EXPECT_EQ(sim.a.closed_at - TimePoint{}, kUp + kDown);
}

TEST(SimOpeningTest, TakesNoLongerThanItMay) {
  StreamOptions options;
  options.handshake_ms = 3'000;
  SimMachines sim(kClear, 1, options);
  std::unique_ptr<Opening> waiting;
  sim.on_opening = [&](std::unique_ptr<Opening> opening) {
    waiting = std::move(opening);
  };
  sim.Connect();
  sim.RunMs(10'000);
  EXPECT_EQ(sim.a.closes, std::vector<CloseCode>{1006});
  EXPECT_EQ(sim.a.closed_at - TimePoint{}, 3 * kSecond);
  // The host hears of it once it has a connection to hear it by.
  sim.b.connection = waiting->Accept();
  sim.b.connection->SetHandler(&sim.b);
  sim.RunMs(100);
  EXPECT_EQ(sim.b.closes, std::vector<CloseCode>{1006});
}

TEST(SimOpeningTest, OneThatIsGivenUpOnItsWayIsNeverSeen) {
  SimMachines sim(kClear);
  int openings = 0;
  sim.on_opening = [&](std::unique_ptr<Opening>) { ++openings; };
  sim.Connect();
  sim.a.connection.reset();
  sim.Connect();
  sim.RunMs(10);
  sim.link.Reset();
  sim.RunMs(1'000);
  EXPECT_EQ(openings, 0);
  EXPECT_EQ(sim.a.closes, std::vector<CloseCode>{1006});
}

TEST(SimOpeningTest, AClosedOneOpensAndCloses) {
  SimMachines sim(kClear);
  sim.Connect();
  sim.a.Send("last words");
  sim.a.connection->Close(4000, "changed my mind");
  sim.RunMs(1'000);
  EXPECT_EQ(sim.a.opened_at, kNever);
  EXPECT_EQ(sim.b.On(Lane::kReliable), std::vector<std::string>{"last words"});
  EXPECT_EQ(sim.b.closes, std::vector<CloseCode>{4000});
  EXPECT_EQ(sim.a.closes, std::vector<CloseCode>{4000});
  EXPECT_TRUE(sim.a.closed_by_us);
}

// ---- Ends.

TEST(SimEndTest, ACloseTakesItsRoundTrip) {
  SimMachines sim(kClear);
  sim.Open();
  const TimePoint closed = sim.now();
  sim.a.connection->Close(4000, "");
  sim.RunMs(1'000);
  EXPECT_EQ(sim.b.closed_at - closed, kUp);
  EXPECT_EQ(sim.a.closed_at - closed, kUp + kDown);
  EXPECT_TRUE(sim.a.closed_by_us);
  EXPECT_FALSE(sim.b.closed_by_us);
}

TEST(SimEndDeathTest, ACloseThatNobodyMaySendIsOurMistake) {
  SimMachines sim(kClear);
  sim.Open();
  EXPECT_DEATH(sim.a.connection->Close(1006, ""), "IsSendableClose");
  EXPECT_DEATH(sim.a.connection->Close(1000, "\xff"), "IsSendableClose");
}

TEST(SimEndTest, ALingerEndsOverACutLinkAndTheOtherEndHearsIt) {
  SimMachines sim(kClear);
  sim.Open();
  sim.link.Cut();
  const TimePoint closed = sim.now();
  sim.a.connection->Close(4000, "");
  sim.RunMs(6'000);
  EXPECT_EQ(sim.a.closes, std::vector<CloseCode>{4000});
  EXPECT_EQ(sim.a.closed_at - closed, 5 * kSecond);
  sim.a.connection.reset();
  sim.link.Heal();
  // The close is forgotten; what the host sends is answered with a reset.
  sim.RunMs(1'000);
  EXPECT_TRUE(sim.b.is_open());
  const TimePoint sent = sim.now();
  sim.b.Send("anybody?");
  sim.RunMs(1'000);
  EXPECT_EQ(sim.b.closes, std::vector<CloseCode>{1006});
  EXPECT_EQ(sim.b.closed_at - sent, kUp + kDown);
}

TEST(SimEndTest, AnAbortIsHeardAtOnceOrAtTheNextWord) {
  for (const bool cut : {false, true}) {
    SCOPED_TRACE(cut);
    SimMachines sim(kClear);
    sim.Open();
    if (cut) sim.link.Cut();
    const TimePoint aborted = sim.now();
    sim.a.connection->Abort();
    sim.RunMs(1);
    EXPECT_EQ(sim.a.closes, std::vector<CloseCode>{1006});
    EXPECT_TRUE(sim.a.closed_by_us);
    sim.link.Heal();
    sim.RunMs(2'000);
    if (!cut) {
      EXPECT_EQ(sim.b.closed_at - aborted, kUp);
      continue;
    }
    EXPECT_TRUE(sim.b.is_open()) << "who would have told it?";
    // Its own ping finds out.
    sim.RunMs(10'000);
    EXPECT_EQ(sim.b.closes, std::vector<CloseCode>{1006});
    EXPECT_LE(sim.b.closed_at - aborted, 10 * kSecond + kUp + kDown);
  }
}

// Notices are lost as packets are, and so are the answers of who is gone; the
// next tries find out.
TEST(SimEndTest, ALostNoticeIsMadeUpFor) {
  constexpr sim::PathConditions kLossy{.latency = 10 * kMillisecond,
                                       .loss_ppm = 500'000};
  int at_once = 0;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    SimMachines sim({.up = kLossy, .down = kLossy}, seed);
    sim.Open();
    const TimePoint gone = sim.now();
    sim.a.connection.reset();
    sim.RunMs(60'000);
    ASSERT_EQ(sim.b.closes, std::vector<CloseCode>{1006}) << seed;
    at_once += sim.b.closed_at - gone == 10 * kMillisecond;
  }
  EXPECT_NEAR(at_once, 50, 20);
}

TEST(SimEndTest, WhatIsOnItsWayToWhoGoesIsAnsweredToo) {
  SimMachines sim(kClear);
  sim.Open();
  sim.b.Send("on its way");
  sim.RunMs(10);
  sim.link.Cut(Direction::kUp);  // the notice will be lost
  sim.a.connection.reset();
  sim.link.Heal();
  sim.RunMs(1'000);
  EXPECT_EQ(sim.b.closes, std::vector<CloseCode>{1006});
}

TEST(SimEndTest, AResetEndsBothWhereverTheyAre) {
  // Before any message of the run, between all of them and after the last.
  for (int at_ms = 0; at_ms < 120; at_ms += 3) {
    SCOPED_TRACE(at_ms);
    SimMachines sim(kClear);
    sim.Connect();
    bool closed = false;
    for (int ms = 0; ms < 120; ++ms) {
      if (ms == at_ms) sim.link.Reset();
      if (ms == 90 && sim.a.closes.empty()) {
        sim.a.connection->Close(1000, "");
        closed = true;
      }
      if (sim.b.connection != nullptr && sim.b.closes.empty()) sim.b.Send("b");
      if (sim.a.closes.empty()) sim.a.Send("a");
      sim.RunMs(1);
    }
    sim.RunMs(1'000);
    ASSERT_EQ(sim.a.closes.size(), 1u);
    EXPECT_EQ(sim.a.closes[0], closed ? 1000 : 1006);
    if (sim.b.connection == nullptr) continue;
    ASSERT_EQ(sim.b.closes.size(), 1u);
    EXPECT_EQ(sim.b.On(Lane::kReliable),
              std::vector<std::string>(sim.b.messages.size(), "a"));
    if (!closed) {
      EXPECT_EQ(sim.b.closed_at - TimePoint{}, at_ms * kMillisecond);
    }
  }
}

// ---- Machines.

TEST(SimMachineTest, OneThatIsPolledDoesNothingBetween) {
  SimMachines sim(kClear, 1, {}, Endpoint::Turn::kPolled);
  sim.Connect();
  EXPECT_EQ(sim.client.Poll(), 0u);
  sim.RunMs(55);
  EXPECT_EQ(sim.a.opened_at, kNever);
  EXPECT_EQ(sim.client.next_event() - TimePoint{}, kUp + kDown);
  EXPECT_EQ(sim.client.Poll(), 1u);
  EXPECT_EQ(sim.a.opened_at, sim.now());
  for (int i = 0; i < 5; ++i) sim.b.Send(std::to_string(i));
  sim.RunMs(29);
  EXPECT_EQ(sim.client.Poll(), 0u);
  sim.RunMs(100);
  EXPECT_TRUE(sim.a.messages.empty());
  // What its callbacks cause waits for the next turn.
  sim.a.on_message = [&] { sim.a.connection->Abort(); };
  EXPECT_EQ(sim.client.Poll(), 1u);
  EXPECT_TRUE(sim.a.closes.empty());
  EXPECT_EQ(sim.client.next_event(), sim.now());
  EXPECT_EQ(sim.client.Poll(), 1u);
  EXPECT_EQ(sim.a.closes, std::vector<CloseCode>{1006});
  EXPECT_EQ(sim.client.next_event(), kNever);
}

// Both ends on one machine, and no way between them: what a turn causes waits
// for the next all the same.
TEST(SimMachineTest, ATurnTakesWhatWasThereWhenItBegan) {
  struct Accepting final : sim::Listener {
    explicit Accepting(SimEnd& accepted) : end(accepted) {}
    void OnOpening(TimePoint, std::unique_ptr<Opening> opening) override {
      end.connection = opening->Accept();
      end.connection->SetHandler(&end);
    }
    SimEnd& end;
  };
  Executor executor(1);
  sim::Network network(executor);
  sim::Link link(network, sim::kPerfect, "link");
  Endpoint machine(network, Endpoint::Turn::kPolled, {}, "machine");
  SimEnd a, b;
  Accepting listener(b);
  machine.SetListener(&listener);
  a.connection = machine.Connect(link, machine, {}, &a);
  EXPECT_EQ(machine.Poll(), 1u);  // the opening
  EXPECT_EQ(machine.Poll(), 2u);  // both are open
  a.on_message = [&] { a.Send("ping"); };
  b.on_message = [&] { b.Send("pong"); };
  a.Send("ping");
  b.Send("pong");
  for (int i = 0; i < 5; ++i) EXPECT_EQ(machine.Poll(), 2u);
  // An abort in a turn is heard in the next, on both sides.
  a.on_message = [&] { a.connection->Abort(); };
  EXPECT_EQ(machine.Poll(), 2u);
  EXPECT_TRUE(a.closes.empty() && b.closes.empty());
  machine.Poll();
  EXPECT_EQ(a.closes.size() + b.closes.size(), 2u);
}

TEST(SimMachineTest, OneThatStandsStillHearsItAllAfterwards) {
  for (const Endpoint::Turn turn :
       {Endpoint::Turn::kEvents, Endpoint::Turn::kPolled}) {
    SimMachines sim(kClear, 1, {}, turn);
    sim.Connect();
    for (int i = 0; i < 10; ++i) {
      sim.RunMs(10);
      if (turn == Endpoint::Turn::kPolled) sim.client.Poll();
    }
    const TimePoint until = sim.now() + 3 * kSecond;
    sim.client.StallUntil(until);
    sim.client.StallUntil(sim.now() + kSecond);  // within the same
    sim.a.Send("goes on");
    std::vector<std::string> sent;
    for (int i = 0; i < 40; ++i) {
      sent.push_back(std::to_string(i));
      sim.b.Send(sent.back());
      sim.RunMs(50);
      if (turn == Endpoint::Turn::kPolled) {
        EXPECT_EQ(sim.client.Poll(), 0u);
      }
    }
    EXPECT_TRUE(sim.a.messages.empty());
    EXPECT_EQ(sim.client.next_event(), until);
    EXPECT_EQ(sim.b.On(Lane::kReliable), std::vector<std::string>{"goes on"});
    sim.RunMs(1'000);
    if (turn == Endpoint::Turn::kPolled) sim.client.Poll();
    EXPECT_EQ(sim.a.On(Lane::kReliable), sent);
    EXPECT_EQ(sim.a.messages.at(0).at, until);
  }
}

// Its own patience does not end by it: what came is heard first.
TEST(SimMachineTest, AStallIsNoSilence) {
  SimMachines sim(kClear);
  sim.Open();
  sim.RunMs(9'000);
  sim.client.StallUntil(sim.now() + 30 * kSecond);
  for (int i = 0; i < 29; ++i) {
    sim.b.Send("still here");
    sim.RunMs(1'000);
  }
  // The host heard nothing for 20 s.
  EXPECT_EQ(sim.b.closes, std::vector<CloseCode>{1006});
  sim.RunMs(2'000);
  EXPECT_EQ(sim.a.messages.size(), 11u);
  EXPECT_EQ(sim.a.closes, std::vector<CloseCode>{1006});
}

TEST(SimMachineTest, OneThatIsOffTellsNobody) {
  SimMachines sim(kClear);
  sim.Open();
  sim.host.Unplug();
  sim.b.connection.reset();
  sim.a.Send("anybody?");
  SimEnd other;
  other.connection = sim.client.Connect(sim.link, sim.host, {}, &other);
  sim.RunMs(5'000);
  EXPECT_TRUE(sim.a.closes.empty());
  EXPECT_TRUE(other.closes.empty());
  // On again: who had sent is told at the next try, and who asks is let in.
  sim.host.SetListener(&sim.listener());
  sim.RunMs(8'000);
  EXPECT_EQ(sim.a.closes, std::vector<CloseCode>{1006});
  EXPECT_NE(other.opened_at, kNever);
}

TEST(SimMachineTest, OneThatStaysOffIsSilent) {
  SimMachines sim(kClear);
  sim.Open();
  sim.host.Unplug();
  sim.b.connection.reset();
  SimEnd other;
  other.connection = sim.client.Connect(sim.link, sim.host, {}, &other);
  sim.RunMs(60'000);
  EXPECT_EQ(sim.a.closed_at - sim.a.opened_at, 20 * kSecond);
  EXPECT_EQ(other.closes, std::vector<CloseCode>{1006});
  EXPECT_EQ(other.closed_at - sim.a.opened_at, 10 * kSecond);
}

}  // namespace
}  // namespace parlor
