#include "program/play_settings.h"

#include <algorithm>
#include <cstddef>
#include <exception>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "parlor/connector.h"
#include "parlor/host/play_room.h"
#include "parlor/host/server.h"
#include "parlor/hosted_game.h"
#include "parlor/hosted_room.h"
#include "parlor/printable.h"
#include "parlor/status.h"
#include "program/settings.h"

namespace parlor::host_program {
namespace {

using nlohmann::ordered_json;

// A path below "play", and what is wrong there.
absl::Status Bad(std::string path, std::string_view what) {
  return InvalidArgument(path.append(": ").append(what));
}

std::string Quoted(const std::string& text) {
  return text.empty() ? "\"\"" : "\"" + Shown(text) + "\"";
}

// Takes a member that is a text out of a room.
absl::StatusOr<std::string> TakeText(ordered_json& room, const char* name,
                                     const std::string& path) {
  const auto found = room.find(name);
  if (found == room.end()) {
    return Bad(path, "needs a \"" + std::string(name) + "\"");
  }
  if (!found->is_string()) return Bad(path + "/" + name, "is not a text");
  std::string text = found->get<std::string>();
  room.erase(name);
  return text;
}

absl::StatusOr<bool> TakeSwitch(ordered_json& room, const char* name,
                                const std::string& path) {
  const auto found = room.find(name);
  if (found == room.end()) return false;
  if (!found->is_boolean()) {
    return Bad(path + "/" + name, "is not true or false");
  }
  const bool value = found->get<bool>();
  room.erase(name);
  return value;
}

absl::StatusOr<const HostedGame*> FindGame(const Linked& linked,
                                           const std::string& name,
                                           const std::string& path) {
  std::string all;
  for (const HostedGame& game : linked.games) {
    if (game.name == name) return &game;
    all.append(all.empty() ? "" : ", ").append(game.name);
  }
  return Bad(path + "/game",
             "no game " + Quoted(name) +
                 " is linked in; there are: " + (all.empty() ? "none" : all));
}

RoomLog LogOf(const std::string& key, const host::LogSink& log) {
  if (!log) return [](std::string_view /*line*/) {};
  return [key, log](std::string_view line) {
    log(host::LogLevel::kWarning, "room \"" + key + "\": " + Printable(line));
  };
}

// A game is not this program's: what it throws is a refusal too.
absl::StatusOr<HostedRoomFactory> Configure(const HostedGame& game,
                                            const std::string& settings,
                                            const std::string& key,
                                            const host::LogSink& log) {
  std::string what = "no std::exception";
  try {
    return game.configure(settings, LogOf(key, log));
  } catch (const std::exception& error) {
    what = error.what();
  } catch (...) {
  }
  return Bad("", "the game " + Quoted(game.name) + " threw for the room " +
                     Quoted(key) + ": " + what);
}

// What is left of `room` is the game's.
absl::StatusOr<host::PlayRoom> ReadRoom(ordered_json room,
                                        const std::string& path,
                                        const Linked& linked) {
  if (!room.is_object()) return Bad(path, "is not an object");
  absl::StatusOr<std::string> key = TakeText(room, "key", path);
  if (!key.ok()) return key.status();
  if (!IsPlayKey(*key)) {
    return Bad(path + "/key",
               Quoted(*key) + " is not 1 to 64 of A-Z a-z 0-9 _ -");
  }
  const absl::StatusOr<std::string> name = TakeText(room, "game", path);
  if (!name.ok()) return name.status();
  const absl::StatusOr<const HostedGame*> game = FindGame(linked, *name, path);
  if (!game.ok()) return game.status();
  const absl::StatusOr<bool> open = TakeSwitch(room, "open", path);
  if (!open.ok()) return open.status();
  absl::StatusOr<HostedRoomFactory> make =
      Configure(**game, room.dump(), *key, linked.log);
  if (!make.ok()) {
    return InvalidArgument(path + Printable(StatusText(make.status())));
  }
  return host::PlayRoom{
      .key = *std::move(key), .open = *open, .make = *std::move(make)};
}

absl::StatusOr<std::vector<host::PlayRoom>> ReadRooms(const ordered_json& list,
                                                      const Linked& linked) {
  if (list.size() > host::kPlayRoomsMax) {
    return Bad("", std::to_string(list.size()) + " are more than " +
                       std::to_string(host::kPlayRoomsMax));
  }
  std::vector<host::PlayRoom> rooms;
  std::set<std::string> keys;
  for (const ordered_json& each : list) {
    const std::string path = "/" + std::to_string(rooms.size());
    absl::StatusOr<host::PlayRoom> room = ReadRoom(each, path, linked);
    if (!room.ok()) return room.status();
    if (!keys.insert(room->key).second) {
      return Bad(path + "/key", "\"" + room->key + "\" is another room's");
    }
    rooms.push_back(*std::move(room));
  }
  return rooms;
}

}  // namespace

absl::StatusOr<std::vector<host::PlayRoom>> ReadPlayRooms(
    std::string_view text, std::string_view where, const Linked& linked) {
  absl::StatusOr<std::vector<host::PlayRoom>> rooms =
      ReadRooms(ordered_json::parse(text), linked);
  if (rooms.ok()) return rooms;
  return InvalidArgument(std::string(where).append(StatusText(rooms.status())));
}

}  // namespace parlor::host_program
