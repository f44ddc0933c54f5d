#include "session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "parlor/entropy.h"
#include "parlor/status.h"
#include "replay_player.h"
#include "support/full_disk.h"
#include "support/temp_folder.h"
#include "terminal/scene.h"

namespace parlor::solo {
namespace {

using ::testing::HasSubstr;

constexpr cycles::Options kGame{.players = 4, .size = 2};

TimePoint At(int seconds) { return TimePoint(std::chrono::seconds(seconds)); }

// A session and its room in virtual time.
class SessionTest : public ::testing::Test {
 protected:
  void Open(std::uint32_t seed, bool bot = true, std::string record = "") {
    session_.reset();
    link_.emplace(seed, entropy_);
    session_.emplace(
        SessionOptions{
            .game = kGame, .own_seat_is_bot = bot, .record = std::move(record)},
        *link_);
  }

  // From deadline to deadline until `frames` have run.
  void RunTo(std::uint32_t frames) {
    for (int turns = 0; session_->frame() < frames; ++turns) {
      ASSERT_LT(turns, 1'000'000);
      ASSERT_FALSE(session_->failed()) << session_->error();
      now_ = std::max(now_, session_->next_turn());
      session_->Turn(now_, frames);
    }
  }

  std::uint64_t Hash() const { return cycles::Hash64(*session_->state()); }

