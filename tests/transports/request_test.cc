// Requests for rooms of both kinds: what a client says, and what a host reads,
// in the order in which it has to look.
#include "parlor/transports/request.h"

#include <cstdint>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "parlor/connector.h"

namespace parlor {
namespace {

using ::testing::ElementsAre;

std::vector<std::string> Protocols(std::vector<std::string> others) {
  others.insert(others.begin(), "fizlet-rooms");
  return others;
}

TEST(RequestForRoomTest, AJoin) {
  const Request request = RequestForRoom({.room = 3, .players = 2});
  EXPECT_EQ(request.target, "/room/3?players=2");
  EXPECT_THAT(request.protocols, ElementsAre("fizlet-rooms"));
  EXPECT_EQ(request.origin, std::nullopt);
}

TEST(RequestForRoomTest, EverythingSaid) {
  const Request request = RequestForRoom({.room = 4'294'967'295,
                                          .players = 32,
                                          .access = "pass.abc_-.1",
                                          .device = "device.0123456789abcdef",
                                          .resume = "00Ff"},
                                         "/games/x");
  EXPECT_EQ(request.target, "/games/x/room/4294967295?players=32");
  EXPECT_THAT(request.protocols,
              ElementsAre("fizlet-rooms", "pass.abc_-.1",
                          "device.0123456789abcdef", "resume.00Ff"));
}

// What a player typed in becomes neither a header nor another protocol.
TEST(RequestForRoomTest, LetsOnlyTokensThrough) {
  for (const std::string hostile :
       {"x\r\nX: y", "x, y", "x y", "x\ty", "\xc3\xa4", "x\"", "x\\", "x/"}) {
    SCOPED_TRACE(hostile);
    const Request request = RequestForRoom({.room = 1,
                                            .players = 2,
                                            .access = "invite." + hostile,
                                            .device = "device." + hostile,
                                            .resume = hostile});
    EXPECT_THAT(request.protocols, ElementsAre("fizlet-rooms", "resume."));
  }
  for (const std::string other : {"resume.1", "fizlet-rooms", "x", "Pass.x"}) {
    SCOPED_TRACE(other);
    const Request request = RequestForRoom(
        {.room = 1, .players = 2, .access = other, .device = other});
    EXPECT_THAT(request.protocols, ElementsAre("fizlet-rooms"));
  }
  EXPECT_THAT(
      RequestForRoom({.room = 1, .players = 2, .access = "device.x"}).protocols,
      ElementsAre("fizlet-rooms"));
}

struct Row {
  std::string name;
  std::string target;
  std::vector<std::string> protocols;
  std::uint16_t status = 0;

