#include "sim/swarm_play_room.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "parlor/authority/frames.h"
#include "parlor/authority/input.h"
#include "parlor/authority/message.h"
#include "parlor/authority/room.h"
#include "parlor/authority/state_edits.h"
#include "parlor/authority/state_receiver.h"
#include "parlor/authority/values.h"
#include "parlor/byte_io.h"
#include "parlor/check.h"
#include "parlor/close_reason.h"
#include "parlor/connection.h"
#include "parlor/entropy.h"
#include "parlor/lane.h"
#include "parlor/time.h"
#include "sim/swarm_play_game.h"

namespace parlor::test {
namespace {

using authority::ErrorCode;
using authority::StateKind;
using authority::StateOutcome;

// The contract's ("Join, resume, reap" 3).
bool IsHeldBehind(CloseCode code) {
  switch (code) {
    case 1001:
    case 1005:
    case 1006:
    case 1011:
    case 1012:
    case 1014:
      return true;
    default:
      return false;
  }
}

std::optional<StateKind> StateKindOf(MessageKind kind,
                                     std::span<const std::byte> bytes) {
  if (kind == MessageKind::kBinary) {
    PARLOR_CHECK(!bytes.empty());
    return static_cast<StateKind>(bytes[0]);
  }
  const std::string_view text = AsText(bytes);
  if (text.starts_with(R"({"t":"baseline")")) return StateKind::kBaseline;
  if (text.starts_with(R"({"t":"delta")")) return StateKind::kDelta;
  if (text.starts_with(R"({"t":"recovery")")) return StateKind::kRecovery;
  return std::nullopt;
}

}  // namespace

// A connection as the room sees it.
class WatchedRoom::Guest final : public Connection {
 public:
  Guest(WatchedRoom& room, Connection& inner) : room_(room), inner_(inner) {}

  void SetHandler(ConnectionHandler* handler) override {
    inner_.SetHandler(handler);
  }
  SendResult Send(Lane lane, MessageKind kind,
                  std::span<const std::byte> bytes) override {
    room_.OnSaid(*this, lane, kind, bytes);
    return inner_.Send(lane, kind, bytes);
  }
  SendResult Send(Lane lane, const Payload& payload) override {
    room_.OnSaid(*this, lane, payload.kind(), payload.bytes());
    return inner_.Send(lane, payload);
  }
  std::size_t queued_bytes(Lane lane) const override {
    return inner_.queued_bytes(lane);
  }
  using Connection::Close;
  void Close(CloseCode code, std::string_view text) override {
    room_.OnToldClose(*this, code);
    inner_.Close(code, text);
  }
  void Abort() override { inner_.Abort(); }
  bool is_open() const override { return inner_.is_open(); }
  std::string_view identity() const override { return inner_.identity(); }

  bool Is(const Connection& connection) const { return &inner_ == &connection; }

  enum class State : std::uint8_t { kVisitor, kSeated, kDone };
  State state = State::kVisitor;
  int seat = -1;
  TimePoint until{};  // its join has to come before
  Credit messages{};
  std::vector<std::string> codecs{};  // that it reads
  std::vector<ErrorCode> errors{};    // that it was told in this call
  CloseCode told = 0;
  // With a seat.
  bool welcomed = false;
  bool has_baseline = false;  // the welcome's
  bool has_delta = false;     // the same
  std::uint32_t newest_seq = 0;
  std::uint32_t sent_tick = 0;
  std::uint32_t acked_tick = 0;
  std::uint32_t heard_tick = 0;
  std::uint32_t recovery_tick = 0;  // none is told before it
  std::uint32_t baseline_tick = 0;  // when the last one was given
  std::size_t behind = 0;           // bytes, reliable, behind the last baseline
  std::vector<std::byte> baseline{};  // the last
  std::unique_ptr<authority::StateReceiver> shown{};

