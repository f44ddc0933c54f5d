// MinuteRates: how often each key came within its minute, in bounded memory and
// bounded time a call.
//
// A key's minute begins with its first event and takes `per_minute` of them;
// the next minute begins with the first event after it. A key whose minute is
// over is forgotten.
#ifndef PARLOR_HOST_LOGIC_MINUTE_RATES_H_
#define PARLOR_HOST_LOGIC_MINUTE_RATES_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "parlor/host/address.h"
#include "parlor/time.h"

namespace parlor::host {

// An address, and where it goes: a room's number where that is counted apart.
struct RateKey {
  Address address;
  std::uint32_t room = 0;

  friend bool operator==(const RateKey&, const RateKey&) = default;
  template <typename H>
  friend H AbslHashValue(H state, const RateKey& key) {
    return H::combine(std::move(state), key.address, key.room);
  }
};

class MinuteRates {
 public:
  // What a key costs at most, all told and up to a block of 14 KiB: 56 bytes in
  // its block, 4 in the table, and what the heap adds.
  static constexpr std::size_t kKeyBytesMax = 64;

  // `per_minute` is 1 at least and fits 32 bits. At most `keys_max` (1 at
  // least) keys are kept; the memory comes as they do, and stays for the next
  // ones. When more come in one minute, one with few events makes room: of
  // those whose number of events has the fewest binary digits, the one that has
  // longest had as many. So a flood of new addresses costs other new ones their
  // count, and not those that have come often.
  MinuteRates(std::int64_t per_minute, std::size_t keys_max);

  // From here on, in minutes that have begun too.
  void SetPerMinute(std::int64_t per_minute);

  // Counts an event of `key` and answers 0; or, when its minute has no more
  // room, counts nothing and answers the seconds until the next, 1 at least.
  std::uint32_t Take(TimePoint now, const RateKey& key);

  // The same answer, without counting.
  std::uint32_t Wait(TimePoint now, const RateKey& key) const;

  // Takes back an event that was counted at `taken`, if another minute of the
  // key's has not begun since.
  void GiveBack(TimePoint taken, const RateKey& key);

  // Those in memory, some of whose minute may be over.
  std::size_t keys() const { return keys_; }

 private:
  // Entries are named by their index, which is half a pointer: each holds five.
  using Index = std::uint32_t;
  static constexpr Index kNone = UINT32_MAX;

  struct Links {
    Index before = kNone;
    Index after = kNone;
  };
  struct Entry {
    RateKey key;
    TimePoint begin;  // of its minute
    std::uint32_t count = 0;
    Index next_in_bucket = kNone;  // and of free entries, the next
    Links by_begin{};
    Links by_class{};
  };
  // Entries linked by one of their members, from the first to be forgotten on.
  struct List {
    Links Entry::*links;
    Index first = kNone;
    Index last = kNone;
  };

  static bool IsOver(TimePoint now, const Entry& entry);

  Entry& At(Index index);
  const Entry& At(Index index) const;
  std::size_t BucketOf(const RateKey& key) const;
  Index Find(const RateKey& key) const;
  std::uint32_t WaitOf(TimePoint now, const Entry& entry) const;
  List& ClassOf(const Entry& entry);
  void SetCount(Index index, std::uint32_t count);

  void ForgetSome(TimePoint now);
  void Add(TimePoint now, const RateKey& key);
  void Forget(Index index);
  Index TakeFree();
  Index LeastBusy() const;
  void Append(List& list, Index index);
  void Remove(List& list, Index index);

  std::int64_t per_minute_ = 1;
  std::size_t keys_max_;
  std::size_t keys_ = 0;
  std::vector<Index> buckets_;  // the first of each; a power of two
  std::vector<std::unique_ptr<Entry[]>> blocks_;
  Index unused_ = 0;              // from here on, entries were never used
  Index free_ = kNone;            // those that were, and are not
  List by_begin_;                 // all
  std::array<List, 33> classes_;  // all, by the binary digits of their count
};

}  // namespace parlor::host

#endif  // PARLOR_HOST_LOGIC_MINUTE_RATES_H_
