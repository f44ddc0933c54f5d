#include "lockstep/replay_codec.h"

#include "lockstep/replay_layout.h"
#include "parlor/check.h"

namespace parlor::lockstep::replay {
namespace {

// The upper three bits of an event's first byte; the lower five are the seat.
enum Op : unsigned {
  kNextSame = 0,  // INPUT of the seat's next frame, its word as before
  kNext = 1,      // INPUT of the seat's next frame
  kAnyInput = 2,
  kAnyHash = 3,
  kRun = 4,        // the lower five are zero
  kSeatEvent = 5,  // a Sub follows
  kRoomEvent = 6,  // the lower five are a RoomSub
};

enum Sub : std::uint8_t {
  kJoin = 0,
  kResume = 1,
  kDrop = 2,
  kClosed = 3,
  kHoldOver = 4,
  kPutOut = 5,
};

enum RoomSub : std::uint8_t { kStartAsked = 0, kBegins = 1, kEnds = 2 };

constexpr std::uint64_t kU32Max = 0xffffffff;
constexpr std::uint64_t kU16Max = 0xffff;
constexpr const char* kShort = "an event that is cut short or malformed";

std::uint64_t BytesTwoAndThree(const Message& message) {
  return message.players | std::uint64_t{message.mode} << 8;
}

void PutReason(CloseCode code, std::string_view text, ByteWriter& writer) {
  PARLOR_CHECK(text.size() <= kCloseTextMax);
  writer.VarUint(code);
  writer.U8(static_cast<std::uint8_t>(text.size()));
  writer.Bytes(AsBytes(text));
}

// Null, or what is wrong: a text is shown to whoever reads the file.
const char* TakeReason(ByteReader& reader, ReplayEvent& event) {
  event.code = static_cast<CloseCode>(reader.VarUint(kU16Max));
  event.text = AsText(reader.Bytes(reader.U8()));
  if (!reader.ok()) return kShort;
  if (event.text.size() > kCloseTextMax) return "a reason that is too long";
  for (const char c : event.text) {
    if (c < ' ' || c > '~') return "a reason that cannot be printed";
  }
  return nullptr;
}

}  // namespace

void Codec::Head(unsigned op, unsigned low, std::uint32_t tick,
                 ByteWriter& writer) {
  PARLOR_DCHECK(tick >= tick_ && low < 32);
  writer.U8(static_cast<std::uint8_t>(op << 5 | low));
  writer.VarUint(tick - tick_);
  tick_ = tick;
  run_open_ = false;
}

void Codec::EncodeMessage(std::uint32_t tick, const Message& message,
                          std::vector<std::byte>& out) {
  ByteWriter writer(out);
  const std::uint64_t extra = BytesTwoAndThree(message);
  if (message.kind == Kind::kHash) {
    Head(kAnyHash, message.slot, tick, writer);
    writer.VarUint(message.frame);
    writer.VarUint(extra);
    writer.U32(message.value);
    return;
  }
  Seat& seat = seats_[message.slot];
  const bool next = seat.known && seat.next == message.frame && extra == 0;
  const unsigned op = !next                        ? kAnyInput
                      : seat.word == message.value ? kNextSame
                                                   : kNext;
  Head(op, message.slot, tick, writer);
  if (op == kAnyInput) writer.VarUint(message.frame);
  if (op != kNextSame) writer.VarUint(message.value);
  if (op == kAnyInput) writer.VarUint(extra);
  seat = {.next = std::uint64_t{message.frame} + 1,
          .word = message.value,
          .known = true};
}

void Codec::Encode(std::uint32_t tick, const ReplayEvent& event,
                   std::vector<std::byte>& out) {
  ByteWriter writer(out);
  const auto seat = static_cast<unsigned>(event.seat);
  const auto seat_event = [&](Sub sub) {
    Head(kSeatEvent, seat, tick, writer);
    writer.U8(sub);
  };
  switch (event.kind) {
    case ReplayKind::kFrames:
      Head(kRun, 0, tick, writer);
      return EncodeFrames(event, writer);
    case ReplayKind::kJoin:
      return seat_event(kJoin);
    case ReplayKind::kResume:
      return seat_event(kResume);
    case ReplayKind::kDrop:
      seat_event(kDrop);
      return writer.VarUint(event.code);
    case ReplayKind::kLeave:
      if (event.cause == ReplayCause::kHoldOver) return seat_event(kHoldOver);
      if (event.cause == ReplayCause::kClosed) {
        seat_event(kClosed);
        return writer.VarUint(event.code);
      }
      seat_event(kPutOut);
      return PutReason(event.code, event.text, writer);
    case ReplayKind::kStart:
    case ReplayKind::kBegin:
      Head(kRoomEvent, event.kind == ReplayKind::kStart ? kStartAsked : kBegins,
           tick, writer);
      writer.U8(static_cast<std::uint8_t>(event.players));
      writer.U8(event.mode);
      if (event.kind == ReplayKind::kBegin) writer.VarUint(event.taken);
      return;
    case ReplayKind::kEnd:
      Head(kRoomEvent, kEnds, tick, writer);
      return PutReason(event.code, event.text, writer);
    default:
      PARLOR_CHECK(false);
  }
}

// What has changed since the last ones, the bots as one more seat.
void Codec::EncodeFrames(const ReplayEvent& event, ByteWriter& writer) {
  PARLOR_CHECK(event.count >= 1 && event.count <= kRunMax);
  std::uint64_t changed = 0;
  for (int i = 0; i < players_; ++i) {
    const auto s = static_cast<std::size_t>(i);
    if (event.inputs[s] != inputs_[s]) changed |= std::uint64_t{1} << i;
  }
  if (event.bots != bots_) changed |= std::uint64_t{1} << players_;
  writer.VarUint(event.count);
  writer.VarUint(changed);
  for (int i = 0; i < players_; ++i) {
    const auto s = static_cast<std::size_t>(i);
    if ((changed >> i & 1) != 0) writer.VarUint(event.inputs[s]);
  }
  if ((changed >> players_ & 1) != 0) writer.VarUint(event.bots);
  inputs_ = event.inputs;
  bots_ = event.bots;
  run_open_ = event.count < kRunMax;
}

const char* Codec::Decode(ByteReader& reader, ReplayEvent& event) {
  event = ReplayEvent();
  const unsigned head = reader.U8();
  const std::uint64_t passed = reader.VarUint(kTickMax - tick_);
  if (!reader.ok()) return kShort;
  tick_ += static_cast<std::uint32_t>(passed);
  event.at = std::int64_t{tick_} * kReplayTick;
  const unsigned op = head >> 5;
  const unsigned low = head & 31;
  event.seat = static_cast<int>(low);
  if (op == kRun) return DecodeFrames(reader, event);
  run_open_ = false;
  switch (op) {
    case kNextSame:
    case kNext:
    case kAnyInput:
      return DecodeInput(op, reader, event);
    case kAnyHash: {
      event.kind = ReplayKind::kHash;
      event.frame = static_cast<std::uint32_t>(reader.VarUint(kU32Max));
      const std::uint64_t extra = reader.VarUint(kU16Max);
      event.byte2 = static_cast<std::uint8_t>(extra);
      event.byte3 = static_cast<std::uint8_t>(extra >> 8);
      event.value = reader.U32();
      return reader.ok() ? nullptr : kShort;
    }
    case kSeatEvent:
      return DecodeSeat(reader, event);
    case kRoomEvent:
      event.seat = 0;
      return DecodeRoom(low, reader, event);
    default:
      return "an event of an unknown kind";
  }
}

const char* Codec::DecodeInput(unsigned op, ByteReader& reader,
                               ReplayEvent& event) {
  Seat& seat = seats_[static_cast<std::size_t>(event.seat)];
  event.kind = ReplayKind::kInput;
  std::uint64_t frame = seat.next;
  std::uint64_t extra = 0;
  event.value = seat.word;
  if (op == kAnyInput) frame = reader.VarUint(kU32Max);
  if (op != kNextSame) {
    event.value = static_cast<std::uint32_t>(reader.VarUint(kU32Max));
  }
  if (op == kAnyInput) extra = reader.VarUint(kU16Max);
  if (!reader.ok()) return kShort;
  if (op != kAnyInput && (!seat.known || frame > kU32Max)) {
    return "an INPUT that follows nothing";
  }
  const bool next = seat.known && seat.next == frame && extra == 0;
  const bool same = event.value == seat.word;
  if ((op == kAnyInput && next) || (op == kNext && same)) {
    return "an INPUT in a longer form than it needs";
  }
  event.frame = static_cast<std::uint32_t>(frame);
  event.byte2 = static_cast<std::uint8_t>(extra);
  event.byte3 = static_cast<std::uint8_t>(extra >> 8);
  seat = {.next = frame + 1, .word = event.value, .known = true};
  return nullptr;
}

const char* Codec::DecodeFrames(ByteReader& reader, ReplayEvent& event) {
  event.kind = ReplayKind::kFrames;
  const std::uint64_t count = reader.VarUint(kRunMax);
  const std::uint64_t all = (std::uint64_t{2} << players_) - 1;
  const std::uint64_t changed = reader.VarUint(all);
  if (!reader.ok() || count == 0 || event.seat != 0) return kShort;
  if (changed == 0 && run_open_) return "frames in two pieces";
  bool differ = true;
  const auto take = [&](std::uint32_t& value, std::uint64_t most) {
    const auto now = static_cast<std::uint32_t>(reader.VarUint(most));
    differ = differ && now != value;
    value = now;
  };
  for (int i = 0; i < players_; ++i) {
    if ((changed >> i & 1) != 0)
      take(inputs_[static_cast<std::size_t>(i)], kU32Max);
  }
  if ((changed >> players_ & 1) != 0) take(bots_, all >> 1);
  if (!reader.ok()) return kShort;
  if (!differ) return "frames that say what has not changed";
  event.count = static_cast<std::uint32_t>(count);
  event.inputs = inputs_;
  event.bots = bots_;
  run_open_ = count < kRunMax;
  return nullptr;
}

const char* Codec::DecodeSeat(ByteReader& reader, ReplayEvent& event) {
  switch (reader.U8()) {
    case kJoin:
      event.kind = ReplayKind::kJoin;
      break;
    case kResume:
      event.kind = ReplayKind::kResume;
      break;
    case kDrop:
      event.kind = ReplayKind::kDrop;
      event.code = static_cast<CloseCode>(reader.VarUint(kU16Max));
      break;
    case kClosed:
      event.kind = ReplayKind::kLeave;
      event.code = static_cast<CloseCode>(reader.VarUint(kU16Max));
      break;
    case kHoldOver:
      event.kind = ReplayKind::kLeave;
      event.cause = ReplayCause::kHoldOver;
      break;
    case kPutOut:
      event.kind = ReplayKind::kLeave;
      event.cause = ReplayCause::kPutOut;
      return TakeReason(reader, event);
    default:
      return "an event of a seat of an unknown kind";
  }
  return reader.ok() ? nullptr : kShort;
}

const char* Codec::DecodeRoom(unsigned sub, ByteReader& reader,
                              ReplayEvent& event) {
  switch (sub) {
    case kStartAsked:
    case kBegins:
      event.kind = sub == kStartAsked ? ReplayKind::kStart : ReplayKind::kBegin;
      event.players = reader.U8();
      event.mode = reader.U8();
      if (sub == kBegins) {
        event.taken = static_cast<std::uint32_t>(reader.VarUint(kU32Max));
      }
      return reader.ok() ? nullptr : kShort;
    case kEnds:
      event.kind = ReplayKind::kEnd;
      return TakeReason(reader, event);
    default:
      return "an event of the room of an unknown kind";
  }
}

}  // namespace parlor::lockstep::replay
