// What a parsed room state is good for: a room that saves the same, and that
// its players can come back to and play on in.
#ifndef PARLOR_TESTS_CORE_ROOM_STATE_RUN_H_
#define PARLOR_TESTS_CORE_ROOM_STATE_RUN_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "parlor/check.h"
#include "parlor/entropy.h"
#include "parlor/limits.h"
#include "parlor/lockstep/room.h"
#include "parlor/lockstep/room_state.h"
#include "parlor/lockstep/wire.h"
#include "support/recording_connection.h"

namespace parlor::test {

// For the longest lifetime: a room of a shorter one does not get as old.
inline lockstep::RoomOptions OptionsOfOld() {
  lockstep::RoomOptions options;
  options.lifetime_ms = limits::kLifetimeMs.ceiling;
  return options;
}

inline std::vector<std::byte> SaveAgain(const lockstep::RoomState& state) {
  const TimePoint now{std::chrono::hours(1)};
  SeededEntropy entropy(1);
  std::vector<std::byte> bytes;
  lockstep::Room(now, state, OptionsOfOld(), entropy).Save(now, bytes);
  return bytes;
}

// Every seat that has not left comes back, hears all that it must, and says
// its next frame; then all of them leave.
inline void RunRestored(const lockstep::RoomState& state) {
  const TimePoint now{std::chrono::hours(1)};
  SeededEntropy entropy(1);
  lockstep::Room room(now, state, OptionsOfOld(), entropy);
  if (room.next_alarm() == now) {  // its lifetime was over
    room.OnAlarm(now);
    PARLOR_CHECK(room.phase() == lockstep::Room::Phase::kEnded);
    return;
  }
  std::size_t others = 0;  // messages that one who comes back is told
  for (const lockstep::SeatState& seat : state.seats) {
    others += seat.inputs.size() + 1;
  }
  std::vector<RecordingConnection> connections(state.seats.size());
  for (std::size_t i = 0; i < state.seats.size(); ++i) {
    const lockstep::SeatState& seat = state.seats[i];
    if (seat.token == 0) continue;
    PARLOR_CHECK(
        room.Resume(now, connections[i], lockstep::TokenText(seat.token)) ==
        lockstep::Outcome::kSeated);
    PARLOR_CHECK(room.SeatOf(connections[i]) == static_cast<int>(i));
    PARLOR_CHECK(connections[i].Take().size() ==
                 1 + others - seat.inputs.size());
  }
  std::uint64_t relayed = 0;
  for (std::size_t i = 0; i < state.seats.size(); ++i) {
    if (state.seats[i].token == 0) continue;
    const std::int64_t last = state.seats[i].last_input;
    for (const std::int64_t frame : {last, last + 1}) {
      // No frame is below the first, or above the last that there is.
      if (frame < 0 || frame > 0xffffffff) continue;
      const lockstep::Message input{.kind = lockstep::Kind::kInput,
                                    .frame = static_cast<std::uint32_t>(frame)};
      room.OnMessage(now, connections[i], MessageKind::kBinary, Encode(input));
      if (frame > last) ++relayed;
    }
  }
  PARLOR_CHECK(room.counters().relayed == relayed);
  for (RecordingConnection& connection : connections) {
    room.OnClose(now, connection, close_code::kNormal);
  }
  PARLOR_CHECK(room.phase() == lockstep::Room::Phase::kEnded);
}

}  // namespace parlor::test

#endif  // PARLOR_TESTS_CORE_ROOM_STATE_RUN_H_
