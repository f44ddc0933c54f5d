#include "terminal/layout.h"

#include <algorithm>

namespace parlor::solo {
namespace {

// What the shortest lines of keys and scores take.
constexpr int kWidthMin = 48;
// Score, keys, and the frame's upper and lower line.
constexpr int kRowsAround = 4;
// Larger arenas are listed for those who ask; eight cycles get lonely there.
constexpr int kCellsChosenMax = 60 * 30;
// From here on a chosen arena leaves room for the panel.
constexpr int kPanelWindowWidth = 110;

Extent FrameOf(Extent arena, CellShape cells) {
  if (cells == CellShape::kWide) return {arena.width * 2 + 2, arena.height + 2};
  return {arena.width + 2, (arena.height + 1) / 2 + 2};
}

Extent Needed(Extent arena, CellShape cells) {
  const Extent frame = FrameOf(arena, cells);
  return {std::max(frame.width, kWidthMin), frame.height - 2 + kRowsAround};
}

bool Fits(Extent needed, Extent window) {
  return needed.width <= window.width && needed.height <= window.height;
}

// A half block shows two cells by two colours: without them, and without the
// character, there are only wide cells.
bool HasHalf(Abilities abilities) {
  return abilities.utf8 && abilities.colours;
}

}  // namespace

Layout PlanLayout(Extent window, Extent arena, Abilities abilities) {
  Layout layout;
  layout.needed = Needed(arena, CellShape::kWide);
  if (!Fits(layout.needed, window) && HasHalf(abilities)) {
    layout.cells = CellShape::kHalf;
    layout.needed = Needed(arena, CellShape::kHalf);
  }
  layout.fits = Fits(layout.needed, window);
  layout.frame = FrameOf(arena, layout.cells);
  const int spare = window.width - layout.frame.width;
  layout.panel = spare > kPanelWidth;
  const int used = layout.frame.width + (layout.panel ? 1 + kPanelWidth : 0);
  layout.frame_x = std::max(0, (window.width - used) / 2);
  layout.frame_y = 1 + std::max(0, (window.height - layout.needed.height) / 2);
  layout.panel_x = layout.frame_x + layout.frame.width + 1;
  return layout;
}

int ChooseSize(Extent window, Abilities abilities) {
  const int panel = window.width >= kPanelWindowWidth ? 1 + kPanelWidth : 0;
  int best = 0;
  int best_cells = 0;
  int smallest = 0;
  const auto cells_of = [](int i) {
    const cycles::Size& size = cycles::kSizes[static_cast<std::size_t>(i)];
    return size.width * size.height;
  };
  for (const CellShape shape : {CellShape::kWide, CellShape::kHalf}) {
    if (shape == CellShape::kHalf && !HasHalf(abilities)) break;
    for (int i = 0; i < static_cast<int>(cycles::kSizes.size()); ++i) {
      const cycles::Size& size = cycles::kSizes[static_cast<std::size_t>(i)];
      Extent needed = Needed({size.width, size.height}, shape);
      if (shape == CellShape::kWide) needed.width += panel;
      if (cells_of(i) < cells_of(smallest)) smallest = i;
      if (!Fits(needed, window) || cells_of(i) > kCellsChosenMax) continue;
      if (cells_of(i) <= best_cells) continue;
      best = i;
      best_cells = cells_of(i);
    }
    if (best_cells > 0) return best;
  }
  return smallest;
}

}  // namespace parlor::solo
