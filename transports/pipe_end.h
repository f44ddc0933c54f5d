// PipeEnd: one end of a memory pipe, a Connection. Lives on its pump's thread.
#ifndef PARLOR_TRANSPORTS_PIPE_END_H_
#define PARLOR_TRANSPORTS_PIPE_END_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "parlor/connection.h"
#include "pipe_pump.h"

namespace parlor::pipe_internal {

// One run of the pump.
struct Turn {
  TimePoint now;
  std::size_t budget;     // messages it may still deliver
  std::size_t calls = 0;  // callbacks it made
};

class PipeEnd final : public Connection {
 public:
  // Side `index` of `pipe`; owns one of its shares.
  PipeEnd(Pipe& pipe, std::size_t index, const PipeOptions& options);
  // One that was refused: its only event is OnClose(1006, refusal).
  PipeEnd(Pipe& pipe, std::size_t index, std::uint16_t refusal);
  ~PipeEnd() override;
  // An end lies in its pipe's memory and gives a share of that back.
  static void operator delete(PipeEnd* end, std::destroying_delete_t);

  using Connection::Close;
  using Connection::Send;
  void SetHandler(ConnectionHandler* handler) override;
  SendResult Send(Lane lane, MessageKind kind,
                  std::span<const std::byte> bytes) override;
  std::size_t queued_bytes(Lane lane) const override;
  void Close(CloseCode code, std::string_view text) override;
  void Abort() override;
  bool is_open() const override { return state_ == State::kOpen; }

  // The pump's. First all ends look at what is there, then each delivers what
  // it saw, so that what one causes waits for the next pump.
  static void Look(Side& side) {
    // The end before the mark: a close seen has all its messages before it.
    side.seen_ended = side.ended.load(std::memory_order_acquire);
    side.mark = side.tail.load(std::memory_order_acquire);
    if (side.more.load(std::memory_order_relaxed)) side.end->LookFurther();
  }
  // True when the turn's budget cut it short. The end may be gone afterwards.
  bool Deliver(Turn& turn);
  void EndLinger();
  void PrefetchHandler() const { __builtin_prefetch(handler_, 1); }

 private:
  enum class State : std::uint8_t {
    kOpen,     // until our Close or Abort, or until the peer's was taken
    kClosing,  // closed by us; the peer has not taken it yet
    kDone,     // how it ended is known; OnClose is due
    kClosed,   // OnClose has run
  };

  void LookFurther();
  void DeliverOpen(TimePoint now);
  bool DeliverReliable(Turn& turn);
  bool DeliverRest(Turn& turn);
  void DeliverMessage(TimePoint now, Lane lane, const PipeMessage& message);
  [[gnu::noinline]] void DeliverText(TimePoint now, Lane lane,
                                     std::span<const std::byte> bytes);
  void DeliverClosing(TimePoint now);
  void FireClose(TimePoint now);
  void Finish(CloseCode code, const CloseRecord* record, bool by_us);
  void EndOut(EndOfLane end);
  void NotifyPeer() { peer_.pump->Notify(peer_, peer_.one_thread); }
  void NotifyPeerOfMore() {
    peer_.more.store(true, std::memory_order_release);
    NotifyPeer();
  }
  void NotifyOurs() { side_.pump->Notify(side_, true); }
  bool listening() const {
    return state_ == State::kOpen && handler_ != nullptr;
  }

  ConnectionHandler* handler_ = nullptr;
  Side& side_;
  Side& peer_;
  Direction& out_;
  Direction& in_;
  const std::size_t message_bytes_max_;
  State state_ = State::kOpen;
  bool opened_ = false;

  // What LookFurther saw.
  bool drained_ = false;        // OnWritable is due
  bool state_message_ = false;  // the mailbox's message is ours to deliver
  bool closing_ = false;        // we had closed
  bool finished_ = false;       // and need not wait any longer

  // How it ended, from kDone on.
  bool by_us_ = false;
  CloseCode code_ = 0;
  std::uint16_t refusal_ = 0;
  const CloseRecord* record_ = nullptr;

  const Duration linger_;
  std::optional<Pump::LingerKey> lingering_;
};

// A pipe and its ends in one piece of memory: what a message touches is found
// from any part of it without following a pointer, and fetched ahead.
struct PipeBlock : Pipe {
  using Pipe::Pipe;

  // Makes the end of `side`; once.
  template <typename... Args>
  std::unique_ptr<Connection> MakeEnd(std::size_t side, Args&&... args) {
    return std::unique_ptr<Connection>(::new (static_cast<void*>(
        ends[side].memory)) PipeEnd(*this, side, std::forward<Args>(args)...));
  }

  // Fetches what a turn of the end of `side` touches, its answer included.
  void Prefetch(std::size_t side) const {
    const std::byte* end = ends[side].memory;
    __builtin_prefetch(end, 1);
    __builtin_prefetch(end + kCacheLine, 1);
    __builtin_prefetch(&sides[1 - side], 1);
    directions[1 - side].lane.PrefetchConsumer();
    directions[side].lane.PrefetchProducer();
  }

  struct alignas(kCacheLine) EndMemory {
    std::byte memory[sizeof(PipeEnd)];
  };
  std::array<EndMemory, 2> ends;
};

}  // namespace parlor::pipe_internal

#endif  // PARLOR_TRANSPORTS_PIPE_END_H_
