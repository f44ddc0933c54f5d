// Shard: the rooms and sessions of one thread, without sockets, threads or a
// clock. A dedicated host runs one a core behind its sockets; Play Solo runs
// one inside the game's loop behind memory pipes; the simulator runs many.
//
// One thread. Connections attached to it live on that thread.
#ifndef PARLOR_HOST_SHARD_H_
#define PARLOR_HOST_SHARD_H_

#include <cstddef>
#include <cstdint>
#include <memory>

#include "parlor/connection.h"
#include "parlor/connector.h"
#include "parlor/entropy.h"
#include "parlor/limits.h"
#include "parlor/lockstep/room.h"
#include "parlor/time.h"

namespace parlor::host {

struct ShardOptions {
  lockstep::RoomOptions room;
  std::int64_t rooms = limits::kRooms.fallback;
  std::int64_t seats = limits::kSeats.fallback;  // most seats a room takes
};

absl::Status ValidateOptions(const ShardOptions& options);

class Shard {
 public:
  // `options` are valid; `entropy` outlives the shard.
  Shard(const ShardOptions& options, Entropy& entropy);
  ~Shard();
  Shard(const Shard&) = delete;
  Shard& operator=(const Shard&) = delete;

  // Whether `hello` may come in, asked before its connection is answered:
  // 0, or an HTTP status: 404 no such room number, 400 players out of range,
  // 409 the room is open for another size, 503 no place for another room.
  std::uint16_t Admit(const Hello& hello) const;

  // Takes a connection whose hello was admitted: seats it, opening the room if
  // need be, or closes it (4000, 4002).
  ConnectionId Attach(TimePoint now, std::unique_ptr<Connection> connection,
                      const Hello& hello);

  // Acts on the rooms' deadlines at or before `now`.
  void OnAlarm(TimePoint now);
  TimePoint next_alarm() const;

  // Closes every connection with `reason`; rooms end. Connections finish
  // closing with their pumps.
  void EndAll(CloseReason reason);

  std::size_t rooms() const;
  std::size_t connections() const;
  // Null when no such room is open. Until the next call into the shard.
  const lockstep::Room* FindRoom(std::uint32_t number) const;

 private:
  // For whoever implements it.
};

}  // namespace parlor::host

#endif  // PARLOR_HOST_SHARD_H_
