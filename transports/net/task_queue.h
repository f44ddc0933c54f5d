// TaskQueue: what any thread asks a loop to do.
#ifndef PARLOR_TRANSPORTS_NET_TASK_QUEUE_H_
#define PARLOR_TRANSPORTS_NET_TASK_QUEUE_H_

#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

#include "net/socket_set.h"

namespace parlor::net_internal {

class TaskQueue : private SocketSet::Member {
 public:
  class Task {
   public:
    virtual ~Task() = default;
    // On the loop's thread.
    virtual void Run() = 0;
  };

  // Wakes who waits for `sockets`. Throws std::system_error when the system has
  // no descriptor for that.
  explicit TaskQueue(SocketSet& sockets);
  // Destroys what was not run.
  ~TaskQueue() override;

  // Any thread. Tasks run in the order in which they were added.
  void Add(std::shared_ptr<Task> task);
  // Any thread: a wait that is under way ends. One that is about to begin does
  // if it looks, behind MaySleep, at what was stored before this.
  void Wake();

  // The rest is the loop's thread's.

  // Before a wait: whether it may last, since there are no tasks. DoneSleeping
  // follows.
  bool MaySleep() {
    sleeping_.store(true);
    return empty();
  }
  void DoneSleeping() { sleeping_.store(false, std::memory_order_relaxed); }

  bool empty() const { return !running() && !waiting_any_.load(); }
  // Whether the last Run left some of those that waited when it began.
  bool running() const { return next_ < running_.size(); }
  // Runs those that wait, `most` at the most, and none that are added
  // meanwhile. Returns how many there were.
  std::size_t Run(std::size_t most);

 private:
  void OnReadReady() override;
  void OnWriteReady() override {}

  std::mutex mutex_;
  std::vector<std::shared_ptr<Task>> waiting_;  // guarded by mutex_
  // Whether there are any. Sequentially consistent, as is sleeping_: who adds
  // one sees that the loop sleeps, or the loop sees it before it does.
  std::atomic<bool> waiting_any_ = false;
  std::atomic<bool> sleeping_ = false;
  std::vector<std::shared_ptr<Task>> running_;
  std::size_t next_ = 0;  // of running_
};

}  // namespace parlor::net_internal

#endif  // PARLOR_TRANSPORTS_NET_TASK_QUEUE_H_
