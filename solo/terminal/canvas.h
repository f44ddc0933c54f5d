// Canvas: a picture made of character cells, drawn by the renderer and shown
// by the screen. Tests look at it without a terminal.
#ifndef PARLOR_SOLO_TERMINAL_CANVAS_H_
#define PARLOR_SOLO_TERMINAL_CANVAS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace parlor::solo {

// What a colour means; the screen knows what its terminal can show.
enum class Ink : std::uint8_t {
  kPlain,    // the terminal's own foreground, or background as a paper
  kPlayer0,  // .. kPlayer0 + 7
  kPlayer7 = kPlayer0 + 7,
  kWall,
  kFaint,  // what is less important
  kGold,   // what is worth a look
  kAlarm,  // what is bad
  kWhite,
  kBlack,
};
inline constexpr int kInks = static_cast<int>(Ink::kBlack) + 1;

constexpr Ink PlayerInk(int seat) {
  return static_cast<Ink>(static_cast<int>(Ink::kPlayer0) + seat);
}

struct Style {
  Ink ink = Ink::kPlain;
  Ink paper = Ink::kPlain;
  bool bold = false;
  bool reverse = false;

  friend bool operator==(const Style&, const Style&) = default;
};

struct Glyph {
  char32_t character = U' ';
  Style style;

  friend bool operator==(const Glyph&, const Glyph&) = default;
};

// Drawing outside is clipped.
class Canvas {
 public:
  Canvas(int width, int height);

  int width() const { return width_; }
  int height() const { return height_; }
  const Glyph& At(int x, int y) const;

  void Put(int x, int y, char32_t character, const Style& style = {});
  // One cell a byte: ASCII.
  void Text(int x, int y, std::string_view text, const Style& style = {});
  void Fill(int x, int y, int width, int height, const Glyph& glyph);

  // One line a row in UTF-8, without the spaces at its end.
  std::string Dump() const;

 private:
  std::size_t Index(int x, int y) const {
    return static_cast<std::size_t>(y) * static_cast<std::size_t>(width_) +
           static_cast<std::size_t>(x);
  }

  int width_;
  int height_;
  std::vector<Glyph> glyphs_;
};

// Appends a character in UTF-8.
void AppendUtf8(char32_t character, std::string& out);

}  // namespace parlor::solo

#endif  // PARLOR_SOLO_TERMINAL_CANVAS_H_
