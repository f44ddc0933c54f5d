#include "sim/resume_run.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "parlor/close_reason.h"
#include "parlor/lockstep/room.h"
#include "parlor/lockstep/wire.h"
#include "parlor/random.h"
#include "parlor/time.h"

namespace parlor::test {
namespace {

constexpr int kActions = 50;

constexpr std::array<CloseCode, 4> kDrops = {
    close_code::kDropped, close_code::kInternal, close_code::kRestart,
    close_code::kBadGateway};
constexpr std::array<CloseCode, 6> kLeaves = {1000, 1001, 1005,
                                              1008, 4001, 4999};

template <typename T, std::size_t n>
T OneOf(Random& random, const std::array<T, n>& values) {
  return values[random.Below(n)];
}

lockstep::RoomOptions DrawOptions(Random& random) {
  lockstep::RoomOptions options;
  options.hold_ms = OneOf<std::int64_t>(
      random, std::array<std::int64_t, 6>{0, 1, 20, 200, 20'000, 20'000});
  // Only holds end in this time.
  options.idle_ms = limits::kIdleMs.ceiling;
  options.message_rate_per_s = limits::kMessageRate.ceiling;
  options.message_burst = limits::kMessageBurst.ceiling;
  return options;
}

}  // namespace

ResumeRun::ResumeRun(std::uint64_t seed, ResumeAt at)
    : random_(seed * 0x9e3779b97f4a7c15u),
      entropy_(random_.Next64()),
      players_(random_.Between(1, 6)),
      options_(DrawOptions(random_)),
      place_(MakeResumePlace(at, players_, options_, entropy_)),
      seats_(static_cast<std::size_t>(players_)) {
  Note(std::to_string(players_) + " seats, hold " +
       std::to_string(options_.hold_ms) + " ms");
}

std::string ResumeRun::Run() {
  Begin();
  for (int i = 0; i < kActions && !ended() && error_.empty(); ++i) Act();
  if (error_.empty()) Finish();
  if (error_.empty()) return "";
  std::string text;
  for (const std::string& action : history_) text += "  " + action + "\n";
  return text + error_;
}

void ResumeRun::Begin() {
  for (int seat = 0; seat < players_; ++seat) {
    const int line = NewLine();
    OpenBy(line, seat);
    place_->Join(now_, lines_.back()->line);
  }
  Check();
}

void ResumeRun::Act() {
  const std::uint32_t draw = random_.Below(100);
  if (draw < 25) return Talk();
  if (draw < 45) return Drop();
  if (draw < 65) return Resume();
  if (draw < 75) return WrongToken();
  if (draw < 84) return LateClose();
  if (draw < 88) return LateMessage();
  if (draw < 97) return PassTime();
  if (draw < 99) return Leave();
  // The link is gone, and nobody here knows.
  const int seat = AnySeat(/*connected=*/true);
  if (seat < 0) return;
  Note("silently lost: " + std::to_string(seat));
  lines_[static_cast<std::size_t>(seats_[seat].line)]->line.lost = true;
}

// Whoever is left drops or leaves; what has been put out closes; holds end.
void ResumeRun::Finish() {
  while (error_.empty() && AnySeat(/*connected=*/true) >= 0) {
    random_.Chance(1, 2) ? Drop() : Leave();
  }
  while (error_.empty() &&
         std::any_of(lines_.begin(), lines_.end(),
                     [](const auto& line) { return !line->line.gone; })) {
    LateClose();
  }
  if (!error_.empty()) return;
  Note("all holds end");
  RunUntil(now_ + options_.hold_ms * kMillisecond);
  if (!ended()) Fail("the book has a seat left");  // a fault of this file's
  if (place_->room() != nullptr) Fail("the room goes on without anybody");
  if (!place_->empty()) Fail("something is left of seats and connections");
  if (place_->next_alarm() != kNever) Fail("an alarm is left");
}

// --- What happens

void ResumeRun::Drop() {
  const int at = AnySeat(/*connected=*/true);
  if (at < 0) return;
  Seat& seat = seats_[static_cast<std::size_t>(at)];
  Line& line = *lines_[static_cast<std::size_t>(seat.line)];
  const CloseCode code = OneOf(random_, kDrops);
  Note("drop " + std::to_string(at) + " " + std::to_string(code));
  EndHolds();
  line.line.gone = true;
  ++figures_.drops;
  if (options_.hold_ms == 0) {
    FreeSeat(seat);
  } else {
    seat.line = -1;
    seat.ever_away = true;
    seat.hold_end = now_ + options_.hold_ms * kMillisecond;
  }
  place_->Close(now_, line.line, code);
  Check();
}

void ResumeRun::Leave() {
  const int at = AnySeat(/*connected=*/true);
  if (at < 0) return;
  Seat& seat = seats_[static_cast<std::size_t>(at)];
  Line& line = *lines_[static_cast<std::size_t>(seat.line)];
  const CloseCode code = OneOf(random_, kLeaves);
  Note("leave " + std::to_string(at) + " " + std::to_string(code));
  EndHolds();
  line.line.gone = true;
  ++figures_.leaves;
  FreeSeat(seat);
  place_->Close(now_, line.line, code);
  Check();
}

// With the right token: into a held seat, or one whose old link still looks
// alive. Sometimes twice at once.
void ResumeRun::Resume() {
  EndHolds();
  const int at = AnySeat(/*connected=*/random_.Chance(1, 3));
  if (at < 0) return;
  Seat& seat = seats_[static_cast<std::size_t>(at)];
  for (int times = random_.Chance(1, 5) ? 2 : 1; times > 0; --times) {
    const int old = seat.line;
    Note((old < 0 ? "resume " : "take over ") + std::to_string(at));
    ++(old < 0 ? figures_.resumes : figures_.takeovers);
    const int line = NewLine();
    OpenBy(line, at);
    place_->Resume(now_, lines_.back()->line, TokenText(seat.token));
    if (old >= 0) {
      const ResumeLine& out = lines_[static_cast<std::size_t>(old)]->line;
      if (out.closed != close_code::kResumed) {
        Fail("the old connection was not closed 4001");
      }
    }
    Check();
  }
}

void ResumeRun::WrongToken() {
  EndHolds();
  std::string text;
  const std::uint32_t live =
      seats_[random_.Below(static_cast<std::uint32_t>(players_))].token;
  switch (random_.Below(4)) {
    case 0:
      text = OneOf<std::string_view>(
          random_, std::array<std::string_view, 7>{"", "0", "g", "-1", " 1",
                                                   "123456789", "0x1"});
      break;
    case 1:
      if (!dead_tokens_.empty()) {
        text = TokenText(dead_tokens_[random_.Below(
            static_cast<std::uint32_t>(dead_tokens_.size()))]);
        break;
      }
      [[fallthrough]];
    default:
      text = lockstep::TokenText(live ^ (1u << random_.Below(32)));
  }
  const std::uint32_t token = lockstep::ParseToken(text);
  for (const Seat& seat : seats_) {
    if (!seat.left && seat.token == token) return;  // a right one after all
  }
  Note("wrong token '" + text + "'");
  ++figures_.wrong_tokens;
  NewLine();
  ResumeLine& line = lines_.back()->line;
  place_->Resume(now_, line, text);
  if (line.closed != close_code::kSeatGone) {
    Fail("a wrong token was not closed 4002");
  }
  if (!line.told.empty()) Fail("a wrong token was told something");
  Check();
}

// Of a connection that the room has put out: its seat is another's business.
void ResumeRun::LateClose() {
  std::vector<Line*> out;
  for (const auto& line : lines_) {
    if (line->line.closed && !line->line.gone) out.push_back(line.get());
  }
  if (out.empty()) return;
  Line& line = *out[random_.Below(static_cast<std::uint32_t>(out.size()))];
  const CloseCode code =
      random_.Chance(1, 2) ? OneOf(random_, kDrops) : OneOf(random_, kLeaves);
  Note("late close " + std::to_string(code));
  EndHolds();
  line.line.gone = true;
  ++figures_.late_closes;
  place_->Close(now_, line.line, code);
  Check();
}

void ResumeRun::LateMessage() {
  for (const auto& line : lines_) {
    if (!line->line.closed || line->line.gone || random_.Chance(1, 2)) continue;
    Note("late message");
    EndHolds();
    place_->Say(now_, line->line,
                {.kind = lockstep::Kind::kInput, .frame = 1'000'000});
    Check();
    return;
  }
}

void ResumeRun::Talk() {
  EndHolds();
  const int at = AnySeat(/*connected=*/true);
  if (at < 0) return;
  Seat& seat = seats_[static_cast<std::size_t>(at)];
  Line& line = *lines_[static_cast<std::size_t>(seat.line)];
  if (line.line.lost) return;
  const std::uint32_t count = random_.Chance(1, 8) ? 70 : 1 + random_.Below(3);
  Note("say " + std::to_string(at) + " " + std::to_string(count));
  for (std::uint32_t i = 0; i < count; ++i) {
    lockstep::Message message{
        .kind = lockstep::Kind::kInput,
        .slot = static_cast<std::uint8_t>(random_.Below(8)),
        .frame = static_cast<std::uint32_t>(seat.inputs.size()),
        .value = random_.Next()};
    place_->Say(now_, line.line, message);
    // The same frame again, with another word.
    if (random_.Chance(1, 4)) {
      lockstep::Message again = message;
      again.value = ~again.value;
      place_->Say(now_, line.line, again);
    }
    message.slot = static_cast<std::uint8_t>(at);
    seat.inputs.push_back(message);
  }
  Check();
}

// Up to, onto or past the end of a hold; or a little.
void ResumeRun::PassTime() {
  TimePoint at = now_ + Duration(random_.Below(50'000'000));
  TimePoint end = kNever;
  for (const Seat& seat : seats_) end = std::min(end, seat.hold_end);
  if (end != kNever && random_.Chance(1, 2)) {
    at = std::max(end + Duration(random_.Between(-1, 1)), now_);
  }
  Note("until " + std::to_string(at.time_since_epoch().count()));
  // Whoever turns the alarms may be late.
  if (random_.Chance(1, 3)) {
    now_ = at;
  } else {
    RunUntil(at);
  }
}

void ResumeRun::RunUntil(TimePoint at) {
  while (error_.empty()) {
    TimePoint next = at;
    for (const Seat& seat : seats_) next = std::min(next, seat.hold_end);
    next = std::max(next, now_);
    if (next == at && now_ == at && place_->next_alarm() > at) return;
    now_ = next;
    for (const Seat& seat : seats_) {
      if (seat.hold_end <= now_ && place_->next_alarm() > now_) {
        return Fail("no alarm is set for the end of a hold");
      }
    }
    while (place_->next_alarm() <= now_) place_->OnAlarm(now_);
    EndHolds();
    Check();
  }
}

// --- The book

int ResumeRun::NewLine() {
  lines_.push_back(std::make_unique<Line>());
  return static_cast<int>(lines_.size()) - 1;
}

// A seat that is connected, or held; -1: none.
int ResumeRun::AnySeat(bool connected) {
  std::vector<int> seats;
  for (int seat = 0; seat < players_; ++seat) {
    const Seat& it = seats_[static_cast<std::size_t>(seat)];
    if (connected ? it.line >= 0 : it.held()) seats.push_back(seat);
  }
  if (seats.empty()) return -1;
  return seats[random_.Below(static_cast<std::uint32_t>(seats.size()))];
}

std::string ResumeRun::TokenText(std::uint32_t token) {
  std::string text = lockstep::TokenText(token);
  if (random_.Chance(1, 4)) text.insert(0, 8 - text.size(), '0');
  if (random_.Chance(1, 4)) {
    for (char& c : text) c = static_cast<char>(std::toupper(c));
  }
  return text;
}

// `line` is about to be in `seat`.
void ResumeRun::OpenBy(int line, int seat) {
  Line& opened = *lines_[static_cast<std::size_t>(line)];
  opened.seat = seat;
  opened.views.resize(seats_.size());
  for (std::size_t other = 0; other < seats_.size(); ++other) {
    const std::size_t said = seats_[other].inputs.size();
    opened.views[other].inputs = said - std::min(said, lockstep::kReplayInputs);
  }
  Seat& into = seats_[static_cast<std::size_t>(seat)];
  into.line = line;
  into.hold_end = kNever;
}

void ResumeRun::EndHolds() {
  for (Seat& seat : seats_) {
    if (seat.hold_end > now_) continue;
    ++figures_.freed;
    FreeSeat(seat);
  }
}

void ResumeRun::FreeSeat(Seat& seat) {
  seat.line = -1;
  seat.left = true;
  seat.hold_end = kNever;
  dead_tokens_.push_back(seat.token);
}

bool ResumeRun::ended() const {
  return std::all_of(seats_.begin(), seats_.end(),
                     [](const Seat& seat) { return seat.left; });
}

// --- Comparing

void ResumeRun::Fail(const std::string& what) {
  if (error_.empty()) error_ = what;
}

void ResumeRun::Check() {
  CheckRoom();
  for (std::size_t line = 0; line < lines_.size(); ++line) {
    Hear(static_cast<int>(line));
  }
}

void ResumeRun::CheckRoom() {
  const lockstep::Room* const room = place_->room();
  if (ended() != (room == nullptr)) {
    return Fail(ended() ? "the room goes on" : "the room has ended");
  }
  if (room == nullptr) return;
  int seated = 0;
  int held = 0;
  for (const Seat& seat : seats_) {
    if (seat.line >= 0) ++seated;
    if (seat.held()) ++held;
  }
  if (room->seated() != seated) {
    Fail(std::to_string(room->seated()) + " are seated, not " +
         std::to_string(seated));
  }
  if (room->held() != held) {
    Fail(std::to_string(room->held()) + " are held, not " +
         std::to_string(held));
  }
  for (std::size_t i = 0; i < lines_.size(); ++i) {
    const Connection* const connection = lines_[i]->line.connection;
    if (connection == nullptr) continue;
    const int seat = room->SeatOf(*connection);
    const int own = lines_[i]->seat;
    const bool sits = own >= 0 && seats_[static_cast<std::size_t>(own)].line ==
                                      static_cast<int>(i);
    if (seat != (sits ? own : -1)) {
      Fail("connection " + std::to_string(i) + " has seat " +
           std::to_string(seat));
    }
  }
}

void ResumeRun::Hear(int index) {
  Line& line = *lines_[static_cast<std::size_t>(index)];
  for (const lockstep::Message& message : std::exchange(line.line.told, {})) {
    HearOne(line, message);
  }
  if (line.seat < 0) return;
  const Seat& seat = seats_[static_cast<std::size_t>(line.seat)];
  if (seat.line != index || line.line.lost) return;
  if (line.line.closed) return Fail("a seat's connection was closed");
  CheckViews(line);
}

void ResumeRun::HearOne(Line& line, const lockstep::Message& message) {
  if (line.seat < 0) return Fail("a stranger was told something");
  const bool about_self = message.slot == line.seat;
  if (message.kind == lockstep::Kind::kLobby && !line.welcomed) return;
  if (message.kind == lockstep::Kind::kWelcome) {
    std::uint32_t& token = seats_[static_cast<std::size_t>(line.seat)].token;
    if (line.welcomed) return Fail("welcomed twice");
    if (!about_self || message.players != players_) {
      return Fail("welcomed to another seat");
    }
    if (token != 0 && token != message.value) return Fail("another token");
    token = message.value;
    line.welcomed = true;
    return;
  }
  if (!line.welcomed) return Fail("told something before WELCOME");
  if (message.slot >= players_) return Fail("told of no seat");
  View& view = line.views[message.slot];
  switch (message.kind) {
    case lockstep::Kind::kInput: {
      const auto& inputs = seats_[message.slot].inputs;
      if (about_self) return Fail("heard its own INPUT");
      if (view.inputs >= inputs.size() || inputs[view.inputs] != message) {
        return Fail("heard another INPUT than what was said next");
      }
      ++view.inputs;
      return;
    }
    case lockstep::Kind::kAway:
      if (about_self || view.away || view.left) return Fail("AWAY again");
      view.away = true;
      return;
    case lockstep::Kind::kLeave:
      if (about_self || view.left) return Fail("LEAVE again");
      view.left = true;
      view.away = false;
      return;
    case lockstep::Kind::kResume:
      if (view.left) return Fail("RESUME of a seat that left");
      view.away = false;
      return;
    default:
      return Fail("told what no room says");
  }
}

void ResumeRun::CheckViews(Line& line) {
  if (!line.welcomed) return Fail("not welcomed");
  for (std::size_t i = 0; i < seats_.size(); ++i) {
    if (static_cast<int>(i) == line.seat) continue;
    const View& view = line.views[i];
    const std::string who =
        "seat " + std::to_string(line.seat) + " of seat " + std::to_string(i);
    if (view.away != seats_[i].held()) Fail("wrong about AWAY: " + who);
    if (view.left != seats_[i].left) Fail("wrong about LEAVE: " + who);
    if (view.inputs != seats_[i].inputs.size()) {
      Fail("an INPUT is missing: " + who);
    }
  }
}

}  // namespace parlor::test
