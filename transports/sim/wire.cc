#include "sim/wire.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "parlor/check.h"
#include "parlor/connection.h"
#include "parlor/time.h"
#include "sim/message_end.h"

namespace parlor::sim {
namespace {

// Destroyed unanswered, it leaves the client as a lost link would.
class WireOpening final : public Opening {
 public:
  WireOpening(Wire& wire, Side& side) : wire_(wire), side_(side) {
    wire_.Hold();
  }
  ~WireOpening() override {
    if (!answered_) wire_.Go(side_);
    wire_.Drop();
  }

  const Hello& hello() const override { return wire_.hello(); }
  const Link& link() const override { return wire_.link(); }
  std::unique_ptr<Connection> Accept() override {
    Answer();
    return wire_.Accept();
  }
  void Refuse(const Refusal& refusal) override {
    Answer();
    wire_.Refuse(refusal);
  }

 private:
  void Answer() {
    PARLOR_CHECK(!answered_);
    answered_ = true;
  }

  Wire& wire_;
  Side& side_;
  bool answered_ = false;
};

}  // namespace

Wire::Wire(Link& link, EndpointState& client, EndpointState& host,
           const Hello& hello)
    : network_(link.network()),
      link_(link),
      state_(*link.state_),
      number_(network_.NextConnection()),
      hello_(hello) {
  EndpointState* const endpoints[] = {&client, &host};
  for (std::size_t i = 0; i < 2; ++i) {
    sides_[i].wire = this;
    sides_[i].out = i == 0 ? Direction::kUp : Direction::kDown;
    sides_[i].endpoint = endpoints[i];
    sides_[i].endpoint->Add(sides_[i]);
  }
  state_.Add(*this);
}

Wire::~Wire() {
  state_.Remove(*this);
  for (Channel& channel : channels_) StopRetry(channel);
  for (Side& side : sides_) side.endpoint->Remove(side);
}

std::unique_ptr<Connection> Wire::Connect(Link& link, Endpoint& from,
                                          Endpoint& to, const Hello& hello,
                                          ConnectionHandler* handler) {
  auto* wire = new Wire(link, *from.state_, *to.state_, hello);
  auto end = std::make_unique<MessageEnd>(*wire, wire->sides_[0],
                                          /*accepted=*/false, handler);
  wire->Send(wire->sides_[0], {.type = Record::Type::kOpen});
  wire->channel(Direction::kUp).unopened = true;
  wire->sides_[0].endpoint->SetDueBy(wire->sides_[0], end->Due());
  return end;
}

std::unique_ptr<Connection> Wire::Accept() {
  Side& side = sides_[1];
  auto end = std::make_unique<MessageEnd>(*this, side, /*accepted=*/true,
                                          /*handler=*/nullptr);
  Send(side, {.type = Record::Type::kAccepted});
  return end;
}

void Wire::Refuse(const Refusal& refusal) {
  Send(sides_[1], {.type = Record::Type::kRefused, .number = refusal.status});
}

std::size_t Wire::message_bytes_max(const Side& from) const {
  const Side& to = sides_[1 - static_cast<std::size_t>(from.out)];
  return to.endpoint->options.message_bytes_max;
}

// ---- Turns.

void Wire::Look(Side& side) {
  if (side.end != nullptr) side.end->Look();
}

void Wire::Run(Side& side, TimePoint now, std::uint64_t mark) {
  Hold();
  if (side.end != nullptr) {
    side.end->Run(now, mark);
  } else {
    RunOpening(side, now, mark);
  }
  if (side.end != nullptr) side.endpoint->SetDueBy(side, side.end->Due());
  Drop();
}

void Wire::RunOpening(Side& side, TimePoint now, std::uint64_t mark) {
  Channel& in = In(side);
  if (side.out == Direction::kUp || asked_ || in.records.empty() ||
      in.reset_at <= now) {
    return;
  }
  const Record& question = in.records.Front();
  if (question.arrives > now || question.order > mark) {
    side.endpoint->SetDueBy(side, question.arrives);
    return;
  }
  asked_ = true;
  NoteDelivery(side, question.order);
  in.records.Pop();
  if (side.endpoint->listener == nullptr) return Go(side);
  ++side.endpoint->callbacks;
  side.endpoint->listener->OnOpening(
      now, std::make_unique<WireOpening>(*this, side));
}

// ---- Sending.

void Wire::Send(Side& from, const Outgoing& outgoing) {
  const Direction direction = from.out;
  Channel& out = channel(direction);
  Record record{.sent = now(),
                .arrives = kNever,
                .order = Receiver(direction).endpoint->NextOrder(),
                .size = outgoing.size,
                .number = outgoing.number,
                .type = outgoing.type,
                .kind = outgoing.kind};
  if (Blocked(direction)) HoldUp(out);
  if (!out.held && !out.unopened) {
    // Behind what was sent of either lane, as over a stream.
    if (record.type == Record::Type::kClose) {
      out.floor = std::max(out.floor, out.state_floor);
    }
    record.arrives =
        path(direction).SendReliable(record.sent, outgoing.size, out.floor);
    out.floor = record.arrives;
    if (record.arrives == kNever) HoldUp(out);
  }
  out.records.Append(record, outgoing.bytes);
  Report(WhatIs(outgoing.type), direction, Lane::kReliable, outgoing,
         record.sent, record.arrives);
  Arrives(direction, record.arrives);
}

void Wire::HoldUp(Channel& channel) {
  if (channel.held) return;
  channel.held = true;
  channel.held_since = now();
}

// Something does, at its receiver.
void Wire::Arrives(Direction direction, TimePoint at) {
  if (at == kNever) return;
  Side& to = Receiver(direction);
  if (to.gone) {
    AnswerForGone(direction, at);
  } else if (to.end == nullptr || to.end->takes()) {
    to.endpoint->SetDueBy(to, at);
  }
}

// What arrives where nobody is any more is answered by the system there. Where
// the answer is lost, the question comes again, as nothing confirmed it.
void Wire::AnswerForGone(Direction direction, TimePoint at) {
  const Direction back = Reverse(direction);
  Channel& answer = channel(back);
  if (answer.reset_at != kNever || Blocked(back)) return;
  Duration wait = path(direction).retransmit();
  for (int tries = 0; tries < kTriesMax; ++tries) {
    answer.reset_at = path(back).Try(at);
    if (answer.reset_at != kNever) {
      answer.reset_sent = at;
      break;
    }
    at += wait;
    wait = std::min(2 * wait, kRetransmitMax);
  }
  Report(NetworkEvent::What::kReset, back, Lane::kReliable, {}, at,
         answer.reset_at);
  Side& side = Receiver(back);
  if (side.end != nullptr) side.endpoint->SetDueBy(side, answer.reset_at);
}

SendResult Wire::SendState(Side& from, const Outgoing& outgoing) {
  const Direction direction = from.out;
  Channel& out = channel(direction);
  if (NewestWaits(out)) {
    Replace(direction, outgoing);
    return SendResult::kReplaced;
  }
  out.newest = Receiver(direction).endpoint->NextOrder();
  out.newest_size = outgoing.size;
  out.newest_lost = false;
  if (out.unopened) {
    out.newest_leaves = kNever;
    Insert(direction, outgoing, kNever);
    return SendResult::kQueued;
  }
  LinkPath& way = path(direction);
  const Flight flight = way.Send(now(), outgoing.size);
  out.newest_leaves = flight.leaves;
  if (flight.lost || Blocked(direction)) {
    // What the queue did not take has no place there for a newer one.
    out.newest_lost = !flight.dropped;
    if (flight.dropped) out.newest = 0;
    Report(NetworkEvent::What::kLost, direction, Lane::kState, outgoing, now(),
           kNever);
    return SendResult::kQueued;
  }
  TimePoint arrives = std::max(flight.arrives, out.state_floor);
  if (way.DrawOvertake()) {
    arrives += way.conditions().overtake;
  } else {
    out.state_floor = arrives;
  }
  Insert(direction, outgoing, arrives);
  if (way.DrawDuplicate()) {
    const Duration later = way.DrawJitter();
    Insert(direction, outgoing, arrives + later);
  }
  return SendResult::kQueued;
}

StateMessage Wire::MakeState(Channel& channel, const Outgoing& outgoing,
                             TimePoint arrives) {
  StateMessage message{.sent = now(),
                       .arrives = arrives,
                       .order = channel.newest,
                       .size = outgoing.size,
                       .kind = outgoing.kind,
                       .bytes = channel.state.TakeBuffer()};
  message.bytes.assign(outgoing.bytes.begin(), outgoing.bytes.end());
  return message;
}

void Wire::Insert(Direction direction, const Outgoing& outgoing,
                  TimePoint arrives) {
  Channel& out = channel(direction);
  // What lies there for long, since nobody takes it, is bounded as the reliable
  // lane is: the oldest goes.
  const Side& from = Receiver(Reverse(direction));
  while (!out.state.empty() &&
         out.state.bytes() + outgoing.bytes.size() + kMessageOverhead >
             from.endpoint->options.reliable_bytes_max) {
    StateMessage oldest = out.state.PopFront();
    Report(NetworkEvent::What::kLost, direction, Lane::kState, AsSent(oldest),
           oldest.sent, kNever);
    out.state.Recycle(std::move(oldest.bytes));
  }
  out.state.Insert(MakeState(out, outgoing, arrives));
  Report(NetworkEvent::What::kMessage, direction, Lane::kState, outgoing, now(),
         arrives);
  Arrives(direction, arrives);
}

// Its newest has not left, nor been taken.
bool Wire::NewestWaits(Channel& channel) const {
  if (channel.newest == 0 || channel.newest_leaves < now()) return false;
  if (channel.newest_lost) return true;
  const std::span<const StateMessage> all = channel.state.all();
  return std::any_of(all.begin(), all.end(), [&](const StateMessage& message) {
    return message.order == channel.newest;
  });
}

std::size_t Wire::WaitingState(const Side& from) {
  const Channel& out = Out(from);
  return NewestWaits(Out(from)) ? out.newest_size + kMessageOverhead : 0;
}

// The newest takes the place of the one that waits, and its fate.
void Wire::Replace(Direction direction, const Outgoing& outgoing) {
  Channel& out = channel(direction);
  LinkPath& way = path(direction);
  way.Prolong(way.TimeOf(outgoing.size) - way.TimeOf(out.newest_size));
  const std::uint64_t replaced = out.newest;
  out.newest = Receiver(direction).endpoint->NextOrder();
  out.newest_size = outgoing.size;
  if (out.newest_lost) {
    Report(NetworkEvent::What::kLost, direction, Lane::kState, outgoing, now(),
           kNever);
    return;
  }
  bool told = false;
  for (std::size_t i = 0; i < out.state.all().size(); ++i) {
    const StateMessage& message = out.state.all()[i];
    if (message.order != replaced) continue;
    if (!std::exchange(told, true)) {
      Report(NetworkEvent::What::kLost, direction, Lane::kState,
             AsSent(message), message.sent, kNever, /*again=*/true);
    }
    const TimePoint arrives = message.arrives;
    out.state.Replace(i, MakeState(out, outgoing, arrives));
    Report(NetworkEvent::What::kMessage, direction, Lane::kState, outgoing,
           now(), arrives);
  }
}

}  // namespace parlor::sim
