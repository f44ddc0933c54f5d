// Which addresses a network has, and who the client behind trusted proxies is.
#include "logic/forwarded.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "logic/numeric_address.h"
#include "parlor/host/address.h"
#include "support/status_matchers.h"

namespace parlor::host {
namespace {

using ::testing::HasSubstr;

NumericAddress Numeric(std::string_view text) {
  return ParseNumericAddress(text).value();
}

struct NetworkRow {
  const char* name;
  const char* network;
  std::vector<const char*> has;
  std::vector<const char*> has_not;

  friend std::ostream& operator<<(std::ostream& out, const NetworkRow& row) {
    return out << row.network;
  }
};

class NetworkTest : public testing::TestWithParam<NetworkRow> {};

TEST_P(NetworkTest, HasWhatBeginsAlike) {
  const auto network = ParseNetwork(GetParam().network);
  ASSERT_THAT(network, IsOk());
  for (const char* text : GetParam().has) {
    EXPECT_TRUE(network->Has(Numeric(text))) << text;
  }
  for (const char* text : GetParam().has_not) {
    EXPECT_FALSE(network->Has(Numeric(text))) << text;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Networks, NetworkTest,
    testing::Values(
        NetworkRow{"V4Class",
                   "10.0.0.0/8",
                   {"10.0.0.0", "10.255.255.255", "::ffff:10.1.2.3"},
                   {"9.255.255.255", "11.0.0.0", "::10.0.0.0", "::1"}},
        NetworkRow{"V4OddBits",
                   "172.16.0.0/12",
                   {"172.16.0.1", "172.31.255.255"},
                   {"172.15.255.255", "172.32.0.0"}},
        NetworkRow{"V4LastBit",
                   "192.0.2.6/31",
                   {"192.0.2.6", "192.0.2.7"},
                   {"192.0.2.5", "192.0.2.8"}},
        NetworkRow{"V4One", "192.0.2.1/32", {"192.0.2.1"}, {"192.0.2.0"}},
        NetworkRow{"V4Address",
                   "192.0.2.1",
                   {"192.0.2.1", "::ffff:192.0.2.1"},
                   {"192.0.2.0", "192.0.2.3", "193.0.2.1"}},
        NetworkRow{"V4All",
                   "0.0.0.0/0",
                   {"0.0.0.0", "255.255.255.255", "::ffff:1.2.3.4"},
                   {"::", "::1", "2001:db8::1"}},
        NetworkRow{"Mapped",
                   "::ffff:10.0.0.0/104",
                   {"10.0.0.1", "::ffff:10.255.0.1"},
                   {"11.0.0.1", "::"}},
        NetworkRow{"MappedAddress", "::ffff:c000:201", {"192.0.2.1"}, {}},
        NetworkRow{"MappedAll", "::ffff:0:0/96", {"1.2.3.4"}, {"::1"}},
        NetworkRow{"V6",
                   "2001:db8::/32",
                   {"2001:db8::", "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff"},
                   {"2001:db7:ffff::", "2001:db9::", "32.1.13.184"}},
        NetworkRow{"V6OddBits",
                   "fe80::/10",
                   {"fe80::1", "febf::1", "fe80::1%eth0"},
                   {"fe7f::1", "fec0::1"}},
        // Whole, and not by the /64 that is counted.
        NetworkRow{"V6Address",
                   "2001:db8::1",
                   {"2001:DB8::1", "2001:db8:0::0:1"},
                   {"2001:db8::2", "2001:db8::1:1"}},
        NetworkRow{"V6One", "::1/128", {"::1"}, {"::", "0.0.0.1"}},
        NetworkRow{"V6AllIsNotV4",
                   "::/0",
                   {"::", "::1", "ffff::", "::fffe:1.2.3.4"},
                   {"1.2.3.4", "::ffff:1.2.3.4"}}),
    [](const auto& row) { return std::string(row.param.name); });

TEST(NetworkTest, SaysWhatIsWrong) {
  constexpr std::string_view kNeither = "is neither an address nor a network";
  constexpr std::string_view kPrefix = "its prefix is not in 0..";
  constexpr std::string_view kBits = "it has bits set behind the first ";
  const struct {
    std::string text;
    std::string_view wrong;
  } rows[] = {
      {"", kNeither},
      {"/", kNeither},
      {"/8", kNeither},
      {"10/8", kNeither},
      {"10.0.0.0.0/8", kNeither},
      {"proxy.example", kNeither},
      {" 10.0.0.0/8", kNeither},
      {"10.0.0.0 /8", kNeither},
      {"10.0.0.1:80", kNeither},
      {"[::1]", kNeither},
      {"fe80::1%eth0", kNeither},
      {"fe80::%eth0/64", kNeither},
      {std::string("::1\0", 4), kNeither},
      {"10.0.0.0/", kPrefix},
      {"10.0.0.0/33", kPrefix},
      {"10.0.0.0/-1", kPrefix},
      {"10.0.0.0/+8", kPrefix},
      {"10.0.0.0/08", kPrefix},
      {"10.0.0.0/8 ", kPrefix},
      {"10.0.0.0/8/8", kPrefix},
      {"10.0.0.0/0x8", kPrefix},
      {"10.0.0.0/255.0.0.0", kPrefix},
      {"10.0.0.0/4294967304", kPrefix},
      {"10.0.0.0/99999999999999999999", kPrefix},
      {"::/129", kPrefix},
      {"10.0.0.1/31", kBits},
      {"10.1.0.0/8", kBits},
      {"128.0.0.0/0", kBits},
      {"2001:db8::1/64", kBits},
      {"2001:db8:8000::/32", kBits},
      {"::ffff:10.0.0.1/104", kBits},
      {"::ffff:0:0/95", kBits},
      {"::1/0", kBits},
  };
  for (const auto& row : rows) {
    EXPECT_THAT(ParseNetwork(row.text),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         HasSubstr(std::string(row.wrong))))
        << row.text;
  }
  // As the operator counts.
  EXPECT_THAT(ParseNetwork("10.0.0.0/33"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "its prefix is not in 0..32"));
  EXPECT_THAT(ParseNetwork("10.1.0.0/8"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "it has bits set behind the first 8"));
}

struct ClientRow {
  const char* name;
  std::string_view peer;  // empty: it could not be read
  std::vector<std::string_view> forwarded;
  std::string_view client;  // empty: Address::Unknown()

