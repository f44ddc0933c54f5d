// WatchedGame: the game of a client, and what it went through.
#ifndef PARLOR_HOST_SIM_WATCHED_GAME_H_
#define PARLOR_HOST_SIM_WATCHED_GAME_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "parlor/limits.h"
#include "parlor/lockstep/desync.h"
#include "parlor/lockstep/peer.h"
#include "parlor/sim/network.h"

namespace parlor::sim {

class WatchedGame final : public lockstep::Game {
 public:
  static constexpr std::uint32_t kNever =
      std::numeric_limits<std::uint32_t>::max();

  // Both outlive it. What the game's states hash to is a part of what the run
  // on `network` was. Of a game that describes its state, the last states are
  // kept, where there is `desync`.
  WatchedGame(lockstep::Game& game, Network& network,
              const std::optional<lockstep::DesyncOptions>& desync);

  // As DesyncRecorder::Follow.
  void Follow(const lockstep::Peer* peer);

  void OnStart(const lockstep::Match& match) override;
  std::uint32_t Input(std::uint32_t frame) override {
    return game_.Input(frame);
  }
  void Step(std::uint32_t frame, std::span<const std::uint32_t> inputs,
            std::uint32_t bots) override;
  std::uint32_t Hash() override { return hashes_.back(); }
  lockstep::DescribedState* described() override { return game_.described(); }

  const lockstep::Game& game() const { return game_; }
  // Absent before the match.
  const std::optional<lockstep::Match>& match() const { return match_; }
  // Of the state before each frame, and of the present one: one more than
  // frames that ran. Empty before the match.
  std::span<const std::uint32_t> hashes() const { return hashes_; }
  // Absent before the match, or where no states are kept.
  const std::optional<lockstep::DesyncRecorder>& kept() const { return kept_; }
  // The first frame in which a bot played `seat`, or kNever.
  std::uint32_t bot_from(int seat) const {
    return bot_from_[static_cast<std::size_t>(seat)];
  }

 private:
  // What OnStart and Step go to.
  lockstep::Game& played();
  void TakeHash();

  lockstep::Game& game_;
  Network& network_;
  std::optional<lockstep::DesyncRecorder> kept_;  // runs the game
  std::optional<lockstep::Match> match_;
  std::vector<std::uint32_t> hashes_;
  std::array<std::uint32_t, limits::kSeats.ceiling> bot_from_{};
};

// How many of the first states of `a` and `b`, who played one match, must be
// the same: all that both had, or those up to the first frame in which a bot
// played one of them for the other. That one had lost its link for good, and
// ran such frames with its own last inputs.
std::size_t SharedStates(const WatchedGame& a, const WatchedGame& b);

}  // namespace parlor::sim

#endif  // PARLOR_HOST_SIM_WATCHED_GAME_H_
