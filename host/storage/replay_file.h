// Replay logs on disk: written as the match happens, read as a whole.
#ifndef PARLOR_HOST_STORAGE_REPLAY_FILE_H_
#define PARLOR_HOST_STORAGE_REPLAY_FILE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "parlor/lockstep/replay_log.h"
#include "storage/file_descriptor.h"

namespace parlor::host {

// What a writer gives is with the system when Write returns: a process that
// dies loses none of it, a machine that does may. Errors are Unavailable, name
// the file, and end the recording: there is nothing to be written behind a
// hole.
class ReplayFile final : public lockstep::ReplaySink {
 public:
  // Makes it for its owner alone (0600), or takes the empty file that is there;
  // a device or a pipe will do too. AlreadyExists: it has something in it, or
  // somebody else is recording into it.
  static absl::StatusOr<std::unique_ptr<ReplayFile>> Create(
      const std::string& path);

  // `file` is empty, and open for writing; `path` is what errors call it.
  ReplayFile(std::string path, FileDescriptor file)
      : path_(std::move(path)), file_(std::move(file)) {}

  absl::Status Write(std::span<const std::byte> bytes) override;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
  FileDescriptor file_;
  std::int64_t size_ = 0;
};

// Makes the file of a recording, before there is anything to write into it.
// AlreadyExists: it would replace a file, and the file is not empty.
absl::Status ClaimReplayFile(const std::string& path);

// Whether it begins as the dump of a seat (parlor/lockstep/desync.h) does.
bool BeginsAsDump(std::span<const std::byte> bytes);

// The whole file, at most lockstep::kReplayBytesMax or, where it begins as a
// dump, lockstep::kDesyncBytesMax: what it is, the reader finds. Unavailable:
// it cannot be read. InvalidArgument: it is larger. The text names the file,
// and the limit.
absl::StatusOr<std::vector<std::byte>> ReadReplayBytes(const std::string& path);

}  // namespace parlor::host

#endif  // PARLOR_HOST_STORAGE_REPLAY_FILE_H_
