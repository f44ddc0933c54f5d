#include "sim/swarm_game.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "parlor/lockstep/peer.h"
#include "sim/swarm_observer.h"

namespace parlor::test {
namespace {

// One round of SplitMix64: each bit of both words moves about half of the
// state.
std::uint64_t Mix(std::uint64_t state, std::uint64_t word) {
  std::uint64_t z = (state ^ word) + 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

std::string Who(std::uint32_t tag) { return "player " + std::to_string(tag); }

}  // namespace

void SwarmGame::OnStart(const lockstep::Match& match) {
  if (match_) book_.Fail(Who(tag_) + " was started twice");
  match_ = match;
  asked_ = static_cast<std::uint32_t>(match.delay);
  state_ = Mix(Mix(match.seed, match.mode),
               static_cast<std::uint64_t>(match.players));
  SwarmBook::Seats& seats = book_.Of(key());
  std::uint32_t& seat = seats[static_cast<std::size_t>(match.seat)];
  if (seat != 0) {
    book_.Fail(Who(tag_) + " and " + Who(seat) + " have one seat");
  }
  seat = tag_;
  seats_ = &seats;
}

std::uint32_t SwarmGame::Input(std::uint32_t frame) {
  if (frame != asked_) book_.Fail(Who(tag_) + " was asked out of order");
  asked_ = frame + 1;
  return SwarmWord(tag_, frame);
}

void SwarmGame::CheckWord(std::uint32_t frame, std::size_t seat,
                          std::uint32_t word) {
  const std::uint32_t tag = word >> 24;
  const std::uint32_t expected = (*seats_)[seat];
  // A hostile's own seat, or one that it took over, maybe before its player
  // knew that it had it.
  if (tag >= kFirstHostile) {
    gone_from_[seat] = std::min(gone_from_[seat], frame);
    return;
  }
  if (tag != 0 && tag == expected && word == SwarmWord(tag, frame)) return;
  book_.Fail(Who(tag_) + " runs frame " + std::to_string(frame) +
             " with a word of " + Who(tag) + " in seat " +
             std::to_string(seat) + ", where " + Who(expected) + " is");
}

void SwarmGame::Step(std::uint32_t frame, std::span<const std::uint32_t> inputs,
                     std::uint32_t bots) {
  if (frame != states_.size()) book_.Fail(Who(tag_) + " ran another frame");
  for (std::size_t seat = 0; seat < inputs.size(); ++seat) {
    if ((bots >> seat & 1) != 0) {
      gone_from_[seat] = std::min(gone_from_[seat], frame);
    } else if (frame >= static_cast<std::uint32_t>(match_->delay)) {
      CheckWord(frame, seat, inputs[seat]);
    } else if (inputs[seat] != 0) {
      book_.Fail(Who(tag_) + " has an input before the first");
    }
    state_ = Mix(state_, inputs[seat]);
  }
  state_ = Mix(state_, bots);
  states_.push_back(state_);
}

std::uint32_t SwarmGame::Hash() {
  return static_cast<std::uint32_t>(state_ >> 32);
}

std::string CompareStates(const std::vector<const SwarmGame*>& games) {
  const auto longest = std::max_element(
      games.begin(), games.end(), [](const SwarmGame* a, const SwarmGame* b) {
        return a->states().size() < b->states().size();
      });
  for (const SwarmGame* game : games) {
    if (game == *longest) continue;
    const std::size_t frames = std::min<std::size_t>(
        {game->states().size(), (*longest)->gone_from(game->match()->seat),
         game->gone_from((*longest)->match()->seat)});
    const auto end =
        game->states().begin() + static_cast<std::ptrdiff_t>(frames);
    const auto at =
        std::mismatch(game->states().begin(), end, (*longest)->states().begin())
            .first;
    if (at == end) continue;
    return Who(game->tag()) + " and " + Who((*longest)->tag()) +
           " differ after frame " + std::to_string(at - game->states().begin());
  }
  return "";
}

}  // namespace parlor::test
