// The file that holds what passes are signed with.
#ifndef PARLOR_HOST_PROGRAM_SECRET_FILE_H_
#define PARLOR_HOST_PROGRAM_SECRET_FILE_H_

#include <cstddef>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "parlor/entropy.h"

namespace parlor::host_program {

// More than that is no secret, but the wrong file.
inline constexpr std::size_t kSecretBytesMax = 4'096;

// What is in it, without the newline at its end. InvalidArgument: one printable
// line that begins with the file's name and holds nothing out of it: it cannot
// be read, is no file, is open to other users, or holds too little (32 bytes at
// least, host::kPassSecretMin) or too much.
absl::StatusOr<std::string> ReadSecret(const std::string& path);

// Makes it, mode 0600, with 32 bytes of `entropy` in hexadecimal.
// InvalidArgument: there is a file of that name, which stays as it is.
// Unavailable: it cannot be made.
absl::Status MakeSecret(const std::string& path, Entropy& entropy);

// Whether others than the file's owner may read it.
bool OthersMayRead(const std::string& path);

}  // namespace parlor::host_program

#endif  // PARLOR_HOST_PROGRAM_SECRET_FILE_H_
