// How much of the grid a cycle can reach, counted 64 cells at a time: cells are
// bits, and a step of the flood is a handful of shifts a word. That is what
// lets eight bots think tens of thousands of moves a second on the largest
// grid.
#ifndef PARLOR_SOLO_CYCLES_TERRITORY_H_
#define PARLOR_SOLO_CYCLES_TERRITORY_H_

#include <array>
#include <cstdint>

#include "cycles/grid.h"
#include "cycles/state.h"

namespace parlor::cycles {

// A set of cells, 64 columns of the grid a word. The words of one column of
// words lie side by side, so that two rows are worked on at once. A margin of
// zeros on every side spares the edges' tests; the last row may be odd, hence
// one more below.
struct CellSet {
  static constexpr int kColumns = (kWidthMax + 63) / 64;
  using Column = std::array<std::uint64_t, kHeightMax + 4>;
  std::array<Column, kColumns + 2> columns{};

  bool Has(Place at) const {
    return (columns[ColumnOf(at)][RowOf(at)] & Bit(at)) != 0;
  }
  void Add(Place at) { columns[ColumnOf(at)][RowOf(at)] |= Bit(at); }
  void Remove(Place at) { columns[ColumnOf(at)][RowOf(at)] &= ~Bit(at); }

  static std::size_t RowOf(Place at) {
    return static_cast<std::size_t>(at.y) + 1;
  }
  static std::size_t ColumnOf(Place at) {
    return static_cast<std::size_t>(at.x) / 64 + 1;
  }
  static std::uint64_t Bit(Place at) {
    return std::uint64_t{1} << (static_cast<unsigned>(at.x) % 64);
  }
};

// The cells that a cycle may enter.
CellSet OpenCells(const State& state);

// Who reaches what first, within `steps` cells of walking.
struct Territory {
  int mine = 0;
  int theirs = 0;
  bool contact = false;  // the two fronts met
};

struct Race {
  Place me;  // where the flood begins; counts as reached
  std::array<Place, kPlayersMax> rivals{};
  int rival_count = 0;
  int steps = 0;
  int double_steps = 0;  // of those, at the start, in which I move two cells
};

// A cell that both reach in the same step counts as the rivals'.
Territory Measure(const State& state, const CellSet& open, const Race& race);

}  // namespace parlor::cycles

#endif  // PARLOR_SOLO_CYCLES_TERRITORY_H_
