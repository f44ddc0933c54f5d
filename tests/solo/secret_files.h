// A directory of a test's own, and files in it.
#ifndef PARLOR_TESTS_SOLO_SECRET_FILES_H_
#define PARLOR_TESTS_SOLO_SECRET_FILES_H_

#include <sys/stat.h>

#include <fstream>
#include <sstream>
#include <string>
#include <string_view>

#include "support/temp_folder.h"

namespace parlor::solo {

class SecretFiles {
 public:
  std::string At(std::string_view name) const { return folder_.At(name); }
  std::string Write(std::string_view name, std::string_view text) const {
    std::string path = At(name);
    std::ofstream(path, std::ios::binary) << text;
    return path;
  }

  static std::string Read(const std::string& path) {
    std::ostringstream out;
    out << std::ifstream(path, std::ios::binary).rdbuf();
    return out.str();
  }
  // The permissions' bits; 0 where there is nothing.
  static unsigned Mode(const std::string& path) {
    struct stat about = {};
    return stat(path.c_str(), &about) == 0 ? about.st_mode & 07777u : 0;
  }

 private:
  test::TempFolder folder_;
};

}  // namespace parlor::solo

#endif  // PARLOR_TESTS_SOLO_SECRET_FILES_H_
