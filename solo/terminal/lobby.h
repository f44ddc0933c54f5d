// The lobby: who is there before a match with others, and how friends get in.
#ifndef PARLOR_SOLO_TERMINAL_LOBBY_H_
#define PARLOR_SOLO_TERMINAL_LOBBY_H_

#include "terminal/canvas.h"
#include "terminal/symbols.h"
#include "terminal/view.h"

namespace parlor::solo {

// Fills the canvas with view.lobby.
void DrawLobby(const View& view, const Symbols& symbols, Canvas& canvas);

}  // namespace parlor::solo

#endif  // PARLOR_SOLO_TERMINAL_LOBBY_H_
