#include "desync_file.h"

#include <cerrno>
#include <cstring>

#include "parlor/status.h"
#include "storage/whole_file.h"

namespace parlor::solo {

absl::Status WriteDesyncFile(const std::string& path,
                             const lockstep::DesyncDump& dump) {
  const int error = host::MakeWholeFile(path, EncodeDesyncDump(dump));
  if (error == 0) return absl::OkStatus();
  if (error == EEXIST) {
    return MakeStatus(absl::StatusCode::kAlreadyExists,
                      path + ": there is a file already");
  }
  return MakeStatus(absl::StatusCode::kUnavailable,
                    path + ": " + std::strerror(error));
}

}  // namespace parlor::solo
