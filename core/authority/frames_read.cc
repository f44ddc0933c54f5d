// The parsers of text frames, and the rules of their members.
#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "authority/frame_words.h"
#include "authority/strict_json.h"
#include "parlor/authority/frames.h"
#include "parlor/authority/limits.h"
#include "parlor/limits.h"
#include "parlor/name_rule.h"

namespace parlor::authority {
namespace {

constexpr std::int64_t kU32Max = std::numeric_limits<std::uint32_t>::max();

// Of a member's value, by how it begins.
bool IsObject(std::string_view value) { return value.starts_with('{'); }
bool IsObjectOrNull(std::string_view value) {
  return IsObject(value) || value == "null";
}
bool IsAnyJson(std::string_view /*value*/) { return true; }

bool IsAnyText(std::string_view /*text*/) { return true; }
bool IsCodecName(std::string_view text) {
  return !text.empty() && text.size() <= kCodecBytesMax;
}

// Takes the members of one object. The first that is missing or wrong is what
// refusal() says, and from then on what is read means nothing: so a parser
// reads all its members, then asks once.
class MemberReader {
 public:
  // `frame` is WIRE.md's name of the object; both outlive the reader.
  MemberReader(std::string_view object, std::string_view frame)
      : object_(object), frame_(frame) {}

  bool ok() const { return ok_; }
  const FrameRefusal& refusal() const { return refusal_; }

  // The value of a member, as it is in the text; empty: there is none.
  std::string_view Find(std::string_view member) const {
    for (JsonItems items(object_); items.Next();) {
      if (TextOf(items.key()) == member) return items.value();
    }
    return {};
  }
  bool Has(std::string_view member) const { return !Find(member).empty(); }

  void Refuse(std::string_view member, ErrorCode code = ErrorCode::kPayload) {
    if (!ok_) return;
    ok_ = false;
    refusal_ = {FrameError::kMember, frame_, member, code};
  }
  // Of an object inside this one.
  void Refuse(const FrameRefusal& refusal) {
    if (ok_) refusal_ = refusal;
    ok_ = false;
  }

  std::int64_t Whole(std::string_view member, std::int64_t low,
                     std::int64_t high) {
    return Kept(member, WholeOf(Find(member), low, high));
  }
  std::uint32_t U32(std::string_view member, std::int64_t low = 0) {
    return static_cast<std::uint32_t>(Whole(member, low, kU32Max));
  }
  std::int64_t Within(std::string_view member, const Limit& limit) {
    return Whole(member, limit.floor, limit.ceiling);
  }
  int Seat(std::string_view member, int low = 0) {
    return static_cast<int>(Whole(member, low, kSeatMax));
  }
  double Number(std::string_view member) {
    return Kept(member, NumberOf(Find(member)));
  }
  bool Flag(std::string_view member) {
    const std::string_view value = Find(member);
    if (value != "true" && value != "false") Refuse(member);
    return value == "true";
  }

  template <typename Rule>
  std::string Text(std::string_view member, Rule is_valid,
                   ErrorCode code = ErrorCode::kPayload) {
    std::optional<std::string> text = TextOf(Find(member));
    if (text && is_valid(*text)) return *std::move(text);
    Refuse(member, code);
    return {};
  }
  template <typename Enum, std::size_t kCount>
  Enum Word(std::string_view member,
            const std::array<WordRow<Enum>, kCount>& table) {
    const std::optional<std::string> text = TextOf(Find(member));
    return Kept(member, text ? ValueOf(table, *text) : std::nullopt);
  }
  template <typename Rule>
  std::string Json(std::string_view member, Rule is_valid,
                   std::size_t bytes_max = std::string_view::npos) {
    const std::string_view value = Find(member);
    if (value.empty() || value.size() > bytes_max || !is_valid(value)) {
      Refuse(member);
    }
    return std::string(value);
  }

