// The hosted rooms of parlor-host's configuration file.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <new>
#include <ostream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "parlor/authority/hosted_game.h"
#include "parlor/authority/room_authority.h"
#include "parlor/entropy.h"
#include "parlor/host/server.h"
#include "parlor/hosted_game.h"
#include "parlor/hosted_room.h"
#include "parlor/status.h"
#include "parlor/time.h"
#include "program/config_file.h"
#include "program/options.h"
#include "program/play_settings.h"
#include "program/settings.h"
#include "support/echo_room.h"
#include "support/status_matchers.h"
#include "support/temp_folder.h"

namespace parlor::host_program {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class PlayOptions : public ::testing::Test {
 protected:
  PlayOptions() {
    linked_.games = {Game("tag"), Game("chess")};
    linked_.log = [this](host::LogLevel, std::string_view line) {
      log_.emplace_back(line);
    };
  }

  // It takes {} and {"seats":2}, and what it makes says so in the log.
  HostedGame Game(std::string name) {
    return {
        .name = name,
        .configure = [this, name](std::string_view settings, const RoomLog& log)
            -> absl::StatusOr<HostedRoomFactory> {
          configured_.push_back(name + " " + std::string(settings));
          if (settings != "{}" && settings != R"({"seats":2})") {
            return InvalidArgument("/seats: is not 2");
          }
          return [log](TimePoint, Entropy&) {
            log("made\nand told");
            return std::make_unique<test::EchoRoom>();
          };
        }};
  }

  std::variant<Options, Exit> Parse(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), "parlor-host");
    std::vector<const char*> argv;
    for (const std::string& each : arguments) argv.push_back(each.data());
    return ParseOptions(static_cast<int>(argv.size()), argv.data(), 1, linked_);
  }
  std::string Write(std::string_view text) const {
    return folder_.Write("host.json", text);
  }
  // Of a file whose "play" is this.
  Options Accepted(std::string_view play) const {
    auto result =
        Parse({"--config", Write("{\"play\": " + std::string(play) + "}")});
    if (const Exit* exit = std::get_if<Exit>(&result)) {
      ADD_FAILURE() << exit->err;
      return {};
    }
    return std::get<Options>(std::move(result));
  }
  std::string RefusalOf(std::string_view play) const {
    const std::string path = Write("{\"play\": " + std::string(play) + "}");
    const auto result = Parse({"--config", path});
    const Exit* exit = std::get_if<Exit>(&result);
    if (exit == nullptr) return "was taken";
    EXPECT_EQ(exit->code, kExitRefused);
    EXPECT_EQ(std::count(exit->err.begin(), exit->err.end(), '\n'), 1);
    const std::string before = "parlor-host: " + path + ": ";
    EXPECT_EQ(exit->err.substr(0, before.size()), before);
    return exit->err.substr(before.size(),
                            exit->err.size() - before.size() - 1);
  }

  test::TempFolder folder_;
  Linked linked_;
  std::vector<std::string> configured_;
  std::vector<std::string> log_;
};

TEST_F(PlayOptions, MessagesAreAsLargeAsTheGamesOfThoseRoomsRead) {
  linked_.games[0].message_bytes_max = 2'560;
  linked_.games[1].message_bytes_max = 100;
  EXPECT_EQ(Accepted(R"([{"key": "arena", "game": "chess"}])")
                .server.stream.message_bytes_max,
            2'560u);
  // Lockstep's, which are small.
  EXPECT_EQ(Accepted("[]").server.stream.message_bytes_max, 16u);
}

TEST_F(PlayOptions, RoomsAreOfTheGamesThatAreLinkedIn) {
  const Options options = Accepted(R"([
      {"key": "arena", "game": "tag", "open": true},
      {"seats": 2, "key": "club-2", "game": "chess"}])");
  EXPECT_THAT(configured_, ElementsAre("tag {}", R"(chess {"seats":2})"));
  const std::vector<host::PlayRoom>& rooms = options.server.shard.play_rooms;
  ASSERT_EQ(rooms.size(), 2u);
  EXPECT_EQ(rooms[0].key, "arena");
  EXPECT_TRUE(rooms[0].open);
  EXPECT_EQ(rooms[1].key, "club-2");
  EXPECT_FALSE(rooms[1].open);
  SeededEntropy entropy(1);
  EXPECT_NE(rooms[1].make(TimePoint(), entropy), nullptr);
  EXPECT_THAT(log_, ElementsAre("room \"club-2\": made\\x0aand told"));
}

