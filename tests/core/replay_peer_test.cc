// Replay logs of what a peer ran: frames, hashes and keyframes; and when what
// is written reaches the sink.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "parlor/lockstep/replay_frames.h"
#include "parlor/lockstep/replay_log.h"
#include "parlor/random.h"
#include "parlor/status.h"
#include "support/hex.h"
#include "support/replay_again.h"
#include "support/replay_bytes.h"
#include "support/seed.h"
#include "support/status_matchers.h"

namespace parlor::lockstep {
namespace {

using test::MemoryReplaySink;
using ::testing::HasSubstr;

constexpr Duration kFrameTime = kSecond / 60;

ReplayHeader PeerHeader(int size, int seat = 0) {
  return {.source = ReplaySource::kPeer,
          .seed = 9,
          .size = size,
          .recorded_by = seat,
          .game = {.name = "toy", .rules_version = 3, .delay = 2}};
}

// Plays `frames` frames of words that stay for a while, with bots that come,
// a hash every 30 and a keyframe every 100.
struct Play {
  Play(int players, std::uint32_t frames, std::uint64_t seed) {
    Random random(seed);
    ReplayLogWriter writer(sink, PeerHeader(players), TimePoint{});
    writer.Begin(TimePoint{}, players, 7);
    ReplayFrame next;
    for (std::uint32_t f = 0; f < frames; ++f) {
      const TimePoint now = TimePoint{} + f * kFrameTime;
      if (f % 30 == 0) {
        hashes.push_back({f, 0, random.Next()});
        writer.AddHash(now, hashes.back().value);
      }
      if (f % 100 == 0) {
        states.emplace_back(random.Below(50), static_cast<std::byte>(f));
        EXPECT_TRUE(writer.AddKeyframe(now, states.back()));
      }
      next.frame = f;
      for (int s = 0; s < players; ++s) {
        if (random.Chance(1, 20)) {
          next.inputs[static_cast<std::size_t>(s)] =
              random.Next() >> random.Below(32);
        }
      }
      if (players > 1 && random.Chance(1, 100)) next.bots ^= 2;
      played.push_back(next);
      writer.AddFrame(
          now, std::span(next.inputs).first(static_cast<std::size_t>(players)),
          next.bots);
      EXPECT_EQ(writer.frames(), f + 1);
    }
    writer.Finish();
  }

