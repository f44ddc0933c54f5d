// Peer: the client side of a lockstep room. It joins, waits in the lobby, sends
// one input a step, runs a frame when every seat's input is in, compares
// hashes, comes back after a drop, and puts bots in seats that were left.
//
// The game drives it: Step() once a fixed step (FixedStep in fixed_step.h says
// when), OnAlarm() when next_alarm() has come. Everything it learns is read
// from getters; the only calls out are Game's, from inside Step and from the
// pump that delivers WELCOME.
//
// One thread, the one that its connections live on. The connector and the game
// outlive it; the game may call Leave() in its callbacks, but not destroy the
// peer there.
#ifndef PARLOR_LOCKSTEP_PEER_H_
#define PARLOR_LOCKSTEP_PEER_H_

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "parlor/connection.h"
#include "parlor/connector.h"
#include "parlor/lockstep/wire.h"
#include "parlor/random.h"
#include "parlor/time.h"

namespace parlor::lockstep {

// What WELCOME said, and what this peer adds. A game keeps `mode` and `delay`
// and its rules' version in the state it hashes: then another build, other
// options or another delay differ at frame 0, before anyone has played.
struct Match {
  int seat = 0;
  int players = 0;  // seats in the match
  int size = 0;     // seats the room was opened for; the game fills the rest
  std::uint32_t seed = 0;
  std::uint8_t mode = 0;
  int delay = 0;
};

class DescribedState;  // state_description.h

// The simulation: the same on every peer for the same seed and inputs.
class Game {
 public:
  virtual ~Game() = default;
  virtual void OnStart(const Match& match) = 0;
  // This player's input word for `frame`, asked once a frame, in order, from
  // frame `delay` on (earlier frames are 0 for everyone).
  virtual std::uint32_t Input(std::uint32_t frame) = 0;
  // Runs `frame`. inputs[s] is seat s's word; where bit s of `bots` is set the
  // seat was left, the word is 0, and the game's own bot plays it.
  virtual void Step(std::uint32_t frame, std::span<const std::uint32_t> inputs,
                    std::uint32_t bots) = 0;
  // Of the state as it is between two frames.
  virtual std::uint32_t Hash() = 0;
  // The state as fields with names, from OnStart on, or null: then a difference
  // can be told to a frame, and no further (desync.h).
  virtual DescribedState* described() { return nullptr; }
};

// What happens to a seat that was left (LEAVE).
enum class LeftSeat : std::uint8_t {
  kBot,   // Game::Step is told to play it from its first missing frame on
  kWait,  // the match stalls there: the game decides, by Leave()
  kEnd,   // the match ends for this peer
};

struct PeerOptions {
  int delay = 2;        // frames between an input and its use, 1..31
  int hash_every = 30;  // frames between two HASHes, 1..100,000
  LeftSeat left_seat = LeftSeat::kBot;
  // Coming back after a drop: tries, the first wait (doubling), and how long
  // one try may take to open. 250 ms x (1+2+4+8+16+32) = 15.75 s, inside the
  // room's hold of 20 s.
  int retries = 6;
  std::int64_t retry_ms = 250;
  std::int64_t connect_ms = 3'000;
  // For the jitter after a restart (1012), so that not all come at once.
  std::uint64_t jitter_seed = 0;
};

// InvalidArgument names the option, its value and the range.
absl::Status ValidateOptions(const PeerOptions& options);

enum class PeerState : std::uint8_t {
  kIdle,          // Join was not called yet
  kConnecting,    // the first connection is being opened
  kLobby,         // connected, before WELCOME
  kPlaying,       // the match runs
  kReconnecting,  // the link was lost; the seat is held while it tries
  kEnded,         // over: end() says why
};

enum class PeerEnd : std::uint8_t {
  kNone,
  kLeft,           // Leave() was called
  kRefused,        // the first join, or a resume for good: end_refusal()
  kConnectFailed,  // the first connection never opened
  kClosed,         // the room or the host closed: end_code(), end_text()
  kRetriesSpent,   // could not come back in time
  kSeatLeft,       // another seat left, under LeftSeat::kEnd
  kHole,           // inputs are missing that no one will send again
  kAhead,          // a seat ran further ahead than can be kept
  kOtherBuild,     // hashes differ at frame 0: other rules, options or delay
  kProtocol,       // the room sent what no room sends
};

struct PeerCounters {
  std::uint64_t stalls = 0;   // steps in which no frame could run
  std::uint64_t dropped = 0;  // unknown and repeated messages
  std::uint64_t resumes = 0;  // times this peer came back
  std::uint64_t resends = 0;  // inputs sent again
};

enum class StepResult : std::uint8_t { kRan, kStalled, kNotPlaying };

class Peer final : private ConnectionHandler {
 public:
  // `options` are valid.
  Peer(Connector& connector, Game& game, const PeerOptions& options);
  ~Peer();
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;

  // Opens the first connection; once, in kIdle. hello.players is the room's
  // size and hello.resume is absent.
  void Join(TimePoint now, const Hello& hello);

  // The host's START: begin once `players` are seated (0: now). False, and
  // nothing sent, unless this peer is seat 0 in a lobby.
  bool Start(int players, std::uint8_t mode);

  // One fixed step: sends the inputs that are due, then runs one frame if every
  // seat's input is in.
  StepResult Step(TimePoint now);

  // Sends what Step would, and runs no frame: for a game that stands at its
  // last one while its seat comes back, or while others still come back and ask
  // for its inputs.
  void Flush(TimePoint now);
  // In a match, and connected; and nothing that was asked from the game waits
  // to be sent: the others have, or will get, all that they need of this seat
  // to run the frames below frame() + delay.
  bool all_said() const;

