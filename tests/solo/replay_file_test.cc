#include "replay_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "parlor/byte_io.h"
#include "parlor/random.h"
#include "parlor/status.h"
#include "solo/replay_seal.h"

namespace parlor::solo {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

struct Recording {
  ReplayHeader header;
  std::vector<ReplayFrame> frames;
  std::vector<std::byte> bytes;
  std::vector<std::size_t> record_ends;  // header end first
};

void AppendTaken(ReplayEncoder& encoder, Recording& out) {
  const std::span<const std::byte> taken = encoder.TakeBytes();
  out.bytes.insert(out.bytes.end(), taken.begin(), taken.end());
  out.record_ends.push_back(out.bytes.size());
}

// `frames` of random play: words that stay for a while, a bot that takes over.
Recording Record(int seats, int frames, std::uint64_t seed) {
  Random random(seed);
  Recording out;
  out.header = {.rules_version = 3,
                .seed = random.Next(),
                .seats = seats,
                .size = seats + 1,
                .mode = static_cast<std::uint8_t>(random.Next()),
                .delay = random.Between(1, 31),
                .start_hash = random.Next64()};
  ReplayEncoder encoder(out.header);
  AppendTaken(encoder, out);
  ReplayFrame frame;
  std::uint64_t hash = out.header.start_hash;
  for (int f = 0; f < frames; ++f) {
    frame.frame = static_cast<std::uint32_t>(f);
    for (int s = 0; s < seats; ++s) {
      if (random.Chance(1, 9)) {
        frame.inputs[static_cast<std::size_t>(s)] = random.Next();
      }
    }
    if (random.Chance(1, 50)) frame.bots ^= 1u << random.Below(8);
    frame.hash.reset();
    const bool full = encoder.Add(
        std::span(frame.inputs).first(static_cast<std::size_t>(seats)),
        frame.bots);
    if (full || f + 1 == frames) {
      hash = random.Next64();
      frame.hash = hash;
      encoder.CloseBlock(hash);
      AppendTaken(encoder, out);
    }
    out.frames.push_back(frame);
  }
  encoder.Finish(hash);
  AppendTaken(encoder, out);
  return out;
}

std::string WhyRefused(std::span<const std::byte> bytes) {
  const absl::StatusOr<ReplayReader> reader = ReplayReader::Open(bytes);
  return reader.ok() ? "(accepted)" : std::string(StatusText(reader.status()));
}

void ExpectFrames(ReplayReader& reader, const Recording& recording,
                  std::size_t count) {
  ReplayFrame frame;
  for (std::size_t f = 0; f < count; ++f) {
    ASSERT_TRUE(reader.Next(frame)) << f;
    EXPECT_EQ(frame, recording.frames[f]) << f;
  }
  EXPECT_FALSE(reader.Next(frame));
}

struct Shape {
  std::string name;
  int seats;
  int frames;
};

class ReplayShape : public ::testing::TestWithParam<Shape> {};

TEST_P(ReplayShape, RoundTripsTwice) {
  const Recording recording = Record(GetParam().seats, GetParam().frames, 11);
  absl::StatusOr<ReplayReader> reader = ReplayReader::Open(recording.bytes);
  ASSERT_TRUE(reader.ok()) << reader.status();
  EXPECT_EQ(reader->header(), recording.header);
  EXPECT_EQ(reader->frames(), recording.frames.size());
  EXPECT_FALSE(reader->torn_at().has_value());
  ExpectFrames(*reader, recording, recording.frames.size());
  reader->Rewind();
  ExpectFrames(*reader, recording, recording.frames.size());
}

INSTANTIATE_TEST_SUITE_P(Shapes, ReplayShape,
                         ::testing::Values(Shape{"Empty", 1, 0},
                                           Shape{"OneFrame", 1, 1},
                                           Shape{"OneBlock", 2, 30},
                                           Shape{"OneOver", 2, 31},
                                           Shape{"ThirtyTwoSeats", 32, 100},
                                           Shape{"Long", 4, 10'000}),
                         [](const auto& row) { return row.param.name; });

TEST(ReplayFile, TruncatedAnywhereIsRefusedAndItsPrefixReadable) {
  const Recording recording = Record(3, 95, 12);
  const std::size_t header_end = recording.record_ends.front();
  for (std::size_t size = 0; size < recording.bytes.size(); ++size) {
    SCOPED_TRACE(size);
    const auto bytes = std::span(recording.bytes).first(size);
    const absl::StatusOr<ReplayReader> whole = ReplayReader::Open(bytes);
    ASSERT_FALSE(whole.ok());
    absl::StatusOr<ReplayReader> partial = ReplayReader::Open(bytes, true);
    if (size < header_end) {
      EXPECT_FALSE(partial.ok());
      continue;
    }
    EXPECT_TRUE(absl::IsDataLoss(whole.status())) << whole.status();
    EXPECT_THAT(StatusText(whole.status()),
                StartsWith("byte " + std::to_string(size) + ": the file ends"));
    ASSERT_TRUE(partial.ok()) << partial.status();
    // All frames of the records before the tear, and nothing else.
    std::size_t records = 0;
    while (recording.record_ends[records + 1] <= size) ++records;
    EXPECT_EQ(partial->torn_at(), recording.record_ends[records]);
    ExpectFrames(*partial, recording, std::min<std::size_t>(records * 30, 95));
  }
}

TEST(ReplayFile, EveryFlippedBitIsRefusedWithItsPlace) {
  const Recording recording = Record(2, 65, 13);
  for (std::size_t at = 0; at < recording.bytes.size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      SCOPED_TRACE("byte " + std::to_string(at) + " bit " +
                   std::to_string(bit));
      std::vector<std::byte> bytes = recording.bytes;
      bytes[at] ^= static_cast<std::byte>(1 << bit);
      EXPECT_THAT(WhyRefused(bytes), StartsWith("byte "));
      // A length that grew can look like a tear; what is read before it is
      // still what was recorded.
      absl::StatusOr<ReplayReader> partial = ReplayReader::Open(bytes, true);
      if (partial.ok()) {
        ASSERT_TRUE(partial->torn_at().has_value());
        ExpectFrames(*partial, recording, partial->frames());
      }
    }
  }
}

// What is behind the checksums: a byte changed, and the checksums made right.
struct Forgery {
  std::string name;
  std::size_t at;  // byte to change
  std::uint8_t value;
  std::string refusal;
};

// The header, one record of one frame of two seats, and the end.
Recording Small() {
  Recording out;
  out.header = {.rules_version = 1,
                .seed = 5,
                .seats = 2,
                .size = 4,
                .mode = 9,
                .delay = 2,
                .start_hash = 77};
  ReplayEncoder encoder(out.header);
  AppendTaken(encoder, out);
  encoder.Add(std::vector<std::uint32_t>{3, 4}, 0);
  encoder.CloseBlock(88);
  AppendTaken(encoder, out);
  encoder.Finish(88);
  AppendTaken(encoder, out);
  return out;
}

class ReplayForgery : public ::testing::TestWithParam<Forgery> {};

TEST_P(ReplayForgery, IsRefused) {
  std::vector<std::byte> bytes = Small().bytes;
  bytes[GetParam().at] = static_cast<std::byte>(GetParam().value);
  EXPECT_THAT(WhyRefused(Resealed(bytes)), HasSubstr(GetParam().refusal));
}

INSTANTIATE_TEST_SUITE_P(
    Fields, ReplayForgery,
    ::testing::Values(
        Forgery{"Magic", 7, 0x1b, "byte 0: not a parlor replay"},
        Forgery{"Version", 8, 2, "byte 8: format version 2"},
        Forgery{"NoSeats", 20, 0, "byte 20: 0 seats, not 1 to 32"},
        Forgery{"Seats33", 20, 33, "byte 20: 33 seats"},
        Forgery{"SizeBelowSeats", 21, 1, "byte 21: 1 players for 2 seats"},
        Forgery{"Delay0", 23, 0, "byte 23: delay 0"},
        Forgery{"Delay32", 23, 32, "byte 23: delay 32"},
        Forgery{"Reserved", 24, 1, "byte 24: reserved"},
        Forgery{"RecordType", 48, 3, "byte 48: unknown record type 3"},
        Forgery{"RecordTooLarge", 50, 0xff, "byte 49: a record of 65296 bytes"},
        Forgery{"FirstFrame", 51, 1, "byte 51: frames from 1 on follow 0"},
        Forgery{"NoFrames", 52, 0, "byte 51: no record of 1 to 30"},
        Forgery{"Frames31", 52, 31, "byte 51: no record of 1 to 30"},
        Forgery{"RunOfNone", 53, 0, "byte 53: the bots column"},
        Forgery{"RunTooLong", 55, 2,
                "byte 55: the inputs of seat 0 are malformed"},
        Forgery{"ColumnShort", 52, 2,
                "byte 57: the inputs of seat 0 are malformed"},
        Forgery{"RunEndless", 57, 0xff, "byte 57: the inputs of seat 1"},
        Forgery{"RecordShort", 49, 23, "byte 59: the record is longer or"},
        Forgery{"EndCount", 78, 2, "byte 78: the end record counts 2 frames"},
        Forgery{"EndHash", 79, 89, "byte 78: the end record's hash"}),
    [](const auto& row) { return row.param.name; });

TEST(ReplayFile, SmallOneIsAcceptedAndPinned) {
  const Recording small = Small();
  EXPECT_EQ(WhyRefused(small.bytes), "(accepted)");
  EXPECT_EQ(WhyRefused(Resealed(small.bytes)), "(accepted)");
  std::string hex;
  for (const std::byte b : small.bytes) {
    char digits[3];
    std::snprintf(digits, sizeof digits, "%02x", static_cast<unsigned>(b));
    hex += digits;
  }
  EXPECT_EQ(hex,
            "5041524c5245501a010001000100000005000000020409020000000000000000"
            "4d000000000000006ed06f1242073b5d"
            "01100000010100010301045800000000000000c11c9c4f4f8d47b3"
            "0209000158000000000000007c9c3bc9ce0fff51");
}

TEST(ReplayFile, RefusesBytesAfterTheEndAndSwappedRecords) {
  Recording recording = Record(1, 60, 14);
  std::vector<std::byte> longer = recording.bytes;
  longer.push_back(std::byte{0});
  EXPECT_THAT(WhyRefused(longer), HasSubstr("1 bytes after the end record"));
  // The second record in the place of the first.
  std::vector<std::byte> swapped = recording.bytes;
  swapped.erase(
      swapped.begin() + static_cast<std::ptrdiff_t>(recording.record_ends[0]),
      swapped.begin() + static_cast<std::ptrdiff_t>(recording.record_ends[1]));
  EXPECT_THAT(WhyRefused(swapped), HasSubstr("does not match its checksum"));
}

TEST(ReplayFile, RandomBytesAreRefused) {
  Random random(15);
  for (int round = 0; round < 2'000; ++round) {
    std::vector<std::byte> bytes = Small().bytes;
    const std::size_t keep = random.Below(80);
    for (std::size_t i = keep; i < bytes.size(); ++i) {
      bytes[i] = static_cast<std::byte>(random.Next());
    }
    EXPECT_NE(WhyRefused(Resealed(bytes)), "(accepted)") << "round " << round;
  }
}

TEST(ReplayFile, WriterLeavesAReadablePrefixAtEveryFlush) {
  const std::string path = ::testing::TempDir() + "/writer.replay";
  const Recording recording = Record(2, 60, 16);
  absl::StatusOr<ReplayWriter> writer =
      ReplayWriter::Create(path, recording.header);
  ASSERT_TRUE(writer.ok()) << writer.status();
  std::uint64_t hash = recording.header.start_hash;
  std::size_t record = 0;
  for (const ReplayFrame& frame : recording.frames) {
    if (!writer->Add(std::span(frame.inputs).first(2), frame.bots)) continue;
    hash = *frame.hash;
    ASSERT_TRUE(writer->CloseBlock(hash).ok());
    EXPECT_EQ(std::filesystem::file_size(path),
              recording.record_ends[++record]);
  }
  ASSERT_TRUE(writer->Finish(hash).ok());
  const absl::StatusOr<std::vector<std::byte>> bytes = ReadReplayBytes(path);
  ASSERT_TRUE(bytes.ok()) << bytes.status();
  EXPECT_EQ(*bytes, recording.bytes);
  std::filesystem::remove(path);
}

TEST(ReplayFile, FilesThatCannotBeOpenedSayWhy) {
  EXPECT_THAT(StatusText(ReadReplayBytes("/no/such/file").status()),
              HasSubstr("cannot read /no/such/file: No such file"));
  EXPECT_THAT(StatusText(ReplayWriter::Create("/no/such/file", {}).status()),
              HasSubstr("cannot write /no/such/file: No such file"));
}

TEST(ReplayFile, ClaimKeepsWhatIsThere) {
  const std::string path = ::testing::TempDir() + "/claimed.replay";
  std::filesystem::remove(path);
  EXPECT_TRUE(ClaimReplayFile(path).ok());
  EXPECT_TRUE(std::filesystem::is_empty(path));
  EXPECT_TRUE(ClaimReplayFile(path).ok());  // an empty file is no loss
  ASSERT_TRUE(ReplayWriter::Create(path, {}).ok());
  const absl::Status taken = ClaimReplayFile(path);
  EXPECT_TRUE(absl::IsAlreadyExists(taken)) << taken;
  EXPECT_FALSE(std::filesystem::is_empty(path));
  EXPECT_TRUE(ClaimReplayFile("/dev/full").ok());
  EXPECT_THAT(StatusText(ClaimReplayFile("/no/such/file")),
              HasSubstr("cannot write /no/such/file: No such file"));
  EXPECT_FALSE(ClaimReplayFile(::testing::TempDir()).ok());
  std::filesystem::remove(path);
}

TEST(ReplayFile, WriterNoticesAFullDisk) {
  const absl::StatusOr<ReplayWriter> writer =
      ReplayWriter::Create("/dev/full", {});
  EXPECT_THAT(StatusText(writer.status()), HasSubstr("No space left"));
}

}  // namespace
}  // namespace parlor::solo
