#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstring>

#include "cycles/grid.h"
#include "cycles/state.h"

namespace parlor::cycles {
namespace {

// The bytes are saved as they lie in memory; kRulesVersion is their version
// too.
static_assert(std::endian::native == std::endian::little);

// A generator of another sequence may go in circles, and its draws with it.
bool HasOurSequence(const State& state) {
  static_assert(sizeof(Random) == 2 * sizeof(std::uint64_t));
  using Words = std::array<std::uint64_t, 2>;
  return std::bit_cast<Words>(state.random)[1] ==
         std::bit_cast<Words>(Random(state.seed, kRulesVersion))[1];
}

bool IsMatch(const State& state) {
  if (state.rules_version != kRulesVersion || !HasOurSequence(state)) {
    return false;
  }
  if (!IsValid({.players = state.players,
                .level = state.level,
                .size = state.size}) ||
      state.delay > kDelayMax) {
    return false;
  }
  const Size size = kSizes[state.size];
  return state.width == size.width && state.height == size.height;
}

bool IsPhase(const State& state) {
  if (state.phase > Phase::kMatchOver || state.phase_frame > state.frame) {
    return false;
  }
  if (state.phase == Phase::kRunning && state.phase_frame > kRoundFramesMax) {
    return false;
  }
  if (state.phase == Phase::kCountdown &&
      state.phase_frame >= kCountdownFrames) {
    return false;
  }
  const int rings = (std::min(state.width, state.height) + 1) / 2;
  return state.round >= 1 && state.round <= kRoundsMax &&
         state.closed <= rings && state.ready >> state.players == 0 &&
         (state.winner == kNobody || state.winner < state.players);
}

bool IsCycle(const State& state, const Cycle& cycle) {
  // What killed it, and nobody beside a crash with others.
  const bool by_others =
      cycle.cause == Cause::kTrail || cycle.cause == Cause::kHeadOn;
  if (cycle.cause > Cause::kClosing || by_others != (cycle.by != 0) ||
      cycle.by >> state.players != 0 || cycle.alive > 1 ||
      (cycle.alive == 1) != (cycle.cause == Cause::kNone)) {
    return false;
  }
  if (cycle.turns > kTurnsMax || cycle.heading > Heading::kLeft ||
      std::ranges::any_of(cycle.turn,
                          [](Heading h) { return h > Heading::kLeft; })) {
    return false;
  }
  return cycle.held <= word::kAll && cycle.charges <= kChargesMax &&
         cycle.boost <= kBoostBeats && cycle.style < Style{kStyles} &&
         cycle.level == state.level &&
         IsInside(state, {.x = cycle.x, .y = cycle.y});
}

bool IsGrid(const State& state) {
  const std::size_t used = SavedBytes(state).size() - offsetof(State, cells);
  int pickups = 0;
  for (const Cell cell : std::span(state.cells).first(used)) {
    if (cell > Cell::kEraser || TrailOwner(cell) >= state.players) return false;
    if (IsPickup(cell)) ++pickups;
  }
  return pickups == state.pickups &&
         std::ranges::all_of(std::span(state.cells).subspan(used),
                             [](Cell cell) { return cell == Cell::kFree; });
}

}  // namespace

std::span<const std::byte> SavedBytes(const State& state) {
  const std::size_t cells =
      static_cast<std::size_t>(state.width) * state.height;
  return std::as_bytes(std::span(&state, 1))
      .first(offsetof(State, cells) + cells);
}

std::optional<State> FromSaved(std::span<const std::byte> bytes) {
  State state;
  if (bytes.size() < offsetof(State, cells) || bytes.size() > sizeof(State)) {
    return std::nullopt;
  }
  std::memcpy(&state, bytes.data(), bytes.size());
  if (!IsValidState(state) || SavedBytes(state).size() != bytes.size()) {
    return std::nullopt;
  }
  return state;
}

bool IsValidState(const State& state) {
  if (!IsMatch(state) || !IsPhase(state) || !IsGrid(state)) return false;
  const auto in = std::span(state.cycles).first(state.players);
  return std::ranges::all_of(
      in, [&](const Cycle& cycle) { return IsCycle(state, cycle); });
}

}  // namespace parlor::cycles
