#include "parlor/limits.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "support/status_matchers.h"

namespace parlor {
namespace {

struct LimitRow {
  Limit limit;
  std::int64_t fallback;
  std::int64_t ceiling;
};

// The caps' figures, written down a second time.
constexpr LimitRow kRows[] = {
    {limits::kRooms, 1'024, 65'536},
    {limits::kSeats, 8, 32},
    {limits::kMessageRate, 240, 10'000},
    {limits::kMessageBurst, 480, 20'000},
    {limits::kLobbyMs, 600'000, 3'600'000},
    {limits::kIdleMs, 300'000, 3'600'000},
    {limits::kLifetimeMs, 14'400'000, 86'400'000},
    {limits::kHoldMs, 20'000, 120'000},
    {limits::kGatherMs, 0, 100},
    {limits::kAddressRate, 60, 100'000},
    {limits::kRoomJoinRate, 20, 100'000},
    {limits::kUnseated, 1'024, 65'536},
    {limits::kUnseatedPerAddress, 64, 65'536},
    {limits::kConnections, 65'536, 1'048'576},
    {limits::kDrainMs, 5'000, 80'000},
    {limits::kReliableBytes, 524'288, 2'097'152},
    {limits::kMessageBytes, 65'536, 1'048'576},
    {limits::kLingerMs, 5'000, 60'000},
};

class LimitTest : public testing::TestWithParam<LimitRow> {};

TEST_P(LimitTest, HasItsDefaultAndCeiling) {
  const auto& [limit, fallback, ceiling] = GetParam();
  EXPECT_EQ(limit.fallback, fallback);
  EXPECT_EQ(limit.ceiling, ceiling);
  EXPECT_GE(limit.floor, 0);
  EXPECT_LE(limit.floor, limit.fallback);
  EXPECT_LE(limit.fallback, limit.ceiling);
}

TEST_P(LimitTest, IsTakenBetweenItsEndsAndNowhereElse) {
  const Limit& limit = GetParam().limit;
  const auto invalid = StatusIs(absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(CheckLimit(limit, "x", limit.floor), IsOk());
  EXPECT_THAT(CheckLimit(limit, "x", limit.fallback), IsOk());
  EXPECT_THAT(CheckLimit(limit, "x", limit.ceiling), IsOk());
  EXPECT_THAT(CheckLimit(limit, "x", limit.floor - 1), invalid);
  EXPECT_THAT(CheckLimit(limit, "x", limit.ceiling + 1), invalid);
  EXPECT_THAT(CheckLimit(limit, "x", std::numeric_limits<int64_t>::min()),
              invalid);
  EXPECT_THAT(CheckLimit(limit, "x", std::numeric_limits<int64_t>::max()),
              invalid);
}

INSTANTIATE_TEST_SUITE_P(All, LimitTest, testing::ValuesIn(kRows),
                         [](const auto& row) {
                           return std::string(row.param.limit.name);
                         });

TEST(CheckLimitTest, NamesThePathTheValueAndTheRange) {
  EXPECT_THAT(CheckLimit(limits::kSeats, "--seats", 33),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "--seats: 33 is not in 1..32"));
  EXPECT_THAT(CheckLimit(limits::kHoldMs, "room.hold_ms", -1),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "room.hold_ms: -1 is not in 0..120000"));
}

}  // namespace
}  // namespace parlor
