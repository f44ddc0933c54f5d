// Boxes: what lies over the arena. Tables after a round and a match, the
// pause, the help, questions.
#ifndef PARLOR_SOLO_TERMINAL_BOXES_H_
#define PARLOR_SOLO_TERMINAL_BOXES_H_

#include "terminal/canvas.h"
#include "terminal/layout.h"
#include "terminal/symbols.h"
#include "terminal/view.h"

namespace parlor::solo {

// Draws the box that the view asks for, if it does, in the middle of the arena.
void DrawBox(const View& view, const Layout& layout, const Symbols& symbols,
             Canvas& canvas);

}  // namespace parlor::solo

#endif  // PARLOR_SOLO_TERMINAL_BOXES_H_
