#include "sim/link_path.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "parlor/time.h"

namespace parlor::sim {

void LinkPath::Set(const PathConditions& conditions, Duration retransmit) {
  conditions_ = conditions;
  retransmit_ = retransmit;
  loss_ = ShareOf(conditions.loss_ppm);
  burst_ = ShareOf(conditions.burst_ppm);
  duplicate_ = ShareOf(conditions.duplicate_ppm);
  overtake_ = ShareOf(conditions.overtake_ppm);
  queue_time_ = Duration::zero();
  if (conditions.bytes_per_s > 0) {
    queue_time_ = Duration(static_cast<std::int64_t>(conditions.queue_bytes) *
                           kSecond.count() / conditions.bytes_per_s);
  }
}

Duration LinkPath::TimeOf(std::size_t bytes) const {
  if (conditions_.bytes_per_s == 0) return Duration::zero();
  const std::size_t packets = 1 + bytes / kPacketBytes;
  return Duration(static_cast<std::int64_t>(bytes + packets * kPacketOverhead) *
                  kSecond.count() / conditions_.bytes_per_s);
}

Duration LinkPath::DrawJitter() {
  const auto jitter = static_cast<std::uint64_t>(conditions_.jitter.count());
  if (jitter == 0) return Duration::zero();
  // 60 s are below 2^36 ns, and the product below 2^64.
  const std::uint64_t draw = random_.Next() >> 4;
  return Duration(static_cast<std::int64_t>((draw * (jitter + 1)) >> 28));
}

bool LinkPath::Lost(TimePoint at, std::size_t packets) {
  if (at < burst_until_) return true;
  if (loss_ == 0) return false;
  for (std::size_t i = 0; i < packets; ++i) {
    if (Draw(loss_)) return true;
  }
  return false;
}

// `waits`: what is above the queue keeps its turn.
Flight LinkPath::Queue(TimePoint now, std::size_t bytes, bool waits) {
  Flight flight{.leaves = now, .arrives = now};
  if (conditions_.bytes_per_s > 0) {
    const TimePoint begins = std::max(now, busy_until_);
    const TimePoint ends = begins + TimeOf(bytes);
    flight.dropped = ends - now > queue_time_ && begins > now;
    flight.lost = flight.dropped;
    if (!flight.dropped || waits) busy_until_ = ends;
    flight.leaves = ends;
  }
  if (Draw(burst_) && flight.leaves >= burst_until_) {
    burst_until_ = flight.leaves + conditions_.burst;
  }
  if (Lost(flight.leaves, 1 + bytes / kPacketBytes)) flight.lost = true;
  return flight;
}

Flight LinkPath::Send(TimePoint now, std::size_t bytes) {
  Flight flight = Queue(now, bytes, /*waits=*/false);
  flight.arrives = flight.leaves + conditions_.latency + DrawJitter();
  return flight;
}

TimePoint LinkPath::SendReliable(TimePoint now, std::size_t bytes,
                                 TimePoint floor) {
  const Flight first = Queue(now, bytes, /*waits=*/true);
  TimePoint at = first.leaves;
  if (first.lost) {
    Duration wait = retransmit_;
    int tries = 0;
    do {
      if (++tries == kTriesMax) return kNever;
      at += wait;
      wait = std::min(2 * wait, kRetransmitMax);
    } while (Lost(at, 1));
  }
  return std::max(floor, at + conditions_.latency + DrawJitter());
}

TimePoint LinkPath::NextTry(TimePoint since, TimePoint now) const {
  TimePoint at = since;
  Duration wait = retransmit_;
  do {
    at += wait;
    wait = std::min(2 * wait, kRetransmitMax);
  } while (at < now);
  return at;
}

void LinkState::Set(const Conditions& new_conditions) {
  conditions = new_conditions;
  const Duration round_trip =
      new_conditions.up.latency + new_conditions.down.latency;
  path(Direction::kUp).Set(new_conditions.up, round_trip + kRetransmitTime);
  path(Direction::kDown).Set(new_conditions.down, round_trip + kRetransmitTime);
}

void LinkState::Reset() {
  const std::vector<LinkUser*> all = users;
  for (LinkUser* user : all) user->OnReset();
}

}  // namespace parlor::sim
