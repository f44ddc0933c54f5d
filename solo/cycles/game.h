// Cycles as a game of lockstep, without a player: to run frames again.
#ifndef PARLOR_SOLO_CYCLES_GAME_H_
#define PARLOR_SOLO_CYCLES_GAME_H_

#include <cstdint>
#include <optional>
#include <span>

#include "cycles/described.h"
#include "cycles/state.h"
#include "parlor/lockstep/peer.h"

namespace parlor::cycles {

class ReplayedGame : public lockstep::Game {
 public:
  // Of a match that is none of Cycles, the state is that of another one.
  void OnStart(const lockstep::Match& match) override {
    const std::optional<Options> options = FromMode(match.mode, match.size);
    if (options) state_ = Start(*options, match.seed, match.delay);
  }
  std::uint32_t Input(std::uint32_t) override { return 0; }
  void Step(std::uint32_t, std::span<const std::uint32_t> inputs,
            std::uint32_t bots) override {
    cycles::Step(state_, inputs, bots);
  }
  std::uint32_t Hash() override { return Hash32(state_); }
  lockstep::DescribedState* described() override { return &described_; }

  const State& state() const { return state_; }

 protected:
  State state_ = Start({}, 0, 1);

 private:
  lockstep::StateView<State> described_{state_};
};

}  // namespace parlor::cycles

#endif  // PARLOR_SOLO_CYCLES_GAME_H_
