#include "options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "support/temp_folder.h"

namespace parlor::solo {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::variant<Options, Exit> Parse(std::vector<const char*> arguments,
                                  bool terminal = true) {
  arguments.insert(arguments.begin(), "parlor-solo");
  return ParseOptions(static_cast<int>(arguments.size()), arguments.data(),
                      terminal);
}

Options Accepted(std::vector<const char*> arguments, bool terminal = true) {
  const auto result = Parse(std::move(arguments), terminal);
  if (const Exit* exit = std::get_if<Exit>(&result)) {
    ADD_FAILURE() << exit->err;
    return {};
  }
  return std::get<Options>(result);
}

TEST(Options, NothingIsATerminalGameOfFour) {
  const Options options = Accepted({});
  EXPECT_FALSE(options.headless);
  EXPECT_EQ(options.game.players, 4);
  EXPECT_EQ(options.game.level, cycles::Level::kNormal);
  EXPECT_EQ(SizeName(options.game.size), "76x40");
  EXPECT_FALSE(options.size_given);
  EXPECT_FALSE(options.seed.has_value());
  EXPECT_EQ(options.notice, "");
}

TEST(Options, EverythingOfAGame) {
  const Options options =
      Accepted({"--players", "8", "--level=hard", "--seed", "0xffffffff",
                "--size", "38x20", "--record", "a file"});
  EXPECT_EQ(options.game.players, 8);
  EXPECT_EQ(options.game.level, cycles::Level::kHard);
  EXPECT_EQ(options.seed, 0xffffffffu);
  EXPECT_EQ(SizeName(options.game.size), "38x20");
  EXPECT_TRUE(options.size_given);
  EXPECT_EQ(options.record, "a file");
}

TEST(Options, NumbersAreDecimalUnlessTheySay0x) {
  EXPECT_EQ(Accepted({"--seed", "010"}).seed, 10u);
  EXPECT_EQ(Accepted({"--seed", "0x10"}).seed, 16u);
}

TEST(Options, HeadlessNeedsNoTerminal) {
  const Options options = Accepted({"--headless", "--frames", "90"}, false);
  EXPECT_TRUE(options.headless);
  EXPECT_EQ(options.frames, 90u);
  EXPECT_EQ(Accepted({"--headless"}, false).frames, 3'600u);
}

TEST(Options, WithoutTerminalAndOptionsItIsHeadlessWithANotice) {
  const Options options = Accepted({}, false);
  EXPECT_TRUE(options.headless);
  EXPECT_EQ(options.frames, 3'600u);
  EXPECT_THAT(options.notice, HasSubstr("--headless --frames 3600"));
}

TEST(Options, TheProgramAsItWasStartedIsAWordForTheShell) {
  const char* arguments[] = {"/a b/parlor-solo"};
  const auto parsed = ParseOptions(1, arguments, true);
  EXPECT_EQ(std::get<Options>(parsed).program, "/a b/parlor-solo");
  EXPECT_EQ(ShellWord("/a/parlor-solo"), "/a/parlor-solo");
  EXPECT_EQ(ShellWord("/a b/parlor-solo"), "'/a b/parlor-solo'");
  EXPECT_EQ(ShellWord("it's"), "'it'\\''s'");
}

TEST(Options, ReplayInEitherMode) {
  EXPECT_EQ(Accepted({"--replay", "f"}).replay, "f");
  const Options options =
      Accepted({"--headless", "--replay", "f", "--partial"}, false);
  EXPECT_TRUE(options.headless && options.partial);
}

constexpr const char* kRoom = "ws://192.0.2.7:7777/room/0?players=4";

TEST(Options, ListenTakesAPortOrHasOne) {
  EXPECT_FALSE(Accepted({}).with_friends());
  EXPECT_EQ(Accepted({"--listen"}).listen, kListenPort);
  EXPECT_EQ(Accepted({"--listen", "0"}).listen, 0);
  EXPECT_EQ(Accepted({"--listen", "65535"}).listen, 65'535);
  EXPECT_EQ(Accepted({"--listen", "--players", "3"}).listen, kListenPort);
  const Options options =
      Accepted({"--headless", "--listen", "0", "--players", "3", "--level",
                "easy", "--seed", "5", "--wait", "2", "--hold", "0", "--invite",
                " abc-DEF_9012", "--record", "f"},
               false);
  EXPECT_TRUE(options.with_friends());
  EXPECT_EQ(options.wait, 2);
  EXPECT_EQ(options.hold_s, 0);
  EXPECT_EQ(options.invite, "abc-DEF_9012");
  EXPECT_EQ(options.game.players, 3);
  EXPECT_EQ(options.seed, 5u);
}

TEST(Options, JoinTakesTheListenersAddress) {
  const Options options = Accepted({"--join", kRoom, "--invite", "x"});
  ASSERT_TRUE(options.join.has_value());
  EXPECT_TRUE(options.with_friends());
  EXPECT_EQ(options.join->host_url, "ws://192.0.2.7:7777");
  EXPECT_EQ(options.join->room, 0u);
  EXPECT_EQ(options.join->players, 4);
  EXPECT_EQ(options.invite, "x");
  const Options far =
      Accepted({"--join", "wss://h.example/a/room/9/room/65535?players=8"});
  EXPECT_EQ(far.join->host_url, "wss://h.example/a/room/9");
  EXPECT_EQ(far.join->room, 65'535u);
}

TEST(Options, NoErrorRepeatsACode) {
  const auto result = Parse({"--listen", "--invite", "hunter2"});
  EXPECT_EQ(std::get<Exit>(result).err.find("hunter2"), std::string::npos);
}

TEST(Options, APassIsAnotherWayIn) {
  const Options options = Accepted({"--join", kRoom, "--pass", " AQID.x_y-z "});
  EXPECT_EQ(options.pass, "AQID.x_y-z");
  EXPECT_EQ(options.invite, "");
  EXPECT_EQ(options.secret_file, "");
  EXPECT_EQ(options.device, "") << "that is made when it is needed";
}

TEST(Options, ACodeOrAPassMayBeInAFile) {
  const test::TempFolder files;
  const std::string path = files.Write("my secret", "AQID-4567890\n");
  const std::string word = "@" + path;
  const Options pass = Accepted({"--join", kRoom, "--pass", word.c_str()});
  EXPECT_EQ(pass.pass, "AQID-4567890");
  EXPECT_EQ(pass.secret_file, path);
  const Options code = Accepted({"--join", kRoom, "--invite", word.c_str()});
  EXPECT_EQ(code.invite, "AQID-4567890");
  EXPECT_EQ(code.secret_file, path);
  EXPECT_EQ(Accepted({"--listen", "--invite", word.c_str()}).invite,
            "AQID-4567890");
}

TEST(Options, NoErrorRepeatsWhatAFileHolds) {
  const test::TempFolder files;
  for (const char* text : {"hunter2 hunter3", "hunter2\nhunter3"}) {
    const std::string word = "@" + files.Write("f", text);
    for (const char* flag : {"--pass", "--invite"}) {
      SCOPED_TRACE(flag);
      const auto result = Parse({"--join", kRoom, flag, word.c_str()});
      const Exit* exit = std::get_if<Exit>(&result);
      if (exit == nullptr) continue;  // any code may be shown to a host
      EXPECT_EQ(exit->code, kExitRefused);
      EXPECT_THAT(exit->err, StartsWith(std::string("parlor-solo: ") + flag));
      EXPECT_EQ(exit->err.find("hunter"), std::string::npos);
    }
  }
}

TEST(Options, HelpAndVersionGoToStdout) {
  const Exit help = std::get<Exit>(Parse({"--help"}, false));
  EXPECT_EQ(help.code, kExitOk);
  EXPECT_EQ(help.err, "");
  for (const char* word :
       {"--players",  "--level",  "--seed",   "--size",     "--headless",
        "--frames",   "--record", "--replay", "--partial",  "--version",
        "--listen",   "--join",   "--invite", "--pass",     "@FILE",
        "device-key", "--wait",   "--hold",   "Exit codes", "160x60"}) {
    EXPECT_THAT(help.out, HasSubstr(word));
  }
  const Exit version = std::get<Exit>(Parse({"--version"}, false));
  EXPECT_EQ(version.code, kExitOk);
  EXPECT_THAT(version.out, StartsWith("parlor-solo 0."));
}

struct Bad {
  std::string name;
  std::vector<const char*> arguments;
  std::string text;  // names the argument
  bool terminal = true;
};

class BadOptions : public ::testing::TestWithParam<Bad> {};

TEST_P(BadOptions, IsOneLineThatNamesTheArgument) {
  const auto result = Parse(GetParam().arguments, GetParam().terminal);
  const Exit* exit = std::get_if<Exit>(&result);
  ASSERT_NE(exit, nullptr);
  EXPECT_EQ(exit->code, kExitRefused);
  EXPECT_EQ(exit->out, "");
  EXPECT_THAT(exit->err, AllOf(StartsWith("parlor-solo: "),
                               HasSubstr(GetParam().text), EndsWith("\n")));
  EXPECT_EQ(std::count(exit->err.begin(), exit->err.end(), '\n'), 1)
      << exit->err;
}

INSTANTIATE_TEST_SUITE_P(
    Rows, BadOptions,
    ::testing::Values(
        Bad{"Unknown", {"--speed", "3"}, "--speed"},
        Bad{"UnknownShort", {"-x"}, "-x"}, Bad{"Word", {"play"}, "play"},
        Bad{"Newline", {"--a\nb"}, "--a\\x0ab"},
        Bad{"NoValue", {"--players"}, "--players"},
        Bad{"EmptyValue", {"--players="}, "--players"},
        Bad{"Players1", {"--players", "1"}, "--players: 1 is not a number fr"},
        Bad{"Players9", {"--players", "9"}, "--players: 9 is not"},
        Bad{"PlayersWord", {"--players", "four"}, "--players: four"},
        Bad{"PlayersNegative", {"--players=-4"}, "--players: -4"},
        Bad{"PlayersTrailing", {"--players", "4 "}, "--players: 4 "},
        Bad{"PlayersFraction", {"--players", "4.0"}, "--players: 4.0"},
        Bad{"PlayersTwice", {"--players", "4", "--players", "5"}, "--players"},
        Bad{"LevelUnknown", {"--level", "insane"}, "--level: insane is not"},
        Bad{"LevelCase", {"--level", "Easy"}, "--level: Easy"},
        Bad{"SeedTooBig", {"--seed", "4294967296"}, "--seed: 4294967296"},
        Bad{"SeedHuge", {"--seed", "99999999999999999999999"}, "--seed: 999"},
        Bad{"SeedHexEmpty", {"--seed", "0x"}, "--seed: 0x"},
        Bad{"SizeUnlisted", {"--size", "77x40"}, "the nearest is 76x40"},
        Bad{"SizeHuge", {"--size", "99999999999x9"}, "the nearest is 160x"},
        Bad{"SizeOneNumber",
            {"--size", "76"},
            "--size: 76 is not WIDTHxHEIGHT"},
        Bad{"SizeEmptySide", {"--size", "76x"}, "--size: 76x is not"},
        Bad{"SizeNoWidth", {"--size", "x40"}, "--size: x40 is not"},
        Bad{"SizeThree", {"--size", "76x40x2"}, "--size: 76x40x2 is not"},
        Bad{"Frames0", {"--headless", "--frames", "0"}, "--frames: 0 is not"},
        Bad{"FramesTooMany",
            {"--headless", "--frames", "5000001"},
            "--frames: 5000001"},
        Bad{"FramesAlone", {"--frames", "5"}, "--frames: only with --headless"},
        Bad{"ReplaySeed", {"--replay", "f", "--seed", "1"}, "--seed: not with"},
        Bad{"ReplaySize", {"--replay", "f", "--size", "38x20"}, "--size: not"},
        Bad{"ReplayPlayers", {"--replay", "f", "--players", "3"}, "--players:"},
        Bad{"ReplayLevel", {"--replay", "f", "--level", "easy"}, "--level:"},
        Bad{"ReplayFrames",
            {"--headless", "--replay", "f", "--frames", "9"},
            "--frames: not with --replay"},
        Bad{"ReplayRecord", {"--replay", "f", "--record", "g"}, "--record:"},
        Bad{"PartialAlone", {"--partial"}, "--partial: only with --replay"},
        Bad{"RecordEmpty",
            {"--record", ""},
            "--record: the file has no name (--help"},
        Bad{"DesyncEmpty",
            {"--listen", "--desync", ""},
            "--desync: the file has no name (--help"},
        Bad{"DesyncIsRecord",
            {"--record", "a", "--desync", "a"},
            "--desync: the file is that of --record"},
        Bad{"ReplayEmpty", {"--replay="}, "--replay"},
        Bad{"ListenPort", {"--listen", "65536"}, "--listen: 65536 is not"},
        Bad{"ListenWord", {"--listen", "friends"}, "--listen: friends is not"},
        Bad{"ListenReplay", {"--listen", "--replay", "f"}, "--listen: not"},
        Bad{"ListenShortCode",
            {"--listen", "--invite", "ABCDEFGHJ"},
            "--invite: a code has 10 to 64"},
        Bad{"ListenLongCode",
            {"--listen", "--invite",
             "ABCDEFGHJKABCDEFGHJKABCDEFGHJKABCDEFGHJKABCDEFGHJKABCDEFGHJKABCD"
             "E"},
            "--invite: a code has 10 to 64"},
        Bad{"ListenOddCode",
            {"--listen", "--invite", "ABCDEFGHJK,LM"},
            "--invite: a code has"},
        Bad{"JoinListen", {"--join", kRoom, "--listen"}, "--listen: not with"},
        Bad{"JoinPlayers",
            {"--join", kRoom, "--players", "4"},
            "--players: not with --join, where the listener says"},
        Bad{"JoinLevel", {"--join", kRoom, "--level", "easy"}, "--level: not"},
        Bad{"JoinSize", {"--join", kRoom, "--size", "38x20"}, "--size: not"},
        Bad{"JoinSeed", {"--join", kRoom, "--seed", "1"}, "--seed: not with"},
        Bad{"JoinHold", {"--join", kRoom, "--hold", "1"}, "--hold: not with"},
        Bad{"JoinReplay", {"--join", kRoom, "--replay", "f"}, "--join: not"},
        Bad{"JoinWait",
            {"--headless", "--join", kRoom, "--wait", "2"},
            "--wait: not with"},
        Bad{"JoinNoCode",
            {"--join", kRoom, "--invite", " "},
            "--invite: the code is empty"},
        Bad{"JoinNoUrl", {"--join", "192.0.2.7:7777"}, "--join: not the addre"},
        Bad{"JoinNoPlayers",
            {"--join", "ws://h:1/room/0"},
            "--join: not the address of a room"},
        Bad{"JoinNoRoom",
            {"--join", "ws://h:1/room/?players=4"},
            "--join: behind /room/"},
        Bad{"JoinRoomTooHigh",
            {"--join", "ws://h:1/room/65536?players=4"},
            "--join: behind /room/"},
        Bad{"JoinPlayersOfOne",
            {"--join", "ws://h:1/room/0?players=1"},
            "--join: behind ?players= comes a number from 2 to 8"},
        Bad{"JoinPlayersNine",
            {"--join", "ws://h:1/room/0?players=9"},
            "--join: behind ?players="},
        Bad{"JoinMore",
            {"--join", "ws://h:1/room/0?players=4&invite=x"},
            "and nothing more"},
        Bad{"InviteAlone", {"--invite", "ABCDEFGHJK"}, "--invite: only with"},
        Bad{"PassAlone", {"--pass", "AQID"}, "--pass: only with --join"},
        Bad{"PassListen",
            {"--listen", "--pass", "AQID"},
            "--pass: only with --join"},
        Bad{"PassInvite",
            {"--join", kRoom, "--pass", "AQID", "--invite", "ABCDEFGHJK"},
            "--invite: not with --pass"},
        Bad{"PassEmpty", {"--join", kRoom, "--pass", " "}, "--pass: the pass"},
        Bad{"PassTwoWords",
            {"--join", kRoom, "--pass", "AQ ID"},
            "--pass: a pass is one word"},
        Bad{"PassNewline",
            {"--join", kRoom, "--pass", "AQ\r\nID"},
            "--pass: a pass is one word"},
        Bad{"PassNoFile",
            {"--join", kRoom, "--pass", "@/no/such/file"},
            "--pass: /no/such/file: cannot read it: No such file"},
        Bad{"InviteNoFile",
            {"--join", kRoom, "--invite", "@/no/such/file"},
            "--invite: /no/such/file: cannot read it: No such file"},
        Bad{"InviteDirectory",
            {"--listen", "--invite", "@/"},
            "--invite: /: is no file"},
        Bad{"InviteFileWithoutName",
            {"--listen", "--invite", "@"},
            "--invite: "},
        Bad{"WaitAlone", {"--headless", "--wait", "2"}, "--wait: only with"},
        Bad{"WaitInTerminal",
            {"--listen", "--wait", "2"},
            "--wait: only with --headless"},
        Bad{"WaitTooMany",
            {"--headless", "--listen", "--players", "3", "--wait", "4"},
            "--wait: 4 is not a number from 1 to 3"},
        Bad{"HoldAlone", {"--hold", "2"}, "--hold: only with --listen"},
        Bad{"HoldTooLong", {"--listen", "--hold", "121"}, "--hold: 121"},
        Bad{"ListenNoTerminal", {"--listen"}, "--headless", false},
        Bad{"NoTerminal",
            {"--seed", "5"},
            "not a terminal: add --headless",
            false},
        Bad{"ReplayNoTerminal", {"--replay", "f"}, "--headless", false}),
    [](const auto& row) { return row.param.name; });

}  // namespace
}  // namespace parlor::solo