  MemoryReplaySink sink;
  std::vector<ReplayFrame> played;
  std::vector<ReplayHash> hashes;
  std::vector<std::vector<std::byte>> states;
};

class PeerReplay : public ::testing::TestWithParam<std::pair<int, int>> {};

TEST_P(PeerReplay, IsReadAsItWasPlayed) {
  const auto [players, frames] = GetParam();
  const Play play(players, static_cast<std::uint32_t>(frames),
                  test::TestSeed());
  absl::StatusOr<ReplayLogReader> log = ReplayLogReader::Open(play.sink.bytes);
  ASSERT_TRUE(log.ok()) << log.status();
  EXPECT_EQ(log->header(), PeerHeader(players));
  absl::StatusOr<ReplayFrames> read = ReplayFrames::Of(*log);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->begin(), 0u);
  EXPECT_EQ(read->end(), play.played.size());
  EXPECT_THAT(read->hashes(), ::testing::ElementsAreArray(play.hashes));
  ReplayFrame frame;
  for (const ReplayFrame& played : play.played) {
    ASSERT_TRUE(read->Read(played.frame, frame));
    ASSERT_EQ(frame, played);
  }
  EXPECT_FALSE(read->Read(read->end(), frame));
  Random random(1);
  for (int i = 0; i < frames; ++i) {
    const auto at = random.Below(static_cast<std::uint32_t>(frames));
    ASSERT_TRUE(read->Read(at, frame));
    ASSERT_EQ(frame, play.played[at]);
  }
  ASSERT_EQ(log->keyframes().size(), play.states.size());
  for (std::size_t i = 0; i < play.states.size(); ++i) {
    const ReplayKeyframe& keyframe = log->keyframes()[i];
    EXPECT_EQ(keyframe.frame, 100 * i);
    EXPECT_TRUE(std::ranges::equal(keyframe.state, play.states[i]));
    EXPECT_EQ(log->KeyframeFor(keyframe.frame + 99), &keyframe);
  }
  EXPECT_EQ(test::WrittenAgain(*log, play.sink.bytes), play.sink.bytes);
  EXPECT_EQ(read->Append(*log).code(), absl::StatusCode::kFailedPrecondition);
}

INSTANTIATE_TEST_SUITE_P(Shapes, PeerReplay,
                         ::testing::Values(std::pair(1, 0), std::pair(1, 1),
                                           std::pair(2, 1'500),
                                           std::pair(32, 400),
                                           std::pair(4, 10'000)),
                         [](const auto& row) {
                           return "Players" + std::to_string(row.param.first) +
                                  "Frames" + std::to_string(row.param.second);
                         });

TEST(PeerReplayLog, FramesAndTimesAreFound) {
  const Play play(3, 6'000, 3);
  absl::StatusOr<ReplayLogReader> log = ReplayLogReader::Open(play.sink.bytes);
  ASSERT_TRUE(log.ok()) << log.status();
  ReplayEvent event;
  for (std::uint32_t f = 0; f < 6'000; f += 7) {
    SCOPED_TRACE(f);
    log->SeekFrame(f);
    do {
      ASSERT_TRUE(log->Next(event));
    } while (event.kind != ReplayKind::kFrames);
    EXPECT_LE(event.frame, f);
    EXPECT_GE(event.frame + 120, f);  // a chunk is a second
    const Duration at = f * kFrameTime;
    EXPECT_LE(log->FrameAt(at), f + 1);
    EXPECT_GE(log->FrameAt(at) + 60, f);
    EXPECT_LE(log->TimeOf(f), at + kSecond + kReplayTick);
    EXPECT_GE(log->TimeOf(f) + kSecond, at);
  }
}

// 10 minutes in which nobody touches a key are a few bytes a second.
TEST(PeerReplayLog, IsShortWhereNothingHappens) {
  MemoryReplaySink sink;
  ReplayLogWriter writer(sink, PeerHeader(8), TimePoint{});
  writer.Begin(TimePoint{}, 8, 0);
  const std::array<std::uint32_t, 8> idle{};
  for (int f = 0; f < 36'000; ++f) {
    writer.AddFrame(TimePoint{} + f * kFrameTime, idle, 0);
  }
  writer.Finish();
  EXPECT_LT(sink.bytes.size() / 600, 25u);
  absl::StatusOr<ReplayLogReader> log = ReplayLogReader::Open(sink.bytes);
  ASSERT_TRUE(log.ok()) << log.status();
  EXPECT_EQ(ReplayFrames::Of(*log)->end(), 36'000u);
}

// What a crash leaves is at most a second behind.
TEST(PeerReplayLog, IsWithTheSinkWithinASecond) {
  MemoryReplaySink sink;
  ReplayLogWriter writer(sink, PeerHeader(1), TimePoint{});
  writer.Begin(TimePoint{}, 1, 0);
  for (std::uint32_t f = 0; f < 600; ++f) {
    const std::array<std::uint32_t, 1> word = {f / 100};
    writer.AddFrame(TimePoint{} + f * kFrameTime, word, 0);
    absl::StatusOr<ReplayLogReader> log =
        ReplayLogReader::Open(sink.bytes, true);
    if (f <= 60) continue;  // a step is a little less than a 60th
    ASSERT_TRUE(log.ok()) << f << ": " << log.status();
    EXPECT_GE(ReplayFrames::Of(*log)->end() + 61, f);
    EXPECT_TRUE(log->torn_at().has_value());
  }
  EXPECT_EQ(writer.bytes(), sink.bytes.size());
}

TEST(PeerReplayLog, ASinkThatFailsEndsTheRecordingAlone) {
  MemoryReplaySink sink;
  ReplayLogWriter writer(sink, PeerHeader(1), TimePoint{});
  const std::array<std::uint32_t, 1> word = {1};
  writer.Begin(TimePoint{}, 1, 0);
  writer.AddFrame(TimePoint{}, word, 0);
  writer.Flush();
  EXPECT_TRUE(writer.status().ok());
  const std::size_t written = sink.bytes.size();
  sink.fail = MakeStatus(absl::StatusCode::kUnavailable, "no space");
  writer.AddFrame(TimePoint{}, word, 0);
  writer.Flush();
  EXPECT_THAT(writer.status(), StatusIs(absl::StatusCode::kUnavailable));
  sink.fail = absl::OkStatus();
  for (int i = 0; i < 100; ++i) {
    writer.AddFrame(TimePoint{} + i * kSecond, word, 0);
    writer.AddHash(TimePoint{} + i * kSecond, 5);
    EXPECT_TRUE(writer.AddKeyframe(TimePoint{} + i * kSecond, {}));
  }
  writer.Finish();
  EXPECT_EQ(sink.bytes.size(), written);
  EXPECT_EQ(writer.bytes(), written);
}

TEST(PeerReplayLog, AStateTooLargeIsNoKeyframe) {
  MemoryReplaySink sink;
  ReplayLogWriter writer(sink, PeerHeader(1), TimePoint{});
  writer.Begin(TimePoint{}, 1, 0);
  std::vector<std::byte> state(kReplayKeyframeBytesMax + 1);
  EXPECT_FALSE(writer.AddKeyframe(TimePoint{}, state));
  state.pop_back();
  EXPECT_TRUE(writer.AddKeyframe(TimePoint{}, state));
  writer.Finish();
  absl::StatusOr<ReplayLogReader> log = ReplayLogReader::Open(sink.bytes);
  ASSERT_TRUE(log.ok()) << log.status();
  EXPECT_EQ(log->keyframes().size(), 1u);
}

// Room for one more second, and none for the one after.
TEST(PeerReplayLog, AFullFileEndsTheRecording) {
  MemoryReplaySink sink;
  ReplayLogWriter writer(sink, PeerHeader(1), TimePoint{});
  writer.Begin(TimePoint{}, 1, 0);
  const std::vector<std::byte> state(kReplayKeyframeBytesMax);
  const std::array<std::uint32_t, 1> word = {1};
  for (int i = 0; i < 130; ++i) {
    writer.AddKeyframe(TimePoint{}, state);
    writer.AddFrame(TimePoint{}, word, 0);
  }
  EXPECT_THAT(writer.status(), StatusIs(absl::StatusCode::kResourceExhausted));
  EXPECT_EQ(sink.full, 1);
  EXPECT_LE(sink.bytes.size(), kReplayBytesMax);
  EXPECT_GT(sink.bytes.size() + 2 * state.size(), kReplayBytesMax);
  absl::StatusOr<ReplayLogReader> log = ReplayLogReader::Open(sink.bytes, true);
  ASSERT_TRUE(log.ok()) << log.status();
  EXPECT_TRUE(log->torn_at().has_value());
}

TEST(PeerReplayLog, PinnedBytes) {
  MemoryReplaySink sink;
  ReplayLogWriter writer(sink, PeerHeader(2, 1), TimePoint{});
  writer.Begin(TimePoint{}, 2, 4);
  writer.AddHash(TimePoint{}, 0xaabbccdd);
  const std::array<std::uint32_t, 2> first = {0, 0};
  const std::array<std::uint32_t, 2> second = {1, 200};
  writer.AddFrame(TimePoint{}, first, 0);
  writer.AddFrame(TimePoint{} + kFrameTime, first, 0);
  writer.AddFrame(TimePoint{} + 2 * kFrameTime, second, 1);
  const std::array<std::byte, 3> state = {std::byte{1}, std::byte{2},
                                          std::byte{3}};
  writer.AddKeyframe(TimePoint{} + 3 * kFrameTime, state);
  writer.Finish();
  EXPECT_EQ(test::Hex(std::span(sink.bytes).subspan(68)),
            "011a0000000000000000000000"
            "c100020403"
            "61000000ddccbbaa"
            "80000200"
            "80cd02010701c80101"
            "d26e71d1"
            "0203000000f301000003000000"
            "010203"
            "fda3f56a"
            "0401000000f301000003000000"
            "04"
            "f94a9a39");
}

}  // namespace
}  // namespace parlor::lockstep
