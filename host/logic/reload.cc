#include "logic/reload.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "parlor/host/play_room.h"
#include "parlor/host/server.h"
#include "parlor/host/shard.h"
#include "parlor/status.h"
#include "parlor/transports/stream_options.h"

namespace parlor::host {
namespace {

// They are numbered, and open rooms go on.
bool HaveTheSameKeys(const ShardOptions& a, const ShardOptions& b) {
  return std::ranges::equal(a.play_rooms, b.play_rooms, {}, &PlayRoom::key,
                            &PlayRoom::key);
}

}  // namespace

absl::Status CheckReload(const ServerOptions& present,
                         const ServerOptions& next) {
  if (absl::Status status = ValidateOptions(next); !status.ok()) return status;
  const StreamOptions& a = present.stream;
  const StreamOptions& b = next.stream;
  const struct {
    std::string_view path;
    bool same;
  } rows[] = {
      {"server.address", present.address == next.address},
      {"server.port", present.port == next.port},
      {"server.tcp_port", present.tcp_port == next.tcp_port},
      {"server.base_path", present.base_path == next.base_path},
      {"server.shards", present.shards == next.shards},
      {"server.shard.rooms", present.shard.rooms == next.shard.rooms},
      {"server.shard.seats", present.shard.seats == next.shard.seats},
      {"server.shard.play_rooms", HaveTheSameKeys(present.shard, next.shard)},
      {"server.stream.reliable_bytes_max",
       a.reliable_bytes_max == b.reliable_bytes_max},
      {"server.stream.message_bytes_max",
       a.message_bytes_max == b.message_bytes_max},
      {"server.stream.linger_ms", a.linger_ms == b.linger_ms},
      {"server.stream.handshake_ms", a.handshake_ms == b.handshake_ms},
      {"server.stream.ping_ms", a.ping_ms == b.ping_ms},
      {"server.stream.silence_ms", a.silence_ms == b.silence_ms},
      {"server.access_store", present.access_store == next.access_store},
      {"server.state_path", present.state_path == next.state_path},
      {"server.record_path", present.record_path == next.record_path},
  };
  for (const auto& row : rows) {
    if (row.same) continue;
    return InvalidArgument(std::string(row.path) +
                           ": cannot change while it runs");
  }
  return absl::OkStatus();
}

}  // namespace parlor::host
