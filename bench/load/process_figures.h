// What the system says of a process: another's, or this one.
#ifndef PARLOR_BENCH_LOAD_PROCESS_FIGURES_H_
#define PARLOR_BENCH_LOAD_PROCESS_FIGURES_H_

#include <sys/types.h>

#include <cstdint>

#include "absl/status/statusor.h"

namespace parlor::load {

// Processor time of all threads it has and had, user and system, by the
// scheduler's clock (clock_getcpuclockid(3)): to the nanosecond, but that a
// thread which is running at this moment counts up to its last tick (4 ms at
// 250 Hz). NotFound: there is no such process.
absl::StatusOr<std::int64_t> ProcessCpuNs(pid_t process);
// Of this process, exact.
std::int64_t OwnCpuNs();

struct MemoryFigures {
  std::int64_t rss_bytes = 0;  // in memory, shared pages in full
  std::int64_t pss_bytes = 0;  // shared pages divided among those who share
};
// From /proc/<pid>/smaps_rollup, which counts pages, unlike statm, whose sums
// lag behind. What the kernel keeps for its sockets is in neither. NotFound: no
// such process; PermissionDenied: another user's.
absl::StatusOr<MemoryFigures> ProcessMemory(pid_t process);

}  // namespace parlor::load

#endif  // PARLOR_BENCH_LOAD_PROCESS_FIGURES_H_
