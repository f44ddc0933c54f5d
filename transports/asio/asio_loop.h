// AsioLoop: what NetLoop is made of, a StreamLoop turned by Asio. The header
// that brings Asio in: for transports/asio only.
//
// A turn is: the handlers that were ready, then its end, which is posted behind
// them by the first. The end costs no system call of its own while there is
// more to do: the look for new events that Asio takes in between (epoll_wait)
// is the one with which the next turn begins.
#ifndef PARLOR_TRANSPORTS_ASIO_ASIO_LOOP_H_
#define PARLOR_TRANSPORTS_ASIO_ASIO_LOOP_H_

#include <asio/executor_work_guard.hpp>
#include <asio/io_context.hpp>
#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "asio/handler_memory.h"
#include "parlor/entropy.h"
#include "parlor/time.h"
#include "stream/stream_loop.h"
#include "stream/websocket_codec.h"

namespace parlor::net_internal {

class AsioLoop final : public stream::StreamLoop {
 public:
  AsioLoop();
  ~AsioLoop() override;

  // As in NetLoop.
  void Run();
  std::size_t Poll(TimePoint now, std::size_t events_max);
  void Post(std::function<void()> task);
  void Stop();

  asio::io_context& context() { return context_; }

  // Every handler's first call.
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
  struct TurnEnd;
  struct Masking {
    Entropy* entropy;
    std::unique_ptr<stream::MaskKeys> keys;
  };

  void RequestTurnEnd() override;
  void EndTurn();

  bool running_ = false;  // Run, not Poll: the clock is read
  bool in_turn_ = false;
  bool end_posted_ = false;
  std::size_t turns_ended_ = 0;
  std::atomic<bool> stopping_ = false;
  HandlerMemory turn_end_memory_;
  std::vector<Masking> masking_;
  // Last, so that it goes first: what handlers own may still use the rest.
  asio::io_context context_{1};
  asio::executor_work_guard<asio::io_context::executor_type> work_{
      context_.get_executor()};
};

}  // namespace parlor::net_internal

#endif  // PARLOR_TRANSPORTS_ASIO_ASIO_LOOP_H_
