// What CheckInSync says of games that describe their state.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "parlor/sim/world.h"
#include "parlor/status.h"
#include "parlor/time.h"
#include "support/desync_party.h"
#include "support/entity_game.h"
#include "support/status_matchers.h"

namespace parlor::sim {
namespace {

using test::EntityGame;
using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

constexpr std::size_t kEntities = 50;
// Of an entity's 32 bytes: the lowest bits of `y` and of `id`, which stays.
constexpr std::size_t kBitOfY = 32;
constexpr std::size_t kBitOfId = 128;

class FieldsTest : public testing::Test {
 protected:
  void Play(int players, const ClientOptions& options = {}) {
    for (int i = 0; i < players; ++i) {
      games_.push_back(std::make_unique<EntityGame>(kEntities));
      Client& client = world_.AddClient(*games_.back(), options);
      client.Join(host_, {.room = 1, .players = players});
      // Seats are clients, as they come.
      world_.RunFor(kSecond);
    }
    ASSERT_THAT(world_.RunUntilFrame(10), IsOk());
  }
  void Flip(std::size_t client, std::uint32_t frame) {
    games_[client]->flip = {.frame = frame, .entity = 17, .bit = kBitOfY};
  }
  std::uint32_t frame() { return world_.client(0).peer().frame(); }
  std::string Said() {
    const absl::Status status = world_.CheckInSync();
    EXPECT_EQ(status.code(), absl::StatusCode::kInternal);
    return std::string(StatusText(status));
  }

  std::vector<std::unique_ptr<EntityGame>> games_;
  World world_{{.seed = 3, .network = kMobile}};
  Host& host_ = world_.AddHost();
};

TEST_F(FieldsTest, OneFlippedBitIsToldWithItsFieldAndItsSeat) {
  ASSERT_NO_FATAL_FAILURE(Play(3));
  const std::uint32_t at = frame() + 30;
  Flip(2, at);
  // Long after: what was kept stands still since the peers have seen it.
  ASSERT_THAT(world_.RunUntilFrame(at + 3'000), IsOk());
  const std::string frame_text = std::to_string(at);
  EXPECT_THAT(Said(),
              AllOf(HasSubstr("the states differ after frame " + frame_text +
                              ": client 0 (seat 0), client 1 (seat 1): "),
                    HasSubstr("\nframe " + std::to_string(at + 1) +
                              ": seat 2 differs from seats 0, 1\n"),
                    ContainsRegex(
                        "\n  entities\\[17\\].y is [0-9]+, elsewhere [0-9]+")));
}

TEST_F(FieldsTest, APeerNeedNotHaveSeenIt) {
  ASSERT_NO_FATAL_FAILURE(Play(3, {.peer = {.hash_every = 600}}));
  const std::uint32_t at = frame() + 5;
  Flip(1, at);
  ASSERT_THAT(world_.RunUntilFrame(at + 20), IsOk());
  ASSERT_EQ(world_.client(0).peer().desync(), -1);
  EXPECT_THAT(Said(), HasSubstr("seat 1 differs from seats 0, 2\n"
                                "  entities[17].y is "));
}

TEST_F(FieldsTest, OfTwoTheGameTellsWhoWasRight) {
  const auto play = [this](const lockstep::FreshGame& fresh) {
    ASSERT_NO_FATAL_FAILURE(Play(2, {.fresh_game = fresh}));
    const std::uint32_t at = frame() + 30;
    Flip(0, at);
    ASSERT_THAT(world_.RunUntilFrame(at + 100), IsOk());
  };
  ASSERT_NO_FATAL_FAILURE(play(test::FreshEntities(kEntities)));
  EXPECT_THAT(Said(), AllOf(HasSubstr("seat 0 differs from seat 1"),
                            Not(HasSubstr("is not known"))));
}

TEST_F(FieldsTest, OfTwoAloneBothAreTold) {
  ASSERT_NO_FATAL_FAILURE(Play(2));
  const std::uint32_t at = frame() + 30;
  Flip(0, at);
  ASSERT_THAT(world_.RunUntilFrame(at + 100), IsOk());
  EXPECT_THAT(Said(), AllOf(HasSubstr("entities[17].y is "),
                            HasSubstr("who is right is not known")));
}

// It goes on alone, as the others do without it: no difference of theirs.
TEST_F(FieldsTest, WhoLostItsLinkForGoodIsSparedHereToo) {
  ASSERT_NO_FATAL_FAILURE(Play(3));
  // What it says from here on is said to nobody, and it runs with it.
  world_.client(1).Cut(Direction::kUp);
  ASSERT_THAT(
      world_.RunUntil([&] { return world_.client(0).peer().lost() != 0; },
                      200 * kSecond),
      IsOk());
  ASSERT_THAT(world_.CheckInSync(), IsOk());
  const std::uint32_t at = frame() + 5;
  Flip(2, at);
  ASSERT_THAT(world_.RunUntilFrame(at + 100), IsOk());
  EXPECT_THAT(
      Said(),
      AllOf(HasSubstr("\nframe " + std::to_string(at + 1) + ": seat"),
            HasSubstr("  entities[17].y is "), Not(HasSubstr("inputs"))));
}

TEST_F(FieldsTest, WhatWasKeptIsGoneAfterAWhile) {
  ASSERT_NO_FATAL_FAILURE(
      Play(2, {.peer = {.hash_every = 600},
               .desync = lockstep::DesyncOptions{.bytes_max = 1 << 16}}));
  const std::uint32_t at = frame() + 5;
  games_[0]->flip = {.frame = at, .entity = 17, .bit = kBitOfId};
  ASSERT_THAT(world_.RunUntilFrame(at + 1), IsOk());
  // And back: no later state differs.
  games_[0]->flip = {.frame = frame(), .entity = 17, .bit = kBitOfId};
  ASSERT_THAT(world_.RunUntilFrame(at + 300), IsOk());
  EXPECT_THAT(Said(), HasSubstr("ClientOptions::desync"));
}

TEST_F(FieldsTest, NothingIsKeptWhereNothingIsAsked) {
  ASSERT_NO_FATAL_FAILURE(Play(3, {.desync = std::nullopt}));
  const std::uint32_t at = frame() + 30;
  Flip(2, at);
  ASSERT_THAT(world_.RunUntilFrame(at + 100), IsOk());
  EXPECT_THAT(Said(),
              AllOf(HasSubstr("client 2 (seat 2): "), Not(HasSubstr("\n"))));
}

}  // namespace
}  // namespace parlor::sim
