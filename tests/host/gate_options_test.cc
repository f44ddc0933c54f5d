// What a gate takes as its options, and what it says of the others.
#include "parlor/host/gate_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "logic/access_codes.h"
#include "logic/origin.h"
#include "parlor/host/access_store.h"
#include "parlor/status.h"
#include "support/status_matchers.h"

namespace parlor::host {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;

absl::Status WithCodes(std::vector<std::string> codes) {
  GateOptions options;
  options.codes = std::move(codes);
  return ValidateOptions(options, "gate");
}

absl::Status WithOrigins(std::vector<std::string> origins) {
  GateOptions options;
  options.origins = std::move(origins);
  return ValidateOptions(options, "gate");
}

TEST(GateOptionsTest, TheDefaultIsValid) {
  EXPECT_THAT(ValidateOptions({}, "gate"), IsOk());
}

struct CodeRow {
  const char* name;
  std::string code;
  std::string_view wrong;  // empty: it is taken

  friend std::ostream& operator<<(std::ostream& out, const CodeRow& row) {
    return out << row.name;
  }
};

class CodeTest : public testing::TestWithParam<CodeRow> {};

TEST_P(CodeTest, IsTakenOrNamedByItsPlace) {
  const std::string& code = GetParam().code;
  const absl::Status status = WithCodes({"first-good-code", code, "short"});
  if (GetParam().wrong.empty()) {
    EXPECT_THAT(WithCodes({code}), IsOk());
    return;
  }
  EXPECT_THAT(status, StatusIs(kInvalid, "gate.codes[1]: " +
                                             std::string(GetParam().wrong)));
  // Nothing of any code is told.
  if (code.size() > 4) {
    EXPECT_THAT(std::string(StatusText(status)), Not(HasSubstr(code)));
  }
}

constexpr std::string_view kLength = "a code has 10 to 64 characters";
constexpr std::string_view kCharacters =
    "a code has letters, digits and !#$%&'*+-.^_`|~ only";

INSTANTIATE_TEST_SUITE_P(
    Codes, CodeTest,
    testing::Values(
        CodeRow{"Shortest", "abcdefghi1", ""},
        CodeRow{"TooShort", "abcdefghi", kLength},
        CodeRow{"TooShortOnceTrimmed", "  abcdefghi  ", kLength},
        CodeRow{"Longest", std::string(64, 'Q'), ""},
        CodeRow{"LongestWithSpaceAround", " \t" + std::string(64, 'Q') + "\r\n",
                ""},
        CodeRow{"TooLong", std::string(65, 'Q'), kLength},
        CodeRow{"Empty", "", kLength},
        CodeRow{"Blank", "              ", kLength},
        CodeRow{"EveryMark", "!#$%&'*+-.^_`|~", ""},
        CodeRow{"SpaceInside", "abcdef ghijkl", kCharacters},
        CodeRow{"NewlineInside", "abcdef\nghijkl", kCharacters},
        CodeRow{"Comma", "abcdef,ghijkl", kCharacters},
        CodeRow{"Slash", "abcdef/ghijkl", kCharacters},
        CodeRow{"Quote", "abcdef\"ghijkl", kCharacters},
        CodeRow{"Equals", "abcdefghijk=", kCharacters},
        CodeRow{"NotAscii", "abcdefgh\xc3\xa4\xc3\xa4", kCharacters},
        CodeRow{"Control", std::string("abcdefgh\0ij", 11), kCharacters}),
    [](const auto& row) { return std::string(row.param.name); });

TEST(GateOptionsTest, OpenHasNoCodes) {
  GateOptions options;
  options.open = true;
  EXPECT_THAT(ValidateOptions(options, "gate"), IsOk());
  options.codes = {"abcdefghi1"};
  EXPECT_THAT(ValidateOptions(options, "gate"),
              StatusIs(kInvalid, HasSubstr("gate.open: ")));
}

TEST(GateOptionsTest, ProxiesAreNamedByTheirPlace) {
  GateOptions options;
  options.trusted_proxies = {"10.0.0.0/8", "::1", "10.1.0.0/8"};
  EXPECT_THAT(ValidateOptions(options, "gate"),
              StatusIs(kInvalid,
                       "gate.trusted_proxies[2]: \"10.1.0.0/8\": it has bits "
                       "set behind the first 8"));
  options.trusted_proxies.assign(256, "10.0.0.0/8");
  EXPECT_THAT(ValidateOptions(options, "gate"), IsOk());
  options.trusted_proxies.emplace_back("::1");
  EXPECT_THAT(
      ValidateOptions(options, "gate"),
      StatusIs(kInvalid, "gate.trusted_proxies: 257 are more than 256"));
}

TEST(GateOptionsTest, PassesHaveASecret) {
  const std::string secret = "hush-" + std::string(27, 's');
  GateOptions options;
  options.passes = true;
  EXPECT_THAT(ValidateOptions(options, "gate"),
              StatusIs(kInvalid,
                       "gate.pass_secret: passes are signed with one, and none "
                       "is set"));
  options.pass_secret = secret;
  EXPECT_THAT(ValidateOptions(options, "gate"), IsOk());
  options.codes = {"abcdefghi1"};
  EXPECT_THAT(ValidateOptions(options, "gate"), IsOk());
  // A short one is a mistake, used or not.
  for (const bool passes : {true, false}) {
    options.passes = passes;
    options.pass_secret = secret.substr(0, 31);
    const absl::Status status = ValidateOptions(options, "host");
    EXPECT_THAT(
        status,
        StatusIs(kInvalid, "host.pass_secret: it has less than 32 bytes"));
    EXPECT_THAT(std::string(StatusText(status)), Not(HasSubstr("hush")));
  }
}

TEST(GateOptionsTest, OpenHasNoPasses) {
  GateOptions options;
  options.open = true;
  options.passes = true;
  options.pass_secret = std::string(32, 's');
  EXPECT_THAT(
      ValidateOptions(options, "gate"),
      StatusIs(kInvalid, "gate.open: who is open to everyone has no passes"));
}

TEST(GateOptionsTest, PassesHaveLimits) {
  struct Row {
    std::int64_t days;
    std::int64_t devices;
    std::string_view wrong;
  };
  for (const Row& row : std::vector<Row>{
           {1, 1, ""},
           {400, 16, ""},
           {0, 1, "gate.pass_days: 0 is not in 1..400"},
           {401, 1, "gate.pass_days: 401 is not in 1..400"},
           {1, 0, "gate.pass_devices: 0 is not in 1..16"},
           {1, 17, "gate.pass_devices: 17 is not in 1..16"},
       }) {
    GateOptions options;
    options.pass_days = row.days;
    options.pass_devices = row.devices;
    EXPECT_EQ(StatusText(ValidateOptions(options, "gate")), row.wrong);
  }
}

TEST(GateOptionsTest, HasLimits) {
  EXPECT_THAT(WithCodes(std::vector<std::string>(4'096, "abcdefghi1")), IsOk());
  EXPECT_THAT(WithCodes(std::vector<std::string>(4'097, "abcdefghi1")),
              StatusIs(kInvalid, "gate.codes: 4097 are more than 4096"));
  EXPECT_THAT(WithOrigins(std::vector<std::string>(256, "http://a")), IsOk());
  EXPECT_THAT(WithOrigins(std::vector<std::string>(257, "http://a")),
              StatusIs(kInvalid, "gate.origins: 257 are more than 256"));
  GateOptions options;
  options.joins_per_minute = 100'001;
  EXPECT_THAT(
      ValidateOptions(options, "host"),
      StatusIs(kInvalid, "host.joins_per_minute: 100001 is not in 1..100000"));
  options.joins_per_minute = 0;
  EXPECT_THAT(ValidateOptions(options, "host"), StatusIs(kInvalid));
}

TEST(GateOptionsTest, TheFirstMistakeIsTold) {
  GateOptions options;
  options.origins = {"null"};
  options.joins_per_minute = 0;
  EXPECT_THAT(ValidateOptions(options, "g"),
              StatusIs(kInvalid, HasSubstr("g.origins[0]: \"null\": ")));
}

struct OriginRow {
  const char* name;
  std::string text;
  std::string normal;  // empty: refused
  std::string_view wrong = {};

  friend std::ostream& operator<<(std::ostream& out, const OriginRow& row) {
    return out << row.name;
  }
};

class OriginTest : public testing::TestWithParam<OriginRow> {};

TEST_P(OriginTest, IsWrittenAsBrowsersDo) {
  const OriginRow& row = GetParam();
  const absl::StatusOr<std::string> origin = NormalOrigin(row.text);
  if (!row.normal.empty()) {
    ASSERT_THAT(origin, IsOk());
    EXPECT_EQ(*origin, row.normal);
    // What a browser wrote stays as it is.
    EXPECT_EQ(*NormalOrigin(*origin), *origin);
    EXPECT_THAT(WithOrigins({row.text}), IsOk());
    return;
  }
  EXPECT_THAT(origin, StatusIs(kInvalid, std::string(row.wrong)));
  EXPECT_THAT(WithOrigins({"https://a.example", row.text}),
              StatusIs(kInvalid, "gate.origins[1]: \"" + row.text +
                                     "\": " + std::string(row.wrong)));
}

constexpr std::string_view kShape = "an origin is <scheme>://<host>[:<port>]";
constexpr std::string_view kPath =
    "an origin ends with its host or port: no path, no slash";
constexpr std::string_view kPort = "its port is not in 1..65535";
constexpr std::string_view kHost = "its host is no name or address";

INSTANTIATE_TEST_SUITE_P(
    Origins, OriginTest,
    testing::Values(
        OriginRow{"Plain", "https://play.example", "https://play.example"},
        OriginRow{"Case", "HTTPS://Play.Example", "https://play.example"},
        OriginRow{"Port", "http://localhost:8080", "http://localhost:8080"},
        OriginRow{"DefaultPort", "https://a.example:443", "https://a.example"},
        OriginRow{"DefaultHttpPort", "http://a.example:80", "http://a.example"},
        OriginRow{"OtherDefault", "http://a.example:443",
                  "http://a.example:443"},
        OriginRow{"Ipv6", "http://[2001:DB8::1]", "http://[2001:db8::1]"},
        OriginRow{"Ipv6Port", "http://[::1]:81", "http://[::1]:81"},
        OriginRow{"Ipv6DefaultPort", "http://[::1]:80", "http://[::1]"},
        OriginRow{"App", "capacitor://localhost", "capacitor://localhost"},
        OriginRow{"Null", "null", "", kShape},
        OriginRow{"Empty", "", "", kShape}, OriginRow{"Star", "*", "", kShape},
        OriginRow{"NoScheme", "play.example", "", kShape},
        OriginRow{"EmptyScheme", "://play.example", "", "its scheme is none"},
        OriginRow{"BadScheme", "1x://play.example", "", "its scheme is none"},
        OriginRow{"TrailingSlash", "https://play.example/", "", kPath},
        OriginRow{"Path", "https://play.example/game", "", kPath},
        OriginRow{"Query", "https://play.example?x", "", kPath},
        OriginRow{"Fragment", "https://play.example#x", "", kPath},
        OriginRow{"NoHost", "https://", "", kHost},
        OriginRow{"NoHostButPort", "https://:1", "", kHost},
        OriginRow{"StarHost", "https://*.example", "", kHost},
        OriginRow{"User", "https://me@play.example", "", kHost},
        OriginRow{"NotAscii", "https://pl\xc3\xa4y.example", "", kHost},
        OriginRow{"Space", "https://play.example ", "", kHost},
        OriginRow{"OpenBracket", "https://[::1", "", kPort},
        OriginRow{"EmptyBrackets", "https://[]", "", kHost},
        OriginRow{"NoPort", "https://play.example:", "", kPort},
        OriginRow{"PortZero", "https://play.example:0", "", kPort},
        OriginRow{"PortPadded", "https://play.example:080", "", kPort},
        OriginRow{"PortTooHigh", "https://play.example:65536", "", kPort},
        OriginRow{"TwoPorts", "https://play.example:1:2", "", kPort}),
    [](const auto& row) { return std::string(row.param.name); });

TEST(AccessCodesTest, KnowsItsOwn) {
  const std::vector<std::string> codes = {"First-Code-1", " second.code.2\n",
                                          "THIRD~CODE~3"};
  AccessCodes access;
  access.SetOwn(codes);
  for (const char* code :
       {"First-Code-1", "FIRST-CODE-1", "first-code-1", "second.code.2",
        "\t SECOND.CODE.2 \r\n", "third~code~3"}) {
    EXPECT_TRUE(access.Has(code)) << code;
  }
  for (const std::string& code :
       {std::string(), std::string("First-Code-"), std::string("First-Code-2"),
        std::string("First-Code-11"), std::string("First -Code-1"),
        std::string("First-Code-1\0", 13), std::string("First-Code-1,x"),
        std::string(100'000, 'x')}) {
    EXPECT_FALSE(access.Has(code)) << code.substr(0, 40);
  }
}

TEST(AccessCodesTest, KnowsAsManyOfTheStoreAsMayBe) {
  std::vector<Sha256> codes(kCodesMax + 1, HashCode("another-code"));
  AccessCodes access;
  codes[kCodesMax - 1] = HashCode("the-last-one");
  codes[kCodesMax] = HashCode("one-too-many");
  access.SetStored(codes);
  EXPECT_TRUE(access.Has("the-last-one"));
  EXPECT_FALSE(access.Has("one-too-many"));
}

TEST(AccessCodesTest, NoneKnowsNothing) {
  const AccessCodes access;
  EXPECT_FALSE(access.Has(""));
  EXPECT_FALSE(access.Has("First-Code-1"));
}

}  // namespace
}  // namespace parlor::host
