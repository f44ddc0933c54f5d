#include "parlor/lockstep/wire.h"

#include <gtest/gtest.h>

#include <string>

#include "support/hex.h"

namespace parlor::lockstep {
namespace {

using test::Hex;

struct GoldenRow {
  const char* name;
  Message message;
  const char* hex;
};

class GoldenTest : public testing::TestWithParam<GoldenRow> {};

TEST_P(GoldenTest, EncodesAndDecodes) {
  const GoldenRow& row = GetParam();
  const MessageBytes bytes = Encode(row.message);
  EXPECT_EQ(Hex(bytes), row.hex);
  EXPECT_EQ(Decode(bytes), row.message);
}

INSTANTIATE_TEST_SUITE_P(
    Messages, GoldenTest,
    testing::Values(
        GoldenRow{"Input",
                  {Kind::kInput, 3, 0, 0, 0x01020304, 0xa1b2c3d4},
                  "0103000004030201d4c3b2a1"},
        GoldenRow{"InputLast",
                  {Kind::kInput, 0, 9, 8, 0xffffffff, 1},
                  "01000908ffffffff01000000"},
        GoldenRow{"Hash",
                  {Kind::kHash, 1, 0, 0, 30, 0xdeadbeef},
                  "020100001e000000efbeadde"},
        GoldenRow{"Welcome",
                  {Kind::kWelcome, 2, 4, 77, 0x11223344, 0x8899aabb},
                  "0302044d44332211bbaa9988"},
        GoldenRow{
            "Leave", {Kind::kLeave, 5, 8, 0, 0, 0}, "040508000000000000000000"},
        GoldenRow{"Resume",
                  {Kind::kResume, 5, 8, 0, 0, 0},
                  "050508000000000000000000"},
        GoldenRow{
            "Away", {Kind::kAway, 31, 32, 0, 0, 0}, "061f20000000000000000000"},
        GoldenRow{"Start",
                  {Kind::kStart, 0, 3, 0xc1, 0, 0},
                  "070003c10000000000000000"},
        GoldenRow{"Lobby",
                  {Kind::kLobby, 1, 4, 2, 0, 0},
                  "080104020000000000000000"}),
    [](const auto& row) { return std::string(row.param.name); });

TEST(WireTest, DropsAreWhatAClientComesBackFrom) {
  for (int code = 0; code <= 0xffff; ++code) {
    const bool drop =
        code == 1006 || code == 1011 || code == 1012 || code == 1014;
    EXPECT_EQ(IsDrop(static_cast<std::uint16_t>(code)), drop) << code;
  }
}

}  // namespace
}  // namespace parlor::lockstep
