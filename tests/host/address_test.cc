#include "parlor/host/address.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>

namespace parlor::host {
namespace {

struct SameRow {
  const char* name;
  const char* a;
  const char* b;
  bool same;
};

class AddressPairTest : public testing::TestWithParam<SameRow> {};

TEST_P(AddressPairTest, CountsAsOneOrTwo) {
  const auto a = Address::Parse(GetParam().a);
  const auto b = Address::Parse(GetParam().b);
  ASSERT_TRUE(a && b);
  EXPECT_EQ(*a == *b, GetParam().same);
}

INSTANTIATE_TEST_SUITE_P(
    Pairs, AddressPairTest,
    testing::Values(
        SameRow{"V4Same", "192.0.2.1", "192.0.2.1", true},
        SameRow{"V4LastBit", "192.0.2.1", "192.0.2.0", false},
        SameRow{"V4FirstBit", "192.0.2.1", "64.0.2.1", false},
        SameRow{"V4Mapped", "192.0.2.1", "::ffff:192.0.2.1", true},
        SameRow{"V4MappedInHex", "192.0.2.1", "::ffff:c000:201", true},
        SameRow{"V4MappedOthers", "::ffff:192.0.2.1", "::ffff:192.0.2.2",
                false},
        SameRow{"V4MappedWithScope", "::ffff:1.2.3.4%1", "1.2.3.4", true},
        SameRow{"V6Interface", "2001:db8:1:2::1", "2001:db8:1:2:ffff::9", true},
        SameRow{"V6LastOfSubnet", "2001:db8:1:2::1", "2001:db8:1:3::1", false},
        SameRow{"V6FirstOfSubnet", "2001:db8:1:2::1", "a001:db8:1:2::1", false},
        SameRow{"V6Case", "2001:DB8::A", "2001:db8::a", true},
        SameRow{"V6Scope", "fe80::1%eth0", "fe80::2%eth1", true},
        SameRow{"V6ScopeOrNone", "fe80::1%eth0", "fe80::1", true},
        // Not mapped, so it is IPv6 and its last 64 bits do not count.
        SameRow{"V6Compatible", "::192.0.2.1", "192.0.2.1", false},
        SameRow{"V6Loopback", "::1", "127.0.0.1", false},
        SameRow{"Any", "::", "0.0.0.0", false}),
    [](const auto& row) { return std::string(row.param.name); });

TEST(AddressTest, NothingParsedIsOfNoClientOrUnknown) {
  EXPECT_NE(Address::Unknown(), Address());
  EXPECT_EQ(Address::Unknown(), Address::Unknown());
  for (const char* text : {"::", "::1", "::2", "0.0.0.0", "0.0.0.1", "0.0.0.3",
                           "255.255.255.255", "::ffff:0.0.0.0"}) {
    SCOPED_TRACE(text);
    const auto address = Address::Parse(text);
    ASSERT_TRUE(address);
    EXPECT_NE(*address, Address());
    EXPECT_NE(*address, Address::Unknown());
  }
}

TEST(AddressTest, RefusesWhatIsNoAddress) {
  using std::string_literals::operator""s;
  for (const std::string& text : {""s,
                                  " "s,
                                  "1.2.3"s,
                                  "1.2.3.4.5"s,
                                  "1.2.3.256"s,
                                  "01.2.3.4"s,
                                  "1.2.3.4 "s,
                                  "1.2.3.4:80"s,
                                  "1.2.3.4%eth0"s,
                                  "[::1]"s,
                                  "::1]:80"s,
                                  ":::"s,
                                  "1:2:3:4:5:6:7"s,
                                  "1:2:3:4:5:6:7:8:9"s,
                                  "g::"s,
                                  "localhost"s,
                                  "%eth0"s,
                                  "::1\0"s,
                                  "1.2.3.4\0x"s,
                                  std::string(10'000, ':')}) {
    EXPECT_EQ(Address::Parse(text), std::nullopt) << text.substr(0, 40);
  }
}

}  // namespace
}  // namespace parlor::host
