#include "lockstep/desync_rerun.h"

#include <utility>

#include "parlor/lockstep/state_description.h"

namespace parlor::lockstep {

const DesyncFrame* FrameOf(const DesyncDump& dump, std::uint32_t frame) {
  if (dump.frames.empty() || frame < dump.frames[0].frame) return nullptr;
  const std::size_t at = frame - dump.frames[0].frame;
  return at < dump.frames.size() ? &dump.frames[at] : nullptr;
}

std::optional<Rerun> Rerun::From(const FreshGame& fresh, const DesyncDump& dump,
                                 std::uint32_t frame) {
  const DesyncFrame* const from = FrameOf(dump, frame);
  if (fresh == nullptr || from == nullptr) return std::nullopt;
  if (!from->state && frame > 0) return std::nullopt;
  std::unique_ptr<Game> game = fresh();
  if (game == nullptr) return std::nullopt;
  game->OnStart(dump.match);
  if (frame > 0) {
    DescribedState* const described = game->described();
    if (described == nullptr || !described->Load(*from->state).ok()) {
      return std::nullopt;
    }
  }
  return Rerun(std::move(game), frame);
}

bool Rerun::RunTo(const DesyncDump& dump, std::uint32_t frame) {
  for (; frame_ < frame; ++frame_) {
    const DesyncFrame* const of = FrameOf(dump, frame_);
    if (of == nullptr || !of->ran) return false;
    game_->Step(frame_, of->inputs, of->bots);
  }
  return true;
}

const std::vector<std::byte>& Rerun::state() {
  if (state_of_ == frame_) return state_;
  state_of_ = frame_;
  const DescribedState* const described = game_->described();
  if (described == nullptr || !described->Save(state_)) state_.clear();
  return state_;
}

}  // namespace parlor::lockstep
