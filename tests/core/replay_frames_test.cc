// What frames come to, by rules that a peer has: small recordings of rooms, in
// words. That real peers ran them so, the random matches check
// (tests/transports, tests/host).
#include "parlor/lockstep/replay_frames.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "parlor/lockstep/replay_log.h"
#include "parlor/status.h"
#include "support/replay_bytes.h"
#include "support/status_matchers.h"

namespace parlor::lockstep {
namespace {

using ::testing::HasSubstr;

// A seat's INPUTs of some frames, each as its own number as its word.
struct Said {
  int seat;
  std::uint32_t first;
  std::uint32_t last;
};

// Of two seats, what each had said last.
struct Last {
  std::uint32_t first;
  std::uint32_t last;
};

ReplayKept KeptAs(std::initializer_list<Last> lasts, std::uint8_t mode = 0) {
  ReplayKept kept;
  kept.mode = mode;
  for (const Last& said : lasts) {
    const auto slot = static_cast<std::uint8_t>(kept.seats.size());
    ReplaySeat& seat = kept.seats.emplace_back();
    seat.last_input = said.last;
    for (std::uint32_t f = said.first; f <= said.last; ++f) {
      seat.inputs.push_back(
          Encode({.kind = Kind::kInput, .slot = slot, .frame = f, .value = f}));
    }
  }
  return kept;
}

// A room of `players` seats, all taken, or as it was kept.
class Room {
 public:
  explicit Room(int players, int delay,
                const std::optional<ReplayKept>& kept = std::nullopt)
      : writer_(sink_, Header(players, delay), TimePoint{}, kept) {
    if (kept) return;
    for (int s = 0; s < players; ++s) Happens(ReplayKind::kJoin, s);
    ReplayEvent begin;
    begin.kind = ReplayKind::kBegin;
    begin.players = players;
    begin.taken = (1u << players) - 1;
    writer_.Add(TimePoint{}, begin);
  }

  Room& Says(const Said& said) {
    for (std::uint32_t f = said.first; f <= said.last; ++f) {
      writer_.AddMessage(TimePoint{},
                         Encode({.kind = Kind::kInput,
                                 .slot = static_cast<std::uint8_t>(said.seat),
                                 .frame = f,
                                 .value = f}));
    }
    return *this;
  }
  Room& Happens(ReplayKind kind, int seat) {
    ReplayEvent event;
    event.kind = kind;
    event.seat = seat;
    writer_.Add(TimePoint{}, event);
    return *this;
  }
  Room& Leaves(int seat) { return Happens(ReplayKind::kLeave, seat); }
  Room& Returns(int seat) { return Happens(ReplayKind::kResume, seat); }

  ReplayLogReader Log() {
    writer_.Finish();
    absl::StatusOr<ReplayLogReader> log = ReplayLogReader::Open(sink_.bytes);
    EXPECT_TRUE(log.ok()) << log.status();
    return *std::move(log);
  }

 private:
  static ReplayHeader Header(int players, int delay) {
    ReplayHeader header{.seed = 3, .size = players};
    header.game.delay = delay;
    return header;
  }

