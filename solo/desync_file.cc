#include "desync_file.h"

#include <cerrno>
#include <system_error>

#include "parlor/status.h"
#include "storage/whole_file.h"

namespace parlor::solo {

namespace {

// In the words of a recording (storage/replay_file.h).
absl::Status AsStatus(const std::string& path, int error) {
  if (error == 0) return absl::OkStatus();
  if (error == EEXIST) {
    return MakeStatus(absl::StatusCode::kAlreadyExists,
                      path + " exists already");
  }
  return MakeStatus(
      absl::StatusCode::kUnavailable,
      "cannot write " + path + ": " + std::generic_category().message(error));
}

}  // namespace

absl::Status CheckDesyncFile(const std::string& path) {
  return AsStatus(path, host::TryWholeFile(path));
}

absl::Status WriteDesyncFile(const std::string& path,
                             const lockstep::DesyncDump& dump) {
  return AsStatus(path, host::MakeWholeFile(path, EncodeDesyncDump(dump)));
}

}  // namespace parlor::solo
