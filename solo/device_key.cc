#include "device_key.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <span>
#include <string_view>
#include <system_error>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "parlor/check.h"
#include "parlor/status.h"
#include "secret_file.h"

namespace parlor::solo {
namespace {

// Of what contracts call a device key.
constexpr std::size_t kKeyMin = 16;
constexpr std::size_t kKeyMax = 64;
constexpr std::size_t kDrawn = 18;  // bytes: 24 characters

absl::Status CannotMake(const std::string& path, int error) {
  return absl::FailedPreconditionError(
      absl::StrCat("this device's key cannot be kept: ", path, ": ",
                   std::generic_category().message(error)));
}

bool IsKey(std::string_view text) {
  return text.size() >= kKeyMin && text.size() <= kKeyMax &&
         std::all_of(text.begin(), text.end(), [](char c) {
           return absl::ascii_isalnum(c) || c == '-' || c == '_';
         });
}

// `bytes` of entropy in base64url; a multiple of 3 needs no padding.
template <std::size_t bytes>
std::string Draw(Entropy& entropy) {
  static_assert(bytes % 3 == 0);
  std::array<char, bytes> drawn;
  entropy.Fill(std::as_writable_bytes(std::span(drawn)));
  return absl::WebSafeBase64Escape(
      absl::string_view(drawn.data(), drawn.size()));
}

absl::StatusOr<std::string> ReadKey(const std::string& path) {
  absl::StatusOr<std::string> key = ReadSecretFile(path);
  if (absl::IsNotFound(key.status())) return key;
  if (key.ok() && IsKey(*key)) return key;
  return absl::FailedPreconditionError(absl::StrCat(
      "this device's key cannot be had: ",
      key.ok() ? path + ": holds no device key"
               : std::string(StatusText(key.status())),
      " (without the file a new key is made, and passes count one more "
      "device)"));
}

// The directory that `path` lies in and all above it.
int MakeDirectories(const std::string& path) {
  for (std::size_t at = path.find('/', 1); at != std::string::npos;
       at = path.find('/', at + 1)) {
    const std::string directory = path.substr(0, at);
    if (mkdir(directory.c_str(), 0700) != 0 && errno != EEXIST) {
      // Of one that is there but may not be written in, some systems say so
      // before they say that it is there.
      struct stat about = {};
      const int error = errno;
      if (stat(directory.c_str(), &about) != 0 || !S_ISDIR(about.st_mode)) {
        return error;
      }
    }
  }
  return 0;
}

// Down to the disk, as is the name below: a pass would not know this device
// after a power cut otherwise.
int WriteNew(const std::string& path, std::string_view text) {
  const int file =
      open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (file < 0) return errno;
  int error = 0;
  while (error == 0 && !text.empty()) {
    const ssize_t put = write(file, text.data(), text.size());
    if (put >= 0) {
      text.remove_prefix(static_cast<std::size_t>(put));
    } else if (errno != EINTR) {
      error = errno;
    }
  }
  if (error == 0 && fsync(file) != 0) error = errno;
  if (close(file) != 0 && error == 0) error = errno;
  return error;
}

// A second name, unless there is a file of that name.
int Name(const std::string& file, const std::string& path) {
  if (link(file.c_str(), path.c_str()) != 0) return errno;
  const std::string above = path.substr(0, path.rfind('/'));
  const int directory = open(above.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory < 0) return errno;
  const int error = fsync(directory) == 0 ? 0 : errno;
  close(directory);
  return error;
}

}  // namespace

absl::StatusOr<std::string> DeviceKeyPath(const char* xdg_state_home,
                                          const char* home) {
  const auto is_absolute = [](const char* path) {
    return path != nullptr && *path == '/';
  };
  if (is_absolute(xdg_state_home)) {
    return absl::StrCat(xdg_state_home, "/parlor/device-key");
  }
  if (is_absolute(home)) {
    return absl::StrCat(home, "/.local/state/parlor/device-key");
  }
  return absl::FailedPreconditionError(
      "a pass is used with a key that this device keeps, and there is nowhere "
      "to keep it: set HOME, or XDG_STATE_HOME, to the absolute path of a "
      "directory");
}

absl::StatusOr<std::string> DeviceKey(const std::string& path,
                                      Entropy& entropy) {
  PARLOR_CHECK(path.starts_with('/'));
  absl::StatusOr<std::string> key = ReadKey(path);
  if (!absl::IsNotFound(key.status())) return key;
  if (const int error = MakeDirectories(path); error != 0) {
    return CannotMake(path, error);
  }
  // A file of its own, whole before it gets the name, which is then given to
  // one of several processes only.
  const std::string draft = absl::StrCat(path, ".", Draw<9>(entropy));
  int error = WriteNew(draft, absl::StrCat(Draw<kDrawn>(entropy), "\n"));
  if (error == 0) error = Name(draft, path);
  unlink(draft.c_str());
  if (error != 0 && error != EEXIST) return CannotMake(path, error);
  key = ReadKey(path);
  return absl::IsNotFound(key.status()) ? CannotMake(path, ENOENT) : key;
}

}  // namespace parlor::solo
