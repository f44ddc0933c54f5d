#include "load/latency_histogram.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "parlor/random.h"
#include "support/seed.h"

namespace parlor::load {
namespace {

TEST(LatencyHistogramTest, OfNothingIsZero) {
  const LatencyHistogram histogram;
  EXPECT_EQ(histogram.count(), 0u);
  EXPECT_EQ(histogram.max(), 0);
  EXPECT_EQ(histogram.Quantile(99, 100), 0);
}

TEST(LatencyHistogramTest, IsExactWhereBucketsAreOneWide) {
  LatencyHistogram histogram;
  for (std::int64_t ns = 1; ns <= 100; ++ns) histogram.Add(ns);
  EXPECT_EQ(histogram.Quantile(0, 100), 1);
  EXPECT_EQ(histogram.Quantile(1, 100), 1);
  EXPECT_EQ(histogram.Quantile(50, 100), 50);
  EXPECT_EQ(histogram.Quantile(99, 100), 99);
  EXPECT_EQ(histogram.Quantile(999, 1'000), 100);
  EXPECT_EQ(histogram.Quantile(100, 100), 100);
}

// One value alone is its own quantile, whatever it is: the top of its bucket is
// cut to the maximum.
TEST(LatencyHistogramTest, KeepsOneValueExactly) {
  for (int bit = 0; bit < 62; ++bit) {
    for (const std::int64_t off : {-1, 0, 1}) {
      const std::int64_t ns = (std::int64_t{1} << bit) + off;
      LatencyHistogram histogram;
      histogram.Add(ns);
      EXPECT_EQ(histogram.max(), ns);
      EXPECT_EQ(histogram.Quantile(50, 100),
                std::min(ns, LatencyHistogram::kTopNs));
    }
  }
}

TEST(LatencyHistogramTest, CountsWhatIsNegativeAsZero) {
  LatencyHistogram histogram;
  histogram.Add(-5);
  EXPECT_EQ(histogram.count(), 1u);
  EXPECT_EQ(histogram.Quantile(100, 100), 0);
}

// Against all values, sorted: never below the true quantile, and at most 1/64
// above it.
TEST(LatencyHistogramTest, QuantilesAreAtMostOnePartIn64TooHigh) {
  Random random(test::TestSeed());
  for (int run = 0; run < 50; ++run) {
    SCOPED_TRACE(run);
    LatencyHistogram histogram;
    std::vector<std::int64_t> all;
    const std::uint32_t count = 1 + random.Below(2'000);
    for (std::uint32_t i = 0; i < count; ++i) {
      const auto ns =
          static_cast<std::int64_t>(random.Next64() >> (25 + random.Below(39)));
      all.push_back(ns);
      histogram.Add(ns);
    }
    std::sort(all.begin(), all.end());
    for (const std::uint64_t parts : {1u, 500u, 990u, 999u, 1'000u}) {
      const std::size_t rank = (all.size() * parts + 999) / 1'000;
      const std::int64_t exact = all[rank - 1];
      const std::int64_t found = histogram.Quantile(parts, 1'000);
      EXPECT_GE(found, exact);
      EXPECT_LE(found, exact + exact / 64);
    }
  }
}

}  // namespace
}  // namespace parlor::load
