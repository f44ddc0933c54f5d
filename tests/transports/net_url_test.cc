#include "stream/net_url.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <ostream>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "support/status_matchers.h"

namespace parlor {
namespace {

using stream::NetUrl;
using stream::ParseNetUrl;

struct GoodRow {
  const char* name;
  const char* url;
  bool websocket;
  bool tls;
  const char* host;
  std::uint16_t port;
  const char* base;
  const char* authority;
  friend void PrintTo(const GoodRow& row, std::ostream* out) {
    *out << row.name;
  }
};

class GoodUrl : public testing::TestWithParam<GoodRow> {};

TEST_P(GoodUrl, IsTakenApart) {
  const GoodRow& row = GetParam();
  const absl::StatusOr<NetUrl> url = ParseNetUrl(row.url);
  ASSERT_THAT(url, IsOk());
  EXPECT_EQ(url->websocket, row.websocket);
  EXPECT_EQ(url->tls, row.tls);
  EXPECT_EQ(url->host, row.host);
  EXPECT_EQ(url->port, row.port);
  EXPECT_EQ(url->base, row.base);
  EXPECT_EQ(url->authority, row.authority);
}

INSTANTIATE_TEST_SUITE_P(
    Rows, GoodUrl,
    testing::Values(GoodRow{"Ws", "ws://example.org", true, false,
                            "example.org", 80, "", "example.org"},
                    GoodRow{"Wss", "wss://example.org", true, true,
                            "example.org", 443, "", "example.org"},
                    GoodRow{"OwnPort", "ws://example.org:8080", true, false,
                            "example.org", 8080, "", "example.org:8080"},
                    GoodRow{"PortOfTheScheme", "wss://example.org:443/", true,
                            true, "example.org", 443, "", "example.org"},
                    GoodRow{"Tcp", "tcp://h:1", false, false, "h", 1, "",
                            "h:1"},
                    GoodRow{"Tls", "tls://h:65535/a/b", false, true, "h", 65535,
                            "/a/b", "h:65535"},
                    GoodRow{"LargeLetters", "WSS://Example.ORG/Rooms/", true,
                            true, "example.org", 443, "/Rooms", "example.org"},
                    GoodRow{"IPv4", "ws://127.0.0.1:9", true, false,
                            "127.0.0.1", 9, "", "127.0.0.1:9"},
                    GoodRow{"IPv6", "ws://[::1]:9/x", true, false, "::1", 9,
                            "/x", "[::1]:9"},
                    GoodRow{"IPv6LargeLetters", "tls://[FE80::A]:7", false,
                            true, "fe80::a", 7, "", "[fe80::a]:7"},
                    GoodRow{"Escapes", "ws://h/a%20b~:@!$&'()*+,;=", true,
                            false, "h", 80, "/a%20b~:@!$&'()*+,;=", "h"},
                    GoodRow{"Underscore", "ws://my_host-1.local", true, false,
                            "my_host-1.local", 80, "", "my_host-1.local"}),
    [](const auto& row) { return std::string(row.param.name); });

struct BadRow {
  const char* name;
  std::string url;
  const char* says;
  friend void PrintTo(const BadRow& row, std::ostream* out) {
    *out << row.name;
  }
};

class BadUrl : public testing::TestWithParam<BadRow> {};

TEST_P(BadUrl, IsRefusedWithTheCause) {
  EXPECT_THAT(ParseNetUrl(GetParam().url),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       testing::HasSubstr(GetParam().says)));
}

INSTANTIATE_TEST_SUITE_P(
    Rows, BadUrl,
    testing::Values(
        BadRow{"Empty", "", "begins with"},
        BadRow{"NoScheme", "example.org:80", "begins with"},
        BadRow{"OtherScheme", "http://example.org", "begins with"},
        BadRow{"OneSlash", "ws:/example.org", "begins with"},
        BadRow{"SpaceBefore", " ws://h", "begins with"},
        BadRow{"User", "ws://me@h", "user information"},
        BadRow{"Password", "ws://me:secret@h:80", "user information"},
        BadRow{"Query", "ws://h/x?access=secret", "query"},
        BadRow{"Fragment", "ws://h/x#y", "fragment"},
        BadRow{"NoHost", "ws://", "host is missing"},
        BadRow{"NoHostButPort", "ws://:80", "host is missing"},
        BadRow{"NoPort", "tcp://h", "port is missing"},
        BadRow{"NoPortTls", "tls://h/x", "port is missing"},
        BadRow{"EmptyPort", "ws://h:", "1..65535"},
        BadRow{"Port0", "ws://h:0", "1..65535"},
        BadRow{"PortTooLarge", "ws://h:65536", "1..65535"},
        BadRow{"PortSigned", "ws://h:+80", "1..65535"},
        BadRow{"PortNegative", "ws://h:-80", "1..65535"},
        BadRow{"PortHex", "ws://h:0x50", "1..65535"},
        BadRow{"PortSpace", "ws://h:80 ", "1..65535"},
        BadRow{"BareIPv6", "ws://::1", "brackets"},
        BadRow{"OpenBracket", "ws://[::1", "bracket is not closed"},
        BadRow{"NoIPv6", "ws://[h]", "no IPv6 address"},
        BadRow{"IPv4InBrackets", "ws://[127.0.0.1]", "no IPv6 address"},
        BadRow{"Zone", "ws://[fe80::1%25eth0]", "no IPv6 address"},
        BadRow{"BehindBracket", "ws://[::1]80", "follows a colon"},
        BadRow{"ShortIPv4", "ws://127.1", "no name and no address"},
        BadRow{"LongIPv4", "ws://1.2.3.4.5", "no name and no address"},
        BadRow{"IPv4TooLarge", "ws://256.0.0.1", "no name and no address"},
        BadRow{"Number", "ws://2130706433", "no name and no address"},
        BadRow{"Hex", "ws://0x7f000001", "no name and no address"},
        BadRow{"EmptyLabel", "ws://a..b", "no name and no address"},
        BadRow{"DotAtTheEnd", "ws://h.", "no name and no address"},
        BadRow{"LineEnd", "ws://h\r\nX: y", "no name and no address"},
        BadRow{"Nul", std::string("ws://h\0x", 8), "no name and no address"},
        BadRow{"LongLabel", "ws://" + std::string(64, 'a'),
               "no name and no address"},
        BadRow{"LongName",
               "ws://" + std::string(127, 'a') + "." + std::string(127, 'b'),
               "no name and no address"},
        BadRow{"SpaceInPath", "ws://h/a b", "has to be escaped"},
        BadRow{"LineEndInPath", "ws://h/a\r\nX:y", "has to be escaped"},
        BadRow{"HighByteInPath", "ws://h/\xc3\xa4", "has to be escaped"},
        BadRow{"CutEscape", "ws://h/%2", "has to be escaped"},
        BadRow{"NoEscape", "ws://h/%2g", "has to be escaped"},
        BadRow{"TwoSlashes", "ws://h/a//", "two slashes"},
        BadRow{"LongPath", "ws://h/" + std::string(1024, 'a'), "too long"}),
    [](const auto& row) { return std::string(row.param.name); });

TEST(NetUrl, DoesNotRepeatWhatItRefuses) {
  EXPECT_THAT(ParseNetUrl("ws://me:secret@h"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       testing::Not(testing::HasSubstr("secret"))));
}

}  // namespace
}  // namespace parlor