  friend std::ostream& operator<<(std::ostream& out, const ClientRow& row) {
    return out << row.name;
  }
};

class ClientOfTest : public testing::TestWithParam<ClientRow> {
 protected:
  static Address ClientOf(const TrustedProxies& proxies) {
    const ClientRow& row = GetParam();
    std::optional<NumericAddress> peer;
    if (!row.peer.empty()) peer = Numeric(row.peer);
    return proxies.ClientOf(peer, row.forwarded);
  }
};

TEST_P(ClientOfTest, IsTheLastThatIsNoProxy) {
  const std::vector<std::string> list = {"10.0.0.0/8", "2001:db8:aa::/48",
                                         "::1"};
  const Address expected = GetParam().client.empty()
                               ? Address::Unknown()
                               : Address::Parse(GetParam().client).value();
  EXPECT_EQ(ClientOf(TrustedProxies(list)), expected);
}

TEST_P(ClientOfTest, IsThePeerWhereNobodyIsTrusted) {
  const Address expected = GetParam().peer.empty()
                               ? Address::Unknown()
                               : Address::Parse(GetParam().peer).value();
  EXPECT_EQ(ClientOf(TrustedProxies()), expected);
}

INSTANTIATE_TEST_SUITE_P(
    Clients, ClientOfTest,
    testing::Values(
        ClientRow{"NoHeader", "10.0.0.1", {}, "10.0.0.1"},
        ClientRow{"One", "10.0.0.1", {"192.0.2.1"}, "192.0.2.1"},
        ClientRow{"Stranger", "192.0.2.9", {"192.0.2.1"}, "192.0.2.9"},
        ClientRow{"StrangerWhoNamesProxies",
                  "192.0.2.9",
                  {"192.0.2.1", "10.0.0.1", "10.0.0.2"},
                  "192.0.2.9"},
        // Whole addresses are trusted: this one only shares the /64 of ::1.
        ClientRow{"NeighbourOfAProxy", "::2", {"192.0.2.1"}, "::2"},
        ClientRow{"SpoofedLeft",
                  "10.0.0.1",
                  {"198.51.100.7", "192.0.2.1"},
                  "192.0.2.1"},
        ClientRow{"SpoofedProxiesLeft",
                  "10.0.0.1",
                  {"198.51.100.7", "10.0.0.9", "192.0.2.1"},
                  "192.0.2.1"},
        ClientRow{"GarbageLeft",
                  "10.0.0.1",
                  {"unknown", "\xff\xfe", "192.0.2.1"},
                  "192.0.2.1"},
        ClientRow{"TwoProxies",
                  "10.0.0.1",
                  {"192.0.2.1", "2001:db8:aa::7"},
                  "192.0.2.1"},
        ClientRow{"ManyProxies",
                  "::1",
                  {"192.0.2.1", "10.3.0.0", "::ffff:10.2.0.0", "::1"},
                  "192.0.2.1"},
        ClientRow{
            "AllTrusted", "10.0.0.1", {"10.0.0.3", "10.0.0.2"}, "10.0.0.3"},
        ClientRow{"MappedPeer", "::ffff:10.0.0.1", {"192.0.2.1"}, "192.0.2.1"},
        ClientRow{
            "MappedClient", "10.0.0.1", {"::ffff:192.0.2.1"}, "192.0.2.1"},
        ClientRow{"V6", "::1", {"2001:db8::1"}, "2001:db8::1"},
        ClientRow{"Port", "::1", {"192.0.2.1:55"}, "192.0.2.1"},
        ClientRow{"Brackets", "::1", {"[2001:db8::1]"}, "2001:db8::1"},
        ClientRow{
            "BracketsAndPort", "::1", {"[2001:db8::1]:65535"}, "2001:db8::1"},
        ClientRow{"PortsOfProxies",
                  "::1",
                  {"192.0.2.1", "10.0.0.2:1", "[2001:db8:aa::7]:2"},
                  "192.0.2.1"},
        ClientRow{"Unknown", "10.0.0.1", {"unknown"}, "10.0.0.1"},
        ClientRow{"UnknownBehindAProxy",
                  "10.0.0.1",
                  {"192.0.2.1", "unknown", "10.0.0.2"},
                  "10.0.0.2"},
        ClientRow{"Hidden", "10.0.0.1", {"_hidden"}, "10.0.0.1"},
        ClientRow{"Quoted", "10.0.0.1", {"\"192.0.2.1\""}, "10.0.0.1"},
        ClientRow{"NoPort", "10.0.0.1", {"192.0.2.1:"}, "10.0.0.1"},
        ClientRow{"WordAsPort", "10.0.0.1", {"192.0.2.1:x"}, "10.0.0.1"},
        ClientRow{"LongPort", "10.0.0.1", {"192.0.2.1:655360"}, "10.0.0.1"},
        ClientRow{"OpenBracket", "10.0.0.1", {"[2001:db8::1"}, "10.0.0.1"},
        ClientRow{"EmptyBrackets", "10.0.0.1", {"[]"}, "10.0.0.1"},
        ClientRow{"V4InBrackets", "10.0.0.1", {"[192.0.2.1]:5"}, "10.0.0.1"},
        ClientRow{"BehindBrackets", "10.0.0.1", {"[::5]5"}, "10.0.0.1"},
        ClientRow{"Network", "10.0.0.1", {"192.0.2.0/24"}, "10.0.0.1"},
        ClientRow{"Empty", "10.0.0.1", {""}, "10.0.0.1"},
        ClientRow{"UnreadablePeer", "", {"192.0.2.1"}, ""}),
    [](const auto& row) { return std::string(row.param.name); });

}  // namespace
}  // namespace parlor::host
