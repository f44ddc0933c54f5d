// Turns NetLoops from one thread with a time that the test sets, and talks to
// them by plain blocking sockets on loopback.
#ifndef PARLOR_TESTS_SUPPORT_NET_TURNS_H_
#define PARLOR_TESTS_SUPPORT_NET_TURNS_H_

#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <functional>
#include <initializer_list>
#include <thread>
#include <vector>

#include "parlor/time.h"
#include "parlor/transports/net_loop.h"

namespace parlor::test {

// What a test that hangs is allowed, in real time; nothing measures it.
inline constexpr std::chrono::seconds kPatience{20};

class NetTurns {
 public:
  NetTurns(std::initializer_list<NetLoop*> loops) : loops_(loops) {}

  // Given to every Poll.
  TimePoint now{std::chrono::hours(1)};

  // One Poll of each; how many events there were.
  std::size_t Turn() {
    std::size_t events = 0;
    for (NetLoop* loop : loops_) events += loop->Poll(now);
    return events;
  }

  // Turns until `done`; false when that does not come.
  bool Until(const std::function<bool()>& done) {
    const auto deadline = std::chrono::steady_clock::now() + kPatience;
    while (!done()) {
      if (Turn() > 0) continue;
      if (std::chrono::steady_clock::now() > deadline) return false;
      // The kernel, or a resolver's thread, has something under way.
      std::this_thread::yield();
    }
    return true;
  }

  // Turns until nothing is left to do, also not a moment later.
  void Settle() {
    for (int quiet = 0; quiet < 3;) {
      quiet = Turn() > 0 ? 0 : quiet + 1;
      if (quiet > 0) std::this_thread::yield();
    }
  }

  void Advance(Duration time) {
    now += time;
    Settle();
  }

 private:
  std::vector<NetLoop*> loops_;
};

}  // namespace parlor::test

#endif  // PARLOR_TESTS_SUPPORT_NET_TURNS_H_
