#include "parlor/host/memory_room_store.h"

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "parlor/check.h"
#include "parlor/lockstep/room_state.h"

namespace parlor::host {
namespace {

lockstep::RoomState Parse(std::span<const std::byte> bytes) {
  auto state = lockstep::ParseRoomState(bytes);
  PARLOR_CHECK(state.ok());
  return *std::move(state);
}

}  // namespace

void MemoryRoomStore::Keep(std::uint32_t room,
                           std::span<const std::byte> state) {
  const std::lock_guard lock(mutex_);
  kept_[room].assign(state.begin(), state.end());
}

void MemoryRoomStore::Forget(std::uint32_t room) {
  const std::lock_guard lock(mutex_);
  kept_.erase(room);
}

std::vector<KeptRoom> MemoryRoomStore::rooms() const {
  const std::lock_guard lock(mutex_);
  std::vector<KeptRoom> rooms;
  for (const auto& [number, bytes] : kept_) {
    rooms.push_back({.number = number, .state = Parse(bytes)});
  }
  return rooms;
}

std::optional<lockstep::RoomState> MemoryRoomStore::Find(
    std::uint32_t room) const {
  const std::lock_guard lock(mutex_);
  const auto found = kept_.find(room);
  if (found == kept_.end()) return std::nullopt;
  return Parse(found->second);
}

std::size_t MemoryRoomStore::size() const {
  const std::lock_guard lock(mutex_);
  return kept_.size();
}

}  // namespace parlor::host
