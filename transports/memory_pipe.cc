#include "parlor/transports/memory_pipe.h"

#include <sanitizer/asan_interface.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

#include "parlor/check.h"
#include "parlor/utf8.h"
#include "pipe_end.h"

namespace parlor::pipe_internal {

PipeEnd::PipeEnd(Pipe& pipe, std::size_t index, const PipeOptions& options)
    : side_(pipe.sides[index]),
      peer_(pipe.sides[1 - index]),
      out_(pipe.directions[index]),
      in_(pipe.directions[1 - index]),
      message_bytes_max_(options.message_bytes_max),
      linger_(std::chrono::milliseconds(options.linger_ms)) {
  side_.end = this;
  side_.pump->Attach();
}

PipeEnd::PipeEnd(Pipe& pipe, std::size_t index, std::uint16_t refusal)
    : PipeEnd(pipe, index, PipeOptions{}) {
  Finish(close_code::kDropped, nullptr, /*by_us=*/false);
  refusal_ = refusal;
}

PipeEnd::~PipeEnd() {
  if (lingering_) side_.pump->StopLinger(*lingering_);
  if (state_ != State::kClosed) EndOut(EndOfLane::kAborted);
}

void PipeEnd::operator delete(PipeEnd* end, std::destroying_delete_t) {
  Side& side = end->side_;
  end->~PipeEnd();
  // The heap would tell who still uses it; so must we.
  ASAN_POISON_MEMORY_REGION(end, sizeof(PipeEnd));
  side.pump->Detach(side);
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
    NotifyPeerOfMore();
    return replaced ? SendResult::kReplaced : SendResult::kQueued;
  }
  if (!out_.lane.Append(kind, bytes.size(), stored)) {
    // Nobody reads there any more: that is not the peer being slow.
    if (side_.ended.load(std::memory_order_acquire) != EndOfLane::kNone) {
      return SendResult::kClosed;
    }
    Close(CloseReason::kTooSlow);
    return SendResult::kOverflow;
  }
  peer_.tail.store(out_.lane.tail(), std::memory_order_release);
  NotifyPeer();
  return SendResult::kQueued;
}

std::size_t PipeEnd::queued_bytes(Lane lane) const {
  if (state_ == State::kDone || state_ == State::kClosed) return 0;
  return lane == Lane::kReliable ? out_.lane.queued_bytes()
                                 : out_.mailbox.queued_bytes();
}

