#include "parlor/host/play_room.h"

#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "parlor/connector.h"
#include "parlor/status.h"

namespace parlor::host {

absl::Status ValidatePlayRooms(const std::vector<PlayRoom>& rooms,
                               std::string_view path) {
  if (rooms.size() > kPlayRoomsMax) {
    return InvalidArgument(std::string(path) + ": " +
                           std::to_string(rooms.size()) + " are more than " +
                           std::to_string(kPlayRoomsMax));
  }
  std::set<std::string_view> keys;
  for (std::size_t i = 0; i < rooms.size(); ++i) {
    const PlayRoom& room = rooms[i];
    const std::string at = std::string(path) + '[' + std::to_string(i) + "].";
    if (!IsPlayKey(room.key)) {
      return InvalidArgument(at + "key: \"" + room.key +
                             "\" is not 1 to 64 of A-Z a-z 0-9 _ -");
    }
    if (!keys.insert(room.key).second) {
      return InvalidArgument(at + "key: \"" + room.key +
                             "\" is another room's");
    }
    if (!room.make) return InvalidArgument(at + "make: there is none");
  }
  return absl::OkStatus();
}

}  // namespace parlor::host
