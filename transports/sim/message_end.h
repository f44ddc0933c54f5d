// One end of a wire: a Connection by the rules of parlor/connection.h.
#ifndef PARLOR_TRANSPORTS_SIM_MESSAGE_END_H_
#define PARLOR_TRANSPORTS_SIM_MESSAGE_END_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "parlor/connection.h"
#include "parlor/lane.h"
#include "parlor/time.h"
#include "parlor/transports/stream_options.h"
#include "sim/endpoint.h"
#include "sim/message_queue.h"
#include "sim/wire.h"

namespace parlor::sim {

class MessageEnd final : public Connection {
 public:
  // `accepted`: open from birth, as a host's end is.
  MessageEnd(Wire& wire, Side& side, bool accepted, ConnectionHandler* handler);
  ~MessageEnd() override;

  using Connection::Close;
  using Connection::Send;
  void SetHandler(ConnectionHandler* handler) override;
  SendResult Send(Lane lane, MessageKind kind,
                  std::span<const std::byte> bytes) override;
  std::size_t queued_bytes(Lane lane) const override;
  void Close(CloseCode code, std::string_view text) override;
  void Abort() override;
  bool is_open() const override { return state_ == State::kOpen; }

  // ---- For the wire.

  // What a turn has to do is what was there when it began.
  void Look();
  // This may be gone afterwards.
  void Run(TimePoint now, std::uint64_t mark);
  // When it has something to do.
  TimePoint Due() const;
  // What arrives is heard, or discarded.
  bool takes() const {
    return state_ == State::kClosing ||
           (state_ == State::kOpen && (handler_ != nullptr || !accepted_));
  }
  // Its reliable lane shrank to half its limit, after it had been above.
  void Drained();

 private:
  enum class State : std::uint8_t {
    kOpen,     // messages flow, or will once the host has answered
    kClosing,  // we closed: the peer's answer is awaited
    kEnded,    // how it ended is known; OnClose is due
    kClosed,   // OnClose has come
  };
  // What is next among that which has arrived.
  enum class Next : std::uint8_t { kNothing, kRecord, kState, kReset };

  Next FindNext(TimePoint now, std::uint64_t mark) const;
  void TakeAll(TimePoint now, std::uint64_t mark);
  void TakeRecord(TimePoint now);
  void TakeMessage(TimePoint now, const Record& record);
  void TakeState(TimePoint now);
  void Deliver(TimePoint now, Lane lane, MessageKind kind, std::size_t size,
               std::span<const std::byte> bytes);
  void TakeClose(const Record& record);
  void KeepNewestState(TimePoint now);
  void CheckTime(TimePoint now);
  void CheckLiveness(TimePoint now);
  void SetAlarm();
  // A ping is on its way, and nothing was heard since.
  bool unanswered() const { return pinged_at_ > last_heard_; }
  // The link was lost, without a close of the peer's.
  void Lost(std::uint16_t refusal = 0);
  void End();
  void FireClose(TimePoint now);
  void Wake();
  TimePoint now() const { return wire_.now(); }
  const StreamOptions& options() const { return side_.endpoint->options; }

  Wire& wire_;
  Side& side_;
  Channel& out_;
  Channel& in_;
  ConnectionHandler* handler_;
  State state_ = State::kOpen;
  bool accepted_;
  bool opened_ = false;   // OnOpen has come
  bool drained_ = false;  // OnWritable is due
  bool unheard_ = false;  // nobody listened for a while
  // What a turn found when it began.
  bool end_seen_ = false;  // it has ended, or does so by what the turn took
  bool reset_seen_ = false;
  bool drained_seen_ = false;
  TimePoint alarm_ = kNever;
  TimePoint last_heard_;
  TimePoint pinged_at_ = TimePoint::min();
  TimePoint handshake_deadline_ = kNever;
  TimePoint linger_deadline_ = kNever;
  CloseEvent event_;
  std::string event_text_;
};

}  // namespace parlor::sim

#endif  // PARLOR_TRANSPORTS_SIM_MESSAGE_END_H_
