#include "logic/minute_rates.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "parlor/host/address.h"
#include "parlor/random.h"
#include "parlor/time.h"
#include "support/counting_allocator.h"
#include "support/seed.h"

namespace parlor::host {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using std::chrono::seconds;

constexpr TimePoint kStart{seconds(1'000)};

RateKey Key(std::uint32_t number, std::uint32_t room = 0) {
  std::string text = std::to_string(number >> 24);
  for (const int shift : {16, 8, 0}) {
    text.append(".").append(std::to_string(number >> shift & 0xff));
  }
  return {Address::Parse(text).value(), room};
}

TEST(MinuteRatesTest, TakesAMinutesWorth) {
  MinuteRates rates(3, 100);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(rates.Take(kStart, Key(1)), 0u);
  EXPECT_EQ(rates.Take(kStart, Key(1)), 60u);
  // Another's is another's: by address, and by room.
  EXPECT_EQ(rates.Take(kStart, Key(2)), 0u);
  EXPECT_EQ(rates.Take(kStart, Key(1, 1)), 0u);
  EXPECT_EQ(rates.keys(), 3u);
}

// In a minute that has begun, and nobody gets a fresh one.
TEST(MinuteRatesTest, ItsRateMayChange) {
  MinuteRates rates(3, 100);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(rates.Take(kStart, Key(1)), 0u);
  EXPECT_EQ(rates.Take(kStart, Key(2)), 0u);
  rates.SetPerMinute(4);
  const TimePoint later = kStart + seconds(20);
  EXPECT_EQ(rates.Take(later, Key(1)), 0u);
  EXPECT_EQ(rates.Take(later, Key(1)), 40u);
  rates.SetPerMinute(2);
  EXPECT_EQ(rates.Take(later, Key(1)), 40u);
  EXPECT_EQ(rates.Take(later, Key(2)), 0u);
  EXPECT_EQ(rates.Take(later, Key(2)), 40u);
  EXPECT_EQ(rates.Take(kStart + seconds(60), Key(1)), 0u);
}

TEST(MinuteRatesTest, TellsTheSecondsExactly) {
  MinuteRates rates(1, 100);
  EXPECT_EQ(rates.Take(kStart, Key(1)), 0u);
  struct Row {
    nanoseconds after;
    std::uint32_t wait;
  };
  for (const Row& row :
       {Row{nanoseconds(0), 60}, Row{nanoseconds(1), 60},
        Row{milliseconds(999), 60}, Row{seconds(1), 59},
        Row{seconds(1) + nanoseconds(1), 59}, Row{seconds(58), 2},
        Row{seconds(59), 1}, Row{seconds(60) - nanoseconds(1), 1}}) {
    EXPECT_EQ(rates.Take(kStart + row.after, Key(1)), row.wait);
    EXPECT_EQ(rates.Wait(kStart + row.after, Key(1)), row.wait);
  }
  EXPECT_EQ(rates.Wait(kStart + seconds(60), Key(1)), 0u);
  EXPECT_EQ(rates.Take(kStart + seconds(60), Key(1)), 0u);
  EXPECT_EQ(rates.Take(kStart + seconds(60), Key(1)), 60u);
}

TEST(MinuteRatesTest, TheNextMinuteBeginsWithItsFirstEvent) {
  MinuteRates rates(2, 100);
  EXPECT_EQ(rates.Take(kStart, Key(1)), 0u);
  EXPECT_EQ(rates.Take(kStart + seconds(100), Key(1)), 0u);
  EXPECT_EQ(rates.Take(kStart + seconds(130), Key(1)), 0u);
  EXPECT_EQ(rates.Take(kStart + seconds(159), Key(1)), 1u);
  EXPECT_EQ(rates.Take(kStart + seconds(160), Key(1)), 0u);
}

TEST(MinuteRatesTest, AskingCountsNothing) {
  MinuteRates rates(1, 100);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(rates.Wait(kStart, Key(1)), 0u);
  EXPECT_EQ(rates.keys(), 0u);
  EXPECT_EQ(rates.Take(kStart, Key(1)), 0u);
}

TEST(MinuteRatesTest, WhatIsGivenBackMayBeTakenAgain) {
  MinuteRates rates(2, 100);
  EXPECT_EQ(rates.Take(kStart, Key(1)), 0u);
  const TimePoint later = kStart + seconds(20);
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(rates.Take(later, Key(1)), 0u);
    EXPECT_EQ(rates.Take(later, Key(1)), 40u);
    rates.GiveBack(later, Key(1));
  }
  rates.GiveBack(kStart, Key(1));
  rates.GiveBack(kStart, Key(1));  // more than was taken
  rates.GiveBack(kStart, Key(2));  // never was
  EXPECT_EQ(rates.keys(), 1u);
  EXPECT_EQ(rates.Take(later, Key(1)), 0u);
  EXPECT_EQ(rates.Take(later, Key(1)), 0u);
  EXPECT_EQ(rates.Take(later, Key(1)), 40u) << "the minute is the first one's";
}

TEST(MinuteRatesTest, AMinuteGetsNothingBackOfTheOneBefore) {
  MinuteRates rates(1, 100);
  EXPECT_EQ(rates.Take(kStart, Key(1)), 0u);
  const TimePoint next = kStart + seconds(60);
  EXPECT_EQ(rates.Take(next, Key(1)), 0u);
  rates.GiveBack(kStart, Key(1));
  EXPECT_EQ(rates.Take(next, Key(1)), 60u);
}

TEST(MinuteRatesTest, ForgetsALittleWithEveryCall) {
  MinuteRates rates(5, 10'000);
  for (std::uint32_t i = 0; i < 5'000; ++i) rates.Take(kStart, Key(i));
  EXPECT_EQ(rates.keys(), 5'000u);
  const TimePoint later = kStart + seconds(60);
  std::size_t before = rates.keys();
  for (std::uint32_t i = 0; i < 5'000; ++i) {
    rates.Take(later, Key(1'000'000 + i % 4));
    ASSERT_LE(before, rates.keys() + 2);
    before = rates.keys();
  }
  EXPECT_EQ(rates.keys(), 4u);
}

TEST(MinuteRatesTest, AMillionAddressesInAMinute) {
  constexpr std::size_t kKeys = 1'000'000;
  const std::uint64_t before = parlor_allocated_bytes();
  MinuteRates rates(60, kKeys);
  const std::uint64_t empty = parlor_allocated_bytes();
  for (std::uint32_t i = 0; i < kKeys; ++i) rates.Take(kStart, Key(i));
  const std::uint64_t full = parlor_allocated_bytes();
  // Nobody was forgotten, and more cost nothing more.
  EXPECT_EQ(rates.keys(), kKeys);
  for (std::uint32_t i = 0; i < 100'000; ++i) {
    rates.Take(kStart, Key(kKeys + i));
  }
  EXPECT_EQ(rates.keys(), kKeys);
  EXPECT_EQ(parlor_allocated_bytes(), full);
  EXPECT_LE(full - before, kKeys * MinuteRates::kKeyBytesMax);
  // Who hosts three friends does not pay for a million.
  EXPECT_LE(empty - before, kKeys * 4);
}

TEST(MinuteRatesTest, AFloodDoesNotHideTheBusy) {
  MinuteRates rates(60, 1'000);
  for (std::uint32_t busy = 0; busy < 100; ++busy) {
    for (int i = 0; i < 60; ++i) rates.Take(kStart, Key(busy));
  }
  const TimePoint now = kStart + seconds(1);
  for (std::uint32_t i = 0; i < 100'000; ++i) {
    EXPECT_EQ(rates.Take(now, Key(1'000'000 + i)), 0u);
    EXPECT_LE(rates.keys(), 1'000u);
  }
  for (std::uint32_t busy = 0; busy < 100; ++busy) {
    EXPECT_EQ(rates.Take(now, Key(busy)), 59u) << busy;
  }
}

TEST(MinuteRatesTest, OneKeyIsEnough) {
  MinuteRates rates(2, 1);
  for (std::uint32_t i = 0; i < 10; ++i) {
    EXPECT_EQ(rates.Take(kStart, Key(i)), 0u);
    EXPECT_EQ(rates.Take(kStart, Key(i)), 0u);
    EXPECT_EQ(rates.Take(kStart, Key(i)), 60u);
    EXPECT_EQ(rates.keys(), 1u);
  }
}

// The header's words, in the plainest way.
class Model {
 public:
  Model(std::int64_t per_minute, std::size_t keys_max)
      : per_minute_(per_minute), keys_max_(keys_max) {}

  std::uint32_t Take(TimePoint now, const RateKey& key) {
    std::erase_if(entries_,
                  [&](const Entry& e) { return now - e.begin >= seconds(60); });
    const auto found =
        std::find_if(entries_.begin(), entries_.end(),
                     [&](const Entry& entry) { return entry.key == key; });
    if (found == entries_.end()) {
      if (entries_.size() == keys_max_) EvictOne();
      entries_.push_back({key, now, 1, ++calls_});
      return 0;
    }
    if (found->count == per_minute_) return Wait(now, key);
    const bool another_digit =
        std::has_single_bit(static_cast<std::uint64_t>(++found->count));
    if (another_digit) found->since = ++calls_;
    return 0;
  }

  std::uint32_t Wait(TimePoint now, const RateKey& key) const {
    for (const Entry& entry : entries_) {
      if (entry.key != key || entry.count < per_minute_) continue;
      for (std::uint32_t s = 0;; ++s) {
        if (now + seconds(s) - entry.begin >= seconds(60)) return s;
      }
    }
    return 0;
  }

  std::size_t keys() const { return entries_.size(); }

 private:
  struct Entry {
    RateKey key;
    TimePoint begin;
    std::int64_t count;
    std::uint64_t since;  // when its count got as many digits
  };

  void EvictOne() {
    const auto digits = [](const Entry& entry) {
      return std::bit_width(static_cast<std::uint64_t>(entry.count));
    };
    entries_.erase(std::min_element(
        entries_.begin(), entries_.end(), [&](const Entry& a, const Entry& b) {
          const auto a_digits = digits(a);
          const auto b_digits = digits(b);
          return a_digits != b_digits ? a_digits < b_digits : a.since < b.since;
        }));
  }

  std::int64_t per_minute_;
  std::size_t keys_max_;
  std::uint64_t calls_ = 0;
  std::vector<Entry> entries_;
};

TEST(MinuteRatesTest, DoesAsTheModel) {
  Random random(test::TestSeed());
  for (int round = 0; round < 200; ++round) {
    const std::int64_t per_minute = random.Between(1, 20);
    const auto keys_max = static_cast<std::size_t>(random.Between(1, 40));
    const auto keys = static_cast<std::uint32_t>(random.Between(1, 80));
    const std::int32_t pause_ms = random.Between(1, 2'000);
    SCOPED_TRACE("round " + std::to_string(round));
    MinuteRates rates(per_minute, keys_max);
    Model model(per_minute, keys_max);
    TimePoint now = kStart;
    for (int step = 0; step < 1'000; ++step) {
      SCOPED_TRACE("step " + std::to_string(step));
      now += random.Between(0, pause_ms) * kMillisecond;
      // Some come more often than others.
      const std::uint32_t range = 1 + random.Below(keys);
      const std::uint32_t number = random.Below(range);
      const RateKey key = Key(number / 2, number % 2);
      ASSERT_EQ(rates.Take(now, key), model.Take(now, key));
      const RateKey other = Key(random.Below(keys) / 2);
      ASSERT_EQ(rates.Wait(now, other), model.Wait(now, other));
      ASSERT_GE(rates.keys(), model.keys());
      ASSERT_LE(rates.keys(), keys_max);
    }
  }
}

}  // namespace
}  // namespace parlor::host
