#include "net/task_queue.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <system_error>
#include <utility>

#include "net/socket_set.h"
#include "parlor/check.h"

namespace parlor::net_internal {

TaskQueue::TaskQueue(SocketSet& sockets) : Member(sockets) {
  const int event = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  if (event >= 0) Adopt(event);
  if (event < 0 || !Watch(/*read=*/true, /*write=*/false)) {
    throw std::system_error(errno, std::system_category(), "eventfd");
  }
}

TaskQueue::~TaskQueue() {
  running_.clear();
  // What dies with a task may add another.
  while (!waiting_.empty()) std::exchange(waiting_, {}).clear();
}

void TaskQueue::Add(std::shared_ptr<Task> task) {
  {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(std::move(task));
    waiting_any_.store(true);
  }
  Wake();
}

void TaskQueue::Wake() {
  // One call into the system for all that come while it sleeps.
  if (!sleeping_.exchange(false)) return;
  const std::uint64_t one = 1;
  PARLOR_CHECK(write(descriptor(), &one, sizeof(one)) == sizeof(one));
}

void TaskQueue::OnReadReady() {
  std::uint64_t wakes = 0;
  // Nothing there: another read took it.
  const auto read_bytes = read(descriptor(), &wakes, sizeof(wakes));
  PARLOR_CHECK(read_bytes == sizeof(wakes) || errno == EAGAIN);
}

std::size_t TaskQueue::Run(std::size_t most) {
  if (next_ == running_.size()) {
    running_.clear();
    next_ = 0;
    if (!waiting_any_.load(std::memory_order_acquire)) return 0;
    const std::lock_guard lock(mutex_);
    running_.swap(waiting_);
    waiting_any_.store(false);
  }
  std::size_t count = 0;
  while (count < most && next_ < running_.size()) {
    ++count;
    // Dies as soon as it was run.
    const std::shared_ptr<Task> task = std::move(running_[next_++]);
    task->Run();
  }
  return count;
}

}  // namespace parlor::net_internal
