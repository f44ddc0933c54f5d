#include "parlor/random.h"

#include <gtest/gtest.h>

#include <array>
#include <type_traits>

namespace parlor {
namespace {

TEST(RandomTest, GivesThePublishedVector) {
  Random random(42, 54);
  const std::array<std::uint32_t, 6> expected = {
      0xa15c02b7, 0x7b47f409, 0xba1d3330, 0x83d2f293, 0xbfa4784b, 0xcbed606e};
  for (std::uint32_t value : expected) EXPECT_EQ(random.Next(), value);
}

TEST(RandomTest, CanBePartOfAHashedState) {
  EXPECT_TRUE(std::has_unique_object_representations_v<Random>);
  EXPECT_TRUE(std::is_trivially_copyable_v<Random>);
}

TEST(RandomTest, BelowIsUniformAndInRange) {
  Random random(1);
  std::array<int, 6> counts{};
  for (int i = 0; i < 60'000; ++i) ++counts[random.Below(6)];
  for (int count : counts) EXPECT_NEAR(count, 10'000, 400);
  EXPECT_EQ(random.Below(1), 0u);
}

TEST(RandomTest, BetweenHoldsBothEnds) {
  Random random(2);
  bool low = false, high = false;
  for (int i = 0; i < 1'000; ++i) {
    const std::int32_t value = random.Between(-3, 3);
    ASSERT_GE(value, -3);
    ASSERT_LE(value, 3);
    low |= value == -3;
    high |= value == 3;
  }
  EXPECT_TRUE(low && high);
  // The whole range has no bound to draw below.
  random.Between(INT32_MIN, INT32_MAX);
  EXPECT_EQ(random.Between(INT32_MIN, INT32_MIN), INT32_MIN);
}

TEST(RandomTest, StreamsDiffer) {
  Random a(7, 0), b(7, 1);
  int same = 0;
  for (int i = 0; i < 100; ++i) same += a.Next() == b.Next() ? 1 : 0;
  EXPECT_LE(same, 1);
}

}  // namespace
}  // namespace parlor
