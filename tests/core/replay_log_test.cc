#include "parlor/lockstep/replay_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <string>
#include <utility>
#include <vector>

#include "parlor/byte_io.h"
#include "parlor/random.h"
#include "parlor/status.h"
#include "support/hex.h"
#include "support/replay_again.h"
#include "support/replay_bytes.h"
#include "support/seed.h"
#include "support/status_matchers.h"

namespace parlor::lockstep {
namespace {

using test::Hex;
using test::MemoryReplaySink;
using test::ReplayEnds;
using test::Resealed;
using ::testing::StartsWith;

ReplayHeader RoomHeader(int size) {
  return {.source = ReplaySource::kRoom,
          .seed = 5,
          .size = size,
          .game = {.name = "toy", .rules_version = 1, .delay = 2},
          .room = 7,
          .started_unix_ms = 1'000,
          .hold_ms = 20'000,
          .lobby_ms = 600'000,
          .idle_ms = 300'000,
          .lifetime_ms = 14'400'000,
          .message_rate_per_s = 240,
          .message_burst = 480};
}

ReplayEvent Event(ReplayKind kind, int seat = 0) {
  ReplayEvent event;
  event.kind = kind;
  event.seat = seat;
  return event;
}

ReplayEvent Input(int seat, std::uint32_t frame, std::uint32_t word) {
  ReplayEvent event = Event(ReplayKind::kInput, seat);
  event.frame = frame;
  event.value = word;
  return event;
}

ReplayEvent Hash(int seat, std::uint32_t frame, std::uint32_t value) {
  ReplayEvent event = Input(seat, frame, value);
  event.kind = ReplayKind::kHash;
  return event;
}

ReplayEvent Begin(int players, std::uint32_t taken) {
  ReplayEvent event = Event(ReplayKind::kBegin);
  event.players = players;
  event.mode = 9;
  event.taken = taken;
  return event;
}

ReplayEvent Leave(int seat, ReplayCause cause, CloseCode code,
                  std::string_view text = "") {
  ReplayEvent event = Event(ReplayKind::kLeave, seat);
  event.cause = cause;
  event.code = code;
  event.text = text;
  return event;
}

// What a writer was told, as a reader should tell it.
struct Recording {
  ReplayHeader header;
  std::vector<ReplayEvent> events;
  std::vector<std::byte> bytes;
};

// A match of two, with one event of nearly every kind, that REPLAY.md shows.
Recording Small() {
  Recording out;
  out.header = RoomHeader(2);
  ReplayEvent drop = Event(ReplayKind::kDrop, 1);
  drop.code = close_code::kDropped;
  ReplayEvent start = Event(ReplayKind::kStart);
  start.players = 2;
  start.mode = 9;
  ReplayEvent end = Event(ReplayKind::kEnd);
  end.code = close_code::kGoingAway;
  end.text = "room idle";
  const std::pair<int, ReplayEvent> said[] = {
      {0, Event(ReplayKind::kJoin, 0)},
      {20, start},
      {30, Event(ReplayKind::kJoin, 1)},
      {30, Begin(2, 3)},
      {40, Input(0, 2, 7)},
      {41, Input(1, 2, 0)},
      {200, Input(0, 3, 7)},
      {205, Input(0, 4, 300)},
      {205, Hash(0, 0, 0x11223344)},
      {210, drop},
      {300, Event(ReplayKind::kResume, 1)},
      {310, Leave(1, ReplayCause::kPutOut, 1008, "kicked")},
      {3'310, end},
  };
  MemoryReplaySink sink;
  ReplayLogWriter writer(sink, out.header, TimePoint{});
  for (auto [ms10, event] : said) {
    event.at = ms10 * kReplayTick;
    writer.Add(TimePoint{} + event.at, event);
    out.events.push_back(event);
  }
  writer.Finish();
  out.bytes = sink.bytes;
  return out;
}

void ExpectEvents(ReplayLogReader& reader, const Recording& recording,
                  std::size_t count) {
  ReplayEvent event;
  for (std::size_t i = 0; i < count; ++i) {
    ASSERT_TRUE(reader.Next(event)) << i;
    ASSERT_EQ(event, recording.events[i]) << i;
  }
  EXPECT_FALSE(reader.Next(event));
}

std::string WhyRefused(std::span<const std::byte> bytes) {
  const absl::StatusOr<ReplayLogReader> reader = ReplayLogReader::Open(bytes);
  return reader.ok() ? "(accepted)" : std::string(StatusText(reader.status()));
}

TEST(ReplayLog, SmallOneIsPinned) {
  const Recording small = Small();
  EXPECT_EQ(Hex(small.bytes),
            "5041524c5245501a0200010200020000"
            "050000000100000007000000e803000000000000"
            "204e0000c0270900e093040000badb00f0000000e0010000"
            "03746f7907f31921"
            "014b0000000000000000000000"
            "a00000"
            "c0140209"
            "a10a00"
            "c100020903"
            "400a020700"
            "4101020000"
            "009f01"
            "2005ac02"
            "6000000044332211"
            "a10502ee07"
            "a15a01"
            "a10a05f007066b69636b6564"
            "c2b817e90709726f6f6d2069646c65"
            "7a557d93"
            "0401000000ee0c000005000000"
            "0d"
            "89886bb8");
  absl::StatusOr<ReplayLogReader> reader = ReplayLogReader::Open(small.bytes);
  ASSERT_TRUE(reader.ok()) << reader.status();
  EXPECT_EQ(reader->header(), small.header);
  EXPECT_EQ(reader->match()->players, 2);
  EXPECT_EQ(reader->match()->mode, 9);
  EXPECT_EQ(reader->length(), 3'310 * kReplayTick);
  EXPECT_FALSE(reader->torn_at().has_value());
  ExpectEvents(*reader, small, small.events.size());
  reader->Rewind();
  ExpectEvents(*reader, small, small.events.size());
  EXPECT_EQ(Resealed(small.bytes), small.bytes);
}

// --- Any recording

// Events that a room can have had, at random: the way of each through the room
// is drawn as a lobby, a match and its seats allow.
class RoomScript {
 public:
  explicit RoomScript(std::uint64_t seed) : random_(seed) {
    out_.header = RoomHeader(1 + static_cast<int>(random_.Below(8)));
    if (random_.Chance(1, 3)) out_.header.game = {};
  }

  Recording Run(int events) {
    ReplayLogWriter writer(sink_, out_.header, TimePoint{});
    while (static_cast<int>(out_.events.size()) < events) {
      if (random_.Chance(1, 20)) now_ += Duration{random_.Below(2'000'000'000)};
      now_ += Duration{random_.Below(9'000'000)};
      ReplayEvent event = Draw();
      event.at = now_ / kReplayTick * kReplayTick;
      writer.Add(TimePoint{} + now_, event);
      out_.events.push_back(event);
      if (random_.Chance(1, 50)) writer.Flush();
    }
    writer.Finish();
    EXPECT_TRUE(writer.status().ok());
    EXPECT_EQ(writer.bytes(), sink_.bytes.size());
    out_.bytes = sink_.bytes;
    return out_;
  }

 private:
  enum class Is : std::uint8_t { kFree, kHere, kAway, kLeft };

  ReplayEvent Draw() {
    if (!playing_) return DrawLobby();
    const int s =
        static_cast<int>(random_.Below(static_cast<std::uint32_t>(players_)));
    const auto i = static_cast<std::size_t>(s);
    if (is_[i] == Is::kHere && !random_.Chance(1, 30)) return DrawMessage(s);
    if (is_[i] == Is::kHere && random_.Chance(1, 2)) {
      is_[i] = Is::kAway;
      ReplayEvent drop = Event(ReplayKind::kDrop, s);
      drop.code = close_code::kInternal;
      return drop;
    }
    // One stays: what else would there be to draw.
    if (s > 0 && is_[i] == Is::kAway && random_.Chance(1, 4)) {
      is_[i] = Is::kLeft;
      return Leave(s, ReplayCause::kHoldOver, 0);
    }
    if (is_[i] == Is::kLeft) return DrawMessage(0);
    is_[i] = Is::kHere;
    return Event(ReplayKind::kResume, s);
  }

  ReplayEvent DrawMessage(int s) {
    if (is_[static_cast<std::size_t>(s)] != Is::kHere) {
      is_[static_cast<std::size_t>(s)] = Is::kHere;
      return Event(ReplayKind::kResume, s);
    }
    const bool hash = random_.Chance(1, 20);
    std::uint32_t& next = (hash ? hash_ : input_)[static_cast<std::size_t>(s)];
    next += random_.Chance(1, 40) ? random_.Below(1'000'000) : 1;
    if (random_.Chance(1, 5)) word_ = random_.Next() >> random_.Below(32);
    ReplayEvent event =
        hash ? Hash(s, next, random_.Next()) : Input(s, next, word_);
    if (random_.Chance(1, 60)) event.byte2 = 200;
    if (random_.Chance(1, 60)) event.byte3 = 3;
    return event;
  }

  ReplayEvent DrawLobby() {
    const auto s = random_.Below(static_cast<std::uint32_t>(out_.header.size));
    std::uint32_t taken = 0;
    for (std::size_t i = 0; i < is_.size(); ++i) {
      if (is_[i] == Is::kHere) taken |= 1u << i;
    }
    if (is_[s] == Is::kFree) {
      is_[s] = Is::kHere;
      return Event(ReplayKind::kJoin, static_cast<int>(s));
    }
    if (random_.Chance(1, 4)) {
      is_[s] = Is::kFree;
      return Leave(static_cast<int>(s), ReplayCause::kClosed, 1001);
    }
    playing_ = true;
    players_ = std::popcount(taken);
    is_.fill(Is::kFree);
    std::fill_n(is_.begin(), players_, Is::kHere);
    return Begin(players_, taken);
  }

  Random random_;
  Recording out_;
  MemoryReplaySink sink_;
  Duration now_{};
  bool playing_ = false;
  int players_ = 0;
  std::array<Is, 8> is_{};
  std::array<std::uint32_t, 8> input_{};
  std::array<std::uint32_t, 8> hash_{};
  std::uint32_t word_ = 0;
};

TEST(ReplayLog, WhatARoomDidIsReadAgain) {
  const std::uint64_t seed = test::TestSeed();
  for (std::uint64_t round = 0; round < 30; ++round) {
    SCOPED_TRACE("seed " + std::to_string(seed) + " round " +
                 std::to_string(round));
    const Recording recording = RoomScript(seed * 1'000 + round).Run(2'000);
    absl::StatusOr<ReplayLogReader> reader =
        ReplayLogReader::Open(recording.bytes);
    ASSERT_TRUE(reader.ok()) << reader.status();
    EXPECT_EQ(reader->header(), recording.header);
    EXPECT_EQ(reader->events(), recording.events.size());
    EXPECT_EQ(reader->length(), recording.events.back().at);
    ExpectEvents(*reader, recording, recording.events.size());
    EXPECT_EQ(Resealed(recording.bytes), recording.bytes);
    EXPECT_EQ(test::WrittenAgain(*reader, recording.bytes), recording.bytes);
  }
}

TEST(ReplayLog, AnyMomentIsFound) {
  const Recording recording = RoomScript(11).Run(3'000);
  absl::StatusOr<ReplayLogReader> reader =
      ReplayLogReader::Open(recording.bytes);
  ASSERT_TRUE(reader.ok()) << reader.status();
  ReplayEvent event;
  std::uint32_t said = 0;
  for (std::size_t i = 0; i < recording.events.size(); ++i) {
    SCOPED_TRACE(i);
    const Duration at = recording.events[i].at;
    const auto first = std::ranges::find_if(
        recording.events, [&](const ReplayEvent& e) { return e.at >= at; });
    reader->SeekTime(at);
    ASSERT_TRUE(reader->Next(event));
    ASSERT_EQ(event, *first);
    if (recording.events[i].kind != ReplayKind::kInput) continue;
    // The first of all seats' that reaches a frame is still to come.
    const std::uint32_t frame = recording.events[i].frame;
    if (frame < said) continue;
    said = frame + 1;
    reader->SeekFrame(frame);
    bool found = false;
    while (!found && reader->Next(event)) found = event == recording.events[i];
    ASSERT_TRUE(found);
  }
  reader->SeekTime(recording.events.back().at + kReplayTick);
  EXPECT_FALSE(reader->Next(event));
  reader->SeekTime(Duration{-5});
  ASSERT_TRUE(reader->Next(event));
  EXPECT_EQ(event, recording.events.front());
}

// --- Damage

TEST(ReplayLog, TruncatedAnywhereIsRefusedAndItsPrefixReadable) {
  const Recording recording = RoomScript(12).Run(300);
  const std::vector<std::size_t> ends = ReplayEnds(recording.bytes);
  ASSERT_GT(ends.size(), 10u);
  ASSERT_EQ(ends.back(), recording.bytes.size());
  for (std::size_t size = 0; size < recording.bytes.size(); ++size) {
    SCOPED_TRACE(size);
    const auto bytes = std::span(recording.bytes).first(size);
    const absl::StatusOr<ReplayLogReader> whole = ReplayLogReader::Open(bytes);
    ASSERT_FALSE(whole.ok());
    absl::StatusOr<ReplayLogReader> partial =
        ReplayLogReader::Open(bytes, true);
    if (size < ends.front()) {
      EXPECT_FALSE(partial.ok());
      continue;
    }
    const std::size_t cut = *(std::ranges::upper_bound(ends, size) - 1);
    EXPECT_THAT(whole.status(), StatusIs(absl::StatusCode::kDataLoss));
    EXPECT_THAT(StatusText(whole.status()),
                StartsWith("byte " + std::to_string(cut) + ": the recording"));
    ASSERT_TRUE(partial.ok()) << partial.status();
    EXPECT_EQ(partial->torn_at(), cut);
    EXPECT_EQ(partial->warning(), StatusText(whole.status()));
    ExpectEvents(*partial, recording, partial->events());
    // A system that lost its power leaves zeros.
    std::vector<std::byte> zeros(bytes.begin(), bytes.end());
    std::fill(zeros.begin() + static_cast<std::ptrdiff_t>(cut), zeros.end(),
              std::byte{});
    zeros.resize(size + 100);
    EXPECT_THAT(ReplayLogReader::Open(zeros).status(),
                StatusIs(absl::StatusCode::kDataLoss));
  }
}

TEST(ReplayLog, EveryFlippedBitIsRefusedWithItsPlace) {
  const Recording recording = RoomScript(13).Run(100);
  for (std::size_t at = 0; at < recording.bytes.size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      SCOPED_TRACE("byte " + std::to_string(at) + " bit " +
                   std::to_string(bit));
      std::vector<std::byte> bytes = recording.bytes;
      bytes[at] ^= static_cast<std::byte>(1 << bit);
      EXPECT_THAT(WhyRefused(bytes), StartsWith("byte "));
      absl::StatusOr<ReplayLogReader> partial =
          ReplayLogReader::Open(bytes, true);
      if (!partial.ok()) continue;
      ASSERT_TRUE(partial->torn_at().has_value());
      EXPECT_LE(*partial->torn_at(), at);
      ExpectEvents(*partial, recording, partial->events());
    }
  }
}

}  // namespace
}  // namespace parlor::lockstep
