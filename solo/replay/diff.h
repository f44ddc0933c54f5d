// The two kinds of files that diff compares.
#ifndef PARLOR_SOLO_REPLAY_DIFF_H_
#define PARLOR_SOLO_REPLAY_DIFF_H_

#include <string>
#include <vector>

#include "replay/outcome.h"

namespace parlor::replay_program {

// Whether it begins as a dump of a seat (parlor/lockstep/desync.h) does.
bool IsDump(const std::string& file);

// One of each seat; one alone is compared with what Cycles plays.
Outcome DiffDumps(const std::vector<std::string>& files);
Outcome DiffRecordings(const std::string& file_a, const std::string& file_b);

}  // namespace parlor::replay_program

#endif  // PARLOR_SOLO_REPLAY_DIFF_H_
