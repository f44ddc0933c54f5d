// A dump as bytes: DESYNC.md.
#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "lockstep/replay_layout.h"
#include "lockstep/state_delta.h"
#include "lockstep/state_walk.h"
#include "parlor/byte_io.h"
#include "parlor/check.h"
#include "parlor/limits.h"
#include "parlor/lockstep/desync.h"
#include "parlor/status.h"

namespace parlor::lockstep {
namespace {

constexpr std::string_view kMagic = "PARLORDS";
constexpr std::size_t kSumBytes = 4;
constexpr std::uint64_t kU32Max = 0xffffffff;

// What a frame has.
enum Flag : std::uint8_t {
  kWhole = 1 << 0,
  kDelta = 1 << 1,
  kRan = 1 << 2,
  kSameInputs = 1 << 3,  // as the frame before
  kAllFlags = (1 << 4) - 1,
};

class Encoder {
 public:
  explicit Encoder(std::vector<std::byte>& out) : out_(out), writer_(out) {}

  void Dump(const DesyncDump& dump) {
    writer_.Bytes(AsBytes(kMagic));
    writer_.U16(kDesyncVersion);
    Text(dump.game);
    const Match& match = dump.match;
    for (const int value :
         {match.seat, match.players, match.size, match.delay}) {
      writer_.U8(static_cast<std::uint8_t>(value));
    }
    writer_.U32(match.seed);
    writer_.U8(match.mode);
    // -1 is 0.
    writer_.VarUint(static_cast<std::uint64_t>(dump.desync + 1));
    writer_.VarUint(static_cast<std::uint64_t>(dump.desync_seat) + 1);
    writer_.VarUint(static_cast<std::uint64_t>(dump.agreed + 1));
    writer_.U8(dump.schema.has_value() ? 1 : 0);
    if (dump.schema) Field(*dump.schema);
    writer_.VarUint(dump.frames.size());
    if (!dump.frames.empty()) writer_.VarUint(dump.frames[0].frame);
    for (const DesyncFrame& frame : dump.frames) Frame(frame);
    writer_.U32(replay::Sum(0, out_));
  }

 private:
  void Text(std::string_view text) {
    writer_.U8(static_cast<std::uint8_t>(text.size()));
    writer_.Bytes(AsBytes(text));
  }
  void Field(const StateField& field) {
    Text(field.name);
    writer_.U8(static_cast<std::uint8_t>(field.type));
    writer_.VarUint(field.size);
    writer_.VarUint(field.values.size());
    for (const std::string& value : field.values) Text(value);
    writer_.VarUint(field.fields.size());
    for (const StateField& of : field.fields) Field(of);
  }
  void Frame(const DesyncFrame& frame) {
    unsigned flags = 0;
    if (frame.state) {
      const bool changes =
          state_ != nullptr &&
          state::MakeDelta(*state_, *frame.state, kStateBytesMax, delta_);
      flags |= changes ? kDelta : kWhole;
      state_ = &*frame.state;
    }
    if (frame.ran) flags |= kRan;
    const bool same = frame.ran && before_ != nullptr &&
                      before_->bots == frame.bots &&
                      before_->inputs == frame.inputs;
    if (same) flags |= kSameInputs;
    writer_.U8(static_cast<std::uint8_t>(flags));
    writer_.U32(frame.hash);
    if (frame.state) {
      const auto& bytes = (flags & kDelta) != 0 ? delta_ : *frame.state;
      writer_.VarUint(bytes.size());
      writer_.Bytes(bytes);
    }
    if (frame.ran && !same) {
      writer_.VarUint(frame.bots);
      for (const std::uint32_t input : frame.inputs) writer_.VarUint(input);
    }
    if (frame.ran) before_ = &frame;
  }

  std::vector<std::byte>& out_;
  ByteWriter writer_;
  std::vector<std::byte> delta_;
  const std::vector<std::byte>* state_ = nullptr;  // the last one
  const DesyncFrame* before_ = nullptr;            // the last that ran
};

bool IsPrintable(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return c >= ' ' && c <= '~'; });
}

