// Peer: the client side of an authority room. It joins, applies the state that
// the room sends, sends one input a step, moves its own body at once, says
// where the others are to be drawn, hands messages both ways, and comes back
// after a drop.
//
// The game drives it: Step() once a fixed step (fixed_step.h says when; the
// room's tick rate is in welcome()), SetDrawTime() once a picture, OnAlarm()
// when next_alarm() has come. Everything it learns is read from getters; the
// only calls out are PeerOptions::move and the checks of messages, from inside
// Step.
//
// State frames are kept until the next Step, which applies the newest ones: a
// page that slept does not work through what it missed. What is kept is
// bounded: one baseline, kStateFramesMax others, kMessagesMax messages.
//
// One thread, the one that its connections live on. The connector, the schema
// and the messages outlive it.
#ifndef PARLOR_AUTHORITY_PEER_H_
#define PARLOR_AUTHORITY_PEER_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "parlor/authority/context.h"
#include "parlor/authority/frames.h"
#include "parlor/authority/interpolation.h"
#include "parlor/authority/message.h"
#include "parlor/authority/prediction.h"
#include "parlor/authority/row_table.h"
#include "parlor/authority/state_receiver.h"
#include "parlor/connection.h"
#include "parlor/connector.h"
#include "parlor/random.h"
#include "parlor/time.h"

namespace parlor::authority {

struct PeerOptions {
  // The game and the version of its rules, as the room has it: IsProtocol
  // (frames.h).
  std::string protocol{};
  // State codecs, the best first: "binary", "json" or both.
  std::vector<std::string> codecs{"binary", "json"};
  // The movement of a player's own body, for a game that predicts it.
  Move move = nullptr;
  // Coming back after a drop: tries, the first wait (doubling), and how long
  // one try may take until its welcome. 200 ms x (1+2+4+8+16+32) = 12.6 s,
  // inside the room's hold of 15 s.
  int retries = 6;
  std::int64_t retry_ms = 200;
  std::int64_t connect_ms = 3'000;
  // For the jitter after a restart (1012), so that not all come at once.
  std::uint64_t jitter_seed = 0;
};

// InvalidArgument names the option, its value and the range.
absl::Status ValidateOptions(const PeerOptions& options);

// Who joins, as the player says. The room may refuse it.
struct PlayerProfile {
  std::string name{};         // IsName (parlor/name_rule.h)
  std::string fields = "{}";  // a JSON object for the game, <= kFieldsBytesMax
};

// What the player does, as it is at a step; what happens between steps is told
// by Press and Shift.
struct Controls {
  std::uint64_t held = 0;  // bit n: button n is down
  Axes axes{};             // where sticks are
};

enum class PeerState : std::uint8_t {
  kIdle,          // Join was not called yet
  kConnecting,    // the first connection is being opened
  kJoining,       // it is open, and join was said
  kPlaying,       // welcome came; state does soon
  kReconnecting,  // the link was lost; the seat is held while it tries
  kEnded,         // over: end() says why
};

enum class PeerEnd : std::uint8_t {
  kNone,
  kLeft,           // Leave() was called
  kRefused,        // by the gate (end_refusal()) or the room (end_error())
  kConnectFailed,  // the first connection never came to a welcome
  kClosed,         // the room or the host closed: end_code(), end_text()
  kRetriesSpent,   // could not come back in time
  kOtherGame,      // the room plays another game, or another version of it
  kProtocol,       // the room sent what no room sends
};

struct PeerCounters {
  std::uint64_t ignored = 0;     // frames out of place or of no known kind
  std::uint64_t errors = 0;      // error frames in play: last_error()
  std::uint64_t received = 0;    // messages kept for the game
  std::uint64_t dropped = 0;     // messages that were not: name, check
  std::uint64_t overflown = 0;   // messages that gave way to newer ones, unread
  std::uint64_t unsent = 0;      // sends of the game's that were refused
  std::uint64_t skipped = 0;     // state frames that a newer one came before
  std::uint64_t stale = 0;       // state frames that were late, or of another
                                 // baseline
  std::uint64_t recoveries = 0;  // shown
  std::uint64_t resyncs = 0;     // asked for
  std::uint64_t resumes = 0;     // times this peer came back
  std::uint64_t dead_links = 0;  // given up for their silence
};

class Peer final : private ConnectionHandler {
 public:
  // Between two steps. 1,024 messages are seconds of a busy room; the oldest
  // give way.
  static constexpr std::size_t kMessagesMax = 1'024;
  static constexpr std::size_t kStateFramesMax = 4;
  // A link that is silent for so long is dead (contract).
  static constexpr Duration kSilenceMax = 2 * kSecond;
  // No step, or no state that applies, for so long is a stall; and a resync is
  // asked for no oftener (contract).
  static constexpr Duration kStall = kSecond;
  static constexpr Duration kRttInterval = kSecond;

