#ifndef PARLOR_BENCH_THREAD_CPU_H_
#define PARLOR_BENCH_THREAD_CPU_H_

#include <ctime>

namespace parlor::bench {

// CPU time of this thread, since other work on the machine is not what is
// measured.
inline double ThreadCpuNs() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e9 +
         static_cast<double>(now.tv_nsec);
}

}  // namespace parlor::bench

#endif  // PARLOR_BENCH_THREAD_CPU_H_
