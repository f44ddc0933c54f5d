// EpollLoop: what NetLoop is made of, a StreamLoop turned by one look at its
// sockets after another. A turn is the tasks that wait, the sockets that one
// look finds ready, and then its end: one system call of its own, however much
// there is to do.
#ifndef PARLOR_TRANSPORTS_NET_EPOLL_LOOP_H_
#define PARLOR_TRANSPORTS_NET_EPOLL_LOOP_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "net/look_ups.h"
#include "net/socket_set.h"
#include "net/task_queue.h"
#include "parlor/entropy.h"
#include "parlor/time.h"
#include "stream/stream_loop.h"
#include "stream/websocket_codec.h"

namespace parlor::net_internal {

class EpollLoop final : public stream::StreamLoop {
 public:
  // Throws std::system_error when the system has no descriptor for it.
  EpollLoop() = default;
  ~EpollLoop() override { EndDrains(); }

  // As in NetLoop.
  void Run();
  std::size_t Poll(TimePoint now, std::size_t events_max);
  void Post(std::function<void()> task);
  void Stop();

  // Any thread: `task` runs in a later turn. No allocation, in the long run.
  void Post(std::shared_ptr<TaskQueue::Task> task) {
    tasks_.Add(std::move(task));
  }

  // Of what lives on this loop.
  SocketSet& sockets() { return sockets_; }
  LookUps& look_ups() { return look_ups_; }

  // First call of whatever handles an event.
  void BeginTurn();

  // Who reads a socket says how much it was.
  using StreamLoop::CountRead;

  // For calls that are told the time. Between two turns it rises to `now`, so
  // that deadlines do not start in the past, and does not fall. Inside a turn
  // it stands: one caller's wrong clock would make the alarms of others due.
  void AdvanceTo(TimePoint now);

  // The masking keys of clients that live on this loop; one row a source, of
  // which a process has one.
  stream::MaskKeys& mask_keys(Entropy& entropy);

 private:
  struct Masking {
    Entropy* entropy;
    std::unique_ptr<stream::MaskKeys> keys;
  };

  // Of a turn, in their order.
  enum class Step : std::uint8_t { kTasks, kSockets, kEnd };

  void RequestTurnEnd() override { end_requested_ = true; }
  void Sleep();
  void EndTurn();

  bool running_ = false;  // Run, not Poll: the clock is read
  bool in_turn_ = false;
  bool end_requested_ = false;
  // Where Poll goes on: one that was allowed little may have left the rest of a
  // turn, which would never come if each began anew.
  Step next_step_ = Step::kTasks;
  std::atomic<bool> stopping_ = false;
  std::vector<Masking> masking_;
  SocketSet sockets_;
  // Behind the rest, so that they go first: what tasks own may still use it.
  TaskQueue tasks_{sockets_};
  LookUps look_ups_{tasks_};
};

}  // namespace parlor::net_internal

#endif  // PARLOR_TRANSPORTS_NET_EPOLL_LOOP_H_
