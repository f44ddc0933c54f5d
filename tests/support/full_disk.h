// Disks that take no more, by the limit that this process has for its files.
// Pipes and terminals take what they always do.
#ifndef PARLOR_TESTS_SUPPORT_FULL_DISK_H_
#define PARLOR_TESTS_SUPPORT_FULL_DISK_H_

#include <sys/resource.h>

#include <csignal>
#include <cstdint>

#include "parlor/check.h"

namespace parlor::test {

// While it lives, no file of this process grows beyond so many bytes. The
// system ends a process that writes there and does not expect it (SIGXFSZ).
class FileSizeLimit {
 public:
  explicit FileSizeLimit(std::int64_t bytes) {
    PARLOR_CHECK(getrlimit(RLIMIT_FSIZE, &before_) == 0);
    rlimit limit = before_;
    limit.rlim_cur = static_cast<rlim_t>(bytes);
    PARLOR_CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
  }
  ~FileSizeLimit() { PARLOR_CHECK(setrlimit(RLIMIT_FSIZE, &before_) == 0); }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;

 private:
  rlimit before_{};
};

// While it lives, no file grows, and writes to files fail.
class FullDisk {
 public:
  FullDisk() = default;
  FullDisk(const FullDisk&) = delete;
  FullDisk& operator=(const FullDisk&) = delete;

 private:
  struct Unheard {
    Unheard() : before(std::signal(SIGXFSZ, SIG_IGN)) {}
    ~Unheard() { std::signal(SIGXFSZ, before); }
    Unheard(const Unheard&) = delete;
    Unheard& operator=(const Unheard&) = delete;
    void (*before)(int);
  };

  // Before the limit, and until that is over.
  const Unheard unheard_;
  const FileSizeLimit limit_{0};
};

}  // namespace parlor::test

#endif  // PARLOR_TESTS_SUPPORT_FULL_DISK_H_
