#include "report.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>

#include "options.h"
#include "parlor/printable.h"

namespace parlor::solo {

int Fail(int code, std::string_view text) {
  std::fprintf(stderr, "parlor-solo: %s\n", Printable(text).c_str());
  return code;
}

int Report(std::uint32_t frames, std::uint64_t hash, double seconds) {
  std::printf("frames: %" PRIu32 "\nhash: 0x%016" PRIx64
              "\nframes_per_second: %.0f\n",
              frames, hash, frames / std::max(seconds, 1e-9));
  if (std::fflush(stdout) != 0) {
    return Fail(kExitFailed, "cannot write to stdout");
  }
  return kExitOk;
}

}  // namespace parlor::solo
