// The two kinds of files that diff compares.
#ifndef PARLOR_SOLO_REPLAY_DIFF_H_
#define PARLOR_SOLO_REPLAY_DIFF_H_

#include <cstddef>
#include <string>
#include <vector>

#include "replay/outcome.h"

namespace parlor::replay_program {

// Read once: a pipe gives its bytes to the first who asks.
struct File {
  std::string path;
  std::vector<std::byte> bytes;
};

// Whether it begins as a dump of a seat (parlor/lockstep/desync.h) does.
bool IsDump(const File& file);

// One of each seat; one alone is compared with what Cycles plays.
Outcome DiffDumps(const std::vector<File>& files);
Outcome DiffRecordings(File file_a, File file_b);

}  // namespace parlor::replay_program

#endif  // PARLOR_SOLO_REPLAY_DIFF_H_
