#include "parlor/name_rule.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <span>

#include "parlor/byte_io.h"
#include "parlor/utf8.h"

namespace parlor {
namespace {

// Both ends are in it. In a table ranges ascend and do not touch.
struct CodePointRange {
  char32_t first;
  char32_t last;
};

#include "unicode_ranges.inc"

bool IsIn(std::span<const CodePointRange> table, char32_t code) {
  const auto after = std::ranges::upper_bound(table, code, std::ranges::less(),
                                              &CodePointRange::first);
  return after != table.begin() && code <= std::prev(after)->last;
}

bool IsJoiner(char32_t code) { return code == 0x200c || code == 0x200d; }

// Takes the first code point off UTF-8 that is not empty.
char32_t TakeCodePoint(std::string_view& text) {
  const auto byte = [&](std::size_t at) {
    return static_cast<unsigned char>(text[at]);
  };
  const unsigned lead = byte(0);
  const std::size_t length = lead < 0x80   ? 1
                             : lead < 0xe0 ? 2
                             : lead < 0xf0 ? 3
                                           : 4;
  char32_t code = length == 1 ? lead : lead & (0x7fu >> length);
  for (std::size_t at = 1; at < length; ++at) {
    code = (code << 6) | (byte(at) & 0x3fu);
  }
  text.remove_prefix(length);
  return code;
}

}  // namespace

bool IsPlainLine(std::string_view text, int code_points_max) {
  if (text.empty() || !IsUtf8(AsBytes(text))) return false;
  char32_t before = 0;  // joins nothing
  bool joiner_open = false;
  for (int count = 0; !text.empty(); ++count) {
    if (count == code_points_max) return false;
    const char32_t code = TakeCodePoint(text);
    if (joiner_open && !IsIn(kJoinable, code)) return false;
    joiner_open = IsJoiner(code);
    if (joiner_open ? !IsIn(kJoinable, before) : IsIn(kRefused, code)) {
      return false;
    }
    before = code;
  }
  return !joiner_open;
}

}  // namespace parlor
