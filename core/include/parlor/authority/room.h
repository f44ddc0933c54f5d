// Room: one authority room. It seats connections, runs the game
// (room_authority.h) tick by tick, and sends every client the state it may see.
// The game alone decides what happens in it; what a client sends is a request.
//
// A connection's way (contract: "Join, resume, reap"):
//
//   Admit         it has join_ms to say join{}; until then it is nobody
//   join{}        checked in this order: protocol, name, then either the resume
//                 token, or drain, lock, the game's ValidateJoin, a free seat
//   answer        at the end of the next tick, when the state is whole:
//                 welcome, a baseline, a delta, the roster; then what the game
//                 sent to it meanwhile
//   drop          its seat is held for grace_ms: input neutral, not host
//   leave         leave{}, 1000, or any close that is no drop: gone at once
//
// Closes by this room, each behind an error frame where there is a code for it:
//   1000  leave{} was said
//   1008  over the message or input rate ("rate"), the hundredth text over the
//         budget in a row ("budget"); a join that was refused ("protocol",
//         "name", "locked", "refused"); no join in time, or too many without
//         one; all of these unheld
//   1009  a message above kClientFrameBytesMax
//   1011  nothing acked for kEvictSeconds of ticks: a drop
//   1012  a join while the room drains; nobody has a seat, and it drains
//   4000  every seat is taken or held ("full")
//   4001  the seat went on, on another connection
//   4003  Kick
//   4004  the room ended ("ended")
// A token that opens no seat is answered "resume_refused" and changes nothing:
// the connection may still say join without one.
//
// Replication. Every 1/tick_hz s is a tick; snapshot_hz of those a second are
// sent, and one of these a second is a new baseline for all. Deltas go on the
// state lane, the rest on the reliable one. A viewer is blocked while bytes of
// its last baseline are still queued, or when a second of ticks, and those
// between two snapshots, passed without an ack. It gets no baseline and no
// delta then, but one recovery snapshot a second, and camera, HUD, entity and
// roster wait in their newest form; when it reads again, the current baseline.
// So a viewer that does not read costs the room its seat's fixed part and no
// more: what is queued is its connection's, bounded there. Silence is counted
// in ticks: a host that was suspended does not find everybody silent.
//
// A room sleeps, without ticks, while nobody has a seat. Once it drains it ends
// then, at once: a held seat is one.
//
// Every call that has a `now` first acts on the deadlines at or before it: ends
// of joins and holds in their order, then the ticks that are due, at most four;
// more are skipped and counted. The same calls with the same times and the same
// entropy say the same bytes.
//
// As hosted_room.h has it: the room owns no connection, one thread, no clock.
// In the steady state a tick allocates nothing but what it sends.
#ifndef PARLOR_AUTHORITY_ROOM_H_
#define PARLOR_AUTHORITY_ROOM_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "parlor/authority/frames.h"
#include "parlor/authority/limits.h"
#include "parlor/authority/room_authority.h"
#include "parlor/authority/row_table.h"
#include "parlor/authority/snapshot_encoder.h"
#include "parlor/authority/values.h"
#include "parlor/authority/wire_state_codec.h"
#include "parlor/connection.h"
#include "parlor/entropy.h"
#include "parlor/fixed_step.h"
#include "parlor/hosted_room.h"
#include "parlor/time.h"

