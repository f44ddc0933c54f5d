#include "authority/seat_tokens.h"

#include <gtest/gtest.h>

#include <chrono>

#include "authority/rate_credit.h"

namespace parlor::authority {
namespace {

using std::chrono::milliseconds;

class SeatTokensTest : public testing::Test {
 protected:
  SeededEntropy entropy_{1};
  SeatTokens tokens_;
};

TEST_F(SeatTokensTest, NothingOpensAFreshSeat) {
  EXPECT_FALSE(tokens_.any());
  EXPECT_FALSE(tokens_.Opens(ResumeToken{}));
}

TEST_F(SeatTokensTest, TheIssuedOneOpens) {
  const ResumeToken first = tokens_.Issue(entropy_);
  EXPECT_TRUE(tokens_.any());
  EXPECT_TRUE(tokens_.Opens(first));
  ResumeToken near = first;
  near[15] ^= std::byte{1};
  EXPECT_FALSE(tokens_.Opens(near));
  EXPECT_FALSE(tokens_.Opens(ResumeToken{}));
}

// The welcome with the second was lost.
TEST_F(SeatTokensTest, TheProvenOneOpensUntilTheNextIsAcked) {
  const ResumeToken first = tokens_.Issue(entropy_);
  tokens_.Present(first);
  const ResumeToken second = tokens_.Issue(entropy_);
  EXPECT_NE(first, second);
  EXPECT_TRUE(tokens_.Opens(first));
  EXPECT_TRUE(tokens_.Opens(second));
  tokens_.OnAck();
  EXPECT_FALSE(tokens_.Opens(first));
  EXPECT_TRUE(tokens_.Opens(second));
}

TEST_F(SeatTokensTest, PresentingTheProvenOneReplacesTheIssued) {
  const ResumeToken first = tokens_.Issue(entropy_);
  tokens_.Present(first);
  const ResumeToken second = tokens_.Issue(entropy_);
  tokens_.Present(first);
  const ResumeToken third = tokens_.Issue(entropy_);
  EXPECT_TRUE(tokens_.Opens(first));
  EXPECT_FALSE(tokens_.Opens(second));
  EXPECT_TRUE(tokens_.Opens(third));
}

TEST_F(SeatTokensTest, PresentingTheIssuedOneMakesItProven) {
  const ResumeToken first = tokens_.Issue(entropy_);
  tokens_.Present(first);
  const ResumeToken second = tokens_.Issue(entropy_);
  tokens_.Present(second);
  const ResumeToken third = tokens_.Issue(entropy_);
  EXPECT_FALSE(tokens_.Opens(first));
  EXPECT_TRUE(tokens_.Opens(second));
  EXPECT_TRUE(tokens_.Opens(third));
}

TEST(RateCreditTest, IsABurstAndThenTheRate) {
  const Rate rate{.per_s = 10, .burst = 3};
  TimePoint now{std::chrono::seconds(5)};
  RateCredit credit(now, rate);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(credit.Take(now, rate));
  EXPECT_FALSE(credit.Take(now, rate));
  now += milliseconds(99);
  EXPECT_FALSE(credit.Take(now, rate));
  now += milliseconds(1);
  EXPECT_TRUE(credit.Take(now, rate));
  EXPECT_FALSE(credit.Take(now, rate));
}

TEST(RateCreditTest, FillsToItsBurstHoweverLongItTakes) {
  const Rate rate{.per_s = 10'000, .burst = 20'000};
  TimePoint now{};
  RateCredit credit(now, rate);
  for (int i = 0; i < 20'000; ++i) ASSERT_TRUE(credit.Take(now, rate));
  now += std::chrono::hours(24 * 365 * 100);
  for (int i = 0; i < 20'000; ++i) ASSERT_TRUE(credit.Take(now, rate));
  EXPECT_FALSE(credit.Take(now, rate));
}

// Asked at uneven times for an hour: neither one too many nor one too few.
TEST(RateCreditTest, RoundsNothing) {
  const Rate rate{.per_s = 240, .burst = 3};
  TimePoint now{};
  RateCredit credit(now, rate);
  while (credit.Take(now, rate)) continue;
  const TimePoint end = now + std::chrono::hours(1);
  int taken = 0;
  for (; now < end; now += Duration(997'777)) {
    taken += credit.Take(now, rate) ? 1 : 0;
  }
  taken += credit.Take(end, rate) ? 1 : 0;
  EXPECT_EQ(taken, 240 * 3'600);
}

}  // namespace
}  // namespace parlor::authority
