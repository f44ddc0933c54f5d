#include "terminal/screen.h"

// Functions, not macros: move, clear and their like are common words.
#define NCURSES_NOMACROS 1
#include <curses.h>
#include <langinfo.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <clocale>
#include <cstdlib>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "parlor/status.h"

namespace parlor::solo {
namespace {

// By Ink. The players' are the eight of Okabe and Ito, told apart by most
// colour-blind eyes, as near as the 256-colour cube has them; the background is
// always black, so that they look alike in every terminal.
constexpr std::array<short, kInks> kColours256 = {
    252, 75, 214, 36, 227, 202, 176, 63, 250, 244, 245, 220, 203, 231, 16};
constexpr std::array<short, kInks> kColours8 = {
    COLOR_WHITE,   COLOR_CYAN,   COLOR_YELLOW, COLOR_GREEN, COLOR_RED,
    COLOR_MAGENTA, COLOR_BLUE,   COLOR_WHITE,  COLOR_WHITE, COLOR_WHITE,
    COLOR_WHITE,   COLOR_YELLOW, COLOR_RED,    COLOR_WHITE, COLOR_BLACK};

// How long ncurses waits whether an ESC begins a key's sequence.
constexpr int kEscapeMs = 25;

Key KeyOf(int code) {
  switch (code) {
    case KEY_UP:
    case 'w':
    case 'W':
    case 'k':
    case 'K':
      return Key::kUp;
    case KEY_DOWN:
    case 's':
    case 'S':
    case 'j':
    case 'J':
      return Key::kDown;
    case KEY_LEFT:
    case 'a':
    case 'A':
    case 'h':
    case 'H':
      return Key::kLeft;
    case KEY_RIGHT:
    case 'd':
    case 'D':
    case 'l':
    case 'L':
      return Key::kRight;
    case ' ':
      return Key::kBoost;
    case '\n':
    case '\r':
    case KEY_ENTER:
      return Key::kReady;
    case 'p':
    case 'P':
    case 27:
      return Key::kPause;
    case 'r':
    case 'R':
      return Key::kRestart;
    case 'o':
    case 'O':
      return Key::kOpen;
    case '?':
    case KEY_F(1):
      return Key::kHelp;
    case 'q':
    case 'Q':
      return Key::kQuit;
    case '+':
    case '=':
      return Key::kFaster;
    case '-':
    case '_':
      return Key::kSlower;
    case '.':
      return Key::kStep;
    default:
      return Key::kOther;
  }
}

}  // namespace

absl::StatusOr<std::unique_ptr<Screen>> Screen::Open() {
  std::setlocale(LC_ALL, "");
  // newterm, because initscr ends the process when it fails.
  SCREEN* handle = newterm(nullptr, stdout, stdin);
  // It takes terminals that cannot move their cursor, and writes all over them.
  if (handle != nullptr && tigetstr("cup") != nullptr) {
    return std::unique_ptr<Screen>(new Screen(handle));
  }
  if (handle != nullptr) {
    endwin();
    delscreen(handle);
  }
  const char* name = std::getenv("TERM");
  return MakeStatus(
      absl::StatusCode::kUnavailable,
      absl::StrCat("the terminal \"", name == nullptr ? "" : name,
                   "\" cannot show a game (is TERM right?); --headless "
                   "needs none"));
}

Screen::Screen(void* handle) : handle_(handle) {
  set_term(static_cast<SCREEN*>(handle));
  abilities_.utf8 = std::strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
  set_escdelay(kEscapeMs);
  cbreak();  // Ctrl-C and Ctrl-Z stay signals
  noecho();
  nonl();
  curs_set(0);
  keypad(stdscr, TRUE);
  nodelay(stdscr, TRUE);
  SetUpColours();
}

Screen::~Screen() {
  // Terminals without a second screen keep the picture; the shell goes on in
  // its last line.
  move(LINES - 1, 0);
  clrtoeol();
  refresh();
  endwin();
  delscreen(static_cast<SCREEN*>(handle_));
}

void Screen::SetUpColours() {
  // no-color.org: any value but the empty one.
  const char* no_colour = std::getenv("NO_COLOR");
  const bool wanted = no_colour == nullptr || *no_colour == '\0';
  abilities_.colours =
      wanted && has_colors() == TRUE && start_color() == OK && COLORS >= 8;
  if (!abilities_.colours) return;
  colours_ = COLORS >= 256 ? kColours256 : kColours8;
  assume_default_colors(colours_[static_cast<std::size_t>(Ink::kPlain)],
                        COLORS >= 256
                            ? colours_[static_cast<std::size_t>(Ink::kBlack)]
                            : COLOR_BLACK);
}

Extent Screen::size() const { return {COLS, LINES}; }

// As many pairs as the terminal has; beyond them, its plain colours.
short Screen::PairOf(const Style& style) {
  if (!abilities_.colours) return 0;
  if (style.ink == Ink::kPlain && style.paper == Ink::kPlain) return 0;
  short& pair = pairs_[static_cast<std::size_t>(style.ink)]
                      [static_cast<std::size_t>(style.paper)];
  if (pair != 0 || pairs_made_ + 1 >= COLOR_PAIRS) return pair;
  const Ink paper = style.paper == Ink::kPlain ? Ink::kBlack : style.paper;
  pair = ++pairs_made_;
  init_pair(pair, colours_[static_cast<std::size_t>(style.ink)],
            colours_[static_cast<std::size_t>(paper)]);
  return pair;
}

void Screen::ShowGlyph(int x, int y, const Glyph& glyph) {
  attr_t attributes = A_NORMAL;
  if (glyph.style.bold) attributes |= A_BOLD;
  if (glyph.style.reverse) attributes |= A_REVERSE;
  if (!abilities_.colours && glyph.style.ink == Ink::kFaint) {
    attributes |= A_DIM;
  }
  const wchar_t text[] = {static_cast<wchar_t>(glyph.character), L'\0'};
  cchar_t cell;
  setcchar(&cell, text, attributes, PairOf(glyph.style), nullptr);
  mvadd_wch(y, x, &cell);
}

void Screen::Show(const Canvas& canvas) {
  const bool all =
      canvas.width() != shown_.width() || canvas.height() != shown_.height();
  for (int y = 0; y < canvas.height(); ++y) {
    for (int x = 0; x < canvas.width(); ++x) {
      const Glyph& glyph = canvas.At(x, y);
      if (all || !(glyph == shown_.At(x, y))) ShowGlyph(x, y, glyph);
    }
  }
  shown_ = canvas;
  refresh();
}

Key Screen::ReadKey() {
  int code = getch();
  while (code == KEY_RESIZE) code = getch();  // what resizeterm leaves behind
  return code == ERR ? Key::kNone : KeyOf(code);
}

void Screen::Resize() {
  winsize window{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) != 0) return;
  if (window.ws_row > 0 && window.ws_col > 0) {
    resizeterm(window.ws_row, window.ws_col);
  }
  clear();
  shown_ = Canvas(0, 0);
}

void Screen::Leave() {
  def_prog_mode();
  endwin();
}

void Screen::Return() {
  reset_prog_mode();
  curs_set(0);
  Resize();
  clearok(curscr, TRUE);
}

}  // namespace parlor::solo