void PipeEnd::Close(CloseCode code, std::string_view text) {
  PARLOR_CHECK(IsSendableClose(code, text));
  if (state_ != State::kOpen) return;
  state_ = State::kClosing;
  out_.record.Set(code, text);
  EndOut(EndOfLane::kClosed);
  side_.more.store(true, std::memory_order_relaxed);
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
  peer_.ended.store(end, std::memory_order_release);
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

// What is rare beside messages of the reliable lane. What cannot be acted on
// yet is looked at again.
void PipeEnd::LookFurther() {
  Swap(side_.more, false, side_.one_thread);
  drained_ = out_.lane.has_drained();
  if (state_ == State::kClosing) {
    closing_ = true;
    finished_ = side_.seen_ended != EndOfLane::kNone ||
                out_.close_taken.load(std::memory_order_acquire);
  } else if (in_.mailbox.has_new() && listening()) {
    // Taken now, so that one which replaces it meanwhile waits its turn.
    in_.mailbox.Take();
    state_message_ = true;
  }
  const bool again = state_ == State::kClosing || drained_ ||
                     (in_.mailbox.has_new() && state_ == State::kOpen);
  if (again) side_.more.store(true, std::memory_order_relaxed);
}

bool PipeEnd::Deliver(Turn& turn) {
  if (listening()) {
    if (!opened_) {
      ++turn.calls;
      DeliverOpen(turn.now);
    }
    if (side_.seen_ended == EndOfLane::kAborted) {
      if (listening()) Finish(close_code::kDropped, nullptr, /*by_us=*/false);
    } else if (in_.lane.position() != side_.mark && listening()) {
      if (DeliverReliable(turn)) return true;
    }
    const bool rest =
        state_message_ || drained_ || side_.seen_ended == EndOfLane::kClosed;
    if (rest && DeliverRest(turn)) return true;
  } else if (closing_ && state_ == State::kClosing) {
    DeliverClosing(turn.now);
  }
  if (state_ == State::kDone && handler_ != nullptr) {
    ++turn.calls;
    FireClose(turn.now);
  }
  return false;
}

void PipeEnd::DeliverOpen(TimePoint now) {
  opened_ = true;
  handler_->OnOpen(now, *this);
}

// True when the budget ended first.
bool PipeEnd::DeliverReliable(Turn& turn) {
  std::size_t left = turn.budget;
  bool more = true;
  while (left > 0) {
    --left;
    const PipeMessage message = in_.lane.Front();
    DeliverMessage(turn.now, Lane::kReliable, message);
    more = in_.lane.Pop(message) != side_.mark;
    if (!more || !listening()) break;
  }
  if (in_.lane.Settle(side_.tail.load(std::memory_order_acquire))) {
    NotifyPeerOfMore();
  }
  turn.calls += turn.budget - left;
  turn.budget = left;
  return more && listening();
}

// What is rare beside reliable messages.
bool PipeEnd::DeliverRest(Turn& turn) {
  if (state_message_ && listening()) {
    if (turn.budget == 0) return true;
    --turn.budget;
    ++turn.calls;
    state_message_ = false;
    DeliverMessage(turn.now, Lane::kState, in_.mailbox.message());
  }
  if (drained_ && listening()) {
    ++turn.calls;
    drained_ = false;
    out_.lane.MarkDrained();
    handler_->OnWritable(turn.now, *this, Lane::kReliable);
  }
  // Whatever the handler left unheard comes first.
  if (side_.seen_ended == EndOfLane::kClosed && listening()) {
    in_.close_taken.store(true, std::memory_order_release);
    NotifyPeer();
    Finish(in_.record.code, &in_.record, /*by_us=*/false);
  }
  return false;
}

void PipeEnd::DeliverMessage(TimePoint now, Lane lane,
                             const PipeMessage& message) {
  if (message.size > message_bytes_max_) {
    Close(CloseReason::kMessageSize);
    return;
  }
  if (message.kind == MessageKind::kText) {
    DeliverText(now, lane, message.bytes);
    return;
  }
  handler_->OnMessage(now, *this, lane, message.kind, message.bytes);
}

// A function of its own, so that binary messages do not pay for the call.
void PipeEnd::DeliverText(TimePoint now, Lane lane,
                          std::span<const std::byte> bytes) {
  if (!IsUtf8(bytes)) {
    Close(CloseReason::kInvalidText);
    return;
  }
  handler_->OnMessage(now, *this, lane, MessageKind::kText, bytes);
}

// What still arrives is discarded, so that a peer that still sends does not
// run into its limit and call it our slowness.
void PipeEnd::DeliverClosing(TimePoint now) {
  while (in_.lane.position() != side_.mark) in_.lane.Pop(in_.lane.Front());
  in_.lane.Settle(side_.tail.load(std::memory_order_acquire));
  if (finished_) {
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
  const auto within = [](const Limit& limit, auto value) {
    return CheckLimit(limit, limit.name, static_cast<std::int64_t>(value)).ok();
  };
  PARLOR_CHECK(within(limits::kReliableBytes, options.reliable_bytes_max));
  PARLOR_CHECK(within(limits::kMessageBytes, options.message_bytes_max));
  PARLOR_CHECK(within(limits::kLingerMs, options.linger_ms));
  // The ends own it, a share each.
  auto* pipe = new pipe_internal::PipeBlock(options.reliable_bytes_max,
                                            first.pump_, second.pump_);
  PipePair pair;
  pair.first = pipe->MakeEnd(0, options);
  pair.second = pipe->MakeEnd(1, options);
  return pair;
}

std::unique_ptr<Connection> MakeRefusedPipe(PipePump& pump,
                                            std::uint16_t status) {
  constexpr auto kReliableBytes =
      static_cast<std::size_t>(limits::kReliableBytes.fallback);
  auto* pipe =
      new pipe_internal::PipeBlock(kReliableBytes, pump.pump_, pump.pump_);
  // No second end: its share goes at once and nobody can make it ready.
  pipe->shares.store(1, std::memory_order_relaxed);
  pipe->sides[1].ready.store(true, std::memory_order_relaxed);
  return pipe->MakeEnd(0, status);
}

}  // namespace parlor
