// The text frames of an authority room: one JSON object a message, told apart
// by its member "t". authority/WIRE.md describes each, authority/wire.json
// does so for programs, and frames_test.cc pins the text of every one.
//
// Parsing is strict, since the bytes are a stranger's: the whole text is valid
// JSON, no object has a key twice, no value is nested deeper than kDepthMax,
// no number is too large for a double, every member has its type and range.
// What a newer peer may add is let through: members that are not known are
// ignored (valid JSON they must be), and a `t` that is not known makes an
// IgnoredFrame. A refusal says what was wrong by names of ours, never by text
// that came, so it may be logged. Nothing throws.
//
// "JSON text" below is the text of one JSON value, as a std::string, valid by
// the rules above. What was parsed holds the value's own bytes as they came,
// its spaces included; what is written is copied into the frame unread, so a
// writer's caller gives only what was parsed or checked (IsJsonText).
//
// Other texts are UTF-8. Writers put U+FFFD where a text is not, and escape
// what JSON wants escaped.
//
// Units: ticks are the room's, from 1. Times of the room are milliseconds
// since it began, of which an rtt frame tells the present. Positions are
// millimetres, as in transform rows. A player id is "p1", "p2", ...: one
// player of a room's life.
#ifndef PARLOR_AUTHORITY_FRAMES_H_
#define PARLOR_AUTHORITY_FRAMES_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "parlor/authority/input.h"
#include "parlor/authority/limits.h"

namespace parlor::authority {

// The WebSocket subprotocol of authority rooms.
inline constexpr std::string_view kSubprotocol = "parlor-play";

// A larger text frame of a client is refused before it is parsed. A server's
// is as large as the connection takes.
inline constexpr std::size_t kClientFrameBytesMax = 2'560;
// Of a member's value: {"a":[]} in a frame's member is two deep.
inline constexpr int kDepthMax = 32;

inline constexpr std::size_t kProtocolBytesMax = 64;
inline constexpr std::size_t kFieldsBytesMax = 1'024;  // of join's `fields`
inline constexpr std::size_t kCodecsMax = 8;           // that a join offers
inline constexpr std::size_t kCodecBytesMax = 32;      // a codec's name
// A message's name and a published key: letters, digits and _ - . : /
inline constexpr std::size_t kWireNameBytesMax = 64;
inline constexpr int kSeatMax = static_cast<int>(limits::kSeats.ceiling) - 1;

// 128 random bits. Compare with ConstantTimeEquals (constant_time.h). On the
// wire 32 hexadecimal digits, lower case; read in any case.
using ResumeToken = std::array<std::byte, 16>;

// What an error frame is about. On the wire the word in quotes.
enum class ErrorCode : std::uint8_t {
  kProtocol,          // "protocol": not the one this room speaks
  kName,              // "name": not one that a player may have (name_rule.h)
  kFull,              // "full": every seat is taken or held
  kLocked,            // "locked": the leader let nobody else in
  kBanned,            // "banned"
  kRefused,           // "refused": by the game, whose reason is `message`
  kResumeRefused,     // "resume_refused": a token that opens no seat
  kBudget,            // "budget": too many texts; the first refused of a run
  kRate,              // "rate": too many of one kind, chat or publish
  kPayload,           // "payload": not what the frame or message may hold
  kQuota,             // "quota": a publish beyond what a player may keep
  kNotLeader,         // "not_leader": only the host may do this
  kBanNeedsIdentity,  // "ban_needs_identity": the player has no proven one
  kBanListFull,       // "ban_list_full"
  kEnded,             // "ended": the room is over
  kOther,             // read: a word that this build does not know
};

// ---- What a client sends.

// The first frame on a connection: give me a seat, or mine back.
struct JoinFrame {
  std::string protocol = {};
  std::string name = {};                 // IsName (name_rule.h)
  std::string fields = "{}";             // JSON text, an object; the game's
  std::vector<std::string> codecs = {};  // of state frames, the best first
  std::optional<ResumeToken> resume = std::nullopt;

  friend bool operator==(const JoinFrame&, const JoinFrame&) = default;
};

// The newest tick whose snapshot was applied.
struct AckFrame {
  std::uint32_t tick = 0;

  friend bool operator==(const AckFrame&, const AckFrame&) = default;
};

// A game's own message (message.h), of a name it declared.
struct MsgFrame {
  std::string name = {};
  std::string payload = "null";  // JSON text

  friend bool operator==(const MsgFrame&, const MsgFrame&) = default;
};

// Relay rooms: a row of the sender's own.
struct PublishFrame {
  std::string key = {};
  std::string value = "null";  // JSON text

