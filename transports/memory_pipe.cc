#include "parlor/transports/memory_pipe.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

#include "parlor/check.h"
#include "pipe_end.h"

namespace parlor::pipe_internal {

PipeEnd::PipeEnd(Pipe& pipe, std::size_t index, const PipeOptions& options)
    : pipe_(pipe),
      side_(pipe.sides[index]),
      peer_(pipe.sides[1 - index]),
      out_(pipe.directions[index]),
      in_(pipe.directions[1 - index]),
      message_bytes_max_(options.message_bytes_max),
      linger_(std::chrono::milliseconds(options.linger_ms)) {
  side_.end = this;
  side_.pump->Attach();
}

PipeEnd::PipeEnd(Pipe& pipe, std::uint16_t refusal)
    : PipeEnd(pipe, 0, PipeOptions{}) {
  Finish(close_code::kDropped, nullptr, /*by_us=*/false);
  refusal_ = refusal;
}

PipeEnd::~PipeEnd() {
  if (lingering_) side_.pump->StopLinger(*lingering_);
  if (state_ != State::kClosed) EndOut(EndOfLane::kAborted);
  side_.pump->Detach(side_);  // may free what the references name
}

void PipeEnd::SetHandler(ConnectionHandler* handler) {
  handler_ = handler;
  if (handler != nullptr && state_ != State::kClosed) NotifyOurs();
}

SendResult PipeEnd::Send(Lane lane, MessageKind kind,
                         std::span<const std::byte> bytes) {
  if (state_ != State::kOpen) return SendResult::kClosed;
  // The other end takes nothing larger and will say so; its size is enough for
  // that.
  const auto stored =
      bytes.size() <= message_bytes_max_ ? bytes : std::span<const std::byte>();
  if (lane == Lane::kState) {
    const bool replaced = out_.mailbox.Put(kind, bytes.size(), stored);
    NotifyPeer();
    return replaced ? SendResult::kReplaced : SendResult::kQueued;
  }
  if (!out_.lane.Append(kind, bytes.size(), stored)) {
    // Nobody reads there any more: that is not the peer being slow.
    if (in_.end.load(std::memory_order_acquire) != EndOfLane::kNone) {
      return SendResult::kClosed;
    }
    Close(CloseReason::kTooSlow);
    return SendResult::kOverflow;
  }
  NotifyPeer();
  return SendResult::kQueued;
}

std::size_t PipeEnd::queued_bytes(Lane lane) const {
  if (state_ == State::kDone || state_ == State::kClosed) return 0;
  return lane == Lane::kReliable ? out_.lane.queued_bytes()
                                 : out_.mailbox.queued_bytes();
}

void PipeEnd::Close(CloseCode code, std::string_view text) {
  PARLOR_CHECK(IsSendableCloseCode(code));
  PARLOR_CHECK(text.size() <= kCloseTextMax);
  if (state_ != State::kOpen) return;
  state_ = State::kClosing;
  out_.record.Set(code, text);
  EndOut(EndOfLane::kClosed);
  NotifyOurs();
}

void PipeEnd::Abort() {
  if (state_ == State::kOpen) {
    Finish(close_code::kDropped, nullptr, /*by_us=*/true);
  } else if (state_ == State::kClosing) {
    Finish(out_.record.code, &out_.record, /*by_us=*/true);
  } else {
    return;
  }
  EndOut(EndOfLane::kAborted);
  NotifyOurs();
}

void PipeEnd::EndOut(EndOfLane end) {
  out_.end.store(end, std::memory_order_release);
  NotifyPeer();
}

// From here on only OnClose is due.
void PipeEnd::Finish(CloseCode code, const CloseRecord* record, bool by_us) {
  state_ = State::kDone;
  code_ = code;
  record_ = record;
  by_us_ = by_us;
  if (lingering_) {
    side_.pump->StopLinger(*lingering_);
    lingering_.reset();
  }
}

void PipeEnd::EndLinger() {
  if (!out_.close_taken.load(std::memory_order_acquire)) {
    EndOut(EndOfLane::kAborted);
  }
  Finish(out_.record.code, &out_.record, /*by_us=*/true);
  NotifyOurs();
}

void PipeEnd::Look() {
  // The end before the mark: a close seen has all its messages before it.
  seen_.end = in_.end.load(std::memory_order_acquire);
  seen_.mark = in_.lane.mark();
  seen_.drained = out_.lane.has_drained();
  seen_.closing = state_ == State::kClosing;
  seen_.finished =
      seen_.closing && (seen_.end != EndOfLane::kNone ||
                        out_.close_taken.load(std::memory_order_acquire));
  // Taken now, so that one which replaces it meanwhile waits its turn.
  if (listening() && in_.mailbox.Take()) seen_.state_message = true;
}

bool PipeEnd::Deliver(TimePoint now, std::size_t& budget, std::size_t& calls) {
  if (state_ == State::kOpen) {
    if (DeliverOpen(now, budget, calls)) return true;
  } else if (seen_.closing) {
    DeliverClosing(now);
  }
  if (state_ == State::kDone && handler_ != nullptr) {
    ++calls;
    FireClose(now);
  }
  return false;
}

bool PipeEnd::DeliverOpen(TimePoint now, std::size_t& budget,
                          std::size_t& calls) {
  if (handler_ == nullptr) return false;
  if (!opened_) {
    opened_ = true;
    ++calls;
    handler_->OnOpen(now, *this);
    if (!listening()) return false;
  }
  if (seen_.end == EndOfLane::kAborted) {
    Finish(close_code::kDropped, nullptr, /*by_us=*/false);
    return false;
  }
  if (DeliverReliable(now, budget, calls)) return true;
  if (seen_.state_message && listening()) {
    if (budget == 0) return true;
    --budget;
    ++calls;
    seen_.state_message = false;
    DeliverMessage(now, Lane::kState, in_.mailbox.message());
  }
  if (seen_.drained && listening()) {
    seen_.drained = false;
    out_.lane.MarkDrained();
    ++calls;
    handler_->OnWritable(now, *this, Lane::kReliable);
  }
  if (seen_.end == EndOfLane::kClosed && listening()) {
    in_.close_taken.store(true, std::memory_order_release);
    NotifyPeer();
    Finish(in_.record.code, &in_.record, /*by_us=*/false);
  }
  return false;
}

// True when the budget ended first.
bool PipeEnd::DeliverReliable(TimePoint now, std::size_t& budget,
                              std::size_t& calls) {
  if (in_.lane.position() == seen_.mark) return false;
  bool more = false;
  while (in_.lane.position() != seen_.mark) {
    if (budget == 0) {
      more = true;
      break;
    }
    --budget;
    ++calls;
    const PipeMessage message = in_.lane.Front();
    DeliverMessage(now, Lane::kReliable, message);
    in_.lane.Pop(message);
    if (!listening()) break;
  }
  if (in_.lane.Settle()) NotifyPeer();
  return more;
}

void PipeEnd::DeliverMessage(TimePoint now, Lane lane,
                             const PipeMessage& message) {
  if (message.size > message_bytes_max_) {
    Close(CloseReason::kMessageSize);
    return;
  }
  handler_->OnMessage(now, *this, lane, message.kind, message.bytes);
}

// What still arrives is discarded, so that a peer that still sends does not
// run into its limit and call it our slowness.
void PipeEnd::DeliverClosing(TimePoint now) {
  if (in_.lane.position() != seen_.mark) {
    while (in_.lane.position() != seen_.mark) in_.lane.Pop(in_.lane.Front());
    in_.lane.Settle();
  }
  if (seen_.finished) {
    Finish(out_.record.code, &out_.record, /*by_us=*/true);
  } else if (!lingering_) {
    lingering_ = side_.pump->StartLinger(now + linger_, *this);
  }
}

// The handler may destroy this end inside OnClose, and the record with it.
void PipeEnd::FireClose(TimePoint now) {
  state_ = State::kClosed;
  CloseRecord copy;
  if (record_ != nullptr) copy.Set(code_, record_->view());
  CloseEvent event;
  event.code = code_;
  event.text = copy.view();
  event.by_us = by_us_;
  event.refusal = refusal_;
  handler_->OnClose(now, *this, event);
}

}  // namespace parlor::pipe_internal

