// Files of a test, whole.
#ifndef PARLOR_TESTS_SUPPORT_FILES_H_
#define PARLOR_TESTS_SUPPORT_FILES_H_

#include <sys/stat.h>

#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include "parlor/check.h"

namespace parlor::test {

// Empty when there is none.
inline std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// In place of what was there. For its owner alone, as a program takes one with
// secrets in it.
inline void WriteFile(const std::string& path, std::string_view bytes,
                      mode_t mode = 0600) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << bytes;
  file.close();
  PARLOR_CHECK(file.good());
  PARLOR_CHECK(chmod(path.c_str(), mode) == 0);
}

// The bits of the permissions, of a link its own; 0 when there is nothing.
inline mode_t ModeOf(const std::string& path) {
  struct stat found {};
  return lstat(path.c_str(), &found) == 0 ? found.st_mode & 07777 : 0;
}

}  // namespace parlor::test

#endif  // PARLOR_TESTS_SUPPORT_FILES_H_
