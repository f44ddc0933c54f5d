// NetLoop: the loop that sockets live on. A dedicated host runs one a shard, on
// a thread of its own; a game may turn one inside its own loop with Poll.
//
// Work is done in turns. A turn reads what has arrived and calls the handlers;
// at its end every connection that was given something to send writes it, all
// of it with one call into the system. So what is sent between two turns leaves
// together.
//
// One thread: that which calls Run or Poll. Post and Stop may be called from
// any. The loop, and what lives on it, may be made on another thread before Run
// begins, and destroyed there once the thread that ran it was joined. Not
// movable; outlives everything made for it.
#ifndef PARLOR_TRANSPORTS_NET_LOOP_H_
#define PARLOR_TRANSPORTS_NET_LOOP_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include "parlor/time.h"
#include "parlor/transports/turn_work.h"

namespace parlor {

namespace net_internal {
class EpollLoop;
}

class NetLoop {
 public:
  // Throws std::system_error when the system has no descriptor for it.
  NetLoop();
  ~NetLoop();
  NetLoop(const NetLoop&) = delete;
  NetLoop& operator=(const NetLoop&) = delete;

  // Turns until Stop, by the system's steady clock, which is read once a turn.
  void Run();

  // Turns without waiting, at most `events_max` events (a readable socket, a
  // new connection, a posted task, the end of a turn), and acts on what is due
  // at `now`; the next Poll goes on with what this one had no room for. Returns
  // how many there were: 0 means that nothing was left to do.
  // Not on a loop that Run was called on.
  std::size_t Poll(TimePoint now, std::size_t events_max = SIZE_MAX);

  // Poll then, even if nothing has arrived. kNever: there is no deadline.
  TimePoint next_alarm() const;

  // Runs `task` in a later turn, in the order posted. What is still waiting
  // when the loop dies is destroyed without being run.
  void Post(std::function<void()> task);

  // Run returns after the present turn. A Run that comes later returns too.
  void Stop();

  // The time of the present turn, or of the last one.
  TimePoint now() const;

  // The most that any turn did, of each; of turns that have ended. Any thread.
  // A turn is bounded, so that no connection waits longer than that for what
  // the others do: 128 events, as many as one look into the system finds, and
  // the tasks that waited; some hundred KiB; some hundred alarms and ends.
  TurnWork busiest_turn() const;

  // For the adapters of this library.
  net_internal::EpollLoop& internal() { return *loop_; }

 private:
  std::unique_ptr<net_internal::EpollLoop> loop_;
};

}  // namespace parlor

#endif  // PARLOR_TRANSPORTS_NET_LOOP_H_