  // `schema` and `messages` are the game's, as the room has them: a welcome
  // with another schema ends the peer. `options` are valid.
  Peer(Connector& connector, const Schema& schema, const Messages& messages,
       PeerOptions options);
  ~Peer();
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;

  // Opens the first connection; once, in kIdle. `hello` has no resume token:
  // that of an authority room is said in join. InvalidArgument, and nothing
  // done, for a profile that no room may take.
  absl::Status Join(TimePoint now, const Hello& hello,
                    const PlayerProfile& profile);

  // Buttons that go down and what moves between two steps, such as a mouse:
  // part of the next step's input, however short a tap was. A button that is
  // held and was not in the step before counts as pressed without it.
  void Press(std::uint64_t buttons);
  void Shift(std::size_t axis, std::int32_t by);  // axis < kAxes
  // A window without focus hears of no button that goes up: everything is
  // released in the next step, and neutral until it has the focus again.
  void SetFocus(bool has_focus);

  // One fixed step: applies the newest state, hands over messages, and sends
  // this step's input. False, and nothing sent, unless kPlaying; what was
  // pressed meanwhile is forgotten then.
  bool Step(TimePoint now, const Controls& controls);

  // Sends `payload`, JSON, as the declared message `name` to the room. False,
  // and counted as unsent, where it was not declared, is the engine's or does
  // not pass its check; and where not connected, which is not counted.
  bool Send(std::string_view name, std::string_view payload);

  // Ends it in order (leave and close 1000), from any state: cancels a join
  // and a reconnect too. Keep the peer until it is closed(): one that is
  // destroyed before looks like a lost link to the room, which holds its seat.
  void Leave();
  // No connection is open or opening.
  bool closed() const { return connection_ == nullptr; }

  void OnAlarm(TimePoint now);
  TimePoint next_alarm() const { return alarm_; }

  // --- The player

  PeerState state() const { return state_; }
  // What the newest welcome said; nothing before the first. Its token is
  // cleared.
  const std::optional<WelcomeFrame>& welcome() const { return welcome_; }
  int seat() const { return welcome_ ? welcome_->seat : -1; }
  // By seat; fields and identities are the authority's alone, and of entities
  // only the own one is known.
  std::span<const Player> players() const { return players_; }
  bool locked() const { return locked_; }
  // The row that this player controls; 0: none.
  std::uint32_t entity() const { return entity_; }
  // JSON objects or "null". What the authority set wins over what the client's
  // own systems did.
  std::string_view camera() const { return camera_.shown(); }
  std::string_view hud() const { return hud_.shown(); }

  // --- The state. Before the first baseline there are no rows; while the peer
  // comes back they are the last ones.

  const RowTable& rows() const { return shown_->rows(); }
  std::uint32_t epoch() const { return shown_->epoch(); }
  std::uint32_t tick() const { return shown_->tick(); }
  // Shown for now, until the room sends a baseline again.
  bool shows_recovery() const { return shown_->shows_recovery(); }

  // The moment that Drawn is of (interpolation.h).
  void SetDrawTime(TimePoint now);
  // Where a transform row is to be drawn; nothing for another row.
  std::optional<Transform> Drawn(RowId row) const;
  Duration drawn_behind() const;

  // The own body as predicted; nothing without PeerOptions::move, and before
  // the room's first own body.
  const OwnBody* body() const;
  PredictionCounters prediction() const;

  // --- Messages and the rest

  // What came between the two last steps.
  std::span<const ReceivedMessage> messages() const { return messages_; }
  // For the client's systems (systems.h), between a Step and the next call.
  // From the first welcome on.
  Context& context();

  // The newest input sent on this connection, and the newest that the room
  // said a tick applied.
  std::uint32_t seq() const { return input_.seq; }
  std::uint32_t acked_seq() const { return acked_seq_; }
  // Smoothed; nothing before the first answer.
  std::optional<Duration> rtt() const { return rtt_; }
  // Tries to come back since the link was lost: begun, and the most there are.
  int tries() const { return tries_; }
  int retries() const { return options_.retries; }
  const PeerCounters& counters() const { return counters_; }
  // Of the newest error frame in play.
  std::optional<ErrorCode> last_error() const { return last_error_; }

  PeerEnd end() const { return end_; }
  CloseCode end_code() const { return end_code_; }
  // The HTTP status, 0 if there was none.
  std::uint16_t end_refusal() const { return end_refusal_; }
  std::optional<ErrorCode> end_error() const { return end_error_; }
  // In words, for a player. A room's own words are part of it only where its
  // game refused the join, and then made printable.
  std::string_view end_text() const { return end_text_; }

 private:
  class ClientContext;