TEST_F(PlayOptions, NoneIsAskedFor) {
  EXPECT_THAT(Accepted("[]").server.shard.play_rooms, IsEmpty());
  EXPECT_EQ(Accepted("[]").settings, std::get<Options>(Parse({})).settings);
  EXPECT_THAT(std::get<Exit>(Parse({"--play", "[]"})).err,
              Not(HasSubstr("linked")))
      << "it has no flag";
}

// What a game is told is what the file says, deep things and large numbers too.
TEST_F(PlayOptions, WhatIsTheGamesComesAsItStands) {
  RefusalOf(R"([{"key": "a", "game": "tag",
      "spawns": [[1, -2.5e3], {"~/": null}], "name": "\u00e4\n", "b": false,
      "most": 18446744073709551615}])");
  EXPECT_THAT(
      configured_,
      ElementsAre(
          "tag {\"spawns\":[[1,-2500.0],{\"~/\":null}],\"name\":\"\xc3\xa4"
          "\\n\",\"b\":false,\"most\":18446744073709551615}"));
}

TEST_F(PlayOptions, DifferencesAreSeenAndPrintedIsTakenBack) {
  const Settings settings =
      Accepted(R"([ {"key":"arena","game":"tag","seats": 2} ])").settings;
  EXPECT_THAT(Differences(settings, Accepted("[]").settings),
              ElementsAre("play"));
  const std::string path = folder_.Write("printed.json", ToJson(settings));
  EXPECT_EQ(std::get<Options>(Parse({"--config", path})).settings, settings);
}

TEST_F(PlayOptions, WithNoGamesThereAreNone) {
  linked_.games.clear();
  EXPECT_EQ(RefusalOf(R"([{"key":"a","game":"tag"}])"),
            "/play/0/game: no game \"tag\" is linked in; there are: none");
}

// Whatever a game throws: the room and the game are named, on one line, and
// the rooms beside it are not blamed.
TEST_F(PlayOptions, AGameThatThrowsRefusesTheFile) {
  const struct {
    std::function<void()> fail;
    std::string said;
  } rows[] = {
      {[] { throw std::runtime_error("no level"); }, "no level"},
      {[] { throw std::invalid_argument("two\nlines"); }, "two\\x0alines"},
      {[] { throw std::bad_alloc(); }, std::bad_alloc().what()},
      {[] { throw 7; }, "no std::exception"},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.said);
    linked_.games[1].configure =
        [&](std::string_view,
            const RoomLog&) -> absl::StatusOr<HostedRoomFactory> {
      row.fail();
      return HostedRoomFactory();
    };
    EXPECT_EQ(
        RefusalOf(R"([{"key":"a","game":"tag"},
                            {"key":"b","game":"chess"}])"),
        "/play/1: the game \"chess\" threw for the room \"b\": " + row.said);
    EXPECT_EQ(Accepted(R"([{"key":"a","game":"tag"}])")
                  .server.shard.play_rooms.size(),
              1u);
  }
}

// The rooms of an authority game: what makes it throws.
TEST_F(PlayOptions, AnAuthorityGameThatCannotBeMadeRefusesTheFile) {
  linked_.games[0] = authority::MakeHostedGame(
      "tag", {.protocol = "tag-1"},
      []() -> std::unique_ptr<authority::RoomAuthority> {
        throw std::runtime_error("no level");
      });
  EXPECT_EQ(RefusalOf(R"([{"key":"a","game":"tag"}])"),
            "/play/0: the game \"tag\" threw for the room \"a\": no level");
}

