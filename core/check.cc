#include "parlor/check.h"

#include <cstdio>
#include <cstdlib>

namespace parlor {

void CheckFailed(const char* file, int line, const char* condition) noexcept {
  std::fprintf(stderr, "%s:%d: check failed: %s\n", file, line, condition);
  std::abort();
}

}  // namespace parlor
