#include "cycles/arena.h"

#include <algorithm>
#include <array>
#include <cstdlib>

#include "cycles/grid.h"

namespace parlor::cycles {
namespace {

constexpr int kPickupTries = 8;
constexpr int kPickupEveryMin = 150;  // frames
constexpr int kPickupEverySpread = 150;
constexpr int kPickupHeadDistance = 4;  // never under somebody's nose
constexpr int kCellsPerPickup = 1500;
constexpr int kCellsPerBar = 900;

int Area(const State& state) { return state.width * state.height; }

struct Slot {
  Place at;
  Heading heading;
};

// Two rows of columns, facing each other, so that nobody starts behind
// anybody; two players ride past each other across the grid.
std::array<Slot, kPlayersMax> SlotsFor(const State& state, int& count) {
  std::array<Slot, kPlayersMax> slots{};
  const int width = state.width;
  const int height = state.height;
  if (state.players == 2) {
    count = 2;
    slots[0] = {{width / 5, height / 3}, Heading::kRight};
    slots[1] = {{width - 1 - width / 5, height - 1 - height / 3},
                Heading::kLeft};
    return slots;
  }
  const int columns = (state.players + 1) / 2;
  count = 2 * columns;
  for (int i = 0; i < count; ++i) {
    const int column = i / 2;
    const bool top = i % 2 == 0;
    const int x = (2 * column + 1) * width / (2 * columns);
    const int y = height / 4;
    slots[static_cast<std::size_t>(i)] = {{x, top ? y : height - 1 - y},
                                          top ? Heading::kDown : Heading::kUp};
  }
  return slots;
}

void PlaceCycles(State& state) {
  int count = 0;
  std::array<Slot, kPlayersMax> slots = SlotsFor(state, count);
  for (int i = count - 1; i > 0; --i) {
    const std::uint32_t j =
        state.random.Below(static_cast<std::uint32_t>(i) + 1);
    std::swap(slots[static_cast<std::size_t>(i)], slots[j]);
  }
  for (std::size_t seat = 0; seat < state.players; ++seat) {
    Cycle& cycle = state.cycles[seat];
    cycle.x = static_cast<std::uint8_t>(slots[seat].at.x);
    cycle.y = static_cast<std::uint8_t>(slots[seat].at.y);
    cycle.heading = slots[seat].heading;
    state.cells[IndexOf(state, slots[seat].at)] =
        static_cast<Cell>(static_cast<int>(Cell::kTrail) + seat);
  }
}

// The same place in each quarter of the grid, so that no side is favoured.
std::array<Place, 4> Mirrored(const State& state, Place at) {
  const int right = state.width - 1 - at.x;
  const int below = state.height - 1 - at.y;
  return {at, Place{right, at.y}, Place{at.x, below}, Place{right, below}};
}

bool IsClearOfStarts(const State& state, Place at) {
  for (int seat = 0; seat < state.players; ++seat) {
    const Place start = HeadOf(state.cycles[static_cast<std::size_t>(seat)]);
    if (std::abs(start.x - at.x) <= 6 && std::abs(start.y - at.y) <= 6) {
      return false;
    }
  }
  return true;
}

// Everything within two cells is free, so that bars enclose nothing: there is
// a way around each of them.
bool IsClearAround(const State& state, Place at) {
  for (int y = at.y - 2; y <= at.y + 2; ++y) {
    for (int x = at.x - 2; x <= at.x + 2; ++x) {
      if (!IsInside(state, {x, y})) return false;
      if (CellAt(state, x, y) != Cell::kFree) return false;
    }
  }
  return true;
}

bool BarFits(const State& state, Place from, Heading along, int length) {
  for (int i = 0; i < length; ++i) {
    const Place at = Neighbour(from, along, i);
    // Clear of the middle lines too, beyond which the mirrored ones lie.
    if (at.x > state.width / 2 - 3 || at.y > state.height / 2 - 3) return false;
    if (!IsClearAround(state, at)) return false;
    for (const Place copy : Mirrored(state, at)) {
      if (!IsClearOfStarts(state, copy)) return false;
    }
  }
  return true;
}

void PlaceBar(State& state) {
  const bool upright = state.random.Chance(1, 2);
  const int longest = std::max(2, (upright ? state.height : state.width) / 8);
  const int length = state.random.Between(1, longest);
  const int x = state.random.Between(2, state.width / 2 - 3);
  const int y = state.random.Between(2, state.height / 2 - 3);
  const Heading along = upright ? Heading::kDown : Heading::kRight;
  if (!BarFits(state, {x, y}, along, length)) return;
  for (int i = 0; i < length; ++i) {
    for (const Place at : Mirrored(state, Neighbour({x, y}, along, i))) {
      state.cells[IndexOf(state, at)] = Cell::kObstacle;
    }
  }
}

bool IsNearHead(const State& state, Place at) {
  bool near = false;
  ForEachAlive(state, [&](int, const Cycle& cycle) {
    near = near || Distance(HeadOf(cycle), at) < kPickupHeadDistance;
  });
  return near;
}

}  // namespace

void SetUpArena(State& state) {
  state.cells.fill(Cell::kFree);
  state.closed = 0;
  state.pickups = 0;
  PlaceCycles(state);
  const int bars = state.random.Between(0, Area(state) / kCellsPerBar);
  for (int i = 0; i < bars; ++i) PlaceBar(state);
  state.next_pickup = kFramesPerSecond + state.random.Below(kPickupEverySpread);
}

void SpawnPickup(State& state) {
  if (state.phase_frame < state.next_pickup) return;
  state.next_pickup = state.phase_frame + kPickupEveryMin +
                      state.random.Below(kPickupEverySpread);
  if (state.pickups > Area(state) / kCellsPerPickup) return;
  const Cell kind = state.random.Chance(2, 3) ? Cell::kCharge : Cell::kEraser;
  for (int i = 0; i < kPickupTries; ++i) {
    const int x = state.random.Between(0, state.width - 1);
    const int y = state.random.Between(0, state.height - 1);
    if (CellAt(state, x, y) != Cell::kFree) continue;
    if (IsNearHead(state, {x, y})) continue;
    state.cells[IndexOf(state, {x, y})] = kind;
    ++state.pickups;
    return;
  }
}

std::uint32_t CloseRing(State& state) {
  const int ring = state.closed++;
  for (int y = ring; y < state.height - ring; ++y) {
    const bool whole = y == ring || y == state.height - 1 - ring;
    const int across = whole ? 1 : std::max(1, state.width - 1 - 2 * ring);
    for (int x = ring; x < state.width - ring; x += across) {
      Cell& cell = state.cells[IndexOf(state, {x, y})];
      if (IsPickup(cell)) --state.pickups;
      cell = Cell::kClosed;
    }
  }
  std::uint32_t caught = 0;
  ForEachAlive(state, [&](int seat, const Cycle& cycle) {
    if (RingOf(state, HeadOf(cycle)) == ring) caught |= BitOf(seat);
  });
  return caught;
}

}  // namespace parlor::cycles
