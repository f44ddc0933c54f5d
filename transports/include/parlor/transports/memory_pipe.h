// The memory pipe: two Connections joined in memory, without a socket. Solo
// play, a listen server's own seat and tests run on it, by the same rules as
// any network (parlor/connection.h).
//
// Each end is bound to a PipePump and lives on that pump's thread; the two
// pumps may be one. Messages are copied into pooled ring buffers (reliable
// lane) or a mailbox of three slots (state lane). In steady state no message
// allocates. Between two threads no message takes a lock; a lock is taken only
// to wake a pump that had nothing to do.
//
// A pipe's memory is at most its lanes' limits and one chunk a direction, and
// a few hundred bytes until the first message.
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

struct PipeOptions {
  // Of each direction. A message counts with kPipeMessageOverhead.
  std::size_t reliable_bytes_max =
      static_cast<std::size_t>(limits::kReliableBytes.fallback);
  // What each end takes; larger ones close 1009.
  std::size_t message_bytes_max =
      static_cast<std::size_t>(limits::kMessageBytes.fallback);
  // How long a closing end waits for the other to take what was queued.
  std::int64_t linger_ms = limits::kLingerMs.fallback;
};

// Runs the callbacks of the ends bound to it. Not movable; one thread.
// Destroyed after all its ends.
class PipePump {
 public:
  PipePump();
  ~PipePump();
  PipePump(const PipePump&) = delete;
  PipePump& operator=(const PipePump&) = delete;

  // Called, on the sender's thread, when this pump had nothing to do and now
  // has. It must not call into a connection or a pump: post a task, write to
  // an eventfd, notify a condition. Set before the first pipe is made.
  void SetWake(std::function<void()> wake);

  // Runs what was there when it began, at most `messages_max` messages (the
  // rest waits for the next call). Returns how many callbacks ran. Not
  // reentrant.
  std::size_t Pump(TimePoint now, std::size_t messages_max = SIZE_MAX);

  // True when a Pump would find something.
  bool has_ready() const;

  // When the next linger ends: pump then, even if nothing is ready.
  TimePoint next_alarm() const;

 private:
  // For whoever implements it.
};

struct PipePair {
  std::unique_ptr<Connection> first;
  std::unique_ptr<Connection> second;
};

// Two ends, open from birth: OnOpen comes with the first pump that finds a
// handler. `options` are within their limits.
PipePair MakePipe(PipePump& first, PipePump& second,
                  const PipeOptions& options = {});

// A connection that never was: its handler hears OnClose(1006, refusal) at the
// next pump. `status` is an HTTP status (409, 429, 503).
std::unique_ptr<Connection> MakeRefusedPipe(PipePump& pump,
                                            std::uint16_t status);

}  // namespace parlor

#endif  // PARLOR_TRANSPORTS_MEMORY_PIPE_H_
