#include "parlor/fixed_step.h"

#include <gtest/gtest.h>

#include <string>

#include "parlor/random.h"

namespace parlor {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;

// Step n's deadline as the header gives it: start + n / rate, rounded down.
Duration Deadline(std::int64_t n, int rate_hz) {
  return Duration(n * 1'000'000'000 / rate_hz);
}

class StepRateTest : public testing::TestWithParam<int> {};

TEST_P(StepRateTest, CountsAsALoopOverTheDeadlinesDoes) {
  const int rate_hz = GetParam();
  const TimePoint start(hours(7));
  Random random(1);
  FixedStep step(start, rate_hz, 1'000'000);
  TimePoint now = start - milliseconds(3);
  std::int64_t looped = 0, taken = 0;
  for (int i = 0; i < 2'000; ++i) {
    SCOPED_TRACE(i);
    std::int64_t due = 0;
    for (; start + Deadline(looped, rate_hz) <= now; ++looped) ++due;
    ASSERT_EQ(step.Take(now), due);
    taken += due;
    ASSERT_EQ(step.next(), start + Deadline(looped, rate_hz));
    // Far, near, and exactly before and on the next deadline.
    switch (random.Below(4)) {
      case 0:
        now += Duration(random.Below(200'000'000));
        break;
      case 1:
        now += Duration(random.Below(3));
        break;
      case 2:
        now = std::max(now, step.next() - Duration(1));
        break;
      default:
        now = step.next();
    }
  }
  EXPECT_GT(taken, 100);
  EXPECT_EQ(step.skipped(), 0u);
}

TEST_P(StepRateTest, TheCountAfterAStallIsTheLoopsToo) {
  const int rate_hz = GetParam();
  Random random(2);
  for (int i = 0; i < 500; ++i) {
    FixedStep step(TimePoint{}, rate_hz, 1);
    // Around a deadline, where rounding shows.
    const std::int64_t n = random.Below(100'000);
    const Duration off(static_cast<std::int64_t>(random.Below(3)) - 1);
    const Duration now = std::max(Deadline(n, rate_hz) + off, Duration(0));
    std::int64_t due = std::max<std::int64_t>(n - 2, 0);
    while (Deadline(due, rate_hz) <= now) ++due;
    SCOPED_TRACE(std::to_string(n) + " " + std::to_string(off.count()));
    ASSERT_EQ(step.Take(TimePoint(now)), 1);
    ASSERT_EQ(step.skipped(), static_cast<std::uint64_t>(due - 1));
    ASSERT_EQ(step.next(), TimePoint(Deadline(due, rate_hz)));
  }
}

INSTANTIATE_TEST_SUITE_P(Rates, StepRateTest,
                         testing::Values(1, 3, 7, 20, 30, 59, 60, 64, 144, 999,
                                         1'000),
                         [](const auto& row) {
                           return "Hz" + std::to_string(row.param);
                         });

TEST(FixedStepTest, TheFirstStepIsDueAtTheStart) {
  FixedStep step(TimePoint(seconds(5)), 60);
  EXPECT_EQ(step.next(), TimePoint(seconds(5)));
  EXPECT_EQ(step.Take(TimePoint(seconds(5)) - Duration(1)), 0);
  EXPECT_EQ(step.Take(TimePoint(seconds(5))), 1);
  EXPECT_EQ(step.Take(TimePoint(seconds(5))), 0);
}

// A caller that is late by another amount each time loses nothing.
TEST(FixedStepTest, DoesNotDriftOverHours) {
  FixedStep step(TimePoint{}, 60);
  Random random(3);
  std::int64_t taken = 0;
  TimePoint now{};
  while (now < TimePoint(hours(5))) {
    taken += step.Take(now);
    now += milliseconds(1) + Duration(random.Below(30'000'000));
  }
  now = TimePoint(hours(5));
  taken += step.Take(now);
  EXPECT_EQ(taken, 5 * 3'600 * 60 + 1);
  EXPECT_EQ(step.skipped(), 0u);
}

TEST(FixedStepTest, AStallIsMadeUpInPartAndTheRestCounted) {
  FixedStep step(TimePoint{}, 10, 4);
  EXPECT_EQ(step.Take(TimePoint{}), 1);
  // Steps 1 to 10 are due: four are made up.
  EXPECT_EQ(step.Take(TimePoint(seconds(1))), 4);
  EXPECT_EQ(step.skipped(), 6u);
  // Not one more in the same moment, and the rhythm goes on as it was.
  EXPECT_EQ(step.Take(TimePoint(seconds(1))), 0);
  EXPECT_EQ(step.next(), TimePoint(milliseconds(1'100)));
  // Exactly the cap is no stall.
  EXPECT_EQ(step.Take(TimePoint(milliseconds(1'400))), 4);
  EXPECT_EQ(step.skipped(), 6u);
}

TEST(FixedStepTest, CountsAStallOfACentury) {
  FixedStep step(TimePoint{}, 1'000, 1);
  const seconds century(100ll * 365 * 24 * 3'600);
  EXPECT_EQ(step.Take(TimePoint(century)), 1);
  EXPECT_EQ(step.skipped(),
            static_cast<std::uint64_t>(century.count()) * 1'000);
  EXPECT_EQ(step.next(), TimePoint(century + milliseconds(1)));
}

TEST(FixedStepDeathTest, ARateIsAboveZero) {
  EXPECT_DEATH(FixedStep(TimePoint{}, 0), "check failed");
  EXPECT_DEATH(FixedStep(TimePoint{}, 60, 0), "check failed");
}

}  // namespace
}  // namespace parlor
