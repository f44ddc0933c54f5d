// Play without a terminal: bots only, or a replay, as fast as it can on a
// virtual clock. With friends: headless_room.h.
#ifndef PARLOR_SOLO_HEADLESS_H_
#define PARLOR_SOLO_HEADLESS_H_

#include "options.h"

namespace parlor::solo {

// Prints three lines on stdout:
//   frames: N
//   hash: 0x<16 hex digits>      of the state after them
//   frames_per_second: X
// or one line on stderr. Returns the exit code.
int RunHeadless(const Options& options);

}  // namespace parlor::solo

#endif  // PARLOR_SOLO_HEADLESS_H_
