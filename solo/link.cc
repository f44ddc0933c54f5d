#include "link.h"

#include <algorithm>

#include "parlor/limits.h"

namespace parlor::solo {
namespace {

host::ShardOptions RoomOfOne(std::optional<std::uint32_t> seed) {
  host::ShardOptions options;
  options.rooms = 1;
  options.room.seed = seed;
  // Nobody else waits for this room: let it live as long as a room may.
  options.room.lifetime_ms = limits::kLifetimeMs.ceiling;
  return options;
}

}  // namespace

LocalLink::LocalLink(std::optional<std::uint32_t> seed, Entropy& entropy)
    : shard_(RoomOfOne(seed), entropy), connector_(pump_, pump_, shard_) {}

void LocalLink::Turn(TimePoint now) {
  pump_.Pump(now);
  shard_.OnAlarm(now);
}

TimePoint LocalLink::next_turn() const {
  if (pump_.has_ready()) return TimePoint::min();
  return std::min(pump_.next_alarm(), shard_.next_alarm());
}

}  // namespace parlor::solo