namespace parlor::authority {

// The numbers keep their Limit of authority/limits.h or, message rate and
// burst, of parlor/limits.h.
struct RoomOptions {
  // What a join must say exactly: the game and the version of its rules:
  // IsProtocol (frames.h).
  std::string protocol;
  std::int64_t seats = limits::kSeats.fallback;
  std::int64_t tick_hz = limits::kTickHz.fallback;
  std::int64_t snapshot_hz = limits::kSnapshotHz.fallback;  // <= tick_hz
  std::int64_t grace_ms = limits::kGraceMs.fallback;        // 0: a drop leaves
  std::int64_t join_ms = limits::kJoinMs.fallback;
  std::int64_t unjoined = limits::kUnjoined.fallback;
  std::int64_t message_rate_per_s = parlor::limits::kMessageRate.fallback;
  std::int64_t message_burst = parlor::limits::kMessageBurst.fallback;
  // Of those, inputs; a burst is two seconds' worth.
  std::int64_t input_rate_per_s = limits::kInputRate.fallback;
  std::int64_t inputs_waiting = limits::kInputsWaiting.fallback;
  std::int64_t baseline_bytes_max = limits::kBaselineBytes.fallback;
  // State codecs on offer, one at least. A client gets the first of its own
  // list that is here, or else the last of these.
  std::vector<const WireStateCodec*> codecs{&BinaryStateCodec(),
                                            &JsonStateCodec()};
  // Ended when the last seat that was taken is gone, instead of asleep.
  bool end_when_empty = false;
};

// InvalidArgument names the option, or what of the game's schema does not fit:
// the largest baseline it allows, in each codec on offer, has to keep within
// baseline_bytes_max.
absl::Status ValidateOptions(const RoomOptions& options, const Schema& schema);

// The closes after which a seat is held (contract, "Join, resume, reap" 3):
// links lost, and pages that reload.
constexpr bool IsDrop(CloseCode code) {
  return code == close_code::kGoingAway || code == close_code::kNoCode ||
         code == close_code::kDropped || code == close_code::kInternal ||
         code == close_code::kRestart || code == close_code::kBadGateway;
}

// Blocked viewers, in seconds of ticks.
inline constexpr int kBlockedSeconds = 1;
inline constexpr int kEvictSeconds = 5;
inline constexpr int kFailedTicksMax = 10;  // in a row

// Counted over the room's life.
struct RoomCounters {
  std::uint64_t received = 0;      // messages handed to the game
  std::uint64_t dropped = 0;       // messages that were not: form, size, check
  std::uint64_t unsent = 0;        // sends and views of the game's, refused
  std::uint64_t ignored = 0;       // frames out of place or of no known kind
  std::uint64_t stale_inputs = 0;  // with a seq that was there already
  std::uint64_t stale_acks = 0;    // of the past, or of a tick not sent yet
  std::uint64_t failed_ticks = 0;
  std::uint64_t skipped_ticks = 0;   // beyond the catch-up
  std::uint64_t refused_values = 0;  // by the row table; and own bodies
  std::uint64_t recoveries = 0;      // sent to blocked viewers
  std::uint64_t evicted = 0;
  std::uint64_t resumes = 0;
  std::uint64_t resumes_refused = 0;
  std::uint64_t kicked_rate = 0;  // input, message and text rates
  std::uint64_t kicked_size = 0;
};

struct PlayerCounters {
  std::uint64_t received = 0;
  std::uint64_t dropped = 0;
};

// What a log should have. None of it has anything in it that a client sent.
enum class RoomNote : std::uint8_t {
  kFailedTick,    // `what`: the call into the game that threw, "step"
  kRefusedValue,  // `what`: row and field, as RowTable::TakeRefusal has it;
                  // once
  kUnsent,        // `what`: the declared message's name; "(undeclared)",
                  // "(reserved)", "camera", "hud" or "phase"; each once
  kEnded,         // `what`: the close reason's name, "room_ended"; "restart"
                  // when it drained and nobody was left
};
// "failed_tick", for logs.
std::string_view NameOf(RoomNote note);

// Who is told, if anyone. It may not call the room.
class RoomSink {
 public:
  virtual void OnNote(TimePoint /*now*/, RoomNote /*note*/,
                      std::string_view /*what*/) {}
  // The phase has changed (Context::SetPhase).
  virtual void OnPhase(TimePoint /*now*/, std::string_view /*phase*/) {}

