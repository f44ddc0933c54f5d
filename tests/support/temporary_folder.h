// TemporaryFolder: a folder of its own (mode 0700), gone with all that is in it
// at the end.
#ifndef PARLOR_TESTS_SUPPORT_TEMPORARY_FOLDER_H_
#define PARLOR_TESTS_SUPPORT_TEMPORARY_FOLDER_H_

#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>

#include "parlor/check.h"

namespace parlor::test {

class TemporaryFolder {
 public:
  TemporaryFolder()
      : path_((std::filesystem::temp_directory_path() / "parlor-test-XXXXXX")
                  .string()) {
    PARLOR_CHECK(mkdtemp(path_.data()) != nullptr);
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::string& path() const { return path_; }
  std::string File(std::string_view name) const {
    return path_ + "/" + std::string(name);
  }

 private:
  std::string path_;
};

}  // namespace parlor::test

#endif  // PARLOR_TESTS_SUPPORT_TEMPORARY_FOLDER_H_
