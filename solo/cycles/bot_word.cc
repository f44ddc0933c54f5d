#include <algorithm>
#include <array>

#include "cycles/grid.h"
#include "cycles/state.h"
#include "parlor/check.h"

namespace parlor::cycles {
namespace {

// By Heading.
constexpr std::array kPress = {word::kUp, word::kRight, word::kDown,
                               word::kLeft};

}  // namespace

std::uint32_t BotWord(const State& state, int seat) {
  PARLOR_CHECK(seat >= 0 && seat < state.players);
  const auto index = static_cast<std::size_t>(seat);
  // Until then everyone is taken for a bot, who at least does not ride into a
  // wall. This seat's own turns that are under way come out again: they were
  // thought of in the same way.
  State ahead = state;
  for (int frame = 0; frame < state.delay; ++frame) Step(ahead, {}, 0);
  if (ahead.phase == Phase::kMatchOver) {
    // A press in every other frame, as a press ends before the next.
    return ahead.frame % 2 == 0 ? word::kReady : 0;
  }
  if (ahead.phase != Phase::kRunning) return 0;
  const Cycle before = ahead.cycles[index];
  Step(ahead, {}, 0);
  const Cycle& after = ahead.cycles[index];
  std::uint32_t said = 0;
  if (after.heading != before.heading) {
    said |= kPress[static_cast<std::size_t>(after.heading)];
  }
  if (after.boost > before.boost) said |= word::kBoost;
  return said;
}

}  // namespace parlor::cycles
