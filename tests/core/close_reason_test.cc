#include "parlor/close_reason.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace parlor {
namespace {

// What peers and logs rely on: a change here is a change of the protocol.
constexpr CloseReasonRow kExpected[] = {
    {CloseReason::kNormal, 1000, "", "normal"},
    {CloseReason::kHostLeft, 1001, "host left", "host_left"},
    {CloseReason::kRoomNotFilled, 1001, "room not filled", "room_not_filled"},
    {CloseReason::kRoomIdle, 1001, "room idle", "room_idle"},
    {CloseReason::kRoomTimeUp, 1001, "room time is up", "room_time_up"},
    {CloseReason::kProtocolError, 1002, "protocol error", "protocol_error"},
    {CloseReason::kUnsupported, 1003, "unsupported message", "unsupported"},
    {CloseReason::kInvalidText, 1007, "text is not UTF-8", "invalid_text"},
    {CloseReason::kMessageRate, 1008, "message rate", "message_rate"},
    {CloseReason::kMessageSize, 1009, "message size", "message_size"},
    {CloseReason::kTooSlow, 1011, "too slow", "too_slow"},
    {CloseReason::kRestart, 1012, "restart", "restart"},
    {CloseReason::kRoomFull, 4000, "room full", "room_full"},
    {CloseReason::kResumed, 4001, "resumed", "resumed"},
    {CloseReason::kSeatGone, 4002, "seat gone", "seat_gone"},
    {CloseReason::kKicked, 1008, "kicked", "kicked"},
    {CloseReason::kRefused, 1008, "refused", "refused"},
    {CloseReason::kRoomEnded, 4004, "room ended", "room_ended"},
    {CloseReason::kPutOut, 4003, "put out", "put_out"},
};

class ReasonTest : public testing::TestWithParam<CloseReasonRow> {};

TEST_P(ReasonTest, HasItsRow) {
  const CloseReasonRow& row = Describe(GetParam().reason);
  EXPECT_EQ(row.reason, GetParam().reason);
  EXPECT_EQ(row.code, GetParam().code);
  EXPECT_EQ(row.text, GetParam().text);
  EXPECT_EQ(row.name, GetParam().name);
}

TEST_P(ReasonTest, CanBeSent) {
  const CloseReasonRow& row = Describe(GetParam().reason);
  EXPECT_TRUE(IsSendableCloseCode(row.code));
  EXPECT_LE(row.text.size(), kCloseTextMax);
}

INSTANTIATE_TEST_SUITE_P(All, ReasonTest, testing::ValuesIn(kExpected),
                         [](const auto& row) {
                           return std::string(row.param.name);
                         });

TEST(CloseReasonTest, NamesAreOneWordAndDiffer) {
  std::set<std::string_view> names;
  for (const CloseReasonRow& expected : kExpected) {
    const std::string_view name = Describe(expected.reason).name;
    EXPECT_TRUE(names.insert(name).second) << name;
    EXPECT_EQ(name.find_first_not_of("abcdefghijklmnopqrstuvwxyz_"),
              std::string_view::npos);
  }
}

TEST(CloseReasonDeathTest, AReasonOutsideTheTableIsOurMistake) {
  EXPECT_DEATH(Describe(static_cast<CloseReason>(std::size(kExpected))),
               "check failed");
}

// RFC 6455 section 7.4 and the registry, range by range.
TEST(CloseReasonTest, SendableCodes) {
  for (int code = 0; code <= 0xffff; ++code) {
    const bool expected = (code >= 1000 && code <= 1003) ||
                          (code >= 1007 && code <= 1014) ||
                          (code >= 3000 && code <= 4999);
    ASSERT_EQ(IsSendableCloseCode(static_cast<CloseCode>(code)), expected)
        << code;
  }
  EXPECT_FALSE(IsSendableCloseCode(close_code::kNoCode));
  EXPECT_FALSE(IsSendableCloseCode(close_code::kDropped));
}

TEST(CloseReasonTest, SendableCloses) {
  EXPECT_TRUE(IsSendableClose(1000, ""));
  EXPECT_TRUE(IsSendableClose(4999, "gr\u00fc\u00dfe"));
  EXPECT_TRUE(IsSendableClose(1000, std::string(kCloseTextMax, 'x')));
  EXPECT_FALSE(IsSendableClose(1006, ""));
  EXPECT_FALSE(IsSendableClose(1000, std::string(kCloseTextMax + 1, 'x')));
  EXPECT_FALSE(IsSendableClose(1000, "\xff"));
}

}  // namespace
}  // namespace parlor
