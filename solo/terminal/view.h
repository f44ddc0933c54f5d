// View: everything that a frame on the screen shows, apart from the canvas it
// is drawn on.
#ifndef PARLOR_SOLO_TERMINAL_VIEW_H_
#define PARLOR_SOLO_TERMINAL_VIEW_H_

#include <cstdint>
#include <optional>
#include <string>

#include "cycles/state.h"

namespace parlor::solo {

// What the terminal can show.
struct Abilities {
  bool utf8 = true;
  bool colours = true;
};

// What lies over the game and waits for a key.
enum class Overlay : std::uint8_t {
  kNone,
  kPaused,
  kHelp,
  kAskQuit,
  kAskRestart,
};

struct ReplayView {
  std::uint32_t frame = 0;
  std::uint32_t frames = 0;
  std::string speed;  // "x1", "x1/4"
  bool at_end = false;
  bool torn = false;  // the recording was cut off
};

struct View {
  const cycles::State* state = nullptr;  // null until the match starts
  int own_seat = 0;                      // -1 when nobody plays here
  Abilities abilities = {};
  Overlay overlay = Overlay::kNone;
  std::optional<ReplayView> replay = {};
  std::string warning = {};  // one line that stays, or empty
};

}  // namespace parlor::solo

#endif  // PARLOR_SOLO_TERMINAL_VIEW_H_
