// simdjson, which many servers validate with, is the second opinion.
#include "parlor/utf8.h"

#include <gtest/gtest.h>
#include <simdjson.h>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "parlor/byte_io.h"
#include "parlor/random.h"
#include "support/hex.h"
#include "support/seed.h"

namespace parlor {
namespace {

bool Valid(std::string_view text) { return IsUtf8(AsBytes(text)); }

// A vector of its exact size, so that the address sanitizer sees a read past
// the end.
testing::AssertionResult Agrees(std::string_view text) {
  const std::vector<char> exact(text.begin(), text.end());
  const bool ours = IsUtf8(std::as_bytes(std::span(exact)));
  const bool theirs = simdjson::validate_utf8(exact.data(), exact.size());
  if (ours == theirs) return testing::AssertionSuccess();
  return testing::AssertionFailure()
         << test::Hex(AsBytes(text)) << ": we say " << ours;
}

// `value` in the form of `length` bytes, whether it may be or not.
std::string Encoded(std::uint32_t value, std::size_t length) {
  constexpr std::array<std::uint32_t, 5> kLead = {0, 0, 0xc0, 0xe0, 0xf0};
  std::string text(length, '\0');
  for (std::size_t i = length - 1; i > 0; --i) {
    text[i] = static_cast<char>(0x80 | (value & 0x3f));
    value >>= 6;
  }
  text[0] = static_cast<char>(kLead[length] | value);
  return text;
}

struct Row {
  const char* name;
  std::string_view text;
  bool valid;
};

using namespace std::string_view_literals;

constexpr Row kRows[] = {
    {"nothing", "", true},
    {"zero", "\0"sv, true},
    {"ASCII", "plain text\x7f", true},
    {"longer ASCII", "0123456789abcdef0123456789abcdef", true},
    {"many languages", "\u00e9 \u0436 \u4e2d \U0001f600", true},
    {"the last of each length", "\x7f\u07ff\uffff\U0010ffff", true},
    {"byte order mark", "\xef\xbb\xbf", true},
    {"around the surrogates", "\ud7ff\ue000", true},
    {"tail alone", "\x80", false},
    {"lead alone", "\xc3", false},
    {"lead and no tail", "\xc3(", false},
    {"two bytes for NUL", "\xc0\x80", false},
    {"two bytes for a slash", "\xc0\xaf", false},
    {"three bytes for a slash", "\xe0\x80\xaf", false},
    {"four bytes for a slash", "\xf0\x80\x80\xaf", false},
    {"first surrogate", "\xed\xa0\x80", false},
    {"last surrogate", "\xed\xbf\xbf", false},
    {"above the last", "\xf4\x90\x80\x80", false},
    {"five bytes", "\xf8\x88\x80\x80\x80", false},
    {"no lead", "\xff", false},
    {"bad behind a step", "0123456789abcdef\xff", false},
    {"bad at a step's end", "0123456789abcde\xff", false},
    {"cut at a step's end", "0123456789abcd\xe4\xb8", false},
};

TEST(Utf8Test, KnownCases) {
  for (const Row& row : kRows) {
    EXPECT_EQ(Valid(row.text), row.valid) << row.name;
    EXPECT_TRUE(Agrees(row.text)) << row.name;
  }
}

TEST(Utf8Test, EveryCharacterHasOneForm) {
  for (std::uint32_t value = 0; value < 0x200000; ++value) {
    const bool surrogate = value >= 0xd800 && value < 0xe000;
    const std::size_t shortest = value < 0x80      ? 1
                                 : value < 0x800   ? 2
                                 : value < 0x10000 ? 3
                                                   : 4;
    for (std::size_t length = shortest; length <= 4; ++length) {
      const bool valid = length == shortest && !surrogate && value <= 0x10ffff;
      ASSERT_EQ(Valid(Encoded(value, length)), valid) << value << ' ' << length;
    }
  }
}

TEST(Utf8Test, AgreesOnAllBoundaries) {
  constexpr std::array<std::uint8_t, 24> kBytes = {
      0x00, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0, 0xc1, 0xc2, 0xdf,
      0xe0, 0xe1, 0xec, 0xed, 0xee, 0xef, 0xf0, 0xf1, 0xf3, 0xf4, 0xf5, 0xff};
  std::uint64_t count = 1;
  for (std::size_t length = 1; length <= 4; ++length) {
    count *= kBytes.size();
    std::string text(length, '\0');
    for (std::uint64_t index = 0; index < count; ++index) {
      std::uint64_t rest = index;
      for (char& c : text) {
        c = static_cast<char>(kBytes[rest % kBytes.size()]);
        rest /= kBytes.size();
      }
      ASSERT_TRUE(Agrees(text));
    }
  }
}

TEST(Utf8Test, AgreesOnMutatedText) {
  Random random(test::TestSeed());
  for (int round = 0; round < 20'000; ++round) {
    std::string text;
    for (std::uint32_t n = random.Below(40); n > 0; --n) {
      const std::size_t length = 1 + random.Below(4);
      constexpr std::array<std::uint32_t, 5> kBound = {0, 0x80, 0x800, 0x10000,
                                                       0x110000};
      // Runs of ASCII, so that steps begin and end everywhere.
      if (length == 1) text.append(random.Below(40), 'a');
      text += Encoded(random.Below(kBound[length]), length);
    }
    ASSERT_TRUE(Agrees(text));
    for (std::uint32_t n = random.Below(3); n > 0 && !text.empty(); --n) {
      const auto size = static_cast<std::uint32_t>(text.size());
      char& hit = text[random.Below(size)];
      hit = static_cast<char>(hit ^ (1 << random.Below(8)));
      if (random.Chance(1, 3)) text.resize(random.Below(size));
    }
    ASSERT_TRUE(Agrees(text));
  }
}

}  // namespace
}  // namespace parlor
