// Replay logs as an enemy writes them: with right checksums, so that what is
// behind those is tested.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lockstep/replay_layout.h"
#include "parlor/lockstep/replay_log.h"
#include "parlor/status.h"
#include "support/hex.h"
#include "support/replay_bytes.h"

namespace parlor::lockstep {
namespace {

using test::FromHex;
using test::Resealed;
using ::testing::HasSubstr;

std::string WhyRefused(std::span<const std::byte> bytes) {
  const absl::StatusOr<ReplayLogReader> reader = ReplayLogReader::Open(bytes);
  return reader.ok() ? "(accepted)" : std::string(StatusText(reader.status()));
}

// The small match of REPLAY.md.
std::vector<std::byte> Small() {
  return FromHex(
      "5041524c5245501a0200010200020000"
      "050000000100000007000000e803000000000000"
      "204e0000c0270900e093040000badb00f0000000e0010000"
      "03746f7907f31921"
      "014b0000000000000000000000"
      "a00000c0140209a10a00c100020903400a0207004101020000009f012005ac02"
      "6000000044332211a10502ee07a15a01a10a05f007066b69636b6564"
      "c2b817e90709726f6f6d2069646c65"
      "7a557d93"
      "0401000000ee0c000005000000"
      "0d"
      "89886bb8");
}

struct Forgery {
  std::string name;
  std::size_t at;  // byte to change
  std::uint8_t value;
  std::string refusal;
};

class ReplayForgery : public ::testing::TestWithParam<Forgery> {};

TEST_P(ReplayForgery, IsRefusedWithItsPlace) {
  std::vector<std::byte> bytes = Small();
  ASSERT_EQ(WhyRefused(bytes), "(accepted)");
  bytes[GetParam().at] = static_cast<std::byte>(GetParam().value);
  EXPECT_THAT(WhyRefused(Resealed(bytes)), HasSubstr(GetParam().refusal));
}

INSTANTIATE_TEST_SUITE_P(
    Fields, ReplayForgery,
    ::testing::Values(
        Forgery{"Magic", 7, 0x1b, "byte 0: not a parlor replay"},
        Forgery{"Version1", 8, 1, "byte 8: format version 1, this program"},
        Forgery{"Version3", 8, 3, "byte 8: format version 3, this program"},
        Forgery{"Source", 10, 3, "byte 10: recorded by source 3"},
        Forgery{"NoSeats", 11, 0, "byte 11: a room for 0 seats"},
        Forgery{"Seats33", 11, 33, "byte 11: a room for 33 seats"},
        Forgery{"RecordedBy", 12, 1, "byte 12: recorded by seat 1"},
        Forgery{"Delay32", 13, 32, "byte 13: delay 32"},
        Forgery{"Reserved", 14, 1, "byte 14: reserved"},
        Forgery{"Before1970", 35, 0x80, "byte 28: a time before"},
        Forgery{"LongName", 60, 65, "byte 60: the game's name"},
        Forgery{"StrangeName", 61, 7, "byte 60: the game's name"},
        Forgery{"ChunkType0", 68, 0, "byte 68: unknown chunk type 0"},
        Forgery{"ChunkType5", 68, 5, "byte 68: unknown chunk type 5"},
        Forgery{"ChunkTooLarge", 71, 1, "byte 69: a chunk of 65611 bytes"},
        Forgery{"ChunkEmpty", 69, 0, "byte 81: an event that is cut short"},
        Forgery{"ChunkTime", 73, 1, "byte 165: a chunk that is before"},
        Forgery{"ChunkFrame", 77, 1, "byte 77: a chunk of frame 1 where"},
        Forgery{"FirstLate", 82, 1, "byte 81: a chunk that begins before"},
        Forgery{"Kind7", 81, 0xe0, "byte 81: an event of an unknown kind"},
        Forgery{"SeatKind6", 83, 6, "byte 81: an event of a seat of an unk"},
        Forgery{"RoomKind3", 91, 0xc3, "byte 91: an event of the room of an"},
        Forgery{"JoinTwice", 88, 0xa0, "byte 88: a join to a seat not free"},
        Forgery{"JoinSeat2", 88, 0xa2, "byte 88: a seat that the room does"},
        Forgery{"StartOfNobody", 81, 0xa1, "byte 84: a START that no room"},
        Forgery{"BeginOfOne", 93, 1, "byte 91: a match of other than"},
        Forgery{"BeginOfThree", 93, 3, "byte 91: a match of other than"},
        Forgery{"BeginOther", 95, 1, "byte 91: a match of other than"},
        Forgery{"InputSeat2", 96, 0x42, "byte 96: an INPUT that no room"},
        Forgery{"InputTwice", 101, 0x40, "byte 101: an INPUT that no room"},
        Forgery{"InputNoFirst", 106, 0x02, "byte 106: an INPUT that follows"},
        Forgery{"HashSeat31", 113, 0x7f, "byte 113: a HASH that no room"},
        Forgery{"ResumeSeat2", 126, 0xa2, "byte 126: a seat that the room"},
        Forgery{"PutOutTwice", 126, 0xa5, "byte 126: a seat that the room"},
        Forgery{"StrangeText", 135, 1, "byte 129: a reason that cannot be"},
        Forgery{"LongText", 134, 124, "byte 129: an event that is cut short"},
        Forgery{"EndCount", 173, 14, "byte 173: the end counts 14 events"}),
    [](const auto& row) { return row.param.name; });

// Two have joined, and their match begins; then what is given.
struct Events {
  std::string name;
  std::string hex;
  std::string refusal;
};

class ReplayEvents : public ::testing::TestWithParam<Events> {};

std::vector<std::byte> LogOf(ReplaySource source, const std::string& payload) {
  std::vector<std::byte> bytes;
  replay::AppendHeader({.source = source, .size = 2}, bytes);
  replay::AppendChunk(bytes.size(), {.type = replay::ChunkType::kEvents},
                      FromHex(payload), bytes);
  return bytes;
}

// As torn: what is wrong is said before the end is missed.
TEST_P(ReplayEvents, AreRefusedOrNot) {
  const std::string begin = "a00000a10000c100020003";
  const std::string why =
      WhyRefused(LogOf(ReplaySource::kRoom, begin + GetParam().hex));
  EXPECT_THAT(why, HasSubstr(GetParam().refusal));
}

INSTANTIATE_TEST_SUITE_P(
    Order, ReplayEvents,
    ::testing::Values(
        Events{"Input", "4000020700", "was cut off here"},
        Events{"InputAgain", "40000207004000020700", "that no room relays"},
        Events{"InputBack", "40000207004000010700", "that no room relays"},
        Events{"InputLast", "4000ffffffff0f0700", "was cut off here"},
        Events{"InputAfterLast", "4000ffffffff0f07000000", "follows nothing"},
        Events{"FrameTooLarge", "4000ffffffff1f0700", "cut short or malf"},
        Events{"LongVarint", "400082000700", "cut short or malformed"},
        Events{"TimeTooLarge", "40ffffffff7f020700", "cut short or malf"},
        Events{"InputLongForm", "40000207004000030800", "in a longer form"},
        Events{"WordLongForm", "4000020700200007", "in a longer form"},
        Events{"HashAgain", "600000000100000060000000010000",
               "cut short or malformed"},
        Events{"HashTwice", "60000000010000006000000002000000",
               "a HASH that no room relays"},
        Events{"JoinInMatch", "a00000", "a join to a seat not free"},
        Events{"StartInMatch", "c0000000", "a START that no room waits"},
        Events{"BeginTwice", "c100020003", "the match begins again"},
        Events{"DropTwice", "a10002ee07a10002ee07", "a drop of nobody's"},
        Events{"AwaySpeaks", "a10002ee074100020000", "that no room relays"},
        Events{"ResumeLeft", "a10004a10001", "a resume of a seat that"},
        Events{"LeftSpeaks", "a100044100020000", "that no room relays"},
        Events{"LeaveTwice", "a10004a10004", "a leave of a seat that nobody"},
        Events{"Takeover", "a10001a10001", "was cut off here"},
        Events{"AfterEnd", "c2000000a10004", "after the room's end"},
        Events{"EndTwice", "c2000000c2000000", "after the room's end"},
        Events{"Frames", "80000100", "frames where nobody runs any"}),
    [](const auto& row) { return row.param.name; });

class PeerEvents : public ::testing::TestWithParam<Events> {};

TEST_P(PeerEvents, AreRefusedOrNot) {
  const std::string why =
      WhyRefused(LogOf(ReplaySource::kPeer, "c100020003" + GetParam().hex));
  EXPECT_THAT(why, HasSubstr(GetParam().refusal));
}

INSTANTIATE_TEST_SUITE_P(
    Order, PeerEvents,
    ::testing::Values(
        Events{"Frames", "80000100", "was cut off here"},
        Events{"NoFrames", "80000000", "cut short or malformed"},
        Events{"Most", "8000e80700", "was cut off here"},
        Events{"TooMany", "8000e90700", "cut short or malformed"},
        Events{"InTwo", "8000010080000100", "frames in two pieces"},
        Events{"AfterMost", "8000e8070080000100", "was cut off here"},
        Events{"NotChanged", "8000010100", "say what has not changed"},
        Events{"ThirdSeat", "80000108", "cut short or malformed"},
        Events{"ThirdBot", "8000010404", "cut short or malformed"},
        Events{"FramesOfSeat", "81000100", "cut short or malformed"},
        Events{"Input", "4000020700", "an INPUT that no room relays"},
        Events{"Drop", "a10002ee07", "a seat that the room does not have"},
        Events{"Hash", "6000000001000000", "was cut off here"},
        Events{"HashOther", "6100000001000000", "not the peer's"},
        Events{"HashTwice", "60000000010000006000000001000000",
               "not the peer's"},
        Events{"HashAhead", "6000010001000000", "not the peer's"},
        Events{"Start", "c0000000", "a START that a peer saw"}),
    [](const auto& row) { return row.param.name; });

// --- Chunks

TEST(ReplayChunks, MayNotChangePlaces) {
  std::vector<std::byte> bytes;
  replay::AppendHeader({.size = 2}, bytes);
  const std::size_t first = bytes.size();
  replay::AppendChunk(bytes.size(), {.type = replay::ChunkType::kEvents},
                      FromHex("a00000"), bytes);
  const std::size_t size = bytes.size() - first;
  replay::AppendChunk(bytes.size(), {.type = replay::ChunkType::kEvents},
                      FromHex("a10000"), bytes);
  EXPECT_THAT(WhyRefused(bytes), HasSubstr("was cut off here"));
  const auto middle = bytes.begin() + static_cast<std::ptrdiff_t>(first + size);
  std::swap_ranges(bytes.begin() + static_cast<std::ptrdiff_t>(first), middle,
                   middle);
  EXPECT_THAT(WhyRefused(bytes), HasSubstr("does not match its checksum"));
}

TEST(ReplayChunks, NothingFollowsTheEnd) {
  std::vector<std::byte> bytes = Small();
  bytes.push_back(std::byte{1});
  EXPECT_THAT(WhyRefused(bytes), HasSubstr("byte 178: 1 byte after the end"));
}

TEST(ReplayChunks, WhatWasCutOffIsCounted) {
  std::vector<std::byte> bytes = Small();
  bytes.resize(160);  // where the end begins
  EXPECT_THAT(WhyRefused(bytes), HasSubstr("it has no end; intact before it: "
                                           "13 events"));
  bytes.push_back(std::byte{4});
  EXPECT_THAT(WhyRefused(bytes), HasSubstr("its last byte is no whole chunk"));
  bytes.push_back(std::byte{1});
  EXPECT_THAT(WhyRefused(bytes),
              HasSubstr("its last 2 bytes are no whole chunk"));
  EXPECT_THAT(WhyRefused(LogOf(ReplaySource::kRoom, "a00000")),
              HasSubstr("intact before it: 1 event"));
}

TEST(ReplayChunks, KeyframesAreAPeersAndOneAFrame) {
  for (const ReplaySource source : {ReplaySource::kPeer, ReplaySource::kRoom}) {
    std::vector<std::byte> bytes =
        LogOf(source, source == ReplaySource::kPeer ? "c100020003" : "a00000");
    const replay::ChunkHead head{.type = replay::ChunkType::kKeyframe};
    replay::AppendChunk(bytes.size(), head, {}, bytes);
    EXPECT_THAT(WhyRefused(bytes),
                HasSubstr(source == ReplaySource::kPeer ? "was cut off here"
                                                        : "a keyframe where"));
    replay::AppendChunk(bytes.size(), head, {}, bytes);
    EXPECT_THAT(WhyRefused(bytes), HasSubstr("a keyframe where there is none"));
  }
}

// What was kept comes first, and is the room's that the header names.
TEST(ReplayChunks, WhatWasKeptIsChecked) {
  const ReplayHeader header{.seed = 4, .size = 2};
  ReplayKept kept{.mode = 1, .age_ms = 5, .seats = {{}, {}}};
  kept.seats[1].left = true;
  const auto log_of = [&](const ReplayHeader& in_it, std::size_t at,
                          std::uint8_t value) {
    std::vector<std::byte> payload;
    replay::AppendKept(in_it, kept, payload);
    if (at > 0) payload[at] = static_cast<std::byte>(value);
    std::vector<std::byte> bytes;
    replay::AppendHeader(header, bytes);
    replay::AppendChunk(bytes.size(), {.type = replay::ChunkType::kKept},
                        payload, bytes);
    return bytes;
  };
  const std::vector<std::byte> right = log_of(header, 0, 0);
  EXPECT_THAT(WhyRefused(right), HasSubstr("was cut off here"));
  const ReplayHeader other{.seed = 5, .size = 2};
  EXPECT_THAT(WhyRefused(log_of(other, 0, 0)), HasSubstr("not of the header"));
  // A token would be in its place.
  EXPECT_THAT(WhyRefused(log_of(header, 16, 9)), HasSubstr("seat 0: not its"));
  EXPECT_THAT(WhyRefused(log_of(header, 0, 0)), HasSubstr("was cut off here"));
  EXPECT_THAT(WhyRefused(log_of(header, 2, 3)), HasSubstr("no match of its"));

  std::vector<std::byte> twice = right;
  std::vector<std::byte> payload;
  replay::AppendKept(header, kept, payload);
  replay::AppendChunk(twice.size(), {.type = replay::ChunkType::kKept}, payload,
                      twice);
  EXPECT_THAT(WhyRefused(twice), HasSubstr("and not at the begin"));
}

}  // namespace
}  // namespace parlor::lockstep
