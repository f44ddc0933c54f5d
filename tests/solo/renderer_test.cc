#include "terminal/renderer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "options.h"
#include "terminal/canvas.h"
#include "terminal/layout.h"
#include "terminal/texts.h"

namespace parlor::solo {
namespace {

using cycles::Cause;
using cycles::Cell;
using cycles::Phase;
using ::testing::HasSubstr;
using ::testing::Not;

// A small arena, set up by hand, so that no change of the rules changes a
// picture: you, Ada and Bix; Bix has just crashed into your trail.
cycles::State Scene20x6() {
  cycles::State state;
  state.seed = 7;
  state.players = 3;
  state.width = 20;
  state.height = 6;
  state.round = 2;
  state.phase = Phase::kRunning;
  state.frame = 500;
  state.phase_frame = 200;
  const auto put = [&state](int x, int y, Cell cell) {
    state.cells[static_cast<std::size_t>(y * 20 + x)] = cell;
  };
  const auto trail = [](int seat) { return static_cast<Cell>(1 + seat); };
  for (int x = 2; x <= 5; ++x) put(x, 1, trail(0));
  for (int y = 2; y <= 4; ++y) put(9, y, trail(1));
  put(4, 3, trail(2));
  put(4, 2, trail(2));
  put(0, 5, Cell::kObstacle);
  put(7, 0, Cell::kCharge);
  put(19, 5, Cell::kEraser);
  state.cycles[0] = {.score = 3, .x = 5, .y = 1, .alive = 1, .charges = 2};
  state.cycles[0].heading = cycles::Heading::kRight;
  state.cycles[1] = {.score = 12, .x = 9, .y = 2, .alive = 1};
  state.cycles[2] = {.died_frame = 490,
                     .score = 1,
                     .x = 4,
                     .y = 2,
                     .cause = Cause::kTrail,
                     .by = 1};
  return state;
}

std::string Picture(const View& view, int width, int height) {
  Canvas canvas(width, height);
  Draw(view, canvas);
  return "\n" + canvas.Dump();
}

TEST(Renderer, Running) {
  const cycles::State state = Scene20x6();
  EXPECT_EQ(Picture({.state = &state}, 48, 10), R"(
   ██You 3       ▓▓Ada 12      ▒▒Bix out 1
   ┌─ Round 2 of 5  speed 386 ──────────────┐
   │              ++                        │
   │    ██████▶1                            │
   │        ╳╳        ▲2                    │
   │        ▒▒        ▓▓                    │
   │                  ▓▓                    │
   │▟▙                                    ()│
   └─ boost ▮▮▯▯ ─ Bix hit your trail ──────┘
  arrows  space boost  P pause  ? help  Q quit
)");
}

TEST(Renderer, AsciiHasNothingElse) {
  const cycles::State state = Scene20x6();
  const View view{.state = &state, .abilities = {.utf8 = false}};
  EXPECT_EQ(Picture(view, 48, 10), R"(
   ##You 3       %%Ada 12      ==Bix out 1
   +- Round 2 of 5  speed 386 --------------+
   |              ++                        |
   |    ######>1                            |
   |        XX        ^2                    |
   |        ==        %%                    |
   |                  %%                    |
   |[]                                    ()|
   +- boost **.. - Bix hit your trail ------+
  arrows  space boost  P pause  ? help  Q quit
)");
  Canvas canvas(48, 10);
  Draw(view, canvas);
  for (int y = 0; y < 10; ++y) {
    for (int x = 0; x < 48; ++x) {
      EXPECT_LT(static_cast<std::uint32_t>(canvas.At(x, y).character), 0x7fu);
    }
  }
}

TEST(Renderer, HalfCellsWhenTheWindowIsLow) {
  const cycles::State state = Scene20x6();
  EXPECT_EQ(Picture({.state = &state}, 48, 7), R"(
   ██You 3       ██Ada 12      ██Bix out 1
             ┌─ Round 2 of 5 ─────┐
             │  ▄▄▄▄ ▀            │
             │    ▀    ▀          │
             │▄        ▀         ▄│
             └─ boost ▮▮▯▯ ─ Bix ─┘
  arrows  space boost  P pause  ? help  Q quit
)");
}

TEST(Renderer, CountdownShowsWhoIsWho) {
  cycles::State state = Scene20x6();
  state.phase = Phase::kCountdown;
  state.phase_frame = 0;
  state.cells = {};
  state.cycles[2].cause = Cause::kNone;
  EXPECT_EQ(Picture({.state = &state}, 48, 10), R"(
   ██You 3       ▓▓Ada 12      ▒▒Bix 1
   ┌─ Round 2 of 5 ─────────────────────────┐
   │                                        │
   │          ▶1 You ██████                 │
   │        ▲3 Bix    ▲2 Ada                │
   │                 ██████                 │
   │                     ██                 │
   │                 ██████                 │
   └─ boost ▮▮▯▯ ───────────────────────────┘
  arrows  space boost  P pause  ? help  Q quit
)");
}

TEST(Renderer, RoundOverSaysWhoDiedAndWhy) {
  cycles::State state = Scene20x6();
  state.phase = Phase::kRoundOver;
  state.phase_frame = 1;
  state.winner = 0;
  state.cycles[0].round_score = 3;
  state.cycles[1].alive = 0;
  state.cycles[1].cause = Cause::kHeadOn;
  state.cycles[1].by = 5;
  EXPECT_EQ(Picture({.state = &state}, 60, 12), R"(

    ┌───────────────────────────────────────────────────┐
    │ You win the round                                 │
    │                                                   │
    │    player  score  round   out                     │
    │ ▓▓ 2 Ada      12     +0   met you and Bix head-on │
    │ ██ 1 You       3     +3   still in                │
    │ ▒▒ 3 Bix       1     +0   hit your trail          │
    │                                                   │
    │ Space goes on, or wait 3                          │
    └───────────────────────────────────────────────────┘
     arrows steer  space boost  P pause  ? help  Q quit
)");
}

TEST(Renderer, FinalTable) {
  cycles::State state = Scene20x6();
  state.phase = Phase::kMatchOver;
  state.cycles[1].wins = 4;
  state.cycles[1].kills = 5;
  EXPECT_EQ(Picture({.state = &state}, 60, 14), R"(


        ┌───────────────────────────────────────────┐
        │ Ada wins the match                        │
        │                                           │
        │    player  score  rounds  crashed into it │
        │ ▓▓ 2 Ada      12       4        5         │
        │ ██ 1 You       3       0        0         │
        │ ▒▒ 3 Bix       1       0        0         │
        │                                           │
        │ level normal   size 20x6   seed 7         │
        │ Space plays another match   Q quits       │
        └───────────────────────────────────────────┘
     arrows steer  space boost  P pause  ? help  Q quit
)");
}

TEST(Renderer, WideWindowHasThePanel) {
  const cycles::State state = Scene20x6();
  EXPECT_EQ(Picture({.state = &state}, 80, 18), R"(




                   ██You 3       ▓▓Ada 12      ▒▒Bix out 1
┌─ Round 2 of 5  speed 386 ──────────────┐
│              ++                        │  C Y C L E S
│    ██████▶1                            │
│        ╳╳        ▲2                    │  ▓▓ 2 Ada    12  +0
│        ▒▒        ▓▓                    │  ██ 1 You     3  +0
│                  ▓▓                    │  ▒▒ 3 Bix     1  +0
│▟▙                                    ()│
└─ boost ▮▮▯▯ ─ Bix hit your trail ──────┘




  arrows/WASD/hjkl steer   space boost   P pause   R restart   ? help   Q quit
)");
}

TEST(Renderer, TooSmallSaysWhatIsNeededInAnyWindow) {
  const cycles::State state = Scene20x6();
  const View view{.state = &state};
  EXPECT_FALSE(HasRoom(view, 47, 7));
  EXPECT_FALSE(HasRoom(view, 48, 6));
  EXPECT_TRUE(HasRoom(view, 48, 7));
  EXPECT_THAT(Picture(view, 40, 5), HasSubstr("needs 48x7, has 40x5"));
  // Any size draws, and inside its lines.
  for (int width = 0; width < 60; ++width) {
    for (int height = 0; height < 12; ++height) Picture(view, width, height);
  }
}

TEST(Renderer, WithoutColoursCellsStayWide) {
  const cycles::State state = Scene20x6();
  const View view{.state = &state, .abilities = {.colours = false}};
  EXPECT_FALSE(HasRoom(view, 48, 9));
  EXPECT_TRUE(HasRoom(view, 48, 10));
}

TEST(Renderer, ThePlayersPatternsAllDiffer) {
  for (const bool utf8 : {true, false}) {
    cycles::State state = Scene20x6();
    state.players = 8;
    Canvas canvas(120, 10);
    Draw({.state = &state, .abilities = {.utf8 = utf8}}, canvas);
    std::vector<char32_t> seen;
    for (int s = 0; s < 8; ++s) {
      seen.push_back(canvas.At(4 + 14 * s, 0).character);
    }
    std::sort(seen.begin(), seen.end());
    EXPECT_EQ(std::unique(seen.begin(), seen.end()), seen.end());
  }
}

TEST(Renderer, OverlaysAndWarnings) {
  const cycles::State state = Scene20x6();
  View view{.state = &state, .overlay = Overlay::kPaused};
  EXPECT_THAT(Picture(view, 80, 24), HasSubstr("seed 7"));
  view.overlay = Overlay::kHelp;
  EXPECT_THAT(Picture(view, 80, 24), HasSubstr("How to play"));
  view.overlay = Overlay::kAskQuit;
  EXPECT_THAT(Picture(view, 80, 24), HasSubstr("Q again quits"));
  view.overlay = Overlay::kAskRestart;
  EXPECT_THAT(Picture(view, 80, 24), HasSubstr("R again starts it"));
  view.warning = "Recording stopped";
  EXPECT_THAT(Picture(view, 80, 24), HasSubstr("Recording stopped"));
}

TEST(Renderer, Replays) {
  const cycles::State state = Scene20x6();
  View view{.state = &state,
            .own_seat = -1,
            .replay = ReplayView{.frame = 5, .frames = 90, .speed = "x2"}};
  EXPECT_THAT(Picture(view, 80, 24), HasSubstr("Replay 5/90 x2"));
  EXPECT_THAT(Picture(view, 80, 24), Not(HasSubstr("You")));
  EXPECT_THAT(Picture(view, 80, 24), HasSubstr("Bix hit P1's trail"));
  view.replay->at_end = true;
  EXPECT_THAT(Picture(view, 80, 24), HasSubstr("every hash of 90 frames"));
}

View Hosting() {
  return {.lobby = LobbyView{
              .connected = true,
              .own_seat = 0,
              .seated = 2,
              .size = 4,
              .game = {.players = 4, .size = 2},
              .invitation = Invitation{
                  .urls = {"ws://192.168.100.200:7777/room/0?players=4",
                           "ws://127.0.0.1:7777/room/0?players=4"},
                  .code = "ABCDEFGHJKLM"}}};
}

TEST(Lobby, OfTheHostInTheNarrowestWindow) {
  EXPECT_EQ(Picture(Hosting(), 48, 14), R"(
 C Y C L E S with friends

 ▮▮▯▯ 2 of 4 places taken
 level normal   size 38x20
 Enter starts; bots take the empty places

 Friends join with
 parlor-solo --join \
 'ws://192.168.100.200:7777/room/0?players=4' \
 --invite ABCDEFGHJKLM

 invite code ABCDEFGHJKLM
 or at ws://127.0.0.1:7777/room/0?players=4
             Enter starts   Q quits
)");
  View view = Hosting();
  view.abilities = {.utf8 = false, .colours = false};
  EXPECT_EQ(Picture(view, 48, 14), R"(
 C Y C L E S with friends

 **.. 2 of 4 places taken
 level normal   size 38x20
 Enter starts; bots take the empty places

 Friends join with
 parlor-solo --join \
 'ws://192.168.100.200:7777/room/0?players=4' \
 --invite ABCDEFGHJKLM

 invite code ABCDEFGHJKLM
 or at ws://127.0.0.1:7777/room/0?players=4
             Enter starts   Q quits
)");
}

TEST(Lobby, TheJoinLineIsOneRowWhereThereIsRoom) {
  EXPECT_EQ(Picture(Hosting(), 100, 16), R"(


       C Y C L E S with friends

       ▮▮▯▯ 2 of 4 places taken
       level normal   size 38x20
       Enter starts; bots take the empty places

       Friends join with
       parlor-solo --join 'ws://192.168.100.200:7777/room/0?players=4' --invite ABCDEFGHJKLM

       invite code ABCDEFGHJKLM
       or at ws://127.0.0.1:7777/room/0?players=4


                                       Enter starts   Q quits
)");
}

TEST(Lobby, OfOneWhoJoined) {
  View view{.lobby =
                LobbyView{.joined = "ws://10.0.0.7:7777/room/0?players=4"}};
  EXPECT_EQ(Picture(view, 48, 10), R"(


      C Y C L E S with friends

      Calling the host at
      ws://10.0.0.7:7777/room/0?players=4



                   Q gives up
)");
  view.lobby->connected = true;
  view.lobby->own_seat = 1;
  view.lobby->seated = 2;
  view.lobby->size = 4;
  EXPECT_EQ(Picture(view, 48, 10), R"(

     C Y C L E S with friends

     Connected to
     ws://10.0.0.7:7777/room/0?players=4

     ▮▮▯▯ 2 of 4 places taken
     Waiting for the first player to start

                    Q quits
)");
  view.lobby->own_seat = 0;  // of a dedicated host's room
  EXPECT_THAT(Picture(view, 48, 10), HasSubstr("Enter starts   Q quits"));
}

TEST(Lobby, AsksAndLeaves) {
  View view = Hosting();
  view.overlay = Overlay::kAskQuit;
  EXPECT_THAT(Picture(view, 48, 14), HasSubstr("Q again quits"));
  view.leaving = true;
  EXPECT_THAT(Picture(view, 48, 14), HasSubstr("Leaving"));
  view = Hosting();
  view.lobby->over_solo = true;
  EXPECT_THAT(Picture(view, 48, 14), HasSubstr("Q back to your game"));
}

TEST(Lobby, AnyWindowDraws) {
  for (int width = 0; width < 60; ++width) {
    for (int height = 0; height < 16; ++height) {
      EXPECT_TRUE(HasRoom(Hosting(), width, height));
      Picture(Hosting(), width, height);
    }
  }
}

TEST(JoinCommand, IsOneCommandToAShellInAnyWidth) {
  const std::string url = "ws://192.168.1.20:7777/room/0?players=4";
  const std::string whole = "parlor-solo --join '" + url + "' --invite CODE";
  for (int width = 0; width < 100; ++width) {
    std::string joined;
    for (const std::string& row : JoinCommand(url, "CODE", width)) {
      EXPECT_LE(row.size(), static_cast<std::size_t>(std::max(width, 43)));
      joined += row;
      if (joined.ends_with('\\')) joined.pop_back();
    }
    EXPECT_EQ(joined, whole);
  }
}

TEST(Wrapped, CutsAtSpaces) {
  using Rows = std::vector<std::string>;
  EXPECT_EQ(Wrapped("the host left", 20), Rows{"the host left"});
  EXPECT_EQ(Wrapped("the host left", 9), (Rows{"the host", "left"}));
  EXPECT_EQ(Wrapped("the host left", 8), (Rows{"the host", "left"}));
  EXPECT_EQ(Wrapped("thehostleft", 4), (Rows{"theh", "ostl", "eft"}));
  EXPECT_EQ(Wrapped("", 4), Rows{""});
}

TEST(Net, StatusIsInTheLastRow) {
  const cycles::State state = Scene20x6();
  View view{.state = &state, .net = NetView{.players = 3}};
  EXPECT_THAT(Picture(view, 48, 10),
              HasSubstr("arrows  space boost  P menu  ? help  Q quit"));
  view.net->left = 4;
  EXPECT_THAT(Picture(view, 48, 10), HasSubstr("Bix left, a bot plays on"));
  view.net->away = 2;
  EXPECT_THAT(Picture(view, 48, 10), HasSubstr("Ada is reconnecting"));
  view.net->away = 6;
  EXPECT_THAT(Picture(view, 48, 10), HasSubstr("Ada and Bix are reconnecting"));
  view.leaving = true;
  EXPECT_THAT(Picture(view, 48, 10), HasSubstr("Leaving"));
}

TEST(Net, TheScoresSayWhoIsABot) {
  cycles::State state = Scene20x6();
  state.players = 5;
  state.cycles[2].cause = Cause::kNone;
  View view{.state = &state,
            .net = NetView{.players = 4, .away = 2, .bots = 4}};
  EXPECT_THAT(Picture(view, 72, 10),
              HasSubstr(" ██You 3       ▓▓Ada away 12 ▒▒Bix bot 1   ░░Cleo 0 "
                        "     ▚▚Dax bot 0\n"));
  view.net.reset();
  EXPECT_THAT(Picture(view, 72, 10), Not(HasSubstr("bot")));
}

TEST(Net, ThePanelSaysWhoPlays) {
  cycles::State state = Scene20x6();
  state.players = 4;
  state.height = 20;
  state.cycles[2].cause = Cause::kNone;
  const View view{.state = &state,
                  .net = NetView{.players = 3, .away = 2, .bots = 4}};
  const std::string picture = Picture(view, 80, 30);
  EXPECT_THAT(picture, HasSubstr("reconnecting"));
  EXPECT_THAT(picture, HasSubstr("left, now a hunter"));
  EXPECT_THAT(picture, HasSubstr("  hunter"));
}

TEST(Net, WhatTheMatchStandsStillFor) {
  const cycles::State state = Scene20x6();
  View view{.state = &state, .net = NetView{.players = 3, .waiting = 4}};
  EXPECT_EQ(Picture(view, 48, 10), R"(
   ██You 3       ▓▓Ada 12      ▒▒Bix out 1
   ┌─ Rou┌─────────────────────────────┐────┐
   │     │ Waiting for Bix             │    │
   │    █│                             │    │
   │     │ nothing is heard from there │    │
   │     │                             │    │
   │     │ Q quits                     │    │
   │▟▙   └─────────────────────────────┘  ()│
   └─ boost ▮▮▯▯ ─ Bix hit your trail ──────┘
  arrows  space boost  P menu  ? help  Q quit
)");
  view.net->away = 4;
  EXPECT_EQ(Picture(view, 48, 10), R"(
   ██You 3       ▓▓Ada 12      ▒▒Bix out 1
   ┌┌──────────────────────────────────────┐┐
   ││ Waiting for Bix                      ││
   ││                                      ││
   ││ reconnecting; if not, a bot plays on ││
   ││                                      ││
   ││ Q quits                              ││
   │└──────────────────────────────────────┘│
   └─ boost ▮▮▯▯ ─ Bix hit your trail ──────┘
              Bix is reconnecting
)");
  view.net->retry = RetryView{.number = 2, .most = 6, .seconds_left = 12};
  EXPECT_EQ(Picture(view, 48, 10), R"(
   ██You 3       ▓▓Ada 12      ▒▒Bix out 1
   ┌─ Roun┌──────────────────────────┐──────┐
   │      │ The connection is lost   │      │
   │    ██│                          │      │
   │      │ reconnecting, try 2 of 6 │      │
   │      │ 12 s left                │      │
   │      │                          │      │
   │▟▙    │ Q quits                  │    ()│
   └─ boos└──────────────────────────┘──────┘
              Bix is reconnecting
)");
  view.net->end = "the connection was lost and did not come back";
  EXPECT_EQ(Picture(view, 48, 10), R"(
   ██You 3       ▓▓Ada 12      ▒▒Bix out 1
  ┌──────────────────────────────────────────┐
  │ The match ended                          │
  │                                          │
  │ the connection was lost and did not come │
  │ back                                     │
  │                                          │
  │ Q quits                                  │
  └──────────────────────────────────────────┘
                    Q quits
)");
}

TEST(Net, TheMenuDoesNotSayPaused) {
  const cycles::State state = Scene20x6();
  View view{.state = &state,
            .overlay = Overlay::kPaused,
            .net = NetView{.players = 2, .listening = true}};
  EXPECT_THAT(Picture(view, 80, 24), HasSubstr("The match goes on"));
  EXPECT_THAT(Picture(view, 80, 24), Not(HasSubstr("Paused")));
  EXPECT_THAT(Picture(view, 80, 24), Not(HasSubstr("R restarts")));
  view.overlay = Overlay::kHelp;
  EXPECT_THAT(Picture(view, 80, 24), Not(HasSubstr("a new match")));
  view.overlay = Overlay::kAskQuit;
  EXPECT_THAT(Picture(view, 80, 24), HasSubstr("ends for your friends too"));
  EXPECT_THAT(Picture(view, 40, 5), HasSubstr("Q again quits"));
  view.net->listening = false;
  EXPECT_THAT(Picture(view, 80, 24), HasSubstr("a bot plays on for you"));
  view.overlay = Overlay::kNone;
  EXPECT_THAT(Picture(view, 48, 5), HasSubstr("The match goes on."));
}

struct Death {
  std::string name;
  Cause cause;
  std::uint8_t by;
  int seat;
  std::string text;
};

class DeathTexts : public ::testing::TestWithParam<Death> {};

TEST_P(DeathTexts, Says) {
  cycles::State state = Scene20x6();
  auto& cycle = state.cycles[static_cast<std::size_t>(GetParam().seat)];
  cycle.cause = GetParam().cause;
  cycle.by = GetParam().by;
  EXPECT_EQ(DeathText(state, GetParam().seat, 0), GetParam().text);
}

INSTANTIATE_TEST_SUITE_P(
    Causes, DeathTexts,
    ::testing::Values(
        Death{"Alive", Cause::kNone, 0, 0, ""},
        Death{"Wall", Cause::kWall, 0, 1, "hit the wall"},
        Death{"Obstacle", Cause::kObstacle, 0, 1, "hit an obstacle"},
        Death{"MyOwn", Cause::kOwnTrail, 0, 0, "hit your own trail"},
        Death{"HerOwn", Cause::kOwnTrail, 0, 1, "hit their own trail"},
        Death{"Mine", Cause::kTrail, 1, 1, "hit your trail"},
        Death{"Hers", Cause::kTrail, 2, 0, "hit Ada's trail"},
        Death{"HeadOn", Cause::kHeadOn, 6, 0, "met Ada and Bix head-on"},
        Death{"HeadOnMany", Cause::kHeadOn, 14, 0,
              "met Ada, Bix and Cleo head-on"},
        Death{"HeadOnMe", Cause::kHeadOn, 1, 1, "met you head-on"},
        Death{"HeadOnMeAndHim", Cause::kHeadOn, 5, 1,
              "met you and Bix head-on"},
        Death{"Closing", Cause::kClosing, 0, 2, "caught by the closing walls"}),
    [](const auto& row) { return row.param.name; });

struct Window {
  int width;
  int height;
  Abilities abilities;
  std::string size;
};

TEST(Layout, ChoosesAnArenaThatFits) {
  for (const Window& row : {
           Window{80, 24, {}, "38x20"},
           Window{120, 40, {}, "32x32"},
           Window{200, 60, {}, "60x30"},
           Window{60, 20, {}, "56x28"},
           Window{60, 20, {.utf8 = false}, "32x16"},  // the smallest: says so
           Window{10, 4, {}, "32x16"},
       }) {
    const int size = ChooseSize({row.width, row.height}, row.abilities);
    EXPECT_EQ(SizeName(size), row.size) << row.width << "x" << row.height;
  }
}

}  // namespace
}  // namespace parlor::solo
