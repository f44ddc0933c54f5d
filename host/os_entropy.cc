#include "parlor/host/os_entropy.h"

#include <unistd.h>

#include <algorithm>

#include "parlor/check.h"

namespace parlor::host {

void OsEntropy::Fill(std::span<std::byte> out) {
  // getentropy(3) gives at most 256 bytes a call, and fails only where the
  // system has no source at all.
  constexpr std::size_t kCallMax = 256;
  while (!out.empty()) {
    const std::size_t count = std::min(out.size(), kCallMax);
    PARLOR_CHECK(getentropy(out.data(), count) == 0);
    out = out.subspan(count);
  }
}

}  // namespace parlor::host