  TimePoint now_{};
  SeededEntropy entropy_{1};
  std::optional<LocalLink> link_;
  std::optional<Session> session_;
};

TEST_F(SessionTest, StartsAtOnceInARoomOfItsOwn) {
  Open(5);
  RunTo(1);
  ASSERT_TRUE(session_->match().has_value());
  EXPECT_EQ(session_->match()->players, 1);
  EXPECT_EQ(session_->match()->size, 4);
  EXPECT_EQ(session_->match()->seed, 5u);
  EXPECT_EQ(session_->match()->mode, cycles::ModeOf(kGame));
  EXPECT_EQ(link_->shard().rooms(), 1u);
  EXPECT_LT(now_, TimePoint(std::chrono::seconds(1)));
}

TEST_F(SessionTest, TheSameSeedIsTheSameMatch) {
  Open(5);
  RunTo(1'500);
  const std::uint64_t hash = Hash();
  Open(5);
  RunTo(1'500);
  EXPECT_EQ(Hash(), hash);
  Open(6);
  RunTo(1'500);
  EXPECT_NE(Hash(), hash);
}

TEST_F(SessionTest, TheRoomRelaysEachFrame) {
  Open(5);
  RunTo(300);
  const lockstep::Room* room = link_->shard().FindRoom(0);
  ASSERT_NE(room, nullptr);
  // 300 inputs (the delay's frames are not said) and 11 hashes.
  EXPECT_EQ(room->counters().relayed, 311u);
}

TEST_F(SessionTest, PressesReachTheGame) {
  Open(5, false);
  RunTo(1);
  for (const auto& [bit, heading] :
       {std::pair{cycles::word::kLeft, cycles::Heading::kLeft},
        std::pair{cycles::word::kUp, cycles::Heading::kUp},
        std::pair{cycles::word::kRight, cycles::Heading::kRight},
        std::pair{cycles::word::kDown, cycles::Heading::kDown}}) {
    session_->Press(bit);
    RunTo(session_->frame() + 5);
    EXPECT_EQ(session_->state()->cycles[0].heading, heading);
  }
}

TEST_F(SessionTest, AStallIsCaughtUpInPart) {
  Open(5);
  RunTo(10);
  now_ += std::chrono::seconds(2);
  session_->Turn(now_);
  EXPECT_EQ(session_->frame(), 14u);  // FixedStep's cap, not 130
}

TEST_F(SessionTest, EndLeavesTheRoom) {
  Open(5);
  RunTo(10);
  session_->End();
  EXPECT_EQ(session_->next_turn(), kNever);
  link_->Turn(now_);
  link_->Turn(now_);
  EXPECT_EQ(link_->shard().rooms(), 0u);
}

TEST_F(SessionTest, ARecordingPlaysAgain) {
  const test::TempFolder folder;
  const std::string path = folder.At("session.replay");
  Open(5, false, path);
  RunTo(20);
  session_->Press(cycles::word::kUp);
  RunTo(1'977);
  const std::uint64_t hash = Hash();
  session_->End();
  ASSERT_TRUE(session_->record_status().ok());
  absl::StatusOr<ReplayPlayer> player = ReplayPlayer::Open(path, false);
  ASSERT_TRUE(player.ok()) << player.status();
  while (true) {
    const absl::StatusOr<bool> ran = player->Step();
    ASSERT_TRUE(ran.ok()) << ran.status();
    if (!*ran) break;
  }
  EXPECT_EQ(player->frame(), 1'977u);
  EXPECT_EQ(cycles::Hash64(player->state()), hash);
  // The last frames are proved too, and some place to begin at is there.
  EXPECT_EQ(player->match().HashesOf(1'977).size(), 1u);
  EXPECT_EQ(player->match().hashes().size(), 1'977u / 30 + 2);
  ASSERT_EQ(player->log().keyframes().size(), 1u);
  EXPECT_EQ(player->log().keyframes()[0].frame, 1'800u);
  EXPECT_EQ(player->log().header().game, CyclesGame(1));
  EXPECT_EQ(player->log().header().started_unix_ms, 0);
}

TEST_F(SessionTest, ADiskThatIsFullEndsTheRecordingAndNotTheMatch) {
  const test::TempFolder folder;
  const std::string path = folder.At("full.replay");
  Open(5, true, path);
  RunTo(300);
  ASSERT_TRUE(session_->record_status().ok());
  {
    const test::FullDisk full;
    RunTo(600);
  }
  EXPECT_THAT(StatusText(session_->record_status()),
              HasSubstr("cannot write " + path));
  RunTo(900);
  EXPECT_FALSE(session_->failed());
  session_->End();
  // What was there before is as good as ever.
  const absl::StatusOr<ReplayPlayer> player = ReplayPlayer::Open(path, true);
  ASSERT_TRUE(player.ok()) << player.status();
  EXPECT_GE(player->frames(), 240u);
  EXPECT_TRUE(player->torn_at().has_value());
}

TEST(PressQueue, PutsAFrameBetweenTwoOfAKind) {
  PressQueue queue;
  queue.Press(1);
  queue.Press(1);
  queue.Press(2);
  EXPECT_EQ(queue.NextWord(), 1u);
  EXPECT_EQ(queue.NextWord(), 0u);
  EXPECT_EQ(queue.NextWord(), 1u);
  EXPECT_EQ(queue.NextWord(), 2u);
  EXPECT_EQ(queue.NextWord(), 0u);
}

TEST(PressQueue, ForgetsWhatIsTypedTooFarAhead) {
  PressQueue queue;
  for (int i = 0; i < 100; ++i) queue.Press(1u << (i % 2));
  int words = 0;
  while (queue.NextWord() != 0) ++words;
  EXPECT_EQ(words, 4);
}

TEST(PausableClock, StandsStillWhilePaused) {
  PausableClock clock(At(10));
  EXPECT_EQ(clock.At(At(10)), At(10));
  clock.Pause(At(11));
  EXPECT_TRUE(clock.paused());
  EXPECT_EQ(clock.At(At(50)), At(11));
  EXPECT_EQ(clock.Outside(At(12)), kNever);
  clock.Pause(At(55));  // paused already
  clock.Resume(At(56));
  EXPECT_FALSE(clock.paused());
  EXPECT_EQ(clock.At(At(57)), At(12));
  clock.Resume(At(57));  // not paused
  EXPECT_EQ(clock.Outside(At(13)), At(58));
  EXPECT_EQ(clock.Outside(kNever), kNever);
}

TEST(PausableClock, AGapIsOneSecondAtMost) {
  PausableClock clock(At(10));
  EXPECT_EQ(clock.At(At(11)), At(11));
  EXPECT_EQ(clock.At(At(400)), At(12));
  EXPECT_EQ(clock.Outside(At(13)), At(401));
  EXPECT_EQ(clock.At(At(401)), At(13));
  clock.Pause(At(800));  // the gap ends with the pause
  EXPECT_EQ(clock.At(At(801)), At(14));
}

class MatchSceneTest : public ::testing::Test {
 protected:
  // From deadline to deadline until `frames` have run.
  void RunTo(std::uint64_t frames) {
    for (int turns = 0; scene_.version() - first_ < frames; ++turns) {
      ASSERT_LT(turns, 100'000);
      ASSERT_FALSE(scene_.done()) << scene_.last_words();
      now_ = std::max(now_, scene_.next_turn());
      scene_.Turn(now_);
    }
  }

  static Options Seeded() {
    Options options;
    options.game = kGame;
    options.seed = 5;
    return options;
  }

  TimePoint now_ = At(1'000);
  MatchScene scene_{Seeded(), now_};
  std::uint64_t first_ = scene_.version();
};

// A room's player is idle, and so leaves, after five minutes.
TEST_F(MatchSceneTest, PlaysOnAfterSixMinutesWithoutATurn) {
  RunTo(100);
  now_ += std::chrono::minutes(6);
  RunTo(300);
  EXPECT_EQ(scene_.exit_code(), kExitOk);
}

TEST_F(MatchSceneTest, PlaysOnAfterAGapThatEndsWithAKey) {
  RunTo(100);
  now_ += std::chrono::minutes(6);
  scene_.OnKey(now_, Key::kPause);
  EXPECT_EQ(scene_.next_turn(), kNever);
  now_ += std::chrono::minutes(6);
  scene_.OnKey(now_, Key::kPause);
  RunTo(300);
  EXPECT_EQ(scene_.exit_code(), kExitOk);
}

}  // namespace
}  // namespace parlor::solo
