// LoopThread: a NetLoop that a thread of its own turns.
#ifndef PARLOR_TESTS_SUPPORT_LOOP_THREAD_H_
#define PARLOR_TESTS_SUPPORT_LOOP_THREAD_H_

#include <functional>
#include <future>
#include <thread>

#include "parlor/check.h"
#include "parlor/transports/net_loop.h"
#include "support/net_turns.h"

namespace parlor::test {

// Ends the test program when that does not come: what runs on the other thread
// refers to what the test would take away.
inline void Await(std::promise<void>& done) {
  PARLOR_CHECK(done.get_future().wait_for(kPatience) ==
               std::future_status::ready);
}

class LoopThread {
 public:
  LoopThread() = default;
  LoopThread(const LoopThread&) = delete;
  LoopThread& operator=(const LoopThread&) = delete;
  ~LoopThread() {
    loop_.Stop();
    thread_.join();
  }

  NetLoop& loop() { return loop_; }

  // Runs `task` in a turn of the loop, and waits for it.
  void Call(const std::function<void()>& task) {
    std::promise<void> done;
    loop_.Post([&] {
      task();
      done.set_value();
    });
    Await(done);
  }

 private:
  NetLoop loop_;
  std::thread thread_{[this] { loop_.Run(); }};
};

}  // namespace parlor::test

#endif  // PARLOR_TESTS_SUPPORT_LOOP_THREAD_H_
