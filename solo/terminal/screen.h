// Screen: the real terminal, by ncurses. Shows canvases and reads keys; the
// terminal is as it was before when the screen is gone. One at a time.
#ifndef PARLOR_SOLO_TERMINAL_SCREEN_H_
#define PARLOR_SOLO_TERMINAL_SCREEN_H_

#include <array>
#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "terminal/canvas.h"
#include "terminal/layout.h"
#include "terminal/view.h"

namespace parlor::solo {

enum class Key : std::uint8_t {
  kNone,  // no key is waiting
  kUp,
  kDown,
  kLeft,
  kRight,
  kBoost,  // space
  kReady,  // enter
  kPause,
  kRestart,
  kOpen,
  kHelp,
  kQuit,
  kFaster,
  kSlower,
  kStep,
  kOther,
};

class Screen {
 public:
  // Takes over the terminal of stdin and stdout. Unavailable when it cannot
  // show a screen, with the terminal's name.
  static absl::StatusOr<std::unique_ptr<Screen>> Open();
  ~Screen();
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;

  const Abilities& abilities() const { return abilities_; }
  Extent size() const;

  // Writes what differs from the last canvas shown.
  void Show(const Canvas& canvas);

  // The next key that is waiting; never blocks.
  Key ReadKey();

  // After SIGWINCH: takes the terminal's new size.
  void Resize();
  // Gives the terminal back for a while, and takes it again.
  void Leave();
  void Return();

 private:
  explicit Screen(void* handle);
  void SetUpColours();
  void ShowGlyph(int x, int y, const Glyph& glyph);
  short PairOf(const Style& style);

  void* handle_;  // SCREEN of ncurses, whose header has too many macros
  Abilities abilities_;
  std::array<short, kInks> colours_{};
  // Pairs of (ink, paper) as they were made; 0 is not made yet.
  std::array<std::array<short, kInks>, kInks> pairs_{};
  short pairs_made_ = 0;
  Canvas shown_{0, 0};
};

}  // namespace parlor::solo

#endif  // PARLOR_SOLO_TERMINAL_SCREEN_H_