  // A state frame that waits for the next step.
  struct StateFrame {
    TimePoint at;
    MessageKind kind = MessageKind::kBinary;
    std::vector<std::byte> bytes;
  };
  // A camera or HUD.
  struct View {
    std::string authority = "null";
    std::string own = "null";
    std::string_view shown() const {
      return authority == "null" ? own : authority;
    }
  };
  // Which body an own body is: another one was not predicted.
  struct BodyOf {
    std::uint32_t epoch = 0;
    std::uint32_t entity = 0;
    std::int64_t teleports = 0;
    friend bool operator==(const BodyOf&, const BodyOf&) = default;
  };

  void OnOpen(TimePoint now, Connection& connection) override;
  void OnMessage(TimePoint now, Connection& connection, Lane lane,
                 MessageKind kind, std::span<const std::byte> bytes) override;
  void OnClose(TimePoint now, Connection& connection,
               const CloseEvent& event) override;

  // What the room says.
  void OnText(TimePoint now, std::span<const std::byte> bytes);
  void OnWelcome(TimePoint now, WelcomeFrame&& welcome);
  void BeginConnection(TimePoint now);
  std::string_view WrongWelcome(const WelcomeFrame& welcome) const;
  void OnInPlay(TimePoint now, ServerFrame&& frame);
  void OnRoster(RosterFrame&& roster);
  void OnTick(TickFrame&& tick);
  void OnRoomMessage(RoomMsgFrame&& message);
  void OnError(const ErrorFrame& error);
  void OnRtt(TimePoint now, const RoomRttFrame& rtt);
  void Keep(TimePoint now, MessageKind kind, std::span<const std::byte> bytes);

  // A step.
  void ApplyState(TimePoint now);
  bool Apply(TimePoint now, const StateFrame& frame);
  void ShowRows(TimePoint at);
  void CorrectBody();
  void HandMessages();
  void SendInput(const Controls& controls);
  void AskAgain(TimePoint now);

  void Connect(TimePoint now);
  void ScheduleTry(TimePoint now, CloseCode code);
  void OnLost(TimePoint now, CloseCode code);
  void OnSilence(TimePoint now);
  void SendText(std::string_view text);
  // Closes with `reason` where a connection is open, and stays in kEnded.
  void End(PeerEnd end, CloseReason reason, std::string_view text);
  void Finish(PeerEnd end, CloseCode code, std::string_view text);

  Connector& connector_;
  const Schema& schema_;
  const std::string schema_json_;
  const Messages& known_;
  const PeerOptions options_;
  Random jitter_;

  PeerState state_ = PeerState::kIdle;
  PeerEnd end_ = PeerEnd::kNone;
  CloseCode end_code_ = 0;
  std::uint16_t end_refusal_ = 0;
  std::optional<ErrorCode> end_error_;
  std::string end_text_;

  // The one connection: until its OnClose came, or it was given up.
  std::unique_ptr<Connection> connection_;
  Hello hello_;
  PlayerProfile profile_;
  std::optional<ResumeToken> token_;  // the newest that was issued
  int tries_ = 0;                     // begun since the link was lost
  TimePoint alarm_ = kNever;  // a try's end, the next's begin, or silence's
  TimePoint heard_{};         // anything, on this connection

  std::optional<WelcomeFrame> welcome_;
  std::vector<Player> players_;
  bool locked_ = false;
  std::uint32_t entity_ = 0;
  View camera_;
  View hud_;
  std::unique_ptr<ClientContext> context_;

  // Frames that wait: the newest baseline, and the newest others, the oldest
  // first.
  std::optional<StateFrame> baseline_;
  std::deque<StateFrame> frames_;
  // What is shown; and after a welcome the new connection's, until its first
  // state is there.
  std::unique_ptr<StateReceiver> shown_;
  std::unique_ptr<StateReceiver> coming_;
  TimePoint applied_{};  // when a frame was, or this connection began
  std::uint32_t drawn_tick_ = 0;
  std::uint32_t drawn_epoch_ = 0;
  std::optional<Interpolator> drawn_;
  std::vector<RowPlace> places_;  // reused
  std::optional<Predictor> predictor_;
  std::optional<BodyOf> body_of_;  // of the last own body

  // Controls, and the input that was sent last.
  bool has_focus_ = true;
  std::uint64_t pressed_ = 0;
  std::array<std::int64_t, kAxes> shifted_{};
  InputFrame input_;
  std::uint32_t acked_seq_ = 0;

  std::deque<RoomMsgFrame> kept_;  // for the next step
  std::vector<RoomMsgFrame> handed_;
  std::vector<ReceivedMessage> messages_;  // views of handed_

  std::optional<TimePoint> stepped_;
  bool resync_wanted_ = false;
  TimePoint resync_after_{};
  TimePoint rtt_after_{};
  std::optional<TimePoint> rtt_sent_;  // unanswered
  std::optional<Duration> rtt_;
  PeerCounters counters_;
  std::optional<ErrorCode> last_error_;
};

}  // namespace parlor::authority

#endif  // PARLOR_AUTHORITY_PEER_H_