  friend std::ostream& operator<<(std::ostream& out, const Row& row) {
    return out << row.name;
  }
};

const std::vector<Row>& Rows() {
  const std::vector<std::string> lockstep = {"fizlet-rooms"};
  static const std::vector<Row> rows = {
      // The path.
      {"OtherPath", "/rooms/3?players=2", lockstep, 404},
      {"Root", "/", lockstep, 404},
      {"Empty", "", lockstep, 404},
      {"NoNumber", "/room/?players=2", lockstep, 404},
      {"NoSlash", "/room?players=2", lockstep, 404},
      {"SlashBehind", "/room/3/?players=2", lockstep, 404},
      {"MoreBehind", "/room/3/4?players=2", lockstep, 404},
      {"TwoSlashes", "//room/3?players=2", lockstep, 404},
      {"LeadingZero", "/room/03?players=2", lockstep, 404},
      {"TwoZeros", "/room/00?players=2", lockstep, 404},
      {"Negative", "/room/-1?players=2", lockstep, 404},
      {"Plus", "/room/+1?players=2", lockstep, 404},
      {"Hexadecimal", "/room/0x1?players=2", lockstep, 404},
      {"Letter", "/room/3a?players=2", lockstep, 404},
      {"Space", "/room/ 3?players=2", lockstep, 404},
      {"Encoded", "/room/%33?players=2", lockstep, 404},
      {"AboveU32", "/room/4294967296?players=2", lockstep, 404},
      {"FarAboveU32", "/room/99999999999999999999?players=2", lockstep, 404},
      {"OtherCase", "/Room/3?players=2", lockstep, 404},

      // Then the players.
      {"NoQuery", "/room/3", lockstep, 400},
      {"EmptyQuery", "/room/3?", lockstep, 400},
      {"OtherParameter", "/room/3?player=2", lockstep, 400},
      {"PlayersEmpty", "/room/3?players=", lockstep, 400},
      {"PlayersNoValue", "/room/3?players", lockstep, 400},
      {"Players0", "/room/3?players=0", lockstep, 400},
      {"PlayersNegative", "/room/3?players=-2", lockstep, 400},
      {"PlayersPlus", "/room/3?players=+2", lockstep, 400},
      {"PlayersLetter", "/room/3?players=2x", lockstep, 400},
      {"PlayersFraction", "/room/3?players=2.0", lockstep, 400},
      {"PlayersLeadingZero", "/room/3?players=02", lockstep, 400},
      {"PlayersEncoded", "/room/3?players=%32", lockstep, 400},
      {"PlayersAboveI32", "/room/3?players=2147483648", lockstep, 400},
      {"PlayersTwice", "/room/3?players=2&players=2", lockstep, 400},
      {"PlayersTwiceApart", "/room/3?players=2&x&players=", lockstep, 400},
      {"PlayersOtherCase", "/room/3?Players=2", lockstep, 400},
      {"SecondQuestionMark", "/room/3??players=2", lockstep, 400},
      {"Semicolon", "/room/3?x;players=2", lockstep, 400},

      // Then the protocols.
      {"NoProtocol", "/room/3?players=2", {}, 400},
      {"OtherProtocol", "/room/3?players=2", {"parlor-play"}, 400},
      {"ProtocolOtherCase", "/room/3?players=2", {"Fizlet-Rooms"}, 400},
      {"ProtocolTwice", "/room/3?players=2", Protocols({"fizlet-rooms"}), 400},
      {"TwoInvites", "/room/3?players=2", Protocols({"invite.a", "invite.b"}),
       400},
      {"InviteAndPass", "/room/3?players=2", Protocols({"invite.a", "pass.b"}),
       400},
      {"TwoDevices", "/room/3?players=2", Protocols({"device.a", "device.a"}),
       400},
      {"TwoResumes", "/room/3?players=2", Protocols({"resume.", "resume.1"}),
       400},

      // What comes first decides.
      {"PathBeforePlayers", "/x?players=0", {}, 404},
      {"PathBeforeAll", "/room/03", {}, 404},

      // Accepted.
      {"Join", "/room/3?players=2", lockstep},
      {"Room0", "/room/0?players=1", lockstep},
      {"Largest", "/room/4294967295?players=2147483647", lockstep},
      {"Others", "/room/3?x=1&&players=2&access=invite.a&", lockstep},
      {"OtherProtocols", "/room/3?players=2", Protocols({"x", "x", "invite"})},
  };
  return rows;
}

class ParseRoomRequestTest : public ::testing::TestWithParam<Row> {};

TEST_P(ParseRoomRequestTest, Status) {
  const Row& row = GetParam();
  for (const std::string_view base : {"", "/base", "/room/3"}) {
    SCOPED_TRACE(base);
    const Request request{.target = std::string(base) + row.target,
                          .protocols = row.protocols,
                          .origin = {}};
    Hello hello{.room = 77, .players = 77};
    EXPECT_EQ(ParseRoomRequest(request, base, &hello), row.status);
    EXPECT_EQ(hello.room == 77, row.status != 0) << "changed only with 0";
    EXPECT_EQ(hello.players == 77, row.status != 0);
    EXPECT_EQ(hello.access, "") << "an access token in a URL is not read";
    const auto number = ParseRoomNumber(request.target, base);
    EXPECT_EQ(number.has_value(), row.status != 404);
    if (row.status == 0) {
      EXPECT_EQ(number, hello.room);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Rows, ParseRoomRequestTest,
                         ::testing::ValuesIn(Rows()),
                         [](const auto& row) { return row.param.name; });

TEST(ParseRoomRequestTest, OnlyBelowItsBase) {
  const auto status = [](std::string_view target, std::string_view base) {
    Hello hello;
    return ParseRoomRequest({.target = std::string(target),
                             .protocols = {"fizlet-rooms"},
                             .origin = {}},
                            base, &hello);
  };
  EXPECT_EQ(status("/a/room/1?players=2", "/a"), 0);
  EXPECT_EQ(status("/room/1?players=2", "/a"), 404);
  EXPECT_EQ(status("/a/room/1?players=2", ""), 404);
  EXPECT_EQ(status("/ab/room/1?players=2", "/a"), 404);
  EXPECT_EQ(status("/A/room/1?players=2", "/a"), 404);
}

TEST(ParseRoomRequestTest, WhatWasSaidComesBack) {
  const std::vector<Hello> hellos = {
      {.room = 0, .players = 1},
      {.room = 4'294'967'295, .players = 2'147'483'647},
      {.room = 3, .players = 2, .access = "invite.ABCDEFGHIJ"},
      {.room = 3, .players = 2, .access = "pass.x", .device = "device.y"},
      {.room = 3, .players = 2, .resume = "0"},
      // Malformed ones as well: the room decides.
      {.room = 3, .players = 2, .access = "invite.", .resume = ""},
      {.room = 3, .players = 2, .device = "device.", .resume = "not-hex"},
      {.room = 3, .players = 2, .resume = "123456789"},
  };
  for (const Hello& hello : hellos) {
    for (const std::string_view base : {"", "/base"}) {
      const Request request = RequestForRoom(hello, base);
      SCOPED_TRACE(request.target);
      Hello read;
      ASSERT_EQ(ParseRoomRequest(request, base, &read), 0);
      EXPECT_EQ(read.room, hello.room);
      EXPECT_EQ(read.players, hello.players);
      EXPECT_EQ(read.access, hello.access);
      EXPECT_EQ(read.device, hello.device);
      EXPECT_EQ(read.resume, hello.resume);
    }
  }
}

TEST(RequestForRoomTest, AHostedRoom) {
  const Request request = RequestForRoom({.room = 3,
                                          .players = 2,
                                          .access = "pass.abc",
                                          .device = "device.x",
                                          .resume = "1",
                                          .play = "The_arena-2",
                                          .identity = "somebody"},
                                         "/games");
  EXPECT_EQ(request.target, "/games/play/The_arena-2");
  EXPECT_THAT(request.protocols,
              ElementsAre("parlor-play", "pass.abc", "device.x"));
}

TEST(RequestForRoomTest, AKeyThatIsNoneIsNotSaid) {
  for (const std::string key :
       {"a b", "a\r\nX: y", "a/b", "a?b", "a#b", "%61", "\xc3\xa4", ".."}) {
    EXPECT_EQ(RequestForRoom({.play = key}).target, "/play/") << key;
  }
  EXPECT_EQ(RequestForRoom({.play = std::string(65, 'a')}).target, "/play/");
}

struct PlayRow {
  std::string name;
  std::string target;
  std::vector<std::string> protocols;
  std::uint16_t status = 0;

  friend std::ostream& operator<<(std::ostream& out, const PlayRow& row) {
    return out << row.name;
  }
};

const std::vector<PlayRow>& PlayRows() {
  const std::vector<std::string> play = {"parlor-play"};
  static const std::vector<PlayRow> rows = {
      {"OtherPath", "/plays/a", play, 404},
      {"LockstepPath", "/room/1?players=2", play, 404},
      {"NoKey", "/play/", play, 404},
      {"NoSlash", "/play", play, 404},
      {"SlashBehind", "/play/a/", play, 404},
      {"TwoSlashes", "/play//a", play, 404},
      {"Dot", "/play/a.b", play, 404},
      {"Encoded", "/play/%61", play, 404},
      {"Space", "/play/ a", play, 404},
      {"AboveAscii", "/play/\xc3\xa4", play, 404},
      {"TooLong", "/play/" + std::string(65, 'a'), play, 404},
      {"OtherCase", "/Play/a", play, 404},
      {"PathBeforeProtocol", "/play/", {}, 404},

      {"NoProtocol", "/play/a", {}, 400},
      {"OtherProtocol", "/play/a", {"fizlet-rooms"}, 400},
      {"ProtocolTwice", "/play/a", {"parlor-play", "parlor-play"}, 400},
      {"TwoInvites", "/play/a", {"parlor-play", "invite.a", "invite.b"}, 400},
      {"InviteAndPass", "/play/a", {"pass.a", "invite.b", "parlor-play"}, 400},
      {"TwoDevices", "/play/a", {"parlor-play", "device.a", "device.a"}, 400},

      {"Join", "/play/a", play},
      {"Longest", "/play/" + std::string(64, 'Z'), play},
      {"Query", "/play/a?players=x&/room/1", play},
      {"BothProtocols", "/play/a", {"fizlet-rooms", "parlor-play"}},
      // They are of the other kind of room.
      {"Resumes", "/play/a", {"parlor-play", "resume.1", "resume.2"}},
  };
  return rows;
}

class ParsePlayRequestTest : public ::testing::TestWithParam<PlayRow> {};

TEST_P(ParsePlayRequestTest, Status) {
  const PlayRow& row = GetParam();
  for (const std::string_view base : {"", "/base", "/play/a"}) {
    SCOPED_TRACE(base);
    const Request request{.target = std::string(base) + row.target,
                          .protocols = row.protocols,
                          .origin = {}};
    Hello hello{.room = 77, .play = "?"};
    EXPECT_EQ(ParsePlayRequest(request, base, &hello), row.status);
    EXPECT_EQ(hello.play == "?", row.status != 0) << "changed only with 0";
    EXPECT_EQ(hello.room == 77, row.status != 0);
    EXPECT_EQ(hello.resume, std::nullopt);
    EXPECT_EQ(hello.identity, "");
    const auto key = ParsePlayKey(request.target, base);
    EXPECT_EQ(key.has_value(), row.status != 404);
    if (row.status == 0) {
      EXPECT_EQ(key, hello.play);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Rows, ParsePlayRequestTest,
                         ::testing::ValuesIn(PlayRows()),
                         [](const auto& row) { return row.param.name; });

TEST(ParsePlayRequestTest, WhatWasSaidComesBack) {
  const std::vector<Hello> hellos = {
      {.play = "a"},
      {.access = "invite.ABCDEFGHIJ", .play = "room"},
      {.access = "pass.x", .device = "device.y", .play = "0_-9"},
  };
  for (const Hello& hello : hellos) {
    for (const std::string_view base : {"", "/base"}) {
      const Request request = RequestForRoom(hello, base);
      SCOPED_TRACE(request.target);
      Hello read;
      ASSERT_EQ(ParsePlayRequest(request, base, &read), 0);
      EXPECT_EQ(read.play, hello.play);
      EXPECT_EQ(read.access, hello.access);
      EXPECT_EQ(read.device, hello.device);
      EXPECT_EQ(RoomProtocol(read), kPlayProtocol);
      EXPECT_EQ(ParseRoomRequest(request, base, &read), 404);
    }
  }
}

}  // namespace
}  // namespace parlor
