#include "program/secret_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <span>
#include <string_view>
#include <system_error>

#include "absl/strings/escaping.h"
#include "absl/strings/str_format.h"
#include "parlor/host/gate_options.h"
#include "parlor/printable.h"
#include "parlor/status.h"
#include "storage/file_descriptor.h"

namespace parlor::host_program {
namespace {

constexpr mode_t kOthersRead = S_IRGRP | S_IROTH;
constexpr mode_t kOthers = S_IRWXG | S_IRWXO;
constexpr mode_t kOwnersAlone = S_IRUSR | S_IWUSR;

std::string Line(const std::string& path, std::string_view text) {
  return Printable(path).append(": ").append(text);
}

std::string Cannot(const std::string& path, std::string_view what,
                   int error = errno) {
  return Line(path, std::string("cannot ") + std::string(what) +
                        " it: " + std::system_category().message(error));
}

std::string_view WithoutNewline(std::string_view text) {
  if (text.ends_with('\n')) text.remove_suffix(1);
  if (text.ends_with('\r')) text.remove_suffix(1);
  return text;
}

}  // namespace

absl::StatusOr<std::string> ReadSecret(const std::string& path) {
  // Without waiting for whoever writes to a pipe of that name.
  const host::FileDescriptor file(
      open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat about {};
  if (!file.valid() || fstat(file.get(), &about) != 0) {
    return InvalidArgument(Cannot(path, "read"));
  }
  if (!S_ISREG(about.st_mode)) return InvalidArgument(Line(path, "is no file"));
  if ((about.st_mode & kOthers) != 0) {
    return InvalidArgument(
        Line(path, absl::StrFormat("is open to other users (mode %04o): chmod "
                                   "600 %s",
                                   about.st_mode & 07777, Printable(path))));
  }
  const auto size = static_cast<std::size_t>(about.st_size);
  if (size > kSecretBytesMax) {
    return InvalidArgument(Line(
        path, "is larger than " + std::to_string(kSecretBytesMax) + " bytes"));
  }
  std::string text(size, '\0');
  const int error =
      host::ReadAt(file, std::as_writable_bytes(std::span(text)), 0);
  if (error != 0) return InvalidArgument(Cannot(path, "read", error));
  text.resize(WithoutNewline(text).size());
  if (text.size() >= host::kPassSecretMin) return text;
  return InvalidArgument(Line(path, "holds " + std::to_string(text.size()) +
                                        " bytes, and a secret has " +
                                        std::to_string(host::kPassSecretMin) +
                                        " at least"));
}

absl::Status MakeSecret(const std::string& path, Entropy& entropy) {
  const host::FileDescriptor file(open(
      path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, kOwnersAlone));
  if (!file.valid() && errno == EEXIST) {
    return InvalidArgument(
        Line(path,
             "is there already, and stays: without it, all passes that "
             "were signed with it would end"));
  }
  if (!file.valid()) {
    return MakeStatus(absl::StatusCode::kUnavailable, Cannot(path, "make"));
  }
  std::array<std::byte, host::kPassSecretMin> secret;
  entropy.Fill(secret);
  const std::string text =
      absl::BytesToHexString(absl::string_view(
          reinterpret_cast<const char*>(secret.data()), secret.size())) +
      "\n";
  int error = host::WriteAt(file, std::as_bytes(std::span(text)), 0);
  // Whatever the process's umask takes away.
  if (error == 0 &&
      (fchmod(file.get(), kOwnersAlone) != 0 || fsync(file.get()) != 0)) {
    error = errno;
  }
  if (error == 0) return absl::OkStatus();
  unlink(path.c_str());
  return MakeStatus(absl::StatusCode::kUnavailable,
                    Cannot(path, "write", error));
}

bool OthersMayRead(const std::string& path) {
  struct stat about {};
  return stat(path.c_str(), &about) == 0 && (about.st_mode & kOthersRead) != 0;
}

}  // namespace parlor::host_program
