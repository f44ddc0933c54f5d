// How long a peer that has lost its room waits before each try to come back.
#ifndef PARLOR_CORE_RETRY_WAIT_H_
#define PARLOR_CORE_RETRY_WAIT_H_

#include <cstdint>

#include "parlor/close_reason.h"
#include "parlor/random.h"
#include "parlor/time.h"

namespace parlor {

// Twice as long with each of the `tries` that were made, and up to twice that
// where the host restarts: everyone lost it in the same moment. `jitter` is
// drawn from then alone.
inline Duration RetryWait(std::int64_t retry_ms, int tries, CloseCode lost_by,
                          Random& jitter) {
  Duration wait = (retry_ms << tries) * kMillisecond;
  if (lost_by == close_code::kRestart) {
    const auto wait_ms = static_cast<std::uint64_t>(wait / kMillisecond);
    const auto extra = jitter.Next64() % (wait_ms + 1);
    wait += static_cast<std::int64_t>(extra) * kMillisecond;
  }
  return wait;
}

}  // namespace parlor

#endif  // PARLOR_CORE_RETRY_WAIT_H_
