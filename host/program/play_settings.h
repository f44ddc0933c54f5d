// The hosted rooms of the configuration file, and the games they are of.
#ifndef PARLOR_HOST_PROGRAM_PLAY_SETTINGS_H_
#define PARLOR_HOST_PROGRAM_PLAY_SETTINGS_H_

#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "parlor/host/play_room.h"
#include "parlor/host/server.h"
#include "parlor/hosted_game.h"

namespace parlor::host_program {

// What is linked into the program, and who hears of it.
struct Linked {
  std::vector<HostedGame> games;  // of names that differ
  host::LogSink log;              // null: nobody does
};

// What "play" says, as rooms. `text` is a JSON list.
// InvalidArgument: `where`, the path below it and what is wrong:
// `host.json: /play/1/game: no game "x" is linked in; there are: tag`.
absl::StatusOr<std::vector<host::PlayRoom>> ReadPlayRooms(
    std::string_view text, std::string_view where, const Linked& linked);

}  // namespace parlor::host_program

#endif  // PARLOR_HOST_PROGRAM_PLAY_SETTINGS_H_