  friend bool operator==(const PublishFrame&, const PublishFrame&) = default;
};

struct UnpublishFrame {
  std::string key = {};

  friend bool operator==(const UnpublishFrame&,
                         const UnpublishFrame&) = default;
};

struct ChatFrame {
  std::string text = {};  // IsChatText (name_rule.h)

  friend bool operator==(const ChatFrame&, const ChatFrame&) = default;
};

enum class PingKind : std::uint8_t { kHere, kHelp, kBall };

struct PingFrame {
  PingKind kind = PingKind::kHere;

  friend bool operator==(const PingFrame&, const PingFrame&) = default;
};

enum class ModAction : std::uint8_t { kLock, kUnlock, kKick, kBan };

// What the leader does.
struct ModFrame {
  ModAction action = ModAction::kLock;
  std::string target = {};  // a player id for kick and ban, else empty

  friend bool operator==(const ModFrame&, const ModFrame&) = default;
};

struct RttFrame {
  double at = 0;  // the client's own clock, whatever that is; finite

  friend bool operator==(const RttFrame&, const RttFrame&) = default;
};

// I stalled and want a baseline.
struct ResyncFrame {
  friend bool operator==(const ResyncFrame&, const ResyncFrame&) = default;
};

// I am gone for good.
struct LeaveFrame {
  friend bool operator==(const LeaveFrame&, const LeaveFrame&) = default;
};

// ---- What a room sends.

// The seat is yours. On every join and resume, with a fresh token.
struct WelcomeFrame {
  std::string player = {};  // the receiver's id
  int seat = 0;
  ResumeToken token{};
  std::string protocol = {};
  std::string codec = {};     // the one of the state frames that follow
  std::string schema = "{}";  // JSON text, an object: Schema::ToJson
  int tick_hz = 60;           // within limits::kTickHz
  int snapshot_hz = 20;       // within limits::kSnapshotHz
  std::uint32_t epoch = 0;
  std::uint32_t tick = 0;
  std::uint32_t entity = 0;   // the row that the seat controls; 0: none
  std::int64_t grace_ms = 0;  // a dropped seat is held so long

  friend bool operator==(const WelcomeFrame&, const WelcomeFrame&) = default;
};

struct RosterPlayer {
  std::string id = {};
  int seat = 0;
  std::string name = {};
  bool connected = true;  // false: dropped, the seat is held
  bool host = false;

  friend bool operator==(const RosterPlayer&, const RosterPlayer&) = default;
};

// Everyone, by seat; on every change.
struct RosterFrame {
  std::vector<RosterPlayer> players = {};  // at most one a seat
  bool locked = false;

  friend bool operator==(const RosterFrame&, const RosterFrame&) = default;
};

// What the game set for this player alone. null takes it back.
struct TickEvent {
  enum class Kind : std::uint8_t { kCamera, kHud };
  Kind kind = Kind::kCamera;
  std::string value = "null";  // JSON text, an object or null

  friend bool operator==(const TickEvent&, const TickEvent&) = default;
};

// Of a reader; a room sends at most one of each kind.
inline constexpr std::size_t kTickEventsMax = 16;

struct TickFrame {
  std::uint32_t tick = 0;
  std::uint32_t ack = 0;     // the newest input seq that a tick applied
  std::uint32_t entity = 0;  // as in WelcomeFrame
  std::vector<TickEvent> events = {};

  friend bool operator==(const TickFrame&, const TickFrame&) = default;
};

// `from` of a message that the room's game sent itself.
inline constexpr int kAuthoritySender = -1;

struct RoomMsgFrame {
  int from = kAuthoritySender;  // or a seat
  std::string name = {};
  std::string payload = "null";  // JSON text

  friend bool operator==(const RoomMsgFrame&, const RoomMsgFrame&) = default;
};

struct RoomChatFrame {
  std::uint32_t id = 0;   // counts a room's chat, from 1
  std::string from = {};  // a player id; may be of one who left
  std::string name = {};  // that player's, when it was said
  std::string text = {};
  std::int64_t at = 0;  // time of the room

  friend bool operator==(const RoomChatFrame&, const RoomChatFrame&) = default;
};

struct RoomPingFrame {
  std::string from = {};  // a player id
  PingKind kind = PingKind::kHere;
  std::array<std::int32_t, 3> position{};  // mm
  std::int64_t expires_at = 0;             // time of the room

  friend bool operator==(const RoomPingFrame&, const RoomPingFrame&) = default;
};

struct RoomRttFrame {
  double at = 0;            // as in the RttFrame that it answers
  std::int64_t server = 0;  // time of the room

