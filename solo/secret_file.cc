#include "secret_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>
#include <system_error>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"

namespace parlor::solo {
namespace {

absl::Status CannotRead(const std::string& path, int error) {
  const std::string text =
      absl::StrCat(path, ": ", std::generic_category().message(error));
  return error == ENOENT ? absl::NotFoundError(text)
                         : absl::InvalidArgumentError(text);
}

absl::Status Odd(const std::string& path, absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat(path, ": ", what));
}

class File {
 public:
  // Not blocking, so that nobody waits for a FIFO's other end.
  explicit File(const std::string& path)
      : file_(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {}
  ~File() {
    if (file_ >= 0) close(file_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  bool is_open() const { return file_ >= 0; }
  bool is_regular() const {
    struct stat about = {};
    return fstat(file_, &about) == 0 && S_ISREG(about.st_mode);
  }
  // Up to `max` bytes; errno in place of them when that fails.
  int Read(std::size_t max, std::string* out) const {
    out->resize(max);
    std::size_t size = 0;
    while (size < max) {
      const ssize_t got = read(file_, out->data() + size, max - size);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return errno;
      if (got == 0) break;
      size += static_cast<std::size_t>(got);
    }
    out->resize(size);
    return 0;
  }

 private:
  const int file_;
};

}  // namespace

absl::StatusOr<std::string> ReadSecretFile(const std::string& path) {
  const File file(path);
  if (!file.is_open()) return CannotRead(path, errno);
  if (!file.is_regular()) return Odd(path, "not a regular file");
  std::string text;
  if (const int error = file.Read(kSecretMax + 1, &text); error != 0) {
    return CannotRead(path, error);
  }
  if (text.size() > kSecretMax) {
    return Odd(path, absl::StrCat("holds more than ", kSecretMax, " bytes"));
  }
  absl::StripAsciiWhitespace(&text);
  if (text.empty()) return Odd(path, "the file is empty");
  if (text.find_first_of("\r\n") != std::string::npos) {
    return Odd(path, "holds more than one line");
  }
  return text;
}

}  // namespace parlor::solo
