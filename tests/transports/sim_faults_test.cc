// Links that are cut and heal, ends that go without a word, machines that stand
// still or are off.
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
using test::SimEnd;
using test::SimMachines;

constexpr Duration kOneWay = 20 * kMillisecond;
constexpr Conditions kClear{.up = {.latency = kOneWay},
                            .down = {.latency = kOneWay}};

// ---- Cuts.

TEST(SimCutTest, NothingIsLostOrTwiceOnTheReliableLane) {
  SimMachines sim(kClear);
  sim.Open();
  std::vector<std::string> sent;
  for (int i = 0; i < 400; ++i) {
    sent.push_back(std::to_string(i));
    EXPECT_EQ(sim.a.Send(sent.back()), SendResult::kQueued);
    sim.a.Send(sent.back(), Lane::kState);
    if (i == 100 || i == 250) sim.link.Cut();
    if (i == 150 || i == 251) sim.link.Heal();
    sim.RunMs(10);
  }
  sim.RunMs(5'000);
  EXPECT_EQ(sim.b.On(Lane::kReliable), sent);
  // Of the state lane what was under way or sent in a cut is gone.
  const std::vector<std::string> states = sim.b.On(Lane::kState);
  EXPECT_GT(states.size(), 340u);
  EXPECT_LT(states.size(), 350u);
  EXPECT_TRUE(sim.a.is_open() && sim.b.is_open());
}

// A round trip and kRetransmitTime, and then twice as long each time.
TEST(SimCutTest, WhatWasLostComesAtTheNextTry) {
  const Duration wait = 2 * kOneWay + sim::kRetransmitTime;
  for (const int healed_ms : {1, 89, 91, 269, 271, 1'000, 5'000}) {
    SCOPED_TRACE(healed_ms);
    SimMachines sim(kClear);
    sim.Open();
    sim.link.Cut();
    const TimePoint cut = sim.now();
    sim.a.Send("held");
    sim.RunMs(healed_ms);
    sim.link.Heal();
    sim.a.Send("behind it");
    sim.RunMs(10'000);
    Duration tried = wait;
    while (tried < healed_ms * kMillisecond) tried = 2 * tried + wait;
    EXPECT_EQ(sim.b.On(Lane::kReliable),
              (std::vector<std::string>{"held", "behind it"}));
    EXPECT_EQ(sim.b.messages.at(0).at - cut, tried + kOneWay);
    EXPECT_EQ(sim.b.messages.at(1).at - cut, tried + kOneWay);
  }
}

TEST(SimCutTest, WhatIsOnItsWayIsLost) {
  SimMachines sim(kClear);
  sim.Open();
  sim.a.Send("reliable");
  sim.a.Send("state", Lane::kState);
  sim.RunMs(19);
  sim.link.Cut();
  sim.RunMs(1'000);
  EXPECT_TRUE(sim.b.messages.empty());
  sim.link.Heal();
  sim.RunMs(5'000);
  EXPECT_EQ(sim.b.On(Lane::kReliable), std::vector<std::string>{"reliable"});
  EXPECT_TRUE(sim.b.On(Lane::kState).empty());
}

TEST(SimCutTest, HalfOfALinkIsCut) {
  SimMachines sim(kClear);
  sim.Open();
  sim.link.Cut(Direction::kUp);
  EXPECT_TRUE(sim.link.is_cut(Direction::kUp));
  EXPECT_FALSE(sim.link.is_cut(Direction::kDown));
  sim.a.Send("up");
  sim.b.Send("down");
  sim.RunMs(1'000);
  EXPECT_TRUE(sim.b.messages.empty());
  EXPECT_EQ(sim.a.On(Lane::kReliable), std::vector<std::string>{"down"});
  sim.link.Heal();
  sim.RunMs(2'000);
  EXPECT_EQ(sim.b.On(Lane::kReliable), std::vector<std::string>{"up"});
}

TEST(SimCutTest, ASecondCutBeforeTheNextTryHoldsOn) {
  SimMachines sim(kClear);
  sim.Open();
  sim.link.Cut();
  sim.a.Send("held");
  sim.RunMs(100);
  sim.link.Heal();
  sim.RunMs(10);
  sim.link.Cut();
  sim.RunMs(2'000);
  EXPECT_TRUE(sim.b.messages.empty());
  sim.link.Heal();
  sim.RunMs(5'000);
  EXPECT_EQ(sim.b.On(Lane::kReliable), std::vector<std::string>{"held"});
}

TEST(SimCutTest, ALinkThatIsCutTakesNoMoreThanTheLaneHolds) {
  StreamOptions options;
  options.reliable_bytes_max = 4'096;
  SimMachines sim(kClear, 1, options);
  sim.Open();
  sim.link.Cut();
  int taken = 0;
  while (sim.a.Send(std::string(92, 'x')) == SendResult::kQueued) ++taken;
  EXPECT_EQ(taken, 40);
  EXPECT_FALSE(sim.a.is_open());
  sim.RunMs(options.linger_ms + 1);
  EXPECT_EQ(sim.a.closes, std::vector<CloseCode>{1011});
  EXPECT_TRUE(sim.a.closed_by_us);
}

// ---- Liveness.

TEST(SimLivenessTest, PingsKeepAnIdleConnection) {
  SimMachines sim(kClear);
  sim.Open();
  sim.RunMs(95'000);
  EXPECT_TRUE(sim.a.is_open() && sim.b.is_open());
  // Whoever pings hears a pong, which is as good as the other's ping.
  EXPECT_GE(sim.a.pings.size() + sim.a.pongs.size(), 9u);
  EXPECT_EQ(sim.a.pings.size(), sim.b.pongs.size());
  EXPECT_EQ(sim.b.pings.size(), sim.a.pongs.size());
}

TEST(SimLivenessTest, ACutLinkIsLostAfterSilence) {
  SimMachines sim(kClear);
  sim.Open();
  sim.a.Send("last");
  sim.RunMs(50);
  sim.link.Cut();
  sim.RunMs(60'000);
  EXPECT_EQ(sim.a.closes, std::vector<CloseCode>{1006});
  EXPECT_EQ(sim.b.closes, std::vector<CloseCode>{1006});
  EXPECT_FALSE(sim.a.closed_by_us || sim.b.closed_by_us);
  EXPECT_EQ(sim.b.closed_at - sim.b.messages.at(0).at, 20 * kSecond);
}

TEST(SimLivenessTest, OneDirectionLostIsALostLink) {
  SimMachines sim(kClear);
  sim.Open();
  sim.link.Cut(Direction::kUp);
  sim.RunMs(60'000);
  // The host hears nothing, and its notice gets through.
  EXPECT_EQ(sim.b.closes, std::vector<CloseCode>{1006});
  EXPECT_EQ(sim.a.closes, std::vector<CloseCode>{1006});
  EXPECT_LE(sim.a.closed_at - sim.b.closed_at, kOneWay);
}

// Nothing gets through, ever: what was tried often enough is given up.
TEST(SimLivenessTest, ALinkThatLosesAllIsALostLink) {
  SimMachines sim(kClear);
  sim.Open();
  sim.link.SetConditions({.up = {.loss_ppm = 1'000'000}, .down = {}});
  for (int i = 0; i < 40; ++i) {
    if (sim.a.is_open()) sim.a.Send("lost");
    sim.RunMs(1'000);
  }
  EXPECT_TRUE(sim.b.messages.empty());
  EXPECT_EQ(sim.a.closes, std::vector<CloseCode>{1006});
  EXPECT_EQ(sim.b.closes, std::vector<CloseCode>{1006});
}

TEST(SimLivenessTest, NobodyListensNobodyCounts) {
  SimMachines sim(kClear);
  sim.Open();
  sim.a.connection->SetHandler(nullptr);
  sim.b.connection->SetHandler(nullptr);
  sim.link.Cut();
  sim.RunMs(200'000);
  EXPECT_TRUE(sim.a.is_open() && sim.b.is_open());
  sim.link.Heal();
  sim.a.connection->SetHandler(&sim.a);
  sim.b.connection->SetHandler(&sim.b);
  sim.a.Send("still there");
  sim.RunMs(1'000);
  EXPECT_EQ(sim.b.On(Lane::kReliable), std::vector<std::string>{"still there"});
}

}  // namespace
}  // namespace parlor
