// What a link does to the messages on it, condition by condition.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "parlor/lane.h"
#include "parlor/sim/network.h"
#include "parlor/time.h"
#include "sim_fixture.h"
#include "support/status_matchers.h"

namespace parlor {
namespace {

using sim::Conditions;
using sim::PathConditions;
using test::SimEnd;
using test::SimMachines;

Conditions Both(const PathConditions& path) {
  return {.up = path, .down = path};
}

// The client sends `count` numbered messages, one every `every`; returns how
// long each took that the host heard, by its number.
struct Heard {
  std::size_t number;
  Duration took;
  TimePoint at;
};
std::vector<Heard> SendMany(SimMachines& sim, Lane lane, std::size_t count,
                            Duration every) {
  std::vector<TimePoint> sent;
  const std::size_t before = sim.b.messages.size();
  for (std::size_t i = 0; i < count; ++i) {
    sent.push_back(sim.now());
    sim.a.Send(std::to_string(i), lane);
    sim.executor.RunFor(every);
  }
  sim.RunMs(120'000);
  std::vector<Heard> heard;
  for (std::size_t i = before; i < sim.b.messages.size(); ++i) {
    const SimEnd::Message& message = sim.b.messages[i];
    const std::size_t number = std::stoul(message.bytes);
    heard.push_back({number, message.at - sent[number], message.at});
  }
  return heard;
}

TEST(SimConditionsTest, LatencyIsExactAndTheOtherWayIsItsOwn) {
  SimMachines sim({.up = {.latency = 30 * kMillisecond},
                   .down = {.latency = 5 * kMillisecond}});
  sim.Open();
  EXPECT_EQ(sim.now() - TimePoint{}, 35 * kMillisecond);
  const TimePoint sent = sim.now();
  for (const Lane lane : {Lane::kReliable, Lane::kState}) {
    sim.a.Send("up", lane);
    sim.b.Send("down", lane);
  }
  sim.RunMs(100);
  ASSERT_EQ(sim.a.messages.size(), 2u);
  ASSERT_EQ(sim.b.messages.size(), 2u);
  for (const SimEnd::Message& message : sim.a.messages) {
    EXPECT_EQ(message.at - sent, 5 * kMillisecond);
  }
  for (const SimEnd::Message& message : sim.b.messages) {
    EXPECT_EQ(message.at - sent, 30 * kMillisecond);
  }
}

TEST(SimConditionsTest, JitterIsSpreadOverItsRange) {
  for (const Lane lane : {Lane::kReliable, Lane::kState}) {
    SimMachines sim(
        Both({.latency = 10 * kMillisecond, .jitter = 8 * kMillisecond}));
    sim.Open();
    const std::vector<Heard> heard =
        SendMany(sim, lane, 2'000, 20 * kMillisecond);
    ASSERT_EQ(heard.size(), 2'000u);
    Duration sum{};
    std::size_t low = 0, high = 0;
    for (const Heard& one : heard) {
      ASSERT_GE(one.took, 10 * kMillisecond);
      ASSERT_LE(one.took, 18 * kMillisecond);
      sum += one.took;
      low += one.took < 11 * kMillisecond;
      high += one.took > 17 * kMillisecond;
    }
    EXPECT_NEAR(static_cast<double>(sum.count()) / 2'000, 14e6, 2e5);
    EXPECT_GT(low, 150u);  // an eighth of them: 250
    EXPECT_GT(high, 150u);
  }
}

// Jitter alone never makes one overtake another.
TEST(SimConditionsTest, JitterKeepsTheOrderOfBothLanes) {
  for (const Lane lane : {Lane::kReliable, Lane::kState}) {
    SimMachines sim(Both({.jitter = 50 * kMillisecond}));
    sim.Open();
    const std::vector<Heard> heard = SendMany(sim, lane, 1'000, kMillisecond);
    ASSERT_EQ(heard.size(), 1'000u);
    for (std::size_t i = 0; i < heard.size(); ++i) {
      ASSERT_EQ(heard[i].number, i);
    }
  }
}

TEST(SimConditionsTest, TheStateLaneLosesItsShare) {
  SimMachines sim(Both({.latency = kMillisecond, .loss_ppm = 100'000}));
  sim.Open();
  const std::vector<Heard> heard =
      SendMany(sim, Lane::kState, 10'000, 2 * kMillisecond);
  // 9,000, and four times the root of 10,000 * 0.1 * 0.9.
  EXPECT_NEAR(static_cast<double>(heard.size()), 9'000, 120);
  for (std::size_t i = 1; i < heard.size(); ++i) {
    ASSERT_LT(heard[i - 1].number, heard[i].number);
  }
}

// What is lost of the reliable lane comes a round trip and kRetransmitTime
// later, or three times that, or seven; and all behind it waits for it.
TEST(SimConditionsTest, TheReliableLaneIsLateWhereItLoses) {
  constexpr Duration kOneWay = 10 * kMillisecond;
  SimMachines sim(Both({.latency = kOneWay, .loss_ppm = 100'000}));
  sim.Open();
  // So that the client hears something and sends no pings, which may be late.
  sim.b.on_message = [&] { sim.b.Send("", Lane::kState); };
  const std::vector<Heard> heard =
      SendMany(sim, Lane::kReliable, 10'000, 5 * kSecond);
  ASSERT_EQ(heard.size(), 10'000u);
  const Duration wait = 2 * kOneWay + sim::kRetransmitTime;
  std::vector<int> tries(8);
  for (std::size_t i = 0; i < heard.size(); ++i) {
    ASSERT_EQ(heard[i].number, i);
    std::size_t lost = 0;
    while (heard[i].took > kOneWay + wait * ((1 << lost) - 1)) ++lost;
    ASSERT_EQ(heard[i].took, kOneWay + wait * ((1 << lost) - 1));
    ++tries.at(lost);
  }
  EXPECT_NEAR(tries[0], 9'000, 120);
  EXPECT_NEAR(tries[1], 900, 120);
  EXPECT_NEAR(tries[2], 90, 40);
}

TEST(SimConditionsTest, WhatIsLateHoldsUpTheReliableLaneAlone) {
  SimMachines sim(Both({.latency = 10 * kMillisecond, .loss_ppm = 200'000}));
  sim.Open();
  const std::vector<Heard> heard =
      SendMany(sim, Lane::kReliable, 2'000, kMillisecond);
  ASSERT_EQ(heard.size(), 2'000u);
  std::size_t together = 0;
  for (std::size_t i = 0; i < heard.size(); ++i) {
    ASSERT_EQ(heard[i].number, i);
    if (i > 0) together += heard[i].at == heard[i - 1].at;
  }
  EXPECT_GT(together, 1'000u) << "nothing waited for what was late";

  const TimePoint sent = sim.now();
  const std::size_t before = sim.b.messages.size();
  for (int i = 0; i < 50; ++i) sim.a.Send("r");  // one of them is late
  sim.executor.RunFor(kMillisecond);
  for (int i = 0; i < 50; ++i) {
    sim.a.Send("s", Lane::kState);
    sim.executor.RunFor(kMillisecond);
  }
  sim.RunMs(5'000);
  std::size_t states = 0;
  for (std::size_t i = before; i < sim.b.messages.size(); ++i) {
    if (sim.b.messages[i].lane != Lane::kState) continue;
    ++states;
    EXPECT_LE(sim.b.messages[i].at - sent, 61 * kMillisecond);
  }
  EXPECT_GT(states, 25u);
}

TEST(SimConditionsTest, ABurstLosesAllForItsTime) {
  const PathConditions path{
      .latency = kMillisecond, .burst_ppm = 2'000, .burst = 100 * kMillisecond};
  SimMachines sim(Both(path));
  sim.Open();
  const std::vector<Heard> heard =
      SendMany(sim, Lane::kState, 20'000, 10 * kMillisecond);
  // Gaps are whole bursts: ten of the messages, or more when another began.
  std::size_t gaps = 0;
  for (std::size_t i = 1; i < heard.size(); ++i) {
    const std::size_t gap = heard[i].number - heard[i - 1].number - 1;
    if (gap == 0) continue;
    ++gaps;
    EXPECT_GE(gap, 10u);
    EXPECT_LE(gap, 40u);
  }
  EXPECT_NEAR(static_cast<double>(gaps), 40, 25);

  // And on the reliable lane nothing is lost by them.
  SimMachines reliable(Both(path));
  reliable.Open();
  EXPECT_EQ(SendMany(reliable, Lane::kReliable, 5'000, kMillisecond).size(),
            5'000u);
}

TEST(SimConditionsTest, AShareOfTheStateLaneComesTwice) {
  SimMachines sim(Both({.latency = 5 * kMillisecond,
                        .jitter = 2 * kMillisecond,
                        .duplicate_ppm = 50'000}));
  sim.Open();
  const std::vector<Heard> heard =
      SendMany(sim, Lane::kState, 10'000, 5 * kMillisecond);
  std::set<std::size_t> numbers;
  for (const Heard& one : heard) {
    numbers.insert(one.number);
    EXPECT_LE(one.took, 9 * kMillisecond);
  }
  EXPECT_EQ(numbers.size(), 10'000u);
  EXPECT_NEAR(static_cast<double>(heard.size()), 10'500, 90);
  // Never of the reliable lane.
  EXPECT_EQ(SendMany(sim, Lane::kReliable, 1'000, kMillisecond).size(), 1'000u);
}

TEST(SimConditionsTest, AShareOfTheStateLaneIsOvertaken) {
  SimMachines sim(Both({.latency = 5 * kMillisecond,
                        .overtake_ppm = 100'000,
                        .overtake = 20 * kMillisecond}));
  sim.Open();
  const std::vector<Heard> heard =
      SendMany(sim, Lane::kState, 5'000, 4 * kMillisecond);
  ASSERT_EQ(heard.size(), 5'000u);
  std::size_t overtaken = 0, newest = 0;
  for (const Heard& one : heard) {
    if (one.took == 25 * kMillisecond) {
      ++overtaken;
    } else {
      EXPECT_EQ(one.took, 5 * kMillisecond);
    }
    // By those sent within its wait and by no others.
    EXPECT_LE(newest, one.number + 5);
    newest = std::max(newest, one.number);
  }
  EXPECT_NEAR(static_cast<double>(overtaken), 500, 85);
}

}  // namespace
}  // namespace parlor
