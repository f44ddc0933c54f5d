// Boxes: what lies over the arena. Tables after a round and a match, the
// pause, the help, questions.
#ifndef PARLOR_SOLO_TERMINAL_BOXES_H_
#define PARLOR_SOLO_TERMINAL_BOXES_H_

#include <string>
#include <vector>

#include "terminal/canvas.h"
#include "terminal/layout.h"
#include "terminal/symbols.h"
#include "terminal/view.h"

namespace parlor::solo {

struct BoxLine {
  std::string text;
  Style style = {};
  int swatch = -1;  // a seat whose pattern stands before the text
};

// One line a player, the best first: rank, name, score, and what became of him
// in this round or in the match.
std::vector<BoxLine> TableLines(const View& view);

// Draws the box that the view asks for, if it does, in the middle of `frame`.
void DrawBox(const View& view, const Layout& layout, const Symbols& symbols,
             Canvas& canvas);

}  // namespace parlor::solo

#endif  // PARLOR_SOLO_TERMINAL_BOXES_H_
