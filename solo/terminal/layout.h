// Layout: where things go in a window of a given size.
//
//   row 0            the score of everyone
//   rows 1 .. h-2    the arena in its frame; beside it the panel, if it fits
//   row h-1          the keys
#ifndef PARLOR_SOLO_TERMINAL_LAYOUT_H_
#define PARLOR_SOLO_TERMINAL_LAYOUT_H_

#include "cycles/state.h"
#include "terminal/view.h"

namespace parlor::solo {

enum class CellShape : std::uint8_t {
  kWide,  // two columns and one row a cell: a pattern for each player
  kHalf,  // one column and half a row: colours alone, but half the window
};

struct Extent {
  int width = 0;
  int height = 0;

  friend bool operator==(const Extent&, const Extent&) = default;
};

struct Layout {
  bool fits = false;
  Extent needed;  // the smallest window for this arena
  CellShape cells = CellShape::kWide;
  int frame_x = 0;  // the arena's frame
  int frame_y = 1;
  Extent frame;
  bool panel = false;
  int panel_x = 0;
};

inline constexpr int kPanelWidth = 36;

Layout PlanLayout(Extent window, Extent arena, Abilities abilities);

// The listed size that makes the most of a window, with wide cells where there
// is a choice.
int ChooseSize(Extent window, Abilities abilities);

}  // namespace parlor::solo

#endif  // PARLOR_SOLO_TERMINAL_LAYOUT_H_
