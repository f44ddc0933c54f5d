// A test program that testing_test.cc runs: its matches fail, or not, as their
// names say.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstdio>

#include "parlor/sim/testing.h"
#include "parlor/sim/world.h"
#include "support/toy_game.h"

namespace parlor::sim {
namespace {

// Two play for a while; the second one's game may be another one.
void Play(std::uint32_t build) {
  std::array<test::ToyGame, 2> games{test::ToyGame(1), test::ToyGame(build)};
  TestWorld world({.seed = 5});
  std::printf("seed %llu\n", static_cast<unsigned long long>(world.seed()));
  Host& host = world.AddHost();
  for (test::ToyGame& game : games) {
    world.AddClient(game).Join(host, {.room = 0, .players = 2});
  }
  world.RunFor(kSecond);
  const absl::Status status = world.CheckInSync();
  EXPECT_TRUE(status.ok()) << status;
}

TEST(FailingMatch, Passes) { Play(1); }

class FailingMatches : public testing::TestWithParam<std::uint32_t> {};

TEST_P(FailingMatches, Fails) { Play(GetParam()); }

INSTANTIATE_TEST_SUITE_P(Builds, FailingMatches, testing::Values(2u));

}  // namespace
}  // namespace parlor::sim
