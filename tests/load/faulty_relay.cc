#include "load/faulty_relay.h"

#include <algorithm>
#include <array>
#include <string>

#include "load/clock.h"
#include "parlor/byte_io.h"
#include "parlor/check.h"
#include "parlor/close_reason.h"
#include "parlor/connector.h"
#include "parlor/transports/request.h"
#include "stream/websocket_codec.h"
#include "stream/websocket_handshake.h"

namespace parlor::test {
namespace {

using load::kNeverNs;
using load::NowNs;
using lockstep::Kind;
using lockstep::Message;
using stream::FrameType;

constexpr std::int64_t kLateNs = load::kSecondNs / 20;

}  // namespace

FaultyRelay::FaultyRelay(Fault fault)
    : fault_(fault), thread_([this] { Run(); }) {}

FaultyRelay::~FaultyRelay() {
  stop_ = true;
  thread_.join();
}

void FaultyRelay::Run() {
  while (!stop_) Turn();
}

void FaultyRelay::Turn() {
  if (listener_.Readable(/*wait_ms=*/1)) {
    seats_.emplace_back().socket = listener_.Accept();
    seats_.back().handshake = stream::MakeWebSocketServerHandshake();
  }
  for (Seat& seat : seats_) {
    if (seat.held_until_ns != 0 && NowNs() >= seat.held_until_ns) Release(seat);
  }
  bool gone = false;
  for (Seat& seat : seats_) gone = !Hear(seat) || gone;
  // The room is over with its first seat that leaves.
  if (!gone) return;
  seats_.clear();
  playing_ = false;
}

bool FaultyRelay::Hear(Seat& seat) {
  std::string heard;
  const bool more = seat.socket.Receive(heard);
  if (heard.empty()) return more;
  std::span<std::byte> input = std::as_writable_bytes(std::span(heard));
  if (seat.handshake != nullptr && !Open(seat, input)) return more;
  while (true) {
    const stream::Incoming incoming = seat.codec->Next(input);
    switch (incoming.kind) {
      case stream::Incoming::Kind::kNothing:
        return more;
      case stream::Incoming::Kind::kMessage:
        Relay(seat, incoming.bytes);
        break;
      case stream::Incoming::Kind::kPong:
        if (AsText(incoming.bytes) == "still there?") Release(seat);
        break;
      case stream::Incoming::Kind::kPing:
        break;
      case stream::Incoming::Kind::kClose:
        SayFrame(seat, FrameType::kClose, {});
        return false;
      case stream::Incoming::Kind::kError:
        return false;
    }
  }
}

// True once it is open.
bool FaultyRelay::Open(Seat& seat, std::span<std::byte>& input) {
  using Progress = stream::ServerHandshake::Progress;
  if (seat.handshake->Feed(input) != Progress::kRequest) return false;
  Hello hello;
  PARLOR_CHECK(ParseRoomRequest(seat.handshake->request(), "", &hello) == 0);
  players_ = static_cast<std::size_t>(hello.players);
  if (fault_ == Fault::kRefuse) {
    seat.socket.Send(seat.handshake->Refuse({.status = 429}));
    return false;
  }
  if (fault_ == Fault::kNoHandshake) {
    seat.socket.Send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    return false;
  }
  seat.socket.Send(seat.handshake->Accept(kLockstepProtocol));
  seat.codec = stream::MakeWebSocketServerCodec(1'024);
  seat.codec->set_lanes_marked(seat.handshake->lanes_marked());
  seat.handshake.reset();
  // Connections come in the order of the seats, so all before it are open.
  if (&seat == &seats_.back() && seats_.size() == players_) Welcome();
  return true;
}

std::uint8_t FaultyRelay::NumberOf(const Seat& seat) const {
  std::uint8_t number = 0;
  for (const Seat& each : seats_) {
    if (&each == &seat) break;
    ++number;
  }
  return number;
}

void FaultyRelay::Welcome() {
  playing_ = true;
  if (fault_ == Fault::kSilent) return;
  for (Seat& seat : seats_) {
    if (fault_ == Fault::kEarly) Say(seat, {.kind = Kind::kInput});
    const std::uint8_t number = NumberOf(seat);
    Say(seat, {.kind = Kind::kLobby,
               .slot = number,
               .players = static_cast<std::uint8_t>(players_)});
    Say(seat, {.kind = Kind::kWelcome,
               .slot = fault_ == Fault::kSameSeat ? std::uint8_t{0} : number,
               .players = static_cast<std::uint8_t>(players_),
               .frame = 1,
               .value = 1});
  }
}

void FaultyRelay::Relay(Seat& sender, std::span<const std::byte> bytes) {
  PARLOR_CHECK(bytes.size() == lockstep::kMessageSize && playing_);
  Message message = lockstep::Decode(bytes.first<lockstep::kMessageSize>());
  PARLOR_CHECK(message.kind == Kind::kInput);
  message.slot = NumberOf(sender);
  const bool fault = message.slot == 0 && message.frame == kFaultFrame;
  if (fault && fault_ == Fault::kDeaf) deaf_ = true;
  if (fault && fault_ == Fault::kMute) mute_ = true;
  if (deaf_) return;
  for (Seat& seat : seats_) {
    const bool hit = NumberOf(seat) == kFaultSeat;
    if (&seat == &sender) {
      if (fault_ == Fault::kEcho && hit && message.frame == kFaultFrame) {
        Say(seat, message);
      }
    } else if (mute_ && hit) {
      continue;
    } else if (fault && hit) {
      RelayWrongly(seat, message);
    } else {
      Say(seat, message);
      // The one that was to come before it.
      if (message.slot == 0 && fault_ == Fault::kSwap) Release(seat);
    }
  }
}

void FaultyRelay::RelayWrongly(Seat& to, Message message) {
  switch (fault_) {
    case Fault::kDrop:
      return;
    case Fault::kRepeat:
      Say(to, message);
      break;
    case Fault::kSwap:
      HoldFrame(to, message);
      return;
    case Fault::kLate:
      to.held_until_ns = NowNs() + kLateNs;
      break;
    case Fault::kSlot:
      message.slot = kFaultSeat;
      break;
    case Fault::kNoSlot:
      message.slot = 200;
      break;
    case Fault::kWord:
      message.value ^= 0x100;
      break;
    case Fault::kMode:
      message.mode ^= 1;
      break;
    case Fault::kInvent:
      Say(to, {.kind = Kind::kInput, .frame = 1'000'000});
      break;
    case Fault::kSize:
    case Fault::kText:
      return SayOddly(to, message);
    case Fault::kKind:
      Say(to, {.kind = Kind::kAway});
      break;
    case Fault::kPing:
      SayFrame(to, FrameType::kPing, AsBytes("still there?"));
      to.held_until_ns = kNeverNs;
      break;
    case Fault::kClose: {
      std::array<std::byte, stream::kControlBytesMax> payload;
      const std::size_t size = to.codec->WriteClose(
          close_code::kPolicy, "too many messages", payload);
      SayFrame(to, FrameType::kClose, std::span(payload).first(size));
      break;
    }
    case Fault::kCut:
      to.socket.EndWrite();
      return;
    case Fault::kGarbage:
      Put(to, AsBytes("\xff\xff\xff\xff"));
      return;
    default:
      break;
  }
  Say(to, message);
}

// A byte more, or as text.
void FaultyRelay::SayOddly(Seat& to, const Message& message) {
  const lockstep::MessageBytes bytes = lockstep::Encode(message);
  std::vector<std::byte> payload(bytes.begin(), bytes.end());
  if (fault_ == Fault::kText) {
    std::fill(payload.begin(), payload.end(), std::byte{'a'});
    return SayFrame(to, FrameType::kText, payload);
  }
  payload.push_back(std::byte{0});
  SayFrame(to, FrameType::kBinary, payload);
}

void FaultyRelay::Say(Seat& to, const Message& message) {
  SayFrame(to, FrameType::kBinary, lockstep::Encode(message));
}

void FaultyRelay::HoldFrame(Seat& to, const Message& message) {
  to.held = FrameOf(to, FrameType::kBinary, lockstep::Encode(message));
}

std::vector<std::byte> FaultyRelay::FrameOf(
    Seat& to, FrameType type, std::span<const std::byte> payload) {
  std::array<std::byte, stream::kHeaderMax> header;
  const std::size_t size =
      to.codec->WriteHeader(type, Lane::kReliable, payload.size(), header);
  std::vector<std::byte> frame(header.data(), header.data() + size);
  frame.insert(frame.end(), payload.begin(), payload.end());
  return frame;
}

void FaultyRelay::SayFrame(Seat& to, FrameType type,
                           std::span<const std::byte> payload) {
  Put(to, FrameOf(to, type, payload));
}

void FaultyRelay::Put(Seat& to, std::span<const std::byte> bytes) {
  if (to.held_until_ns != 0) {
    to.held.insert(to.held.end(), bytes.begin(), bytes.end());
  } else {
    to.socket.Send(AsText(bytes));
  }
}

void FaultyRelay::Release(Seat& to) {
  to.held_until_ns = 0;
  to.socket.Send(AsText(to.held));
  to.held.clear();
}

}  // namespace parlor::test
