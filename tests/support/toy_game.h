// ToyGame: a lockstep game small enough to play hundreds of thousands of
// frames, whose state depends on every input, every bot and their order.
#ifndef PARLOR_TESTS_SUPPORT_TOY_GAME_H_
#define PARLOR_TESTS_SUPPORT_TOY_GAME_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "parlor/lockstep/peer.h"

namespace parlor::test {

class ToyGame : public lockstep::Game {
 public:
  // Peers of one build hash alike; `build` stands for rules and options.
  explicit ToyGame(std::uint32_t build = 1) : build_(build) {}

  struct Frame {
    std::uint32_t frame;
    std::vector<std::uint32_t> inputs;
    std::uint32_t bots;
    friend bool operator==(const Frame&, const Frame&) = default;
  };

  void OnStart(const lockstep::Match& match) override {
    match_ = match;
    state_ = Mix(match.seed, build_);
    state_ = Mix(state_, static_cast<std::uint32_t>(match.delay));
    if (on_start) on_start();
  }

  std::uint32_t Input(std::uint32_t frame) override {
    if (keep_frames) asked.push_back(frame);
    if (on_input) on_input();
    return word ? word(frame) : 0;
  }

  void Step(std::uint32_t frame, std::span<const std::uint32_t> inputs,
            std::uint32_t bots) override {
    if (keep_frames) {
      frames.push_back({frame, {inputs.begin(), inputs.end()}, bots});
    }
    if (bots != 0 && !first_bot_frame) first_bot_frame = frame;
    state_ = Mix(state_, frame);
    for (const std::uint32_t input : inputs) state_ = Mix(state_, input);
    state_ = Mix(state_, bots);
    if (on_step) on_step();
  }

  std::uint32_t Hash() override {
    if (on_hash) on_hash();
    return static_cast<std::uint32_t>(state_ >> 32);
  }

  std::uint64_t state() const { return state_; }
  const std::optional<lockstep::Match>& match() const { return match_; }

  // Another state from here on: what a fault in a simulation does.
  void Corrupt() { state_ = Mix(state_, 0xbad); }

  std::function<std::uint32_t(std::uint32_t)> word;
  std::function<void()> on_start, on_input, on_step, on_hash;
  bool keep_frames = true;
  std::vector<std::uint32_t> asked;
  std::vector<Frame> frames;
  std::optional<std::uint32_t> first_bot_frame;

 private:
  // One round of SplitMix64 (Steele, Lea, Flood: "Fast splittable pseudorandom
  // number generators"): each bit of both words moves about half of the state.
  static std::uint64_t Mix(std::uint64_t state, std::uint32_t word) {
    std::uint64_t z = (state ^ word) + 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }

  std::uint32_t build_;
  std::uint64_t state_ = 0;
  std::optional<lockstep::Match> match_;
};

}  // namespace parlor::test

#endif  // PARLOR_TESTS_SUPPORT_TOY_GAME_H_
