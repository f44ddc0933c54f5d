#include "sim/watched_game.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "parlor/check.h"
#include "parlor/lockstep/desync.h"
#include "parlor/lockstep/peer.h"

namespace parlor::sim {

WatchedGame::WatchedGame(lockstep::Game& game, Network& network,
                         const std::optional<lockstep::DesyncOptions>& desync)
    : game_(game), network_(network) {
  bot_from_.fill(kNever);
  if (desync) kept_.emplace(game, *desync);
}

void WatchedGame::Follow(const lockstep::Peer* peer) {
  if (kept_) kept_->Follow(peer);
}

lockstep::Game& WatchedGame::played() {
  return kept_ ? static_cast<lockstep::Game&>(*kept_) : game_;
}

void WatchedGame::OnStart(const lockstep::Match& match) {
  PARLOR_CHECK(!match_.has_value());
  match_ = match;
  played().OnStart(match);
  // The hashes are here, and there is nothing else to keep.
  if (game_.described() == nullptr) kept_.reset();
  TakeHash();
}

void WatchedGame::Step(std::uint32_t frame,
                       std::span<const std::uint32_t> inputs,
                       std::uint32_t bots) {
  played().Step(frame, inputs, bots);
  for (std::uint32_t left = bots; left != 0; left &= left - 1) {
    std::uint32_t& from =
        bot_from_[static_cast<std::size_t>(std::countr_zero(left))];
    from = std::min(from, frame);
  }
  TakeHash();
}

void WatchedGame::TakeHash() {
  const std::uint32_t hash = played().Hash();
  hashes_.push_back(hash);
  network_.Note(hash);
}

std::size_t SharedStates(const WatchedGame& a, const WatchedGame& b) {
  // State n is after frame n - 1.
  const std::uint32_t apart =
      std::min(a.bot_from(b.match()->seat), b.bot_from(a.match()->seat));
  return std::min({a.hashes().size(), b.hashes().size(),
                   static_cast<std::size_t>(apart) + 1});
}

}  // namespace parlor::sim
