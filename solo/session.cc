#include "session.h"

#include <algorithm>
#include <bit>

#include "parlor/check.h"

namespace parlor::solo {
namespace {

// A room in this process answers at once: the least delay there is.
constexpr int kDelay = 1;

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
      peer_(link.connector(), *this, lockstep::PeerOptions{.delay = kDelay}) {
  if (!options_.record.empty()) recorder_.emplace(options_.record);
}

Session::~Session() { End(); }

void Session::Turn(TimePoint now, std::uint32_t frame_limit) {
  if (ended_ || failed()) return;
  link_.Turn(now);
  if (peer_.next_alarm() <= now) peer_.OnAlarm(now);
  Advance(now);
  for (int due = steps_ ? steps_->Take(now) : 0; due > 0; --due) {
    if (peer_.frame() >= frame_limit) break;
    peer_.Step(now);
    link_.Turn(now);
  }
  CheckEnd();
}

// Takes the peer from its birth to the match.
void Session::Advance(TimePoint now) {
  if (peer_.state() == lockstep::PeerState::kIdle) {
    Hello hello;
    hello.players = options_.game.players;
    peer_.Join(now, hello);
  } else if (peer_.state() == lockstep::PeerState::kLobby && !asked_to_start_) {
    asked_to_start_ = peer_.Start(0, cycles::ModeOf(options_.game));
  }
  if (state_ && !steps_) steps_.emplace(now, cycles::kFramesPerSecond);
}

void Session::CheckEnd() {
  if (peer_.state() != lockstep::PeerState::kEnded || failed()) return;
  const std::string_view text = peer_.end_text();
  error_ = text.empty() ? "the match ended" : std::string(text);
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
  if (recorder_ && state_) recorder_->Finish(*state_);
  peer_.Leave();
}

void Session::OnStart(const lockstep::Match& match) {
  const std::optional<cycles::Options> options =
      cycles::FromMode(match.mode, match.size);
  if (!options) {
    error_ = "the host plays a game that this program does not know";
    return;
  }
  state_ = cycles::Start(*options, match.seed, match.delay);
  if (recorder_) recorder_->OnStart(match, *state_);
}

std::uint32_t Session::Input(std::uint32_t /*frame*/) {
  return presses_.NextWord();
}

void Session::Step(std::uint32_t /*frame*/,
                   std::span<const std::uint32_t> inputs, std::uint32_t bots) {
  if (!state_) return;
  if (options_.own_seat_is_bot) bots |= 1u << peer_.seat();
  cycles::Step(*state_, inputs, bots);
  if (recorder_) recorder_->OnFrame(inputs, bots, *state_);
}

std::uint32_t Session::Hash() { return state_ ? cycles::Hash32(*state_) : 0; }

}  // namespace parlor::solo
