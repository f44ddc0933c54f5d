// Waker: runs one task on a loop when any thread asks for it, without an
// allocation: for what happens between threads with every message.
#ifndef PARLOR_TRANSPORTS_ASIO_WAKER_H_
#define PARLOR_TRANSPORTS_ASIO_WAKER_H_

#include <asio/post.hpp>
#include <atomic>
#include <functional>
#include <memory>
#include <utility>

#include "asio/asio_loop.h"
#include "asio/handler_memory.h"

namespace parlor::net_internal {

class Waker {
 public:
  // `loop` outlives the waker.
  Waker(AsioLoop& loop, std::function<void()> task)
      : block_(std::make_shared<Block>(loop, std::move(task))) {}
  // On the loop's thread, or when none turns it. The task does not run any
  // more.
  ~Waker() { block_->task = nullptr; }
  Waker(const Waker&) = delete;
  Waker& operator=(const Waker&) = delete;

  // Any thread. The task runs in a later turn, once for all the calls that came
  // before it begins, and sees what was done before each.
  void Wake() {
    if (block_->pending.exchange(true, std::memory_order_acq_rel)) return;
    asio::post(block_->loop.context(), Handler{block_});
  }

 private:
  struct Block {
    Block(AsioLoop& its_loop, std::function<void()> its_task)
        : loop(its_loop), task(std::move(its_task)) {}

    AsioLoop& loop;
    std::function<void()> task;
    // While the handler waits, whose memory is then in use.
    std::atomic<bool> pending = false;
    HandlerMemory memory;
  };

  struct Handler {
    using allocator_type = HandlerAllocator<std::byte>;
    allocator_type get_allocator() const {
      return allocator_type(block->memory);
    }
    void operator()() const {
      block->pending.exchange(false, std::memory_order_acq_rel);
      if (!block->task) return;
      block->loop.BeginTurn();
      block->task();
    }

    std::shared_ptr<Block> block;
  };

  std::shared_ptr<Block> block_;
};

}  // namespace parlor::net_internal

#endif  // PARLOR_TRANSPORTS_ASIO_WAKER_H_
