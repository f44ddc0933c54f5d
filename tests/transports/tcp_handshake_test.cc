#include "stream/tcp_handshake.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "parlor/byte_io.h"
#include "parlor/random.h"
#include "support/flip_bits.h"
#include "support/hex.h"
#include "support/seed.h"

namespace parlor::stream {
namespace {

using Wire = std::vector<std::byte>;

// ---- Frames as TCP.md has them, written without the handshakes.

Wire Frame(unsigned type, std::string_view payload_hex) {
  const Wire payload = test::FromHex(payload_hex);
  Wire wire;
  wire.push_back(static_cast<std::byte>(type));
  for (int shift = 0; shift < 24; shift += 8) {
    wire.push_back(static_cast<std::byte>(payload.size() >> shift & 0xff));
  }
  ByteWriter(wire).Bytes(payload);
  return wire;
}

std::string HexText(std::string_view text) {
  const std::array size = {static_cast<std::byte>(text.size() & 0xff),
                           static_cast<std::byte>(text.size() >> 8)};
  return test::Hex(size) + test::Hex(AsBytes(text));
}

Wire HelloWire(std::string_view target,
               const std::vector<std::string>& protocols,
               std::string_view version_and_flags = "0100") {
  std::string payload(version_and_flags);
  payload += HexText(target);
  payload += test::Hex(std::array{static_cast<std::byte>(protocols.size())});
  for (const std::string& protocol : protocols) payload += HexText(protocol);
  return Frame(6, payload);
}

// Feeds `wire` in inputs of as many bytes as `cut()` says, each memory of its
// own size, until the handshake knows. Returns what it says, and in `*taken`
// how many bytes it took.
template <typename Handshake, typename Cut>
typename Handshake::Progress FeedIn(Handshake& handshake,
                                    std::span<const std::byte> wire, Cut cut,
                                    std::size_t* taken = nullptr) {
  std::size_t at = 0;
  auto progress = Handshake::Progress::kMore;
  while (at < wire.size() && progress == Handshake::Progress::kMore) {
    const std::size_t size = std::min<std::size_t>(cut(), wire.size() - at);
    const auto part = wire.subspan(at, size);
    Wire piece(part.begin(), part.end());
    std::span<std::byte> input(piece);
    progress = handshake.Feed(input);
    EXPECT_TRUE(progress != Handshake::Progress::kMore || input.empty());
    at += size - input.size();
  }
  if (taken != nullptr) *taken = at;
  return progress;
}

constexpr auto kWhole = [] { return SIZE_MAX; };
constexpr auto kByteAtATime = [] { return 1; };

// "/path a b" for a request, "400" for a failure, "more".
std::string ServerSays(std::span<const std::byte> wire, auto cut,
                       std::size_t* taken = nullptr) {
  const std::unique_ptr<ServerHandshake> server = MakeTcpServerHandshake();
  switch (FeedIn(*server, wire, cut, taken)) {
    case ServerHandshake::Progress::kMore:
      return "more";
    case ServerHandshake::Progress::kFailed:
      return std::to_string(server->failure());
    case ServerHandshake::Progress::kRequest:
      break;
  }
  EXPECT_FALSE(server->request().origin);
  EXPECT_TRUE(server->lanes_marked());
  std::string text = server->request().target;
  for (const std::string& protocol : server->request().protocols) {
    text += ' ' + protocol;
  }
  return text;
}

// "open", "refused 404", "failed", "more".
std::string ClientSays(const Request& request, std::span<const std::byte> wire,
                       auto cut, std::size_t* taken = nullptr) {
  const std::unique_ptr<ClientHandshake> client =
      MakeTcpClientHandshake(request);
  switch (FeedIn(*client, wire, cut, taken)) {
    case ClientHandshake::Progress::kMore:
      return "more";
    case ClientHandshake::Progress::kFailed:
      return "failed";
    case ClientHandshake::Progress::kRefused:
      return "refused " + std::to_string(client->refusal());
    case ClientHandshake::Progress::kOpen:
      break;
  }
  EXPECT_TRUE(client->lanes_marked());
  return "open";
}

std::vector<std::string> Numbered(int count) {
  std::vector<std::string> protocols;
  for (int i = 0; i < count; ++i) protocols.push_back(std::to_string(i));
  return protocols;
}

std::string Listed(std::string text, const std::vector<std::string>& more) {
  for (const std::string& word : more) text += ' ' + word;
  return text;
}

// ---- What each side makes of what it is sent. A row's wire ends where its
// answer is known.

struct Row {
  const char* name;
  Wire wire;
  std::string says;
  Request request{.target = "/", .protocols = {"a", "b"}};  // of a client
};

const std::string kLongTarget = "/" + std::string(8186, 't');
const std::string kLongProtocol = std::string(8184, 'p');

const Row kServerRows[] = {
    {"Plain", HelloWire("/", {}), "/"},
    {"Room", HelloWire("/room/3?players=2", {"fizlet-rooms", "invite.abc"}),
     "/room/3?players=2 fizlet-rooms invite.abc"},
    {"KeepsTheOrder", HelloWire("/", {"z", "a", "m"}), "/ z a m"},
    {"AllOfTarget", HelloWire("/!~%00?&=", {}), "/!~%00?&="},
    {"AllOfToken", HelloWire("/", {"!#$%&'*+-.^_`|~09azAZ"}),
     "/ !#$%&'*+-.^_`|~09azAZ"},
    {"CaseDiffers", HelloWire("/", {"a", "A"}), "/ a A"},
    {"LongestTarget", HelloWire(kLongTarget, {}), kLongTarget},
    {"LongestProtocol", HelloWire("/", {kLongProtocol}), "/ " + kLongProtocol},
    {"MostProtocols", HelloWire("/", Numbered(64)), Listed("/", Numbered(64))},

    // Known at its first byte.
    {"Http", test::FromHex("47"), "400"},
    {"Tls", test::FromHex("16"), "400"},
    {"Zero", test::FromHex("00"), "400"},
    {"StateBit", test::FromHex("86"), "400"},
    {"Message", test::FromHex("01"), "400"},
    {"Refused", test::FromHex("07"), "400"},
    // At its header.
    {"Empty", test::FromHex("06000000"), "400"},
    {"TooLong", test::FromHex("06012000"), "431"},
    {"LargestLength", test::FromHex("06ffffff"), "431"},
    // At its version.
    {"VersionZero", test::FromHex("0606000000"), "426"},
    {"VersionTwo", test::FromHex("0606000002"), "426"},
    {"LongVersionTwo", test::FromHex("0600200002"), "426"},
    // At its end.
    {"VersionAlone", Frame(6, "01"), "400"},
    {"NoTargetLength", Frame(6, "010001"), "400"},
    {"NoCount", Frame(6, "010001002f"), "400"},
    {"EmptyTarget", HelloWire("", {}), "400"},
    {"Flag", HelloWire("/", {}, "0101"), "400"},
    {"HighFlag", HelloWire("/", {}, "0180"), "400"},
    {"BytesBehind", Frame(6, "010001002f0000"), "400"},
    {"TargetBeyondTheEnd", Frame(6, "0100ffff2f00"), "400"},
    {"ProtocolMissing", Frame(6, "010001002f01"), "400"},
    {"ProtocolBeyondTheEnd", Frame(6, "010001002f01020061"), "400"},
    {"CountTooLow", Frame(6, "010001002f01010061010062"), "400"},
    {"RelativeTarget", HelloWire("room/3", {}), "400"},
    {"SpaceInTarget", HelloWire("/a b", {}), "400"},
    {"FragmentInTarget", HelloWire("/a#b", {}), "400"},
    {"LineInTarget", HelloWire("/a\r\nb", {}), "400"},
    {"NotAsciiInTarget", HelloWire("/\xc3\xa9", {}), "400"},
    {"DeleteInTarget", HelloWire("/\x7f", {}), "400"},
    {"EmptyProtocol", HelloWire("/", {""}), "400"},
    {"SpaceInProtocol", HelloWire("/", {"a b"}), "400"},
    {"CommaInProtocol", HelloWire("/", {"a,b"}), "400"},
    {"NotAsciiInProtocol", HelloWire("/", {"\xc3\xa9"}), "400"},
    {"Twice", HelloWire("/", {"a", "b", "a"}), "400"},
    {"TooManyProtocols", HelloWire("/", Numbered(65)), "400"},
};

const Request kNothingOffered{.target = "/"};

const Row kClientRows[] = {
    {"First", Frame(6, "0100010061"), "open"},
    {"Second", Frame(6, "0100010062"), "open"},
    {"NoneOfNone", Frame(6, "01000000"), "open", kNothingOffered},
    {"NoneOfSome", Frame(6, "01000000"), "failed"},
    {"SomeOfNone", Frame(6, "0100010061"), "failed", kNothingOffered},
    {"NotOffered", Frame(6, "0100010063"), "failed"},
    {"LargerCase", Frame(6, "0100010041"), "failed"},
    {"ABeginning",
     Frame(6, "01000000"),
     "failed",
     {.target = "/", .protocols = {"ab"}}},
    {"Refused", Frame(7, "940100000000"), "refused 404"},
    {"RefusedForAWhile", Frame(7, "f7011e000000"), "refused 503"},
    {"LowestStatus", Frame(7, "2c0100000000"), "refused 300"},
    {"HighestStatus", Frame(7, "5702ffffffff"), "refused 599"},
    {"StatusBelow", Frame(7, "2b0100000000"), "failed"},
    {"Status200", Frame(7, "c80000000000"), "failed"},
    {"StatusAbove", Frame(7, "580200000000"), "failed"},
    {"ShortRefusal", Frame(7, "9401000000"), "failed"},
    {"LongRefusal", Frame(7, "94010000000000"), "failed"},
    {"EmptyRefusal", Frame(7, ""), "failed"},
    {"EmptyHello", Frame(6, ""), "failed"},
    {"ShortHello", Frame(6, "010001"), "failed"},
    {"ProtocolBeyondTheEnd", Frame(6, "0100020061"), "failed"},
    {"BytesBehind", Frame(6, "010001006100"), "failed"},
    {"VersionZero", Frame(6, "0000010061"), "failed"},
    {"VersionTwo", Frame(6, "0200010061"), "failed"},
    {"Flag", Frame(6, "0101010061"), "failed"},
    // Known at its first byte, and at its header.
    {"Http", test::FromHex("48"), "failed"},
    {"Message", test::FromHex("01"), "failed"},
    {"StateBit", test::FromHex("86"), "failed"},
    {"TooLong", test::FromHex("06012000"), "failed"},
    {"LongRefusalHeader", test::FromHex("07ffffff"), "failed"},
};

class TcpServerRowTest : public testing::TestWithParam<Row> {};
class TcpClientRowTest : public testing::TestWithParam<Row> {};

constexpr auto kName = [](const auto& row) { return row.param.name; };
INSTANTIATE_TEST_SUITE_P(Rows, TcpServerRowTest, testing::ValuesIn(kServerRows),
                         kName);
INSTANTIATE_TEST_SUITE_P(Rows, TcpClientRowTest, testing::ValuesIn(kClientRows),
                         kName);

// However it is cut, with or without more behind it, which is left where it is;
// and not before the last byte of it.
void CheckRow(const Row& row, auto says) {
  Random random(test::TestSeed());
  const Wire& wire = row.wire;
  Wire longer = wire;
  longer.insert(longer.end(), 20, std::byte{0x42});
  for (const Wire& sent : {wire, longer}) {
    std::size_t taken = 0;
    EXPECT_EQ(says(sent, kWhole, &taken), row.says);
    EXPECT_EQ(taken, wire.size());
    EXPECT_EQ(says(sent, kByteAtATime, &taken), row.says);
    EXPECT_EQ(taken, wire.size());
    for (int round = 0; round < 20; ++round) {
      const auto cut = [&] { return 1 + random.Below(9); };
      EXPECT_EQ(says(sent, cut, &taken), row.says);
      EXPECT_EQ(taken, wire.size());
    }
  }
  for (std::size_t size = 0; size < std::min<std::size_t>(wire.size(), 300);
       ++size) {
    EXPECT_EQ(says(Wire(wire.begin(), wire.end() - 1 - size), kWhole, nullptr),
              "more");
  }
}

TEST_P(TcpServerRowTest, HoweverCut) {
  CheckRow(GetParam(), [](const Wire& wire, auto cut, std::size_t* taken) {
    return ServerSays(wire, cut, taken);
  });
}

TEST_P(TcpClientRowTest, HoweverCut) {
  CheckRow(GetParam(), [](const Wire& wire, auto cut, std::size_t* taken) {
    return ClientSays(GetParam().request, wire, cut, taken);
  });
}

// ---- What each side sends.

std::string HelloOf(const Request& request) {
  return std::string(MakeTcpClientHandshake(request)->hello());
}

TEST(TcpHandshakeTest, WritesHellos) {
  EXPECT_EQ(test::Hex(AsBytes(HelloOf(kNothingOffered))),
            "06060000010001002f00");
  EXPECT_EQ(
      test::Hex(AsBytes(HelloOf({.target = "/x", .protocols = {"a", "bc"}}))),
      "060e0000010002002f780201006102006263");
  // Whoever asks through a browser says where from; we are no browser.
  EXPECT_EQ(HelloOf({.target = "/", .origin = "https://example.org"}),
            HelloOf(kNothingOffered));
}

TEST(TcpHandshakeTest, AHelloThatIsTooLongIsAnnouncedOnly) {
  Request request{.target = kLongTarget};
  const std::string longest = HelloOf(request);
  EXPECT_EQ(longest.size(), 4 + kTcpHelloBytesMax);
  EXPECT_EQ(ServerSays(AsBytes(longest), kWhole), kLongTarget);
  request.target += 't';
  const std::string longer = HelloOf(request);
  EXPECT_EQ(test::Hex(AsBytes(longer)), "06012000");
  EXPECT_EQ(ServerSays(AsBytes(longer), kWhole), "431");
  request = {.target = "/", .protocols = {std::string(70'000, 'p')}};
  EXPECT_EQ(HelloOf(request), longer);
}

TEST(TcpHandshakeTest, WritesAnswers) {
  const std::unique_ptr<ServerHandshake> server = MakeTcpServerHandshake();
  FeedIn(*server, HelloWire("/", {"a", "bc"}), kWhole);
  EXPECT_EQ(test::Hex(AsBytes(server->Accept(""))), "0604000001000000");
  EXPECT_EQ(test::Hex(AsBytes(server->Accept("bc"))), "06060000010002006263");
  EXPECT_EQ(test::Hex(AsBytes(server->Refuse({.status = 404}))),
            "07060000940100000000");
  EXPECT_EQ(test::Hex(AsBytes(
                server->Refuse({.status = 429, .retry_after_s = 0x01020304}))),
            "07060000ad0104030201");
}

TEST(TcpHandshakeDeathTest, OurOwnMistakesStopTheProcess) {
  const auto server = MakeTcpServerHandshake();
  FeedIn(*server, HelloWire("/", {"a"}), kWhole);
  EXPECT_DEATH(server->Accept("b"), "check failed");
  EXPECT_DEATH(server->Refuse({.status = 299}), "check failed");
  EXPECT_DEATH(server->Refuse({.status = 600}), "check failed");
  EXPECT_DEATH(HelloOf({.target = "no slash"}), "check failed");
  EXPECT_DEATH(HelloOf({.target = "/", .protocols = {"a b"}}), "check failed");
  EXPECT_DEATH(HelloOf({.target = "/", .protocols = {"a", "a"}}),
               "check failed");
  EXPECT_DEATH(HelloOf({.target = "/", .protocols = Numbered(65)}),
               "check failed");
}

// ---- Random requests, and damaged ones.

class TcpHandshakeRandomTest : public testing::Test {
 protected:
  std::string Chars(std::uint32_t most, char low, char high) {
    std::string text(1 + random_.Below(most), low);
    for (char& c : text) c = static_cast<char>(random_.Between(low, high));
    return text;
  }

  Request MakeRequest() {
    Request request{.target = std::string("/").append(Chars(60, '$', '~'))};
    for (std::uint32_t n = random_.Below(6); n > 0; --n) {
      // A number first, so that none comes twice.
      request.protocols.push_back(
          std::to_string(n).append(".").append(Chars(30, 'a', 'z')));
    }
    return request;
  }

  Random random_{test::TestSeed()};
};

TEST_F(TcpHandshakeRandomTest, BothSidesUnderstandEachOther) {
  for (int round = 0; round < 500; ++round) {
    const Request request = MakeRequest();
    const auto cut = [&] { return 1 + random_.Below(20); };
    const auto client = MakeTcpClientHandshake(request);
    const auto server = MakeTcpServerHandshake();
    ASSERT_EQ(FeedIn(*server, AsBytes(client->hello()), cut),
              ServerHandshake::Progress::kRequest);
    ASSERT_EQ(server->request().target, request.target);
    ASSERT_EQ(server->request().protocols, request.protocols);
    const auto offered = static_cast<std::uint32_t>(request.protocols.size());
    const std::string answer = server->Accept(
        offered == 0 ? "" : request.protocols[random_.Below(offered)]);
    ASSERT_EQ(FeedIn(*client, AsBytes(answer), cut),
              ClientHandshake::Progress::kOpen);
  }
}

TEST_F(TcpHandshakeRandomTest, FlippedBitsAreReadTheSameHoweverCut) {
  const Request request = MakeRequest();
  const Wire hello = HelloWire(request.target, request.protocols);
  const Wire refusal = Frame(7, "940100000000");
  int failed = 0;
  for (int round = 0; round < 5'000; ++round) {
    const auto cut = [&] { return 1 + random_.Below(20); };
    Wire wire = random_.Chance(1, 2) ? hello : refusal;
    test::FlipBits(random_, wire);
    const std::string server = ServerSays(wire, kWhole);
    ASSERT_EQ(ServerSays(wire, cut), server);
    const std::string client = ClientSays(request, wire, kWhole);
    ASSERT_EQ(ClientSays(request, wire, cut), client);
    if (server == "400" && client == "failed") ++failed;
  }
  EXPECT_GT(failed, 100);
}

}  // namespace
}  // namespace parlor::stream