 private:
  WatchedRoom& room_;
  Connection& inner_;
};

WatchedRoom::WatchedRoom(TimePoint now, const authority::RoomOptions& options,
                         PlayBook& book, PlayRoomBook& room,
                         PlayFigures& figures, std::uint64_t seed,
                         Entropy& entropy)
    : book_(book),
      book_of_room_(room),
      figures_(figures),
      game_(new PlayGame(book, room, seed)),
      room_(now, options, std::unique_ptr<PlayGame>(game_), entropy),
      now_(now) {
  room.room = this;
}

WatchedRoom::~WatchedRoom() {
  figures_.failed_ticks += game_->failed_ticks();
  book_of_room_.room = nullptr;
}

void WatchedRoom::Fail(const std::string& what) {
  book_.Fail(book_of_room_.name + " at tick " + std::to_string(room_.tick()) +
             ": " + what);
}

void WatchedRoom::Fail(const Guest& guest, const std::string& what) {
  const Seat* const seat = SeatOf(guest);
  Fail((seat == nullptr ? std::string("one without a seat")
                        : seat->name + " (p" + std::to_string(seat->number) +
                              ") in seat " + std::to_string(guest.seat)) +
       ": " + what);
}

WatchedRoom::Guest* WatchedRoom::Find(const Connection& connection) {
  const auto at = std::ranges::find_if(
      guests_, [&](const Guest& guest) { return guest.Is(connection); });
  return at == guests_.end() ? nullptr : &*at;
}

WatchedRoom::Seat* WatchedRoom::SeatOf(const Guest& guest) {
  const auto at = seats_.find(guest.seat);
  return at == seats_.end() || at->second.guest != &guest ? nullptr
                                                          : &at->second;
}

int WatchedRoom::LowestFree() const {
  for (int seat = 0; seat < room_.options().seats; ++seat) {
    if (!seats_.contains(seat)) return seat;
  }
  return -1;
}

std::vector<WatchedRoom::Token> WatchedRoom::LiveTokens() const {
  std::vector<Token> tokens;
  for (const auto& [number, seat] : seats_) {
    if (seat.issued) tokens.push_back({seat.name, *seat.issued});
    if (seat.proven) tokens.push_back({seat.name, *seat.proven});
  }
  return tokens;
}

std::vector<authority::ResumeToken> WatchedRoom::DeadTokens() const {
  std::vector<authority::ResumeToken> tokens;
  for (const authority::ResumeToken& token : tokens_) {
    if (std::ranges::none_of(seats_, [&](const auto& seat) {
          return seat.second.Opens(token);
        })) {
      tokens.push_back(token);
    }
  }
  return tokens;
}

// ---- Time

void WatchedRoom::Enter(TimePoint now) {
  now_ = now;
  if (is_done()) return;
  EndDeadlines();
  if (room_.next_alarm() > now) return;
  in_time_ = true;
  room_.OnAlarm(now);
  in_time_ = false;
  Settle();
}

void WatchedRoom::EndDeadlines() {
  std::vector<int> over;
  for (const auto& [number, seat] : seats_) {
    if (seat.guest == nullptr && seat.held_until <= now_) {
      over.push_back(number);
    }
  }
  for (const int number : over) {
    ++figures_.holds_ended;
    EraseSeat(number);
  }
}

void WatchedRoom::OnAlarm(TimePoint now) {
  if (is_done()) return room_.OnAlarm(now);
  Enter(now);
}

// ---- Connections

void WatchedRoom::Admit(TimePoint now, Connection& connection,
                        std::string_view identity) {
  Enter(now);
  Guest& guest = guests_.emplace_back(*this, connection);
  guest.until = now + room_.options().join_ms * kMillisecond;
  guest.messages =
      Full(room_.options().message_rate_per_s, room_.options().message_burst);
  room_.Admit(now, guest, identity);
  if (ended_) {
    guest.state = Guest::State::kDone;
    return Told(guest, ErrorCode::kEnded, close_code::kRoomEnded);
  }
  Told(guest, std::nullopt, 0);
  Settle();
}

void WatchedRoom::OnMessage(TimePoint now, Connection& connection,
                            MessageKind kind,
                            std::span<const std::byte> bytes) {
  Enter(now);
  Guest* const guest = Find(connection);
  PARLOR_CHECK(guest != nullptr);
  guest->errors.clear();
  const bool done = is_done() || guest->state == Guest::State::kDone;
  const CloseCode told = guest->told;
  const bool within = done || MessagesOf(*guest).Take(now);
  room_.OnMessage(now, *guest, kind, bytes);
  if (done) {
    if (guest->told != told) Fail("closes who is gone");
    return;
  }
  if (within) {
    Judge(*guest, kind, bytes);
  } else {
    PutOut(*guest, ErrorCode::kRate, close_code::kPolicy);
  }
  Settle();
}

void WatchedRoom::OnControl(TimePoint now, Connection& connection) {
  Enter(now);
  Guest* const guest = Find(connection);
  PARLOR_CHECK(guest != nullptr);
  guest->errors.clear();
  const bool done = is_done() || guest->state == Guest::State::kDone;
  const bool within = done || MessagesOf(*guest).Take(now);
  room_.OnControl(now, *guest);
  if (done) return;
  if (within) {
    Told(*guest, std::nullopt, 0);
  } else {
    PutOut(*guest, ErrorCode::kRate, close_code::kPolicy);
  }
  Settle();
}

void WatchedRoom::OnClose(TimePoint now, Connection& connection,
                          CloseCode code) {
  Enter(now);
  const auto at = std::ranges::find_if(
      guests_, [&](const Guest& guest) { return guest.Is(connection); });
  PARLOR_CHECK(at != guests_.end());
  room_.OnClose(now, *at, code);
  if (!is_done() && SeatOf(*at) != nullptr) {
    if (IsHeldBehind(code)) {
      DropSeat(at->seat);
    } else {
      EraseSeat(at->seat);
    }
  }
  guests_.erase(at);
  Settle();
}

void WatchedRoom::Drain(TimePoint now) {
  Enter(now);
  draining_ = true;
  room_.Drain(now);
  Settle();
}

void WatchedRoom::End(TimePoint now, CloseReason reason) {
  Enter(now);
  ends_ = true;
  room_.End(now, reason);
  Settle();
}

void WatchedRoom::Told(Guest& guest, std::optional<ErrorCode> error,
                       CloseCode close) {
  if (guest.told != close) {
    Fail(guest, "is closed with " + std::to_string(guest.told) + " and not " +
                    std::to_string(close));
  }
  const std::size_t errors = error ? 1 : 0;
  if (guest.errors.size() != errors || (error && guest.errors[0] != *error)) {
    Fail(guest, "is told of " + std::to_string(guest.errors.size()) +
                    " errors, or of another one than " +
                    (error ? std::string(authority::Word(*error)) : "none"));
  }
  if (close != 0) guest.state = Guest::State::kDone;
}

// ---- How much may be said

bool WatchedRoom::Credit::Take(TimePoint now) {
  constexpr std::int64_t kOne = 1'000'000'000;
  left = std::min(burst * kOne, left + (now - at).count() * per_s);
  at = now;
  if (left < kOne) return false;
  left -= kOne;
  return true;
}

WatchedRoom::Budget::Verdict WatchedRoom::Budget::Take(TimePoint now) {
  for (; more_at <= now; more_at += 5 * kSecond) left = std::min(40, left + 20);
  if (left > 0) {
    --left;
    refused = 0;
    return Verdict::kOk;
  }
  ++refused;
  if (refused >= 100) return Verdict::kPutOut;
  return refused == 1 ? Verdict::kTold : Verdict::kDropped;
}

WatchedRoom::Credit WatchedRoom::Full(std::int64_t per_s,
                                      std::int64_t burst) const {
  return {.per_s = per_s,
          .burst = burst,
          .left = burst * 1'000'000'000,
          .at = now_};
}

WatchedRoom::Credit& WatchedRoom::MessagesOf(Guest& guest) {
  Seat* const seat = SeatOf(guest);
  return seat == nullptr ? guest.messages : seat->messages;
}

void WatchedRoom::PutOut(Guest& guest, std::optional<ErrorCode> error,
                         CloseCode close) {
  const bool seated = SeatOf(guest) != nullptr;
  const int number = guest.seat;
  Told(guest, error, close);
  if (!seated) return;
  ++figures_.put_out;
  EraseSeat(number);
}

// What is told before its welcome waits for that.
void WatchedRoom::ToldInPlay(const Guest& guest,
                             std::optional<ErrorCode> error) {
  if (!guest.welcomed) return;
  const std::size_t errors = error ? 1 : 0;
  if (guest.errors.size() != errors || (error && guest.errors[0] != *error)) {
    Fail(guest, "is told of " + std::to_string(guest.errors.size()) +
                    " errors, or of another one than " +
                    (error ? std::string(authority::Word(*error)) : "none"));
  }
}

bool WatchedRoom::TakeText(Guest& guest, Seat& seat,
                           const authority::ClientFrame& frame) {
  const auto* const message = std::get_if<authority::MsgFrame>(&frame);
  const bool refused = std::holds_alternative<authority::FrameRefusal>(frame);
  if (message == nullptr && !refused &&
      !std::holds_alternative<authority::ChatFrame>(frame) &&
      !std::holds_alternative<authority::PingFrame>(frame) &&
      !std::holds_alternative<authority::ModFrame>(frame)) {
    ToldInPlay(guest, std::nullopt);
    return true;
  }
  switch (seat.texts.Take(now_)) {
    case Budget::Verdict::kPutOut:
      PutOut(guest, ErrorCode::kBudget, close_code::kPolicy);
      return false;
    case Budget::Verdict::kTold:
      ++dropped_;
      ToldInPlay(guest, ErrorCode::kBudget);
      return true;
    case Budget::Verdict::kDropped:
      ++dropped_;
      ToldInPlay(guest, std::nullopt);
      return true;
    case Budget::Verdict::kOk:
      break;
  }
  const bool wrong =
      refused || (message != nullptr &&
                  PlayMessages().Check(message->name, message->payload) !=
                      authority::MessageVerdict::kOk);
  if (wrong) ++dropped_;
  ToldInPlay(guest, wrong ? std::optional(ErrorCode::kPayload) : std::nullopt);
  return true;
}

// ---- What a message must come to

void WatchedRoom::Judge(Guest& guest, MessageKind kind,
                        std::span<const std::byte> bytes) {
  if (bytes.size() > authority::kClientFrameBytesMax) {
    return PutOut(guest, std::nullopt, close_code::kTooBig);
  }
  if (SeatOf(guest) != nullptr) return JudgeSeated(guest, kind, bytes);
  JudgeVisitor(guest, kind, bytes);
}

void WatchedRoom::JudgeVisitor(Guest& guest, MessageKind kind,
                               std::span<const std::byte> bytes) {
  if (kind != MessageKind::kText) return Told(guest, std::nullopt, 0);
  const authority::ClientFrame frame =
      authority::ParseClientFrame(AsText(bytes));
  if (const auto* const join = std::get_if<authority::JoinFrame>(&frame)) {
    return JudgeJoin(guest, *join);
  }
  if (std::holds_alternative<authority::LeaveFrame>(frame)) {
    return Told(guest, std::nullopt, close_code::kNormal);
  }
  const auto* const refusal = std::get_if<authority::FrameRefusal>(&frame);
  if (refusal == nullptr || refusal->frame != "join") {
    return Told(guest, std::nullopt, 0);
  }
  if (refusal->code == ErrorCode::kResumeRefused) {
    ++resumes_refused_;
    return Told(guest, ErrorCode::kResumeRefused, 0);
  }
  Told(guest, refusal->code, close_code::kPolicy);
}

void WatchedRoom::JudgeJoin(Guest& guest, const authority::JoinFrame& join) {
  if (join.protocol != kPlayProtocol) {
    return Told(guest, ErrorCode::kProtocol, close_code::kPolicy);
  }
  guest.codecs = join.codecs;
  if (join.resume) return JudgeResume(guest, *join.resume);
  if (draining_) return Told(guest, std::nullopt, close_code::kRestart);
  if (join.fields != "{}") {
    return Told(guest, ErrorCode::kRefused, close_code::kPolicy);
  }
  const int number = LowestFree();
  if (number < 0) return Told(guest, ErrorCode::kFull, close_code::kRoomFull);
  ++players_ever_;
  if (game_->add_threw()) {
    Told(guest, ErrorCode::kRefused, close_code::kPolicy);
    had_seats_ = true;
    return;
  }
  Told(guest, std::nullopt, 0);
  ++figures_.joins;
  guest.state = Guest::State::kSeated;
  guest.seat = number;
  had_seats_ = true;
  seats_[number] = {.number = players_ever_,
                    .name = join.name,
                    .guest = &guest,
                    .messages = guest.messages,
                    .inputs = Full(room_.options().input_rate_per_s,
                                   2 * room_.options().input_rate_per_s),
                    .texts = {.more_at = now_ + 5 * kSecond}};
  ChooseHost();
}

void WatchedRoom::JudgeResume(Guest& guest,
                              const authority::ResumeToken& token) {
  const auto at = std::ranges::find_if(
      seats_, [&](const auto& seat) { return seat.second.Opens(token); });
  if (at == seats_.end()) {
    ++resumes_refused_;
    ++figures_.refused_tokens;
    return Told(guest, ErrorCode::kResumeRefused, 0);
  }
  ++resumes_;
  Seat& seat = at->second;
  if (Guest* const old = std::exchange(seat.guest, nullptr)) {
    ++figures_.takeovers;
    if (old->told != close_code::kResumed) {
      Fail(guest, "takes a seat over, and the connection that had it is told " +
                      std::to_string(old->told) + " and not 4001");
    }
    old->state = Guest::State::kDone;
  } else {
    ++figures_.resumes;
  }
  Told(guest, std::nullopt, 0);
  guest.state = Guest::State::kSeated;
  guest.seat = at->first;
  seat.guest = &guest;
  seat.proven = token;
  ChooseHost();
}

void WatchedRoom::JudgeSeated(Guest& guest, MessageKind kind,
                              std::span<const std::byte> bytes) {
  Seat& seat = *SeatOf(guest);
  std::optional<authority::InputFrame> input;
  std::optional<std::uint32_t> ack;
  if (kind == MessageKind::kText) {
    const authority::ClientFrame frame =
        authority::ParseClientFrame(AsText(bytes));
    if (std::holds_alternative<authority::LeaveFrame>(frame)) {
      const int number = guest.seat;
      Told(guest, std::nullopt, close_code::kNormal);
      return EraseSeat(number);
    }
    if (const auto* const it = std::get_if<authority::InputFrame>(&frame)) {
      input = *it;
    } else if (const auto* const a = std::get_if<authority::AckFrame>(&frame)) {
      ack = a->tick;
    } else if (!TakeText(guest, seat, frame)) {
      return;
    }
  } else {
    input = authority::DecodeInput(bytes);
    if (!input) ack = authority::DecodeAck(bytes);
  }
  if (input && !seat.inputs.Take(now_)) {
    return PutOut(guest, ErrorCode::kRate, close_code::kPolicy);
  }
  if (guest.told != 0) {
    Fail(guest, "is closed with " + std::to_string(guest.told) +
                    " for what it may say");
  }
  if (input) OnInput(guest, *input);
  if (ack) OnAck(guest, seat, *ack);
}

void WatchedRoom::OnInput(Guest& guest, const authority::InputFrame& input) {
  if (input.seq <= guest.newest_seq) {
    ++stale_inputs_;
  } else {
    guest.newest_seq = input.seq;
  }
}

// Once it acked what this connection was sent, only the newest token is alive.
void WatchedRoom::OnAck(Guest& guest, Seat& seat, std::uint32_t tick) {
  if (tick <= guest.acked_tick || tick > guest.sent_tick) {
    ++stale_acks_;
    return;
  }
  guest.acked_tick = tick;
  guest.heard_tick = room_.tick();
  seat.proven.reset();
}

// ---- Seats

void WatchedRoom::EraseSeat(int number) {
  seats_.erase(number);
  ChooseHost();
}

void WatchedRoom::DropSeat(int number) {
  Seat& seat = seats_.at(number);
  seat.guest = nullptr;
  if (room_.options().grace_ms == 0 || (!seat.proven && !seat.issued)) {
    return EraseSeat(number);
  }
  seat.held_until = now_ + room_.options().grace_ms * kMillisecond;
  ChooseHost();
}

void WatchedRoom::ChooseHost() {
  Seat* lowest = nullptr;
  bool found = false;
  for (auto& [number, seat] : seats_) {
    seat.host = seat.host && seat.guest != nullptr;
    found = found || seat.host;
    if (lowest == nullptr && seat.guest != nullptr) lowest = &seat;
  }
  if (!found && lowest != nullptr) lowest->host = true;
}

// ---- What the room says

void WatchedRoom::OnSaid(Guest& guest, Lane lane, MessageKind kind,
                         std::span<const std::byte> bytes) {
  if (is_done()) return;
  if (guest.told != 0) Fail(guest, "is told something behind its close");
  if (StateKindOf(kind, bytes)) {
    OnState(guest, lane, kind, bytes);
  } else if (lane != Lane::kReliable) {
    Fail(guest, "is told a text on the state lane");
  } else {
    OnText(guest, AsText(bytes));
  }
  if (lane == Lane::kReliable) guest.behind += bytes.size() + kMessageOverhead;
  if (StateKindOf(kind, bytes) == StateKind::kBaseline) guest.behind = 0;
}

void WatchedRoom::OnText(Guest& guest, std::string_view text) {
  const authority::ServerFrame frame = authority::ParseServerFrame(text);
  if (const auto* const error = std::get_if<authority::ErrorFrame>(&frame)) {
    guest.errors.push_back(error->code);
    return;
  }
  if (SeatOf(guest) == nullptr) {
    return Fail(guest, "is told of the room without a seat");
  }
  if (const auto* const welcome =
          std::get_if<authority::WelcomeFrame>(&frame)) {
    return OnWelcome(guest, *welcome);
  }
  if (!guest.welcomed) return Fail(guest, "is told something before WELCOME");
  if (const auto* const roster = std::get_if<authority::RosterFrame>(&frame)) {
    OnRoster(guest, *roster);
  } else if (const auto* const tick =
                 std::get_if<authority::TickFrame>(&frame)) {
    OnTickFrame(guest, *tick);
  } else if (!std::holds_alternative<authority::RoomMsgFrame>(frame) &&
             !std::holds_alternative<authority::RoomRttFrame>(frame)) {
    Fail(guest, "is told what no room says");
  }
}

void WatchedRoom::OnWelcome(Guest& guest,
                            const authority::WelcomeFrame& welcome) {
  Seat& seat = *SeatOf(guest);
  const authority::RoomOptions& options = room_.options();
  if (std::exchange(guest.welcomed, true)) Fail(guest, "is welcomed twice");
  if (!in_time_) Fail(guest, "is welcomed between two ticks");
  if (!tokens_.insert(welcome.token).second) {
    Fail(guest, "is given a token that there was before");
  }
  seat.issued = welcome.token;
  if (welcome.player != "p" + std::to_string(seat.number) ||
      welcome.seat != guest.seat || welcome.tick != room_.tick() ||
      welcome.epoch != room_.rows().epoch() ||
      welcome.entity != game_->BodyOf(guest.seat) ||
      welcome.grace_ms != options.grace_ms ||
      welcome.tick_hz != options.tick_hz ||
      welcome.snapshot_hz != options.snapshot_hz) {
    Fail(guest, "is welcomed as another, or to another room");
  }
  if (welcome.codec != CodecFor(guest.codecs)) {
    Fail(guest, "is to read " + welcome.codec);
  }
  guest.heard_tick = room_.tick();
  guest.shown = std::make_unique<authority::StateReceiver>(PlaySchema());
}

void WatchedRoom::OnRoster(Guest& guest, const authority::RosterFrame& roster) {
  bool same = roster.players.size() == seats_.size();
  auto seat = seats_.begin();
  for (const authority::RosterPlayer& player : roster.players) {
    if (!same) break;
    same = player.seat == seat->first && player.name == seat->second.name &&
           player.id == "p" + std::to_string(seat->second.number) &&
           player.connected == (seat->second.guest != nullptr) &&
           player.host == seat->second.host;
    ++seat;
  }
  if (!same || roster.locked) Fail(guest, "is told another roster");
}

void WatchedRoom::OnTickFrame(Guest& guest, const authority::TickFrame& tick) {
  if (tick.ack > guest.newest_seq) {
    Fail(guest, "is told of an input that it has not said");
  }
  if (tick.entity != game_->BodyOf(guest.seat)) {
    Fail(guest, "is told of another body");
  }
}

// The first of its list that the room has, or JSON.
std::string WatchedRoom::CodecFor(
    const std::vector<std::string>& codecs) const {
  for (const std::string& codec : codecs) {
    if (codec == "json") break;
    if (codec == "binary" && !book_of_room_.draw.json_only) return codec;
  }
  return "json";
}

// ---- State

std::int64_t WatchedRoom::Silent(const Guest& guest) const {
  return std::int64_t{room_.tick()} - guest.heard_tick;
}

// Ticks between two snapshots.
std::int64_t WatchedRoom::Apart() const {
  const authority::RoomOptions& options = room_.options();
  return (options.tick_hz + options.snapshot_hz - 1) / options.snapshot_hz;
}

bool WatchedRoom::IsBlocked(const Guest& guest) const {
  return guest.queued_bytes(Lane::kReliable) > guest.behind ||
         Silent(guest) > room_.options().tick_hz + Apart();
}

void WatchedRoom::OnState(Guest& guest, Lane lane, MessageKind kind,
                          std::span<const std::byte> bytes) {
  const StateKind state = *StateKindOf(kind, bytes);
  ++figures_.states;
  if (!guest.welcomed) return Fail(guest, "is told state before WELCOME");
  const bool baseline = state == StateKind::kBaseline;
  if ((lane == Lane::kReliable) != baseline) {
    return Fail(guest, "is told state on the wrong lane");
  }
  // The first two follow the welcome at once, whatever is queued.
  const bool answer = !guest.has_delta;
  if (answer) {
    if (guest.has_baseline == baseline || state == StateKind::kRecovery) {
      return Fail(guest, "is not told a baseline and a delta behind WELCOME");
    }
    (baseline ? guest.has_baseline : guest.has_delta) = true;
  } else if (guest.baseline_tick != room_.tick() &&
             IsBlocked(guest) != (state == StateKind::kRecovery)) {
    Fail(guest, baseline ? "is blocked, and given a baseline"
                         : "is blocked and told a delta, or a recovery while "
                           "it is not");
  }
  if (baseline) {
    guest.baseline_tick = room_.tick();
    OnBaseline(guest, kind, bytes);
    if (answer) guest.acked_tick = guest.shown->tick() - 1;
  } else {
    OnFrame(guest, kind, bytes, state == StateKind::kRecovery);
  }
  guest.sent_tick = room_.tick();
}

// As it was taken, of what is in view now; given again, it is the same.
void WatchedRoom::OnBaseline(Guest& guest, MessageKind kind,
                             std::span<const std::byte> bytes) {
  authority::StateReceiver& shown = *guest.shown;
  const StateOutcome outcome = shown.Apply(kind, bytes);
  if (outcome == StateOutcome::kStale &&
      std::ranges::equal(guest.baseline, bytes)) {
    return;
  }
  guest.baseline.assign(bytes.begin(), bytes.end());
  if (outcome != StateOutcome::kBaseline) {
    return Fail(guest, "is given a baseline that is none, or an old one");
  }
  const std::uint32_t player = SeatOf(guest)->number;
  const PlayState* const taken = book_of_room_.StateAt(shown.tick());
  const PlayState* const now = book_of_room_.StateAt(room_.tick());
  if (taken == nullptr || now == nullptr || taken->epoch != now->epoch) {
    return Fail(guest, "is given a baseline of a tick that had no state");
  }
  PlayBaseline given{.tick = taken->tick};
  for (const PlayRow& row : taken->rows) {
    const auto at =
        std::ranges::lower_bound(now->rows, row.id, {}, &PlayRow::id);
    const bool lives = at != now->rows.end() && at->id == row.id;
    // Where nobody's view is asked for, it is as it was taken.
    if (!book_of_room_.draw.views ||
        (lives && book_of_room_.Sees(*now, *at, player))) {
      given.rows.push_back(row.id);
    }
  }
  const std::string wrong = book_of_room_.CompareBaseline(given, shown.rows());
  if (!wrong.empty()) Fail(guest, "is given a baseline in which " + wrong);
  std::deque<PlayBaseline>& all = book_of_room_.baselines[player];
  all.push_back(std::move(given));
  if (all.size() > 32) all.pop_front();
}

// A delta to the baseline, or a recovery: what there is to see now.
void WatchedRoom::OnFrame(Guest& guest, MessageKind kind,
                          std::span<const std::byte> bytes, bool recovery) {
  authority::StateReceiver& shown = *guest.shown;
  const StateOutcome outcome = shown.Apply(kind, bytes);
  const StateOutcome wanted =
      recovery ? StateOutcome::kRecovery : StateOutcome::kDelta;
  if (outcome != wanted || shown.tick() != room_.tick()) {
    return Fail(guest, "is told of state that does not fit what it has");
  }
  const PlayState* const now = book_of_room_.StateAt(room_.tick());
  if (now == nullptr) return Fail(guest, "is told of a tick without a state");
  const std::string wrong =
      book_of_room_.Compare(*now, SeatOf(guest)->number, shown.rows());
  if (!wrong.empty()) Fail(guest, "is told of state in which " + wrong);
  if (!recovery) return CheckOwn(guest);
  ++recoveries_;
  ++figures_.recoveries;
  if (room_.tick() < guest.recovery_tick) {
    Fail(guest, "is told more than one recovery a second");
  }
  guest.recovery_tick =
      room_.tick() + static_cast<std::uint32_t>(room_.options().tick_hz);
}

void WatchedRoom::CheckOwn(const Guest& guest) {
  const std::optional<authority::OwnBody>& own = guest.shown->own();
  if (own.has_value() != game_->OwnIsTold(guest.seat)) {
    return Fail(guest, "is told of its body, or not, against the game");
  }
  if (!own) return;
  const auto meant = book_of_room_.bodies.find(SeatOf(guest)->number);
  if (own->seq > guest.newest_seq) Fail(guest, "its body is ahead of it");
  if (meant == book_of_room_.bodies.end()) return;
  const authority::Vec3& is = own->position;
  const authority::Vec3& was = meant->second.position;
  if (authority::QuantiseMetres(is.x) != authority::QuantiseMetres(was.x) ||
      authority::QuantiseMetres(is.z) != authority::QuantiseMetres(was.z)) {
    Fail(guest, "is told another place of its body");
  }
}

// ---- Closes and ends

void WatchedRoom::OnToldClose(Guest& guest, CloseCode code) {
  if (guest.told != 0) Fail(guest, "is closed twice");
  guest.told = code;
  if (!in_time_ || is_done()) return;
  if (code == close_code::kInternal && SeatOf(guest) != nullptr) {
    if (Silent(guest) <= std::int64_t{5} * room_.options().tick_hz) {
      Fail(guest, "is evicted, and has acked of late");
    }
    ++evicted_;
    ++figures_.evicted;
    guest.state = Guest::State::kDone;
    return DropSeat(guest.seat);
  }
  if (code == close_code::kPolicy && guest.state == Guest::State::kVisitor &&
      guest.until <= now_) {
    guest.state = Guest::State::kDone;
  }
}

bool WatchedRoom::MayHaveEnded() const {
  if (ends_ || game_->is_over()) return true;
  if (!seats_.empty()) return false;
  return draining_ || (room_.options().end_when_empty && had_seats_);
}

void WatchedRoom::OnEnded() {
  ended_ = true;
  if (!MayHaveEnded()) Fail("ends without a reason");
  if (game_->is_over()) ++figures_.rooms_failed;
  book_of_room_.failed = game_->is_over();
  // Nobody is told to come back to it, but who came to a room that drains and
  // had no seat yet.
  const bool drained = draining_ && !ends_ && !game_->is_over();
  const CloseCode code =
      drained ? close_code::kRestart : close_code::kRoomEnded;
  for (Guest& guest : guests_) {
    if (guest.state == Guest::State::kDone) continue;
    guest.state = Guest::State::kDone;
    if (guest.told != code) {
      Fail(guest,
           "is told " + std::to_string(guest.told) + " at the end of its room");
    }
  }
  seats_.clear();
}

void WatchedRoom::Settle() {
  if (is_done()) return;
  game_->FinishTick();
  if (room_.ended()) return OnEnded();
  if (game_->is_over()) Fail("goes on behind ten ticks that failed");
  if (MayHaveEnded()) Fail("goes on, and has to end");
  for (Guest& guest : guests_) {
    if (guest.told != 0 && guest.state != Guest::State::kDone) {
      guest.state = Guest::State::kDone;
      Fail(guest, "is closed with " + std::to_string(guest.told) +
                      ", and not for what it did");
    }
    if (guest.state == Guest::State::kVisitor && guest.until <= now_) {
      Fail(guest, "is not closed, and has not said join in time");
    }
    // Snapshots that failed put nobody out.
    if (guest.state == Guest::State::kSeated && guest.welcomed &&
        Silent(guest) >
            std::int64_t{5} * room_.options().tick_hz + 12 * Apart()) {
      Fail(guest, "is not evicted, and acks nothing");
    }
  }
  CheckSeats();
  CheckCounters();
  CheckBounds();
}

void WatchedRoom::CheckSeats() {
  bool same = room_.players().size() == seats_.size();
  auto seat = seats_.begin();
  std::map<int, std::uint32_t> numbers;
  for (const authority::Player& player : room_.players()) {
    if (!same) break;
    const Seat& meant = seat->second;
    same =
        player.seat == seat->first &&
        player.id == "p" + std::to_string(meant.number) &&
        player.name == meant.name && player.host == meant.host &&
        player.connected == (meant.guest != nullptr) &&
        (meant.guest == nullptr || room_.SeatOf(*meant.guest) == player.seat);
    numbers[player.seat] = meant.number;
    ++seat;
  }
  if (!same) return Fail("who has a seat is not who ought to");
  if (game_->members() != numbers) Fail("its game has other players");
}

void WatchedRoom::CheckCounters() {
  const authority::RoomCounters counters = room_.counters();
  const struct {
    const char* name;
    std::uint64_t is;
    std::uint64_t meant;
  } rows[] = {
      {"resumes", counters.resumes, resumes_},
      {"resumes_refused", counters.resumes_refused, resumes_refused_},
      {"evicted", counters.evicted, evicted_},
      {"recoveries", counters.recoveries, recoveries_},
      {"stale_acks", counters.stale_acks, stale_acks_},
      {"stale_inputs", counters.stale_inputs, stale_inputs_},
      {"failed_ticks", counters.failed_ticks, game_->failed_ticks()},
      {"refused_values", counters.refused_values, game_->refused()},
      {"unsent", counters.unsent, game_->unsent()},
      {"dropped", counters.dropped, dropped_},
      {"received", counters.received, game_->received()},
  };
  for (const auto& row : rows) {
    if (row.is == row.meant) continue;
    Fail(std::string(row.name) + " are " + std::to_string(row.is) +
         " and not " + std::to_string(row.meant));
  }
}

void WatchedRoom::CheckBounds() {
  const auto seats = static_cast<std::size_t>(room_.options().seats);
  const std::size_t bytes_max =
      96 * 1'024 + seats * 8 * 1'024 + guests_.size() * 1'024;
  if (room_.memory_bytes() > bytes_max) {
    Fail("takes " + std::to_string(room_.memory_bytes()) + " bytes");
  }
}

}  // namespace parlor::test
