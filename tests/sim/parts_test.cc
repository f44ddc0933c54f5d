// The parts of a world that stand alone: a clock that is off, and what two
// games must have in common.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "parlor/executor.h"
#include "parlor/lockstep/peer.h"
#include "parlor/random.h"
#include "parlor/sim/network.h"
#include "parlor/status.h"
#include "parlor/time.h"
#include "sim/local_clock.h"
#include "sim/sync_check.h"
#include "sim/watched_game.h"
#include "support/seed.h"
#include "support/toy_game.h"

namespace parlor::sim {
namespace {

TEST(LocalClockTest, ShowsATimeAtTheFirstMomentThatItDoes) {
  Random random(test::TestSeed());
  for (int i = 0; i < 10'000; ++i) {
    const TimePoint start(Duration(random.Below(1'000'000)));
    const LocalClock clock(start, random.Between(-100'000, 100'000));
    const Duration day = 86'400 * kSecond;
    const TimePoint shown =
        start + Duration(static_cast<std::int64_t>(
                    random.Next64() % static_cast<std::uint64_t>(day.count())));
    const TimePoint when = clock.When(shown);
    ASSERT_GE(clock.At(when), shown);
    if (when > start) {
      ASSERT_LT(clock.At(when - Duration(1)), shown);
    }
  }
}

TEST(LocalClockTest, RunsAsMuchFasterAsItSays) {
  const LocalClock fast(TimePoint(kSecond), 100);
  EXPECT_EQ(fast.At(TimePoint(kSecond)), TimePoint(kSecond));
  EXPECT_EQ(fast.At(TimePoint(10'001 * kSecond)), TimePoint(10'002 * kSecond));
  const LocalClock slow(TimePoint{}, -100);
  EXPECT_EQ(slow.At(TimePoint(10'000 * kSecond)), TimePoint(9'999 * kSecond));
}

// Games of one match in which every input is the frame's number.
class SyncTest : public testing::Test {
 protected:
  struct Member {
    Member(int seat, Network& network) : watched(game, network, std::nullopt) {
      watched.OnStart({.seat = seat, .players = 3, .size = 3, .seed = 9});
    }
    // Runs up to `end`; seats of `bots` are played by bots.
    void Run(std::uint32_t end, std::uint32_t bots = 0) {
      for (; next < end; ++next) {
        const std::array<std::uint32_t, 3> inputs = {next, next, next};
        watched.Step(next, inputs, bots);
      }
    }

    test::ToyGame game;
    WatchedGame watched;
    std::uint32_t next = 0;
  };

  std::string Check() {
    const absl::Status status =
        CheckSync({{&a_.watched, "a"}, {&b_.watched, "b"}, {&c_.watched, "c"}});
    return std::string(StatusText(status));
  }

  Executor executor_{1};
  Network network_{executor_};
  Member a_{0, network_};
  Member b_{1, network_};
  Member c_{2, network_};
};

TEST_F(SyncTest, WhoIsBehindIsInSync) {
  a_.Run(10);
  b_.Run(7);
  EXPECT_EQ(Check(), "");
}

TEST_F(SyncTest, TheFirstFrameThatDiffersIsTold) {
  for (Member* member : {&a_, &b_, &c_}) member->Run(5);
  b_.game.Corrupt();
  for (Member* member : {&a_, &b_, &c_}) member->Run(10);
  EXPECT_THAT(Check(), testing::MatchesRegex(
                           "the states differ after frame 5: a \\(seat 0\\), "
                           "c \\(seat 2\\): [0-9a-f]{8}; b \\(seat 1\\): "
                           "[0-9a-f]{8}"));
}

// Seat 1 was lost, and ran two frames more than the others heard of.
TEST_F(SyncTest, WhoWasLostForGoodRanItsLastFramesAlone) {
  for (Member* member : {&a_, &b_, &c_}) member->Run(5);
  b_.Run(7);
  a_.Run(10, 0b010);
  c_.Run(10, 0b010);
  EXPECT_EQ(Check(), "");
}

TEST_F(SyncTest, BotsThatBeginAtTwoFramesDiffer) {
  for (Member* member : {&a_, &b_, &c_}) member->Run(5);
  c_.Run(6);
  a_.Run(10, 0b010);
  c_.Run(10, 0b010);
  EXPECT_THAT(Check(), testing::StartsWith("the states differ after frame 5"));
}

TEST_F(SyncTest, WhatALostOneRanBeforeCounts) {
  for (Member* member : {&a_, &b_, &c_}) member->Run(4);
  b_.game.Corrupt();
  for (Member* member : {&a_, &b_, &c_}) member->Run(5);
  a_.Run(10, 0b010);
  c_.Run(10, 0b010);
  EXPECT_THAT(Check(), testing::StartsWith("the states differ after frame 4"));
}

TEST(WatchedGameTest, IsItsGameToThePeer) {
  Executor executor(1);
  Network network(executor);
  test::ToyGame game;
  game.word = [](std::uint32_t frame) { return frame + 7; };
  WatchedGame watched(game, network, std::nullopt);
  EXPECT_FALSE(watched.match());
  watched.OnStart({.seat = 1, .players = 2, .size = 2, .seed = 9});
  EXPECT_EQ(game.match()->seat, 1);
  EXPECT_EQ(watched.Input(3), 10u);
  const std::uint32_t start = watched.Hash();
  EXPECT_EQ(start, game.Hash());
  const std::array<std::uint32_t, 2> inputs = {5, 0};
  watched.Step(0, inputs, 0b10);
  EXPECT_EQ(watched.Hash(), game.Hash());
  EXPECT_THAT(watched.hashes(), testing::ElementsAre(start, game.Hash()));
  EXPECT_EQ(watched.bot_from(1), 0u);
  EXPECT_EQ(watched.bot_from(0), WatchedGame::kNever);
  EXPECT_EQ(game.frames.front(), (test::ToyGame::Frame{0, {5, 0}, 0b10}));
}

}  // namespace
}  // namespace parlor::sim
