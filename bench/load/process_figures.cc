#include "load/process_figures.h"

#include <ctime>
#include <fstream>
#include <string>

#include "absl/status/status.h"
#include "parlor/check.h"
#include "parlor/status.h"

namespace parlor::load {
namespace {

absl::Status NoProcess(pid_t process) {
  return MakeStatus(absl::StatusCode::kNotFound,
                    "there is no process " + std::to_string(process));
}

std::int64_t Nanoseconds(const timespec& time) {
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

}  // namespace

absl::StatusOr<std::int64_t> ProcessCpuNs(pid_t process) {
  clockid_t clock{};
  timespec time{};
  if (clock_getcpuclockid(process, &clock) != 0 ||
      clock_gettime(clock, &time) != 0) {
    return NoProcess(process);
  }
  return Nanoseconds(time);
}

std::int64_t OwnCpuNs() {
  timespec time{};
  PARLOR_CHECK(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time) == 0);
  return Nanoseconds(time);
}

absl::StatusOr<MemoryFigures> ProcessMemory(pid_t process) {
  if (const auto cpu = ProcessCpuNs(process); !cpu.ok()) return cpu.status();
  std::ifstream file("/proc/" + std::to_string(process) + "/smaps_rollup");
  MemoryFigures figures;
  int found = 0;
  for (std::string line; std::getline(file, line);) {
    // "Rss:                1234 kB"
    const bool rss = line.starts_with("Rss:");
    if (!rss && !line.starts_with("Pss:")) continue;
    (rss ? figures.rss_bytes : figures.pss_bytes) =
        std::stoll(line.substr(4)) * 1'024;
    ++found;
  }
  if (found == 2) return figures;
  return MakeStatus(absl::StatusCode::kPermissionDenied,
                    "the memory of process " + std::to_string(process) +
                        " may not be read: run this as its user");
}

}  // namespace parlor::load
