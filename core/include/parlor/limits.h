// Every cap, with its default and its ceiling. Configuration moves a cap below
// its ceiling and never above it: CheckLimit is how every option is taken. The
// figures are part of what a lockstep room promises its players, except where a
// line gives another source.
#ifndef PARLOR_LIMITS_H_
#define PARLOR_LIMITS_H_

#include <cstdint>
#include <string_view>

#include "absl/status/status.h"

namespace parlor {

struct Limit {
  std::string_view name;  // ends in its unit
  std::int64_t fallback;  // the default
  std::int64_t floor;     // the least that makes sense
  std::int64_t ceiling;
};

namespace limits {

inline constexpr std::int64_t kMinuteMs = 60'000;
inline constexpr std::int64_t kHourMs = 60 * kMinuteMs;

// Of one shard.
inline constexpr Limit kRooms{"rooms", 1'024, 1, 65'536};
// Peers keep seats in 32-bit masks.
inline constexpr Limit kSeats{"seats", 8, 1, 32};
// 60 INPUT and 2 HASH a second plus resends fit with room to spare.
inline constexpr Limit kMessageRate{"message_rate_per_s", 240, 1, 10'000};
inline constexpr Limit kMessageBurst{"message_burst", 480, 1, 20'000};
inline constexpr Limit kLobbyMs{"lobby_ms", 10 * kMinuteMs, 1, kHourMs};
inline constexpr Limit kIdleMs{"idle_ms", 5 * kMinuteMs, 1, kHourMs};
inline constexpr Limit kLifetimeMs{"lifetime_ms", 4 * kHourMs, 1, 24 * kHourMs};
inline constexpr Limit kHoldMs{"hold_ms", 20'000, 0, 120'000};
// How long what is relayed may wait for the rest of its frame. The ceiling is
// ours: six frames at 60 Hz.
inline constexpr Limit kGatherMs{"gather_ms", 0, 0, 100};

// The lockstep peer. Seats are at most 2 * delay + 1 frames apart, and a room
// replays kReplayInputs (lockstep/wire.h): 2 * 31 + 1 < 64.
inline constexpr Limit kDelay{"delay", 2, 1, 31};
inline constexpr Limit kHashEvery{"hash_every", 30, 1, 100'000};
inline constexpr Limit kRetries{"retries", 6, 0, 16};
inline constexpr Limit kRetryMs{"retry_ms", 250, 1, 60'000};
inline constexpr Limit kConnectMs{"connect_ms", 3'000, 1, 60'000};

// For a host on a network, which counts by address and accepts by socket.
inline constexpr Limit kAddressRate{"joins_per_minute", 60, 1, 100'000};
inline constexpr Limit kRoomJoinRate{"room_joins_per_minute", 20, 1, 100'000};
inline constexpr Limit kUnseated{"unseated", 1'024, 1, 65'536};
inline constexpr Limit kUnseatedPerAddress{"unseated_per_address", 64, 1,
                                           65'536};
inline constexpr Limit kConnections{"connections", 65'536, 1, 1'048'576};
// How long a host that is told to end lets its matches go on. The ceiling is
// ours: service managers kill after 90 s.
inline constexpr Limit kDrainMs{"drain_ms", 5'000, 0, 80'000};

// Passes: how long one lasts and how many devices may use it.
inline constexpr Limit kPassDays{"pass_days", 30, 1, 400};
inline constexpr Limit kPassDevices{"pass_devices", 2, 1, 16};

// The byte limits of a connection's lanes are ours: a lane holds 4 s of the
// worst lockstep relay (31 seats x 240/s x 16 B = 119 KB/s), and two of the
// largest messages that any room kind takes (1 MiB, presence).
inline constexpr Limit kReliableBytes{"reliable_bytes_max", 512 * 1024, 1'024,
                                      2 * 1024 * 1024};
inline constexpr Limit kMessageBytes{"message_bytes_max", 64 * 1024, 16,
                                     1024 * 1024};
// How long a close waits for what was queued to leave. Ours: a peer that reads
// at all takes a full lane in that time.
inline constexpr Limit kLingerMs{"linger_ms", 5'000, 0, 60'000};
// A request head has 10 s to arrive; rule 10 of connection.h. The ceilings are
// ours: that of a ping lies below what proxies cut idle links off at (60 s).
inline constexpr Limit kHandshakeMs{"handshake_ms", 10'000, 1, 60'000};
inline constexpr Limit kPingMs{"ping_ms", 10'000, 1, 50'000};
inline constexpr Limit kSilenceMs{"silence_ms", 20'000, 1, 120'000};

}  // namespace limits

// OK, or InvalidArgument naming `path` (the flag or the field), the value and
// the range: "--seats: 33 is not in 1..32".
absl::Status CheckLimit(const Limit& limit, std::string_view path,
                        std::int64_t value);

}  // namespace parlor

#endif  // PARLOR_LIMITS_H_
