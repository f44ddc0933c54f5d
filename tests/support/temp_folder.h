// A folder for one test, gone with it.
#ifndef PARLOR_TESTS_SUPPORT_TEMP_FOLDER_H_
#define PARLOR_TESTS_SUPPORT_TEMP_FOLDER_H_

#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "parlor/check.h"
#include "support/files.h"

namespace parlor::test {

class TempFolder {
 public:
  // In memory, where the system has such a place: for a test that writes often
  // and does not ask about disks.
  static std::string InMemory() {
    return access("/dev/shm", W_OK) == 0 ? "/dev/shm" : OnDisk();
  }
  static std::string OnDisk() {
    return std::filesystem::temp_directory_path().string();
  }

  explicit TempFolder(const std::string& where = OnDisk())
      : path_(where + "/parlor-test-XXXXXX") {
    PARLOR_CHECK(mkdtemp(path_.data()) != nullptr);
  }
  ~TempFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;

  const std::string& path() const { return path_; }
  std::string At(std::string_view name) const {
    return path_ + "/" + std::string(name);
  }
  // Returns the path.
  std::string Write(std::string_view name, std::string_view content,
                    mode_t mode = 0600) const {
    WriteFile(At(name), content, mode);
    return At(name);
  }
  // What is in it, sorted.
  std::vector<std::string> Names() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(path_)) {
      names.push_back(entry.path().filename());
    }
    std::ranges::sort(names);
    return names;
  }

 private:
  std::string path_;
};

}  // namespace parlor::test

#endif  // PARLOR_TESTS_SUPPORT_TEMP_FOLDER_H_
