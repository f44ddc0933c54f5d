// What a seat keeps of a desync, in a file: for parlor-replay diff.
#ifndef PARLOR_SOLO_DESYNC_FILE_H_
#define PARLOR_SOLO_DESYNC_FILE_H_

#include <string>

#include "absl/status/status.h"
#include "parlor/lockstep/desync.h"

namespace parlor::solo {

// Whether WriteDesyncFile could make it now: asked before the match, so that
// nobody learns of it when there is something to keep. The same errors.
absl::Status CheckDesyncFile(const std::string& path);

// A new file, for its owner alone. AlreadyExists: something of that name is
// there, and stays; Unavailable: it cannot be made. Both name the file.
absl::Status WriteDesyncFile(const std::string& path,
                             const lockstep::DesyncDump& dump);

}  // namespace parlor::solo

#endif  // PARLOR_SOLO_DESYNC_FILE_H_
