// View: everything that a frame on the screen shows, apart from the canvas it
// is drawn on.
#ifndef PARLOR_SOLO_TERMINAL_VIEW_H_
#define PARLOR_SOLO_TERMINAL_VIEW_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

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
  kPaused,  // with others: a menu, and the match goes on
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

// How friends get into a room of this process.
struct Invitation {
  // The one to try first is the first:
  // "ws://192.168.1.20:7777/room/0?players=4"
  std::vector<std::string> urls;
  std::string code;
};

// A room of play with others, before its match.
struct LobbyView {
  bool connected = false;  // or it is still being called
  int own_seat = -1;       // seat 0 says when the match starts
  int seated = 0;
  int size = 0;
  cycles::Options game = {};  // what seat 0 starts here
  std::string joined = {};    // the URL of another's room, or empty
  std::optional<Invitation> invitation = {};  // to the own one
  bool over_solo = false;  // leaving it goes back to the game that was paused
};

// The own link was lost, and is tried again.
struct RetryView {
  int number = 1;
  int most = 0;
  int seconds_left = 0;  // until the last try, 0: any moment
};

// A match with others, who cannot be paused. Masks are of seats.
struct NetView {
  int players = 0;            // persons it began with; bots have the rest
  std::uint32_t away = 0;     // lost their link, and may come back
  std::uint32_t bots = 0;     // were left, a bot plays on
  std::uint32_t left = 0;     // of them, those of the last seconds
  std::uint32_t waiting = 0;  // the match has stood still for them for a while
  std::optional<RetryView> retry = {};
  bool listening = false;  // friends play in this process
  std::string end = {};    // why the match cannot go on, in words, or empty
};

// What to draw: the lobby if there is one, else the game, if it has begun.
struct View {
  const cycles::State* state = nullptr;  // null until the match starts
  int own_seat = 0;                      // -1 when nobody plays here
  Abilities abilities = {};
  Overlay overlay = Overlay::kNone;
  std::optional<ReplayView> replay = {};
  std::optional<LobbyView> lobby = {};
  std::optional<NetView> net = {};
  bool leaving = false;      // the others are being told
  std::string warning = {};  // one line that stays, or empty
};

}  // namespace parlor::solo

#endif  // PARLOR_SOLO_TERMINAL_VIEW_H_