class Parser {
 public:
  // `bytes` without the sum.
  explicit Parser(std::span<const std::byte> bytes)
      : size_(bytes.size()), reader_(bytes) {}

  absl::StatusOr<DesyncDump> Dump() {
    reader_.Bytes(kMagic.size() + 2);  // looked at already
    const bool parsed = Head() && Schema() && Frames() && AtEnd();
    if (!parsed) return std::move(wrong_);
    return std::move(dump_);
  }

 private:
  bool Wrong(std::string_view what) {
    wrong_ = replay::DamagedAt(size_ - reader_.remaining(), what);
    return false;
  }
  bool AtEnd() { return reader_.AtEnd() || Wrong("more than a dump"); }
  bool Text(std::string& text) {
    const auto view = AsText(reader_.Bytes(reader_.U8()));
    if (view.size() > kStateNameMax || !IsPrintable(view)) return false;
    text = view;
    return reader_.ok();
  }

  bool Head() {
    if (!Text(dump_.game)) return Wrong("the game's name");
    Match& match = dump_.match;
    match.seat = reader_.U8();
    match.players = reader_.U8();
    match.size = reader_.U8();
    match.delay = reader_.U8();
    match.seed = reader_.U32();
    match.mode = reader_.U8();
    dump_.desync = SignedFrame();
    dump_.desync_seat =
        static_cast<int>(reader_.VarUint(limits::kSeats.ceiling)) - 1;
    dump_.agreed = SignedFrame();
    const bool possible = reader_.ok() && match.seat < match.players &&
                          match.players <= match.size &&
                          match.size <= limits::kSeats.ceiling &&
                          match.delay >= limits::kDelay.floor &&
                          match.delay <= limits::kDelay.ceiling &&
                          dump_.desync_seat < match.players;
    return possible || Wrong("a match that cannot be");
  }
  std::int64_t SignedFrame() {
    return static_cast<std::int64_t>(reader_.VarUint(kU32Max + 1)) - 1;
  }

  bool Schema() {
    const std::uint8_t has = reader_.U8();
    if (!reader_.ok() || has > 1) return Wrong("neither a schema nor none");
    if (has == 0) return true;
    if (!Field(dump_.schema.emplace(), 0)) return Wrong("a bad schema");
    const absl::Status status = CheckSchema(*dump_.schema);
    if (!status.ok()) {
      return Wrong("a bad schema: " + std::string(StatusText(status)));
    }
    node_ = state::MakeNode(*dump_.schema);
    return true;
  }
  // No more than one may have, before it is looked at as a whole.
  bool Field(StateField& field, int depth) {
    if (depth > kStateDepthMax || !Text(field.name)) return false;
    field.type = static_cast<StateType>(reader_.U8());
    field.size = static_cast<std::uint32_t>(reader_.VarUint(kU32Max));
    const std::size_t values = reader_.VarUint(kStateFieldsMax);
    fields_ += 1 + values;
    if (!reader_.ok() || fields_ > kStateFieldsMax) return false;
    for (std::size_t i = 0; i < values; ++i) {
      if (!Text(field.values.emplace_back())) return false;
    }
    const std::size_t fields = reader_.VarUint(kStateFieldsMax);
    for (std::size_t i = 0; reader_.ok() && i < fields; ++i) {
      if (!Field(field.fields.emplace_back(), depth + 1)) return false;
    }
    return reader_.ok();
  }

  bool Frames() {
    const std::size_t count = reader_.VarUint(kDesyncFramesMax);
    if (!reader_.ok()) return Wrong("the number of frames");
    if (count == 0) return true;
    const std::uint64_t first = reader_.VarUint(kU32Max - kDesyncFramesMax);
    if (!reader_.ok()) return Wrong("the first frame");
    for (std::size_t i = 0; i < count; ++i) {
      DesyncFrame& frame = dump_.frames.emplace_back();
      frame.frame = static_cast<std::uint32_t>(first + i);
      const std::uint8_t flags = reader_.U8();
      frame.hash = reader_.U32();
      if (!reader_.ok() || flags > kAllFlags) return Wrong("a frame");
      if (!State(frame, flags) || !Inputs(frame, flags)) return false;
    }
    return true;
  }

