// The players that the machine plays. They see what a person sees: the grid,
// the heads and where they point, never a turn that is still to come. Each
// makes one draw a thought, in the order of seats, and thinks only when it is
// about to move.
#ifndef PARLOR_SOLO_CYCLES_BOTS_H_
#define PARLOR_SOLO_CYCLES_BOTS_H_

#include "cycles/state.h"

namespace parlor::cycles {

// Sets heading and boost of every seat in `thinkers` (all of them alive) for
// its next cell.
void Think(State& state, std::uint32_t thinkers);

}  // namespace parlor::cycles

#endif  // PARLOR_SOLO_CYCLES_BOTS_H_
