#include "program/secret_file.h"

#include <sys/stat.h>

#include <cerrno>
#include <span>
#include <string>
#include <string_view>
#include <system_error>

#include "absl/strings/escaping.h"
#include "absl/strings/str_format.h"
#include "parlor/host/gate_options.h"
#include "parlor/printable.h"
#include "parlor/status.h"
#include "storage/whole_file.h"

namespace parlor::host_program {
namespace {

constexpr mode_t kOthersRead = S_IRGRP | S_IROTH;
constexpr mode_t kOthers = S_IRWXG | S_IRWXO;

std::string Line(const std::string& path, std::string_view text) {
  return Printable(path).append(": ").append(text);
}

std::string_view WithoutNewline(std::string_view text) {
  if (text.ends_with('\n')) text.remove_suffix(1);
  if (text.ends_with('\r')) text.remove_suffix(1);
  return text;
}

}  // namespace

absl::StatusOr<std::string> ReadSecret(const std::string& path) {
  absl::StatusOr<host::WholeFile> file =
      host::ReadWholeFile(path, kSecretBytesMax);
  if (!file.ok()) {
    std::string text(StatusText(file.status()));
    if (absl::IsNotFound(file.status())) {
      text += "; 'parlor-host pass secret FILE' makes one";
    }
    return InvalidArgument(text);
  }
  if ((file->mode & kOthers) != 0) {
    return InvalidArgument(
        Line(path, absl::StrFormat("is open to other users (mode %04o): chmod "
                                   "600 %s",
                                   file->mode, Printable(path))));
  }
  std::string text(WithoutNewline(file->text));
  if (text.size() >= host::kPassSecretMin) return text;
  return InvalidArgument(Line(path, "holds " + std::to_string(text.size()) +
                                        " bytes, and a secret has " +
                                        std::to_string(host::kPassSecretMin) +
                                        " at least"));
}

absl::Status MakeSecret(const std::string& path, Entropy& entropy) {
  std::string bytes(host::kPassSecretMin, '\0');
  entropy.Fill(std::as_writable_bytes(std::span(bytes)));
  const std::string text = absl::BytesToHexString(bytes) + "\n";
  const int error = host::MakeWholeFile(path, std::as_bytes(std::span(text)));
  if (error == 0) return absl::OkStatus();
  if (error == EEXIST) {
    return InvalidArgument(
        Line(path,
             "is there already, and stays: without it, all passes that "
             "were signed with it would end"));
  }
  return MakeStatus(
      absl::StatusCode::kUnavailable,
      Line(path, "cannot make it: " + std::system_category().message(error)));
}

bool OthersMayRead(const std::string& path) {
  struct stat about {};
  return stat(path.c_str(), &about) == 0 && (about.st_mode & kOthersRead) != 0;
}

}  // namespace parlor::host_program
