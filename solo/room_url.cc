#include "room_url.h"

#include <charconv>
#include <string>

#include "cycles/state.h"
#include "parlor/limits.h"
#include "parlor/status.h"

namespace parlor::solo {
namespace {

constexpr std::string_view kRoomPath = "/room/";
constexpr std::string_view kPlayers = "?players=";

// The whole of `text`, in digits.
template <typename T>
bool ReadNumber(std::string_view text, T* value) {
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, *value);
  return error == std::errc{} && rest == end && !text.empty();
}

}  // namespace

absl::StatusOr<RoomUrl> ParseRoomUrl(std::string_view url) {
  const std::size_t path = url.rfind(kRoomPath);
  const std::size_t query = url.find(kPlayers, path);
  if (path == std::string_view::npos || query == std::string_view::npos) {
    return InvalidArgument(
        "not the address of a room, as in ws://host:7777/room/0?players=4");
  }
  RoomUrl room;
  room.host_url = url.substr(0, path);
  const std::size_t number = path + kRoomPath.size();
  if (!ReadNumber(url.substr(number, query - number), &room.room) ||
      room.room >= limits::kRooms.ceiling) {
    return InvalidArgument(
        "behind /room/ comes the room's number, as in /room/0");
  }
  if (!ReadNumber(url.substr(query + kPlayers.size()), &room.players) ||
      room.players < cycles::kPlayersMin ||
      room.players > cycles::kPlayersMax) {
    return InvalidArgument("behind ?players= comes a number from " +
                           std::to_string(cycles::kPlayersMin) + " to " +
                           std::to_string(cycles::kPlayersMax) +
                           ", and nothing more");
  }
  return room;
}

}  // namespace parlor::solo
