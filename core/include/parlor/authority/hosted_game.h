// A game of this engine as hosts take it: parlor-host with it linked in
// (parlor/host/program.h), or a host's PlayRoom made by hand.
//
// The settings of a room in a configuration file, all of them optional:
//
//   {"maxPlayers": 16, "tickHz": 60, "snapshotHz": 20, "graceMs": 15000,
//    "inputRate": 120}
//
// with the limits of authority/limits.h.
#ifndef PARLOR_AUTHORITY_HOSTED_GAME_H_
#define PARLOR_AUTHORITY_HOSTED_GAME_H_

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "parlor/authority/room.h"
#include "parlor/authority/room_authority.h"
#include "parlor/hosted_game.h"
#include "parlor/hosted_room.h"

namespace parlor::authority {

// Makes a room's game; never null. Called on the threads of a host, on two at
// once too. What it throws is the caller's to catch, as that of a factory of
// rooms and of HostedGame::configure is: those call it.
using GameFactory = std::function<std::unique_ptr<RoomAuthority>()>;

// Rooms of `options`, which are valid for the game's schema, with their notes
// (RoomNote) told to `log`: of failed ticks one a second at most, and that it
// ended only where the host did not end it.
HostedRoomFactory MakeRoomFactory(RoomOptions options, GameFactory make,
                                  RoomLog log = {});

// `options` with what `settings` say, each within its limit; whether they fit
// one another is ValidateOptions' to say. InvalidArgument as
// HostedGame::configure's.
absl::StatusOr<RoomOptions> ReadRoomOptions(std::string_view settings,
                                            RoomOptions options);

// The whole of it. `options`: what holds where the settings say nothing else;
// the protocol is theirs. Settings that the game's schema does not fit are
// refused when the file is read, for which one game is made.
HostedGame MakeHostedGame(std::string name, RoomOptions options,
                          GameFactory make);

}  // namespace parlor::authority

#endif  // PARLOR_AUTHORITY_HOSTED_GAME_H_
