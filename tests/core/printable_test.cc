#include "parlor/printable.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace parlor {
namespace {

using namespace std::string_view_literals;

TEST(Printable, TextStaysAsItIs) {
  EXPECT_EQ(Printable(""), "");
  EXPECT_EQ(Printable(" a~file\\x0a "), " a~file\\x0a ");
}

TEST(Printable, AllElseIsHex) {
  EXPECT_EQ(Printable("a\nb\r\x1b[1m"), "a\\x0ab\\x0d\\x1b[1m");
  EXPECT_EQ(Printable("\0\x7f\x80\xff"sv), "\\x00\\x7f\\x80\\xff");
  EXPECT_EQ(Printable("ß"), "\\xc3\\x9f");
}

}  // namespace
}  // namespace parlor
