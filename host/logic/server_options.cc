#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "parlor/connection.h"
#include "parlor/host/address.h"
#include "parlor/host/gate_options.h"
#include "parlor/host/server.h"
#include "parlor/host/shard.h"
#include "parlor/limits.h"
#include "parlor/lockstep/room.h"
#include "parlor/lockstep/wire.h"
#include "parlor/status.h"
#include "parlor/transports/stream_options.h"
#include "stream/http_head.h"

namespace parlor::host {
namespace {

// Of another's options, which does not know where it is a field.
absl::Status Below(std::string path, const absl::Status& status) {
  if (status.ok()) return status;
  const absl::string_view message = status.message();
  path.append(".").append(message.data(), message.size());
  return InvalidArgument(path);
}

absl::Status CheckAddress(const std::string& address) {
  if (Address::Parse(address)) return absl::OkStatus();
  return InvalidArgument("server.address: \"" + address +
                         "\" is no numeric IPv4 or IPv6 address");
}

absl::Status CheckBasePath(const std::string& path) {
  const bool fits = path.empty() ||
                    (stream::IsHttpTarget(path) &&
                     path.find('?') == std::string::npos && path.back() != '/');
  if (fits) return absl::OkStatus();
  return InvalidArgument("server.base_path: \"" + path +
                         "\" is neither empty nor a path like \"/games\"");
}

absl::Status CheckShards(int shards) {
  if (shards >= 0 && shards <= kShardsMax) return absl::OkStatus();
  return InvalidArgument("server.shards: " + std::to_string(shards) +
                         " is not in 0.." + std::to_string(kShardsMax));
}

// What Room::Resume says in one go: WELCOME and RESUME, and of every other seat
// its INPUTs and its state. A lane that does not hold that would end every
// match in which a link was lost.
constexpr std::size_t ResumeBytes(std::int64_t seats) {
  const auto others = static_cast<std::size_t>(seats - 1);
  return (2 + others * (lockstep::kReplayInputs + 1)) *
         (lockstep::kMessageSize + kMessageOverhead);
}

absl::Status CheckPasses(const ServerOptions& options) {
  if (!options.gate.passes || options.access_store) return absl::OkStatus();
  return InvalidArgument(
      "server.gate.passes: they are locked to devices and revoked in "
      "server.access_store, and none is set");
}

absl::Status CheckReplayFits(const ServerOptions& options) {
  const std::size_t least = ResumeBytes(options.shard.seats);
  if (options.stream.reliable_bytes_max >= least) return absl::OkStatus();
  return InvalidArgument("server.stream.reliable_bytes_max: " +
                         std::to_string(options.stream.reliable_bytes_max) +
                         " does not hold a resume into a room of " +
                         std::to_string(options.shard.seats) +
                         " seats, which takes " + std::to_string(least));
}

}  // namespace

absl::Status ValidateOptions(const ServerOptions& options) {
  absl::Status status = CheckAddress(options.address);
  status.Update(CheckBasePath(options.base_path));
  status.Update(CheckShards(options.shards));
  // First: the shard's options hold them, and do not know that either.
  status.Update(Below("server.shard.room",
                      lockstep::ValidateOptions(options.shard.room)));
  status.Update(Below("server.shard", ValidateOptions(options.shard)));
  status.Update(ValidateOptions(options.gate, "server.gate"));
  status.Update(CheckPasses(options));
  status.Update(ValidateOptions(options.stream, "server.stream"));
  const struct {
    const Limit& limit;
    std::string_view path;
    std::int64_t value;
  } rows[] = {
      {limits::kConnections, "server.connections", options.connections},
      {limits::kUnseated, "server.unseated", options.unseated},
      {limits::kUnseatedPerAddress, "server.unseated_per_address",
       options.unseated_per_address},
      {limits::kDrainMs, "server.drain_ms", options.drain_ms},
  };
  for (const auto& row : rows) {
    status.Update(CheckLimit(row.limit, row.path, row.value));
  }
  if (status.ok()) status = CheckReplayFits(options);
  return status;
}

}  // namespace parlor::host
