#include "parlor/authority/limits.h"

#include <gtest/gtest.h>

#include <string>

#include "support/status_matchers.h"

namespace parlor::authority {
namespace {

struct LimitRow {
  Limit limit;
  std::int64_t fallback;
  std::int64_t ceiling;
};

// The caps' figures, written down a second time.
constexpr LimitRow kRows[] = {
    {limits::kSeats, 16, 256},      {limits::kTickHz, 60, 240},
    {limits::kSnapshotHz, 20, 120}, {limits::kGraceMs, 15'000, 120'000},
    {limits::kRows, 4'096, 65'536}, {limits::kBaselineBytes, 65'536, 1'048'576},
};

class AuthorityLimitTest : public testing::TestWithParam<LimitRow> {};

TEST_P(AuthorityLimitTest, HasItsDefaultAndCeiling) {
  const auto& [limit, fallback, ceiling] = GetParam();
  EXPECT_EQ(limit.fallback, fallback);
  EXPECT_EQ(limit.ceiling, ceiling);
  EXPECT_LE(limit.floor, limit.fallback);
  EXPECT_THAT(CheckLimit(limit, "x", limit.ceiling), IsOk());
  EXPECT_THAT(CheckLimit(limit, "x", limit.ceiling + 1),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

INSTANTIATE_TEST_SUITE_P(All, AuthorityLimitTest, testing::ValuesIn(kRows),
                         [](const auto& row) {
                           return std::string(row.param.limit.name);
                         });

TEST(AuthorityLimitsTest, ABaselineFitsInAMessage) {
  EXPECT_LE(limits::kBaselineBytes.fallback,
            parlor::limits::kMessageBytes.fallback);
  EXPECT_LE(limits::kBaselineBytes.ceiling,
            parlor::limits::kMessageBytes.ceiling);
}

}  // namespace
}  // namespace parlor::authority
