// The game of the README's first example, for its test.
#ifndef PARLOR_TESTS_README_MY_GAME_H_
#define PARLOR_TESTS_README_MY_GAME_H_

#include <cstdint>
#include <span>

#include "parlor/lockstep/peer.h"

class MyGame final : public parlor::lockstep::Game {
 public:
  void OnStart(const parlor::lockstep::Match& match) override {
    state_ = match.seed + match.mode + static_cast<unsigned>(match.delay);
  }
  std::uint32_t Input(std::uint32_t frame) override { return frame % 7; }
  void Step(std::uint32_t /*frame*/, std::span<const std::uint32_t> inputs,
            std::uint32_t /*bots*/) override {
    for (const std::uint32_t word : inputs) state_ = state_ * 31 + word;
  }
  std::uint32_t Hash() override { return state_; }

 private:
  std::uint32_t state_ = 0;
};

#endif  // PARLOR_TESTS_README_MY_GAME_H_
