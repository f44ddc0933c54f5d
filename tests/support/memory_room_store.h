// A RoomStore that keeps in memory, and counts what it is asked.
#ifndef PARLOR_TESTS_SUPPORT_MEMORY_ROOM_STORE_H_
#define PARLOR_TESTS_SUPPORT_MEMORY_ROOM_STORE_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "parlor/check.h"
#include "parlor/host/room_store.h"
#include "parlor/lockstep/room_state.h"

namespace parlor::test {

class MemoryRoomStore final : public host::RoomStore {
 public:
  void Keep(std::uint32_t room, std::span<const std::byte> state) override {
    ++keeps;
    kept[room].assign(state.begin(), state.end());
  }
  void Forget(std::uint32_t room) override {
    ++forgets;
    PARLOR_CHECK(kept.erase(room) == 1);
  }

  bool has(std::uint32_t room) const { return kept.count(room) == 1; }
  lockstep::RoomState State(std::uint32_t room) const {
    auto state = lockstep::ParseRoomState(kept.at(room));
    PARLOR_CHECK(state.ok());
    return *std::move(state);
  }

  std::map<std::uint32_t, std::vector<std::byte>> kept;
  int keeps = 0;
  int forgets = 0;
};

}  // namespace parlor::test

#endif  // PARLOR_TESTS_SUPPORT_MEMORY_ROOM_STORE_H_
