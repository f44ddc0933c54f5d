// Keys of a match: which of them show or answer what lies over it, and what the
// others say to the game.
#ifndef PARLOR_SOLO_TERMINAL_MENU_H_
#define PARLOR_SOLO_TERMINAL_MENU_H_

#include <cstdint>

#include "session.h"
#include "terminal/screen.h"
#include "terminal/view.h"

namespace parlor::solo {

enum class MenuAct : std::uint8_t {
  kNone,
  kShow,     // `overlay` instead of what lies over the match
  kPlay,     // nothing does: the key is the game's
  kQuit,     // and it was asked about, if need be
  kRestart,  // as well
  kOpen,     // to friends
};

struct MenuAnswer {
  MenuAct act = MenuAct::kNone;
  Overlay overlay = Overlay::kNone;  // of kShow

  friend bool operator==(const MenuAnswer&, const MenuAnswer&) = default;
};

struct MenuRules {
  bool alone = true;  // can pause, restart and be opened to friends
  bool over = false;  // at the final table there is nothing to lose
};

MenuAnswer OnMenuKey(Overlay overlay, Key key, const MenuRules& rules);

// Says `key` to the game, if it is one of its keys.
void PressKey(Session& session, Key key);

// The final table is shown.
bool IsOver(const Session& session);

}  // namespace parlor::solo

#endif  // PARLOR_SOLO_TERMINAL_MENU_H_