struct BadPlay {
  const char* name;
  std::string play;
  std::string refusal;
};

void PrintTo(const BadPlay& row, std::ostream* out) { *out << row.name; }

class BadPlayOptions : public PlayOptions,
                       public ::testing::WithParamInterface<BadPlay> {};

TEST_P(BadPlayOptions, NameTheFieldByItsPath) {
  EXPECT_EQ(RefusalOf(GetParam().play), GetParam().refusal);
}

std::string Deep(std::size_t levels) {
  return R"([{"key":"a","game":"tag","x":)" + std::string(levels, '[') +
         std::string(levels, ']') + "}]";
}

INSTANTIATE_TEST_SUITE_P(
    Rows, BadPlayOptions,
    ::testing::Values(
        BadPlay{"NoList", "{}",
                "/play: an object where a list of objects belongs"},
        BadPlay{"Text", "\"arena\"",
                "/play: a text where a list of objects belongs"},
        BadPlay{"Number", "1",
                "/play: a number where a list of objects belongs"},
        BadPlay{"Null", "null", "/play: null where a list of objects belongs"},
        BadPlay{"NoObject", "[1]", "/play/0: is not an object"},
        BadPlay{"NoKey", R"([{"game":"tag"}])", "/play/0: needs a \"key\""},
        BadPlay{"NoGame", R"([{"key":"a"}])", "/play/0: needs a \"game\""},
        BadPlay{"KeyNumber", R"([{"key":1,"game":"tag"}])",
                "/play/0/key: is not a text"},
        BadPlay{"KeyWrong", R"([{"key":"a b","game":"tag"}])",
                "/play/0/key: \"a b\" is not 1 to 64 of A-Z a-z 0-9 _ -"},
        BadPlay{"KeyEmpty", R"([{"key":"","game":"tag"}])",
                "/play/0/key: \"\" is not 1 to 64 of A-Z a-z 0-9 _ -"},
        BadPlay{"KeyTwice",
                R"([{"key":"a","game":"tag"},{"key":"a","game":"chess"}])",
                "/play/1/key: \"a\" is another room's"},
        BadPlay{"GameUnknown",
                R"([{"key":"a","game":"tag"},{"key":"b","game":"go"}])",
                "/play/1/game: no game \"go\" is linked in; there are: tag, "
                "chess"},
        BadPlay{"GameCase", R"([{"key":"a","game":"Tag"}])",
                "/play/0/game: no game \"Tag\" is linked in; there are: tag, "
                "chess"},
        BadPlay{"OpenNumber", R"([{"key":"a","game":"tag","open":1}])",
                "/play/0/open: is not true or false"},
        BadPlay{"TheGamesOwn", R"([{"key":"a","game":"tag","seats":3}])",
                "/play/0/seats: is not 2"},
        BadPlay{"MemberTwice", R"([{"key":"a","game":"tag","game":"tag"}])",
                "/play/0/game: is there twice"},
        BadPlay{"MemberTwiceBelow", R"([{"x":[{"a/b":1,"a/b":1}]}])",
                "/play/0/x/0/a~1b: is there twice"},
        BadPlay{"Infinity", R"([{"x":[0,1e999]}])",
                "/play/0/x/1: the number is too large"},
        BadPlay{"TooDeep", Deep(32), "/play: is too deep"},
        BadPlay{"NearlyTooDeep", Deep(31), "/play/0/seats: is not 2"},
        BadPlay{"Twice", R"([], "play": [])", "/play: is there twice"},
        BadPlay{"CutOff", R"([{"key")", "line 1, column 17: is not JSON"}),
    [](const auto& row) { return row.param.name; });

// Depth costs nothing: it ends where the limit is.
TEST(PlayConfig, DeepNestingIsRefusedAtOnce) {
  const std::string deep = R"({"play": )" + std::string(500'000, '[');
  EXPECT_THAT(
      ParseConfig(deep, "f"),
      StatusIs(absl::StatusCode::kInvalidArgument, "f: /play: is too deep"));
}

}  // namespace
}  // namespace parlor::host_program
