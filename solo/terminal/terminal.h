// Play in the terminal: a match against bots, or a replay to watch.
#ifndef PARLOR_SOLO_TERMINAL_TERMINAL_H_
#define PARLOR_SOLO_TERMINAL_TERMINAL_H_

#include "options.h"

namespace parlor::solo {

// Returns the exit code, with the terminal as it was before.
int RunTerminal(const Options& options);

}  // namespace parlor::solo

#endif  // PARLOR_SOLO_TERMINAL_TERMINAL_H_
