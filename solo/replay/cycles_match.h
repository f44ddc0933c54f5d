// A recording's match as one of Cycles, and a state of it in words.
#ifndef PARLOR_SOLO_REPLAY_CYCLES_MATCH_H_
#define PARLOR_SOLO_REPLAY_CYCLES_MATCH_H_

#include <cstdint>
#include <optional>
#include <string>

#include "cycles/state.h"
#include "parlor/lockstep/replay_frames.h"
#include "parlor/lockstep/replay_log.h"

namespace parlor::replay_program {

struct CyclesMatch {
  std::optional<cycles::State> start;  // the state before frame 0
  std::string why_not;                 // it cannot be played, where it cannot
};

// Where the recorder did not know the game, the hashes of frame 0 tell.
CyclesMatch RecognizeCycles(const lockstep::ReplayLogReader& log,
                            const lockstep::ReplayFrames& frames);

// "4 players, normal, 76x40"
std::string OptionsText(const cycles::Options& options);
// "left+boost"; "-" of no key.
std::string WordText(std::uint32_t word);
// Some lines: the phase, who is where, and the grid, a character a cell.
std::string StateText(const cycles::State& state);

}  // namespace parlor::replay_program

#endif  // PARLOR_SOLO_REPLAY_CYCLES_MATCH_H_
