// RoomState: what a match needs to go on in another process, and how it is
// written down. Made by Room::Save, taken by Room's second constructor.
//
// It holds the seats' resume tokens: what it is written to is for its owner
// alone (mode 0600).
//
// Bytes, integers little-endian; a frame is written as its number + 1, 0 where
// there was none:
//
//   u8   version, 1          then of each seat:
//   u8   opened_for          u32  token
//   u8   seats               u64  last INPUT, u64 last HASH
//   u8   mode                u8   INPUTs that follow, oldest first
//   u32  seed                     12 bytes each, as relayed
//   u64  age_ms
#ifndef PARLOR_LOCKSTEP_ROOM_STATE_H_
#define PARLOR_LOCKSTEP_ROOM_STATE_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "parlor/lockstep/wire.h"

namespace parlor::lockstep {

struct SeatState {
  std::uint32_t token = 0;       // 0: left
  std::int64_t last_input = -1;  // frames; -1: none was relayed
  std::int64_t last_hash = -1;
  // As relayed, ascending, at most kReplayInputs; the last is last_input's.
  std::vector<MessageBytes> inputs;
};

// Of a room that plays; one that waits in its lobby has nobody who could come
// back to it.
struct RoomState {
  int opened_for = 0;
  std::uint32_t seed = 0;
  std::uint8_t mode = 0;
  std::int64_t age_ms = 0;  // since it was opened, up to the longest lifetime
  std::vector<SeatState> seats;  // of the match, 1..opened_for
};

// The most that a room of `players` seats is written as.
std::size_t StateBytesMax(int players);

// InvalidArgument, saying what is wrong and nothing that is in it: bytes that
// no Room::Save wrote. Whatever they are, a room can be made of what is
// answered: tokens differ, frames ascend, somebody has not left.
absl::StatusOr<RoomState> ParseRoomState(std::span<const std::byte> bytes);

}  // namespace parlor::lockstep

#endif  // PARLOR_LOCKSTEP_ROOM_STATE_H_
