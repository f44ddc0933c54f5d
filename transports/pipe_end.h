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
  void Look();
  // Counts callbacks into `calls` and takes messages from `budget`. True when
  // the budget cut it short. The end may be gone afterwards.
  bool Deliver(TimePoint now, std::size_t& budget, std::size_t& calls);
  void EndLinger();

 private:
  enum class State : std::uint8_t {
    kOpen,     // until our Close or Abort, or until the peer's was taken
    kClosing,  // closed by us; the peer has not taken it yet
    kDone,     // how it ended is known; OnClose is due
    kClosed,   // OnClose has run
  };

  // What Look saw.
  struct Seen {
    std::uint64_t mark = 0;
    EndOfLane end = EndOfLane::kNone;
    bool drained = false;        // OnWritable is due
    bool closing = false;        // we had closed
    bool finished = false;       // and need not wait any longer
    bool state_message = false;  // the mailbox's message is ours to deliver
  };

  bool DeliverOpen(TimePoint now, std::size_t& budget, std::size_t& calls);
  bool DeliverReliable(TimePoint now, std::size_t& budget, std::size_t& calls);
  void DeliverMessage(TimePoint now, Lane lane, const PipeMessage& message);
  void DeliverClosing(TimePoint now);
  void FireClose(TimePoint now);
  void CloseWith(CloseCode code, std::string_view text);
  void Finish(CloseCode code, const CloseRecord* record, bool by_us);
  void EndOut(EndOfLane end);
  void NotifyPeer() { peer_.pump->Notify(peer_, pipe_.one_thread); }
  void NotifyOurs() { side_.pump->Notify(side_, true); }
  bool listening() const {
    return state_ == State::kOpen && handler_ != nullptr;
  }

  ConnectionHandler* handler_ = nullptr;
  Pipe& pipe_;
  Side& side_;
  Side& peer_;
  Direction& out_;
  Direction& in_;
  const std::size_t message_bytes_max_;
  State state_ = State::kOpen;
  bool opened_ = false;
  Seen seen_;

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
