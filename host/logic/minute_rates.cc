#include "logic/minute_rates.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "absl/hash/hash.h"
#include "parlor/check.h"
#include "parlor/limits.h"
#include "parlor/time.h"

namespace parlor::host {
namespace {

constexpr Duration kMinute = limits::kMinuteMs * kMillisecond;

// 14 KiB: what one call may have to set up.
constexpr std::size_t kBlock = 256;

// A call brings one key at most, so those that are over become fewer.
constexpr int kForgottenPerCall = 2;

}  // namespace

MinuteRates::MinuteRates(std::int64_t per_minute, std::size_t keys_max)
    : keys_max_(keys_max),
      // One or two keys a bucket when all are there.
      buckets_(std::bit_ceil(std::max<std::size_t>(keys_max / 2, 1)), kNone),
      by_begin_{.links = &Entry::by_begin} {
  static_assert(sizeof(Entry) + sizeof(Index) + 1 <= kKeyBytesMax);
  SetPerMinute(per_minute);
  PARLOR_CHECK(keys_max >= 1 && keys_max < kNone);
  blocks_.reserve((keys_max + kBlock - 1) / kBlock);
  classes_.fill({.links = &Entry::by_class});
}

void MinuteRates::SetPerMinute(std::int64_t per_minute) {
  PARLOR_CHECK(per_minute >= 1 && per_minute <= UINT32_MAX);
  per_minute_ = per_minute;
}

std::uint32_t MinuteRates::Take(TimePoint now, const RateKey& key) {
  ForgetSome(now);
  const Index found = Find(key);
  if (found == kNone) {
    if (keys_ == keys_max_) Forget(LeastBusy());
    Add(now, key);
    return 0;
  }
  Entry& entry = At(found);
  if (IsOver(now, entry)) {
    Forget(found);
    Add(now, key);
    return 0;
  }
  const std::uint32_t wait = WaitOf(now, entry);
  if (wait == 0) SetCount(found, entry.count + 1);
  return wait;
}

void MinuteRates::GiveBack(TimePoint taken, const RateKey& key) {
  const Index found = Find(key);
  if (found == kNone) return;
  const Entry& entry = At(found);
  // It may have been forgotten and come anew.
  if (taken < entry.begin || entry.count == 0) return;
  SetCount(found, entry.count - 1);
}

std::uint32_t MinuteRates::Wait(TimePoint now, const RateKey& key) const {
  const Index found = Find(key);
  return found == kNone ? 0 : WaitOf(now, At(found));
}

bool MinuteRates::IsOver(TimePoint now, const Entry& entry) {
  return now - entry.begin >= kMinute;
}

std::uint32_t MinuteRates::WaitOf(TimePoint now, const Entry& entry) const {
  if (IsOver(now, entry) || entry.count < per_minute_) return 0;
  const Duration left = kMinute - (now - entry.begin);
  return static_cast<std::uint32_t>((left + kSecond - Duration(1)) / kSecond);
}

MinuteRates::Entry& MinuteRates::At(Index index) {
  return blocks_[index / kBlock][index % kBlock];
}

const MinuteRates::Entry& MinuteRates::At(Index index) const {
  return blocks_[index / kBlock][index % kBlock];
}

// Abseil's hash differs with every process, so nobody can choose addresses that
// share a bucket.
std::size_t MinuteRates::BucketOf(const RateKey& key) const {
  return absl::Hash<RateKey>()(key) & (buckets_.size() - 1);
}

MinuteRates::Index MinuteRates::Find(const RateKey& key) const {
  Index index = buckets_[BucketOf(key)];
  while (index != kNone && At(index).key != key) {
    index = At(index).next_in_bucket;
  }
  return index;
}

MinuteRates::List& MinuteRates::ClassOf(const Entry& entry) {
  return classes_[static_cast<std::size_t>(std::bit_width(entry.count))];
}

void MinuteRates::SetCount(Index index, std::uint32_t count) {
  Entry& entry = At(index);
  List& before = ClassOf(entry);
  entry.count = count;
  if (List& after = ClassOf(entry); &after != &before) {
    Remove(before, index);
    Append(after, index);
  }
}

// Minutes are all as long, so those that are over are the first ones.
void MinuteRates::ForgetSome(TimePoint now) {
  for (int i = 0; i < kForgottenPerCall; ++i) {
    const Index oldest = by_begin_.first;
    if (oldest == kNone || !IsOver(now, At(oldest))) return;
    Forget(oldest);
  }
}

void MinuteRates::Add(TimePoint now, const RateKey& key) {
  const Index index = TakeFree();
  Entry& entry = At(index);
  Index& bucket = buckets_[BucketOf(key)];
  entry = {.key = key, .begin = now, .count = 1, .next_in_bucket = bucket};
  bucket = index;
  Append(by_begin_, index);
  Append(ClassOf(entry), index);
  ++keys_;
}

void MinuteRates::Forget(Index index) {
  Entry& entry = At(index);
  Index* at = &buckets_[BucketOf(entry.key)];
  while (*at != index) at = &At(*at).next_in_bucket;
  *at = entry.next_in_bucket;
  Remove(by_begin_, index);
  Remove(ClassOf(entry), index);
  entry.next_in_bucket = free_;
  free_ = index;
  --keys_;
}

MinuteRates::Index MinuteRates::TakeFree() {
  if (free_ != kNone) {
    const Index index = free_;
    free_ = At(index).next_in_bucket;
    return index;
  }
  if (unused_ % kBlock == 0) {
    blocks_.push_back(std::make_unique<Entry[]>(kBlock));
  }
  return unused_++;
}

MinuteRates::Index MinuteRates::LeastBusy() const {
  const auto found =
      std::find_if(classes_.begin(), classes_.end(),
                   [](const List& list) { return list.first != kNone; });
  PARLOR_CHECK(found != classes_.end());
  return found->first;
}

void MinuteRates::Append(List& list, Index index) {
  Links& links = At(index).*list.links;
  links = {.before = list.last};
  if (list.last == kNone) {
    list.first = index;
  } else {
    (At(list.last).*list.links).after = index;
  }
  list.last = index;
}

void MinuteRates::Remove(List& list, Index index) {
  const Links links = At(index).*list.links;
  (links.before == kNone ? list.first : (At(links.before).*list.links).after) =
      links.after;
  (links.after == kNone ? list.last : (At(links.after).*list.links).before) =
      links.before;
}

}  // namespace parlor::host
