// Play with friends without a terminal: a bot in the own seat, at the game's
// real pace. For scripts, so what happens is told in lines.
#ifndef PARLOR_SOLO_HEADLESS_ROOM_H_
#define PARLOR_SOLO_HEADLESS_ROOM_H_

#include "options.h"

namespace parlor::solo {

// With --listen or --join. Prints on stdout, each line as it happens:
//   listening on ws://192.0.2.2:7777/room/0?players=4   one for each address
//   invite ABCDEFGHJKLM
//   seated: 2 of 4            in the lobby
//   started: seat 1 of 3
//   reconnecting at frame F / back at frame F           the own seat
//   seat K away at frame F / seat K back at frame F
//   seat K lost at frame F    its first frame with a bot: the same everywhere
//   ended: REASON             before frame N
// and at the end the lines of RunHeadless, `stalls: N`, and where another seat
// saw another match `desync: seat K at frame F`, with --desync also where that
// is written, `desync file: FILE`. Returns the exit code.
int RunHeadlessRoom(const Options& options);

}  // namespace parlor::solo

#endif  // PARLOR_SOLO_HEADLESS_ROOM_H_
