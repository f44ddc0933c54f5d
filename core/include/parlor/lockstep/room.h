// Room: one lockstep room. It seats connections, hands out one seed, relays
// INPUT and HASH to the other seats, and never runs the game.
//
// The room does not own connections and is not their handler: whoever is
// (a session of the host) passes every event on, with the time it came at. A
// connection given to Join or Resume must live until its OnClose was passed
// on, or the room is gone. Connections the room has put out (4000, 4001, a
// kick) stay unknown to it from then on: their late messages and closes do
// nothing.
//
// Every call that has a `now` first acts on the deadlines at or before it, so
// what a room does depends on when things happened, not on how late its alarm
// was called: a token dies with its hold, whichever comes first afterwards.
//
// One thread. No clock, no timer, no allocation after construction; what it
// has to say goes to the reliable lane by Connection::Send, which never calls
// back.
//
// With RoomOptions::gather_ms, INPUT and HASH wait in one queue a receiver, in
// the order they came. A receiver's goes out
//  - when an INPUT raises the lowest last INPUT frame of the connected seats
//    except it: before that it could run no frame more,
//  - when the first in it has waited for gather_ms,
//  - before it, or anybody else, is told AWAY, LEAVE or RESUME, and before the
//    room closes it,
//  - when the room's store for what waits is full, if it has waited longest:
//    as many messages as the largest power of two up to 8 a seat.
// A seat that is away or has left is not waited for. What each hears, and its
// order, is the same as without.
#ifndef PARLOR_LOCKSTEP_ROOM_H_
#define PARLOR_LOCKSTEP_ROOM_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "parlor/connection.h"
#include "parlor/entropy.h"
#include "parlor/limits.h"
#include "parlor/lockstep/room_state.h"
#include "parlor/lockstep/wire.h"
#include "parlor/time.h"

namespace parlor::lockstep {

// Every member keeps its Limit of limits.h; ValidateOptions says which does
// not, by the limit's name.
struct RoomOptions {
  std::int64_t hold_ms = limits::kHoldMs.fallback;
  std::int64_t lobby_ms = limits::kLobbyMs.fallback;
  std::int64_t idle_ms = limits::kIdleMs.fallback;
  std::int64_t lifetime_ms = limits::kLifetimeMs.fallback;
  std::int64_t message_rate_per_s = limits::kMessageRate.fallback;
  std::int64_t message_burst = limits::kMessageBurst.fallback;
  // What is relayed to a seat may wait so long for what else it needs for a
  // frame, and goes out with it: one write of many messages instead of many.
  // It delays no frame, since it goes as soon as every other connected seat's
  // INPUT for one is there. Who runs frames before that, by prediction, hears
  // of inputs later than he could. 0: everything is sent at once.
  std::int64_t gather_ms = limits::kGatherMs.fallback;
  // The match's seed; drawn from the entropy when absent. For replays and for
  // players who choose one.
  std::optional<std::uint32_t> seed = std::nullopt;
};

absl::Status ValidateOptions(const RoomOptions& options);

// Why the room put a connection out, or that it did not.
enum class Outcome : std::uint8_t {
  kSeated,
  kRoomFull,  // closed 4000
  kSeatGone,  // closed 4002
};

// Counted over the room's life. Each is one reason; nothing is counted twice.
struct RoomCounters {
  std::uint64_t relayed = 0;    // INPUT and HASH taken and passed on
  std::uint64_t delivered = 0;  // copies of them that connections took, so far
  std::uint64_t stale = 0;      // frame not above the seat's last
  std::uint64_t ignored = 0;    // unknown, room-only or out-of-phase kinds
  std::uint64_t kicked_rate = 0;
  std::uint64_t kicked_size = 0;
};

class Gather;
class Room;
struct ReplayEvent;

// Who writes down what happens in a room is told of it as it happens, before
// anybody else. It may not call what changes the room.
class RoomRecorder {
 public:
  // `message` is relayed: an INPUT or HASH, with its seat in it.
  virtual void OnRelay(TimePoint now, const MessageBytes& message) = 0;
  // Anything else that a room's replay log has (replay_log.h; `at` is not set):
  // from the first join to the kEnd, after which nothing comes. What is in
  // `event` lives for ever.
  virtual void OnEvent(TimePoint now, const ReplayEvent& event) = 0;

