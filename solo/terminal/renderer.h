// The renderer: draws a view into a canvas. No terminal, no state of its own:
// the same view and size give the same picture.
#ifndef PARLOR_SOLO_TERMINAL_RENDERER_H_
#define PARLOR_SOLO_TERMINAL_RENDERER_H_

#include "terminal/canvas.h"
#include "terminal/view.h"

namespace parlor::solo {

void Draw(const View& view, Canvas& canvas);

// Whether the arena has room: if not, Draw says which size it needs, and a
// game that one plays alone should wait.
bool HasRoom(const View& view, int width, int height);

}  // namespace parlor::solo

#endif  // PARLOR_SOLO_TERMINAL_RENDERER_H_
