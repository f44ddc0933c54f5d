#include "parlor/byte_io.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <initializer_list>
#include <limits>
#include <string>

#include "parlor/random.h"

namespace parlor {
namespace {

using testing::ElementsAreArray;

constexpr std::uint64_t kMax64 = std::numeric_limits<std::uint64_t>::max();

std::vector<std::byte> BytesOf(std::initializer_list<int> values) {
  std::vector<std::byte> bytes;
  for (int value : values) bytes.push_back(static_cast<std::byte>(value));
  return bytes;
}

TEST(CopyBytesTest, CopiesThatAndNoMore) {
  Random random(1);
  std::array<std::byte, 80> from;
  for (std::byte& byte : from) byte = static_cast<std::byte>(random.Next());
  for (std::size_t size = 0; size <= 70; ++size) {
    std::array<std::byte, 80> to{};
    CopyBytes(&to[5], std::span(from).first(size));
    std::array<std::byte, 80> expected{};
    std::copy_n(from.begin(), size, expected.begin() + 5);
    EXPECT_EQ(to, expected) << size;
  }
}

// One of everything, in both directions.
std::vector<std::byte> WriteAll() {
  std::vector<std::byte> out;
  ByteWriter writer(out);
  writer.U8(0x01);
  writer.U16(0x0302);
  writer.U32(0x07060504);
  writer.U64(0x0f0e0d0c0b0a0908);
  writer.VarUint(300);
  writer.Bytes(AsBytes("hey"));
  return out;
}

struct All {
  std::uint8_t u8;
  std::uint16_t u16;
  std::uint32_t u32;
  std::uint64_t u64, var;
  std::string text;
};

All ReadAll(ByteReader& reader) {
  All all;
  all.u8 = reader.U8();
  all.u16 = reader.U16();
  all.u32 = reader.U32();
  all.u64 = reader.U64();
  all.var = reader.VarUint(1'000);
  all.text = AsText(reader.Bytes(3));
  return all;
}

TEST(ByteIoTest, WritesLittleEndian) {
  EXPECT_THAT(
      WriteAll(),
      ElementsAreArray(BytesOf({1,  2,  3,  4,  5,  6,    7, 8,   9,   10,
                                11, 12, 13, 14, 15, 0xac, 2, 'h', 'e', 'y'})));
}

TEST(ByteIoTest, ReadsWhatWasWritten) {
  const std::vector<std::byte> bytes = WriteAll();
  ByteReader reader(bytes);
  const All all = ReadAll(reader);
  EXPECT_TRUE(reader.AtEnd());
  EXPECT_EQ(all.u8, 0x01);
  EXPECT_EQ(all.u16, 0x0302);
  EXPECT_EQ(all.u32, 0x07060504u);
  EXPECT_EQ(all.u64, 0x0f0e0d0c0b0a0908u);
  EXPECT_EQ(all.var, 300u);
  EXPECT_EQ(all.text, "hey");
}

// Exact allocations, so that the address sanitizer sees a read past the end.
TEST(ByteIoTest, EveryTruncationFailsAndStaysFailed) {
  const std::vector<std::byte> whole = WriteAll();
  for (std::size_t length = 0; length < whole.size(); ++length) {
    SCOPED_TRACE(length);
    const std::vector<std::byte> bytes(whole.data(), whole.data() + length);
    ByteReader reader(bytes);
    const All all = ReadAll(reader);
    EXPECT_FALSE(reader.ok());
    EXPECT_FALSE(reader.AtEnd());
    EXPECT_EQ(reader.remaining(), 0u);
    // The field that was cut gives nothing, not its first bytes.
    EXPECT_EQ(all.text, "");
    EXPECT_EQ(all.u64, length >= 15 ? 0x0f0e0d0c0b0a0908u : 0u);
    EXPECT_EQ(reader.U8(), 0);
    EXPECT_EQ(reader.Bytes(0).size(), 0u);
    EXPECT_FALSE(reader.ok());
  }
}

TEST(ByteIoTest, BytesLeftOverAreNotTheEnd) {
  const std::vector<std::byte> bytes = BytesOf({1, 2});
  ByteReader reader(bytes);
  reader.U8();
  EXPECT_TRUE(reader.ok());
  EXPECT_EQ(reader.remaining(), 1u);
  EXPECT_FALSE(reader.AtEnd());
}

TEST(ByteIoTest, ACountBeyondTheEndTakesNothing) {
  const std::vector<std::byte> bytes = BytesOf({1, 2});
  ByteReader reader(bytes);
  EXPECT_TRUE(reader.Bytes(std::numeric_limits<std::size_t>::max()).empty());
  EXPECT_FALSE(reader.ok());
}

TEST(ByteIoTest, AnEmptyReadOfNothingIsFine) {
  ByteReader reader({});
  EXPECT_TRUE(reader.Bytes(0).empty());
  EXPECT_TRUE(reader.AtEnd());
}

TEST(ByteIoTest, FixedPlaces) {
  std::array<std::byte, 4> place{};
  StoreU32(place.data(), 0xa1b2c3d4);
  EXPECT_THAT(place, ElementsAreArray(BytesOf({0xd4, 0xc3, 0xb2, 0xa1})));
  EXPECT_EQ(LoadU32(place.data()), 0xa1b2c3d4u);
}

struct VarUintRow {
  const char* name;
  std::uint64_t value;
  std::vector<std::byte> bytes;
};

class VarUintTest : public testing::TestWithParam<VarUintRow> {};

TEST_P(VarUintTest, HasOneForm) {
  const VarUintRow& row = GetParam();
  std::vector<std::byte> out;
  ByteWriter(out).VarUint(row.value);
  EXPECT_THAT(out, ElementsAreArray(row.bytes));
  ByteReader reader(row.bytes);
  EXPECT_EQ(reader.VarUint(kMax64), row.value);
  EXPECT_TRUE(reader.AtEnd());
}

TEST_P(VarUintTest, IsTakenUpToItsMaximum) {
  const VarUintRow& row = GetParam();
  ByteReader at_max(row.bytes);
  EXPECT_EQ(at_max.VarUint(row.value), row.value);
  EXPECT_TRUE(at_max.AtEnd());
  if (row.value == 0) return;
  ByteReader above_max(row.bytes);
  EXPECT_EQ(above_max.VarUint(row.value - 1), 0u);
  EXPECT_FALSE(above_max.ok());
}

TEST_P(VarUintTest, EveryTruncationFails) {
  const std::vector<std::byte>& whole = GetParam().bytes;
  for (std::size_t length = 0; length < whole.size(); ++length) {
    const std::vector<std::byte> bytes(whole.data(), whole.data() + length);
    ByteReader reader(bytes);
    EXPECT_EQ(reader.VarUint(kMax64), 0u);
    EXPECT_FALSE(reader.ok()) << length;
  }
}

// The same value with a zero byte more, which says nothing.
TEST_P(VarUintTest, ALongerFormFails) {
  std::vector<std::byte> bytes = GetParam().bytes;
  bytes.back() |= std::byte{0x80};
  bytes.push_back(std::byte{0});
  ByteReader reader(bytes);
  EXPECT_EQ(reader.VarUint(kMax64), 0u);
  EXPECT_FALSE(reader.ok());
}

INSTANTIATE_TEST_SUITE_P(
    Values, VarUintTest,
    testing::Values(
        VarUintRow{"Zero", 0, BytesOf({0})}, VarUintRow{"One", 1, BytesOf({1})},
        VarUintRow{"OneByteMost", 127, BytesOf({0x7f})},
        VarUintRow{"TwoBytesLeast", 128, BytesOf({0x80, 1})},
        VarUintRow{"TwoBytesMost", 16'383, BytesOf({0xff, 0x7f})},
        VarUintRow{"ThreeBytesLeast", 16'384, BytesOf({0x80, 0x80, 1})},
        VarUintRow{"U32Most", 0xffffffff,
                   BytesOf({0xff, 0xff, 0xff, 0xff, 0x0f})},
        VarUintRow{
            "NineBytesMost", (1ull << 63) - 1,
            BytesOf({0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f})},
        VarUintRow{
            "TenBytesLeast", 1ull << 63,
            BytesOf({0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 1})},
        VarUintRow{"U64Most", kMax64,
                   BytesOf({0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
                            0xff, 1})}),
    [](const auto& row) { return std::string(row.param.name); });

TEST(VarUintLimitsTest, BitsBeyondTheSixtyFourthFail) {
  for (int last = 2; last <= 0xff; ++last) {
    std::vector<std::byte> bytes(9, std::byte{0x80});
    bytes.push_back(static_cast<std::byte>(last));
    bytes.push_back(std::byte{1});
    ByteReader reader(bytes);
    EXPECT_EQ(reader.VarUint(kMax64), 0u);
    EXPECT_FALSE(reader.ok()) << last;
  }
}

TEST(VarUintLimitsTest, RandomValuesSurvive) {
  Random random(4);
  for (int i = 0; i < 10'000; ++i) {
    const std::uint64_t wide = random.Next64();
    const std::uint64_t value = wide >> random.Below(64);
    std::vector<std::byte> bytes;
    ByteWriter(bytes).VarUint(value);
    ByteReader reader(bytes);
    ASSERT_EQ(reader.VarUint(kMax64), value);
    ASSERT_TRUE(reader.AtEnd());
  }
}

}  // namespace
}  // namespace parlor
