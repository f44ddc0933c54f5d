// Small files that are read and made as a whole: secrets, and what a database
// begins with.
#ifndef PARLOR_HOST_STORAGE_WHOLE_FILE_H_
#define PARLOR_HOST_STORAGE_WHOLE_FILE_H_

#include <sys/types.h>

#include <cstddef>
#include <span>
#include <string>

#include "absl/status/statusor.h"

namespace parlor::host {

struct WholeFile {
  std::string text;
  mode_t mode = 0;  // its permissions
};

// A regular file of up to `bytes_max` bytes; does not wait for whoever may
// write to a pipe of that name. NotFound: there is none. InvalidArgument: it
// cannot be read, is no regular file, or is larger. Either says so in one
// printable line that begins with the path and holds nothing out of the file.
absl::StatusOr<WholeFile> ReadWholeFile(const std::string& path,
                                        std::size_t bytes_max);

// Makes a file of mode 0600 that appears with all that is in it and stays,
// whenever the process is killed or the power lost. The errno of what failed,
// or 0. EEXIST: something of that name is there, and stays as it is; of several
// processes the first one's file does. With another errno there is no file, or
// one that is whole but may not outlive a loss of power.
//
// It has another name at first, "<path>.XXXXXX" with six other characters,
// which is left behind only by a process that is killed meanwhile.
int MakeWholeFile(const std::string& path, std::span<const std::byte> bytes);

// What MakeWholeFile would return now, of a file that is only made later: tries
// it, but under the other name, and leaves nothing behind.
int TryWholeFile(const std::string& path);

}  // namespace parlor::host

#endif  // PARLOR_HOST_STORAGE_WHOLE_FILE_H_
