#include "terminal/canvas.h"

#include "parlor/check.h"

namespace parlor::solo {

Canvas::Canvas(int width, int height) : width_(width), height_(height) {
  PARLOR_CHECK(width >= 0 && height >= 0);
  glyphs_.resize(Index(0, height));
}

const Glyph& Canvas::At(int x, int y) const {
  PARLOR_CHECK(x >= 0 && x < width_ && y >= 0 && y < height_);
  return glyphs_[Index(x, y)];
}

void Canvas::Put(int x, int y, char32_t character, const Style& style) {
  if (x < 0 || x >= width_ || y < 0 || y >= height_) return;
  glyphs_[Index(x, y)] = Glyph{character, style};
}

void Canvas::Text(int x, int y, std::string_view text, const Style& style) {
  for (const char c : text) {
    Put(x++, y, static_cast<unsigned char>(c), style);
  }
}

void Canvas::Fill(int x, int y, int width, int height, const Glyph& glyph) {
  for (int row = y; row < y + height; ++row) {
    for (int column = x; column < x + width; ++column) {
      Put(column, row, glyph.character, glyph.style);
    }
  }
}

std::string Canvas::Dump() const {
  std::string out;
  for (int y = 0; y < height_; ++y) {
    std::string line;
    std::size_t used = 0;
    for (int x = 0; x < width_; ++x) {
      AppendUtf8(At(x, y).character, line);
      if (At(x, y).character != U' ') used = line.size();
    }
    out.append(line, 0, used);
    out += '\n';
  }
  return out;
}

void AppendUtf8(char32_t character, std::string& out) {
  const auto code = static_cast<std::uint32_t>(character);
  PARLOR_CHECK(code < 0x10000);  // all that is drawn here
  if (code < 0x80) {
    out += static_cast<char>(code);
    return;
  }
  if (code < 0x800) {
    out += static_cast<char>(0xc0 | code >> 6);
  } else {
    out += static_cast<char>(0xe0 | code >> 12);
    out += static_cast<char>(0x80 | (code >> 6 & 0x3f));
  }
  out += static_cast<char>(0x80 | (code & 0x3f));
}

}  // namespace parlor::solo
