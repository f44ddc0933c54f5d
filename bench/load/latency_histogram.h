// LatencyHistogram: how often each latency came, in buckets whose width grows
// with what is in them (as HdrHistogram has them): exact below 64 ns, from
// there on 64 buckets from each power of two to the next, so that a quantile is
// at most 1/64 too high. Fixed memory, 18 KB; adding is a shift and an
// increment.
#ifndef PARLOR_BENCH_LOAD_LATENCY_HISTOGRAM_H_
#define PARLOR_BENCH_LOAD_LATENCY_HISTOGRAM_H_

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "parlor/check.h"

namespace parlor::load {

class LatencyHistogram {
 public:
  // Above this, 18 minutes, all count alike but for max().
  static constexpr std::int64_t kTopNs = (std::int64_t{1} << 40) - 1;

  // What is negative counts as 0.
  void Add(std::int64_t ns) {
    ns = std::max<std::int64_t>(ns, 0);
    ++buckets_[BucketOf(std::min(ns, kTopNs))];
    ++count_;
    max_ = std::max(max_, ns);
  }

  std::uint64_t count() const { return count_; }
  std::int64_t max() const { return max_; }  // exact; 0 of nothing

  // The least latency that `parts` of `of` values do not exceed, as the top of
  // its bucket: Quantile(99, 100). 0 of nothing.
  std::int64_t Quantile(std::uint64_t parts, std::uint64_t of) const {
    PARLOR_CHECK(parts <= of && of > 0);
    const std::uint64_t rank =
        std::max<std::uint64_t>((count_ * parts + of - 1) / of, 1);
    std::uint64_t seen = 0;
    for (std::size_t bucket = 0; bucket < buckets_.size(); ++bucket) {
      seen += buckets_[bucket];
      if (seen >= rank) return std::min(TopOf(bucket), max_);
    }
    return max_;
  }

 private:
  static constexpr int kSubBits = 6;
  static constexpr std::size_t kSubs = std::size_t{1} << kSubBits;
  static constexpr int kTopBits = 40;
  static constexpr std::size_t kBuckets = (kTopBits - kSubBits + 1) * kSubs;

  static std::size_t BucketOf(std::int64_t ns) {
    const auto value = static_cast<std::uint64_t>(ns);
    if (value < kSubs) return value;
    const int shift = static_cast<int>(std::bit_width(value)) - 1 - kSubBits;
    // The leading bit adds one whole row.
    return static_cast<std::size_t>(shift) * kSubs + (value >> shift);
  }

  static std::int64_t TopOf(std::size_t bucket) {
    if (bucket < 2 * kSubs) return static_cast<std::int64_t>(bucket);
    const std::size_t shift = bucket / kSubs - 1;
    const std::uint64_t leading = bucket - shift * kSubs;
    return static_cast<std::int64_t>(((leading + 1) << shift) - 1);
  }

  std::array<std::uint64_t, kBuckets> buckets_{};
  std::uint64_t count_ = 0;
  std::int64_t max_ = 0;
};

}  // namespace parlor::load

#endif  // PARLOR_BENCH_LOAD_LATENCY_HISTOGRAM_H_