  friend bool operator==(const RoomRttFrame&, const RoomRttFrame&) = default;
};

struct ErrorFrame {
  ErrorCode code = ErrorCode::kOther;
  std::string message = {};  // for people; may be empty

  friend bool operator==(const ErrorFrame&, const ErrorFrame&) = default;
};

// ---- Reading.

// A frame whose `t` this build does not know.
struct IgnoredFrame {
  friend bool operator==(const IgnoredFrame&, const IgnoredFrame&) = default;
};

// A baseline, delta or recovery as JSON: the state codec's to read, all of it.
// Nothing but `t` was looked at.
struct StateTextFrame {
  friend bool operator==(const StateTextFrame&,
                         const StateTextFrame&) = default;
};

enum class FrameError : std::uint8_t {
  kTooLarge,      // above kClientFrameBytesMax
  kSyntax,        // not JSON, not UTF-8, or text behind it
  kDepth,         // nested deeper than kDepthMax
  kDuplicateKey,  // an object has a key twice
  kNumber,        // 1e999
  kNotAFrame,     // not an object, or no `t` that is a text
  kMember,        // `member` is missing, or not what it has to be
};

struct FrameRefusal {
  FrameError error = FrameError::kSyntax;
  // With kMember: which member of which frame, as WIRE.md spells them. Static.
  std::string_view frame = {};
  std::string_view member = {};
  // What an error frame would call it: "protocol", "name" and "resume_refused"
  // for those members of a join, "payload" for all else.
  ErrorCode code = ErrorCode::kPayload;

  friend bool operator==(const FrameRefusal&, const FrameRefusal&) = default;
};

// "join.name: missing or not what it has to be", "nested too deep".
std::string Describe(const FrameRefusal& refusal);

using ClientFrame =
    std::variant<FrameRefusal, IgnoredFrame, JoinFrame, InputFrame, AckFrame,
                 MsgFrame, PublishFrame, UnpublishFrame, ChatFrame, PingFrame,
                 ModFrame, RttFrame, ResyncFrame, LeaveFrame>;

using ServerFrame =
    std::variant<FrameRefusal, IgnoredFrame, StateTextFrame, WelcomeFrame,
                 RosterFrame, TickFrame, RoomMsgFrame, RoomChatFrame,
                 RoomPingFrame, RoomRttFrame, ErrorFrame>;

ClientFrame ParseClientFrame(std::string_view text);
// A state frame whose `t` comes first, as writers of ours put it, costs no
// more than that.
ServerFrame ParseServerFrame(std::string_view text);

// ---- Writing. Members in WIRE.md's order, no spaces; optional members that
// hold their default are left out.

std::string Write(const JoinFrame& frame);
std::string Write(const InputFrame& frame);
std::string Write(const AckFrame& frame);
std::string Write(const MsgFrame& frame);
std::string Write(const PublishFrame& frame);
std::string Write(const UnpublishFrame& frame);
std::string Write(const ChatFrame& frame);
std::string Write(const PingFrame& frame);
std::string Write(const ModFrame& frame);
std::string Write(const RttFrame& frame);
std::string Write(const ResyncFrame& frame);
std::string Write(const LeaveFrame& frame);

std::string Write(const WelcomeFrame& frame);
std::string Write(const RosterFrame& frame);
std::string Write(const TickFrame& frame);
std::string Write(const RoomMsgFrame& frame);
std::string Write(const RoomChatFrame& frame);
std::string Write(const RoomPingFrame& frame);
std::string Write(const RoomRttFrame& frame);
std::string Write(const ErrorFrame& frame);

// ---- Pieces that others need too.

std::string TokenText(const ResumeToken& token);
// Nothing for what is not 32 hexadecimal digits.
std::optional<ResumeToken> ParseToken(std::string_view text);

// The word on the wire; "other" for kOther.
std::string_view Word(ErrorCode code);

// 1..kProtocolBytesMax printable ASCII characters.
bool IsProtocol(std::string_view text);
// 1..kWireNameBytesMax letters, digits and _ - . : / (all ASCII).
bool IsWireName(std::string_view text);
// "p" and 1..10 digits, the first not 0.
bool IsPlayerId(std::string_view text);

// One JSON value and nothing else, valid by the rules above; `depth_max` is
// that of the value itself: a number or text is 0 deep, [] and {} are 1.
bool IsJsonText(std::string_view text, int depth_max = kDepthMax);
bool IsJsonObject(std::string_view text, int depth_max = kDepthMax);

}  // namespace parlor::authority

#endif  // PARLOR_AUTHORITY_FRAMES_H_