namespace parlor {

PipePair MakePipe(PipePump& first, PipePump& second,
                  const PipeOptions& options) {
  using pipe_internal::PipeEnd;
  const auto within = [](const Limit& limit, auto value) {
    return CheckLimit(limit, limit.name, static_cast<std::int64_t>(value)).ok();
  };
  PARLOR_CHECK(within(limits::kReliableBytes, options.reliable_bytes_max));
  PARLOR_CHECK(within(limits::kMessageBytes, options.message_bytes_max));
  PARLOR_CHECK(within(limits::kLingerMs, options.linger_ms));
  // The ends own it, a share each.
  auto* pipe =
      new pipe_internal::Pipe(options.reliable_bytes_max, &first == &second);
  pipe->sides[0].pump = first.pump_;
  pipe->sides[1].pump = second.pump_;
  for (pipe_internal::Side& side : pipe->sides) side.pipe = pipe;
  PipePair pair;
  pair.first = std::make_unique<PipeEnd>(*pipe, 0, options);
  pair.second = std::make_unique<PipeEnd>(*pipe, 1, options);
  return pair;
}

std::unique_ptr<Connection> MakeRefusedPipe(PipePump& pump,
                                            std::uint16_t status) {
  using pipe_internal::PipeEnd;
  constexpr auto kReliableBytes =
      static_cast<std::size_t>(limits::kReliableBytes.fallback);
  auto* pipe = new pipe_internal::Pipe(kReliableBytes, /*on_one_thread=*/true);
  // No second end: its share goes at once and nobody can make it ready.
  pipe->shares.store(1, std::memory_order_relaxed);
  pipe->sides[1].ready.store(true, std::memory_order_relaxed);
  for (pipe_internal::Side& side : pipe->sides) {
    side.pump = pump.pump_;
    side.pipe = pipe;
  }
  return std::make_unique<PipeEnd>(*pipe, status);
}

}  // namespace parlor
