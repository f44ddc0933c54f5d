#include "parlor/lockstep/replay_testing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <span>
#include <string>
#include <vector>

#include "cycles/game.h"
#include "solo/cycles_recording.h"
#include "solo/cycles_room.h"

// Two recordings of one match over a network: the host's, and a player's.
PARLOR_REPLAY_TEST(SampleReplays, OfAHost, PARLOR_REPLAYS "/room.replay",
                   parlor::cycles::ReplayedGame)
PARLOR_REPLAY_TEST(SampleReplays, OfAPlayer, PARLOR_REPLAYS "/peer.replay",
                   parlor::cycles::ReplayedGame)

namespace parlor::lockstep {
namespace {

using cycles::ReplayedGame;
using test::CyclesRecording;
using test::CyclesRoomRecorder;
using test::Record;
using test::RecordRoom;
using ::testing::HasSubstr;

std::string WhyNot(Game&& game, std::span<const std::byte> bytes) {
  return ReplayTest("a.replay", game).Play(bytes).message();
}

// Plays a frame other than the rest of the world.
class ChangedGame final : public ReplayedGame {
 public:
  void Step(std::uint32_t frame, std::span<const std::uint32_t> inputs,
            std::uint32_t bots) override {
    ReplayedGame::Step(frame, inputs, bots);
    if (frame == 200) ++state_.cycles[1].charges;
  }
};

TEST(ReplayTesting, AChangedGameFailsWithTheFirstFrameAndTheSeat) {
  ChangedGame game;
  const testing::AssertionResult result =
      ReplayAgrees(PARLOR_REPLAYS "/room.replay", game);
  EXPECT_FALSE(result);
  EXPECT_THAT(
      result.message(),
      AllOf(HasSubstr("room.replay: before frame 210: the game's hash is 0x"),
            HasSubstr(", seat 2 said 0x15b3915c"),
            HasSubstr("the hashes of frame 180 are still the same")));
}

TEST(ReplayTesting, ASeatThatIsOddIsNamed) {
  const std::vector<std::byte> room = RecordRoom({.odd = 2, .odd_from = 300});
  EXPECT_THAT(WhyNot(ReplayedGame(), room),
              AllOf(HasSubstr("before frame 300"), HasSubstr("seat 2 said")));
  EXPECT_THAT(WhyNot(ReplayedGame(), Record({.frames = 60, .lie = 0})),
              HasSubstr("before frame 0: the game's hash is 0x"));
}

TEST(ReplayTesting, OneThatWasCutOffIsPlayedAsFarAsItGoes) {
  std::vector<std::byte> bytes = Record({.frames = 600, .lie = 300});
  bytes.resize(bytes.size() * 3 / 4);
  EXPECT_THAT(WhyNot(ReplayedGame(), bytes), HasSubstr("before frame 300"));
  bytes = Record({.frames = 600, .finished = false});
  EXPECT_EQ(WhyNot(ReplayedGame(), bytes), "");
}

TEST(ReplayTesting, WhatCanTestNothingFails) {
  ReplayedGame game;
  EXPECT_THAT(ReplayAgrees("no/such.replay", game).message(),
              HasSubstr("no/such.replay: cannot read it"));
  EXPECT_THAT(WhyNot(ReplayedGame(), {}), HasSubstr("not a parlor replay"));
  std::vector<std::byte> bytes = Record({.frames = 600});
  bytes[bytes.size() / 2] ^= std::byte{1};
  EXPECT_THAT(WhyNot(ReplayedGame(), bytes), HasSubstr("a.replay: byte "));
  EXPECT_THAT(
      WhyNot(ReplayedGame(), CyclesRoomRecorder({.restart = 310}).Run().back()),
      HasSubstr("that another recording begins"));

  test::MemoryReplaySink sink;
  ReplayLogWriter writer(sink, {.source = ReplaySource::kPeer}, TimePoint{});
  writer.Flush();
  EXPECT_THAT(WhyNot(ReplayedGame(), sink.bytes), HasSubstr("no match began"));
  writer.Begin(TimePoint{}, 1, 0);
  writer.AddFrame(TimePoint{}, std::vector<std::uint32_t>{1}, 0);
  writer.Finish();
  EXPECT_THAT(WhyNot(ReplayedGame(), sink.bytes), HasSubstr("it has no hash"));
}

}  // namespace
}  // namespace parlor::lockstep
