#include "replay_player.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "parlor/status.h"
#include "session.h"

namespace parlor::solo {
namespace {

using ::testing::HasSubstr;

constexpr cycles::Options kGame{.players = 3, .size = 0};

// A match of `frames` with bots; the block that ends with frame `lie` has a
// hash of another state.
std::vector<std::byte> Match(int frames, int lie, ReplayHeader header = {}) {
  cycles::State state = cycles::Start(kGame, 9, 1);
  header.rules_version =
      header.rules_version == 0 ? cycles::kRulesVersion : header.rules_version;
  header.seed = 9;
  if (header.size == 1) header.size = 3;
  if (header.mode == 0) header.mode = cycles::ModeOf(kGame);
  if (header.start_hash == 0) header.start_hash = cycles::Hash64(state);
  ReplayEncoder encoder(header);
  std::vector<std::byte> bytes;
  std::uint64_t hash = header.start_hash;
  for (int f = 0; f < frames; ++f) {
    const std::vector<std::uint32_t> inputs = {f % 50 == 0 ? 1u << (f / 50 % 4)
                                                           : 0u};
    cycles::Step(state, inputs, 0);
    if (!encoder.Add(inputs, 0) && f + 1 < frames) continue;
    hash = cycles::Hash64(state) ^ (f == lie ? 1 : 0);
    encoder.CloseBlock(hash);
  }
  encoder.Finish(hash);
  const std::span<const std::byte> taken = encoder.TakeBytes();
  return {taken.begin(), taken.end()};
}

absl::Status Play(ReplayPlayer& player) {
  while (true) {
    const absl::StatusOr<bool> ran = player.Step();
    if (!ran.ok()) return ran.status();
    if (!*ran) return absl::OkStatus();
  }
}

std::string Refusal(const ReplayHeader& header) {
  return std::string(StatusText(
      ReplayPlayer::FromBytes(Match(1, -1, header), false).status()));
}

TEST(ReplayPlayer, ReproducesEveryHashTwice) {
  absl::StatusOr<ReplayPlayer> player =
      ReplayPlayer::FromBytes(Match(1'000, -1), false);
  ASSERT_TRUE(player.ok()) << player.status();
  EXPECT_TRUE(Play(*player).ok());
  EXPECT_EQ(player->frame(), 1'000u);
  const std::uint64_t hash = cycles::Hash64(player->state());
  player->Rewind();
  EXPECT_TRUE(Play(*player).ok());
  EXPECT_EQ(cycles::Hash64(player->state()), hash);
}

TEST(ReplayPlayer, StopsAtTheFrameThatDiffers) {
  absl::StatusOr<ReplayPlayer> player =
      ReplayPlayer::FromBytes(Match(1'000, 599), false);
  ASSERT_TRUE(player.ok()) << player.status();
  const absl::Status status = Play(*player);
  EXPECT_TRUE(absl::IsAborted(status));
  EXPECT_THAT(StatusText(status), HasSubstr("differs at frame 599"));
  EXPECT_EQ(player->frame(), 600u);
}

TEST(ReplayPlayer, StopsAtAStartThatDiffers) {
  absl::StatusOr<ReplayPlayer> player =
      ReplayPlayer::FromBytes(Match(10, -1, {.start_hash = 4}), false);
  ASSERT_TRUE(player.ok()) << player.status();
  EXPECT_THAT(StatusText(Play(*player)), HasSubstr("differs at the start"));
  EXPECT_EQ(player->frame(), 0u);
}

TEST(ReplayPlayer, RefusesOtherGamesAndRules) {
  EXPECT_THAT(Refusal({.game = 2}), HasSubstr("byte 10: game 2, not Cycles"));
  EXPECT_THAT(Refusal({.rules_version = 99}),
              HasSubstr("byte 12: recorded with rules version 99"));
  EXPECT_THAT(Refusal({.size = 9}), HasSubstr("byte 21: no game of Cycles"));
  EXPECT_THAT(Refusal({.mode = 0xff}), HasSubstr("byte 21: no game of Cycles"));
}

}  // namespace
}  // namespace parlor::solo
