// States of matches that no room wrote, for what keeps them.
#ifndef PARLOR_TESTS_SUPPORT_ROOM_STATES_H_
#define PARLOR_TESTS_SUPPORT_ROOM_STATES_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "parlor/byte_io.h"
#include "parlor/lockstep/room_state.h"
#include "parlor/lockstep/wire.h"
#include "parlor/random.h"

namespace parlor::test {

// Of a match of `players` in a room opened for as many, each of whom has sent
// `inputs` in its last frames. Tokens are 1, 2, 3 and so on; all the rest
// follows from `tag`.
inline lockstep::RoomState MakeRoomState(int players, std::uint32_t tag,
                                         std::uint32_t inputs) {
  Random random(tag);
  lockstep::RoomState state;
  state.opened_for = players;
  state.seed = tag;
  state.mode = static_cast<std::uint8_t>(random.Below(256));
  state.age_ms = random.Below(1'000'000);
  for (int seat = 0; seat < players; ++seat) {
    lockstep::SeatState& made = state.seats.emplace_back();
    made.token = static_cast<std::uint32_t>(seat) + 1;
    std::uint32_t frame = random.Below(100'000);
    made.last_hash = frame;
    for (std::uint32_t i = 0; i < inputs; ++i, ++frame) {
      made.last_input = frame;
      made.inputs.push_back(
          lockstep::Encode({.kind = lockstep::Kind::kInput,
                            .slot = static_cast<std::uint8_t>(seat),
                            .frame = frame,
                            .value = random.Below(0xffffffff)}));
    }
  }
  return state;
}

// As lockstep/room_state.h says it.
inline std::vector<std::byte> BytesOf(const lockstep::RoomState& state) {
  std::vector<std::byte> bytes;
  ByteWriter writer(bytes);
  writer.U8(1);
  writer.U8(static_cast<std::uint8_t>(state.opened_for));
  writer.U8(static_cast<std::uint8_t>(state.seats.size()));
  writer.U8(state.mode);
  writer.U32(state.seed);
  writer.U64(static_cast<std::uint64_t>(state.age_ms));
  for (const lockstep::SeatState& seat : state.seats) {
    writer.U32(seat.token);
    writer.U64(static_cast<std::uint64_t>(seat.last_input + 1));
    writer.U64(static_cast<std::uint64_t>(seat.last_hash + 1));
    writer.U8(static_cast<std::uint8_t>(seat.inputs.size()));
    for (const lockstep::MessageBytes& input : seat.inputs) {
      writer.Bytes(input);
    }
  }
  return bytes;
}

}  // namespace parlor::test

#endif  // PARLOR_TESTS_SUPPORT_ROOM_STATES_H_
