#include "terminal/arena.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "terminal/texts.h"

namespace parlor::solo {
namespace {

using cycles::Cell;

constexpr Style kWallStyle{.ink = Ink::kWall};

struct Place {
  int x = 0;
  int y = 0;
};

// Where a cell is on the canvas: its left or only column.
Place PlaceOf(const Layout& layout, int x, int y) {
  if (layout.cells == CellShape::kWide) {
    return {layout.frame_x + 1 + 2 * x, layout.frame_y + 1 + y};
  }
  return {layout.frame_x + 1 + x, layout.frame_y + 1 + y / 2};
}

Ink InkOf(Cell cell) {
  const int owner = cycles::TrailOwner(cell);
  if (owner >= 0) return PlayerInk(owner);
  switch (cell) {
    case Cell::kObstacle:
    case Cell::kClosed:
      return Ink::kWall;
    case Cell::kCharge:
    case Cell::kEraser:
      return Ink::kGold;
    default:
      return Ink::kPlain;
  }
}

void DrawWideCell(Place at, Cell cell, const Symbols& symbols, Canvas& canvas) {
  const Style style{.ink = InkOf(cell)};
  const auto put = [&](const std::array<char32_t, 2>& two, const Style& how) {
    canvas.Put(at.x, at.y, two[0], how);
    canvas.Put(at.x + 1, at.y, two[1], how);
  };
  const int owner = cycles::TrailOwner(cell);
  if (owner >= 0) return DrawSwatch(at.x, at.y, owner, symbols, canvas);
  const Style bold{.ink = style.ink, .bold = true};
  if (cell == Cell::kObstacle) put(symbols.obstacle, style);
  if (cell == Cell::kClosed) put(symbols.closed, style);
  if (cell == Cell::kCharge) put(symbols.charge, bold);
  if (cell == Cell::kEraser) put(symbols.eraser, bold);
}

// A head is its direction and its seat's number on the player's colour: read
// in any colours, and in none.
void DrawWideHead(Place at, int seat, const cycles::Cycle& cycle,
                  const Symbols& symbols, Canvas& canvas) {
  if (IsOut(cycle)) {
    const Style style{.ink = Ink::kAlarm, .paper = Ink::kPlain, .bold = true};
    canvas.Put(at.x, at.y, symbols.crash, style);
    canvas.Put(at.x + 1, at.y, symbols.crash, style);
    return;
  }
  const Style style{.ink = PlayerInk(seat), .bold = true, .reverse = true};
  canvas.Put(at.x, at.y, symbols.head[static_cast<std::size_t>(cycle.heading)],
             style);
  canvas.Put(at.x + 1, at.y, U'1' + static_cast<char32_t>(seat), style);
}

void DrawWide(const cycles::State& state, const Layout& layout,
              const Symbols& symbols, Canvas& canvas) {
  for (int y = 0; y < state.height; ++y) {
    for (int x = 0; x < state.width; ++x) {
      DrawWideCell(PlaceOf(layout, x, y), cycles::CellAt(state, x, y), symbols,
                   canvas);
    }
  }
  // Who is still in lies over who crashed.
  for (const bool out : {true, false}) {
    for (int s = 0; s < state.players; ++s) {
      const cycles::Cycle& cycle = state.cycles[static_cast<std::size_t>(s)];
      if (IsOut(cycle) != out) continue;
      DrawWideHead(PlaceOf(layout, cycle.x, cycle.y), s, cycle, symbols,
                   canvas);
    }
  }
}

// What half a row of one column shows; kPlain is nothing. Heads are white, so
// that they stand out from their trails.
Ink HalfInk(const cycles::State& state, int x, int y) {
  if (y >= state.height) return Ink::kPlain;
  Ink ink = InkOf(cycles::CellAt(state, x, y));
  for (int s = 0; s < state.players; ++s) {
    const cycles::Cycle& cycle = state.cycles[static_cast<std::size_t>(s)];
    if (cycle.x != x || cycle.y != y) continue;
    if (!IsOut(cycle)) return Ink::kWhite;
    ink = Ink::kAlarm;
  }
  return ink;
}

void DrawHalf(const cycles::State& state, const Layout& layout,
              Canvas& canvas) {
  for (int y = 0; y < state.height; y += 2) {
    for (int x = 0; x < state.width; ++x) {
      const Ink upper = HalfInk(state, x, y);
      const Ink lower = HalfInk(state, x, y + 1);
      const Place at = PlaceOf(layout, x, y);
      if (upper == Ink::kPlain && lower == Ink::kPlain) continue;
      if (upper == lower) {
        canvas.Put(at.x, at.y, U'█', {.ink = upper});
      } else if (upper == Ink::kPlain) {
        canvas.Put(at.x, at.y, U'▄', {.ink = lower});
      } else {
        canvas.Put(at.x, at.y, U'▀', {.ink = upper, .paper = lower});
      }
    }
  }
}

// Beside each head, on the side that has room.
void DrawNames(const View& view, const Layout& layout, Canvas& canvas) {
  const cycles::State& state = *view.state;
  const int width = layout.cells == CellShape::kWide ? 2 : 1;
  for (int s = 0; s < state.players; ++s) {
    const cycles::Cycle& cycle = state.cycles[static_cast<std::size_t>(s)];
    const std::string_view name = PlayerName(s, view.own_seat);
    const int length = static_cast<int>(name.size());
    const Place head = PlaceOf(layout, cycle.x, cycle.y);
    const int end = layout.frame_x + layout.frame.width - 1;
    const int right = head.x + width + 1;
    const int x = right + length <= end ? right : head.x - 1 - length;
    canvas.Text(x, head.y, name,
                {.ink = PlayerInk(s), .bold = s == view.own_seat});
  }
}

// Large digits, three columns by five rows, a bit a block.
constexpr std::array<std::array<std::uint8_t, 5>, 4> kDigits = {
    {{7, 5, 5, 5, 7}, {2, 6, 2, 2, 7}, {7, 1, 7, 4, 7}, {7, 1, 7, 1, 7}}};

void DrawCountdown(int value, const Layout& layout, const Symbols& symbols,
                   Canvas& canvas) {
  const auto& rows = kDigits[static_cast<std::size_t>(value)];
  const int left = layout.frame_x + layout.frame.width / 2 - 3;
  const int top = layout.frame_y + layout.frame.height / 2 - 2;
  const Style style{.ink = Ink::kGold, .bold = true};
  for (int y = 0; y < 5; ++y) {
    for (int x = 0; x < 3; ++x) {
      if ((rows[static_cast<std::size_t>(y)] >> (2 - x) & 1) == 0) continue;
      canvas.Put(left + 2 * x, top + y, symbols.digit, style);
      canvas.Put(left + 2 * x + 1, top + y, symbols.digit, style);
    }
  }
}

// What is written into the frame's upper line, short where it is short.
std::string Title(const cycles::State& state, int width) {
  const int rounds = std::max<int>(cycles::kRounds, state.round);
  std::string speed;
  std::string closing;
  if (state.phase == cycles::Phase::kRunning) {
    speed = absl::StrCat("  speed ", cycles::Speed(state));
    const int frames = cycles::FramesToClosing(state);
    if (frames > 0 && frames <= 10 * cycles::kFramesPerSecond) {
      closing = absl::StrCat("  walls close in ",
                             frames / cycles::kFramesPerSecond + 1);
    }
  }
  const std::string round =
      absl::StrCat(" Round ", state.round, " of ", rounds);
  return std::string(Clipped(
      Longest({absl::StrCat(round, speed, closing, " "),
               absl::StrCat(round, closing, " "), absl::StrCat(round, " ")},
              width),
      width));
}

}  // namespace

void DrawSwatch(int x, int y, int seat, const Symbols& symbols,
                Canvas& canvas) {
  const Style style{.ink = PlayerInk(seat)};
  const char32_t pattern = symbols.trail[static_cast<std::size_t>(seat)];
  canvas.Put(x, y, pattern, style);
  canvas.Put(x + 1, y, pattern, style);
}

void DrawFrame(int x, int y, Extent size, const Symbols& symbols,
               const Style& style, Canvas& canvas) {
  const int right = x + size.width - 1;
  const int bottom = y + size.height - 1;
  for (int column = x + 1; column < right; ++column) {
    canvas.Put(column, y, symbols.horizontal, style);
    canvas.Put(column, bottom, symbols.horizontal, style);
  }
  for (int row = y + 1; row < bottom; ++row) {
    canvas.Put(x, row, symbols.vertical, style);
    canvas.Put(right, row, symbols.vertical, style);
  }
  canvas.Put(x, y, symbols.top_left, style);
  canvas.Put(right, y, symbols.top_right, style);
  canvas.Put(x, bottom, symbols.bottom_left, style);
  canvas.Put(right, bottom, symbols.bottom_right, style);
}

void DrawArena(const View& view, const Layout& layout, const Symbols& symbols,
               Canvas& canvas) {
  const cycles::State& state = *view.state;
  DrawFrame(layout.frame_x, layout.frame_y, layout.frame, symbols, kWallStyle,
            canvas);
  canvas.Text(layout.frame_x + 2, layout.frame_y,
              Title(state, layout.frame.width - 4), kWallStyle);
  if (layout.cells == CellShape::kWide) {
    DrawWide(state, layout, symbols, canvas);
  } else {
    DrawHalf(state, layout, canvas);
  }
  if (const int countdown = cycles::Countdown(state); countdown > 0) {
    DrawCountdown(countdown, layout, symbols, canvas);
    DrawNames(view, layout, canvas);
  }
}

}  // namespace parlor::solo
