// Steps on the grid, shared by the rules and the bots.
#ifndef PARLOR_SOLO_CYCLES_GRID_H_
#define PARLOR_SOLO_CYCLES_GRID_H_

#include <algorithm>
#include <cstdlib>

#include "cycles/state.h"

namespace parlor::cycles {

// Signed, so that a step over the edge is a place too.
struct Place {
  int x = 0;
  int y = 0;
  friend bool operator==(const Place&, const Place&) = default;
};

inline Place HeadOf(const Cycle& cycle) { return {cycle.x, cycle.y}; }

inline Place Neighbour(Place from, Heading heading, int cells = 1) {
  switch (heading) {
    case Heading::kUp:
      return {from.x, from.y - cells};
    case Heading::kRight:
      return {from.x + cells, from.y};
    case Heading::kDown:
      return {from.x, from.y + cells};
    case Heading::kLeft:
      return {from.x - cells, from.y};
  }
  return from;
}

// Quarter turns clockwise: 1 is right, 3 is left.
inline Heading Turned(Heading heading, int quarters) {
  return static_cast<Heading>((static_cast<int>(heading) + quarters) & 3);
}

inline bool AreOpposite(Heading a, Heading b) { return Turned(a, 2) == b; }

inline int Distance(Place a, Place b) {
  return std::abs(a.x - b.x) + std::abs(a.y - b.y);
}

inline bool IsInside(const State& state, Place at) {
  return at.x >= 0 && at.x < state.width && at.y >= 0 && at.y < state.height;
}

inline std::size_t IndexOf(const State& state, Place at) {
  return static_cast<std::size_t>(at.y) * state.width +
         static_cast<std::size_t>(at.x);
}

inline bool IsPickup(Cell cell) {
  return cell == Cell::kCharge || cell == Cell::kEraser;
}

// A cycle may enter it and live.
inline bool IsOpen(Cell cell) { return cell == Cell::kFree || IsPickup(cell); }

// How many rings a place lies away from the walls: 0 is the outermost ring.
inline int RingOf(const State& state, Place at) {
  const int across = std::min(at.x, state.width - 1 - at.x);
  const int down = std::min(at.y, state.height - 1 - at.y);
  return std::min(across, down);
}

inline std::uint32_t BitOf(int seat) { return 1u << seat; }

// Calls visit(seat, cycle) for every cycle that is still in, by seat.
template <typename StateType, typename Visit>
void ForEachAlive(StateType& state, Visit visit) {
  for (int seat = 0; seat < state.players; ++seat) {
    auto& cycle = state.cycles[static_cast<std::size_t>(seat)];
    if (cycle.alive != 0) visit(seat, cycle);
  }
}

}  // namespace parlor::cycles

#endif  // PARLOR_SOLO_CYCLES_GRID_H_
