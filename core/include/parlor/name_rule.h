// Which names and chat lines people may show one another: text that is one
// line, reads as it is written, and hides nothing.
//
// Refused are, by the Unicode Character Database 14.0.0: the general categories
// Cc (controls, line feeds among them) and Cf (format characters: bidirectional
// overrides, the byte order mark, soft hyphens, tags), U+2028 and U+2029.
// Zero width joiner and non-joiner (U+200D, U+200C), which are Cf, may stand
// between letters (marks included: Persian and Indic scripts need them) or
// emoji (🏳️‍🌈 is two, joined).
//
// The characters are counted as code points, after no normalisation. Spaces are
// let through wherever they are, and so is what only looks like another letter:
// who is who is told by player ids.
//
// The tables are core/unicode_ranges.inc, written by tests/core/unicode_ranges.
#ifndef PARLOR_NAME_RULE_H_
#define PARLOR_NAME_RULE_H_

#include <string_view>

namespace parlor {

inline constexpr int kNameCodePointsMax = 32;
inline constexpr int kChatCodePointsMax = 280;

// UTF-8 of 1..code_points_max code points, none of them refused. For lines of
// any other length.
bool IsPlainLine(std::string_view text, int code_points_max);

inline bool IsName(std::string_view text) {
  return IsPlainLine(text, kNameCodePointsMax);
}
inline bool IsChatText(std::string_view text) {
  return IsPlainLine(text, kChatCodePointsMax);
}

}  // namespace parlor

#endif  // PARLOR_NAME_RULE_H_
