#include "program/secret_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_format.h"
#include "parlor/host/gate_options.h"
#include "parlor/printable.h"
#include "parlor/status.h"

namespace parlor::host_program {
namespace {

constexpr mode_t kOthersRead = S_IRGRP | S_IROTH;
constexpr mode_t kOthers = S_IRWXG | S_IRWXO;
constexpr mode_t kOwnersAlone = S_IRUSR | S_IWUSR;

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() { Close(); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  int get() const { return number_; }
  bool Close() { return number_ < 0 || close(std::exchange(number_, -1)) == 0; }

 private:
  int number_;
};

std::string Line(const std::string& path, std::string_view text) {
  return Printable(path).append(": ").append(text);
}

std::string Cannot(const std::string& path, std::string_view what) {
  const int error = errno;
  return Line(path, std::string("cannot ") + std::string(what) +
                        " it: " + std::system_category().message(error));
}

bool WriteAll(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(file, text.data(), text.size());
    if (written < 0 && errno != EINTR) return false;
    if (written > 0) text.remove_prefix(static_cast<std::size_t>(written));
  }
  return fsync(file) == 0;
}

// Up to the end of the file or of `out`; the count, or -1.
ssize_t ReadAll(int file, std::span<char> out) {
  std::size_t count = 0;
  while (count < out.size()) {
    const ssize_t got = read(file, out.data() + count, out.size() - count);
    if (got == 0) break;
    if (got < 0 && errno != EINTR) return -1;
    if (got > 0) count += static_cast<std::size_t>(got);
  }
  return static_cast<ssize_t>(count);
}

std::string_view WithoutNewline(std::string_view text) {
  if (text.ends_with('\n')) text.remove_suffix(1);
  if (text.ends_with('\r')) text.remove_suffix(1);
  return text;
}

}  // namespace

absl::StatusOr<std::string> ReadSecret(const std::string& path) {
  // Without waiting for whoever writes to a pipe of that name.
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat about {};
  if (file.get() < 0 || fstat(file.get(), &about) != 0) {
    return InvalidArgument(Cannot(path, "read"));
  }
  if (!S_ISREG(about.st_mode)) return InvalidArgument(Line(path, "is no file"));
  if ((about.st_mode & kOthers) != 0) {
    return InvalidArgument(
        Line(path, absl::StrFormat("is open to other users (mode %04o): chmod "
                                   "600 %s",
                                   about.st_mode & 07777, Printable(path))));
  }
  std::string text(kSecretBytesMax + 1, '\0');
  const ssize_t count = ReadAll(file.get(), text);
  if (count < 0) return InvalidArgument(Cannot(path, "read"));
  if (static_cast<std::size_t>(count) > kSecretBytesMax) {
    return InvalidArgument(Line(
        path, "is larger than " + std::to_string(kSecretBytesMax) + " bytes"));
  }
  text.resize(static_cast<std::size_t>(count));
  text.resize(WithoutNewline(text).size());
  if (text.size() >= host::kPassSecretMin) return text;
  return InvalidArgument(Line(path, "holds " + std::to_string(text.size()) +
                                        " bytes, and a secret has " +
                                        std::to_string(host::kPassSecretMin) +
                                        " at least"));
}

absl::Status MakeSecret(const std::string& path, Entropy& entropy) {
  Descriptor file(open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
                       kOwnersAlone));
  if (file.get() < 0 && errno == EEXIST) {
    return InvalidArgument(
        Line(path,
             "is there already, and stays: without it, all passes that "
             "were signed with it would end"));
  }
  if (file.get() < 0) {
    return MakeStatus(absl::StatusCode::kUnavailable, Cannot(path, "make"));
  }
  std::array<std::byte, host::kPassSecretMin> secret;
  entropy.Fill(secret);
  const std::string text =
      absl::BytesToHexString(absl::string_view(
          reinterpret_cast<const char*>(secret.data()), secret.size())) +
      "\n";
  // Whatever the process's umask takes away.
  if (fchmod(file.get(), kOwnersAlone) == 0 && WriteAll(file.get(), text) &&
      file.Close()) {
    return absl::OkStatus();
  }
  const std::string why = Cannot(path, "write");
  unlink(path.c_str());
  return MakeStatus(absl::StatusCode::kUnavailable, why);
}

bool OthersMayRead(const std::string& path) {
  struct stat about {};
  return stat(path.c_str(), &about) == 0 && (about.st_mode & kOthersRead) != 0;
}

}  // namespace parlor::host_program
