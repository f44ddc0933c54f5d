// CountedRelay: rooms that relay a fixed amount of work, the same in each run,
// so that what it takes can be counted instead of timed.
#ifndef PARLOR_BENCH_RELAY_COUNT_COUNTED_RELAY_H_
#define PARLOR_BENCH_RELAY_COUNT_COUNTED_RELAY_H_

#include <cstdint>

#include "absl/status/status.h"

namespace parlor::bench {

struct CountedRelayOptions {
  int rooms = 1;
  int seats = 8;
  std::int64_t gather_ms = 0;
};

// Whether all seats of a room speak at once, or each at its own moment of the
// step, when what the one before it said has been relayed.
enum class Phases : std::uint8_t { kStep, kSpread };

class CountedRelay {
 public:
  virtual ~CountedRelay() = default;

  // A step at 60 Hz of virtual time: every seat says its next INPUT, and has
  // the others'. Unavailable: one of them did not come, was not as it was sent,
  // or a seat was closed; the text says where.
  virtual absl::Status Step(Phases phases) = 0;

  // From here on, callgrind counts what the steps take. It must run with
  // --collect-atstart=no; without callgrind nothing happens.
  virtual void Collect() = 0;

  // INPUTs that reached a seat.
  virtual std::uint64_t delivered() const = 0;
};

}  // namespace parlor::bench

#endif  // PARLOR_BENCH_RELAY_COUNT_COUNTED_RELAY_H_
