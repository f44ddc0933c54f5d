// MinuteRates: how often each key came within its minute, in bounded memory.
//
// A key's minute begins with its first event and takes `per_minute` of them;
// the next minute begins with the first event after it. A key whose minute is
// over is forgotten.
#ifndef PARLOR_HOST_LOGIC_MINUTE_RATES_H_
#define PARLOR_HOST_LOGIC_MINUTE_RATES_H_

#include <cstddef>
#include <cstdint>

#include "absl/container/flat_hash_map.h"
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
  // At most `keys_max` keys are kept; see the .cc for who is forgotten when
  // more come in one minute.
  MinuteRates(std::int64_t per_minute, std::size_t keys_max);

  // Counts an event of `key` and answers 0; or, when its minute has no more
  // room, counts nothing and answers the seconds until the next, 1 at least.
  std::uint32_t Take(TimePoint now, const RateKey& key);

  // The same answer, without counting.
  std::uint32_t Wait(TimePoint now, const RateKey& key) const;

  std::size_t keys() const;
};

}  // namespace parlor::host

#endif  // PARLOR_HOST_LOGIC_MINUTE_RATES_H_
