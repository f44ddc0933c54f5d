// What parlor-host asks of its process: signals as events of the main thread,
// enough descriptors, and standard streams that are no sockets.
#ifndef PARLOR_HOST_PROGRAM_PROCESS_H_
#define PARLOR_HOST_PROGRAM_PROCESS_H_

#include <csignal>
#include <cstdint>

#include "parlor/time.h"

namespace parlor::host_program {

// A descriptor of the first three that is closed would be given to a socket,
// and the log would go to a client. They lead to /dev/null from here on.
// Whether stdout was open.
bool HoldStandardStreams();

// A file that may not grow (ulimit -f) is an error of the write from here on,
// not the end of the process.
void IgnoreFileSizeSignal();

// Raises the soft limit to the hard one; the limit that holds then.
std::uint64_t RaiseDescriptorLimit();

// SIGINT, SIGTERM and SIGHUP, kept from all threads that are made later, until
// they are waited for; SIGPIPE ignored. One object, before any thread.
class Signals {
 public:
  Signals();
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

  // The next one.
  int Wait();
  // The same, or 0 when none came in `time`.
  int WaitFor(Duration time);

  // Ends the process as `signal` does when nobody catches it.
  [[noreturn]] static void DieBy(int signal);

 private:
  sigset_t signals_;
};

}  // namespace parlor::host_program

#endif  // PARLOR_HOST_PROGRAM_PROCESS_H_
