// The configuration file: a JSON object with a member for each setting, by its
// flag's name without the dashes:
//
//   {"port": 8787, "hold": "20s", "open": false, "origin":
//   ["https://a.example"]}
//
// and "play", a list of objects, which are the hosted rooms (play_settings.h).
//
// Strict: no member twice or unknown, nothing nested elsewhere, no comments,
// nothing behind it. A refusal names the file, the member or the line, and the
// value; never anything out of a list of secrets, or of a text that is not
// JSON.
#ifndef PARLOR_HOST_PROGRAM_CONFIG_FILE_H_
#define PARLOR_HOST_PROGRAM_CONFIG_FILE_H_

#include <cstddef>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "program/settings.h"

namespace parlor::host_program {

// More than that is no configuration: some 15,000 invite codes.
inline constexpr std::size_t kConfigBytesMax = 1024 * 1024;

// The members, their types checked and their values not; of what is in objects
// that no name is there twice. `file` is its name in
// messages. InvalidArgument: one printable line that begins with it.
absl::StatusOr<GivenRows> ParseConfig(std::string_view text,
                                      std::string_view file);

// The same of a file that is read; one that cannot be is InvalidArgument too.
absl::StatusOr<GivenRows> ReadConfig(const std::string& path);

}  // namespace parlor::host_program

#endif  // PARLOR_HOST_PROGRAM_CONFIG_FILE_H_
