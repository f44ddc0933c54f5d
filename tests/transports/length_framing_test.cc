#include "stream/length_framing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "parlor/byte_io.h"
#include "parlor/limits.h"
#include "parlor/random.h"
#include "support/codec_events.h"
#include "support/counting_allocator.h"
#include "support/flip_bits.h"
#include "support/hex.h"
#include "support/seed.h"
#include "support/short_headers.h"

namespace parlor::stream {
namespace {

using test::CodecEvent;
using test::Decode;
using test::DecodeWhole;
using Wire = std::vector<std::byte>;

constexpr std::size_t kCap = 300;

std::unique_ptr<Codec> MakeCodec() { return MakeLengthFraming(kCap); }

// A frame as TCP.md has it, written without the codec.
void AppendFrame(Wire& wire, unsigned type, std::span<const std::byte> payload,
                 std::size_t announced) {
  for (const std::size_t value :
       {std::size_t{type}, announced, announced >> 8, announced >> 16}) {
    wire.push_back(static_cast<std::byte>(value & 0xff));
  }
  wire.insert(wire.end(), payload.begin(), payload.end());
}

Wire Frame(unsigned type, std::string_view payload) {
  Wire wire;
  AppendFrame(wire, type, AsBytes(payload), payload.size());
  return wire;
}

std::string Filled(std::size_t size) { return std::string(size, 'a'); }

// ---- What is read, and what is refused.

struct RuleRow {
  const char* name;
  Wire wire;
  const char* events;
};

Wire Hexed(std::string_view text) { return test::FromHex(text); }

// "c" and a close code, little-endian, before `text`.
Wire Close(unsigned code, std::string_view text) {
  std::string payload = {static_cast<char>(code & 0xff),
                         static_cast<char>(code >> 8)};
  payload += text;
  return Frame(5, payload);
}

const RuleRow kRuleRows[] = {
    {"Nothing", {}, ""},
    {"Text", Hexed("0105000048656c6c6f"), "text 48656c6c6f"},
    {"EmptyText", Hexed("01000000"), "text"},
    {"TextOfTheStateLane", Hexed("8102000068c3"), "error invalid_text"},
    {"StateText", Hexed("810200006869"), "state text 6869"},
    {"Binary", Hexed("02030000ff00fe"), "binary ff00fe"},
    {"EmptyBinary", Hexed("02000000"), "binary"},
    {"StateBinary", Hexed("8201000007"), "state binary 07"},
    {"EmptyState", Hexed("82000000"), "state binary"},
    {"Ping", Hexed("0301000070"), "ping 70"},
    {"EmptyPing", Hexed("03000000"), "ping"},
    {"Pong", Hexed("040200007071"), "pong 7071"},
    {"LongestPing", Frame(3, Filled(125)), "ping (125)"},
    {"LongestPong", Frame(4, Filled(125)), "pong (125)"},
    {"CloseWithoutCode", Hexed("05000000"), "close 1005"},
    {"Close", Hexed("05050000e803627965"), "close 1000 627965"},
    {"CloseWithoutText", Hexed("05020000f303"), "close 1011"},
    {"LongestClose", Close(4999, Filled(123)), "close 4999 (123)"},
    {"Several", Hexed("0200000082010000090301000070050000000100000002000000"),
     "binary, state binary 09, ping 70, close 1005, text, binary"},
    {"LargestMessage", Frame(2, Filled(kCap)), "binary (300)"},
    {"LargestState", Frame(0x81, Filled(kCap)), "state text (300)"},
    {"TextInManyBytes", Frame(1, "\u00e9\u4e2d\U0001f600"),
     "text c3a9e4b8adf09f9880"},

    // kMessageSize, as soon as the header is there.
    {"TooLarge", Hexed("022d0100"), "error message_size"},
    {"TextTooLarge", Hexed("012d0100"), "error message_size"},
    {"StateTooLarge", Hexed("822d0100"), "error message_size"},
    {"LargestLength", Hexed("02ffffff"), "error message_size"},
    {"TheThirdByteCounts", Hexed("02000001"), "error message_size"},

    // kInvalidText.
    {"InvalidText", Frame(1, "ab\xff"), "error invalid_text"},
    {"CutText", Frame(1, "ab\xe4\xb8"), "error invalid_text"},
    {"InvalidCloseText", Close(1000, "\xc0\xaf"), "error invalid_text"},

    // kProtocolError.
    {"TypeZero", Hexed("00000000"), "error protocol_error"},
    {"StateOfTypeZero", Hexed("80000000"), "error protocol_error"},
    {"LateHello", Hexed("06000000"), "error protocol_error"},
    {"LateRefused", Hexed("07060000"), "error protocol_error"},
    {"TypeEight", Hexed("08000000"), "error protocol_error"},
    {"Type64", Hexed("42000000"), "error protocol_error"},
    {"TypeAllOnes", Hexed("ff000000"), "error protocol_error"},
    {"AnHttpRequest", Hexed("47455420"), "error protocol_error"},
    {"StatePing", Hexed("83000000"), "error protocol_error"},
    {"StatePong", Hexed("84000000"), "error protocol_error"},
    {"StateClose", Hexed("85000000"), "error protocol_error"},
    {"LongPing", Hexed("037e0000"), "error protocol_error"},
    {"LongPong", Hexed("04000100"), "error protocol_error"},
    {"LongClose", Hexed("057e0000"), "error protocol_error"},
    {"HugePing", Hexed("03ffffff"), "error protocol_error"},
    {"CloseOfOneByte", Hexed("05010000"), "error protocol_error"},
    {"CodeZero", Close(0, ""), "error protocol_error"},
    {"CodeBelow", Close(999, ""), "error protocol_error"},
    {"Code1004", Close(1004, ""), "error protocol_error"},
    {"Code1005", Close(1005, ""), "error protocol_error"},
    {"Code1006", Close(1006, ""), "error protocol_error"},
    {"Code1015", Close(1015, ""), "error protocol_error"},
    {"CodeAbove", Close(5000, ""), "error protocol_error"},
    {"TheCodeComesBeforeTheText", Close(1006, "\xff"), "error protocol_error"},
};

class LengthFramingRuleTest : public testing::TestWithParam<RuleRow> {
 protected:
  std::string Read(auto cut) const {
    const std::unique_ptr<Codec> codec = MakeCodec();
    return ToText(Decode(*codec, GetParam().wire, cut));
  }
};

INSTANTIATE_TEST_SUITE_P(Rules, LengthFramingRuleTest,
                         testing::ValuesIn(kRuleRows),
                         [](const auto& row) { return row.param.name; });

TEST_P(LengthFramingRuleTest, Whole) {
  EXPECT_EQ(Read([] { return SIZE_MAX; }), GetParam().events);
}

TEST_P(LengthFramingRuleTest, OneByteAtATime) {
  EXPECT_EQ(Read([] { return 1; }), GetParam().events);
}

TEST_P(LengthFramingRuleTest, InRandomCuts) {
  Random random(test::TestSeed());
  for (int round = 0; round < 50; ++round) {
    EXPECT_EQ(Read([&] { return 1 + random.Below(9); }), GetParam().events);
  }
}

// What a row says last is said at its last byte, not before.
TEST_P(LengthFramingRuleTest, TheLastByteDecides) {
  const Wire& wire = GetParam().wire;
  if (wire.empty()) return;
  const auto all = DecodeWhole(*MakeCodec(), wire);
  const auto before =
      DecodeWhole(*MakeCodec(), std::span(wire).first(wire.size() - 1));
  EXPECT_EQ(before.size() + 1, all.size());
}

// ---- What is written.

struct WriteRow {
  const char* name;
  FrameType type;
  Lane lane;
  std::size_t size;
  const char* header;
};

constexpr WriteRow kWriteRows[] = {
    {"Text", FrameType::kText, Lane::kReliable, 5, "01050000"},
    {"Binary", FrameType::kBinary, Lane::kReliable, 12, "020c0000"},
    {"StateText", FrameType::kText, Lane::kState, 0, "81000000"},
    {"StateBinary", FrameType::kBinary, Lane::kState, 255, "82ff0000"},
    {"TwoBytes", FrameType::kBinary, Lane::kReliable, 256, "02000100"},
    {"ThreeBytes", FrameType::kBinary, Lane::kReliable, 0x10203, "02030201"},
    {"Longest", FrameType::kBinary, Lane::kState, 0xffffff, "82ffffff"},
    {"TooLong", FrameType::kText, Lane::kState, 0x1000000, "81ffffff"},
    {"Ping", FrameType::kPing, Lane::kReliable, 0, "03000000"},
    {"Pong", FrameType::kPong, Lane::kReliable, 125, "047d0000"},
    {"Close", FrameType::kClose, Lane::kReliable, 2, "05020000"},
    {"ControlHasNoLane", FrameType::kPing, Lane::kState, 1, "03010000"},
};

TEST(LengthFramingTest, WritesHeaders) {
  const std::unique_ptr<Codec> codec = MakeCodec();
  EXPECT_FALSE(codec->masks());
  for (const WriteRow& row : kWriteRows) {
    std::array<std::byte, kHeaderMax> header;
    const std::size_t size =
        codec->WriteHeader(row.type, row.lane, row.size, header);
    EXPECT_EQ(test::Hex(std::span(header).first(size)), row.header) << row.name;
  }
}

TEST(LengthFramingTest, ShortHeadersAreThoseThatAreWritten) {
  test::ExpectShortHeadersAsWritten(*MakeCodec());
}

TEST(LengthFramingTest, WritesCloses) {
  const std::unique_ptr<Codec> codec = MakeCodec();
  std::array<std::byte, kControlBytesMax> payload;
  const auto written = [&](CloseCode code, std::string_view text) {
    const std::size_t size = codec->WriteClose(code, text, payload);
    return test::Hex(std::span(payload).first(size));
  };
  EXPECT_EQ(written(1005, ""), "");
  EXPECT_EQ(written(1000, ""), "e803");
  EXPECT_EQ(written(4001, "resumed"), "a10f726573756d6564");
  EXPECT_EQ(written(1000, Filled(123)).size(), 2 * kControlBytesMax);
}

TEST(LengthFramingDeathTest, OurOwnMistakesStopTheProcess) {
  const std::unique_ptr<Codec> codec = MakeCodec();
  std::array<std::byte, kHeaderMax> header;
  std::array<std::byte, kControlBytesMax> payload;
  const auto write = [&](FrameType type, std::size_t size) {
    codec->WriteHeader(type, Lane::kReliable, size, header);
  };
  EXPECT_DEATH(write(FrameType::kPing, 126), "check failed");
  EXPECT_DEATH(codec->WriteClose(1006, "", payload), "check failed");
  EXPECT_DEATH(codec->WriteClose(1000, Filled(124), payload), "check failed");
  EXPECT_DEATH(MakeLengthFraming(limits::kMessageBytes.ceiling + 1),
               "check failed");
}

// ---- Memory.

class LengthFramingMemoryTest : public testing::Test {
 protected:
  static constexpr bool kCounts = PARLOR_COUNTS_ALLOCATIONS != 0;
  static constexpr std::size_t kLargeCap = 1024 * 1024;

