// Rerun: a match that is played again from what a dump has.
#ifndef PARLOR_CORE_LOCKSTEP_DESYNC_RERUN_H_
#define PARLOR_CORE_LOCKSTEP_DESYNC_RERUN_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "parlor/lockstep/desync.h"

namespace parlor::lockstep {

const DesyncFrame* FrameOf(const DesyncDump& dump, std::uint32_t frame);

class Rerun {
 public:
  // A game that stands before `frame`: loaded from a state of it, or begun, if
  // that is 0 and there is none. Absent: neither can be, or `fresh` is null,
  // or the game does not take the state.
  static std::optional<Rerun> From(const FreshGame& fresh,
                                   const DesyncDump& dump, std::uint32_t frame);

  // Runs to `frame` with the inputs of `dump`. False: it lacks some.
  bool RunTo(const DesyncDump& dump, std::uint32_t frame);

  std::uint32_t frame() const { return frame_; }
  std::uint32_t hash() { return game_->Hash(); }
  // Empty: it is too large, or not described.
  const std::vector<std::byte>& state();

 private:
  Rerun(std::unique_ptr<Game> game, std::uint32_t frame)
      : game_(std::move(game)), frame_(frame) {}

  std::unique_ptr<Game> game_;
  std::uint32_t frame_;
  std::vector<std::byte> state_;
  std::optional<std::uint32_t> state_of_;
};

}  // namespace parlor::lockstep

#endif  // PARLOR_CORE_LOCKSTEP_DESYNC_RERUN_H_
