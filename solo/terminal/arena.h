// Draws the arena: its frame, every cell, the heads, and in the countdown who
// is who.
#ifndef PARLOR_SOLO_TERMINAL_ARENA_H_
#define PARLOR_SOLO_TERMINAL_ARENA_H_

#include "terminal/canvas.h"
#include "terminal/layout.h"
#include "terminal/symbols.h"
#include "terminal/view.h"

namespace parlor::solo {

void DrawArena(const View& view, const Layout& layout, const Symbols& symbols,
               Canvas& canvas);

// Two columns that show whose trail a player's is.
void DrawSwatch(int x, int y, int seat, const Symbols& symbols, Canvas& canvas);

void DrawFrame(int x, int y, Extent size, const Symbols& symbols,
               const Style& style, Canvas& canvas);

}  // namespace parlor::solo

#endif  // PARLOR_SOLO_TERMINAL_ARENA_H_
