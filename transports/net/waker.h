// Waker: runs one task on a loop when any thread asks for it, without an
// allocation: for what happens between threads with every message.
#ifndef PARLOR_TRANSPORTS_NET_WAKER_H_
#define PARLOR_TRANSPORTS_NET_WAKER_H_

#include <atomic>
#include <functional>
#include <memory>
#include <utility>

#include "net/epoll_loop.h"
#include "net/task_queue.h"

namespace parlor::net_internal {

class Waker {
 public:
  // `loop` outlives the waker.
  Waker(EpollLoop& loop, std::function<void()> task)
      : call_(std::make_shared<Call>(loop, std::move(task))) {}
  // On the loop's thread, or when none turns it. The task does not run any
  // more. Not inside the task, which dies here.
  ~Waker() { call_->task = nullptr; }
  Waker(const Waker&) = delete;
  Waker& operator=(const Waker&) = delete;

  // Any thread. The task runs in a later turn, once for all the calls that came
  // before it begins, and sees what was done before each.
  void Wake() {
    if (call_->pending.exchange(true, std::memory_order_acq_rel)) return;
    call_->loop.Post(call_);
  }

 private:
  struct Call final : TaskQueue::Task {
    Call(EpollLoop& its_loop, std::function<void()> its_task)
        : loop(its_loop), task(std::move(its_task)) {}

    void Run() override {
      pending.exchange(false, std::memory_order_acq_rel);
      if (!task) return;
      loop.BeginTurn();
      task();
    }

    EpollLoop& loop;
    std::function<void()> task;
    std::atomic<bool> pending = false;  // it is in the queue
  };

  const std::shared_ptr<Call> call_;
};

}  // namespace parlor::net_internal

#endif  // PARLOR_TRANSPORTS_NET_WAKER_H_
