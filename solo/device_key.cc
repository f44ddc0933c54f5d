#include "device_key.h"

#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <span>
#include <system_error>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "logic/pass.h"
#include "parlor/check.h"
#include "parlor/status.h"
#include "secret_file.h"
#include "storage/whole_file.h"

namespace parlor::solo {
namespace {

constexpr std::size_t kDrawn = 18;  // bytes: 24 characters

absl::Status CannotMake(const std::string& path, int error) {
  return absl::FailedPreconditionError(
      absl::StrCat("this device's key cannot be kept: ", path, ": ",
                   std::generic_category().message(error)));
}

// In base64url, which needs no padding for a multiple of 3 bytes.
std::string Draw(Entropy& entropy) {
  static_assert(kDrawn % 3 == 0);
  std::array<char, kDrawn> drawn;
  entropy.Fill(std::as_writable_bytes(std::span(drawn)));
  return absl::WebSafeBase64Escape(
      absl::string_view(drawn.data(), drawn.size()));
}

absl::StatusOr<std::string> ReadKey(const std::string& path) {
  absl::StatusOr<std::string> key = ReadSecretFile(path);
  if (absl::IsNotFound(key.status())) return key;
  if (key.ok() && host::IsDeviceKey(*key)) return key;
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
  const std::string drawn = absl::StrCat(Draw(entropy), "\n");
  const int error = host::MakeWholeFile(path, std::as_bytes(std::span(drawn)));
  if (error != 0 && error != EEXIST) return CannotMake(path, error);
  key = ReadKey(path);
  return absl::IsNotFound(key.status()) ? CannotMake(path, ENOENT) : key;
}

}  // namespace parlor::solo
