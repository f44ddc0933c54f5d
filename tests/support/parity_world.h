// Parity: the same script must give the same events whatever carries it. A
// ParityHost is what is played against, a ParityWorld one way of reaching it:
// memory pipes of one thread or two, sockets, a whole host.
#ifndef PARLOR_TESTS_SUPPORT_PARITY_WORLD_H_
#define PARLOR_TESTS_SUPPORT_PARITY_WORLD_H_

#include <cstdint>
#include <functional>
#include <memory>

#include "parlor/connection.h"
#include "parlor/connector.h"
#include "parlor/time.h"
#include "parlor/transports/memory_pipe.h"

namespace parlor::test {

class ParityHost {
 public:
  virtual ~ParityHost() = default;

  // As host::Shard has them.
  virtual std::uint16_t Admit(TimePoint now, const Hello& hello) = 0;
  virtual void Attach(TimePoint now, std::unique_ptr<Connection> connection,
                      const Hello& hello) = 0;
  virtual void OnAlarm(TimePoint now) = 0;
  virtual TimePoint next_alarm() const = 0;
};

// The limits of both ends of every connection.
struct ParityLimits {
  std::size_t reliable_bytes_max = 16 * 1024;
  std::size_t message_bytes_max = 4 * 1024;
  std::int64_t linger_ms = 1'000;
};

class ParityWorld {
 public:
  virtual ~ParityWorld() = default;

  // Opens a connection to the host. Its events, like all of this thread's,
  // come in Barrier.
  virtual std::unique_ptr<Connection> Connect(const Hello& hello,
                                              ConnectionHandler* handler) = 0;

  // Runs `task` where the host and its ends of the connections live, and waits
  // for it.
  virtual void OnHost(const std::function<void()>& task) = 0;

  // Runs until nothing is left to do at the present time.
  virtual void Barrier() = 0;

  // Lets time pass, stopping at each deadline on the way.
  void Advance(Duration time) {
    const TimePoint until = now_ + time;
    for (;;) {
      Barrier();
      const TimePoint next = next_alarm();
      if (next > until) break;
      now_ = std::max(now_, next);
    }
    now_ = until;
    Barrier();
  }

  TimePoint now() const { return now_; }

 protected:
  // Of everything in it.
  virtual TimePoint next_alarm() = 0;

 private:
  TimePoint now_{};
};

}  // namespace parlor::test

#endif  // PARLOR_TESTS_SUPPORT_PARITY_WORLD_H_