  // The items of a list of at most `count_max`.
  std::vector<std::string_view> List(std::string_view member,
                                     std::size_t count_max) {
    const std::string_view value = Find(member);
    std::vector<std::string_view> list;
    if (!value.starts_with('[')) Refuse(member);
    for (JsonItems items(value); ok_ && items.Next();) {
      if (list.size() == count_max) Refuse(member);
      list.push_back(items.value());
    }
    return list;
  }
  // A list of exactly as many whole numbers.
  template <typename Number, std::size_t kCount>
  std::array<Number, kCount> Wholes(std::string_view member) {
    const std::vector<std::string_view> list = List(member, kCount);
    std::array<Number, kCount> wholes{};
    if (list.size() != kCount) Refuse(member);
    for (std::size_t i = 0; ok_ && i < kCount; ++i) {
      using Limits = std::numeric_limits<Number>;
      wholes[i] = static_cast<Number>(
          Kept(member, WholeOf(list[i], Limits::min(), Limits::max())));
    }
    return wholes;
  }

 private:
  template <typename Value>
  Value Kept(std::string_view member, const std::optional<Value>& value) {
    if (!value) Refuse(member);
    return value.value_or(Value{});
  }

  std::string_view object_;
  std::string_view frame_;
  bool ok_ = true;
  FrameRefusal refusal_;
};

// What a parser below gives: its frame, or the first refusal.
template <typename Any, typename Frame>
Any Done(const MemberReader& in, Frame frame) {
  if (!in.ok()) return in.refusal();
  return frame;
}

// ---- Of clients.

ClientFrame ReadJoin(std::string_view object) {
  MemberReader in(object, "join");
  JoinFrame frame;
  frame.protocol = in.Text("protocol", IsProtocol, ErrorCode::kProtocol);
  frame.name = in.Text("name", IsName, ErrorCode::kName);
  if (in.Has("fields")) {
    frame.fields = in.Json("fields", IsObject, kFieldsBytesMax);
  }
  if (in.Has("codecs")) {
    for (const std::string_view item : in.List("codecs", kCodecsMax)) {
      std::optional<std::string> codec = TextOf(item);
      if (!codec || !IsCodecName(*codec)) in.Refuse("codecs");
      frame.codecs.push_back(std::move(codec).value_or(std::string()));
    }
  }
  if (in.Has("resume")) {
    frame.resume =
        ParseToken(TextOf(in.Find("resume")).value_or(std::string()));
    if (!frame.resume) in.Refuse("resume", ErrorCode::kResumeRefused);
  }
  return Done<ClientFrame>(in, std::move(frame));
}

std::uint64_t ReadBits(MemberReader& in, std::string_view member) {
  if (!in.Has(member)) return 0;
  const auto halves = in.Wholes<std::uint32_t, 2>(member);
  return (std::uint64_t{halves[1]} << 32) | halves[0];
}

Axes ReadAxes(MemberReader& in, std::string_view member) {
  return in.Has(member) ? in.Wholes<std::int16_t, kAxes>(member) : Axes{};
}

ClientFrame ReadInput(std::string_view object) {
  MemberReader in(object, "input");
  InputFrame frame;
  frame.seq = in.U32("seq", 1);
  frame.held = ReadBits(in, "held");
  frame.pressed = ReadBits(in, "pressed");
  frame.axes = ReadAxes(in, "axes");
  frame.summed = ReadAxes(in, "summed");
  return Done<ClientFrame>(in, frame);
}

ClientFrame ReadAck(std::string_view object) {
  MemberReader in(object, "ack");
  const AckFrame frame{.tick = in.U32("tick")};
  return Done<ClientFrame>(in, frame);
}

ClientFrame ReadMsg(std::string_view object) {
  MemberReader in(object, "msg");
  MsgFrame frame;
  frame.name = in.Text("name", IsWireName);
  frame.payload = in.Json("payload", IsAnyJson);
  return Done<ClientFrame>(in, std::move(frame));
}

ClientFrame ReadPublish(std::string_view object) {
  MemberReader in(object, "publish");
  PublishFrame frame;
  frame.key = in.Text("key", IsWireName);
  frame.value = in.Json("value", IsAnyJson);
  return Done<ClientFrame>(in, std::move(frame));
}

ClientFrame ReadUnpublish(std::string_view object) {
  MemberReader in(object, "unpublish");
  UnpublishFrame frame{.key = in.Text("key", IsWireName)};
  return Done<ClientFrame>(in, std::move(frame));
}

ClientFrame ReadChat(std::string_view object) {
  MemberReader in(object, "chat");
  ChatFrame frame{.text = in.Text("text", IsChatText)};
  return Done<ClientFrame>(in, std::move(frame));
}

ClientFrame ReadPing(std::string_view object) {
  MemberReader in(object, "ping");
  const PingFrame frame{.kind = in.Word("kind", kPingWords)};
  return Done<ClientFrame>(in, frame);
}

ClientFrame ReadMod(std::string_view object) {
  MemberReader in(object, "mod");
  ModFrame frame;
  frame.action = in.Word("action", kModWords);
  if (in.ok() && NeedsTarget(frame.action)) {
    frame.target = in.Text("target", IsPlayerId);
  }
  return Done<ClientFrame>(in, std::move(frame));
}

ClientFrame ReadRtt(std::string_view object) {
  MemberReader in(object, "rtt");
  const RttFrame frame{.at = in.Number("at")};
  return Done<ClientFrame>(in, frame);
}

ClientFrame ReadResync(std::string_view /*object*/) { return ResyncFrame{}; }
ClientFrame ReadLeave(std::string_view /*object*/) { return LeaveFrame{}; }

// ---- Of rooms.

ServerFrame ReadState(std::string_view /*object*/) { return StateTextFrame{}; }

ServerFrame ReadWelcome(std::string_view object) {
  MemberReader in(object, "welcome");
  WelcomeFrame frame;
  frame.player = in.Text("player", IsPlayerId);
  frame.seat = in.Seat("seat");
  const std::optional<ResumeToken> token =
      ParseToken(in.Text("token", IsAnyText));
  if (!token) in.Refuse("token");
  frame.token = token.value_or(ResumeToken{});
  frame.protocol = in.Text("protocol", IsProtocol);
  frame.codec = in.Text("codec", IsCodecName);
  frame.schema = in.Json("schema", IsObject);
  frame.tick_hz = static_cast<int>(in.Within("tickHz", limits::kTickHz));
  frame.snapshot_hz =
      static_cast<int>(in.Within("snapshotHz", limits::kSnapshotHz));
  frame.epoch = in.U32("epoch");
  frame.tick = in.U32("tick");
  frame.entity = in.U32("entity");
  frame.grace_ms = in.Within("graceMs", limits::kGraceMs);
  return Done<ServerFrame>(in, std::move(frame));
}

RosterPlayer ReadPlayer(MemberReader& in) {
  RosterPlayer player;
  player.id = in.Text("id", IsPlayerId);
  player.seat = in.Seat("seat");
  player.name = in.Text("name", IsName);
  player.connected = in.Flag("connected");
  player.host = in.Flag("host");
  return player;
}

ServerFrame ReadRoster(std::string_view object) {
  MemberReader in(object, "roster");
  RosterFrame frame;
  for (const std::string_view item : in.List("players", kSeatMax + 1)) {
    MemberReader inner(item, "roster.players");
    frame.players.push_back(ReadPlayer(inner));
    if (!inner.ok()) in.Refuse(inner.refusal());
  }
  const auto not_above = [](const RosterPlayer& a, const RosterPlayer& b) {
    return a.seat >= b.seat;
  };
  if (std::ranges::adjacent_find(frame.players, not_above) !=
      frame.players.end()) {
    in.Refuse("players");
  }
  frame.locked = in.Flag("locked");
  return Done<ServerFrame>(in, std::move(frame));
}

// Those that this build does not know are passed over.
std::vector<TickEvent> ReadEvents(MemberReader& in) {
  std::vector<TickEvent> events;
  for (const std::string_view item : in.List("events", kTickEventsMax)) {
    MemberReader inner(item, "tick.events");
    const std::string word = inner.Text("kind", IsAnyText);
    if (const auto kind = ValueOf(kEventWords, word)) {
      events.push_back({*kind, inner.Json("value", IsObjectOrNull)});
    }
    if (!inner.ok()) in.Refuse(inner.refusal());
  }
  return events;
}

ServerFrame ReadTick(std::string_view object) {
  MemberReader in(object, "tick");
  TickFrame frame;
  frame.tick = in.U32("tick");
  frame.ack = in.U32("ack");
  frame.entity = in.U32("entity");
  if (in.Has("events")) frame.events = ReadEvents(in);
  return Done<ServerFrame>(in, std::move(frame));
}

ServerFrame ReadRoomMsg(std::string_view object) {
  MemberReader in(object, "msg");
  RoomMsgFrame frame;
  frame.from = in.Seat("from", kAuthoritySender);
  frame.name = in.Text("name", IsWireName);
  frame.payload = in.Json("payload", IsAnyJson);
  return Done<ServerFrame>(in, std::move(frame));
}

ServerFrame ReadRoomChat(std::string_view object) {
  MemberReader in(object, "chat");
  RoomChatFrame frame;
  frame.id = in.U32("id", 1);
  frame.from = in.Text("from", IsPlayerId);
  frame.name = in.Text("name", IsName);
  frame.text = in.Text("text", IsChatText);
  frame.at = in.Whole("at", 0, kIntMax);
  return Done<ServerFrame>(in, std::move(frame));
}

ServerFrame ReadRoomPing(std::string_view object) {
  MemberReader in(object, "ping");
  RoomPingFrame frame;
  frame.from = in.Text("from", IsPlayerId);
  frame.kind = in.Word("kind", kPingWords);
  frame.position = in.Wholes<std::int32_t, 3>("position");
  frame.expires_at = in.Whole("expiresAt", 0, kIntMax);
  return Done<ServerFrame>(in, std::move(frame));
}

ServerFrame ReadRoomRtt(std::string_view object) {
  MemberReader in(object, "rtt");
  RoomRttFrame frame;
  frame.at = in.Number("at");
  frame.server = in.Whole("server", 0, kIntMax);
  return Done<ServerFrame>(in, frame);
}

ServerFrame ReadError(std::string_view object) {
  MemberReader in(object, "error");
  ErrorFrame frame;
  const std::string word = in.Text("code", IsAnyText);
  frame.code = ValueOf(kErrorWords, word).value_or(ErrorCode::kOther);
  frame.message = in.Text("message", IsAnyText);
  return Done<ServerFrame>(in, std::move(frame));
}

// ---- Both ways.

template <typename Any>
struct FrameRow {
  std::string_view type;
  Any (*read)(std::string_view object);
};

constexpr auto kClientRows = std::to_array<FrameRow<ClientFrame>>({
    {"join", ReadJoin},
    {"input", ReadInput},
    {"ack", ReadAck},
    {"msg", ReadMsg},
    {"publish", ReadPublish},
    {"unpublish", ReadUnpublish},
    {"chat", ReadChat},
    {"ping", ReadPing},
    {"mod", ReadMod},
    {"rtt", ReadRtt},
    {"resync", ReadResync},
    {"leave", ReadLeave},
});

constexpr auto kServerRows = std::to_array<FrameRow<ServerFrame>>({
    {"baseline", ReadState},
    {"delta", ReadState},
    {"recovery", ReadState},
    {"welcome", ReadWelcome},
    {"roster", ReadRoster},
    {"tick", ReadTick},
    {"msg", ReadRoomMsg},
    {"chat", ReadRoomChat},
    {"ping", ReadRoomPing},
    {"rtt", ReadRoomRtt},
    {"error", ReadError},
});

FrameError Named(JsonError error) {
  switch (error) {
    case JsonError::kDepth:
      return FrameError::kDepth;
    case JsonError::kDuplicateKey:
      return FrameError::kDuplicateKey;
    case JsonError::kNumber:
      return FrameError::kNumber;
    case JsonError::kNone:
    case JsonError::kSyntax:
      break;
  }
  return FrameError::kSyntax;
}

template <typename Any, typename Rows>
Any ParseFrame(std::string_view text, const Rows& rows) {
  // The frame itself is an object around its members.
  const JsonError error = CheckJson(text, kDepthMax + 1);
  if (error != JsonError::kNone) return FrameRefusal{.error = Named(error)};
  const std::optional<std::string> type =
      TextOf(MemberReader(text, "frame").Find("t"));
  if (!IsObject(Trimmed(text)) || !type) {
    return FrameRefusal{.error = FrameError::kNotAFrame};
  }
  const auto row = std::ranges::find(rows, *type, &FrameRow<Any>::type);
  if (row == std::end(rows)) return IgnoredFrame{};
  return row->read(text);
}

bool IsStateText(std::string_view text) {
  return text.starts_with(R"({"t":"delta",)") ||
         text.starts_with(R"({"t":"baseline",)") ||
         text.starts_with(R"({"t":"recovery",)");
}

}  // namespace

ClientFrame ParseClientFrame(std::string_view text) {
  if (text.size() > kClientFrameBytesMax) {
    return FrameRefusal{.error = FrameError::kTooLarge};
  }
  return ParseFrame<ClientFrame>(text, kClientRows);
}

ServerFrame ParseServerFrame(std::string_view text) {
  if (IsStateText(text)) return StateTextFrame{};
  return ParseFrame<ServerFrame>(text, kServerRows);
}

std::string Describe(const FrameRefusal& refusal) {
  switch (refusal.error) {
    case FrameError::kTooLarge:
      return "larger than a client's text frame may be";
    case FrameError::kSyntax:
      return "not JSON";
    case FrameError::kDepth:
      return "nested too deep";
    case FrameError::kDuplicateKey:
      return "an object has a key twice";
    case FrameError::kNumber:
      return "a number is too large";
    case FrameError::kNotAFrame:
      return "not an object with a text t";
    case FrameError::kMember:
      break;
  }
  return std::string(refusal.frame)
      .append(".")
      .append(refusal.member)
      .append(": missing or not what it has to be");
}

std::string TokenText(const ResumeToken& token) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const std::byte byte : token) {
    text += kDigits[std::to_integer<std::size_t>(byte >> 4)];
    text += kDigits[std::to_integer<std::size_t>(byte & std::byte{15})];
  }
  return text;
}

