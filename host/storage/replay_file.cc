#include "storage/replay_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "parlor/byte_io.h"
#include "parlor/lockstep/desync.h"
#include "parlor/status.h"

namespace parlor::host {
namespace {

constexpr mode_t kOwnerOnly = 0600;

absl::Status FileError(const std::string& path, const char* what, int error) {
  return MakeStatus(absl::StatusCode::kUnavailable,
                    absl::StrCat("cannot ", what, " ", path, ": ",
                                 std::generic_category().message(error)));
}

absl::Status Exists(const std::string& path) {
  return MakeStatus(absl::StatusCode::kAlreadyExists,
                    absl::StrCat(path, " exists already"));
}

std::size_t MostBytes(std::span<const std::byte> begin) {
  return BeginsAsDump(begin) ? lockstep::kDesyncBytesMax
                             : lockstep::kReplayBytesMax;
}

absl::Status TooLarge(const std::string& path,
                      std::span<const std::byte> begin) {
  return InvalidArgument(
      absl::StrCat(path, ": larger than any ",
                   BeginsAsDump(begin) ? "desync dump" : "replay", ", ",
                   MostBytes(begin), " bytes"));
}

}  // namespace

bool BeginsAsDump(std::span<const std::byte> bytes) {
  constexpr std::string_view kMagic = "PARLORDS";  // core/lockstep/DESYNC.md
  return AsText(bytes).starts_with(kMagic);
}

absl::StatusOr<std::unique_ptr<ReplayFile>> ReplayFile::Create(
    const std::string& path) {
  FileDescriptor file(
      open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, kOwnerOnly));
  struct stat about {};
  if (!file.valid() || fstat(file.get(), &about) != 0) {
    return FileError(path, "write", errno);
  }
  if (S_ISREG(about.st_mode)) {
    // Two that claimed one name would write into each other. A file system
    // without locks has what was written already to tell by.
    const bool taken =
        flock(file.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    if (fstat(file.get(), &about) != 0) return FileError(path, "write", errno);
    if (taken || about.st_size != 0) return Exists(path);
  }
  return std::make_unique<ReplayFile>(path, std::move(file));
}

absl::Status ReplayFile::Write(std::span<const std::byte> bytes) {
  const int error = WriteOn(file_, bytes, size_);
  if (error != 0) return FileError(path_, "write", error);
  size_ += static_cast<std::int64_t>(bytes.size());
  return absl::OkStatus();
}

absl::Status ClaimReplayFile(const std::string& path) {
  std::error_code error;
  const std::filesystem::file_status status =
      std::filesystem::status(path, error);
  // A device or a pipe has nothing to lose, and a pipe's reader takes one
  // opening and closing for the whole recording.
  if (std::filesystem::is_other(status)) return absl::OkStatus();
  if (std::filesystem::is_regular_file(status) &&
      std::filesystem::file_size(path, error) != 0) {
    return Exists(path);
  }
  // Appending, so that a file that came meanwhile keeps its bytes.
  const FileDescriptor file(open(
      path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, kOwnerOnly));
  return file.valid() ? absl::OkStatus() : FileError(path, "write", errno);
}

absl::StatusOr<std::vector<std::byte>> ReadReplayBytes(
    const std::string& path) {
  const FileDescriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat about {};
  if (!file.valid() || fstat(file.get(), &about) != 0) {
    return FileError(path, "read", errno);
  }
  // A pipe has no size.
  const auto size = static_cast<std::size_t>(about.st_size);
  std::vector<std::byte> bytes;
  std::array<std::byte, 65536> part;
  while (true) {
    const ssize_t count = read(file.get(), part.data(), part.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return FileError(path, "read", errno);
    if (count == 0) return bytes;
    bytes.insert(bytes.end(), part.begin(), part.begin() + count);
    if (std::max(size, bytes.size()) > MostBytes(bytes)) {
      return TooLarge(path, bytes);
    }
    bytes.reserve(size);
  }
}

}  // namespace parlor::host
