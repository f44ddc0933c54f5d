// What lies in the grid when a round begins, and what appears later. All of it
// is drawn from the state's generator.
#ifndef PARLOR_SOLO_CYCLES_ARENA_H_
#define PARLOR_SOLO_CYCLES_ARENA_H_

#include "cycles/state.h"

namespace parlor::cycles {

// Empties the grid, puts every cycle on its starting place and draws the
// obstacles and the time of the first pick-up.
void SetUpArena(State& state);

// Lets a pick-up appear when its time has come.
void SpawnPickup(State& state);

// Closes the next ring. Returns the mask of the cycles that stood on it.
std::uint32_t CloseRing(State& state);

}  // namespace parlor::cycles

#endif  // PARLOR_SOLO_CYCLES_ARENA_H_