std::optional<ResumeToken> ParseToken(std::string_view text) {
  ResumeToken token{};
  if (text.size() != 2 * token.size()) return std::nullopt;
  for (std::size_t i = 0; i < token.size(); ++i) {
    const char* const at = text.data() + 2 * i;
    std::uint8_t byte = 0;
    const auto [end, error] = std::from_chars(at, at + 2, byte, 16);
    if (error != std::errc() || end != at + 2) return std::nullopt;
    token[i] = std::byte{byte};
  }
  return token;
}

std::string_view Word(ErrorCode code) {
  return code == ErrorCode::kOther ? "other" : WordOf(kErrorWords, code);
}

bool IsProtocol(std::string_view text) {
  return !text.empty() && text.size() <= kProtocolBytesMax &&
         std::ranges::all_of(text, [](char c) { return c >= ' ' && c <= '~'; });
}

bool IsWireName(std::string_view text) {
  const auto is_fine = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c >= '0' && c <= '9') ||
           std::string_view("_-.:/").find(c) != std::string_view::npos;
  };
  return !text.empty() && text.size() <= kWireNameBytesMax &&
         std::ranges::all_of(text, is_fine);
}

bool IsPlayerId(std::string_view text) {
  constexpr std::size_t kDigitsMax = 10;
  if (text.size() < 2 || text.size() > 1 + kDigitsMax) return false;
  return text[0] == 'p' && text[1] != '0' &&
         std::ranges::all_of(text.substr(1),
                             [](char c) { return c >= '0' && c <= '9'; });
}

bool IsJsonText(std::string_view text, int depth_max) {
  return CheckJson(text, depth_max) == JsonError::kNone;
}

bool IsJsonObject(std::string_view text, int depth_max) {
  return IsJsonText(text, depth_max) && IsObject(Trimmed(text));
}

}  // namespace parlor::authority