 protected:
  ~RoomSink() = default;
};

class Room final : public HostedRoom {
 public:
  // `options` are valid for the game's schema. `entropy` gives the tokens, and
  // outlives the room.
  Room(TimePoint now, RoomOptions options, std::unique_ptr<RoomAuthority> game,
       Entropy& entropy);
  ~Room() override;

  // Who hears of trouble, and outlives the room; nobody when null.
  void SetSink(RoomSink* sink) { sink_ = sink; }

  // HostedRoom. Where there are options.unjoined without a seat already, the
  // one that came first goes.
  void Admit(TimePoint now, Connection& connection,
             std::string_view identity) override;
  void OnMessage(TimePoint now, Connection& connection, MessageKind kind,
                 std::span<const std::byte> bytes) override;
  void OnControl(TimePoint now, Connection& connection) override;
  void OnClose(TimePoint now, Connection& connection, CloseCode code) override;
  void OnAlarm(TimePoint now) override;
  TimePoint next_alarm() const override { return alarm_; }
  void Drain(TimePoint now) override;
  // The game is not called any more: no RemovePlayer either.
  void End(TimePoint now, CloseReason reason) override;
  bool ended() const override { return ended_; }
  int seated() const override;
  std::uint64_t resumes() const override { return counters_.resumes; }

  // Puts a player out, a held one too. Does nothing to a seat nobody has.
  void Kick(TimePoint now, int number,
            CloseReason reason = CloseReason::kPutOut);

  // A lock keeps joins out, never resumes.
  void SetLocked(TimePoint now, bool locked);

  int held() const;
  // By the game, for listings: Context::SetPhase. "" before the first.
  std::string_view phase() const { return phase_; }
  bool locked() const { return locked_; }
  std::uint32_t tick() const { return tick_; }
  std::span<const Player> players() const { return players_; }
  // -1 for a connection without a seat.
  int SeatOf(const Connection& connection) const;
  // Of who has this seat now; zeros when nobody does.
  PlayerCounters player_counters(int number) const;
  RoomCounters counters() const;
  const RoomOptions& options() const { return options_; }
  const RowTable& rows() const { return rows_; }

  // What the room holds in memory for its seats and who wants one. Connections,
  // the game's own and its rows, which the schema bounds, are not in it.
  std::size_t memory_bytes() const;

 private:
  struct Visitor;
  struct Seat;
  class GameContext;
  class GameViews;

  void Advance(TimePoint now);
  void EndVisits();
  void EndHolds();
  void RunTicks();
  TimePoint NextDeadline() const;
  void Wake();
  void Sleep();

  // Connections without a seat, by their place in visitors_.
  std::size_t VisitorOf(const Connection& connection) const;
  Connection& Forget(std::size_t visitor);
  void Refuse(std::size_t visitor, ErrorCode code, std::string_view why,
              CloseReason reason);
  bool TakeFromVisitorRate(std::size_t visitor);
  void OnVisitorMessage(std::size_t visitor, MessageKind kind,
                        std::span<const std::byte> bytes);
  void OnMalformedJoin(std::size_t visitor, const FrameRefusal& refusal);
  void OnJoin(std::size_t visitor, const JoinFrame& join);
  std::optional<std::string> GameRefuses(const Visitor& visitor,
                                         const JoinFrame& join);
  int LowestFreeSeat() const;
  int CodecFor(const JoinFrame& join) const;
  void SeatVisitor(std::size_t visitor, int number, const JoinFrame& join);
  int SeatOfToken(const ResumeToken& token) const;
  void RefuseResume(std::size_t visitor);
  void Resume(std::size_t visitor, const JoinFrame& join);

  // Seats that are taken, by number.
  bool TakeFromRate(int number);
  void PutOutForRate(int number);
  void OnText(int number, std::string_view text);
  void OnForeignText(int number, const ClientFrame& frame);
  void OnInput(int number, const InputFrame& input);
  void OnAck(int number, std::uint32_t tick);
  void OnResync(int number);
  bool TakeFromBudget(int number);
  void OnMsg(int number, const MsgFrame& frame);
  void CountDropped(int number);
  void TellDropped(int number);

