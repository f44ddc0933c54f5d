#include "sim/message_end.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "parlor/byte_io.h"
#include "parlor/check.h"
#include "parlor/close_reason.h"
#include "parlor/connection.h"
#include "parlor/lane.h"
#include "parlor/time.h"
#include "parlor/utf8.h"

namespace parlor::sim {

MessageEnd::MessageEnd(Wire& wire, Side& side, bool accepted,
                       ConnectionHandler* handler)
    : wire_(wire),
      side_(side),
      out_(wire.Out(side)),
      in_(wire.In(side)),
      handler_(handler),
      accepted_(accepted),
      last_heard_(wire.now()) {
  wire_.Hold();
  side_.end = this;
  if (!accepted_) {
    handshake_deadline_ = now() + options().handshake_ms * kMillisecond;
  }
  SetAlarm();
}

MessageEnd::~MessageEnd() {
  side_.end = nullptr;
  side_.endpoint->Retire(side_);
  if (state_ == State::kOpen || state_ == State::kClosing) wire_.Go(side_);
  wire_.Drop();
}

void MessageEnd::SetHandler(ConnectionHandler* handler) {
  if (handler_ == nullptr && handler != nullptr) last_heard_ = now();
  if (handler == nullptr) unheard_ = true;
  handler_ = handler;
  if (state_ == State::kClosed) return;
  SetAlarm();
  Wake();
}

void MessageEnd::Wake() { side_.endpoint->SetDueBy(side_, now()); }

// ---- Sending.

SendResult MessageEnd::Send(Lane lane, MessageKind kind,
                            std::span<const std::byte> bytes) {
  if (state_ != State::kOpen) return SendResult::kClosed;
  Wire::Outgoing outgoing{.kind = kind, .size = bytes.size()};
  // The other end takes nothing larger and will say so; its size is enough for
  // that.
  if (bytes.size() <= wire_.message_bytes_max(side_)) outgoing.bytes = bytes;
  if (lane == Lane::kState) return wire_.SendState(side_, outgoing);
  const std::size_t queued =
      out_.reliable_bytes + bytes.size() + kMessageOverhead;
  if (queued > options().reliable_bytes_max) {
    Connection::Close(CloseReason::kTooSlow);
    return SendResult::kOverflow;
  }
  out_.reliable_bytes = queued;
  if (queued > options().reliable_bytes_max / 2) out_.above_half = true;
  wire_.Send(side_, outgoing);
  return SendResult::kQueued;
}

std::size_t MessageEnd::queued_bytes(Lane lane) const {
  if (state_ == State::kEnded || state_ == State::kClosed) return 0;
  return lane == Lane::kReliable ? out_.reliable_bytes
                                 : wire_.WaitingState(side_);
}

void MessageEnd::Close(CloseCode code, std::string_view text) {
  PARLOR_CHECK(IsSendableClose(code, text));
  if (state_ != State::kOpen) return;
  state_ = State::kClosing;
  event_ = {.code = code, .by_us = true};
  event_text_ = text;
  linger_deadline_ = now() + options().linger_ms * kMillisecond;
  wire_.Send(side_, {.type = Record::Type::kClose,
                     .number = code,
                     .size = text.size(),
                     .bytes = AsBytes(text)});
  SetAlarm();
  Wake();
}

void MessageEnd::Abort() {
  if (state_ != State::kOpen && state_ != State::kClosing) return;
  wire_.Go(side_);
  if (state_ == State::kOpen) {
    event_ = {.code = close_code::kDropped, .by_us = true};
  }
  state_ = State::kEnded;
  alarm_ = kNever;
  Wake();
}

void MessageEnd::Drained() {
  drained_ = true;
  Wake();
}

// ---- Turns.

void MessageEnd::Look() {
  end_seen_ = state_ == State::kEnded;
  reset_seen_ = in_.reset_at <= now();
  drained_seen_ = drained_;
}

TimePoint MessageEnd::Due() const {
  if (state_ == State::kClosed) return kNever;
  if (state_ == State::kEnded) return handler_ == nullptr ? kNever : now();
  TimePoint due = alarm_;
  if (!takes()) return due;
  if (state_ == State::kOpen && handler_ != nullptr && accepted_ &&
      (!opened_ || drained_)) {
    return now();
  }
  due = std::min(due, in_.reset_at);
  if (!in_.records.empty()) due = std::min(due, in_.records.Front().arrives);
  // Before the host's answer nothing else is heard.
  if (accepted_ && !in_.state.empty()) {
    due = std::min(due, in_.state.Front().arrives);
  }
  return due;
}

void MessageEnd::Run(TimePoint now, std::uint64_t mark) {
  TakeAll(now, mark);
  if (drained_seen_ && state_ == State::kOpen && handler_ != nullptr &&
      opened_) {
    drained_ = false;
    ++side_.endpoint->callbacks;
    handler_->OnWritable(now, *this, Lane::kReliable);
  }
  if (alarm_ <= now) CheckTime(now);
  if (state_ == State::kEnded && end_seen_ && handler_ != nullptr) {
    FireClose(now);
  }
}

void MessageEnd::TakeAll(TimePoint now, std::uint64_t mark) {
  while (takes()) {
    if (state_ == State::kOpen && accepted_ && !opened_) {
      opened_ = true;
      ++side_.endpoint->callbacks;
      handler_->OnOpen(now, *this);
      continue;
    }
    if (unheard_ && handler_ != nullptr) KeepNewestState(now);
    switch (FindNext(now, mark)) {
      case Next::kNothing:
        return;
      case Next::kRecord:
        TakeRecord(now);
        break;
      case Next::kState:
        TakeState(now);
        break;
      case Next::kReset:
        Lost();
        break;
    }
  }
}

// In the order in which they arrived.
MessageEnd::Next MessageEnd::FindNext(TimePoint now, std::uint64_t mark) const {
  Next next = Next::kNothing;
  TimePoint arrives = kNever;
  std::uint64_t order = 0;
  if (!in_.records.empty()) {
    const Record& record = in_.records.Front();
    if (record.arrives <= now && record.order <= mark) {
      next = Next::kRecord;
      arrives = record.arrives;
      order = record.order;
    }
  }
  if (accepted_ && !in_.state.empty()) {
    const StateMessage& message = in_.state.Front();
    if (message.arrives <= now && message.order <= mark &&
        (message.arrives < arrives ||
         (message.arrives == arrives && message.order < order))) {
      next = Next::kState;
      arrives = message.arrives;
    }
  }
  if (reset_seen_ && in_.reset_at < arrives) return Next::kReset;
  return next;
}

void MessageEnd::TakeRecord(TimePoint now) {
  const Record& record = in_.records.Front();
  last_heard_ = now;
  wire_.NoteDelivery(side_, record.order);
  switch (record.type) {
    case Record::Type::kOpen:
      break;
    case Record::Type::kAccepted:
      accepted_ = true;
      wire_.Opened(side_);
      SetAlarm();
      break;
    case Record::Type::kRefused:
      Lost(record.number);
      break;
    case Record::Type::kMessage:
      TakeMessage(now, record);
      break;
    case Record::Type::kPing:
    case Record::Type::kPong: {
      if (state_ != State::kOpen) break;
      const bool ping = record.type == Record::Type::kPing;
      if (ping) wire_.Send(side_, {.type = Record::Type::kPong});
      ++side_.endpoint->callbacks;
      handler_->OnControl(now, *this,
                          ping ? ControlKind::kPing : ControlKind::kPong);
      break;
    }
    case Record::Type::kClose:
      TakeClose(record);
      break;
  }
  in_.records.Pop();
}

void MessageEnd::TakeMessage(TimePoint now, const Record& record) {
  Deliver(now, Lane::kReliable, record.kind, record.size,
          RecordQueue::BytesOf(record));
  wire_.Taken(side_, record);
}

void MessageEnd::TakeState(TimePoint now) {
  StateMessage message = in_.state.PopFront();
  last_heard_ = now;
  wire_.NoteDelivery(side_, message.order);
  Deliver(now, Lane::kState, message.kind, message.size, message.bytes);
  in_.state.Recycle(std::move(message.bytes));
}

void MessageEnd::Deliver(TimePoint now, Lane lane, MessageKind kind,
                         std::size_t size, std::span<const std::byte> bytes) {
  if (state_ != State::kOpen) return;
  if (size > options().message_bytes_max) {
    Connection::Close(CloseReason::kMessageSize);
    return;
  }
  if (kind == MessageKind::kText && !IsUtf8(bytes)) {
    Connection::Close(CloseReason::kInvalidText);
    return;
  }
  ++side_.endpoint->callbacks;
  handler_->OnMessage(now, *this, lane, kind, bytes);
}

// Nobody listened: of the state lane the newest is left.
void MessageEnd::KeepNewestState(TimePoint now) {
  unheard_ = false;
  std::uint64_t newest = 0;
  for (const StateMessage& message : in_.state.all()) {
    if (message.arrives <= now) newest = std::max(newest, message.order);
  }
  for (std::size_t i = in_.state.all().size(); i > 0; --i) {
    const StateMessage& message = in_.state.all()[i - 1];
    if (message.arrives <= now && message.order != newest) {
      in_.state.Erase(i - 1);
    }
  }
}

// ---- The end.

void MessageEnd::TakeClose(const Record& record) {
  if (state_ == State::kOpen) {
    event_ = {.code = record.number};
    event_text_ = AsText(RecordQueue::BytesOf(record));
    wire_.Send(side_, {.type = Record::Type::kClose,
                       .number = record.number,
                       .size = event_text_.size(),
                       .bytes = AsBytes(event_text_)});
  }
  End();
}

void MessageEnd::Lost(std::uint16_t refusal) {
  if (state_ == State::kOpen) {
    event_ = {.code = close_code::kDropped, .refusal = refusal};
  }
  End();
}

void MessageEnd::End() {
  state_ = State::kEnded;
  end_seen_ = true;
  alarm_ = kNever;
}

// This may be gone afterwards.
void MessageEnd::FireClose(TimePoint now) {
  state_ = State::kClosed;
  wire_.DropIncoming(side_);
  const std::string text = std::move(event_text_);
  CloseEvent event = event_;
  event.text = text;
  ++side_.endpoint->callbacks;
  handler_->OnClose(now, *this, event);
}

// ---- Deadlines.

void MessageEnd::SetAlarm() {
  if (!accepted_ || state_ == State::kClosing) {
    alarm_ =
        std::min(accepted_ ? kNever : handshake_deadline_, linger_deadline_);
  } else if (handler_ == nullptr) {
    alarm_ = kNever;  // silence counts while somebody listens
  } else if (unanswered()) {
    alarm_ =
        pinged_at_ + (options().silence_ms - options().ping_ms) * kMillisecond;
  } else {
    alarm_ = last_heard_ + options().ping_ms * kMillisecond;
  }
}

// What came in time was taken before.
void MessageEnd::CheckTime(TimePoint now) {
  if (state_ == State::kOpen && accepted_) return CheckLiveness(now);
  SetAlarm();
  if (alarm_ > now) return;
  wire_.Go(side_);
  Lost();
}

void MessageEnd::CheckLiveness(TimePoint now) {
  SetAlarm();
  if (alarm_ > now) return;
  if (unanswered()) {
    wire_.Go(side_);
    Lost();
    return;
  }
  pinged_at_ = now;
  wire_.Send(side_, {.type = Record::Type::kPing});
  SetAlarm();
}

}  // namespace parlor::sim
