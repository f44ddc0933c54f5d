// FullDisk: while it lives, no file of this process grows, and writes to files
// fail. Pipes and terminals take what they always do.
#ifndef PARLOR_TESTS_SUPPORT_FULL_DISK_H_
#define PARLOR_TESTS_SUPPORT_FULL_DISK_H_

#include <sys/resource.h>

#include <csignal>

#include "parlor/check.h"

namespace parlor::test {

class FullDisk {
 public:
  FullDisk() {
    PARLOR_CHECK(getrlimit(RLIMIT_FSIZE, &before_) == 0);
    signal_ = std::signal(SIGXFSZ, SIG_IGN);
    rlimit none = before_;
    none.rlim_cur = 0;
    PARLOR_CHECK(setrlimit(RLIMIT_FSIZE, &none) == 0);
  }
  ~FullDisk() {
    PARLOR_CHECK(setrlimit(RLIMIT_FSIZE, &before_) == 0);
    std::signal(SIGXFSZ, signal_);
  }
  FullDisk(const FullDisk&) = delete;
  FullDisk& operator=(const FullDisk&) = delete;

 private:
  rlimit before_{};
  void (*signal_)(int) = nullptr;
};

}  // namespace parlor::test

#endif  // PARLOR_TESTS_SUPPORT_FULL_DISK_H_
