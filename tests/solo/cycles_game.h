// Cycles as a game of lockstep, without a player.
#ifndef PARLOR_TESTS_SOLO_CYCLES_GAME_H_
#define PARLOR_TESTS_SOLO_CYCLES_GAME_H_

#include <cstdint>
#include <optional>
#include <span>

#include "cycles/state.h"
#include "parlor/lockstep/peer.h"

namespace parlor::test {

class CyclesGame : public lockstep::Game {
 public:
  void OnStart(const lockstep::Match& match) override {
    const std::optional<cycles::Options> options =
        cycles::FromMode(match.mode, match.size);
    if (options) state_ = cycles::Start(*options, match.seed, match.delay);
  }
  std::uint32_t Input(std::uint32_t) override { return 0; }
  void Step(std::uint32_t, std::span<const std::uint32_t> inputs,
            std::uint32_t bots) override {
    cycles::Step(state_, inputs, bots);
  }
  std::uint32_t Hash() override { return cycles::Hash32(state_); }

 protected:
  cycles::State state_ = cycles::Start({}, 0, 1);
};

}  // namespace parlor::test

#endif  // PARLOR_TESTS_SOLO_CYCLES_GAME_H_