  test::MemoryReplaySink sink_;
  ReplayLogWriter writer_;
};

// "2..5: 2,0 3,b": the range and, of each frame, the words; b is a bot.
std::string Text(ReplayFrames& frames) {
  std::ostringstream out;
  out << frames.begin() << ".." << frames.end() << ":";
  ReplayFrame frame;
  for (std::uint32_t f = frames.begin(); frames.Read(f, frame); ++f) {
    char between = ' ';
    for (int s = 0; s < frames.players(); ++s) {
      out << between;
      between = ',';
      if ((frame.bots >> s & 1) != 0) {
        out << 'b';
      } else {
        out << frame.inputs[static_cast<std::size_t>(s)];
      }
    }
  }
  return out.str();
}

std::string FramesOf(Room& room) {
  ReplayLogReader log = room.Log();
  absl::StatusOr<ReplayFrames> frames = ReplayFrames::Of(log);
  EXPECT_TRUE(frames.ok()) << frames.status();
  return Text(*frames);
}

TEST(ReplayFrames, BelowTheDelayAreZeroAndGoAsFarAsAllHaveSaid) {
  Room room(2, 2);
  room.Says({0, 2, 5}).Says({1, 2, 3});
  EXPECT_EQ(FramesOf(room), "0..4: 0,0 0,0 2,2 3,3");
}

TEST(ReplayFrames, OfAMatchThatSaidNothingAreThoseBelowTheDelay) {
  Room room(2, 2);
  EXPECT_EQ(FramesOf(room), "0..2: 0,0 0,0");
}

TEST(ReplayFrames, TheDelayIsThatOfMostWhereNobodyTells) {
  Room room(3, 0);
  room.Says({1, 0, 3}).Says({0, 2, 4}).Says({2, 2, 4});
  ReplayLogReader log = room.Log();
  EXPECT_EQ(log.delay(), 2);
  absl::StatusOr<ReplayFrames> frames = ReplayFrames::Of(log);
  ASSERT_TRUE(frames.ok());
  EXPECT_EQ(Text(*frames), "0..4: 0,0,0 0,0,0 2,2,2 3,3,3");
}

TEST(ReplayFrames, ABotHasASeatThatLeftFromItsFirstMissingFrame) {
  Room room(2, 1);
  room.Says({0, 1, 2}).Says({1, 1, 3}).Leaves(1).Says({0, 3, 5});
  EXPECT_EQ(FramesOf(room), "0..6: 0,0 1,1 2,2 3,3 4,b 5,b");
}

TEST(ReplayFrames, ASeatThatSkipsAFrameStallsAllUntilItLeaves) {
  Room stalls(2, 1);
  stalls.Says({0, 1, 5}).Says({1, 1, 2}).Says({1, 4, 9});
  EXPECT_EQ(FramesOf(stalls), "0..3: 0,0 1,1 2,2");
  Room leaves(2, 1);
  leaves.Says({0, 1, 4}).Says({1, 1, 2}).Says({1, 4, 9}).Leaves(1);
  EXPECT_EQ(FramesOf(leaves), "0..5: 0,0 1,1 2,2 3,b 4,b");
}

TEST(ReplayFrames, ASeatThatBeginsTooLateIsABotFromTheDelayOn) {
  Room room(2, 1);
  room.Says({1, 3, 5}).Says({0, 1, 3}).Leaves(1);
  EXPECT_EQ(FramesOf(room), "0..4: 0,0 1,b 2,b 3,b");
}

TEST(ReplayFrames, WhereAllHaveLeftTheLastOfThemPlayedOn) {
  Room room(2, 1);
  room.Says({0, 1, 2}).Says({1, 1, 2}).Leaves(0).Says({1, 3, 4}).Leaves(1);
  EXPECT_EQ(FramesOf(room), "0..5: 0,0 1,1 2,2 b,3 b,4");
}

TEST(ReplayFrames, ThereAreNoneWithoutAMatch) {
  test::MemoryReplaySink sink;
  ReplayLogWriter writer(sink, {.size = 2}, TimePoint{});
  writer.Finish();
  absl::StatusOr<ReplayLogReader> log = ReplayLogReader::Open(sink.bytes);
  ASSERT_TRUE(log.ok()) << log.status();
  EXPECT_THAT(ReplayFrames::Of(*log).status(),
              StatusIs(absl::StatusCode::kFailedPrecondition));
}

// --- After a restart

TEST(ReplayFrames, OfARoomThatWasTakenBackBeginWhereAllAreKept) {
  Room room(2, 1, KeptAs({{5, 8}, {4, 7}}, 0));
  room.Returns(0).Returns(1).Says({0, 9, 10}).Says({1, 8, 9});
  EXPECT_EQ(FramesOf(room), "5..10: 5,5 6,6 7,7 8,8 9,9");
}

TEST(ReplayFrames, LeavesCountInARoomThatWasTakenBack) {
  Room room(2, 1, KeptAs({{5, 8}, {5, 7}}, 0));
  room.Returns(0).Leaves(1).Says({0, 9, 10});
  EXPECT_EQ(FramesOf(room), "5..11: 5,5 6,6 7,7 8,b 9,b 10,b");
}

// The next process has kept more or less than what the first recording has,
// and its players say some again.
TEST(ReplayFrames, GoOnWithTheNextProcess) {
  for (const std::uint32_t kept : {4u, 6u, 8u}) {
    SCOPED_TRACE(kept);
    Room before(2, 1);
    before.Says({0, 1, 6}).Says({1, 1, 6});
    ReplayLogReader log = before.Log();
    absl::StatusOr<ReplayFrames> frames = ReplayFrames::Of(log);
    ASSERT_TRUE(frames.ok());
    Room after(2, 1, KeptAs({{1, kept}, {1, kept}}, 0));
    const std::uint32_t next = kept + 1;
    after.Returns(0).Returns(1).Says({0, next, 9}).Says({1, next, 9}).Leaves(1);
    ReplayLogReader more = after.Log();
    ASSERT_EQ(frames->Append(more), absl::OkStatus());
    EXPECT_EQ(Text(*frames), "0..10: 0,0 1,1 2,2 3,3 4,4 5,5 6,6 7,7 8,8 9,9");
  }
}

// Who has heard it skip a frame takes none of it any more, though the room that
// was taken back has forgotten that.
TEST(ReplayFrames, ASeatThatSkippedAFrameStaysBehindAfterARestart) {
  Room before(2, 1);
  before.Says({0, 1, 4}).Says({1, 1, 2}).Says({1, 4, 4});
  ReplayLogReader log = before.Log();
  absl::StatusOr<ReplayFrames> frames = ReplayFrames::Of(log);
  ASSERT_TRUE(frames.ok());
  Room after(2, 1, KeptAs({{1, 4}, {1, 2}}));
  after.Returns(1).Says({1, 3, 9});
  ReplayLogReader more = after.Log();
  ASSERT_EQ(frames->Append(more), absl::OkStatus());
  EXPECT_EQ(Text(*frames), "0..3: 0,0 1,1 2,2");
}

TEST(ReplayFrames, DoNotGoOnAcrossAHole) {
  Room before(2, 1);
  before.Says({0, 1, 6}).Says({1, 1, 6});
  ReplayLogReader log = before.Log();
  absl::StatusOr<ReplayFrames> frames = ReplayFrames::Of(log);
  ASSERT_TRUE(frames.ok());
  const std::string alone = Text(*frames);
  Room after(2, 1, KeptAs({{1, 6}, {1, 6}}, 0));
  after.Returns(0).Returns(1).Says({0, 8, 9}).Says({1, 9, 9});
  ReplayLogReader more = after.Log();
  const absl::Status status = frames->Append(more);
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_THAT(StatusText(status), HasSubstr("frames from 7 up to 9 are in"));
  EXPECT_EQ(Text(*frames), alone);
  frames = ReplayFrames::Of(more);
  ASSERT_TRUE(frames.ok());
  EXPECT_EQ(Text(*frames), "9..10: 9,9");
}

TEST(ReplayFrames, DoNotGoOnWithAnotherMatch) {
  Room before(2, 1);
  before.Says({0, 1, 6}).Says({1, 1, 6}).Leaves(1);
  ReplayLogReader log = before.Log();
  absl::StatusOr<ReplayFrames> frames = ReplayFrames::Of(log);
  ASSERT_TRUE(frames.ok());
  Room anew(2, 1);
  ReplayLogReader other = anew.Log();
  EXPECT_THAT(StatusText(frames->Append(other)),
              HasSubstr("begins with a match of its own"));
  Room back(2, 1, KeptAs({{1, 6}, {1, 6}}, 0));
  ReplayLogReader again = back.Log();
  EXPECT_THAT(StatusText(frames->Append(again)),
              HasSubstr("seat 1 had left before"));
  Room mode(2, 1, KeptAs({{1, 6}, {1, 6}}, 1));
  ReplayLogReader differs = mode.Log();
  EXPECT_THAT(StatusText(frames->Append(differs)),
              HasSubstr("it is another match's"));
}

}  // namespace
}  // namespace parlor::lockstep
