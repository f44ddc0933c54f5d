// Who is in a room, and what they say. Ticks are in room_tick.cc.
#include "parlor/authority/room.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>
#include <variant>

#include "absl/status/status.h"
#include "authority/room_parts.h"
#include "parlor/authority/message.h"
#include "parlor/authority/schema.h"
#include "parlor/byte_io.h"
#include "parlor/check.h"
#include "parlor/status.h"

namespace parlor::authority {
namespace {

Duration Milliseconds(std::int64_t ms) { return std::chrono::milliseconds(ms); }

constexpr std::size_t kRefusalBytesMax = 200;

// Not in the middle of a character.
std::string_view Cut(std::string_view text, std::size_t bytes_max) {
  if (text.size() <= bytes_max) return text;
  std::size_t end = bytes_max;
  const auto continues = [&](std::size_t at) {
    return (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80;
  };
  while (end > 0 && continues(end)) --end;
  return text.substr(0, end);
}

absl::Status CheckNumbers(const RoomOptions& options) {
  const struct {
    const Limit& limit;
    std::int64_t value;
  } rows[] = {
      {limits::kSeats, options.seats},
      {limits::kTickHz, options.tick_hz},
      {limits::kSnapshotHz, options.snapshot_hz},
      {limits::kGraceMs, options.grace_ms},
      {limits::kJoinMs, options.join_ms},
      {limits::kUnjoined, options.unjoined},
      {parlor::limits::kMessageRate, options.message_rate_per_s},
      {parlor::limits::kMessageBurst, options.message_burst},
      {limits::kInputRate, options.input_rate_per_s},
      {limits::kInputsWaiting, options.inputs_waiting},
      {limits::kBaselineBytes, options.baseline_bytes_max},
  };
  for (const auto& row : rows) {
    absl::Status status = CheckLimit(row.limit, row.limit.name, row.value);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status ValidateOptions(const RoomOptions& options, const Schema& schema) {
  absl::Status numbers = CheckNumbers(options);
  if (!numbers.ok()) return numbers;
  if (!IsProtocol(options.protocol)) {
    return InvalidArgument("protocol: is not 1 to 64 printable ASCII letters");
  }
  if (options.snapshot_hz > options.tick_hz) {
    return InvalidArgument(
        "snapshot_hz: " + std::to_string(options.snapshot_hz) +
        " is above the ticks a second, " + std::to_string(options.tick_hz));
  }
  if (options.codecs.empty()) return InvalidArgument("codecs: there is none");
  for (const WireStateCodec* codec : options.codecs) {
    PARLOR_CHECK(codec != nullptr);
    const std::size_t largest = BaselineBytesMax(schema, *codec);
    if (largest > static_cast<std::size_t>(options.baseline_bytes_max)) {
      return InvalidArgument(
          "baseline_bytes_max: " + std::to_string(options.baseline_bytes_max) +
          " is less than the schema's largest baseline in " +
          std::string(codec->name()) + ", " + std::to_string(largest));
    }
  }
  return absl::OkStatus();
}

std::string_view NameOf(RoomNote note) {
  switch (note) {
    case RoomNote::kFailedTick:
      return "failed_tick";
    case RoomNote::kRefusedValue:
      return "refused_value";
    case RoomNote::kUnsent:
      return "unsent";
    case RoomNote::kEnded:
      return "ended";
  }
  PARLOR_CHECK(false);
  return {};
}

Room::Room(TimePoint now, RoomOptions options,
           std::unique_ptr<RoomAuthority> game, Entropy& entropy)
    : options_(std::move(options)),
      entropy_(entropy),
      opened_at_(now),
      game_(std::move(game)),
      schema_json_(game_->schema().ToJson()),
      rows_(game_->schema()),
      context_(std::make_unique<GameContext>(*this)),
      views_(std::make_unique<GameViews>(*this)),
      encoder_(rows_),
      has_views_(game_->has_views()),
      now_(now) {
  PARLOR_CHECK(ValidateOptions(options_, game_->schema()).ok());
  const auto seats = static_cast<std::size_t>(options_.seats);
  seats_.resize(seats);
  connections_.resize(seats);
  players_.reserve(seats);
  inputs_.reserve(seats);
}

Room::~Room() = default;

// --- Time

void Room::Advance(TimePoint now) {
  now_ = now;
  if (now >= alarm_) OnAlarm(now);
}

void Room::OnAlarm(TimePoint now) {
  now_ = now;
  if (ended_) return;
  EndVisits();
  EndHolds();
  RunTicks();
  alarm_ = NextDeadline();
}

TimePoint Room::NextDeadline() const {
  if (ended_) return kNever;
  TimePoint next = steps_ ? steps_->next() : kNever;
  if (!visitors_.empty()) next = std::min(next, visitors_.front().until);
  for (const std::unique_ptr<Seat>& seat : seats_) {
    if (seat != nullptr && seat->held) next = std::min(next, seat->hold_end);
  }
  return next;
}

// All have as long to join, so that who came first is due first.
void Room::EndVisits() {
  while (!visitors_.empty() && visitors_.front().until <= now_) {
    visitors_.front().connection->Close(CloseReason::kRefused);
    visitors_.erase(visitors_.begin());
  }
}

// In the order of their ends, by seat at one instant.
void Room::EndHolds() {
  while (!ended_) {
    int next = -1;
    for (int i = 0; i < options_.seats; ++i) {
      const std::unique_ptr<Seat>& held = seats_[static_cast<std::size_t>(i)];
      if (held == nullptr || !held->held || held->hold_end > now_) continue;
      if (next < 0 || held->hold_end < seat(next).hold_end) next = i;
    }
    if (next < 0) return;
    Remove(next);
  }
}

void Room::Wake() {
  if (steps_) return;
  steps_.emplace(now_, static_cast<int>(options_.tick_hz));
  baseline_due_ = true;
  alarm_ = std::min(alarm_, steps_->next());
}

void Room::Sleep() {
  if (!steps_) return;
  counters_.skipped_ticks += steps_->skipped();
  steps_.reset();
}

// --- Without a seat

void Room::Admit(TimePoint now, Connection& connection,
                 std::string_view identity) {
  Advance(now);
  PARLOR_CHECK(SeatOf(connection) < 0 &&
               VisitorOf(connection) == visitors_.size());
  if (ended_) {
    Say(connection, ErrorCode::kEnded, "the room is over");
    connection.Close(CloseReason::kRoomEnded);
    return;
  }
  if (visitors_.size() == static_cast<std::size_t>(options_.unjoined)) {
    visitors_.front().connection->Close(CloseReason::kRefused);
    visitors_.erase(visitors_.begin());
  }
  const TimePoint until = now + Milliseconds(options_.join_ms);
  visitors_.push_back({.connection = &connection,
                       .identity = std::string(identity),
                       .until = until,
                       .rate = RateCredit(now, MessageRate(options_))});
  alarm_ = std::min(alarm_, until);
}

// visitors_.size() for one that is none.
std::size_t Room::VisitorOf(const Connection& connection) const {
  const auto at = std::find_if(visitors_.begin(), visitors_.end(),
                               [&](const Visitor& visitor) {
                                 return visitor.connection == &connection;
                               });
  return static_cast<std::size_t>(at - visitors_.begin());
}

// It is forgotten, so that `visitor` names another one behind this.
void Room::Refuse(std::size_t visitor, ErrorCode code, std::string_view why,
                  CloseReason reason) {
  Connection& connection = Forget(visitor);
  Say(connection, code, why);
  connection.Close(reason);
}

Connection& Room::Forget(std::size_t visitor) {
  Connection& connection = *visitors_[visitor].connection;
  visitors_.erase(visitors_.begin() + static_cast<std::ptrdiff_t>(visitor));
  return connection;
}

bool Room::TakeFromVisitorRate(std::size_t visitor) {
  if (visitors_[visitor].rate.Take(now_, MessageRate(options_))) return true;
  ++counters_.kicked_rate;
  Refuse(visitor, ErrorCode::kRate, "too many messages",
         CloseReason::kMessageRate);
  return false;
}

void Room::OnVisitorMessage(std::size_t visitor, MessageKind kind,
                            std::span<const std::byte> bytes) {
  if (!TakeFromVisitorRate(visitor)) return;
  if (bytes.size() > kClientFrameBytesMax) {
    ++counters_.kicked_size;
    Forget(visitor).Close(CloseReason::kMessageSize);
    return;
  }
  if (kind != MessageKind::kText) {
    ++counters_.ignored;
    return;
  }
  const ClientFrame frame = ParseClientFrame(AsText(bytes));
  if (const auto* join = std::get_if<JoinFrame>(&frame)) {
    OnJoin(visitor, *join);
  } else if (std::holds_alternative<LeaveFrame>(frame)) {
    Forget(visitor).Close(CloseReason::kNormal);
  } else if (const auto* refusal = std::get_if<FrameRefusal>(&frame);
             refusal != nullptr && refusal->frame == "join") {
    OnMalformedJoin(visitor, *refusal);
  } else {
    ++counters_.ignored;
  }
}

void Room::OnMalformedJoin(std::size_t visitor, const FrameRefusal& refusal) {
  if (refusal.code == ErrorCode::kResumeRefused) {
    RefuseResume(visitor);
  } else {
    Refuse(visitor, refusal.code, Describe(refusal), CloseReason::kRefused);
  }
}

// The order of the checks is the contract's.
void Room::OnJoin(std::size_t visitor, const JoinFrame& join) {
  if (join.protocol != options_.protocol) {
    Refuse(visitor, ErrorCode::kProtocol, "another version of the game",
           CloseReason::kRefused);
  } else if (join.resume) {
    Resume(visitor, join);
  } else if (draining_) {
    Forget(visitor).Close(CloseReason::kRestart);
  } else if (locked_) {
    Refuse(visitor, ErrorCode::kLocked, "the room is locked",
           CloseReason::kRefused);
  } else if (const std::optional<std::string> why =
                 GameRefuses(visitors_[visitor], join)) {
    Refuse(visitor, ErrorCode::kRefused, *why, CloseReason::kRefused);
  } else if (const int number = LowestFreeSeat(); number < 0) {
    Refuse(visitor, ErrorCode::kFull, "the room is full",
           CloseReason::kRoomFull);
  } else {
    SeatVisitor(visitor, number, join);
  }
}

std::optional<std::string> Room::GameRefuses(const Visitor& visitor,
                                             const JoinFrame& join) {
  absl::Status status;
  const JoinRequest request{
      .name = join.name, .fields = join.fields, .identity = visitor.identity};
  if (!Guarded("validate_join",
               [&] { status = game_->ValidateJoin(request); })) {
    return "";
  }
  if (status.ok()) return std::nullopt;
  return std::string(Cut(StatusText(status), kRefusalBytesMax));
}

int Room::LowestFreeSeat() const {
  const auto free = std::find(seats_.begin(), seats_.end(), nullptr);
  return free == seats_.end() ? -1 : static_cast<int>(free - seats_.begin());
}

int Room::CodecFor(const JoinFrame& join) const {
  for (const std::string& name : join.codecs) {
    for (std::size_t i = 0; i < options_.codecs.size(); ++i) {
      if (options_.codecs[i]->name() == name) return static_cast<int>(i);
    }
  }
  return static_cast<int>(options_.codecs.size()) - 1;
}

void Room::SeatVisitor(std::size_t visitor, int number, const JoinFrame& join) {
  const auto index = static_cast<std::size_t>(number);
  seats_[index] = std::make_unique<Seat>(now_, options_);
  Seat& taken = *seats_[index];
  taken.rate = visitors_[visitor].rate;
  taken.client.codec = CodecFor(join);
  Player player{.seat = number,
                .id = "p" + std::to_string(++players_ever_),
                .name = join.name,
                .fields = join.fields,
                .identity = std::move(visitors_[visitor].identity)};
  Connection& connection = Forget(visitor);
  connections_[index] = &connection;
  const auto at = std::ranges::lower_bound(players_, number, {}, &Player::seat);
  const Player& added = *players_.insert(at, std::move(player));
  Wake();
  ChooseHost();
  if (Guarded("add_player", [&] { game_->AddPlayer(*context_, added); })) {
    return;
  }
  Say(connection, ErrorCode::kRefused, "");
  connection.Close(CloseReason::kRefused);
  Vacate(number);
  if (players_.empty()) OnEmpty();
}

// --- Coming back

// Compares with every seat, found or not: how long it takes says nothing about
// how near a guess came.
int Room::SeatOfToken(const ResumeToken& token) const {
  int found = -1;
  for (int i = 0; i < options_.seats; ++i) {
    const std::unique_ptr<Seat>& seat = seats_[static_cast<std::size_t>(i)];
    if (seat != nullptr && seat->tokens.Opens(token)) found = i;
  }
  return found;
}

void Room::RefuseResume(std::size_t visitor) {
  ++counters_.resumes_refused;
  Say(*visitors_[visitor].connection, ErrorCode::kResumeRefused,
      "the seat is gone");
}

void Room::Resume(std::size_t visitor, const JoinFrame& join) {
  const int number = SeatOfToken(*join.resume);
  if (number < 0) return RefuseResume(visitor);
  Player& player = *FindPlayer(number);
  if (!player.identity.empty() &&
      player.identity != visitors_[visitor].identity) {
    return RefuseResume(visitor);
  }
  ++counters_.resumes;
  Connection& connection = Forget(visitor);
  // The old link may look alive here long after it died there: the token is
  // what says who sits in the seat.
  Connection* const old = Disconnect(number);
  if (old != nullptr) old->Close(CloseReason::kResumed);
  connections_[static_cast<std::size_t>(number)] = &connection;
  Seat& taken = seat(number);
  taken.held = false;
  taken.tokens.Present(*join.resume);
  taken.inputs.Restart();
  taken.client.codec = CodecFor(join);
  taken.camera.stale = !taken.camera.json.empty();
  taken.hud.stale = !taken.hud.json.empty();
  player.connected = true;
  ChooseHost();
}

// --- With a seat

void Room::OnMessage(TimePoint now, Connection& connection, MessageKind kind,
                     std::span<const std::byte> bytes) {
  Advance(now);
  const int number = SeatOf(connection);
  if (number < 0) {
    const std::size_t visitor = VisitorOf(connection);
    if (visitor < visitors_.size()) OnVisitorMessage(visitor, kind, bytes);
    return;
  }
  if (!TakeFromRate(number)) return;
  if (bytes.size() > kClientFrameBytesMax) {
    ++counters_.kicked_size;
    PutOut(number, std::nullopt, CloseReason::kMessageSize);
  } else if (kind == MessageKind::kText) {
    OnText(number, AsText(bytes));
  } else if (const std::optional<InputFrame> input = DecodeInput(bytes)) {
    OnInput(number, *input);
  } else if (const std::optional<std::uint32_t> tick = DecodeAck(bytes)) {
    OnAck(number, *tick);
  } else {
    ++counters_.ignored;
  }
}

void Room::OnControl(TimePoint now, Connection& connection) {
  Advance(now);
  const int number = SeatOf(connection);
  if (number >= 0) {
    TakeFromRate(number);
  } else if (const std::size_t visitor = VisitorOf(connection);
             visitor < visitors_.size()) {
    TakeFromVisitorRate(visitor);
  }
}

bool Room::TakeFromRate(int number) {
  if (seat(number).rate.Take(now_, MessageRate(options_))) return true;
  PutOutForRate(number);
  return false;
}

void Room::PutOutForRate(int number) {
  ++counters_.kicked_rate;
  PutOut(number, ErrorCode::kRate, CloseReason::kMessageRate);
}

void Room::OnText(int number, std::string_view text) {
  const ClientFrame frame = ParseClientFrame(text);
  if (const auto* input = std::get_if<InputFrame>(&frame)) {
    OnInput(number, *input);
  } else if (const auto* ack = std::get_if<AckFrame>(&frame)) {
    OnAck(number, ack->tick);
  } else if (const auto* rtt = std::get_if<RttFrame>(&frame)) {
    SendText(number, Write(RoomRttFrame{.at = rtt->at, .server = RoomMs()}));
  } else if (std::holds_alternative<ResyncFrame>(frame)) {
    OnResync(number);
  } else if (std::holds_alternative<LeaveFrame>(frame)) {
    PutOut(number, std::nullopt, CloseReason::kNormal);
  } else if (const auto* message = std::get_if<MsgFrame>(&frame)) {
    if (TakeFromBudget(number)) OnMsg(number, *message);
  } else if (std::holds_alternative<FrameRefusal>(frame)) {
    // Answered, so it costs as much as a text that is one.
    if (TakeFromBudget(number)) TellDropped(number);
  } else {
    OnForeignText(number, frame);
  }
}

// What no room of this kind answers. Chat, pings and the leader's frames draw
// on the budget wherever they go; a publish has a quota of its own.
void Room::OnForeignText(int number, const ClientFrame& frame) {
  const bool budgeted = std::holds_alternative<ChatFrame>(frame) ||
                        std::holds_alternative<PingFrame>(frame) ||
                        std::holds_alternative<ModFrame>(frame);
  if (budgeted && !TakeFromBudget(number)) return;
  ++counters_.ignored;
}

void Room::OnInput(int number, const InputFrame& input) {
  Seat& from = seat(number);
  if (!from.input_rate.Take(now_, InputRate(options_))) {
    PutOutForRate(number);
  } else if (from.inputs.Add(now_, input) == InputQueue::Put::kStale) {
    ++counters_.stale_inputs;
  }
}

void Room::OnAck(int number, std::uint32_t tick) {
  Seat& from = seat(number);
  Client& client = from.client;
  if (tick <= client.acked_tick || tick > client.sent_tick) {
    ++counters_.stale_acks;
    return;
  }
  client.acked_tick = tick;
  client.heard_tick = tick_;
  from.tokens.OnAck();
}

// Granted once a second, by the next snapshot that is due to it.
void Room::OnResync(int number) {
  Client& client = seat(number).client;
  if (!client.welcomed || tick_ < client.resync_tick) {
    ++counters_.ignored;
    return;
  }
  client.resync_tick = tick_ + static_cast<std::uint32_t>(options_.tick_hz);
  client.wants_baseline = true;
}

// False when there is none left; the seat may be gone then.
bool Room::TakeFromBudget(int number) {
  switch (seat(number).budget.Take(now_)) {
    case TextBudget::Verdict::kOk:
      return true;
    case TextBudget::Verdict::kFirstRefusal:
      SendText(number, Write(ErrorFrame{.code = ErrorCode::kBudget,
                                        .message = "too many messages"}));
      break;
    case TextBudget::Verdict::kRefused:
      break;
    case TextBudget::Verdict::kDrop:
      ++counters_.kicked_rate;
      PutOut(number, ErrorCode::kBudget, CloseReason::kMessageRate);
      return false;
  }
  CountDropped(number);
  return false;
}

void Room::OnMsg(int number, const MsgFrame& frame) {
  if (game_->messages().Check(frame.name, frame.payload) !=
      MessageVerdict::kOk) {
    return TellDropped(number);
  }
  ++counters_.received;
  ++seat(number).counters.received;
  context_->Keep(number, frame.name, frame.payload);
  Guarded("on_message", [&] {
    game_->OnMessage(*context_, number, frame.name, frame.payload);
  });
}

void Room::CountDropped(int number) {
  ++counters_.dropped;
  ++seat(number).counters.dropped;
}

void Room::TellDropped(int number) {
  CountDropped(number);
  SendText(number, Write(ErrorFrame{.code = ErrorCode::kPayload,
                                    .message = "not a message of this game"}));
}

// --- Going away

void Room::OnClose(TimePoint now, Connection& connection, CloseCode code) {
  Advance(now);
  const int number = SeatOf(connection);
  if (number < 0) {
    const std::size_t visitor = VisitorOf(connection);
    if (visitor < visitors_.size()) Forget(visitor);
    return;
  }
  if (IsDrop(code)) {
    Drop(number);
  } else {
    Remove(number);
  }
}

// What was on its way to the connection goes nowhere.
Connection* Room::Disconnect(int number) {
  encoder_.RemoveViewer(number);
  seat(number).client = Client();
  return std::exchange(connections_[static_cast<std::size_t>(number)], nullptr);
}

// Who was not welcomed has no token to come back with.
void Room::Drop(int number) {
  Seat& dropped = seat(number);
  Disconnect(number);
  if (options_.grace_ms == 0 || !dropped.tokens.any()) return Remove(number);
  dropped.held = true;
  dropped.hold_end = now_ + Milliseconds(options_.grace_ms);
  dropped.inputs.Release();
  alarm_ = std::min(alarm_, dropped.hold_end);
  FindPlayer(number)->connected = false;
  ChooseHost();
}

void Room::PutOut(int number, std::optional<ErrorCode> code,
                  CloseReason reason) {
  Connection* const old = Disconnect(number);
  if (old != nullptr) {
    if (code) Say(*old, *code, "put out");
    old->Close(reason);
  }
  Remove(number);
}

// Its connection, if it has one, is not told.
void Room::Remove(int number) {
  const Player player = Vacate(number);
  Guarded("remove_player", [&] { game_->RemovePlayer(*context_, player); });
  if (players_.empty()) OnEmpty();
}

// Nobody has the seat any more, and the game does not know.
Player Room::Vacate(int number) {
  const auto index = static_cast<std::size_t>(number);
  encoder_.RemoveViewer(number);
  context_->Forget(number);
  connections_[index] = nullptr;
  seats_[index].reset();
  Player* const at = FindPlayer(number);
  Player player = std::move(*at);
  players_.erase(players_.begin() + (at - players_.data()));
  ChooseHost();
  return player;
}

void Room::OnEmpty() {
  if (draining_) {
    Finish(CloseReason::kRestart);
  } else if (options_.end_when_empty) {
    Finish(CloseReason::kRoomEnded);
  } else {
    Sleep();
  }
}

// Whoever is host stays it while connected; else it is the lowest seat that
// is. The roster has changed, whoever it is: this comes with every change.
void Room::ChooseHost() {
  Player* lowest = nullptr;
  bool found = false;
  for (Player& player : players_) {
    player.host = player.host && player.connected;
    found = found || player.host;
    if (lowest == nullptr && player.connected) lowest = &player;
  }
  if (!found && lowest != nullptr) lowest->host = true;
  TellRoster();
}

void Room::Kick(TimePoint now, int number, CloseReason reason) {
  Advance(now);
  if (FindPlayer(number) != nullptr) PutOut(number, std::nullopt, reason);
}

void Room::SetLocked(TimePoint now, bool locked) {
  Advance(now);
  if (std::exchange(locked_, locked) != locked) TellRoster();
}

void Room::Drain(TimePoint now) {
  Advance(now);
  draining_ = true;
  if (players_.empty() && !ended_) OnEmpty();
}

void Room::End(TimePoint now, CloseReason reason) {
  Advance(now);
  // No seat outlives the process: nobody is told to come back.
  if (reason == CloseReason::kRestart) reason = CloseReason::kRoomEnded;
  if (!ended_) Finish(reason);
}

void Room::Finish(CloseReason reason) {
  ended_ = true;
  alarm_ = kNever;
  Sleep();
  const auto close = [&](Connection* connection) {
    if (connection == nullptr) return;
    if (reason == CloseReason::kRoomEnded) {
      Say(*connection, ErrorCode::kEnded, "the room is over");
    }
    connection->Close(reason);
  };
  for (Connection*& connection : connections_) {
    close(std::exchange(connection, nullptr));
  }
  for (const Visitor& visitor : visitors_) close(visitor.connection);
  visitors_.clear();
  for (std::unique_ptr<Seat>& seat : seats_) seat.reset();
  players_.clear();
  Note(RoomNote::kEnded, Describe(reason).name);
}

// --- What it says, and what it is asked

// Straight to a connection that is about to go, or that has no seat.
void Room::Say(Connection& connection, ErrorCode code,
               std::string_view why) const {
  connection.Send(
      Lane::kReliable, MessageKind::kText,
      AsBytes(Write(ErrorFrame{.code = code, .message = std::string(why)})));
}

void Room::Note(RoomNote note, std::string_view what) const {
  if (sink_ != nullptr) sink_->OnNote(now_, note, what);
}

std::int64_t Room::RoomMs() const { return (now_ - opened_at_) / kMillisecond; }

Player* Room::FindPlayer(int number) {
  const auto at = std::ranges::lower_bound(players_, number, {}, &Player::seat);
  return at == players_.end() || at->seat != number ? nullptr : &*at;
}

int Room::SeatOf(const Connection& connection) const {
  const auto at =
      std::find(connections_.begin(), connections_.end(), &connection);
  return at == connections_.end() ? -1
                                  : static_cast<int>(at - connections_.begin());
}

int Room::seated() const {
  return static_cast<int>(
      std::count_if(players_.begin(), players_.end(),
                    [](const Player& player) { return player.connected; }));
}

int Room::held() const { return static_cast<int>(players_.size()) - seated(); }

PlayerCounters Room::player_counters(int number) const {
  if (number < 0 || number >= options_.seats) return {};
  const std::unique_ptr<Seat>& asked = seats_[static_cast<std::size_t>(number)];
  return asked == nullptr ? PlayerCounters() : asked->counters;
}

RoomCounters Room::counters() const {
  RoomCounters counters = counters_;
  if (steps_) counters.skipped_ticks += steps_->skipped();
  counters.refused_values += rows_.refusals();
  return counters;
}

std::size_t Room::memory_bytes() const {
  std::size_t bytes = sizeof(Room) + context_->memory_bytes() +
                      seats_.capacity() * sizeof(seats_[0]) +
                      connections_.capacity() * sizeof(void*) +
                      players_.capacity() * sizeof(Player) +
                      visitors_.capacity() * sizeof(Visitor) +
                      inputs_.capacity() * sizeof(SeatInput) +
                      schema_json_.capacity();
  if (roster_) bytes += roster_->bytes().size();
  for (const Player& player : players_) {
    bytes += player.name.capacity() + player.fields.capacity() +
             player.identity.capacity();
  }
  for (const Visitor& visitor : visitors_) bytes += visitor.identity.capacity();
  for (const std::unique_ptr<Seat>& seat : seats_) {
    if (seat == nullptr) continue;
    bytes +=
        sizeof(Seat) + seat->camera.json.capacity() + seat->hud.json.capacity();
    for (const Payload& waiting : seat->client.waiting) {
      bytes += sizeof(Payload) + waiting.bytes().size();
    }
  }
  return bytes;
}

}  // namespace parlor::authority
