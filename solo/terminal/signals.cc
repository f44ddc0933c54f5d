#include "terminal/signals.h"

#include <poll.h>
#include <unistd.h>

#include <array>
#include <ctime>

namespace parlor::solo {
namespace {

constexpr std::array kCaught = {SIGINT,  SIGQUIT, SIGTERM, SIGHUP,
                                SIGTSTP, SIGCONT, SIGWINCH};

// Written by the handler, which runs inside Wait alone.
volatile std::sig_atomic_t end_signal = 0;
volatile std::sig_atomic_t resized = 0;
volatile std::sig_atomic_t stop = 0;
volatile std::sig_atomic_t continued = 0;

void OnSignal(int signal) {
  if (signal == SIGWINCH) {
    resized = 1;
  } else if (signal == SIGTSTP) {
    stop = 1;
  } else if (signal == SIGCONT) {
    continued = 1;
  } else {
    end_signal = signal;
  }
}

bool Take(volatile std::sig_atomic_t& flag) {
  const bool was = flag != 0;
  flag = 0;
  return was;
}

void SetHandler(int signal, void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  sigemptyset(&action.sa_mask);
  sigaction(signal, &action, nullptr);
}

void Unblock(int signal) {
  sigset_t one;
  sigemptyset(&one);
  sigaddset(&one, signal);
  sigprocmask(SIG_UNBLOCK, &one, nullptr);
}

}  // namespace

Signals::Signals() {
  sigset_t caught;
  sigemptyset(&caught);
  for (const int signal : kCaught) sigaddset(&caught, signal);
  sigprocmask(SIG_BLOCK, &caught, &before_);
  for (const int signal : kCaught) SetHandler(signal, OnSignal);
}

Signals::~Signals() {
  for (const int signal : kCaught) SetHandler(signal, SIG_DFL);
  sigprocmask(SIG_SETMASK, &before_, nullptr);
}

bool Signals::Wait(Duration time) {
  pollfd input{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
  timespec limit{};
  const bool limited = time != kForever;
  if (limited && time > Duration::zero()) {
    limit.tv_sec = static_cast<std::time_t>(time / kSecond);
    limit.tv_nsec = static_cast<long>((time % kSecond).count());
  }
  ppoll(&input, 1, limited ? &limit : nullptr, &before_);
  return (input.revents & (POLLHUP | POLLERR | POLLNVAL)) == 0;
}

int Signals::end() const { return end_signal; }
bool Signals::TakeResized() { return Take(resized); }
bool Signals::TakeStop() { return Take(stop); }
bool Signals::TakeContinued() { return Take(continued); }

void Signals::Stop() {
  SetHandler(SIGTSTP, SIG_DFL);
  raise(SIGTSTP);
  Unblock(SIGTSTP);  // stops here
  sigset_t one;
  sigemptyset(&one);
  sigaddset(&one, SIGTSTP);
  sigprocmask(SIG_BLOCK, &one, nullptr);
  SetHandler(SIGTSTP, OnSignal);
}

void DieBy(int signal) {
  SetHandler(signal, SIG_DFL);
  raise(signal);
  Unblock(signal);
}

}  // namespace parlor::solo
