// More files and sockets at once than a process may have where nobody raised
// its limit, which is 1,024 on most systems.
#ifndef PARLOR_TESTS_SUPPORT_OPEN_FILES_H_
#define PARLOR_TESTS_SUPPORT_OPEN_FILES_H_

#include <sys/resource.h>

#include "parlor/check.h"

namespace parlor::test {

// As many as the system grants this process, for the rest of its life.
inline void AllowManyOpenFiles() {
  rlimit limit{};
  PARLOR_CHECK(getrlimit(RLIMIT_NOFILE, &limit) == 0);
  limit.rlim_cur = limit.rlim_max;
  PARLOR_CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
}

}  // namespace parlor::test

#endif  // PARLOR_TESTS_SUPPORT_OPEN_FILES_H_
