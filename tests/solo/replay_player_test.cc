#include "replay_player.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "parlor/random.h"
#include "parlor/status.h"
#include "solo/cycles_recording.h"
#include "support/seed.h"
#include "support/status_matchers.h"

namespace parlor::solo {
namespace {

using test::CyclesRecording;
using test::Record;
using ::testing::HasSubstr;

absl::StatusOr<ReplayPlayer> Open(const CyclesRecording& recording) {
  return ReplayPlayer::FromBytes(Record(recording), false);
}

absl::Status Play(ReplayPlayer& player) {
  while (true) {
    const absl::StatusOr<bool> ran = player.Step();
    if (!ran.ok()) return ran.status();
    if (!*ran) return absl::OkStatus();
  }
}

std::string Refusal(const CyclesRecording& recording) {
  return std::string(StatusText(Open(recording).status()));
}

TEST(ReplayPlayer, ReproducesEveryHashTwice) {
  absl::StatusOr<ReplayPlayer> player = Open({.frames = 1'000});
  ASSERT_TRUE(player.ok()) << player.status();
  EXPECT_TRUE(Play(*player).ok());
  EXPECT_EQ(player->frame(), 1'000u);
  const std::uint64_t hash = cycles::Hash64(player->state());
  player->Rewind();
  EXPECT_TRUE(Play(*player).ok());
  EXPECT_EQ(cycles::Hash64(player->state()), hash);
}

TEST(ReplayPlayer, StopsAtTheFrameThatDiffers) {
  absl::StatusOr<ReplayPlayer> player = Open({.frames = 1'000, .lie = 600});
  ASSERT_TRUE(player.ok()) << player.status();
  const absl::Status status = Play(*player);
  EXPECT_TRUE(absl::IsAborted(status));
  EXPECT_THAT(
      StatusText(status),
      HasSubstr("differs before frame 600, first checked since frame 570"));
  EXPECT_EQ(player->frame(), 600u);
}

TEST(ReplayPlayer, StopsAtAStartThatDiffers) {
  absl::StatusOr<ReplayPlayer> player = Open({.frames = 10, .lie = 0});
  ASSERT_TRUE(player.ok()) << player.status();
  EXPECT_THAT(StatusText(Play(*player)), HasSubstr("differs at the start"));
  EXPECT_EQ(player->frame(), 0u);
}

TEST(ReplayPlayer, RefusesOtherGamesAndRules) {
  EXPECT_THAT(Refusal({.game = {.name = "toy", .rules_version = 1}}),
              HasSubstr("byte 60: the game is toy, not cycles"));
  EXPECT_THAT(Refusal({.game = {.name = "cycles", .rules_version = 99}}),
              HasSubstr("byte 20: recorded with rules version 99"));
  EXPECT_THAT(Refusal({.size = 9}), HasSubstr("no match of Cycles has 9"));
  EXPECT_THAT(Refusal({.mode = 0xff}), HasSubstr("players and mode 255"));
}

TEST(ReplayPlayer, TakesAGameWithoutANameForCycles) {
  absl::StatusOr<ReplayPlayer> player = Open({.frames = 100, .game = {}});
  ASSERT_TRUE(player.ok()) << player.status();
  // Nobody said with what delay; the hashes have one in them.
  EXPECT_THAT(StatusText(Play(*player)), HasSubstr("differs at the start"));
  player = Open({.frames = 100, .game = {"", 0, 1}});
  ASSERT_TRUE(player.ok()) << player.status();
  EXPECT_TRUE(Play(*player).ok());
}

// --- Seeking

TEST(ReplayPlayer, FindsAnyFrameFromItsKeyframes) {
  const std::vector<std::byte> bytes =
      Record({.frames = 2'000, .keyframe_every = 300});
  absl::StatusOr<ReplayPlayer> slow = ReplayPlayer::FromBytes(bytes, false);
  absl::StatusOr<ReplayPlayer> player = ReplayPlayer::FromBytes(bytes, false);
  ASSERT_TRUE(slow.ok() && player.ok());
  ASSERT_EQ(player->log().keyframes().size(), 6u);
  std::vector<std::uint64_t> hashes = {cycles::Hash64(slow->state())};
  while (*slow->Step()) hashes.push_back(cycles::Hash64(slow->state()));
  Random random(test::TestSeed());
  for (int i = 0; i < 40; ++i) {
    const std::uint32_t frame = random.Below(2'001);
    SCOPED_TRACE(frame);
    ASSERT_TRUE(player->Seek(frame).ok());
    ASSERT_EQ(player->frame(), frame);
    ASSERT_EQ(cycles::Hash64(player->state()), hashes[frame]);
  }
  ASSERT_TRUE(player->Seek(9'999).ok());
  EXPECT_EQ(player->frame(), 2'000u);
}

// A lie before the keyframe is not passed by who begins there.
TEST(ReplayPlayer, SeekingRunsNothingBeforeTheKeyframe) {
  absl::StatusOr<ReplayPlayer> player =
      Open({.frames = 1'000, .lie = 240, .keyframe_every = 300});
  ASSERT_TRUE(player.ok()) << player.status();
  EXPECT_TRUE(player->Seek(299).code() == absl::StatusCode::kAborted);
  EXPECT_TRUE(player->Seek(700).ok());
  EXPECT_EQ(player->frame(), 700u);
}

TEST(ReplayPlayer, RefusesKeyframesThatAreNone) {
  const auto seek = [](const CyclesRecording& recording) {
    absl::StatusOr<ReplayPlayer> player = Open(recording);
    EXPECT_TRUE(player.ok()) << player.status();
    return std::string(StatusText(player->Seek(350)));
  };
  CyclesRecording recording{.frames = 400, .keyframe_every = 300};
  EXPECT_EQ(seek(recording), "");
  // Another seed, which the hash has in it and the keyframe's check too.
  recording.spoil = [](std::vector<std::byte>& state) {
    state[4] ^= std::byte{1};
  };
  EXPECT_THAT(seek(recording), HasSubstr("of another match or frame"));
  recording.spoil = [](std::vector<std::byte>& state) { state.pop_back(); };
  EXPECT_THAT(seek(recording), HasSubstr("no state of Cycles"));
  // Random numbers that come round.
  recording.spoil = [](std::vector<std::byte>& state) {
    state[16] ^= std::byte{1};
  };
  EXPECT_THAT(seek(recording), HasSubstr("no state of Cycles"));
  // A cell of no kind.
  recording.spoil = [](std::vector<std::byte>& state) {
    state.back() = std::byte{13};
  };
  EXPECT_THAT(seek(recording), HasSubstr("no state of Cycles"));
  // One that could be, but is not what was hashed.
  recording.spoil = [](std::vector<std::byte>& state) {
    state.back() = state.back() == std::byte{0} ? std::byte{9} : std::byte{0};
  };
  EXPECT_THAT(seek(recording), HasSubstr("differs before frame 300"));
}

// What FromSaved accepts can be played, whatever was done to it.
TEST(ReplayPlayer, ASpoiltStateIsRefusedOrCanBePlayed) {
  const std::uint64_t seed = test::TestSeed();
  Random random(seed);
  int played = 0;
  for (int round = 0; round < 300; ++round) {
    SCOPED_TRACE("seed " + std::to_string(seed) + " round " +
                 std::to_string(round));
    cycles::State state =
        cycles::Start({.players = 4, .size = 32}, random.Next(), 1);
    const std::uint32_t frames = 150 + random.Below(900);
    for (std::uint32_t f = 0; f < frames; ++f) cycles::Step(state, {}, 0);
    const auto saved = cycles::SavedBytes(state);
    std::vector<std::byte> bytes(saved.begin(), saved.end());
    ASSERT_TRUE(cycles::FromSaved(bytes).has_value());
    for (std::uint32_t flips = 1 + random.Below(4); flips > 0; --flips) {
      const std::uint32_t limit =
          static_cast<std::uint32_t>(random.Chance(1, 2) ? 400 : bytes.size());
      const std::uint32_t at = random.Below(limit);
      bytes[at] ^= static_cast<std::byte>(1u << random.Below(8));
    }
    std::optional<cycles::State> read = cycles::FromSaved(bytes);
    if (!read) continue;
    ++played;
    for (int f = 0; f < 500; ++f) {
      cycles::Step(*read, std::array{random.Next(), random.Next()}, 0);
    }
    cycles::Ranking(*read);
  }
  EXPECT_GT(played, 10);
}

}  // namespace
}  // namespace parlor::solo
