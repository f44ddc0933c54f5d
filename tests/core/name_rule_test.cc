#include "parlor/name_rule.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace parlor {
namespace {

std::string Utf8(char32_t code) {
  const auto tail = [&](int shift) {
    return static_cast<char>(0x80 | ((code >> shift) & 0x3f));
  };
  if (code < 0x80) return {static_cast<char>(code)};
  if (code < 0x800) return {static_cast<char>(0xc0 | (code >> 6)), tail(0)};
  if (code < 0x10000) {
    return {static_cast<char>(0xe0 | (code >> 12)), tail(6), tail(0)};
  }
  return {static_cast<char>(0xf0 | (code >> 18)), tail(12), tail(6), tail(0)};
}

std::string Text(std::u32string_view codes) {
  std::string text;
  for (const char32_t code : codes) text += Utf8(code);
  return text;
}

struct Row {
  const char* name;
  std::u32string text;
};
const auto kRowName = [](const auto& row) {
  return std::string(row.param.name);
};

class FineTest : public testing::TestWithParam<Row> {};
class RefusedTest : public testing::TestWithParam<Row> {};

TEST_P(FineTest, IsAName) { EXPECT_TRUE(IsName(Text(GetParam().text))); }
TEST_P(RefusedTest, IsNoName) { EXPECT_FALSE(IsName(Text(GetParam().text))); }

INSTANTIATE_TEST_SUITE_P(
    Rows, FineTest,
    testing::Values(
        Row{"Ascii", U"Ann B. <b>&\"'"}, Row{"Space", U" "},
        Row{"Umlaut", U"Zo\u00eb"}, Row{"Combining", U"Zoe\u0308"},
        Row{"Hebrew", U"\u05e9\u05dc\u05d5\u05dd"}, Row{"Han", U"\u5f20\u4f1f"},
        Row{"Emoji", U"\U0001f600"}, Row{"Astral", U"\U00020000"},
        Row{"Private", U"\ue000"}, Row{"Unassigned", U"\u0378"},
        Row{"Last", U"\U0010ffff"}, Row{"NoBreakSpace", U"a\u00a0b"},
        // Persian "mikhaham", a non-joiner between letters.
        Row{"Persian", U"\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645"},
        // Sinhala "sri", a joiner behind a mark.
        Row{"Sinhala", U"\u0dc1\u0dca\u200d\u0dbb\u0dd3"},
        Row{"Family", U"\U0001f468\u200d\U0001f469\u200d\U0001f467"},
        // Behind a variation selector.
        Row{"Rainbow", U"\U0001f3f3\ufe0f\u200d\U0001f308"},
        // Behind a skin tone, before U+2695.
        Row{"Doctor", U"\U0001f9d1\U0001f3fd\u200d\u2695\ufe0f"}),
    kRowName);

INSTANTIATE_TEST_SUITE_P(
    Rows, RefusedTest,
    testing::Values(
        Row{"Empty", U""}, Row{"Nul", std::u32string(1, U'\0')},
        Row{"LineFeed", U"a\nb"}, Row{"Tab", U"\t"}, Row{"Delete", U"\u007f"},
        Row{"NextLine", U"a\u0085b"}, Row{"SoftHyphen", U"a\u00adb"},
        Row{"LineSeparator", U"a\u2028b"},
        Row{"ParagraphSeparator", U"a\u2029b"},
        Row{"ZeroWidthSpace", U"a\u200bb"}, Row{"LeftToRight", U"a\u200eb"},
        Row{"RightToLeft", U"a\u200fb"}, Row{"Override", U"a\u202eb"},
        Row{"Embedding", U"a\u202ab"}, Row{"Isolate", U"a\u2066b"},
        Row{"WordJoiner", U"a\u2060b"}, Row{"ByteOrderMark", U"\ufeffa"},
        Row{"Annotation", U"a\ufffbb"}, Row{"Tag", U"a\U000e0041"},
        Row{"ArabicNumberSign", U"\u0600"}, Row{"JoinerAlone", U"\u200d"},
        Row{"JoinerFirst", U"\u200da"}, Row{"JoinerLast", U"a\u200d"},
        Row{"NonJoinerLast", U"a\u200c"}, Row{"TwoJoiners", U"a\u200d\u200db"},
        Row{"BothJoiners", U"a\u200c\u200db"},
        Row{"JoinerBehindADigit", U"1\u200da"},
        Row{"JoinerBeforeADigit", U"a\u200d1"},
        Row{"JoinerBeforeASpace", U"a\u200d b"},
        Row{"JoinerBehindASpace", U"a \u200cb"}),
    kRowName);

TEST(NameRuleTest, CodePointsAreCounted) {
  const std::u32string astral(32, U'\U0001f600');
  EXPECT_TRUE(IsName(Text(astral)));
  EXPECT_FALSE(IsName(Text(astral + U"a")));
  EXPECT_TRUE(IsChatText(std::string(280, 'a')));
  EXPECT_FALSE(IsChatText(std::string(281, 'a')));
  EXPECT_TRUE(IsPlainLine("ab", 2));
  EXPECT_FALSE(IsPlainLine("abc", 2));
  EXPECT_FALSE(IsPlainLine("a", 0));
}

TEST(NameRuleTest, OnlyUtf8IsText) {
  EXPECT_FALSE(IsName("a\xff"));
  EXPECT_FALSE(IsName("\xc3"));
  EXPECT_FALSE(IsName("\xed\xa0\x80"));  // a surrogate
  EXPECT_FALSE(IsName("\xc0\x8a"));      // a line feed, too long
}

// Every code point, alone and as a neighbour of a joiner. How many pass is
// Unicode 14's to say: Python 3.11's unicodedata counts as many that are
// neither Cc nor Cf nor U+2028, 2029, and perl 5.36 as many that may be joined.
TEST(NameRuleTest, EveryCodePointCounts) {
  constexpr int kFine = 1'111'834;
  constexpr int kJoinable = 137'705;
  int fine = 0;
  int joins_behind = 0;
  int joins_before = 0;
  for (char32_t code = 0; code <= 0x10ffff; ++code) {
    if (code >= 0xd800 && code <= 0xdfff) continue;
    fine += IsName(Text({&code, 1})) ? 1 : 0;
    joins_behind += IsName(Text(std::u32string{code, 0x200d, U'a'})) ? 1 : 0;
    joins_before += IsName(Text(std::u32string{U'a', 0x200c, code})) ? 1 : 0;
  }
  EXPECT_EQ(fine, kFine);
  EXPECT_EQ(joins_behind, kJoinable);
  EXPECT_EQ(joins_before, kJoinable);
}

}  // namespace
}  // namespace parlor
