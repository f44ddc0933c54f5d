// RoomStore: where a host keeps its matches, so that they go on when it was
// restarted. A port: StateFile (ServerOptions::state_path) keeps them in a
// file, MemoryRoomStore for as long as it lives.
#ifndef PARLOR_HOST_ROOM_STORE_H_
#define PARLOR_HOST_ROOM_STORE_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "parlor/lockstep/room_state.h"

namespace parlor::host {

// What is kept of a match, for Shard::Restore.
struct KeptRoom {
  std::uint32_t number = 0;
  lockstep::RoomState state;
};

class RoomStore {
 public:
  virtual ~RoomStore() = default;

  // `state` (lockstep/room_state.h) is kept from the return on in place of what
  // was kept of the room, whatever becomes of the process. Called by the thread
  // of the room, by several threads at once for different rooms. Does not wait
  // for a disk. What cannot be kept is the store's to report.
  virtual void Keep(std::uint32_t room, std::span<const std::byte> state) = 0;
  // Nothing is kept of it any more.
  virtual void Forget(std::uint32_t room) = 0;
};

}  // namespace parlor::host

#endif  // PARLOR_HOST_ROOM_STORE_H_