 protected:
  ~RoomRecorder() = default;
};

// Who keeps a room for another process is told of its seats before anybody
// else: what a player was told then holds, whatever becomes of this process.
class RoomKeeper {
 public:
  // The seats of a match have changed: it begins, or a seat dropped, came back,
  // left or was put out. `room` is as it is from now on, for Save, and no
  // connection has been told or closed yet. Not in a lobby, nor when a room
  // ends. It may not call what changes the room.
  virtual void OnSeats(TimePoint now, const Room& room) = 0;

 protected:
  ~RoomKeeper() = default;
};

class Room {
 public:
  enum class Phase : std::uint8_t {
    kLobby,    // waiting for seats or START
    kPlaying,  // the match runs; seats can be held
    kEnded,    // nobody is seated or held any more, or a deadline closed it
  };

  // A room for `players` seats, 1..limits::kSeats.ceiling. `options` are
  // valid. `entropy` gives the seed now and the tokens at the start, and must
  // outlive the room.
  Room(TimePoint now, int players, const RoomOptions& options,
       Entropy& entropy);
  // The match of `state`, which another room's Save wrote, going on: as if all
  // seats that have not left had dropped at `now`. Each is held in full from
  // here on; where hold_ms is 0, which would let nobody come back, for
  // limits::kHoldMs.fallback. The room is as old as it was, and its idle time,
  // counters and message bursts begin anew. options.seed does not count.
  Room(TimePoint now, const RoomState& state, const RoomOptions& options,
       Entropy& entropy);
  ~Room();
  Room(const Room&) = delete;
  Room& operator=(const Room&) = delete;

  // Seats a new connection, which has no seat here, at the lowest free seat,
  // or closes it 4000. The seat that fills the room, or the count a START
  // waits for, begins the match: the seats taken become 0..k-1.
  Outcome Join(TimePoint now, Connection& connection);

  // Seats a connection that offers a token: 1..8 hexadecimal digits. Anything
  // else, 0, and a token that no seat has: closed 4002, and nothing else
  // changes. The connection that is in the seat, if any, is closed 4001.
  Outcome Resume(TimePoint now, Connection& connection, std::string_view token);

  // Events of connections. Of one without a seat here they do nothing. The
  // lane a message came by does not matter.
  void OnMessage(TimePoint now, Connection& connection, MessageKind kind,
                 std::span<const std::byte> bytes);
  void OnControl(TimePoint now, Connection& connection);
  void OnClose(TimePoint now, Connection& connection, CloseCode code);

  // Puts a seat out, a held one too: its connection is closed with `reason`,
  // the others hear LEAVE (or LOBBY). Does nothing to a seat that nobody has.
  void Kick(TimePoint now, int seat, CloseReason reason);

  // Closes every connection with `reason` and ends the room.
  void End(TimePoint now, CloseReason reason);

  // Acts on every deadline at or before `now`. Call it when next_alarm() has
  // come; calling it early or late is harmless. Deadlines are acted on in the
  // order of their time. At one instant the room's come before the seats':
  // lobby or idle, then lifetime (each ends the room, so that nothing follows
  // it), then the ends of holds, by seat; of these the keeper hears once.
  void OnAlarm(TimePoint now);

  // Who is told of the seats, and outlives the room; nobody when null.
  void SetKeeper(RoomKeeper* keeper) { keeper_ = keeper; }

  // Who writes down what happens from here on, and outlives the room; nobody
  // when null. room_log.h has one.
  void SetRecorder(RoomRecorder* recorder) { recorder_ = recorder; }

