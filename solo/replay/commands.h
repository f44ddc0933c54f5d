// The commands of parlor-replay. Each reads files and nothing else.
#ifndef PARLOR_SOLO_REPLAY_COMMANDS_H_
#define PARLOR_SOLO_REPLAY_COMMANDS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "parlor/time.h"
#include "replay/outcome.h"

namespace parlor::replay_program {

struct InfoOptions {
  std::string file;
  bool json = false;
  bool partial = false;
};
Outcome Info(const InfoOptions& options);

// Several files are one match, which went on after restarts of its host.
// kFinding: a file is damaged or was cut off, seats do not agree, or Cycles
// plays otherwise.
Outcome Verify(const std::vector<std::string>& files);

struct SeekOptions {
  std::string file;
  // One of them.
  std::optional<std::uint32_t> frame;
  std::optional<Duration> time;
  bool partial = false;
};
// kFinding: on the way there Cycles plays otherwise than a seat said.
Outcome Seek(const SeekOptions& options);

// Two recordings of one match, or what its seats dumped when they saw that
// their states differ (parlor/lockstep/desync.h). kFinding: they differ.
Outcome Diff(const std::vector<std::string>& paths);

}  // namespace parlor::replay_program

#endif  // PARLOR_SOLO_REPLAY_COMMANDS_H_
