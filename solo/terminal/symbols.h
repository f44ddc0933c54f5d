// Symbols: the characters things are drawn with, in UTF-8 and in ASCII. Every
// player has a pattern of his own, so that nobody needs colours to tell two
// trails apart.
#ifndef PARLOR_SOLO_TERMINAL_SYMBOLS_H_
#define PARLOR_SOLO_TERMINAL_SYMBOLS_H_

#include <array>

#include "cycles/state.h"

namespace parlor::solo {

struct Symbols {
  char32_t horizontal, vertical;
  char32_t top_left, top_right, bottom_left, bottom_right;
  std::array<char32_t, cycles::kPlayersMax> trail;
  std::array<char32_t, 4> head;      // by Heading: up, right, down, left
  std::array<char32_t, 2> obstacle;  // the two columns of a wide cell
  std::array<char32_t, 2> closed;
  std::array<char32_t, 2> charge;
  std::array<char32_t, 2> eraser;
  char32_t crash;
  char32_t digit;        // the block large digits are made of
  char32_t full, empty;  // charges
};

inline constexpr Symbols kUtf8Symbols = {
    .horizontal = U'─',
    .vertical = U'│',
    .top_left = U'┌',
    .top_right = U'┐',
    .bottom_left = U'└',
    .bottom_right = U'┘',
    .trail = {U'█', U'▓', U'▒', U'░', U'▚', U'╬', U'#', U':'},
    .head = {U'▲', U'▶', U'▼', U'◀'},
    .obstacle = {U'▟', U'▙'},
    .closed = {U'╱', U'╱'},
    .charge = {U'+', U'+'},
    .eraser = {U'(', U')'},
    .crash = U'╳',
    .digit = U'█',
    .full = U'▮',
    .empty = U'▯',
};

// Beside half cells, which show no patterns: the colours alone.
inline constexpr Symbols kHalfSymbols = [] {
  Symbols symbols = kUtf8Symbols;
  symbols.trail.fill(symbols.digit);
  return symbols;
}();

inline constexpr Symbols kAsciiSymbols = {
    .horizontal = U'-',
    .vertical = U'|',
    .top_left = U'+',
    .top_right = U'+',
    .bottom_left = U'+',
    .bottom_right = U'+',
    .trail = {U'#', U'%', U'=', U':', U'o', U'$', U'&', U'~'},
    .head = {U'^', U'>', U'v', U'<'},
    .obstacle = {U'[', U']'},
    .closed = {U'/', U'/'},
    .charge = {U'+', U'+'},
    .eraser = {U'(', U')'},
    .crash = U'X',
    .digit = U'#',
    .full = U'*',
    .empty = U'.',
};

}  // namespace parlor::solo

#endif  // PARLOR_SOLO_TERMINAL_SYMBOLS_H_
