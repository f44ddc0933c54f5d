// AsioLoop: what NetLoop is made of, a StreamLoop turned by Asio. The header
// that brings Asio in: for transports/asio only.
//
// Asio waits, for the set of the streams' sockets too, and runs tasks,
// acceptors and look-ups. A turn is the sockets that one look at their set
// finds ready, and then its end; or the other handlers that were ready, with
// the end posted behind them by the first.
#ifndef PARLOR_TRANSPORTS_ASIO_ASIO_LOOP_H_
#define PARLOR_TRANSPORTS_ASIO_ASIO_LOOP_H_

#include <asio/executor_work_guard.hpp>
#include <asio/io_context.hpp>
#include <asio/posix/basic_stream_descriptor.hpp>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "asio/handler_memory.h"
#include "asio/socket_set.h"
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
  // Of the streams that live on this loop.
  SocketSet& sockets() { return sockets_; }

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
  struct SocketsReady;
  struct Masking {
    Entropy* entropy;
    std::unique_ptr<stream::MaskKeys> keys;
  };

  void RequestTurnEnd() override;
  void EndTurn();
  void AwaitSockets();
  void TurnSockets();

  bool running_ = false;  // Run, not Poll: the clock is read
  bool in_turn_ = false;
  bool end_requested_ = false;
  bool turning_sockets_ = false;  // which ends its turn itself
  std::size_t turns_ended_ = 0;
  // Of the Poll that runs: how many it may still handle.
  std::size_t events_left_ = SIZE_MAX;
  std::atomic<bool> stopping_ = false;
  SocketSet sockets_;
  HandlerMemory turn_end_memory_;
  HandlerMemory sockets_memory_;
  std::vector<Masking> masking_;
  // Last, so that it goes first: what handlers own may still use the rest.
  asio::io_context context_{1};
  asio::executor_work_guard<asio::io_context::executor_type> work_{
      context_.get_executor()};
  // The set's descriptor, which is the set's own.
  asio::posix::basic_stream_descriptor<asio::io_context::executor_type>
      sockets_ready_{context_, sockets_.descriptor()};
};

}  // namespace parlor::net_internal

#endif  // PARLOR_TRANSPORTS_ASIO_ASIO_LOOP_H_
