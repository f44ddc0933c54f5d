#include "secret_file.h"

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "storage/whole_file.h"

namespace parlor::solo {
namespace {

absl::Status Odd(const std::string& path, absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat(path, ": ", what));
}

}  // namespace

absl::StatusOr<std::string> ReadSecretFile(const std::string& path) {
  absl::StatusOr<host::WholeFile> file = host::ReadWholeFile(path, kSecretMax);
  if (!file.ok()) return file.status();
  std::string text = std::move(file->text);
  absl::StripAsciiWhitespace(&text);
  if (text.empty()) return Odd(path, "the file is empty");
  if (text.find_first_of("\r\n") != std::string::npos) {
    return Odd(path, "holds more than one line");
  }
  return text;
}

}  // namespace parlor::solo