  bool State(DesyncFrame& frame, unsigned flags) {
    const bool whole = (flags & kWhole) != 0;
    const bool delta = (flags & kDelta) != 0;
    if (!whole && !delta) return true;
    if ((whole && delta) || !dump_.schema || (delta && !has_state_)) {
      return Wrong("a state that cannot be here");
    }
    const auto bytes = reader_.Bytes(reader_.VarUint(kStateBytesMax));
    if (!reader_.ok()) return Wrong("a state that is cut short");
    if (whole) state_.assign(bytes.begin(), bytes.end());
    if (delta && !state::ApplyDelta(bytes, kStateBytesMax, state_)) {
      return Wrong("no difference of two states");
    }
    if (state_.size() > room_) return Wrong("too many states");
    room_ -= state_.size();
    state::Cursor cursor{state_};
    if (!state::Skip(*node_, cursor) || !cursor.rest.empty()) {
      return Wrong("a state that does not fit the schema");
    }
    has_state_ = true;
    frame.state = state_;
    return true;
  }

  bool Inputs(DesyncFrame& frame, unsigned flags) {
    frame.ran = (flags & kRan) != 0;
    const bool same = (flags & kSameInputs) != 0;
    if (!frame.ran) return !same || Wrong("inputs of a frame that did not run");
    if (same && !before_) return Wrong("the same inputs as none");
    if (same) {
      frame.bots = dump_.frames[*before_].bots;
      frame.inputs = dump_.frames[*before_].inputs;
    } else {
      const auto players = static_cast<std::size_t>(dump_.match.players);
      frame.bots = static_cast<std::uint32_t>(reader_.VarUint(kU32Max));
      frame.inputs.resize(players);
      for (std::uint32_t& input : frame.inputs) {
        input = static_cast<std::uint32_t>(reader_.VarUint(kU32Max));
      }
    }
    before_ = dump_.frames.size() - 1;
    if (std::uint64_t{frame.bots} >> dump_.match.players != 0) {
      return Wrong("bots in seats that there are not");
    }
    return reader_.ok() || Wrong("inputs that are cut short");
  }

  const std::size_t size_;
  ByteReader reader_;
  DesyncDump dump_;
  absl::Status wrong_;
  std::size_t fields_ = 0;
  std::optional<state::Node> node_;  // of the schema
  std::vector<std::byte> state_;     // the last one
  bool has_state_ = false;
  std::size_t room_ = kDesyncUnpackedMax;
  std::optional<std::size_t> before_;  // the last frame that ran
};

}  // namespace

std::vector<std::byte> EncodeDesyncDump(const DesyncDump& dump) {
  std::vector<std::byte> out;
  Encoder(out).Dump(dump);
  return out;
}

absl::StatusOr<DesyncDump> ParseDesyncDump(std::span<const std::byte> bytes) {
  ByteReader reader(bytes);
  if (AsText(reader.Bytes(kMagic.size())) != kMagic) {
    return InvalidArgument("byte 0: not a desync dump");
  }
  const std::uint16_t version = reader.U16();
  if (!reader.ok() || version != kDesyncVersion) {
    return InvalidArgument("byte 8: a dump of version " +
                           std::to_string(version) + ", not " +
                           std::to_string(kDesyncVersion));
  }
  if (bytes.size() > kDesyncBytesMax) {
    return InvalidArgument("more than " + std::to_string(kDesyncBytesMax) +
                           " bytes");
  }
  if (reader.remaining() < kSumBytes) {
    return replay::DamagedAt(bytes.size(), "the dump is cut short here");
  }
  const auto body = bytes.first(bytes.size() - kSumBytes);
  if (LoadU32(bytes.data() + body.size()) != replay::Sum(0, body)) {
    return replay::DamagedAt(body.size(),
                             "the checksum is not that of the dump");
  }
  return Parser(body).Dump();
}

}  // namespace parlor::lockstep