  // Ends it in order (close 1000), from any state: cancels a join and a
  // reconnect too. Keep the peer until it is closed(): one that is destroyed
  // before looks like a lost link to the room, which holds its seat.
  void Leave();

  // No connection is open or opening: once it has ended, the room has been
  // told, or there is no one to tell.
  bool closed() const { return connection_ == nullptr; }

  void OnAlarm(TimePoint now);
  TimePoint next_alarm() const { return alarm_; }

  PeerState state() const { return state_; }
  int seat() const { return seat_; }      // -1 before the lobby
  int size() const { return size_; }      // the room's
  int seated() const { return seated_; }  // in the lobby
  const std::optional<Match>& match() const { return match_; }
  std::uint32_t frame() const { return frame_; }  // the next frame to run
  // Masks of seats: gone (LEAVE); held (AWAY), the own one too while it tries
  // to come back; and played by a bot at frame().
  std::uint32_t lost() const { return lost_; }
  std::uint32_t away() const { return away_; }
  std::uint32_t bots() const;
  // Mask of the seats that frame() stands still for: their input is not in.
  std::uint32_t waiting_for() const;
  // Tries to come back since the link was lost: begun, and the most there are.
  int tries() const { return tries_; }
  int retries() const { return options_.retries; }
  // The first frame whose hashes differed and whose differed, or -1.
  std::int64_t desync() const { return desync_; }
  int desync_seat() const { return desync_seat_; }
  // The last frame, before any that differed, whose hash `seat` said and was
  // the own one, or -1.
  std::int64_t agreed(int seat) const;
  const PeerCounters& counters() const { return counters_; }

  PeerEnd end() const { return end_; }
  CloseCode end_code() const { return end_code_; }
  // The HTTP status, 0 if there was none.
  std::uint16_t end_refusal() const { return end_refusal_; }
  // In words, for a player: "seat 2 plays another build of this game, or with
  // other options". A peer's own words are never part of it.
  std::string_view end_text() const { return end_text_; }

 private:
  struct Seat;
  // Own words by frame: a resend goes back delay + 1 frames, and the newest
  // word is `delay` ahead. While down against seats that ran far ahead, older
  // words are lost with the frames that ran.
  static constexpr std::uint32_t kOwnWords = 128;

  void OnOpen(TimePoint now, Connection& connection) override;
  void OnMessage(TimePoint now, Connection& connection, Lane lane,
                 MessageKind kind, std::span<const std::byte> bytes) override;
  void OnClose(TimePoint now, Connection& connection,
               const CloseEvent& event) override;

  // By phase: what a message means in the lobby, in the match, and while coming
  // back.
  void OnLobbyMessage(TimePoint now, const Message& message);
  void OnMatchMessage(const Message& message);
  void OnResumeMessage(const Message& message);

  void OnWelcome(TimePoint now, const Message& message);
  void OnInput(const Message& message);
  void OnGap(int seat, Seat& from);
  void OnHash(const Message& message);
  void OnLeave(int seat);
  void OnOwnResume();

  void AskInput();
  void SendInputs(TimePoint now);
  void StartResend();
  void SendHashes(TimePoint now);
  void Run();
  void TakeHash(TimePoint now);
  void Compare(int seat, std::uint32_t frame, std::uint32_t own,
               std::uint32_t theirs);

  void Connect(TimePoint now);
  void ScheduleTry(TimePoint now, CloseCode code);
  bool HasBudget(TimePoint now) const;
  void Send(TimePoint now, const Message& message);
  // Closes with `reason` where a connection is open, and stays in kEnded.
  void End(PeerEnd end, CloseReason reason, std::string text);
  void Finish(PeerEnd end, CloseCode code, std::string text);

  std::uint32_t Bit(int seat) const { return std::uint32_t{1} << seat; }
  std::uint32_t delay() const {
    return static_cast<std::uint32_t>(options_.delay);
  }
  bool InMatch() const {
    return state_ == PeerState::kPlaying || state_ == PeerState::kReconnecting;
  }

  Connector& connector_;
  Game& game_;
  const PeerOptions options_;
  Random jitter_;

  PeerState state_ = PeerState::kIdle;
  PeerEnd end_ = PeerEnd::kNone;
  CloseCode end_code_ = 0;
  std::uint16_t end_refusal_ = 0;
  std::string end_text_;

  // The one connection: until its OnClose came, or its try was given up.
  std::unique_ptr<Connection> connection_;
  Hello hello_;
  std::uint32_t token_ = 0;
  bool welcomed_ = false;     // on this connection
  int tries_ = 0;             // begun since the link was lost
  TimePoint alarm_ = kNever;  // a try's end, or the next try's begin
  TimePoint budget_{};        // GCRA: when all that was sent is paid

  int seat_ = -1;
  int size_ = 0;
  int seated_ = 0;
  std::optional<Match> match_;
  std::vector<Seat> seats_;
  std::uint32_t frame_ = 0;
  std::uint32_t lost_ = 0;
  std::uint32_t away_ = 0;
  std::int64_t desync_ = -1;
  int desync_seat_ = -1;
  PeerCounters counters_;

  // Own inputs. Frames [.., said_end_) were asked from the game; those below
  // sent_end_ were given to a connection once; send_next_ goes on the wire
  // next. A resend sets it back, and newer inputs wait their turn behind: one
  // of them sent first would kill the older frames for good.
  std::array<std::uint32_t, kOwnWords> words_{};
  std::uint32_t said_end_ = 0;
  std::uint32_t sent_end_ = 0;
  std::uint32_t send_next_ = 0;
  std::uint32_t resend_end_ = 0;  // below: under the send budget
  bool resend_wanted_ = false;
  std::uint32_t hash_next_ = 0;  // the next own hash to send
};

}  // namespace parlor::lockstep

#endif  // PARLOR_LOCKSTEP_PEER_H_