  Connection* Disconnect(int number);
  void Drop(int number);
  void PutOut(int number, std::optional<ErrorCode> code, CloseReason reason);
  void Remove(int number);
  Player Vacate(int number);
  void OnEmpty();
  void ChooseHost();
  void Finish(CloseReason reason);

  // A tick.
  void RunTick();
  void TakeInputs();
  void NoteRefusedValue(std::string_view what);
  void CountFailure();
  bool SnapshotDue() const;
  bool AnswerDue() const;
  bool IsWelcomed(int number) const;
  void TakeSnapshot(bool due);
  void Answer(int number);
  void SendSnapshot(int number);
  void Evict();
  bool IsTooSlow(int number) const;
  bool IsBlocked(int number) const;
  std::int64_t SilentTicks(int number) const;
  void SendBaseline(int number);
  void SendDelta(int number);
  std::optional<OwnWords> OwnWordsOf(int number);
  void SendRecovery(int number);
  void TellNews(int number, bool snapshot);
  void SendTick(int number);
  void TellRoster();
  void SendRoster(int number);
  void SendText(int number, std::string_view text);
  void SendPayload(int number, const Payload& payload);
  void SendReliable(int number, const Payload& payload);

  // What the game says, and calls into it.
  bool SendMessage(std::string_view name, std::string_view payload, int to);
  bool CountUnsent(std::string_view what);
  bool SetView(int number, std::string_view json, bool camera);
  template <typename Call>
  bool Guarded(std::string_view name, Call&& call);

  void Say(Connection& connection, ErrorCode code, std::string_view why) const;
  void Note(RoomNote note, std::string_view what) const;
  std::int64_t RoomMs() const;
  Player* FindPlayer(int number);
  Seat& seat(int number) { return *seats_[static_cast<std::size_t>(number)]; }
  const Seat& seat(int number) const {
    return *seats_[static_cast<std::size_t>(number)];
  }
  Connection& connection(int number) const {
    return *connections_[static_cast<std::size_t>(number)];
  }

  const RoomOptions options_;
  Entropy& entropy_;
  const TimePoint opened_at_;
  const std::unique_ptr<RoomAuthority> game_;
  const std::string schema_json_;
  RowTable rows_;
  std::unique_ptr<GameContext> context_;
  std::unique_ptr<GameViews> views_;
  SnapshotEncoder encoder_;
  const bool has_views_;
  RoomSink* sink_ = nullptr;

  std::vector<Visitor> visitors_;  // by arrival
  // By number: null where the seat is free; where it is free or held.
  std::vector<std::unique_ptr<Seat>> seats_;
  std::vector<Connection*> connections_;
  std::vector<Player> players_;  // by rising seat
  std::uint64_t players_ever_ = 0;

  TimePoint now_;  // of the call being made
  TimePoint alarm_ = kNever;
  std::optional<FixedStep> steps_;  // none: asleep
  std::uint32_t tick_ = 0;
  bool baseline_due_ = true;
  std::uint32_t baseline_tick_ = 0;  // of the newest
  bool tick_failed_ = false;         // by a call since the last tick ended
  bool snapshot_failed_ = false;     // by a call for the newest snapshot
  int failed_in_a_row_ = 0;
  std::vector<SeatInput> inputs_;  // of the tick that runs

  std::optional<Payload> roster_;  // written, as long as it is true
  std::string phase_;
  bool locked_ = false;
  bool draining_ = false;
  bool ended_ = false;
  RoomCounters counters_;
  bool refusal_noted_ = false;
  std::vector<std::string> unsent_noted_;
};

}  // namespace parlor::authority

#endif  // PARLOR_AUTHORITY_ROOM_H_
