#include "terminal/renderer.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "options.h"
#include "terminal/arena.h"
#include "terminal/boxes.h"
#include "terminal/layout.h"
#include "terminal/lobby.h"
#include "terminal/symbols.h"
#include "terminal/texts.h"

namespace parlor::solo {
namespace {

constexpr Style kFaintStyle{.ink = Ink::kFaint};

// Of a player's score: the longest name and word, and a score of two digits.
constexpr int kScoreWidth = 14;

// How long the frame's lower line says who went out.
constexpr std::uint32_t kNewsFrames = 3 * cycles::kFramesPerSecond;

void DrawCentered(int y, std::string_view text, const Style& style,
                  Canvas& canvas) {
  canvas.Text((canvas.width() - static_cast<int>(text.size())) / 2, y, text,
              style);
}

// A word on the seat that has room in `width` columns with the name, or "".
std::string_view SeatWord(const View& view, int seat, int width) {
  const std::uint32_t bit = 1u << seat;
  if (IsOut(view.state->cycles[static_cast<std::size_t>(seat)])) {
    return width > 9 ? " out " : " ";
  }
  if (!view.net || width < kScoreWidth) return " ";
  if ((view.net->away & bit) != 0) return " away ";
  const bool bot = seat >= view.net->players || (view.net->bots & bit) != 0;
  return bot ? " bot " : " ";
}

// Everyone's pattern, name and score, in the order of seats. The names go
// where there is no room for them.
void DrawScores(const View& view, const Layout& layout, const Symbols& symbols,
                Canvas& canvas) {
  const cycles::State& state = *view.state;
  const int width = canvas.width() / state.players;
  const bool names = width >= 9;
  const int step = std::min(width, kScoreWidth);
  int x = std::max(0, (canvas.width() - step * state.players) / 2);
  for (int s = 0; s < state.players; ++s, x += step) {
    const cycles::Cycle& cycle = state.cycles[static_cast<std::size_t>(s)];
    DrawSwatch(x, layout.frame_y - 1, s, symbols, canvas);
    std::string text;
    if (names) {
      absl::StrAppend(&text, std::string(PlayerName(s, view.own_seat)),
                      std::string(SeatWord(view, s, step)));
    }
    absl::StrAppend(&text, cycle.score);
    canvas.Text(x + 2, layout.frame_y - 1, text,
                {.ink = IsOut(cycle) ? Ink::kFaint : Ink::kPlain,
                 .bold = s == view.own_seat});
  }
}

// The frame's lower line: the own charges, and the last one who went out.
void DrawNews(const View& view, const Layout& layout, const Symbols& symbols,
              Canvas& canvas) {
  const cycles::State& state = *view.state;
  const int y = layout.frame_y + layout.frame.height - 1;
  int x = layout.frame_x + 2;
  if (view.own_seat >= 0) {
    const cycles::Cycle& own =
        state.cycles[static_cast<std::size_t>(view.own_seat)];
    const Style style{.ink = own.boost > 0 ? Ink::kGold : Ink::kWall,
                      .bold = own.boost > 0};
    canvas.Text(x, y, " boost ", style);
    x += 7;
    for (int i = 0; i < cycles::kChargesMax; ++i, ++x) {
      canvas.Put(x, y, i < own.charges ? symbols.full : symbols.empty, style);
    }
    canvas.Put(x, y, U' ');
    x += 2;
  }
  const int last = LastDeath(state);
  if (state.phase != cycles::Phase::kRunning || last < 0) return;
  const cycles::Cycle& cycle = state.cycles[static_cast<std::size_t>(last)];
  if (state.frame - cycle.died_frame > kNewsFrames) return;
  const std::string news =
      absl::StrCat(" ", std::string(PlayerName(last, view.own_seat)), " ",
                   DeathText(state, last, view.own_seat), " ");
  const int room = layout.frame_x + layout.frame.width - 2 - x;
  canvas.Text(
      x, y, Clipped(news, room),
      {.ink = last == view.own_seat ? Ink::kAlarm : Ink::kGold, .bold = true});
}

// Who plays another's seat: a friend, or a bot and how it likes to play.
std::string WhoPlays(const View& view, int seat) {
  const std::uint32_t bit = 1u << seat;
  const auto& cycle = view.state->cycles[static_cast<std::size_t>(seat)];
  std::string style(StyleName(cycle.style));
  if (!view.net || seat >= view.net->players) return style;
  if ((view.net->bots & bit) != 0) return absl::StrCat("left, now a ", style);
  return (view.net->away & bit) != 0 ? "reconnecting" : "friend";
}

// Beside the arena: the table of the round as it stands, and the game.
void DrawPanel(const View& view, const Layout& layout, const Symbols& symbols,
               Canvas& canvas) {
  const cycles::State& state = *view.state;
  const int x = layout.panel_x + 1;
  int y = layout.frame_y + 1;
  canvas.Text(x, y, "C Y C L E S", {.ink = Ink::kGold, .bold = true});
  y += 2;
  // Two rows a player where there is room, with what he is up to.
  const int bottom = layout.frame_y + layout.frame.height - 1;
  const int step = y + 2 * state.players + 3 < bottom ? 2 : 1;
  const auto ranking = cycles::Ranking(state);
  for (int i = 0; i < state.players; ++i, y += step) {
    const int seat = ranking[static_cast<std::size_t>(i)];
    const cycles::Cycle& cycle = state.cycles[static_cast<std::size_t>(seat)];
    const std::string name(PlayerName(seat, view.own_seat));
    DrawSwatch(x, y, seat, symbols, canvas);
    canvas.Text(x + 3, y,
                absl::StrFormat("%d %-5s%4d %+3d", seat + 1, name, cycle.score,
                                cycle.round_score),
                {.bold = seat == view.own_seat});
    if (step == 1) continue;
    const std::string out = DeathText(state, seat, view.own_seat);
    if (!out.empty()) {
      canvas.Text(x + 5, y + 1, out, {.ink = Ink::kAlarm});
    } else if (seat != view.own_seat) {
      canvas.Text(x + 5, y + 1, WhoPlays(view, seat), kFaintStyle);
    }
  }
  ++y;
  const std::string level(LevelName(state.level));
  for (const std::string& line :
       {absl::StrCat("level ", level), absl::StrCat("seed  ", state.seed),
        absl::StrCat("size  ", SizeName(state.width, state.height))}) {
    if (y >= bottom) return;
    canvas.Text(x, y++, line, kFaintStyle);
  }
}

void DrawReplayKeys(const View& view, Canvas& canvas) {
  const std::string where = absl::StrCat(
      "Replay ", view.replay->frame, "/", view.replay->frames, " ",
      view.replay->speed, view.overlay == Overlay::kPaused ? " paused" : "");
  const int room = canvas.width() - static_cast<int>(where.size()) - 2;
  const std::string keys(
      Longest({"P pause  + faster  - slower  . one frame  R from "
               "the start  Q quit",
               "P pause  + - speed  . step  R restart  Q quit", "P + - . R Q"},
              room));
  DrawCentered(canvas.height() - 1, absl::StrCat(where, "  ", keys),
               kFaintStyle, canvas);
}

// The last row: what is wrong, what the others are up to, or the keys.
void DrawKeys(const View& view, Canvas& canvas) {
  const int y = canvas.height() - 1;
  if (!view.warning.empty()) {
    canvas.Text(0, y, view.warning, {.ink = Ink::kAlarm, .bold = true});
    return;
  }
  if (view.leaving) return DrawCentered(y, "Leaving", kFaintStyle, canvas);
  if (view.replay) return DrawReplayKeys(view, canvas);
  const int width = canvas.width();
  if (view.net && !view.net->end.empty()) {
    return DrawCentered(y, "Q quits", kFaintStyle, canvas);
  }
  if (view.net) {
    const std::string news = NetText(*view.net, view.own_seat);
    if (!news.empty()) {
      return DrawCentered(y, news, {.ink = Ink::kGold, .bold = true}, canvas);
    }
    return DrawCentered(
        y,
        Longest({"arrows/WASD/hjkl steer   space boost   P menu   ? help   "
                 "Q quit",
                 "arrows steer  space boost  P menu  ? help  Q quit",
                 "arrows  space boost  P menu  ? help  Q quit"},
                width),
        kFaintStyle, canvas);
  }
  DrawCentered(
      y,
      Longest({"arrows/WASD/hjkl steer   space boost   P pause   R restart   "
               "? help   Q quit",
               "arrows steer  space boost  P pause  ? help  Q quit",
               "arrows  space boost  P pause  ? help  Q quit"},
              width),
      kFaintStyle, canvas);
}

// A match with others does not wait for a larger window.
std::string_view TooSmallText(const View& view, int width) {
  if (view.overlay == Overlay::kAskQuit) return "Q again quits";
  if (!view.net) {
    return Longest({"The game waits. Make it larger, or Q quits.",
                    "Larger, or Q quits", "Q quits"},
                   width);
  }
  if (!view.net->end.empty()) return "The match ended. Q quits";
  return Longest({"The match goes on. Make it larger, or Q quits.",
                  "Larger, or Q quits", "Q quits"},
                 width);
}

void DrawTooSmall(const View& view, const Layout& layout, Canvas& canvas) {
  const std::string needs =
      absl::StrCat("needs ", layout.needed.width, "x", layout.needed.height);
  const std::string both =
      absl::StrCat(needs, ", has ", canvas.width(), "x", canvas.height());
  const int y = std::max(0, canvas.height() / 2 - 1);
  const int width = canvas.width();
  DrawCentered(y, Longest({"The window is too small", "Too small"}, width),
               {.ink = Ink::kAlarm, .bold = true}, canvas);
  DrawCentered(y + 1, Longest({both, needs}, width), {}, canvas);
  DrawCentered(y + 2, TooSmallText(view, width), kFaintStyle, canvas);
}

Layout LayoutOf(const View& view, int width, int height) {
  return PlanLayout({width, height}, {view.state->width, view.state->height},
                    view.abilities);
}

const Symbols& SymbolsFor(Abilities abilities, CellShape cells) {
  if (!abilities.utf8) return kAsciiSymbols;
  return cells == CellShape::kHalf ? kHalfSymbols : kUtf8Symbols;
}

}  // namespace

void Draw(const View& view, Canvas& canvas) {
  canvas.Fill(0, 0, canvas.width(), canvas.height(), {});
  if (view.lobby) {
    return DrawLobby(view, SymbolsFor(view.abilities, CellShape::kWide),
                     canvas);
  }
  if (view.state == nullptr) {
    DrawCentered(canvas.height() / 2, "Opening the room", {}, canvas);
    return;
  }
  const Layout layout = LayoutOf(view, canvas.width(), canvas.height());
  if (!layout.fits) return DrawTooSmall(view, layout, canvas);
  const Symbols& symbols = SymbolsFor(view.abilities, layout.cells);
  DrawScores(view, layout, symbols, canvas);
  DrawArena(view, layout, symbols, canvas);
  DrawNews(view, layout, symbols, canvas);
  if (layout.panel) DrawPanel(view, layout, symbols, canvas);
  DrawBox(view, layout, symbols, canvas);
  DrawKeys(view, canvas);
}

bool HasRoom(const View& view, int width, int height) {
  return view.lobby || view.state == nullptr ||
         LayoutOf(view, width, height).fits;
}

}  // namespace parlor::solo
