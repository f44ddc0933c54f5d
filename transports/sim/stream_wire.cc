#include "sim/stream_wire.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <utility>

#include "parlor/check.h"
#include "parlor/sim/network.h"
#include "parlor/time.h"
#include "sim/link_path.h"
#include "sim/sim_stream.h"
#include "sim/stream_end.h"
#include "sim/virtual_loop.h"
#include "stream/byte_stream.h"

namespace parlor::sim {
namespace {

using stream::Bytes;
using stream::IoResult;
using stream::IoStatus;

// Up, the question and the confirmation; down, the answer.
constexpr int StepsOf(Direction direction) {
  return direction == Direction::kUp ? 2 : 1;
}

std::uint64_t CountOf(TimePoint time) {
  return static_cast<std::uint64_t>(time.time_since_epoch().count());
}

void NoteBytes(Network& network, Bytes bytes) {
  while (!bytes.empty()) {
    std::uint64_t word = 0;
    const std::size_t size = std::min(bytes.size(), sizeof(word));
    for (std::size_t i = 0; i < size; ++i) {
      word |= std::to_integer<std::uint64_t>(bytes[i]) << (8 * i);
    }
    network.Note(word);
    bytes = bytes.subspan(size);
  }
}

}  // namespace

StreamWire::StreamWire(Link& link, StreamPort& port)
    : network_(link.network()),
      link_(link),
      state_(*link.state_),
      port_(port),
      number_(network_.NextConnection()) {
  state_.Add(*this);
  way(Direction::kUp).steps_wanted = 1;
  Pump(Direction::kUp);
}

StreamWire::~StreamWire() {
  state_.Remove(*this);
  for (Way& each : ways_) executor().Cancel(each.event);
}

bool StreamWire::IsOff(Direction direction) const {
  return direction == Direction::kUp && port_.unplugged_;
}

// As it is said to a sink; lost when it does not arrive.
void StreamWire::Report(NetworkEvent::What what, Direction direction,
                        const Packet& packet, bool again) {
  NetworkSink* const sink = network_.sink();
  if (sink == nullptr) return;
  reported_.clear();
  if (packet.end > packet.begin) {
    const Way& from = way(direction);
    for (const Bytes part :
         from.bytes.View(packet.begin - from.read, packet.end - packet.begin)) {
      reported_.insert(reported_.end(), part.begin(), part.end());
    }
  }
  const bool lost = packet.arrives == kNever;
  sink->OnNetworkEvent({.what = lost ? NetworkEvent::What::kLost : what,
                        .link = &link_,
                        .direction = direction,
                        .connection = number_,
                        .sent = now(),
                        .arrives = packet.arrives,
                        .bytes = reported_,
                        .stream = true,
                        .lost = lost ? what : NetworkEvent::What{},
                        .again = again});
}

// ---- What a side asks for.

std::size_t StreamWire::Piece(Direction out, std::size_t most) {
  const std::size_t piece = side(out).piece_bytes_max;
  if (piece == SIZE_MAX) return most;
  most = std::min(most, piece);
  return executor().random().Below(static_cast<std::uint32_t>(most)) + 1;
}

std::size_t StreamWire::RoomToWrite(Direction out) const {
  const Way& to = way(out);
  return kSendBytes -
         std::min<std::uint64_t>(kSendBytes, to.written - to.arrived);
}

IoResult StreamWire::Read(Direction out, std::span<std::byte> into) {
  const Direction direction = Reverse(out);
  Way& from = way(direction);
  if (from.arrived == from.read) {
    if (from.end_arrived) return {IoStatus::kEnd};
    return {side(out).lost ? IoStatus::kLost : IoStatus::kBlocked};
  }
  const std::size_t bytes =
      Piece(out, std::min<std::size_t>(into.size(), from.arrived - from.read));
  auto to = into.begin();
  for (const Bytes part : from.bytes.View(0, bytes)) {
    to = std::copy(part.begin(), part.end(), to);
  }
  from.bytes.Pop(bytes);
  from.read += bytes;
  // A window opens by half of it or by a packet at least (RFC 9293 section
  // 3.8.6.2.2).
  const std::size_t room = kReceiveBytes - (from.sent - from.read);
  if (from.starved && room >= std::min(kReceiveBytes / 2, kSegmentBytes)) {
    from.starved = false;
    from.resume_at = now() + state_.path(out).conditions().latency;
    Arm(direction);
  }
  return {IoStatus::kOk, bytes};
}

IoResult StreamWire::Write(Direction out, std::span<const Bytes> pieces) {
  Way& to = way(out);
  PARLOR_CHECK(!pieces.empty() && !to.end_written);
  if (side(out).lost) return {IoStatus::kLost};
  const std::size_t room = RoomToWrite(out);
  if (!side(out).connected || room == 0) return {IoStatus::kBlocked};
  std::size_t all = 0;
  for (const Bytes piece : pieces) all += piece.size();
  const std::size_t bytes = Piece(out, std::min(room, all));
  std::size_t left = bytes;
  for (const Bytes piece : pieces) {
    const Bytes part = piece.first(std::min(left, piece.size()));
    to.bytes.Append(part);
    NoteBytes(network_, part);
    left -= part.size();
  }
  to.written += bytes;
  Pump(out);
  return {IoStatus::kOk, bytes};
}

void StreamWire::EndWrite(Direction out) {
  if (side(out).lost) return;
  way(out).end_written = true;
  Pump(out);
}

bool StreamWire::readable(Direction out) const {
  const Way& from = way(Reverse(out));
  return side(out).lost || from.arrived > from.read || from.end_arrived;
}

bool StreamWire::writable(Direction out) const {
  return side(out).lost || (side(out).connected && RoomToWrite(out) > 0);
}

void StreamWire::Leave(Direction out, bool reset) {
  Side& self = side(out);
  self.end = nullptr;
  self.gone = true;
  const Way& from = way(Reverse(out));
  if (self.lost || !self.connected || IsOff(Reverse(out))) {
    // Nobody is there to tell, or to tell it.
    DropUnsent(out);
  } else if (reset || from.arrived > from.read) {
    DropUnsent(out);
    SendReset(out);
  } else {
    way(out).end_written = true;
    Pump(out);
    opening_left_ = !accepted_;
  }
  --holders_;
  EndIfAlone();
}

void StreamWire::Notify(Direction out) {
  if (side(out).end != nullptr) side(out).end->Notify();
}

void StreamWire::EndIfAlone() {
  if (holders_ == 0 && !opening_left_) delete this;
}

// ---- Sending.

bool StreamWire::NextPacket(Direction direction, Packet* packet) {
  Way& from = way(direction);
  if (from.steps_sent < from.steps_wanted) {
    packet->type = Packet::Type::kStep;
    ++from.steps_sent;
    return true;
  }
  if (from.steps_wanted < StepsOf(direction)) return false;
  if (from.sent < from.written) {
    const std::size_t room = kReceiveBytes - (from.sent - from.read);
    from.starved = room == 0;
    if (room == 0) return false;
    packet->type = Packet::Type::kData;
    packet->begin = from.sent;
    // What is sent again ends where it did, so that it is told from the rest.
    const std::uint64_t until =
        from.sent < from.told ? from.told : from.written;
    from.sent +=
        std::min<std::uint64_t>({kSegmentBytes, room, until - from.sent});
    packet->end = from.sent;
    return true;
  }
  if (from.end_written && !from.end_sent) {
    packet->type = Packet::Type::kEnd;
    from.end_sent = true;
    return true;
  }
  return false;
}

// Sends all that may leave.
void StreamWire::Pump(Direction direction) {
  Way& from = way(direction);
  Packet packet;
  while (!from.held && NextPacket(direction, &packet)) {
    if (!is_cut(direction)) {
      packet.arrives = state_.path(direction).SendReliable(
          now(), packet.end - packet.begin, from.floor);
    }
    ReportPacket(direction, packet);
    if (packet.arrives == kNever) {
      LoseSent(direction);
      HoldUp(direction);
      break;
    }
    network_.Note(number_ << 8 ^ static_cast<std::uint64_t>(direction));
    network_.Note(CountOf(packet.arrives));
    from.floor = packet.arrives;
    from.packets.Push(packet);
    packet = {};
  }
  Arm(direction);
}

void StreamWire::ReportPacket(Direction direction, const Packet& packet) {
  Way& from = way(direction);
  switch (packet.type) {
    case Packet::Type::kStep:
      // The confirmation tells nobody anything.
      if (from.steps_sent < 2) {
        Report(NetworkEvent::What::kOpen, direction, packet, false);
      }
      return;
    case Packet::Type::kData:
      Report(NetworkEvent::What::kMessage, direction, packet,
             packet.begin < from.told);
      from.told = std::max(from.told, packet.end);
      return;
    case Packet::Type::kEnd:
      Report(NetworkEvent::What::kClose, direction, packet, false);
      return;
  }
}

// Nothing that has not arrived will, unless it is sent again.
void StreamWire::LoseSent(Direction direction) {
  Way& from = way(direction);
  from.packets.Clear();
  from.sent = from.arrived;
  from.steps_sent = from.steps_arrived;
  from.end_sent = from.end_arrived;
  from.floor = now();
  if (from.mute) Trim(from);
}

void StreamWire::HoldUp(Direction direction) {
  Way& from = way(direction);
  from.held = true;
  if (!from.held_since) from.held_since = now();
  from.retry_at = is_cut(direction)
                      ? kNever
                      : state_.path(direction).NextTry(*from.held_since,
                                                       now() + Duration(1));
}

void StreamWire::Trim(Way& way) {
  way.written = way.sent;
  way.bytes.Cut(way.sent - way.read);
  way.steps_wanted = way.steps_sent;
  way.end_written = way.end_sent;
}

// What has left may arrive, and no more is said.
void StreamWire::DropUnsent(Direction direction) {
  Way& from = way(direction);
  from.mute = true;
  Trim(from);
  from.retry_at = kNever;
  Arm(direction);
}

void StreamWire::SendReset(Direction direction) {
  TimePoint& at = way(direction).reset_at;
  if (at != kNever) return;
  if (!is_cut(direction)) at = state_.path(direction).Try(now());
  network_.Note(number_ << 8 ^ static_cast<std::uint64_t>(direction) ^ 2);
  network_.Note(CountOf(at));
  Report(NetworkEvent::What::kReset, direction, {.arrives = at}, false);
  Arm(direction);
}

// ---- Arriving.

void StreamWire::Arm(Direction direction) {
  Way& of = way(direction);
  TimePoint at = std::min({of.reset_at, of.retry_at, of.resume_at});
  if (!of.packets.empty()) at = std::min(at, of.packets.front().arrives);
  if (at == of.event_at) return;
  executor().Cancel(of.event);
  of.event_at = at;
  if (at == kNever) return;
  of.event = executor().At(at, [this, direction] { Run(direction); });
}

void StreamWire::Run(Direction direction) {
  Way& of = way(direction);
  of.event_at = kNever;
  while (!of.packets.empty() && of.packets.front().arrives <= now()) {
    const Packet packet = of.packets.front();
    of.packets.Pop();
    Arrive(direction, packet);
  }
  if (of.reset_at <= now()) {
    of.reset_at = kNever;
    if (!IsOff(direction)) Lose(Reverse(direction));
  }
  const bool again = of.retry_at <= now();
  if (again) {
    of.retry_at = kNever;
    of.held = false;
  }
  const bool on = of.resume_at <= now();
  if (on) of.resume_at = kNever;
  if (again || on) Pump(direction);
  Arm(direction);
  EndIfAlone();
}

void StreamWire::Arrive(Direction direction, const Packet& packet) {
  Way& of = way(direction);
  const Direction receiver = Reverse(direction);
  if (IsOff(direction)) {
    LoseSent(direction);
    HoldUp(direction);
    return;
  }
  if (side(receiver).gone) {
    // One that said all itself, and hears the same, is content.
    if (packet.type == Packet::Type::kEnd && way(receiver).end_written) return;
    AnswerWithReset(direction);
    return;
  }
  of.held_since.reset();
  network_.Note(number_ << 8 ^ static_cast<std::uint64_t>(direction) ^ 4);
  network_.Note(CountOf(now()));
  switch (packet.type) {
    case Packet::Type::kStep:
      ++of.steps_arrived;
      TakeStep(direction);
      return;
    case Packet::Type::kData:
      of.arrived = packet.end;
      Notify(direction);  // whose sender has room for more
      break;
    case Packet::Type::kEnd:
      of.end_arrived = true;
      break;
  }
  Notify(receiver);
}

void StreamWire::TakeStep(Direction direction) {
  if (direction == Direction::kDown) {
    side(Direction::kUp).connected = true;
    way(Direction::kUp).steps_wanted = 2;
    Pump(Direction::kUp);
    Notify(Direction::kUp);
  } else if (port_.accept_ == nullptr) {
    AnswerWithReset(direction);
  } else if (way(direction).steps_arrived == 1) {
    way(Direction::kDown).steps_wanted = 1;
    Pump(Direction::kDown);
  } else {
    Accept();
  }
}

void StreamWire::Accept() {
  accepted_ = true;
  side(Direction::kDown).connected = true;
  // Shared, since a task can be copied; by nobody.
  const auto stream = std::make_shared<std::unique_ptr<stream::ByteStream>>(
      StreamEnd::Make(*this, Direction::kDown, *port_.loop_));
  port_.loop_->Post([&port = port_, &link = link_, stream] {
    if (port.accept_ == nullptr) return (*stream)->Reset();
    port.accept_(link, std::move(*stream));
  });
  opening_left_ = false;
}

// Where nobody is, or is any more: what is behind it would hear the same. It is
// sent again for as long as the answer does not get through.
void StreamWire::AnswerWithReset(Direction direction) {
  LoseSent(direction);
  if (side(direction).gone) {
    DropUnsent(direction);
    opening_left_ = false;
    return;
  }
  HoldUp(direction);
  SendReset(Reverse(direction));
}

void StreamWire::Lose(Direction out) {
  if (side(out).gone || side(out).lost) return;
  side(out).lost = true;
  for (const Direction direction : {Direction::kUp, Direction::kDown}) {
    LoseSent(direction);
    DropUnsent(direction);
  }
  Notify(out);
}

// ---- What the link says.

void StreamWire::OnCut(Direction direction) {
  Way& of = way(direction);
  if (!of.packets.empty()) {
    for (const std::span<const Packet> part :
         of.packets.View(0, of.packets.size())) {
      for (Packet packet : part) {
        packet.arrives = kNever;
        ReportPacket(direction, packet);
      }
    }
    LoseSent(direction);
    HoldUp(direction);
  }
  of.retry_at = kNever;
  if (of.reset_at != kNever) {
    of.reset_at = kNever;
    Report(NetworkEvent::What::kReset, direction, {}, true);
  }
  Arm(direction);
}

void StreamWire::OnHeal(Direction direction) {
  if (way(direction).held) HoldUp(direction);
  Arm(direction);
}

void StreamWire::OnReset() {
  for (const Direction direction : {Direction::kUp, Direction::kDown}) {
    Lose(direction);
    way(direction).reset_at = kNever;
    Arm(direction);
  }
  opening_left_ = false;
  EndIfAlone();
}

}  // namespace parlor::sim
