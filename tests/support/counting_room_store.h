// A RoomStore that keeps in memory, and counts what it is asked.
#ifndef PARLOR_TESTS_SUPPORT_COUNTING_ROOM_STORE_H_
#define PARLOR_TESTS_SUPPORT_COUNTING_ROOM_STORE_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "parlor/check.h"
#include "parlor/host/memory_room_store.h"
#include "parlor/host/room_store.h"
#include "parlor/lockstep/room_state.h"

namespace parlor::test {

class CountingRoomStore final : public host::RoomStore {
 public:
  void Keep(std::uint32_t room, std::span<const std::byte> state) override {
    ++keeps;
    kept.Keep(room, state);
  }
  void Forget(std::uint32_t room) override {
    ++forgets;
    PARLOR_CHECK(has(room));
    kept.Forget(room);
  }

  bool has(std::uint32_t room) const { return kept.Find(room).has_value(); }
  lockstep::RoomState State(std::uint32_t room) const {
    auto state = kept.Find(room);
    PARLOR_CHECK(state);
    return *state;
  }

  host::MemoryRoomStore kept;
  int keeps = 0;
  int forgets = 0;
};

}  // namespace parlor::test

#endif  // PARLOR_TESTS_SUPPORT_COUNTING_ROOM_STORE_H_
