// SwarmGame: a game whose inputs say who gave them and for which frame, so that
// every frame that runs proves that no input was lost, repeated, reordered or
// forged on its way.
#ifndef PARLOR_TESTS_SIM_SWARM_GAME_H_
#define PARLOR_TESTS_SIM_SWARM_GAME_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "parlor/lockstep/peer.h"

namespace parlor::test {

// Who sits where, as the players are told it.
class SwarmBook {
 public:
  // By host, room and the match's seed; a seat's tag, 0 where nobody honest
  // sits.
  using Seats = std::array<std::uint32_t, 32>;
  using Key = std::tuple<std::size_t, std::uint32_t, std::uint32_t>;

  Seats& Of(const Key& key) { return matches_[key]; }

  // The first thing that was wrong.
  void Fail(const std::string& what) {
    if (error_.empty()) error_ = what;
  }
  const std::string& error() const { return error_; }

 private:
  std::map<Key, Seats> matches_;
  std::string error_;
};

class SwarmGame final : public lockstep::Game {
 public:
  SwarmGame(SwarmBook& book, std::uint32_t tag, std::size_t host,
            std::uint32_t room)
      : book_(book), tag_(tag), host_(host), room_(room) {
    gone_from_.fill(UINT32_MAX);
  }

  void OnStart(const lockstep::Match& match) override;
  std::uint32_t Input(std::uint32_t frame) override;
  void Step(std::uint32_t frame, std::span<const std::uint32_t> inputs,
            std::uint32_t bots) override;
  std::uint32_t Hash() override;

  const std::optional<lockstep::Match>& match() const { return match_; }
  SwarmBook::Key key() const { return {host_, room_, match_->seed}; }
  std::uint32_t tag() const { return tag_; }
  // After each frame.
  const std::vector<std::uint64_t>& states() const { return states_; }
  // The first frame that a bot or a thief played in a seat's place.
  std::uint32_t gone_from(int seat) const {
    return gone_from_[static_cast<std::size_t>(seat)];
  }

 private:
  void CheckWord(std::uint32_t frame, std::size_t seat, std::uint32_t word);

  SwarmBook& book_;
  const std::uint32_t tag_;
  const std::size_t host_;
  const std::uint32_t room_;
  std::optional<lockstep::Match> match_;
  const SwarmBook::Seats* seats_ = nullptr;
  std::uint32_t asked_ = 0;  // the next frame it is asked for
  std::uint64_t state_ = 0;
  std::vector<std::uint64_t> states_;
  std::array<std::uint32_t, 32> gone_from_{};
};

// Of those who played one match: empty, or the first frame that left two in
// different states. Save of whoever lost its link, or its seat to a thief: what
// it ran with its own last inputs, another ran in its place for the others.
std::string CompareStates(const std::vector<const SwarmGame*>& games);

}  // namespace parlor::test

#endif  // PARLOR_TESTS_SIM_SWARM_GAME_H_
