// VirtualLoop: a StreamLoop in virtual time. What runs on it runs as it would
// on sockets, in the order that its Executor gives events.
#ifndef PARLOR_TRANSPORTS_SIM_VIRTUAL_LOOP_H_
#define PARLOR_TRANSPORTS_SIM_VIRTUAL_LOOP_H_

#include <cstddef>
#include <deque>
#include <functional>

#include "parlor/executor.h"
#include "parlor/time.h"
#include "stream/stream_loop.h"

namespace parlor::sim {

class VirtualLoop;

// Something that can happen on a loop: it has its time, and with its loop it
// stands still. Its destruction cancels it.
class VirtualEvent {
 public:
  explicit VirtualEvent(VirtualLoop& loop) : loop_(loop) {}
  VirtualEvent(const VirtualEvent&) = delete;
  VirtualEvent& operator=(const VirtualEvent&) = delete;
  virtual ~VirtualEvent() { Cancel(); }

  VirtualLoop& loop() const { return loop_; }

  // OnEvent will come at `at`, once, and at no earlier time that was asked for.
  void RunAt(TimePoint at);
  // The same at the present time, unless it is to come already.
  void RunSoon();
  void Cancel();
  bool is_due() const { return due_; }  // it is to come

 protected:
  // In a turn of the loop. May destroy the event.
  virtual void OnEvent() = 0;

 private:
  void Run();

  VirtualLoop& loop_;
  Executor::Event event_;
  bool due_ = false;
};

class VirtualLoop final : public stream::StreamLoop {
 public:
  // `executor` outlives it. Its time is this one's, outside of turns too: tests
  // call what lives here whenever they like.
  explicit VirtualLoop(Executor& executor) : executor_(executor) {
    Follow(executor.clock());
  }
  ~VirtualLoop() override { EndDrains(); }

  Executor& executor() const { return executor_; }

  // As NetLoop's: in a turn of its own, in the order posted.
  void Post(std::function<void()> task);

  // Its machine stands still: nothing on it runs before `until`, or before what
  // an earlier call said. What is due meanwhile runs then.
  void StallUntil(TimePoint until);

  // Who reads a stream on it says how much it was: a part of this turn.
  void CountRead(std::size_t bytes) {
    StreamLoop::CountRead(bytes);
    turn_.RunSoon();
  }

 private:
  friend class VirtualEvent;

  // One of the loop's own events.
  template <void (VirtualLoop::*kRun)()>
  class Own final : public VirtualEvent {
   public:
    using VirtualEvent::VirtualEvent;

   private:
    void OnEvent() override { (loop().*kRun)(); }
  };

  void RequestTurnEnd() override;
  void EndTurn();
  void RunTask();

  Executor& executor_;
  TimePoint stalled_until_ = TimePoint::min();
  TimePoint alarm_at_ = kNever;  // of alarm_
  std::deque<std::function<void()>> tasks_;
  Own<&VirtualLoop::EndTurn> turn_{*this};
  Own<&VirtualLoop::EndTurn> alarm_{*this};
  Own<&VirtualLoop::RunTask> task_{*this};
};

}  // namespace parlor::sim

#endif  // PARLOR_TRANSPORTS_SIM_VIRTUAL_LOOP_H_
