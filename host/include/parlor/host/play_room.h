// PlayRoom: a hosted room (hosted_room.h) that a host runs under a key of its
// own, for clients that ask for /play/<key>.
#ifndef PARLOR_HOST_PLAY_ROOM_H_
#define PARLOR_HOST_PLAY_ROOM_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "parlor/hosted_room.h"

namespace parlor::host {

struct PlayRoom {
  std::string key;  // IsPlayKey
  // Everybody comes in, without a code or a pass: the host says so of this
  // room. Origins and rates are looked at as for any. Who shows a pass all the
  // same has to show a right one, and is known by it.
  bool open = false;
  // Makes the room when the first comes in, and again when one that ended is
  // asked for. What it throws counts as null.
  HostedRoomFactory make{};
};

// As many as there may be of lockstep rooms.
inline constexpr std::size_t kPlayRoomsMax = 65'536;

// OK, or InvalidArgument naming "<path>[<index>].key" or ".make": a key that is
// none or that another has, a factory that is missing, or "<path>": too many.
absl::Status ValidatePlayRooms(const std::vector<PlayRoom>& rooms,
                               std::string_view path);

}  // namespace parlor::host

#endif  // PARLOR_HOST_PLAY_ROOM_H_