  std::vector<CodecEvent> Feed(std::span<const std::byte> wire) {
    return DecodeWhole(*codec_, wire);
  }
  // Takes nothing that Feed's own vectors would count as the codec's.
  std::uint64_t held() const { return parlor_allocated_bytes() - before_; }

  std::unique_ptr<Codec> codec_ = MakeLengthFraming(kLargeCap);
  std::uint64_t before_ = parlor_allocated_bytes();
};

TEST_F(LengthFramingMemoryTest, AnAnnouncedLengthTakesNoMemory) {
  EXPECT_TRUE(Feed(test::FromHex("02000010")).empty());
  EXPECT_EQ(held(), 0u);
}

TEST_F(LengthFramingMemoryTest, GrowsWithWhatArrives) {
  Wire wire;
  AppendFrame(wire, 2, {}, kLargeCap);
  Feed(wire);
  const std::vector<std::byte> piece(1'000);
  before_ = parlor_allocated_bytes();
  for (std::size_t arrived = 1'000; arrived <= kLargeCap; arrived += 1'000) {
    EXPECT_TRUE(Feed(piece).empty());
    ASSERT_LE(held(), 2 * arrived + 8'192);
    ASSERT_LE(held(), kLargeCap + 8'192);
  }
}

TEST_F(LengthFramingMemoryTest, KeepsItsMemoryUntilItIsTrimmed) {
  const Wire wire = Frame(2, Filled(1'000));
  before_ = parlor_allocated_bytes();
  Decode(*codec_, wire, [] { return 100; });
  const std::uint64_t kept = held();
  EXPECT_GE(kept, kCounts ? 1'000u : 0u);
  Decode(*codec_, wire, [] { return 100; });
  EXPECT_EQ(held(), kept);
  codec_->Trim();
  EXPECT_EQ(held(), 0u);
}

TEST_F(LengthFramingMemoryTest, TrimLosesNothingOfAMessageOnItsWay) {
  const Wire wire = Frame(1, "in pieces");
  for (std::size_t cut = 0; cut < wire.size(); ++cut) {
    EXPECT_TRUE(Feed(std::span(wire).first(cut)).empty());
    codec_->Trim();
    EXPECT_EQ(ToText(Feed(std::span(wire).subspan(cut))),
              "text 696e20706965636573");
  }
}

TEST_F(LengthFramingMemoryTest, AWholeFrameIsNotCopied) {
  Wire wire = Frame(2, Filled(1'000));
  const std::uint64_t allocations = parlor_allocation_count();
  // The header may have come before.
  std::span<std::byte> header = std::span(wire).first(0);
  for (const std::size_t cut : {0, 1, 4}) {
    header = std::span(wire).first(cut);
    EXPECT_EQ(codec_->Next(header).kind, Incoming::Kind::kNothing);
    std::span<std::byte> input = std::span(wire).subspan(cut);
    const Incoming in = codec_->Next(input);
    EXPECT_EQ(in.kind, Incoming::Kind::kMessage);
    EXPECT_EQ(in.bytes.data(), wire.data() + 4);
    EXPECT_EQ(in.bytes.size(), 1'000u);
    EXPECT_TRUE(input.empty());
  }
  EXPECT_EQ(parlor_allocation_count(), allocations);
}

// ---- Random messages.

class LengthFramingRandomTest : public testing::Test {
 protected:
  // Frames that the codec writes, and what has to be read of them.
  void Write(int frames) {
    for (; frames > 0; --frames) {
      constexpr std::array kTypes = {FrameType::kText, FrameType::kBinary,
                                     FrameType::kPing, FrameType::kPong,
                                     FrameType::kClose};
      const FrameType type = kTypes[random_.Below(kTypes.size())];
      const Lane lane = random_.Chance(1, 2) ? Lane::kState : Lane::kReliable;
      switch (type) {
        case FrameType::kText:
          Append(type, lane, Bytes(kCap, 0x7f),
                 {.kind = Incoming::Kind::kMessage,
                  .lane = lane,
                  .message = MessageKind::kText});
          break;
        case FrameType::kBinary:
          Append(type, lane, Bytes(kCap, 0xff),
                 {.kind = Incoming::Kind::kMessage, .lane = lane});
          break;
        case FrameType::kPing:
          Append(type, lane, Bytes(125, 0xff), {.kind = Incoming::Kind::kPing});
          break;
        case FrameType::kPong:
          Append(type, lane, Bytes(125, 0xff), {.kind = Incoming::Kind::kPong});
          break;
        case FrameType::kClose:
          AppendClose();
          break;
      }
    }
  }

  std::vector<CodecEvent> ReadInCuts(std::span<const std::byte> wire) {
    const auto most = 1 + random_.Below(40);
    return Decode(*MakeCodec(), wire, [&] { return 1 + random_.Below(most); });
  }

  Random random_{test::TestSeed()};
  Wire wire_;
  std::vector<CodecEvent> events_;

 private:
  Wire Bytes(std::uint32_t most, std::uint32_t mask) {
    Wire bytes(random_.Below(random_.Chance(1, 2) ? 16 : most + 1));
    for (std::byte& byte : bytes) {
      byte = static_cast<std::byte>(random_.Next() & mask);
    }
    return bytes;
  }

  void AppendClose() {
    const auto code = static_cast<CloseCode>(3000 + random_.Below(2000));
    const Wire text = Bytes(123, 0x7f);
    std::array<std::byte, kControlBytesMax> payload;
    const std::size_t size = codec_->WriteClose(code, AsText(text), payload);
    Append(FrameType::kClose, Lane::kReliable, std::span(payload).first(size),
           {.kind = Incoming::Kind::kClose, .code = code});
    events_.back().bytes = text;
  }

  void Append(FrameType type, Lane lane, std::span<const std::byte> payload,
              CodecEvent event) {
    std::array<std::byte, kHeaderMax> header;
    const std::size_t size =
        codec_->WriteHeader(type, lane, payload.size(), header);
    wire_.insert(wire_.end(), header.begin(), header.begin() + size);
    wire_.insert(wire_.end(), payload.begin(), payload.end());
    event.bytes.assign(payload.begin(), payload.end());
    events_.push_back(std::move(event));
  }

  std::unique_ptr<Codec> codec_ = MakeCodec();
};

TEST_F(LengthFramingRandomTest, WhatIsWrittenIsRead) {
  Write(2'000);
  EXPECT_EQ(DecodeWhole(*MakeCodec(), wire_), events_);
  for (int round = 0; round < 20; ++round) {
    EXPECT_EQ(ReadInCuts(wire_), events_);
  }
}

TEST_F(LengthFramingRandomTest, ABeginningIsReadAsOne) {
  Write(20);
  for (std::size_t size = 0; size <= wire_.size(); ++size) {
    const auto read = DecodeWhole(*MakeCodec(), std::span(wire_).first(size));
    ASSERT_LE(read.size(), events_.size());
    ASSERT_TRUE(std::equal(read.begin(), read.end(), events_.begin()));
  }
}

TEST_F(LengthFramingRandomTest, FlippedBitsAreReadTheSameHoweverCut) {
  Write(20);
  int errors = 0;
  for (int round = 0; round < 3'000; ++round) {
    Wire wire = wire_;
    test::FlipBits(random_, wire);
    const auto whole = DecodeWhole(*MakeCodec(), wire);
    ASSERT_EQ(ReadInCuts(wire), whole);
    if (!whole.empty() && whole.back().kind == Incoming::Kind::kError) ++errors;
    for (const CodecEvent& event : whole) {
      ASSERT_LE(event.bytes.size(), kCap);
    }
  }
  EXPECT_GT(errors, 100) << "what is flipped is seen now and then";
}

}  // namespace
}  // namespace parlor::stream
