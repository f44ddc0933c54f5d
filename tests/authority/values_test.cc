#include "parlor/authority/values.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "parlor/authority/limits.h"
#include "parlor/random.h"
#include "support/seed.h"

namespace parlor::authority {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

// Of -1..1.
float Draw(Random& random) {
  return static_cast<float>(random.Between(-1'000'000, 1'000'000)) / 1e6F;
}

TEST(QuantiseFloatTest, RoundsToFourDecimals) {
  EXPECT_EQ(QuantiseFloat(0), 0);
  EXPECT_EQ(QuantiseFloat(-0.0F), 0);
  EXPECT_EQ(QuantiseFloat(1.5F), 15'000);
  EXPECT_EQ(QuantiseFloat(0.00004F), 0);
  EXPECT_EQ(QuantiseFloat(0.00006F), 1);
  EXPECT_EQ(QuantiseFloat(-0.00006F), -1);
  // Halves, exact in binary: away from zero.
  EXPECT_EQ(QuantiseFloat(0.03125F), 313);
  EXPECT_EQ(QuantiseFloat(-0.03125F), -313);
}

TEST(QuantiseFloatTest, RefusesWhatIsNoFiniteNumberInRange) {
  EXPECT_EQ(QuantiseFloat(kFloatMax), 10'000'000'000'000);
  EXPECT_EQ(QuantiseFloat(-kFloatMax), -10'000'000'000'000);
  EXPECT_EQ(QuantiseFloat(std::nextafter(kFloatMax, kInfinity)), std::nullopt);
  EXPECT_EQ(QuantiseFloat(kInfinity), std::nullopt);
  EXPECT_EQ(QuantiseFloat(-kInfinity), std::nullopt);
  EXPECT_EQ(QuantiseFloat(kNan), std::nullopt);
}

TEST(QuantiseFloatTest, WhatAClientReadsIsTheSameNumberAgain) {
  Random random(test::TestSeed());
  for (int i = 0; i < 200'000; ++i) {
    const float magnitude = std::ldexp(1.0F, random.Between(-16, 29));
    const float value = Draw(random) * magnitude;
    const auto number = QuantiseFloat(value);
    ASSERT_TRUE(number.has_value()) << value;
    ASSERT_EQ(QuantiseFloat(FloatOf(*number)), number) << value;
    ASSERT_LE(std::abs(FloatOf(*number) - value),
              5.1e-5 + std::abs(value) * 1.2e-7)
        << value;
  }
}

TEST(QuantiseMetresTest, GivesMillimetresClampedTo32Bits) {
  EXPECT_EQ(QuantiseMetres(1.2345F), 1'235);
  EXPECT_EQ(QuantiseMetres(-1.2345F), -1'235);
  EXPECT_EQ(QuantiseMetres(3e6F), std::numeric_limits<std::int32_t>::max());
  EXPECT_EQ(QuantiseMetres(-3e30F), std::numeric_limits<std::int32_t>::min());
  EXPECT_EQ(QuantiseMetres(kNan), std::nullopt);
  EXPECT_EQ(QuantiseMetres(kInfinity), std::nullopt);
  EXPECT_EQ(QuantiseMetres(-kInfinity), std::nullopt);
  EXPECT_FLOAT_EQ(MetresOf(1'235), 1.235F);
}

TEST(PackQuatTest, HasTheseBits) {
  EXPECT_EQ(PackQuat({}), 0u);
  EXPECT_EQ(PackQuat({1, 0, 0, 0}), 1u << 30);
  EXPECT_EQ(PackQuat({0, 1, 0, 0}), 2u << 30);
  EXPECT_EQ(PackQuat({0, 0, 1, 0}), 3u << 30);
  // A quarter turn about z: z = w, and w is left out. Then z is 511.
  EXPECT_EQ(PackQuat({0, 0, 1, 1}), 511u);
  EXPECT_EQ(PackQuat({0, 0, -1, 1}), 0x3ffu & -511u);
  EXPECT_EQ(PackQuat({1, 0, 0, 1}), 511u << 20);
}

TEST(PackQuatTest, NormalisesAndKnowsNoSign) {
  const auto packed = PackQuat({0.1F, -0.2F, 0.3F, 0.4F});
  EXPECT_EQ(PackQuat({1, -2, 3, 4}), packed);
  EXPECT_EQ(PackQuat({-1, 2, -3, -4}), packed);
  EXPECT_EQ(PackQuat({1e30F, -2e30F, 3e30F, 4e30F}), packed);
}

TEST(PackQuatTest, RefusesWhatIsNoRotation) {
  EXPECT_EQ(PackQuat({0, 0, 0, 0}), std::nullopt);
  EXPECT_EQ(PackQuat({0, 0, 0, 1e-7F}), std::nullopt);
  EXPECT_EQ(PackQuat({kNan, 0, 0, 1}), std::nullopt);
  EXPECT_EQ(PackQuat({0, kInfinity, 0, 1}), std::nullopt);
  EXPECT_EQ(PackQuat({0, 0, 0, -kInfinity}), std::nullopt);
}

// The largest error of a component, `unit` with the sign that fits.
float ErrorOf(const Quat& unit, const Quat& got) {
  const float dot =
      unit.x * got.x + unit.y * got.y + unit.z * got.z + unit.w * got.w;
  const float sign = dot < 0 ? -1.0F : 1.0F;
  float error = std::abs(got.x - sign * unit.x);
  error = std::max(error, std::abs(got.y - sign * unit.y));
  error = std::max(error, std::abs(got.z - sign * unit.z));
  return std::max(error, std::abs(got.w - sign * unit.w));
}

Quat Unit(float x, float y, float z, float w) {
  const float length = std::sqrt(x * x + y * y + z * z + w * w);
  return {x / length, y / length, z / length, w / length};
}

TEST(PackQuatTest, IsWithinAThousandth) {
  Random random(test::TestSeed());
  for (int i = 0; i < 300'000; ++i) {
    const float x = Draw(random);
    const float y = Draw(random);
    const float z = Draw(random);
    const float w = Draw(random);
    if (x * x + y * y + z * z + w * w < 0.01F) continue;
    const Quat unit = Unit(x, y, z, w);
    const auto packed = PackQuat(unit);
    ASSERT_TRUE(packed.has_value());
    ASSERT_TRUE(IsPackedQuat(*packed));
    ASSERT_LT(ErrorOf(unit, UnpackQuat(*packed)), 1e-3F)
        << x << ' ' << y << ' ' << z << ' ' << w;
  }
}

// Where the component left out is smallest, it adds up the most.
TEST(PackQuatTest, IsHardlyWorseWhereAllFourAreAlike) {
  Random random(test::TestSeed());
  for (int i = 0; i < 300'000; ++i) {
    const float x = 1 + Draw(random) / 50;
    const float y = 1 + Draw(random) / 50;
    const float z = 1 + Draw(random) / 50;
    const float w = 1 + Draw(random) / 50;
    const Quat unit = Unit(x, -y, z, -w);
    const auto packed = PackQuat(unit);
    ASSERT_TRUE(packed.has_value());
    ASSERT_LT(ErrorOf(unit, UnpackQuat(*packed)), 1.04e-3F)
        << x << ' ' << y << ' ' << z << ' ' << w;
  }
}

TEST(UnpackQuatTest, GivesARotationWhateverTheBits) {
  Random random(test::TestSeed());
  for (int i = 0; i < 100'000; ++i) {
    const Quat quat = UnpackQuat(random.Next());
    const float squares =
        quat.x * quat.x + quat.y * quat.y + quat.z * quat.z + quat.w * quat.w;
    ASSERT_NEAR(squares, 1, 1e-5);
  }
  EXPECT_FALSE(IsPackedQuat(0x200));
  EXPECT_FALSE(IsPackedQuat(0x200u << 20));
  EXPECT_TRUE(IsPackedQuat(0x201));
}

}  // namespace
}  // namespace parlor::authority
