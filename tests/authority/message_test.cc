#include "parlor/authority/message.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <string_view>

#include "parlor/status.h"
#include "support/status_matchers.h"

namespace parlor::authority {
namespace {

using testing::HasSubstr;
using Verdict = MessageVerdict;

TEST(MessagesTest, ANameIsDefinedOnce) {
  Messages messages;
  EXPECT_TRUE(messages.Define({.name = "fire", .bytes_max = 10}).ok());
  EXPECT_THAT(messages.Define({.name = "fire"}),
              StatusIs(absl::StatusCode::kAlreadyExists,
                       "message fire: is defined already"));
  // The first one counts.
  EXPECT_EQ(messages.Check("fire", R"("12345678")"), Verdict::kOk);
  EXPECT_EQ(messages.Check("fire", R"("123456789")"), Verdict::kTooLarge);
}

struct DefineRow {
  const char* test_name;
  std::string name;
  std::size_t bytes_max;
  const char* error;
};

class DefineTest : public testing::TestWithParam<DefineRow> {};

TEST_P(DefineTest, IsRefused) {
  Messages messages;
  const DefineRow& row = GetParam();
  const absl::Status status =
      messages.Define({.name = row.name, .bytes_max = row.bytes_max});
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument,
                               HasSubstr(row.error)));
  EXPECT_NE(messages.Check(row.name, "1"), Verdict::kOk);
}

constexpr char kNameError[] = "a name is 1 to 64 letters";
INSTANTIATE_TEST_SUITE_P(
    Rows, DefineTest,
    testing::Values(
        DefineRow{"Empty", "", 10, kNameError},
        DefineRow{"Long", std::string(65, 'a'), 10, kNameError},
        DefineRow{"Space", "a b", 10, R"(message a b: a name is 1)"},
        DefineRow{"NotAscii", "\xc3\xa4", 10, R"(message \xc3\xa4: a name)"},
        DefineRow{"Engine", "aos:boot", 10,
                  "message aos:boot: names that begin"},
        DefineRow{"NoBytes", "fire", 0, "message fire: bytes_max: 0 is not in"},
        DefineRow{"ManyBytes", "fire", 2'049,
                  "bytes_max: 2049 is not in 1..2048"}),
    [](const auto& row) { return std::string(row.param.test_name); });

TEST(MessagesTest, OnlyWhatWasDefinedPasses) {
  Messages messages;
  EXPECT_EQ(messages.Check("fire", "1"), Verdict::kUndefined);
  ASSERT_TRUE(messages.Define({.name = "fire"}).ok());
  EXPECT_EQ(messages.Check("fire", "1"), Verdict::kOk);
  EXPECT_EQ(messages.Check("Fire", "1"), Verdict::kUndefined);
  EXPECT_EQ(messages.Check("aos:fire", "1"), Verdict::kReserved);
  EXPECT_EQ(messages.Check("aos:", "1"), Verdict::kReserved);
}

TEST(MessagesTest, ThePayloadIsValidJsonOfAtMostItsSize) {
  Messages messages;
  ASSERT_TRUE(messages.Define({.name = "fire"}).ok());
  const auto check = [&](const std::string& payload) {
    return messages.Check("fire", payload);
  };
  EXPECT_EQ(check('"' + std::string(2'046, 'x') + '"'), Verdict::kOk);
  EXPECT_EQ(check('"' + std::string(2'047, 'x') + '"'), Verdict::kTooLarge);
  EXPECT_EQ(check(std::string(32, '[') + std::string(32, ']')), Verdict::kOk);
  EXPECT_EQ(check(std::string(33, '[') + std::string(33, ']')),
            Verdict::kMalformed);
  EXPECT_EQ(check(""), Verdict::kMalformed);
  EXPECT_EQ(check("{"), Verdict::kMalformed);
  EXPECT_EQ(check("1 2"), Verdict::kMalformed);
  EXPECT_EQ(check("1e999"), Verdict::kMalformed);
  EXPECT_EQ(check(R"({"a":1,"a":2})"), Verdict::kMalformed);
}

TEST(MessagesTest, AGamesCheckHasTheLastWord) {
  Messages messages;
  int calls = 0;
  const auto is_small = [&](std::string_view payload) {
    ++calls;
    if (payload == "3") throw std::runtime_error("three");
    if (payload == "4") throw 4;
    return payload == "1";
  };
  ASSERT_TRUE(messages.Define({.name = "n", .check = is_small}).ok());
  EXPECT_EQ(messages.Check("n", "1"), Verdict::kOk);
  EXPECT_EQ(messages.Check("n", "2"), Verdict::kRefused);
  EXPECT_EQ(messages.Check("n", "3"), Verdict::kThrew);
  EXPECT_EQ(messages.Check("n", "4"), Verdict::kThrew);
  EXPECT_EQ(calls, 4);
  // It never sees what is not JSON.
  EXPECT_EQ(messages.Check("n", "["), Verdict::kMalformed);
  EXPECT_EQ(calls, 4);
}

}  // namespace
}  // namespace parlor::authority
