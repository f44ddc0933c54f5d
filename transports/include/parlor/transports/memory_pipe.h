// The memory pipe: two Connections joined in memory, without a socket. Solo
// play, a listen server's own seat and tests run on it, by the same rules as
// any network (parlor/connection.h).
//
// Each end is bound to a PipePump and lives on that pump's thread; the two
// pumps may be one. Messages are copied into pooled chunks (reliable lane) or a
// mailbox of three slots (state lane). In steady state no message allocates.
// Between two threads no message takes a lock; a lock is taken only to wake a
// pump that had nothing to do.
//
// A pipe takes 2.5 KiB, in which the small messages of a reader that keeps up
// find their place. When more wait, a direction takes chunks from 1 KiB on, and
// keeps as many as its reliable lane ever filled: at most the lane's limit and
// one chunk, as long as messages are small beside a chunk (which grow with the
// queue, up to 64 KiB), and never more than twice the limit. The state lane
// keeps three times its largest message.
//
// Close, here: the code travels behind what was queued. When both ends close
// before either has heard of the other, each reports its own code with by_us,
// at its next pump. A code that the linger's end, an Abort or the end's
// destruction overtook is lost: the other end sees 1006, without the messages
// it had not taken. A message that would take the lane over its limit after the
// other end has closed or gone is dropped with kClosed: the pump tells why.
#ifndef PARLOR_TRANSPORTS_MEMORY_PIPE_H_
#define PARLOR_TRANSPORTS_MEMORY_PIPE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include "parlor/connection.h"
#include "parlor/limits.h"
#include "parlor/time.h"

namespace parlor {

namespace pipe_internal {
class Pump;
}

struct PipeOptions {
  // Of each direction. A message counts with kMessageOverhead.
  std::size_t reliable_bytes_max =
      static_cast<std::size_t>(limits::kReliableBytes.fallback);
  // What each end takes; larger ones close 1009.
  std::size_t message_bytes_max =
      static_cast<std::size_t>(limits::kMessageBytes.fallback);
  // How long a closing end waits for the other to take what was queued.
  std::int64_t linger_ms = limits::kLingerMs.fallback;
};

struct PipePair;

// Runs the callbacks of the ends bound to it. Not movable; one thread.
// Destroyed after all its ends.
class PipePump {
 public:
  PipePump();
  ~PipePump();
  PipePump(const PipePump&) = delete;
  PipePump& operator=(const PipePump&) = delete;

  // Called, on the sender's thread, when this pump had nothing to do and now
  // has, once for each Pump at most. It must not call into a connection or a
  // pump: post a task, write to an eventfd, notify a condition. It is not
  // called for what a Pump left behind at `messages_max` (has_ready says so)
  // nor for next_alarm. Set before the first pipe is made.
  void SetWake(std::function<void()> wake);

  // Runs what was there when it began, at most `messages_max` messages (the
  // rest waits for the next call, and an end that was cut short for its turn
  // behind the others). Returns how many callbacks ran. Not reentrant.
  std::size_t Pump(TimePoint now, std::size_t messages_max = SIZE_MAX);

  // True when a Pump would find something. For the pump's own thread.
  bool has_ready() const;

  // When the next linger ends: pump then, even if nothing is ready.
  TimePoint next_alarm() const;

 private:
  friend PipePair MakePipe(PipePump& first, PipePump& second,
                           const PipeOptions& options);
  friend std::unique_ptr<Connection> MakeRefusedPipe(PipePump& pump,
                                                     std::uint16_t status);

  // Outlives this object while an end on another thread may reach for it.
  std::shared_ptr<pipe_internal::Pump> pump_;
};

struct PipePair {
  std::unique_ptr<Connection> first;
  std::unique_ptr<Connection> second;
};

// Two ends, open from birth: OnOpen comes with the first pump that finds a
// handler. `options` are within their limits. Of two threads either may make
// the pipe; the other end is handed over before anything is done with it.
PipePair MakePipe(PipePump& first, PipePump& second,
                  const PipeOptions& options = {});

// A connection that never was: its handler hears OnClose(1006, refusal) at the
// next pump. `status` is an HTTP status (409, 429, 503).
std::unique_ptr<Connection> MakeRefusedPipe(PipePump& pump,
                                            std::uint16_t status);

}  // namespace parlor

#endif  // PARLOR_TRANSPORTS_MEMORY_PIPE_H_
