// PipeEnd: one end of a memory pipe, a Connection. Lives on its pump's thread.
#ifndef PARLOR_TRANSPORTS_PIPE_END_H_
#define PARLOR_TRANSPORTS_PIPE_END_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

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
  PipeEnd(Pipe& pipe, std::uint16_t refusal);
  ~PipeEnd() override;

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
  void Look() {
    // The end before the mark: a close seen has all its messages before it.
    seen_end_ = in_.end.load(std::memory_order_acquire);
    mark_ = in_.lane.mark();
    drained_ = out_.lane.has_drained();
    if (state_ == State::kClosing) LookClosing();
    // Taken now, so that one which replaces it meanwhile waits its turn.
    if (in_.mailbox.has_new() && listening()) {
      in_.mailbox.Take();
      state_message_ = true;
    }
  }
  // True when the turn's budget cut it short. The end may be gone afterwards.
  bool Deliver(Turn& turn);
  void EndLinger();

 private:
  enum class State : std::uint8_t {
    kOpen,     // until our Close or Abort, or until the peer's was taken
    kClosing,  // closed by us; the peer has not taken it yet
    kDone,     // how it ended is known; OnClose is due
    kClosed,   // OnClose has run
  };

  void LookClosing();
  void DeliverOpen(TimePoint now);
  bool DeliverReliable(Turn& turn);
  bool DeliverRest(Turn& turn);
  void DeliverMessage(TimePoint now, Lane lane, const PipeMessage& message);
  void DeliverClosing(TimePoint now);
  void FireClose(TimePoint now);
  void CloseWith(CloseCode code, std::string_view text);
  void Finish(CloseCode code, const CloseRecord* record, bool by_us);
  void EndOut(EndOfLane end);
  void NotifyPeer() { peer_.pump->Notify(peer_, peer_.one_thread); }
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

  // What Look saw.
  EndOfLane seen_end_ = EndOfLane::kNone;
  bool drained_ = false;        // OnWritable is due
  bool state_message_ = false;  // the mailbox's message is ours to deliver
  bool closing_ = false;        // we had closed
  bool finished_ = false;       // and need not wait any longer
  std::uint64_t mark_ = 0;

  // How it ended, from kDone on.
  bool by_us_ = false;
  CloseCode code_ = 0;
  std::uint16_t refusal_ = 0;
  const CloseRecord* record_ = nullptr;

  const Duration linger_;
  std::optional<Pump::LingerKey> lingering_;
};

}  // namespace parlor::pipe_internal

#endif  // PARLOR_TRANSPORTS_PIPE_END_H_
