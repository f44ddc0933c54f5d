// A secret in a file: a command line can be read by every user of a machine.
#ifndef PARLOR_SOLO_SECRET_FILE_H_
#define PARLOR_SOLO_SECRET_FILE_H_

#include <cstddef>
#include <string>

#include "absl/status/statusor.h"

namespace parlor::solo {

// Of such a file: more than any code, pass or device key has.
inline constexpr std::size_t kSecretMax = 1'024;

// The file's only line, without the spaces around it. NotFound: there is no
// such file. InvalidArgument: it cannot be read, is no regular file, has more
// than kSecretMax bytes, or not exactly one line. No message says what it
// holds.
absl::StatusOr<std::string> ReadSecretFile(const std::string& path);

}  // namespace parlor::solo

#endif  // PARLOR_SOLO_SECRET_FILE_H_
