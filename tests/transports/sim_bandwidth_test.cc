// Links that take so many bytes a second, the queue in front of them, and what
// conditions may be.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
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

// 1,000 bytes on the wire take 10 ms.
constexpr PathConditions kSlowPath{
    .latency = 5 * kMillisecond, .bytes_per_s = 100'000, .queue_bytes = 10'000};
constexpr Conditions kSlow{.up = kSlowPath, .down = kSlowPath};
constexpr Duration kEach = 10 * kMillisecond;
const std::string kKilobyte(1'000 - sim::kPacketOverhead, 'k');

TEST(SimBandwidthTest, MessagesLeaveOneBehindTheOther) {
  SimMachines sim(kSlow);
  sim.Open();
  const TimePoint sent = sim.now();
  for (int i = 0; i < 5; ++i) sim.a.Send(kKilobyte);
  sim.RunMs(1'000);
  ASSERT_EQ(sim.b.messages.size(), 5u);
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(sim.b.messages[i].at - sent, (i + 1) * kEach + 5 * kMillisecond);
  }
  // The other direction has its own limit.
  const TimePoint answered = sim.now();
  sim.a.Send(kKilobyte);
  sim.b.Send(kKilobyte);
  sim.RunMs(1'000);
  EXPECT_EQ(sim.a.messages.at(0).at - answered, kEach + 5 * kMillisecond);
}

TEST(SimBandwidthTest, ConnectionsShareTheLimitsOfTheirLink) {
  SimMachines sim(kSlow);
  sim.Open();
  SimEnd first, other;
  first.connection = std::move(sim.a.connection);
  first.connection->SetHandler(&first);
  sim.on_opening = [&](std::unique_ptr<sim::Opening> opening) {
    other.connection = opening->Accept();
    other.connection->SetHandler(&other);
  };
  sim.a.opened_at = kNever;
  sim.Open();
  const TimePoint sent = sim.now();
  first.Send(kKilobyte);
  sim.a.Send(kKilobyte);
  sim.RunMs(1'000);
  EXPECT_EQ(sim.b.messages.at(0).at - sent, kEach + 5 * kMillisecond);
  EXPECT_EQ(other.messages.at(0).at - sent, 2 * kEach + 5 * kMillisecond);
}

TEST(SimBandwidthTest, TheQueueDropsWhatIsAboveIt) {
  SimMachines sim(kSlow);
  sim.Open();
  // Ten fill it; ten more come late, and still leave no faster than they may.
  const TimePoint sent = sim.now();
  for (int i = 0; i < 20; ++i) sim.a.Send(kKilobyte);
  // Of the state lane what comes above it is lost.
  EXPECT_EQ(sim.a.Send(kKilobyte, Lane::kState), SendResult::kQueued);
  sim.RunMs(10'000);
  ASSERT_EQ(sim.b.messages.size(), 20u);
  EXPECT_TRUE(sim.b.On(Lane::kState).empty());
  for (std::size_t i = 0; i < 20; ++i) {
    const Duration took = sim.b.messages[i].at - sent;
    const Duration turn = static_cast<int>(i + 1) * kEach + 5 * kMillisecond;
    EXPECT_GE(took, turn);
    if (i < 10) {
      EXPECT_EQ(took, turn);
    } else {
      EXPECT_GT(took, turn + sim::kRetransmitTime);
    }
  }
  // It has drained since.
  sim.a.Send(kKilobyte, Lane::kState);
  sim.RunMs(100);
  EXPECT_EQ(sim.b.On(Lane::kState).size(), 1u);
}

TEST(SimBandwidthTest, WhatWaitsInTheQueueIsReplaced) {
  SimMachines sim(kSlow);
  sim.Open();
  const TimePoint sent = sim.now();
  for (int i = 0; i < 5; ++i) sim.a.Send(kKilobyte);
  EXPECT_EQ(sim.a.Send("old", Lane::kState), SendResult::kQueued);
  const std::size_t old_bytes = sim.a.connection->queued_bytes(Lane::kState);
  sim.RunMs(30);
  EXPECT_EQ(sim.a.Send("newer", Lane::kState), SendResult::kReplaced);
  EXPECT_EQ(sim.a.connection->queued_bytes(Lane::kState), old_bytes + 2);
  sim.RunMs(15);
  EXPECT_EQ(sim.a.Send("newest of them", Lane::kState), SendResult::kReplaced);
  sim.RunMs(10);
  // It has left; what follows does not replace it.
  EXPECT_EQ(sim.a.connection->queued_bytes(Lane::kState), 0u);
  EXPECT_EQ(sim.a.Send("next", Lane::kState), SendResult::kQueued);
  sim.RunMs(1'000);
  EXPECT_EQ(sim.b.On(Lane::kState),
            (std::vector<std::string>{"newest of them", "next"}));
  EXPECT_LT(sim.b.messages[5].at - sent, 60 * kMillisecond);
}

// A larger one that takes the place of a smaller holds up what comes behind it.
TEST(SimBandwidthTest, AReplacedMessageTakesItsOwnTime) {
  SimMachines sim(kSlow);
  sim.Open();
  const TimePoint sent = sim.now();
  sim.a.Send(kKilobyte);
  sim.a.Send("", Lane::kState);
  sim.a.Send(std::string(1'000, 's'), Lane::kState);
  sim.a.Send(kKilobyte);
  sim.RunMs(1'000);
  ASSERT_EQ(sim.b.On(Lane::kReliable).size(), 2u);
  const Duration overhead = 580 * kMicrosecond;
  EXPECT_EQ(sim.b.messages.back().at - sent,
            3 * kEach + overhead + 5 * kMillisecond);
}

TEST(SimBandwidthTest, LargeMessagesTakePackets) {
  PathConditions path = kSlowPath;
  path.loss_ppm = 20'000;
  SimMachines small({.up = path, .down = path}),
      large({.up = path, .down = path});
  small.Open();
  large.Open();
  const std::string bytes(sim::kPacketOverhead * 500, 'l');  // 21 packets
  for (int i = 0; i < 300; ++i) {
    small.a.Send("s", Lane::kState);
    large.a.Send(bytes, Lane::kState);
    small.RunMs(500);
    large.RunMs(500);
  }
  // 0.98 of them, and 0.98^21 = 0.65.
  EXPECT_NEAR(static_cast<double>(small.b.messages.size()), 294, 10);
  EXPECT_NEAR(static_cast<double>(large.b.messages.size()), 196, 35);
}

TEST(SimBandwidthTest, NewConditionsAreForWhatIsSentFromThenOn) {
  SimMachines sim({.up = {.latency = 10 * kMillisecond}, .down = {}});
  sim.Open();
  const TimePoint sent = sim.now();
  sim.a.Send("old");
  sim.link.SetConditions({.up = {.latency = 30 * kMillisecond}, .down = {}});
  sim.a.Send("new");
  EXPECT_EQ(sim.link.conditions().up.latency, 30 * kMillisecond);
  sim.RunMs(100);
  EXPECT_EQ(sim.b.messages.at(0).at - sent, 10 * kMillisecond);
  EXPECT_EQ(sim.b.messages.at(1).at - sent, 30 * kMillisecond);
}

TEST(SimConditionsAreTest, PresetsAreValidAndFound) {
  for (const char* name : {"perfect", "lan", "wifi", "mobile", "awful"}) {
    const Conditions* preset = sim::FindPreset(name);
    ASSERT_NE(preset, nullptr) << name;
    EXPECT_TRUE(sim::ValidateConditions(*preset, "network").ok()) << name;
  }
  EXPECT_EQ(*sim::FindPreset("awful"), sim::kAwful);
  EXPECT_EQ(sim::FindPreset("Awful"), nullptr);
  EXPECT_EQ(sim::FindPreset(""), nullptr);
}

struct WrongRow {
  const char* field;
  PathConditions path;
};

TEST(SimConditionsAreTest, WrongOnesAreNamed) {
  const WrongRow rows[] = {
      {"latency", {.latency = Duration(-1)}},
      {"latency", {.latency = 60 * kSecond + Duration(1)}},
      {"jitter", {.jitter = 61 * kSecond}},
      {"loss_ppm", {.loss_ppm = 1'000'001}},
      {"burst_ppm", {.burst_ppm = 1'000'001}},
      {"burst", {.burst = Duration(-5)}},
      {"duplicate_ppm", {.duplicate_ppm = 2'000'000}},
      {"overtake_ppm", {.overtake_ppm = 1'000'001}},
      {"overtake", {.overtake = 61 * kSecond}},
      {"bytes_per_s", {.bytes_per_s = 999}},
      {"bytes_per_s", {.bytes_per_s = -1}},
      {"queue_bytes", {.queue_bytes = (std::size_t{1} << 30) + 1}},
  };
  for (const WrongRow& row : rows) {
    SCOPED_TRACE(row.field);
    const auto names = [&](const char* direction) {
      return testing::HasSubstr(std::string("network.") + direction + "." +
                                row.field + ":");
    };
    EXPECT_THAT(
        sim::ValidateConditions({.up = row.path, .down = {}}, "network"),
        StatusIs(absl::StatusCode::kInvalidArgument, names("up")));
    EXPECT_THAT(
        sim::ValidateConditions({.up = {}, .down = row.path}, "network"),
        StatusIs(absl::StatusCode::kInvalidArgument, names("down")));
  }
}

}  // namespace
}  // namespace parlor
