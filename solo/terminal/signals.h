// Signals: what the system tells a program in a terminal. They are blocked but
// for the wait, so that nothing is interrupted half way.
#ifndef PARLOR_SOLO_TERMINAL_SIGNALS_H_
#define PARLOR_SOLO_TERMINAL_SIGNALS_H_

#include <csignal>

#include "parlor/time.h"

namespace parlor::solo {

// One at a time. The dispositions and the mask from before come back with its
// end.
class Signals {
 public:
  Signals();
  ~Signals();
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

  // Waits until stdin can be read, a signal came, or `time` passed (kForever:
  // no limit). False when stdin is closed.
  static constexpr Duration kForever = Duration::max();
  bool Wait(Duration time);

  // SIGINT, SIGQUIT, SIGTERM or SIGHUP, or 0.
  int end() const;
  bool TakeResized();
  bool TakeStop();       // SIGTSTP: somebody wants the terminal back
  bool TakeContinued();  // SIGCONT

  // Stops the process as SIGTSTP would have; returns when it goes on.
  void Stop();

 private:
  sigset_t before_;
};

// Ends the process as `signal` would have.
void DieBy(int signal);

}  // namespace parlor::solo

#endif  // PARLOR_SOLO_TERMINAL_SIGNALS_H_
