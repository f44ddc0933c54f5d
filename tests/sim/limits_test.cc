// A host's times at their full length: nobody waits for virtual ones. In every
// case some connections are silent for longer than a link may be, and live by
// their pings.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "parlor/close_reason.h"
#include "parlor/limits.h"
#include "parlor/lockstep/peer.h"
#include "parlor/sim/world.h"
#include "parlor/time.h"
#include "sim/party.h"
#include "support/lockstep_client.h"

namespace parlor::sim {
namespace {

using lockstep::PeerEnd;
using lockstep::PeerState;
using testing::Contains;

// What a message takes at the most, there and back, on kLan; and a turn.
constexpr Duration kSoon = 50 * kMillisecond;

constexpr Duration kHold = limits::kHoldMs.fallback * kMillisecond;
constexpr Duration kLobby = limits::kLobbyMs.fallback * kMillisecond;
constexpr Duration kIdle = limits::kIdleMs.fallback * kMillisecond;
constexpr Duration kLifetime = limits::kLifetimeMs.fallback * kMillisecond;

class LimitsTest : public testing::TestWithParam<Via> {
 protected:
  std::unique_ptr<test::LockstepClient> Stranger(int players) {
    auto stranger = std::make_unique<test::LockstepClient>();
    stranger->connection = party_.world.Connect(
        party_.host, {.room = Party::kRoom, .players = players}, GetParam(),
        stranger.get());
    return stranger;
  }
  // A seat whose link was lost, and whose machine stands still until it asks
  // again `before` its hold ends.
  void ComeBack(Duration before) {
    party_.Seat(2, {.via = GetParam()});
    const Duration first_try = lockstep::PeerOptions{}.retry_ms * kMillisecond;
    party_.client(1).Stall(kHold - before - first_try);
    party_.client(1).Reset();
    party_.world.RunFor(kHold + kSoon);
  }

  Party party_;
};

INSTANTIATE_TEST_SUITE_P(Vias, LimitsTest,
                         testing::Values(Via::kMessages, Via::kWebSocket,
                                         Via::kTcp),
                         [](const auto& via) { return ViaName(via.param); });

TEST_P(LimitsTest, ASeatIsHeldForTwentySeconds) {
  ASSERT_NO_FATAL_FAILURE(party_.Seat(3, {.via = GetParam()}));
  party_.client(1).Crash();
  party_.world.RunFor(kHold - kSoon);
  EXPECT_EQ(party_.peer(0).away(), 0b010u);
  party_.world.RunFor(2 * kSoon);
  EXPECT_EQ(party_.peer(0).lost(), 0b010u);
}

TEST_P(LimitsTest, WhoComesInTimeHasItsSeat) {
  ComeBack(kSoon);
  EXPECT_EQ(party_.peer(1).state(), PeerState::kPlaying);
  EXPECT_EQ(party_.peer(1).counters().resumes, 1u);
  party_.ExpectPlaysOn(100);
}

TEST_P(LimitsTest, WhoComesTooLateIsToldSo) {
  ComeBack(-kSoon / 2);
  party_.world.RunFor(kSoon);
  EXPECT_EQ(party_.peer(1).end(), PeerEnd::kClosed);
  EXPECT_EQ(party_.peer(1).end_code(), close_code::kSeatGone);
  EXPECT_EQ(party_.peer(0).lost(), 0b10u);
}

TEST_P(LimitsTest, ALobbyWaitsForTenMinutes) {
  const auto stranger = Stranger(2);
  party_.world.RunFor(kLobby - kSoon);
  EXPECT_EQ(stranger->closed_at, kNever);
  party_.world.RunFor(2 * kSoon);
  EXPECT_THAT(stranger->Take(), Contains("close 1001 room not filled"));
  EXPECT_EQ(party_.host.rooms(), 0u);
}

TEST_P(LimitsTest, AMatchInWhichNobodySpeaksEndsAfterFiveMinutes) {
  const auto first = Stranger(2);
  const auto second = Stranger(2);
  party_.world.RunFor(kSecond);
  first->Input(2);
  party_.world.RunFor(kIdle - kSoon);
  EXPECT_EQ(first->closed_at, kNever);
  party_.world.RunFor(2 * kSoon);
  EXPECT_THAT(first->Take(), Contains("close 1001 room idle"));
  EXPECT_THAT(second->Take(), Contains("close 1001 room idle"));
}

TEST_P(LimitsTest, AMatchEndsAfterFourHours) {
  // Two frames a second: no more than keeps the room from being idle.
  party_.Seat(2, {.via = GetParam(), .rate_hz = 2});
  party_.world.RunFor(kLifetime - 2 * kSecond);
  EXPECT_EQ(party_.peer(0).state(), PeerState::kPlaying);
  EXPECT_NEAR(party_.peer(0).frame(), 4 * 3'600 * 2, 10);
  EXPECT_EQ(party_.peer(0).counters().resumes, 0u);
  party_.world.RunFor(3 * kSecond);
  EXPECT_EQ(party_.peer(0).end_text(), "the room's time is up");
  EXPECT_EQ(party_.peer(1).end_text(), "the room's time is up");
  party_.ExpectInSync();
  EXPECT_EQ(party_.host.rooms(), 0u);
}

}  // namespace
}  // namespace parlor::sim
