#include "sim/swarm_observer.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "parlor/check.h"
#include "parlor/close_reason.h"
#include "parlor/lane.h"
#include "parlor/limits.h"
#include "parlor/lockstep/wire.h"
#include "parlor/sim/network.h"
#include "parlor/time.h"
#include "sim/trace.h"

namespace parlor::test {
namespace {

using lockstep::Kind;
using What = sim::NetworkEvent::What;

std::uint32_t Bit(int seat) { return std::uint32_t{1} << seat; }

bool PutsOut(CloseCode code) {
  return code == close_code::kPolicy || code == close_code::kTooBig ||
         code == close_code::kInvalidText || code == close_code::kProtocolError;
}

}  // namespace

void SwarmObserver::AddClient(const sim::Link& link, std::uint32_t tag,
                              std::size_t host, std::uint32_t room, int delay) {
  PARLOR_CHECK(tag < kFirstHostile && host < hosts_.size() && delay > 0);
  players_.push_back({&link, tag, host, room, delay});
}

void SwarmObserver::ExpectStranger(std::uint32_t tag, std::size_t host,
                                   std::uint32_t room,
                                   std::optional<std::uint32_t> token) {
  expected_ = Stranger{tag, host, room, token};
}

std::vector<std::uint32_t> SwarmObserver::Tokens(std::size_t host,
                                                 std::uint32_t room,
                                                 bool left) const {
  std::vector<std::uint32_t> tokens;
  for (const Match& match : matches_) {
    if (match.host != host || match.room != room || match.over) continue;
    for (const Seat& seat : match.seats) {
      if (seat.token != 0 && seat.left == left) tokens.push_back(seat.token);
    }
  }
  return tokens;
}

void SwarmObserver::Fail(const Line& line, std::string_view what) {
  if (!error_.empty()) return;
  error_ = "at " + sim::MillisecondsText(now_) + " ms, connection " +
           std::to_string(&line - lines_.data()) + " of player " +
           std::to_string(line.tag) + " in seat " + std::to_string(line.slot) +
           ": " + std::string(what);
}

// --- Hosts

void SwarmObserver::OnHostDown(TimePoint now, std::size_t host) {
  now_ = now;
  for (Match& match : matches_) {
    if (match.host != host) continue;
    for (Seat& seat : match.seats) {
      seat.unheard = seat.unheard || !IsKnown(match, seat);
    }
  }
  for (Line& line : lines_) {
    if (!line.used || line.host != host) continue;
    line.lost = true;
    line.ended_with_host = false;
  }
  if (hosts_[host].keeps_matches) return;
  for (Match& match : matches_) {
    if (match.host == host) match.over = true;
  }
}

// Whoever has not left is held, in full, from here on.
void SwarmObserver::OnHostUp(TimePoint now, std::size_t host) {
  Duration hold = hosts_[host].hold;
  if (hold == Duration{}) hold = limits::kHoldMs.fallback * kMillisecond;
  for (Match& match : matches_) {
    if (match.host != host || match.over) continue;
    match.restarted = true;
    match.relayed = now;
    for (Seat& seat : match.seats) {
      if (seat.left || seat.holder == 0) continue;
      seat.held_until = seat.unheard ? kNever : now + hold;
    }
  }
}

// --- Connections

SwarmObserver::Line& SwarmObserver::LineOf(const sim::NetworkEvent& event) {
  if (lines_.size() <= event.connection) lines_.resize(event.connection + 1);
  Line& line = lines_[event.connection];
  if (!line.used) Begin(line, event);
  return line;
}

void SwarmObserver::Begin(Line& line, const sim::NetworkEvent& event) {
  line.used = true;
  line.stream = event.stream;
  line.inputs.fill(-1);
  line.hashes.fill(-1);
  line.first.fill(-1);
  const auto player = std::find_if(
      players_.begin(), players_.end(),
      [&](const Player& known) { return known.link == event.link; });
  if (player != players_.end()) {
    line.tag = player->tag;
    line.host = player->host;
    line.room = player->room;
    line.delay = player->delay;
    // A peer joins once, and comes back by every other connection.
    line.resume = std::any_of(lines_.begin(), lines_.end(), [&](const Line& l) {
      return &l != &line && l.used && l.tag == line.tag;
    });
    return;
  }
  line.ignored = std::ranges::find(ignored_, event.link) != ignored_.end() ||
                 std::exchange(ignores_next_, false);
  if (line.ignored) return;
  PARLOR_CHECK(expected_.has_value());
  line.tag = expected_->tag;
  line.host = expected_->host;
  line.room = expected_->room;
  line.token = expected_->token;
  line.resume = line.token.has_value();
  expected_.reset();
}

void SwarmObserver::OnNetworkEvent(const sim::NetworkEvent& event) {
  if (next_ != nullptr) next_->OnNetworkEvent(event);
  // What was lost is said all the same: it comes again, once it can.
  if (event.connection == 0 || event.again || !error_.empty()) return;
  Line& line = LineOf(event);
  if (event.stream || line.stream || line.ignored) return;
  const bool down = event.direction == sim::Direction::kDown;
  const What what = event.what == What::kLost ? event.lost : event.what;
  // Of a reset, an answer to what is still on its way, later than now.
  if (what != What::kReset) now_ = event.sent;
  switch (what) {
    case What::kMessage:
      if (!down) return OnUp(line, event.bytes);
      if (event.kind != MessageKind::kBinary ||
          event.bytes.size() != lockstep::kMessageSize ||
          event.lane != Lane::kReliable) {
        return Fail(line, "the host says what no room says");
      }
      return OnDown(
          event.connection, line,
          lockstep::Decode(event.bytes.first<lockstep::kMessageSize>()));
    case What::kClose:
      if (down)
        return OnClosedByHost(line, static_cast<CloseCode>(event.number));
      if (line.said == 0) line.said = static_cast<CloseCode>(event.number);
      return;
    case What::kReset:
      line.lost = true;
      return;
    default:
      return;
  }
}

void SwarmObserver::OnUp(Line& line, std::span<const std::byte> bytes) {
  if (line.match != kNoMatch || bytes.size() != lockstep::kMessageSize) return;
  const auto message = lockstep::Decode(bytes.first<lockstep::kMessageSize>());
  if (message.kind == Kind::kStart) line.said_start = true;
}

// --- What a host says

void SwarmObserver::OnDown(std::uint64_t number, Line& line,
                           const lockstep::Message& message) {
  ++figures_.messages;
  if (line.told != 0) return Fail(line, "told something behind its close");
  if (message.kind == Kind::kWelcome) return OnWelcome(number, line, message);
  if (message.kind == Kind::kLobby) {
    if (line.match != kNoMatch || line.resume) Fail(line, "LOBBY in a match");
    if (message.slot >= message.players || message.mode > message.players) {
      Fail(line, "a LOBBY that cannot be");
    }
    line.lobby_slot = message.slot;
    line.lobby_size = message.players;
    return;
  }
  if (line.match == kNoMatch) {
    return Fail(line, "relayed or told something before the start");
  }
  const Match& match = matches_[line.match];
  if (message.slot >= match.players) return Fail(line, "told of no seat");
  if (line.resume && !line.own_resume) {
    if (message.kind != Kind::kResume || message.slot != line.slot) {
      return Fail(line, "what follows a resumed WELCOME is not its RESUME");
    }
    line.own_resume = true;
    return;
  }
  // Who comes back is told of seats last.
  if (!InResume(line)) CheckHolds(match);
  if (message.slot == line.slot) return Fail(line, "told of its own seat");
  switch (message.kind) {
    case Kind::kInput:
      return OnInput(line, message);
    case Kind::kHash:
      return OnHash(line, message);
    case Kind::kAway:
      return OnAway(line, message.slot);
    case Kind::kLeave:
      return OnLeave(line, message.slot);
    case Kind::kResume:
      return OnResume(line, message.slot);
    default:
      return Fail(line, "a room says no such thing");
  }
}

// It is full, or its host has said START; whoever plays by bytes may have.
bool SwarmObserver::MayBegin(const Line& line, int players) const {
  if (line.lobby_size == 0 || players == line.lobby_size) return true;
  return std::any_of(lines_.begin(), lines_.end(), [&](const Line& other) {
    return other.used && other.host == line.host && other.room == line.room &&
           (other.stream || (other.lobby_slot == 0 && other.said_start));
  });
}

std::size_t SwarmObserver::FindMatch(const Line& line,
                                     const lockstep::Message& message) {
  for (std::size_t i = matches_.size(); i > 0; --i) {
    const Match& match = matches_[i - 1];
    if (match.host == line.host && match.room == line.room &&
        match.seed == message.frame) {
      return i - 1;
    }
  }
  ++figures_.matches;
  Match match;
  match.host = line.host;
  match.room = line.room;
  match.seed = message.frame;
  match.players = message.players;
  match.begun = match.relayed = now_;
  match.seats.resize(message.players);
  matches_.push_back(std::move(match));
  return matches_.size() - 1;
}

void SwarmObserver::OnWelcome(std::uint64_t number, Line& line,
                              const lockstep::Message& message) {
  if (line.match != kNoMatch) return Fail(line, "welcomed twice");
  if (message.players == 0 || message.players > kSeatsMax ||
      message.slot >= message.players || message.value == 0) {
    return Fail(line, "a WELCOME that cannot be");
  }
  const std::size_t index = FindMatch(line, message);
  Match& match = matches_[index];
  Seat& seat = match.seats[message.slot];
  if (message.players != match.players) {
    return Fail(line, "another count than before");
  }
  const bool begins = match.begun == now_ && !line.resume;
  if (!begins && !line.resume) return Fail(line, "joined a match that plays");
  if (line.token && *line.token != message.value) {
    return Fail(line, "a seat for a token that is not its own");
  }
  for (const Seat& other : match.seats) {
    if (&other != &seat && other.token == message.value) {
      return Fail(line, "one token for two seats");
    }
  }
  if (seat.token != 0 && seat.token != message.value) {
    return Fail(line, "another token for its seat");
  }
  if (seat.token != 0 && begins) return Fail(line, "a seat for two");
  if (begins && !MayBegin(line, message.players)) {
    return Fail(line, "a match that nobody in seat 0 started");
  }
  seat.token = message.value;
  line.match = index;
  line.welcomed = now_;
  TakeSeat(number, line, match, message.slot);
}

void SwarmObserver::TakeSeat(std::uint64_t number, Line& line, Match& match,
                             int slot) {
  line.slot = slot;
  Seat& seat = match.seats[static_cast<std::size_t>(slot)];
  if (match.over) return Fail(line, "a seat in a match that is over");
  if (seat.left) return Fail(line, "a seat that had left");
  if (seat.holder != 0 && PutsOut(lines_[seat.holder].told)) {
    return Fail(line, "a seat whose player was put out");
  }
  if (now_ >= seat.held_until) return Fail(line, "a seat whose hold had ended");
  if (line.resume) {
    ++(seat.held_until == kNever ? figures_.takeovers : figures_.resumes);
  }
  // One of the same player's may have been in another seat only by a fault.
  for (const Line& other : lines_) {
    if (&other != &line && line.delay > 0 && other.used &&
        other.tag == line.tag && other.match == line.match &&
        other.slot != slot) {
      return Fail(line, "came back to another seat");
    }
  }
  if (seat.holder != 0 && seat.held_until == kNever &&
      !lines_[seat.holder].ended() && IsWatched(match, seat)) {
    return Fail(line, "a seat that another connection has");
  }
  seat.holder = number;
  seat.held_until = kNever;
  seat.unheard = false;
  match.hostile = match.hostile || line.tag >= kFirstHostile;
  if (std::find(seat.tags.begin(), seat.tags.end(), line.tag) ==
      seat.tags.end()) {
    seat.tags.push_back(line.tag);
  }
}

// --- What is relayed

void SwarmObserver::OnInput(Line& line, const lockstep::Message& message) {
  const Match& match = matches_[line.match];
  const Seat& seat = match.seats[message.slot];
  if ((line.left & Bit(message.slot)) != 0) {
    return Fail(line, "an INPUT of a seat that left");
  }
  // Players who are not heard here are not known.
  if (!seat.tags.empty()) {
    const std::uint32_t tag = message.value >> 24;
    if (std::find(seat.tags.begin(), seat.tags.end(), tag) == seat.tags.end()) {
      return Fail(line, "an INPUT in another's name");
    }
    if (tag < kFirstHostile && message.value != SwarmWord(tag, message.frame)) {
      return Fail(line, "an INPUT with another word than was said");
    }
  }
  matches_[line.match].relayed = now_;
  CheckFrame(line, match, message);
}

void SwarmObserver::CheckFrame(Line& line, const Match& match,
                               const lockstep::Message& message) {
  const Seat& seat = match.seats[message.slot];
  std::int64_t& last = line.inputs[message.slot];
  const std::int64_t frame = message.frame;
  if (frame <= last) return Fail(line, "a frame again");
  const bool honest = IsWhole(match, seat);
  if (honest && last >= 0 && frame != last + 1) {
    return Fail(line, "a frame is missing");
  }
  if (line.resume && InResume(line)) {
    if (last < 0) line.first[message.slot] = frame;
    ++line.replayed[message.slot];
  } else if (line.resume && last >= 0 && line.first[message.slot] >= 0) {
    EndReplay(line);
  }
  // All peers of a room have its delay, and begin with it.
  if (honest && last < 0) {
    const int delay = lines_[seat.holder].delay;
    if (!line.resume && frame != delay) {
      return Fail(line, "the first frame is missing");
    }
    if (line.resume && !InResume(line) && frame != delay) {
      return Fail(line, "what was said before was not replayed");
    }
  }
  last = frame;
}

// The first message behind a replay: it was whole.
void SwarmObserver::EndReplay(Line& line) {
  const Match& match = matches_[line.match];
  for (std::size_t slot = 0; slot < match.seats.size(); ++slot) {
    const Seat& seat = match.seats[slot];
    const std::int64_t first = std::exchange(line.first[slot], -1);
    if (first < 0 || !IsWhole(match, seat)) continue;
    if (first > lines_[seat.holder].delay &&
        line.replayed[slot] < lockstep::kReplayInputs) {
      return Fail(line, "a replay is too short");
    }
  }
}

void SwarmObserver::OnHash(Line& line, const lockstep::Message& message) {
  std::int64_t& last = line.hashes[message.slot];
  if (message.frame <= last) return Fail(line, "a HASH again");
  last = message.frame;
}

// --- What becomes of seats

void SwarmObserver::OnAway(Line& line, int slot) {
  if (((line.left | line.away) & Bit(slot)) != 0) {
    return Fail(line, "AWAY of a seat that is away or left");
  }
  line.away |= Bit(slot);
  Seat& seat = matches_[line.match].seats[static_cast<std::size_t>(slot)];
  if (seat.left) return Fail(line, "AWAY of a seat that has left");
  if (seat.holder != 0 && PutsOut(lines_[seat.holder].told)) {
    return Fail(line, "AWAY of a seat that was put out");
  }
  // Who is not heard here comes back unheard.
  if (seat.holder == 0) return;
  if (!InResume(line)) {
    seat.held_until = now_ + HoldOf(matches_[line.match]);
  } else if (seat.held_until == kNever) {
    seat.unheard = true;
    lines_[seat.holder].lost = true;
  }
}

void SwarmObserver::OnResume(Line& line, int slot) {
  line.away &= ~Bit(slot);
  const Seat& seat = matches_[line.match].seats[static_cast<std::size_t>(slot)];
  if (seat.left) Fail(line, "RESUME of a seat that has left");
}

void SwarmObserver::OnLeave(Line& line, int slot) {
  if ((line.left & Bit(slot)) != 0) return Fail(line, "LEAVE again");
  line.left |= Bit(slot);
  line.away &= ~Bit(slot);
  const Match& match = matches_[line.match];
  Seat& seat = matches_[line.match].seats[static_cast<std::size_t>(slot)];
  if (seat.left || InResume(line)) {
    seat.left = true;
    return;
  }
  seat.left = true;
  if (now_ >= seat.held_until) {
    ++figures_.holds_ended;
    if (now_ > seat.held_until + kMillisecond) Fail(line, "a hold ended late");
    return;
  }
  if (!MayLeave(match, seat)) Fail(line, "LEAVE without a reason");
}

bool SwarmObserver::WentForGood(const Seat& seat) const {
  const Line& holder = lines_[seat.holder];
  return PutsOut(holder.told) ||
         (holder.said != 0 && !lockstep::IsDrop(holder.said));
}

bool SwarmObserver::MayLeave(const Match& match, const Seat& seat) {
  if (seat.holder == 0) return true;  // it is not heard here
  if (seat.unheard || WentForGood(seat)) return true;
  // Where nothing is held, a drop is a leave; nobody hears when the host
  // noticed.
  return seat.held_until == kNever && HoldOf(match) == Duration{};
}

// Drops are told to whoever is seated, so only the last one of a match can drop
// unheard. One that speaks by bytes hears what is not heard here.
bool SwarmObserver::IsKnown(const Match& match, const Seat& seat) const {
  if (seat.holder == 0 || WentForGood(seat)) return false;
  if (seat.held_until != kNever) return now_ < seat.held_until;
  return !lines_[seat.holder].ended() && IsWatched(match, seat);
}

bool SwarmObserver::IsWatched(const Match& match, const Seat& seat) const {
  bool watched = false;
  for (const Seat& other : match.seats) {
    if (other.holder == 0) return false;
    if (&other == &seat || other.left || other.held_until != kNever) continue;
    watched = watched || !lines_[other.holder].ended();
  }
  return watched;
}

// A hold that has ended was told to everyone before anything else.
void SwarmObserver::CheckHolds(const Match& match) {
  for (const Seat& seat : match.seats) {
    if (seat.left || seat.held_until == kNever || match.over) continue;
    if (now_ > seat.held_until + kMillisecond) {
      return Fail(lines_[seat.holder], "its hold did not end");
    }
  }
}

// --- Closes

void SwarmObserver::OnClosedByHost(Line& line, CloseCode code) {
  if (line.told != 0) return;
  if (code == close_code::kRestart && !line.ended()) {
    line.ended_with_host = true;
  }
  line.told = code;
  // The answer to a close says nothing.
  if (line.said == code) return;
  if (PutsOut(code)) {
    ++figures_.put_out;
    if (line.delay > 0) Fail(line, "an honest player was put out");
  }
  if (code == close_code::kSeatGone) {
    ++figures_.refused_tokens;
    CheckTurnedAway(line);
  }
  if (code == close_code::kGoingAway && line.match != kNoMatch) {
    matches_[line.match].over = true;
  }
}

// Once a token was turned away for a reason, its seat is gone.
void SwarmObserver::CheckTurnedAway(const Line& line) {
  if (!line.resume) return Fail(line, "4002 for a join");
  for (Match& match : matches_) {
    if (match.host != line.host || match.room != line.room || match.over) {
      continue;
    }
    // It may have ended for that, unheard.
    if (now_ >= match.relayed + hosts_[match.host].idle) continue;
    for (Seat& seat : match.seats) {
      const bool its = line.token
                           ? seat.token == *line.token
                           : std::find(seat.tags.begin(), seat.tags.end(),
                                       line.tag) != seat.tags.end();
      if (!its || seat.token == 0 || seat.left) continue;
      if (!seat.unheard && IsKnown(match, seat)) {
        return Fail(line, "4002 for a seat that is there");
      }
      seat.left = true;
    }
  }
}

}  // namespace parlor::test
