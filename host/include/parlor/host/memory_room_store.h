// MemoryRoomStore: a RoomStore for as long as it lives, which may be longer
// than a host does: for tests of what a restart leaves, and for the simulator.
// Any thread.
#ifndef PARLOR_HOST_MEMORY_ROOM_STORE_H_
#define PARLOR_HOST_MEMORY_ROOM_STORE_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "parlor/host/room_store.h"
#include "parlor/lockstep/room_state.h"

namespace parlor::host {

class MemoryRoomStore final : public RoomStore {
 public:
  void Keep(std::uint32_t room, std::span<const std::byte> state) override;
  void Forget(std::uint32_t room) override;

  // What is kept, by number: for Shard::Restore. Only what a shard kept.
  std::vector<KeptRoom> rooms() const;
  // Nothing: it is not kept.
  std::optional<lockstep::RoomState> Find(std::uint32_t room) const;
  std::size_t size() const;  // rooms

 private:
  mutable std::mutex mutex_;
  std::map<std::uint32_t, std::vector<std::byte>> kept_;
};

}  // namespace parlor::host

#endif  // PARLOR_HOST_MEMORY_ROOM_STORE_H_
