#include "parlor/lockstep/room.h"

#include <algorithm>
#include <array>
#include <bitset>
#include <chrono>
#include <cstring>
#include <optional>
#include <utility>

#include "lockstep/gather.h"
#include "lockstep/room_state_bytes.h"
#include "parlor/byte_io.h"
#include "parlor/check.h"
#include "parlor/constant_time.h"
#include "parlor/lockstep/replay_log.h"

namespace parlor::lockstep {
namespace {

// A seat's message rate is counted in billionths of a message: one nanosecond
// at a rate of one message a second. So no rate is rounded.
constexpr std::int64_t kOneMessage = 1'000'000'000;

Duration Milliseconds(std::int64_t ms) { return std::chrono::milliseconds(ms); }

SendResult SendTo(Connection& connection, const MessageBytes& bytes) {
  return connection.Send(Lane::kReliable, MessageKind::kBinary, bytes);
}

// The number of the first INPUT that is kept of a seat that said `inputs`.
std::uint64_t OldestKept(std::uint64_t inputs) {
  return inputs > kReplayInputs ? inputs - kReplayInputs : 0;
}

// Who records is told of these.
ReplayEvent Happened(ReplayKind kind, int seat = 0) {
  ReplayEvent event;
  event.kind = kind;
  event.seat = seat;
  return event;
}

ReplayEvent Left(int seat, ReplayCause cause) {
  ReplayEvent event = Happened(ReplayKind::kLeave, seat);
  event.cause = cause;
  return event;
}

ReplayEvent With(ReplayEvent event, CloseReason reason) {
  event.code = Describe(reason).code;
  event.text = Describe(reason).text;
  return event;
}

RoomOptions WithSeed(RoomOptions options, std::uint32_t seed) {
  options.seed = seed;
  return options;
}

}  // namespace

// What a seat keeps while connections come and go. What every message touches
// stands first.
struct alignas(64) Room::Seat {
  std::int64_t credit = 0;  // of the message rate, at credit_at
  TimePoint credit_at{};
  // The last frame relayed, of INPUT and of HASH; -1 below every frame.
  std::array<std::int64_t, 2> last_frame{-1, -1};
  std::uint64_t inputs = 0;  // relayed; recent_ has the last 64
  std::uint32_t token = 0;   // 0 before the start and once the seat is left
  bool held = false;
  bool left = false;
  bool ever_away = false;
  TimePoint hold_end{};

