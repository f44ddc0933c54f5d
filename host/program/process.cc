#include "program/process.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <ctime>

namespace parlor::host_program {

bool HoldStandardStreams() {
  const bool has_stdout = fcntl(STDOUT_FILENO, F_GETFD) >= 0;
  // The lowest number that is free is what open answers.
  int fd = 0;
  while (fd >= 0 && fd <= STDERR_FILENO) fd = open("/dev/null", O_RDWR);
  if (fd > STDERR_FILENO) close(fd);
  return has_stdout;
}

void IgnoreFileSizeSignal() { std::signal(SIGXFSZ, SIG_IGN); }

std::uint64_t RaiseDescriptorLimit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return 0;
  const rlim_t before = limit.rlim_cur;
  limit.rlim_cur = limit.rlim_max;
  return setrlimit(RLIMIT_NOFILE, &limit) == 0 ? limit.rlim_cur : before;
}

Signals::Signals() : signals_() {
  sigemptyset(&signals_);
  sigaddset(&signals_, SIGINT);
  sigaddset(&signals_, SIGTERM);
  sigaddset(&signals_, SIGHUP);
  pthread_sigmask(SIG_BLOCK, &signals_, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
}

int Signals::Wait() {
  int signal = 0;
  while (signal <= 0) signal = sigwaitinfo(&signals_, nullptr);
  return signal;
}

int Signals::WaitFor(Duration time) {
  timespec limit{};
  limit.tv_sec = static_cast<std::time_t>(time / kSecond);
  limit.tv_nsec = static_cast<long>((time % kSecond).count());
  const int signal = sigtimedwait(&signals_, nullptr, &limit);
  return signal > 0 ? signal : 0;
}

void Signals::DieBy(int signal) {
  std::signal(signal, SIG_DFL);
  raise(signal);
  sigset_t one;
  sigemptyset(&one);
  sigaddset(&one, signal);
  pthread_sigmask(SIG_UNBLOCK, &one, nullptr);  // it ends here
  std::abort();
}

}  // namespace parlor::host_program
