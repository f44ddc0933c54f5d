// A recording as a GoogleTest: a match that was played once is played again by
// the game as it is now, and every hash that a seat said must come out. So a
// change of the rules that nobody wanted is found by the matches of last week,
// and the one match in which something went wrong is a test from then on.
//
//   #include "parlor/lockstep/replay_testing.h"
//
//   PARLOR_REPLAY_TEST(Replays, LastWeeksFinal, "replays/final.replay", MyGame)
//
// MyGame is a parlor::lockstep::Game that is default-constructible; each test
// makes one. The path is from where the test runs. It fails with the first
// frame that differs, the seat, and the last frame before that did not:
//
//   replays/final.replay: before frame 600: the game's hash is 0x1b2c3d4e, seat
//   2 said 0x5a6b7c8d; the hashes of frame 570 are still the same
//
// For whoever links GoogleTest; parlor itself does not.
#ifndef PARLOR_LOCKSTEP_REPLAY_TESTING_H_
#define PARLOR_LOCKSTEP_REPLAY_TESTING_H_

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "parlor/lockstep/peer.h"
#include "parlor/lockstep/replay_frames.h"
#include "parlor/lockstep/replay_log.h"
#include "parlor/status.h"

namespace parlor::lockstep {

// Plays a recording, from a room or a peer, in `game`, as a peer would that was
// never stalled: OnStart, then Step and Hash; Input is not asked. The match's
// seat is the one that recorded, 0 of a room.
class ReplayTest {
 public:
  ReplayTest(std::string name, Game& game)
      : name_(std::move(name)), game_(game) {}

  // Fails, with why: as above; or the bytes are damaged, are no replay, begin
  // in the midst of a match, or have no hash, so that nothing could differ. One
  // that was cut off is played as far as it goes.
  testing::AssertionResult Play(std::span<const std::byte> bytes) {
    absl::StatusOr<ReplayLogReader> log = ReplayLogReader::Open(bytes);
    if (absl::IsDataLoss(log.status())) {
      log = ReplayLogReader::Open(bytes, true);
    }
    if (!log.ok()) return Fail(log.status());
    absl::StatusOr<ReplayFrames> frames = ReplayFrames::Of(*log);
    if (!frames.ok()) return Fail(frames.status());
    if (frames->begin() > 0) {
      return Fail("it goes on with a match that another recording begins");
    }
    const ReplayHeader& header = log->header();
    game_.OnStart({.seat = header.recorded_by,
                   .players = frames->players(),
                   .size = header.size,
                   .seed = header.seed,
                   .mode = log->match()->mode,
                   .delay = frames->delay()});
    return PlayFrames(*frames);
  }

 private:
  testing::AssertionResult PlayFrames(ReplayFrames& frames) {
    const auto players = static_cast<std::size_t>(frames.players());
    ReplayFrame frame;
    while (true) {
      const auto said = frames.HashesOf(frame_);
      if (!said.empty()) {
        if (std::string why = Compare(said); !why.empty()) return Fail(why);
      }
      if (!frames.Read(frame_, frame)) break;
      game_.Step(frame_, std::span(frame.inputs).first(players), frame.bots);
      ++frame_;
    }
    if (same_ < 0) return Fail("it has no hash that could differ");
    return testing::AssertionSuccess();
  }

  // What differs, or nothing.
  std::string Compare(std::span<const ReplayHash> said) {
    const std::uint32_t hash = game_.Hash();
    for (const ReplayHash& one : said) {
      if (one.value == hash) continue;
      std::string why = "before frame " + std::to_string(frame_) +
                        ": the game's hash is " + Hex(hash) + ", seat " +
                        std::to_string(one.seat) + " said " + Hex(one.value);
      if (same_ < 0) return why + "; it is the first hash there is";
      return why + "; the hashes of frame " + std::to_string(same_) +
             " are still the same";
    }
    same_ = frame_;
    return "";
  }

  static std::string Hex(std::uint32_t hash) {
    char text[16];
    std::snprintf(text, sizeof text, "0x%08x", hash);
    return text;
  }

  testing::AssertionResult Fail(const std::string& why) const {
    return testing::AssertionFailure() << name_ << ": " << why;
  }
  testing::AssertionResult Fail(const absl::Status& status) const {
    return Fail(std::string(StatusText(status)));
  }

  const std::string name_;
  Game& game_;
  std::uint32_t frame_ = 0;  // the next one to run
  std::int64_t same_ = -1;   // the last frame whose hashes were compared
};

// The recording in a file, in `game`.
inline testing::AssertionResult ReplayAgrees(const std::string& path,
                                             Game& game) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return testing::AssertionFailure() << path << ": cannot read it";
  const std::string text(std::istreambuf_iterator<char>(file), {});
  return ReplayTest(path, game)
      .Play(std::as_bytes(std::span(text.data(), text.size())));
}

}  // namespace parlor::lockstep

// A test that plays the recording at `path` in a fresh GameType.
#define PARLOR_REPLAY_TEST(Suite, Name, path, GameType)                  \
  TEST(Suite, Name) {                                                    \
    GameType parlor_replayed_game;                                       \
    EXPECT_TRUE(                                                         \
        ::parlor::lockstep::ReplayAgrees((path), parlor_replayed_game)); \
  }

#endif  // PARLOR_LOCKSTEP_REPLAY_TESTING_H_
