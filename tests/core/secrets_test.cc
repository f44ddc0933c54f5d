// What handles secrets: the comparison and the source.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>

#include "parlor/byte_io.h"
#include "parlor/constant_time.h"
#include "parlor/entropy.h"

namespace parlor {
namespace {

TEST(ConstantTimeTest, SeesEveryBitOfEveryByte) {
  const std::vector<std::byte> secret(37, std::byte{0x5a});
  EXPECT_TRUE(ConstantTimeEquals(secret, std::vector(secret)));
  for (std::size_t at = 0; at < secret.size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      std::vector<std::byte> guess = secret;
      guess[at] ^= std::byte{1} << bit;
      ASSERT_FALSE(ConstantTimeEquals(secret, guess)) << at << " " << bit;
    }
  }
}

TEST(ConstantTimeTest, DifferencesThatCancelOutAreDifferences) {
  EXPECT_FALSE(ConstantTimeEquals(AsBytes("ab"), AsBytes("ba")));
  EXPECT_FALSE(ConstantTimeEquals(AsBytes("aa"), AsBytes("bb")));
}

TEST(ConstantTimeTest, OtherLengthsDiffer) {
  EXPECT_TRUE(ConstantTimeEquals(AsBytes(""), AsBytes("")));
  EXPECT_FALSE(ConstantTimeEquals(AsBytes(""), AsBytes("a")));
  EXPECT_FALSE(ConstantTimeEquals(AsBytes("abc"), AsBytes("ab")));
  EXPECT_FALSE(ConstantTimeEquals(AsBytes("ab"), AsBytes("abc")));
}

TEST(ConstantTimeTest, Tokens) {
  EXPECT_TRUE(ConstantTimeEquals(0xdeadbeefu, 0xdeadbeefu));
  for (int bit = 0; bit < 32; ++bit) {
    EXPECT_FALSE(ConstantTimeEquals(0xdeadbeefu, 0xdeadbeefu ^ (1u << bit)));
  }
}

class CountingEntropy final : public Entropy {
 public:
  void Fill(std::span<std::byte> out) override {
    for (std::byte& byte : out) byte = static_cast<std::byte>(++count_);
  }

 private:
  int count_ = 0;
};

TEST(EntropyTest, DrawsFourBytesInWireOrder) {
  CountingEntropy entropy;
  EXPECT_EQ(entropy.Draw32(), 0x04030201u);
  EXPECT_EQ(entropy.Draw32(), 0x08070605u);
}

TEST(SeededEntropyTest, OneSeedOneStream) {
  SeededEntropy a(1), same(1), other(2);
  std::array<std::byte, 64> a_bytes{}, same_bytes{}, other_bytes{};
  a.Fill(a_bytes);
  // In pieces it is the same stream.
  same.Fill(std::span(same_bytes).first(5));
  same.Fill(std::span(same_bytes).subspan(5));
  other.Fill(other_bytes);
  EXPECT_EQ(a_bytes, same_bytes);
  EXPECT_NE(a_bytes, other_bytes);
}

TEST(SeededEntropyTest, FillsAllOfIt) {
  SeededEntropy entropy(3);
  std::vector<std::byte> bytes(65'536);
  entropy.Fill(bytes);
  std::array<int, 256> counts{};
  for (std::byte byte : bytes) ++counts[std::to_integer<std::size_t>(byte)];
  // 256 of each are expected, with a deviation of 16: six deviations.
  EXPECT_THAT(counts, testing::Each(
                          testing::AllOf(testing::Gt(160), testing::Lt(352))));
}

}  // namespace
}  // namespace parlor
