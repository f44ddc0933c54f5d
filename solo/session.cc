#include "session.h"

#include <algorithm>
#include <bit>

#include "desync_file.h"
#include "parlor/check.h"

namespace parlor::solo {
namespace {

// Of a match's last states: a minute.
constexpr std::size_t kKept = std::size_t{1} << 21;

// What the peer says, but where the player can do something about it.
std::string ErrorText(const lockstep::Peer& peer, std::string_view access) {
  if (peer.end_refusal() == 403 && access.empty()) {
    return "the host takes nobody in without an invite code or a pass";
  }
  if (peer.end_refusal() == 403 && access.starts_with(kInvitePrefix)) {
    return "the host does not know this invite code";
  }
  if (peer.end_refusal() == 403 && access.starts_with(kPassPrefix)) {
    // Which of them, it does not say to a connection.
    return "the host does not take this pass: it expired, was revoked, "
           "or is in use on other devices";
  }
  if (peer.end_refusal() == 409) {
    return "the room was opened for another number of players: "
           "?players= must be the same";
  }
  if (peer.end() == lockstep::PeerEnd::kConnectFailed) {
    return "the room cannot be reached: is the address right, "
           "does anybody listen there, is the port open to you?";
  }
  if (peer.end_text().empty()) return "the match ended";
  return std::string(peer.end_text());
}

}  // namespace

void PressQueue::Press(std::uint32_t bit) {
  PARLOR_CHECK(std::has_single_bit(bit));
  if (presses_.size() < kMax) presses_.push_back(bit);
}

std::uint32_t PressQueue::NextWord() {
  if (presses_.empty() || presses_.front() == last_) {
    last_ = 0;
  } else {
    last_ = presses_.front();
    presses_.pop_front();
  }
  return last_;
}

Session::Session(const SessionOptions& options, Link& link)
    : options_(options),
      link_(link),
      peer_(link.connector(), Recorded(),
            lockstep::PeerOptions{.delay = options.delay}) {
  taken_over_.fill(-1);
  if (desync_) desync_->Follow(&peer_);
  if (options_.hello.players == 0) {
    options_.hello.players = options_.game.players;
  }
  if (!options_.record.empty()) {
    recorder_.emplace(
        RecordOptions{.path = options_.record, .unix_ms = options_.unix_ms});
  }
}

// This game, or what stands before it to keep its last states.
lockstep::Game& Session::Recorded() {
  lockstep::Game& game = *this;
  if (options_.desync.empty()) return game;
  return desync_.emplace(
      game, lockstep::DesyncOptions{.game = "cycles", .bytes_max = kKept});
}

Session::~Session() { End(); }

void Session::Turn(TimePoint now, std::uint32_t frame_limit) {
  if (ended_ || failed()) return;
  now_ = now;
  link_.Turn(now);
  if (peer_.next_alarm() <= now) peer_.OnAlarm(now);
  Advance(now);
  RunFrames(now, frame_limit);
  CheckEnd();
  CheckDesync();
}

void Session::Start() { Ask(0); }

bool Session::Ask(int players) {
  return peer_.Start(players, cycles::ModeOf(options_.game));
}

// Takes the peer from its birth to the match.
void Session::Advance(TimePoint now) {
  if (peer_.state() == lockstep::PeerState::kIdle) {
    peer_.Join(now, options_.hello);
  } else if (peer_.state() == lockstep::PeerState::kLobby && !asked_to_start_) {
    // A room begins when it is full, whoever asks for it: with what is played
    // there said beforehand, if this is seat 0.
    const bool now_too = options_.start_by == StartBy::kSession;
    asked_to_start_ = Ask(now_too ? 0 : peer_.size());
  }
  if (state_ && !steps_) steps_.emplace(now, cycles::kFramesPerSecond);
}

void Session::RunFrames(TimePoint now, std::uint32_t frame_limit) {
  for (int due = steps_ ? steps_->Take(now) : 0; due > 0; --due) {
    if (peer_.frame() < frame_limit) {
      peer_.Step(now);
    } else {
      peer_.Flush(now);
    }
    link_.Turn(now);
  }
}

void Session::CheckEnd() {
  if (peer_.state() != lockstep::PeerState::kEnded || failed()) return;
  error_ = ErrorText(peer_, options_.hello.access);
}

void Session::CheckDesync() {
  if (!desync_ || desync_status_ || !desync_->frozen()) return;
  desync_status_ = WriteDesyncFile(options_.desync, desync_->Dump());
}

TimePoint Session::next_turn() const {
  if (ended_ || failed()) return kNever;
  if (peer_.state() == lockstep::PeerState::kIdle) return TimePoint::min();
  TimePoint next = std::min(link_.next_turn(), peer_.next_alarm());
  if (steps_) next = std::min(next, steps_->next());
  return next;
}

void Session::End() {
  if (ended_) return;
  ended_ = true;
  if (recorder_ && state_) recorder_->Finish(now_, *state_);
  peer_.Leave();
}

bool Session::left() const {
  return peer_.state() == lockstep::PeerState::kEnded && peer_.closed();
}

void Session::OnStart(const lockstep::Match& match) {
  const std::optional<cycles::Options> options =
      cycles::FromMode(match.mode, match.size);
  if (!options) {
    error_ = "the host plays a game that this program does not know";
    return;
  }
  state_ = cycles::Start(*options, match.seed, match.delay);
  view_.emplace(*state_);
  own_bot_speaks_ = options_.own_seat_is_bot && match.players > 1;
  if (recorder_) recorder_->OnStart(now_, match, *state_);
}

std::uint32_t Session::Input(std::uint32_t /*frame*/) {
  if (own_bot_speaks_ && state_) {
    return cycles::BotWord(*state_, peer_.seat());
  }
  return presses_.NextWord();
}

void Session::Step(std::uint32_t frame, std::span<const std::uint32_t> inputs,
                   std::uint32_t bots) {
  if (!state_) return;
  for (std::size_t seat = 0; seat < inputs.size(); ++seat) {
    const bool bot = (bots >> seat & 1) != 0;
    if (bot && taken_over_[seat] < 0) taken_over_[seat] = frame;
  }
  if (options_.own_seat_is_bot && !own_bot_speaks_) bots |= 1u << peer_.seat();
  cycles::Step(*state_, inputs, bots);
  if (recorder_) recorder_->OnFrame(now_, inputs, bots, *state_);
}

std::uint32_t Session::Hash() { return state_ ? cycles::Hash32(*state_) : 0; }

}  // namespace parlor::solo
