// What a room's state is written with, piece by piece: a RoomState to write it
// from would have to be allocated, each time.
#ifndef PARLOR_CORE_LOCKSTEP_ROOM_STATE_BYTES_H_
#define PARLOR_CORE_LOCKSTEP_ROOM_STATE_BYTES_H_

#include <cstddef>
#include <vector>

#include "parlor/lockstep/room_state.h"

namespace parlor::lockstep {

// All of `state` but its seats, of which `seats` follow.
void AppendHead(const RoomState& state, int seats, std::vector<std::byte>& out);
// All of `seat` but its inputs, of which `inputs` follow, each as its bytes.
void AppendSeat(const SeatState& seat, std::size_t inputs,
                std::vector<std::byte>& out);

}  // namespace parlor::lockstep

#endif  // PARLOR_CORE_LOCKSTEP_ROOM_STATE_BYTES_H_