  void Leave() {
    held = false;
    left = true;
    token = 0;
  }
  std::int64_t& last_of(Kind kind) {
    return last_frame[kind == Kind::kInput ? 0 : 1];
  }
};

// By the seat's count of inputs modulo 64. Apart from the seats, since a
// message reads its seat and only writes here.
struct Room::Recent {
  std::array<MessageBytes, kReplayInputs> inputs;
  static_assert(sizeof(inputs) == kReplayInputs * kMessageSize);
};

absl::Status ValidateOptions(const RoomOptions& options) {
  const struct {
    const Limit& limit;
    std::int64_t value;
  } rows[] = {
      {limits::kHoldMs, options.hold_ms},
      {limits::kLobbyMs, options.lobby_ms},
      {limits::kIdleMs, options.idle_ms},
      {limits::kLifetimeMs, options.lifetime_ms},
      {limits::kMessageRate, options.message_rate_per_s},
      {limits::kMessageBurst, options.message_burst},
      {limits::kGatherMs, options.gather_ms},
  };
  for (const auto& row : rows) {
    absl::Status status = CheckLimit(row.limit, row.limit.name, row.value);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

Room::Room(TimePoint now, int players, const RoomOptions& options,
           Entropy& entropy)
    : players_(players),
      options_(options),
      entropy_(entropy),
      opened_for_(players),
      opened_at_(now),
      seed_(options.seed ? *options.seed : entropy.Draw32()),
      refill_ns_(options.message_burst * kOneMessage /
                     options.message_rate_per_s +
                 1) {
  PARLOR_CHECK(players >= 1 && players <= limits::kSeats.ceiling);
  PARLOR_CHECK(ValidateOptions(options).ok());
  static_assert(sizeof(Room) <= 2 * 1024 &&
                sizeof(Seat) + sizeof(Recent) <= 1024);
  // A seat a line: those of a room are read in a row, message after message.
  static_assert(sizeof(Seat) == 64);
  seats_ = std::make_unique<Seat[]>(static_cast<std::size_t>(players));
  recent_ = std::make_unique<Recent[]>(static_cast<std::size_t>(players));
  if (options.gather_ms > 0) {
    gather_ =
        std::make_unique<Gather>(players, Milliseconds(options.gather_ms));
  }
  alarm_ = NextDeadline().at;
}

Room::Room(TimePoint now, const RoomState& state, const RoomOptions& options,
           Entropy& entropy)
    : Room(now - Milliseconds(state.age_ms), state.opened_for,
           WithSeed(options, state.seed), entropy) {
  players_ = static_cast<int>(state.seats.size());
  PARLOR_CHECK(players_ >= 1 && players_ <= opened_for_);
  phase_ = Phase::kPlaying;
  last_relayed_ = now;
  mode_ = state.mode;
  const std::int64_t hold_ms =
      options.hold_ms > 0 ? options.hold_ms : limits::kHoldMs.fallback;
  for (int i = 0; i < players_; ++i) {
    const SeatState& kept = state.seats[static_cast<std::size_t>(i)];
    Seat& seat = seats_[i];
    seat.credit = options_.message_burst * kOneMessage;
    seat.credit_at = now;
    seat.last_frame = {kept.last_input, kept.last_hash};
    seat.token = kept.token;
    seat.left = kept.token == 0;
    seat.held = !seat.left;
    seat.ever_away = !seat.left;
    seat.hold_end = now + Milliseconds(hold_ms);
    PARLOR_CHECK(kept.inputs.size() <= kReplayInputs);
    std::copy(kept.inputs.begin(), kept.inputs.end(),
              recent_[i].inputs.begin());
    seat.inputs = kept.inputs.size();
  }
  PARLOR_CHECK(held() > 0);
  alarm_ = NextDeadline().at;
}

Room::~Room() = default;

// --- Joining and coming back

Outcome Room::Join(TimePoint now, Connection& connection) {
  Advance(now);
  PARLOR_CHECK(SeatOf(connection) < 0);
  if (phase_ != Phase::kLobby) {
    connection.Close(CloseReason::kRoomFull);
    return Outcome::kRoomFull;
  }
  // A lobby has a free seat: the last one taken begins the match.
  int seat = 0;
  while (connections_[seat] != nullptr) ++seat;
  PARLOR_CHECK(seat < players_);
  connections_[seat] = &connection;
  seats_[seat].credit = options_.message_burst * kOneMessage;
  seats_[seat].credit_at = now;
  Record(now, Happened(ReplayKind::kJoin, seat));
  if (Ready()) {
    Begin(now);
  } else {
    TellLobby();
  }
  return Outcome::kSeated;
}

bool Room::Ready() const {
  const int taken = seated();
  return taken == players_ || (start_at_ > 0 && taken >= start_at_);
}

// The seats taken become 0..k-1, in seat order. Nobody may keep a number from
// before this: a stale one would let a seat speak as another.
void Room::Begin(TimePoint now) {
  ReplayEvent begin = Happened(ReplayKind::kBegin);
  int taken = 0;
  for (int seat = 0; seat < players_; ++seat) {
    if (connections_[seat] == nullptr) continue;
    begin.taken |= std::uint32_t{1} << seat;
    connections_[taken] = connections_[seat];
    // Nothing else of a seat is set before the start.
    seats_[taken].credit = seats_[seat].credit;
    seats_[taken].credit_at = seats_[seat].credit_at;
    ++taken;
  }
  std::fill(connections_.begin() + taken, connections_.end(), nullptr);
  players_ = taken;
  phase_ = Phase::kPlaying;
  last_relayed_ = now;
  alarm_ = std::min(alarm_, now + Milliseconds(options_.idle_ms));
  for (int seat = 0; seat < players_ && gather_ != nullptr; ++seat) {
    gather_->Add(seat, -1);
  }
  DrawTokens();
  begin.players = players_;
  begin.mode = mode_;
  Record(now, begin);
  TellKeeper(now);
  for (int seat = 0; seat < players_; ++seat) {
    SendTo(*connections_[seat], Encode(WelcomeFor(seat)));
  }
}

// One token twice would let a seat resume into another's.
void Room::DrawTokens() {
  for (int seat = 0; seat < players_; ++seat) {
    std::uint32_t token = 0;
    while (token == 0 || SeatOfToken(token) >= 0) token = entropy_.Draw32();
    seats_[seat].token = token;
  }
}

// Compares with every seat, found or not: how long it takes says nothing about
// how near a guess came.
int Room::SeatOfToken(std::uint32_t token) const {
  int found = -1;
  for (int seat = 0; seat < players_; ++seat) {
    if (ConstantTimeEquals(token, seats_[seat].token)) found = seat;
  }
  return found;
}

Outcome Room::Resume(TimePoint now, Connection& connection,
                     std::string_view token) {
  Advance(now);
  PARLOR_CHECK(SeatOf(connection) < 0);
  const std::uint32_t offered = ParseToken(token);
  const int seat = offered == 0 ? -1 : SeatOfToken(offered);
  if (seat < 0) {
    connection.Close(CloseReason::kSeatGone);
    return Outcome::kSeatGone;
  }
  // Also to the old connection. To the new one, what waits is in the replay.
  FlushAll();
  // The old link may look alive here long after it died there: the token is
  // what says who sits in the seat.
  Connection* const old = std::exchange(connections_[seat], &connection);
  seats_[seat].held = false;
  if (gather_ != nullptr) gather_->Add(seat, seats_[seat].last_frame[0]);
  Record(now, Happened(ReplayKind::kResume, seat));
  TellKeeper(now);
  if (old != nullptr) old->Close(CloseReason::kResumed);

  SendTo(connection, Encode(WelcomeFor(seat)));
  SendTo(connection, Encode(About(Kind::kResume, seat)));
  for (int other = 0; other < players_; ++other) {
    if (other == seat) continue;
    const Seat& from = seats_[other];
    for (std::uint64_t i = OldestKept(from.inputs); i < from.inputs; ++i) {
      SendTo(connection, recent_[other].inputs[i % kReplayInputs]);
    }
  }
  for (int other = 0; other < players_; ++other) {
    if (other != seat) TellState(connection, other);
  }
  TellOthers(seat, About(Kind::kResume, seat));
  return Outcome::kSeated;
}

// Nobody can know what the seat's old connection still delivered, so what the
// others went through is told on every resume.
void Room::TellState(Connection& connection, int seat) const {
  const Seat& state = seats_[seat];
  if (state.left) {
    SendTo(connection, Encode(About(Kind::kLeave, seat)));
  } else if (state.held) {
    SendTo(connection, Encode(About(Kind::kAway, seat)));
  } else if (state.ever_away) {
    SendTo(connection, Encode(About(Kind::kResume, seat)));
  }
}

// --- Messages

void Room::OnMessage(TimePoint now, Connection& connection, MessageKind kind,
                     std::span<const std::byte> bytes) {
  Advance(now);
  const int seat = SeatOf(connection);
  if (seat < 0 || !TakeFromRate(now, seat)) return;
  if (kind != MessageKind::kBinary || bytes.size() != kMessageSize) {
    ++counters_.kicked_size;
    PutOut(now, seat, CloseReason::kMessageSize);
    return;
  }
  if (phase_ == Phase::kLobby) {
    OnLobbyMessage(now, seat, Decode(bytes.first<kMessageSize>()));
    return;
  }
  MessageBytes own;
  std::memcpy(own.data(), bytes.data(), own.size());
  OnMatchMessage(now, seat, own);
}

void Room::OnControl(TimePoint now, Connection& connection) {
  Advance(now);
  const int seat = SeatOf(connection);
  if (seat >= 0) TakeFromRate(now, seat);
}

// False when the seat is over its rate, and out.
bool Room::TakeFromRate(TimePoint now, int seat) {
  Seat& state = seats_[seat];
  PARLOR_DCHECK(now >= state.credit_at);
  const std::int64_t passed =
      std::min<std::int64_t>((now - state.credit_at).count(), refill_ns_);
  state.credit = std::min(state.credit + passed * options_.message_rate_per_s,
                          options_.message_burst * kOneMessage);
  state.credit_at = now;
  if (state.credit < kOneMessage) {
    ++counters_.kicked_rate;
    PutOut(now, seat, CloseReason::kMessageRate);
    return false;
  }
  state.credit -= kOneMessage;
  return true;
}

void Room::OnLobbyMessage(TimePoint now, int seat, const Message& message) {
  if (message.kind != Kind::kStart || seat != 0) {
    ++counters_.ignored;
    return;
  }
  start_at_ = std::max<int>(message.players, 1);
  mode_ = message.mode;
  ReplayEvent start = Happened(ReplayKind::kStart);
  start.players = message.players;
  start.mode = message.mode;
  Record(now, start);
  if (Ready()) Begin(now);
}

// The hot path: everything above and this runs once a message, the loop's body
// once a seat.
void Room::OnMatchMessage(TimePoint now, int seat, MessageBytes bytes) {
  const Message message = Decode(bytes);
  if (message.kind != Kind::kInput && message.kind != Kind::kHash) {
    ++counters_.ignored;
    return;
  }
  Seat& state = seats_[seat];
  // First write wins: a seat cannot give two seats two inputs for one frame.
  if (message.frame <= state.last_of(message.kind)) {
    ++counters_.stale;
    return;
  }
  state.last_of(message.kind) = message.frame;
  // Nobody speaks for another seat.
  bytes[1] = static_cast<std::byte>(seat);
  if (message.kind == Kind::kInput) {
    recent_[seat].inputs[state.inputs++ % kReplayInputs] = bytes;
  }
  last_relayed_ = now;
  ++counters_.relayed;
  if (recorder_ != nullptr) [[unlikely]] {
    recorder_->OnRelay(now, bytes);
  }
  if (gather_ != nullptr) [[unlikely]] {
    return RelayGathered(now, seat, message, bytes);
  }
  for (int other = 0; other < players_; ++other) {
    Connection* const to = connections_[other];
    if (to == nullptr || other == seat) continue;
    if (SendTo(*to, bytes) == SendResult::kQueued) ++counters_.delivered;
  }
}

// What a message costs when it waits; to send it is Flush's.
void Room::RelayGathered(TimePoint now, int seat, const Message& message,
                         const MessageBytes& bytes) {
  Flush(gather_->InTheWay());
  gather_->Append(now, bytes);
  if (message.kind == Kind::kInput) {
    Flush(gather_->Raise(seat, message.frame));
  }
  if (gather_->waiting() != 0) {
    alarm_ = std::min(alarm_, now + gather_->bound());
  }
}

// Sends what waits for these seats, all of which are connected.
void Room::Flush(std::uint32_t seats) {
  ForEachSeat(seats, [this](int seat) {
    counters_.delivered += gather_->Flush(seat, *connections_[seat]);
  });
}

void Room::FlushAll() {
  if (gather_ != nullptr) Flush(gather_->waiting());
}

// --- Going away

// What waits for the seat goes nowhere.
Connection* Room::Unseat(int seat) {
  if (gather_ != nullptr) gather_->Remove(seat);
  return std::exchange(connections_[seat], nullptr);
}

void Room::OnClose(TimePoint now, Connection& connection, CloseCode code) {
  Advance(now);
  const int seat = SeatOf(connection);
  if (seat < 0) return;
  // Before the start there is no token to come back with.
  if (IsDrop(code) && phase_ == Phase::kPlaying && options_.hold_ms > 0) {
    Drop(now, seat, code);
  } else {
    Leave(now, seat, code);
  }
}

void Room::Drop(TimePoint now, int seat, CloseCode code) {
  Unseat(seat);
  Seat& state = seats_[seat];
  state.held = true;
  state.ever_away = true;
  state.hold_end = now + Milliseconds(options_.hold_ms);
  alarm_ = std::min(alarm_, state.hold_end);
  ReplayEvent drop = Happened(ReplayKind::kDrop, seat);
  drop.code = code;
  Record(now, drop);
  TellKeeper(now);
  TellOthers(seat, About(Kind::kAway, seat));
}

void Room::Leave(TimePoint now, int seat, CloseCode code) {
  ReplayEvent left = Left(seat, ReplayCause::kClosed);
  left.code = code;
  Record(now, left);
  Unseat(seat);
  Vacate(now, seat);
  TellLeft(seat);
}

void Room::PutOut(TimePoint now, int seat, CloseReason reason) {
  Record(now, With(Left(seat, ReplayCause::kPutOut), reason));
  // What it has waited for it hears before its close.
  FlushAll();
  Connection* const old = Unseat(seat);
  Vacate(now, seat);
  if (old != nullptr) old->Close(reason);
  TellLeft(seat);
}

// Nobody is in the seat any more, and nobody has been told.
void Room::Vacate(TimePoint now, int seat) {
  if (phase_ == Phase::kPlaying) {
    seats_[seat].Leave();
  } else if (seat == 0) {
    // A START without its host would let a stranger's join begin the match.
    start_at_ = 0;
    mode_ = 0;
  }
  EndIfEmpty(now);
  TellKeeper(now);
}

void Room::TellLeft(int seat) {
  if (phase_ == Phase::kLobby) {
    TellLobby();
  } else {
    TellOthers(seat, About(Kind::kLeave, seat));
  }
}

void Room::EndIfEmpty(TimePoint now) {
  if (seated() + held() > 0) return;
  Record(now, Happened(ReplayKind::kEnd));
  phase_ = Phase::kEnded;
  alarm_ = kNever;
}

void Room::Kick(TimePoint now, int seat, CloseReason reason) {
  Advance(now);
  if (seat < 0 || seat >= players_) return;
  if (connections_[seat] != nullptr || seats_[seat].held) {
    PutOut(now, seat, reason);
  }
}

void Room::End(TimePoint now, CloseReason reason) {
  if (phase_ != Phase::kEnded) {
    Record(now, With(Happened(ReplayKind::kEnd), reason));
  }
  FlushAll();
  for (int seat = 0; seat < players_; ++seat) {
    Connection* const old = Unseat(seat);
    if (old != nullptr) old->Close(reason);
    seats_[seat].held = false;
    seats_[seat].token = 0;
  }
  phase_ = Phase::kEnded;
  alarm_ = kNever;
}

// --- Deadlines

void Room::OnAlarm(TimePoint now) {
  // Before all else: whatever else is due flushes everyone.
  if (gather_ != nullptr) Flush(gather_->Due(now));
  while (phase_ != Phase::kEnded) {
    const Deadline next = NextDeadline();
    alarm_ = next.at;
    if (next.at > now) {
      if (gather_ != nullptr) alarm_ = std::min(alarm_, gather_->NextDue(now));
      return;
    }
    if (next.seat < 0) {
      End(next.at, next.reason);
    } else {
      EndHolds(next.at);
    }
  }
}

// All that end at this instant, as those of a match that was taken back do:
// what is left of it is kept once, not once a seat.
void Room::EndHolds(TimePoint at) {
  std::bitset<limits::kSeats.ceiling> ended;
  for (int seat = 0; seat < players_; ++seat) {
    if (!seats_[seat].held || seats_[seat].hold_end != at) continue;
    seats_[seat].Leave();
    ended.set(static_cast<std::size_t>(seat));
    Record(at, Left(seat, ReplayCause::kHoldOver));
  }
  EndIfEmpty(at);
  TellKeeper(at);
  for (int seat = 0; seat < players_; ++seat) {
    if (ended.test(static_cast<std::size_t>(seat))) {
      TellOthers(seat, About(Kind::kLeave, seat));
    }
  }
}

// At one instant the one considered first wins.
Room::Deadline Room::NextDeadline() const {
  Deadline next;
  const auto consider = [&next](TimePoint at, int seat, CloseReason reason) {
    if (at < next.at) next = {at, seat, reason};
  };
  if (phase_ == Phase::kLobby) {
    consider(opened_at_ + Milliseconds(options_.lobby_ms), -1,
             CloseReason::kRoomNotFilled);
  } else {
    consider(last_relayed_ + Milliseconds(options_.idle_ms), -1,
             CloseReason::kRoomIdle);
  }
  consider(opened_at_ + Milliseconds(options_.lifetime_ms), -1,
           CloseReason::kRoomTimeUp);
  for (int seat = 0; seat < players_; ++seat) {
    if (seats_[seat].held) consider(seats_[seat].hold_end, seat, {});
  }
  return next;
}

// --- Being recorded, being kept

void Room::Record(TimePoint now, const ReplayEvent& event) const {
  if (recorder_ != nullptr) recorder_->OnEvent(now, event);
}

void Room::TellKeeper(TimePoint now) const {
  if (keeper_ != nullptr && phase_ == Phase::kPlaying) {
    keeper_->OnSeats(now, *this);
  }
}

void Room::Save(TimePoint now, std::vector<std::byte>& out) const {
  PARLOR_CHECK(phase_ == Phase::kPlaying);
  RoomState head{
      .opened_for = opened_for_, .seed = seed_, .mode = mode_, .seats = {}};
  // An alarm may come late; a room does not get older than its lifetime.
  head.age_ms = std::clamp<std::int64_t>((now - opened_at_) / kMillisecond, 0,
                                         options_.lifetime_ms);
  out.clear();
  AppendHead(head, players_, out);
  for (int i = 0; i < players_; ++i) {
    const Seat& seat = seats_[i];
    const std::uint64_t oldest = OldestKept(seat.inputs);
    AppendSeat({.token = seat.token,
                .last_input = seat.last_frame[0],
                .last_hash = seat.last_frame[1],
                .inputs = {}},
               seat.inputs - oldest, out);
    // From the oldest to the end of the ring, and from its begin.
    const auto ring = std::as_bytes(std::span(recent_[i].inputs));
    const std::size_t size = (seat.inputs - oldest) * kMessageSize;
    const std::size_t begin = oldest % kReplayInputs * kMessageSize;
    const std::size_t first = std::min(size, ring.size() - begin);
    ByteWriter writer(out);
    writer.Bytes(ring.subspan(begin, first));
    writer.Bytes(ring.first(size - first));
  }
}

// --- What it says

// LEAVE, AWAY and RESUME name a seat and the match's count, and nothing else.
Message Room::About(Kind kind, int seat) const {
  return {.kind = kind,
          .slot = static_cast<std::uint8_t>(seat),
          .players = static_cast<std::uint8_t>(players_)};
}

Message Room::WelcomeFor(int seat) const {
  Message message = About(Kind::kWelcome, seat);
  message.mode = mode_;
  message.frame = seed_;
  message.value = seats_[seat].token;
  return message;
}

// Behind all that was relayed before it.
void Room::TellOthers(int seat, const Message& message) {
  FlushAll();
  const MessageBytes bytes = Encode(message);
  for (int other = 0; other < players_; ++other) {
    if (other == seat || connections_[other] == nullptr) continue;
    SendTo(*connections_[other], bytes);
  }
}

void Room::TellLobby() const {
  Message message{.kind = Kind::kLobby,
                  .players = static_cast<std::uint8_t>(players_),
                  .mode = static_cast<std::uint8_t>(seated())};
  for (int seat = 0; seat < players_; ++seat) {
    if (connections_[seat] == nullptr) continue;
    message.slot = static_cast<std::uint8_t>(seat);
    SendTo(*connections_[seat], Encode(message));
  }
}

// --- What it is asked

int Room::seated() const {
  return players_ -
         static_cast<int>(std::count(connections_.begin(),
                                     connections_.begin() + players_, nullptr));
}

int Room::held() const {
  return static_cast<int>(
      std::count_if(seats_.get(), seats_.get() + players_,
                    [](const Seat& seat) { return seat.held; }));
}

int Room::SeatOf(const Connection& connection) const {
  for (int seat = 0; seat < players_; ++seat) {
    if (connections_[seat] == &connection) return seat;
  }
  return -1;
}

std::size_t Room::memory_bytes() const {
  return sizeof(Room) +
         static_cast<std::size_t>(opened_for_) *
             (sizeof(Seat) + sizeof(Recent)) +
         (gather_ != nullptr ? gather_->memory_bytes() : 0);
}

}  // namespace parlor::lockstep