  // What this match needs to go on elsewhere, for ParseRoomState; only while it
  // plays. Replaces what `out` holds, and allocates nothing where that has
  // StateBytesMax(players()) of capacity.
  //
  // A room that goes on from a state older than its last message needs nobody's
  // help but the peers': each sends its own inputs again from frame - delay - 1
  // on, and no seat can be further back than that (lockstep/peer.h). A seat
  // that says nothing any more has no one to do so, hence the keeper. What is
  // lost with an older state: the last inputs of a seat that was connected and
  // does not return, which some of the others may have and some not, and that
  // the seat had said them, so that a hostile one may say others. Both show in
  // HASH; where nothing of a seat that leaves was kept, the match of whoever
  // had heard it ends (PeerEnd::kHole).
  void Save(TimePoint now, std::vector<std::byte>& out) const;

  // No deadline is before this. It may have moved earlier after any call, and
  // is in general earlier than needed: OnAlarm then finds nothing to do and
  // moves it on. kNever once ended.
  TimePoint next_alarm() const { return alarm_; }

  Phase phase() const { return phase_; }
  int players() const { return players_; }  // the match's count once playing
  int opened_for() const { return opened_for_; }  // what ?players= must equal
  int seated() const;                             // connected seats
  int held() const;                               // dropped seats that are held
  int SeatOf(const Connection& connection) const;  // -1 when it has none
  const RoomCounters& counters() const { return counters_; }
  std::uint32_t seed() const { return seed_; }
  const RoomOptions& options() const { return options_; }

  // What the room holds in memory, connections excluded.
  std::size_t memory_bytes() const;

 private:
  struct Seat;
  struct Recent;

  // The next thing that time alone will do.
  struct Deadline {
    TimePoint at = kNever;
    int seat = -1;  // whose hold ends; -1: the room ends, with `reason`
    CloseReason reason{};
  };

  void Advance(TimePoint now) {
    if (now >= alarm_) OnAlarm(now);
  }
  Deadline NextDeadline() const;

  bool TakeFromRate(TimePoint now, int seat);
  void OnLobbyMessage(TimePoint now, int seat, const Message& message);
  void OnMatchMessage(TimePoint now, int seat, MessageBytes bytes);
  void RelayGathered(TimePoint now, int seat, const Message& message,
                     const MessageBytes& bytes);
  void Flush(std::uint32_t seats);
  void FlushAll();

  bool Ready() const;
  void Begin(TimePoint now);
  void DrawTokens();
  int SeatOfToken(std::uint32_t token) const;
  void TellState(Connection& connection, int seat) const;

  Connection* Unseat(int seat);
  void Drop(TimePoint now, int seat, CloseCode code);
  // Its connection has closed, with `code`.
  void Leave(TimePoint now, int seat, CloseCode code);
  // Its connection, if any, is closed with `reason`.
  void PutOut(TimePoint now, int seat, CloseReason reason);
  void Vacate(TimePoint now, int seat);
  void TellLeft(int seat);
  void EndHolds(TimePoint at);
  void EndIfEmpty(TimePoint now);
  void Record(TimePoint now, const ReplayEvent& event) const;
  void TellKeeper(TimePoint now) const;

  Message About(Kind kind, int seat) const;
  Message WelcomeFor(int seat) const;
  void TellOthers(int seat, const Message& message);
  void TellLobby() const;

  // The seats' connections, null for a seat that is free, held or left. Apart
  // from the seats, so that finding one reads few cache lines.
  std::array<Connection*, limits::kSeats.ceiling> connections_{};
  std::unique_ptr<Seat[]> seats_;
  std::unique_ptr<Recent[]> recent_;
  std::unique_ptr<Gather> gather_;  // null: nothing waits
  int players_;
  Phase phase_ = Phase::kLobby;
  TimePoint alarm_;
  TimePoint last_relayed_{};  // or the start
  RoomCounters counters_;

  const RoomOptions options_;
  Entropy& entropy_;
  const int opened_for_;
  const TimePoint opened_at_;
  const std::uint32_t seed_;
  const std::int64_t refill_ns_;  // fills an empty message rate
  int start_at_ = 0;              // a pending START's count; 0: none is pending
  std::uint8_t mode_ = 0;
  RoomKeeper* keeper_ = nullptr;
  RoomRecorder* recorder_ = nullptr;
};

}  // namespace parlor::lockstep

#endif  // PARLOR_LOCKSTEP_ROOM_H_
