#include "load/schedule.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "load/clock.h"
#include "load/load_options.h"

namespace parlor::load {
namespace {

constexpr std::int64_t kStart = 1'000;
constexpr std::int64_t kStep = kSecondNs / 60;

LoadOptions Options() {
  LoadOptions options;
  options.rooms = 50;
  options.seats = 4;
  options.rate = 60;
  return options;
}
constexpr std::size_t kPlaces = 200;

TEST(ScheduleTest, GoesRoundInTheOrderOfTime) {
  Schedule schedule(Options(), kPlaces, kStart);
  std::vector<std::uint32_t> frames(kPlaces);
  std::int64_t before = kStart;
  for (std::size_t i = 0; i < 10 * kPlaces; ++i) {
    const std::size_t place = schedule.next_place();
    EXPECT_EQ(schedule.next_ns(), schedule.DueNs(place, frames[place]));
    EXPECT_GE(schedule.next_ns(), before);
    before = schedule.next_ns();
    ++frames[place];
    schedule.Advance();
  }
  EXPECT_EQ(frames, std::vector<std::uint32_t>(kPlaces, 10));
}

TEST(ScheduleTest, IsARateThatDoesNotDrift) {
  const Schedule schedule(Options(), kPlaces, kStart);
  const std::int64_t hour = 3'600;
  EXPECT_EQ(schedule.DueNs(3, 60 * 3'600) - schedule.DueNs(3, 0),
            hour * kSecondNs);
}

TEST(ScheduleTest, SpreadsOverTheStep) {
  const Schedule schedule(Options(), kPlaces, kStart);
  std::vector<int> quarters(4);
  for (std::size_t place = 0; place < kPlaces; ++place) {
    const std::int64_t phase = schedule.DueNs(place, 0) - kStart;
    ASSERT_GE(phase, 0);
    ASSERT_LT(phase, kStep);
    ++quarters[static_cast<std::size_t>(phase * 4 / kStep)];
  }
  // 50 each are expected, with a deviation of 6.
  for (const int count : quarters) EXPECT_NEAR(count, 50, 25);
}

TEST(ScheduleTest, IsTheSeeds) {
  LoadOptions other = Options();
  other.seed = 2;
  const Schedule first(Options(), kPlaces, kStart);
  const Schedule same(Options(), kPlaces, kStart);
  const Schedule second(other, kPlaces, kStart);
  EXPECT_EQ(first.DueNs(5, 0), same.DueNs(5, 0));
  EXPECT_NE(first.DueNs(5, 0), second.DueNs(5, 0));
}

TEST(ScheduleTest, InStepIsAllAtOnce) {
  LoadOptions options = Options();
  options.phases = LoadOptions::Phases::kStep;
  const Schedule schedule(options, kPlaces, kStart);
  for (std::size_t place = 0; place < kPlaces; ++place) {
    EXPECT_EQ(schedule.DueNs(place, 0), kStart);
    EXPECT_EQ(schedule.LastDueNs(place, 60), kStart + kSecondNs);
  }
}

TEST(ScheduleTest, KnowsTheLastOfTheOthersInTheRoom) {
  const Schedule schedule(Options(), kPlaces, kStart);
  for (std::size_t place = 0; place < kPlaces; ++place) {
    std::int64_t last = 0;
    for (std::size_t other = place / 4 * 4; other < place / 4 * 4 + 4;
         ++other) {
      if (other != place) last = std::max(last, schedule.DueNs(other, 7));
    }
    EXPECT_EQ(schedule.LastDueNs(place, 7), last);
  }
}

TEST(ScheduleTest, ClosedStartsEveryoneOnceAndRemembersFourFrames) {
  LoadOptions options = Options();
  options.loop = LoadOptions::Loop::kClosed;
  Schedule schedule(options, kPlaces, kStart);
  for (std::size_t i = 0; i < kPlaces; ++i) {
    EXPECT_EQ(schedule.next_place(), i);
    EXPECT_EQ(schedule.next_ns(), kStart);
    schedule.Advance();
  }
  EXPECT_EQ(schedule.next_ns(), kNeverNs);
  for (std::uint32_t frame = 1; frame < 5; ++frame) {
    schedule.MayNow(8, frame, kStart + frame);
    schedule.MayNow(9, frame, kStart + 10 * frame);
  }
  EXPECT_EQ(schedule.DueNs(9, 2), kStart + 20);
  EXPECT_EQ(schedule.DueNs(9, 4), kStart + 40);
  EXPECT_EQ(schedule.LastDueNs(10, 2), kStart + 20);
  EXPECT_EQ(schedule.LastDueNs(9, 2), kStart + 2);
}

}  // namespace
}  // namespace parlor::load
