// HostedGame: a game that is linked into a host, for the hosted rooms of its
// configuration file, which names it. What is said there of such a room, the
// host hands to the game as it stands: the settings are the game's, and their
// limits the engine's that it runs on.
#ifndef PARLOR_HOSTED_GAME_H_
#define PARLOR_HOSTED_GAME_H_

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "parlor/hosted_room.h"
#include "parlor/limits.h"

namespace parlor {

// For what the operator should know of a room: one line, without a newline, and
// without anything a client sent. On the threads that run the room.
using RoomLog = std::function<void(std::string_view line)>;

struct HostedGame {
  // As the file has it: IsPlayKey (connector.h).
  std::string name;

  // Checks what the file says of one room and answers what makes it.
  // `settings` is a JSON object (RFC 8259) without what is the host's (key,
  // game, open), no name in it twice, at most 32 levels deep: "{}" where
  // nothing else is said. The view dies with the call; `log` may be kept.
  //
  // InvalidArgument: the path of the field in that object, as RFC 6901 writes
  // it, and what is wrong: "/maxPlayers: 300 is not in 1..256". Settings that
  // the game does not know are refused too, so that none is misspelt in vain.
  // What it throws refuses the file as well, in the words of std::exception's
  // what().
  std::function<absl::StatusOr<HostedRoomFactory>(std::string_view settings,
                                                  const RoomLog& log)>
      configure;

  // The largest message of a client's that its rooms read. A host with rooms of
  // this game takes messages as large as the largest of these, on every
  // connection, and keeps half of one read for each. Within
  // limits::kMessageBytes.
  std::size_t message_bytes_max =
      static_cast<std::size_t>(limits::kMessageBytes.fallback);
};

}  // namespace parlor

#endif  // PARLOR_HOSTED_GAME_H_
