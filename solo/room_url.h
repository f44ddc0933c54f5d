// RoomUrl: what a player is given to join by.
#ifndef PARLOR_SOLO_ROOM_URL_H_
#define PARLOR_SOLO_ROOM_URL_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace parlor::solo {

// "ws://host:port/room/0?players=4"
struct RoomUrl {
  std::string host_url;  // "ws://host:port", with a base path if there is one
  std::uint32_t room = 0;
  std::int32_t players = 0;
};

// InvalidArgument says what is wrong with it, but of `host_url`:
// MakeNetConnector does that. It does not repeat the URL, in which somebody may
// have put a secret.
absl::StatusOr<RoomUrl> ParseRoomUrl(std::string_view url);

}  // namespace parlor::solo

#endif  // PARLOR_SOLO_ROOM_URL_H_
