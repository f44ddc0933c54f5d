// parlor-replay, apart from the process: what the arguments ask for is done,
// and what there is to print comes back.
#ifndef PARLOR_SOLO_REPLAY_PROGRAM_H_
#define PARLOR_SOLO_REPLAY_PROGRAM_H_

#include "replay/outcome.h"

namespace parlor::replay_program {

Outcome Run(int argc, const char* const* argv);

}  // namespace parlor::replay_program

#endif  // PARLOR_SOLO_REPLAY_PROGRAM_H_
