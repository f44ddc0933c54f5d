// What befalls a wire: cuts and what is tried again after them, ends that go,
// and what is told of all that.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "parlor/connection.h"
#include "parlor/sim/network.h"
#include "parlor/time.h"
#include "sim/message_end.h"
#include "sim/wire.h"

namespace parlor::sim {
namespace {

std::uint64_t Count(TimePoint time) {
  return static_cast<std::uint64_t>(time.time_since_epoch().count());
}

// The next 8 bytes, or what is left of them, little-endian.
std::uint64_t TakeWord(std::span<const std::byte>& bytes) {
  const std::size_t size = std::min<std::size_t>(bytes.size(), 8);
  std::uint64_t word = 0;
  for (std::size_t i = 0; i < size; ++i) {
    word |= std::to_integer<std::uint64_t>(bytes[i]) << (8 * i);
  }
  bytes = bytes.subspan(size);
  return word;
}

}  // namespace

NetworkEvent::What Wire::WhatIs(Record::Type type) {
  switch (type) {
    case Record::Type::kOpen:
    case Record::Type::kAccepted:
      return NetworkEvent::What::kOpen;
    case Record::Type::kRefused:
      return NetworkEvent::What::kRefused;
    case Record::Type::kMessage:
      return NetworkEvent::What::kMessage;
    case Record::Type::kPing:
    case Record::Type::kPong:
      return NetworkEvent::What::kControl;
    case Record::Type::kClose:
      return NetworkEvent::What::kClose;
  }
  return NetworkEvent::What::kMessage;
}

void Wire::Report(NetworkEvent::What what, Direction direction, Lane lane,
                  const Outgoing& outgoing, TimePoint sent, TimePoint arrives,
                  bool again) {
  const NetworkEvent::What lost =
      what == NetworkEvent::What::kLost ? NetworkEvent::What::kMessage : what;
  if (arrives == kNever && what != NetworkEvent::What::kCut) {
    what = NetworkEvent::What::kLost;
  }
  network_.Note((number_ << 32) ^ (std::uint64_t{outgoing.number} << 16) ^
                (static_cast<std::uint64_t>(what) << 8) ^
                (static_cast<std::uint64_t>(direction) << 2) ^
                (static_cast<std::uint64_t>(lane) << 1) ^
                static_cast<std::uint64_t>(outgoing.kind));
  network_.Note(Count(arrives) ^ (std::uint64_t{outgoing.size} << 44));
  std::span<const std::byte> rest = outgoing.bytes;
  while (!rest.empty()) network_.Note(TakeWord(rest));
  if (network_.sink() == nullptr) return;
  network_.sink()->OnNetworkEvent({.what = what,
                                   .link = &link_,
                                   .direction = direction,
                                   .connection = number_,
                                   .sent = sent,
                                   .arrives = arrives,
                                   .lane = lane,
                                   .kind = outgoing.kind,
                                   .number = outgoing.number,
                                   .bytes = outgoing.bytes,
                                   .lost = lost,
                                   .again = again,
                                   .hosted = !hello_.play.empty()});
}

// ---- Ends.

void Wire::Opened(Side& side) {
  Channel& out = Out(side);
  out.unopened = false;
  if (Blocked(side.out)) HoldUp(out);
  if (!out.held) Release(side.out);
  const std::span<StateMessage> states = out.state.all();
  if (states.empty()) return;
  // There is one, which no other could arrive before.
  const StateMessage early = out.state.PopFront();
  out.newest = 0;
  SendState(side, AsSent(early));
}

void Wire::Taken(Side& receiver, const Record& record) {
  Channel& in = In(receiver);
  in.reliable_bytes -= record.size + kMessageOverhead;
  if (!in.above_half) return;
  Side& sender = sides_[1 - static_cast<std::size_t>(receiver.out)];
  if (in.reliable_bytes > sender.endpoint->options.reliable_bytes_max / 2) {
    return;
  }
  in.above_half = false;
  if (sender.end != nullptr) sender.end->Drained();
}

void Wire::DropIncoming(Side& side) {
  Channel& in = In(side);
  in.records.Clear();
  in.state.Clear();
  in.reliable_bytes = 0;
  in.above_half = false;
}

void Wire::Go(Side& side) {
  side.gone = true;
  Out(side).abandoned = true;
  SendNotice(side.out);
  Channel& in = In(side);
  TimePoint first = kNever;
  in.records.ForEach([&](const Record& record) {
    if (record.arrives <= now()) return;
    in.unconfirmed = true;
    first = std::min(first, record.arrives);
  });
  Arrives(Reverse(side.out), first);
}

// That its sender is gone. Nobody will send it again.
void Wire::SendNotice(Direction direction) {
  Channel& out = channel(direction);
  const TimePoint arrives =
      Blocked(direction) ? kNever : path(direction).Try(now());
  Report(NetworkEvent::What::kReset, direction, Lane::kReliable, {}, now(),
         arrives);
  if (arrives >= out.reset_at) return;
  out.reset_at = arrives;
  out.reset_sent = now();
  Side& to = Receiver(direction);
  if (to.end != nullptr) to.endpoint->SetDueBy(to, arrives);
}

// ---- The link.

void Wire::OnCut(Direction direction) {
  Channel& out = channel(direction);
  const TimePoint now = this->now();
  StopRetry(out);
  out.records.ForEach([&](Record& record) {
    if (record.arrives <= now || record.arrives == kNever) return;
    record.arrives = kNever;
    HoldUp(out);
    Report(WhatIs(record.type), direction, Lane::kReliable, AsSent(record),
           record.sent, kNever, /*again=*/true);
  });
  out.floor = std::min(out.floor, now);
  out.state_floor = std::min(out.state_floor, now);
  for (std::size_t i = out.state.all().size(); i > 0; --i) {
    const StateMessage& message = out.state.all()[i - 1];
    if (message.arrives <= now || message.arrives == kNever) continue;
    Report(NetworkEvent::What::kLost, direction, Lane::kState, AsSent(message),
           message.sent, kNever);
    out.state.Erase(i - 1);
  }
  if (out.reset_at > now) out.reset_at = kNever;
  // An answer to what will not arrive.
  Channel& back = channel(Reverse(direction));
  if (back.reset_at > now && back.reset_sent > now) back.reset_at = kNever;
}

void Wire::OnHeal(Direction direction) {
  TryLater(direction);
  TryLater(Reverse(direction));
}

void Wire::OnPower(bool on) {
  if (on) {
    OnHeal(Direction::kUp);
  } else {
    OnCut(Direction::kUp);
    OnCut(Direction::kDown);
  }
}

void Wire::OnReset() {
  for (Side& side : sides_) {
    Channel& in = In(side);
    in.reset_at = std::min(in.reset_at, now());
    in.reset_sent = std::min(in.reset_sent, now());
    if (side.end != nullptr) side.endpoint->SetDueBy(side, now());
  }
}

// Arranges the next try of what was held up.
void Wire::TryLater(Direction direction) {
  Channel& out = channel(direction);
  const bool asks = out.unconfirmed && Receiver(direction).gone &&
                    channel(Reverse(direction)).reset_at == kNever;
  if (out.abandoned || out.retrying || (!out.held && !asks)) return;
  const TimePoint at =
      path(direction).NextTry(out.held ? out.held_since : now(), now());
  out.retrying = true;
  out.retry = network_.executor().At(at, [this, direction] {
    channel(direction).retrying = false;
    Retry(direction);
  });
}

void Wire::StopRetry(Channel& channel) {
  if (std::exchange(channel.retrying, false)) {
    network_.executor().Cancel(channel.retry);
  }
}

void Wire::Retry(Direction direction) {
  if (Blocked(direction)) return;
  Release(direction);
  const Channel& out = channel(direction);
  if (!out.unconfirmed || !Receiver(direction).gone) return;
  const TimePoint at = path(direction).Try(now());
  if (at != kNever) AnswerForGone(direction, at);
}

// Sends what was held up.
void Wire::Release(Direction direction) {
  Channel& out = channel(direction);
  out.held = false;
  out.records.ForEach([&](Record& record) {
    if (out.held || record.arrives != kNever) return;
    if (out.unopened && record.type != Record::Type::kOpen) return;
    record.arrives =
        path(direction).SendReliable(now(), record.size, out.floor);
    if (record.arrives == kNever) {
      HoldUp(out);
      return;
    }
    out.floor = record.arrives;
    Report(WhatIs(record.type), direction, Lane::kReliable, AsSent(record),
           now(), record.arrives, /*again=*/true);
    Arrives(direction, record.arrives);
  });
}

}  // namespace parlor::sim
