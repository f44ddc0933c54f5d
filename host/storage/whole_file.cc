#include "storage/whole_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <span>
#include <string>
#include <system_error>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "parlor/printable.h"
#include "parlor/status.h"
#include "storage/file_descriptor.h"

namespace parlor::host {
namespace {

constexpr mode_t kOwnerOnly = 0600;

absl::Status CannotRead(const std::string& path, int error) {
  return MakeStatus(error == ENOENT ? absl::StatusCode::kNotFound
                                    : absl::StatusCode::kInvalidArgument,
                    Printable(path) + ": cannot read it: " +
                        std::generic_category().message(error));
}

// `name` ends in XXXXXX, and is the file's when this returns 0.
int WriteDraft(std::string& name, std::span<const std::byte> bytes) {
  const FileDescriptor file(mkostemp(name.data(), O_CLOEXEC));
  if (!file.valid()) return errno;
  int error = WriteAt(file, bytes, 0);
  // Whatever the process's umask takes away.
  if (error == 0 &&
      (fchmod(file.get(), kOwnerOnly) != 0 || fsync(file.get()) != 0)) {
    error = errno;
  }
  if (error != 0) unlink(name.c_str());
  return error;
}

int SyncFolderOf(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  const std::string name =
      slash == std::string::npos ? "." : path.substr(0, slash + 1);
  const FileDescriptor folder(
      open(name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  return folder.valid() && fsync(folder.get()) == 0 ? 0 : errno;
}

}  // namespace

absl::StatusOr<WholeFile> ReadWholeFile(const std::string& path,
                                        std::size_t bytes_max) {
  const FileDescriptor file(
      open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat about {};
  if (!file.valid() || fstat(file.get(), &about) != 0) {
    const int error = errno;
    return CannotRead(path, error);
  }
  if (!S_ISREG(about.st_mode)) {
    return InvalidArgument(Printable(path) + ": is no file");
  }
  const auto size = static_cast<std::size_t>(about.st_size);
  if (size > bytes_max) {
    return InvalidArgument(Printable(path) + ": is larger than " +
                           std::to_string(bytes_max) + " bytes");
  }
  WholeFile whole{.text = std::string(size, '\0'),
                  .mode = about.st_mode & 07777};
  const int error =
      ReadAt(file, std::as_writable_bytes(std::span(whole.text)), 0);
  if (error != 0) return CannotRead(path, error);
  return whole;
}

int MakeWholeFile(const std::string& path, std::span<const std::byte> bytes) {
  std::string draft = path + ".XXXXXX";
  int error = WriteDraft(draft, bytes);
  if (error != 0) return error;
  if (link(draft.c_str(), path.c_str()) != 0) error = errno;
  unlink(draft.c_str());
  if (error != 0 && error != EEXIST) return error;
  // The name too, whoever was first: the other one may be killed before it gets
  // here.
  const int unsynced = SyncFolderOf(path);
  return unsynced != 0 ? unsynced : error;
}

int TryWholeFile(const std::string& path) {
  struct stat about {};
  // A link that leads nowhere is something too.
  if (lstat(path.c_str(), &about) == 0) return EEXIST;
  if (errno != ENOENT) return errno;
  std::string draft = path + ".XXXXXX";
  const int error = WriteDraft(draft, {});
  if (error == 0) unlink(draft.c_str());
  return error;
}

}  // namespace parlor::host
