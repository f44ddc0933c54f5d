// Players of an authority room in a world: what happens to their links, their
// machines and their host, and what they see then.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <ostream>
#include <string>
#include <tuple>
#include <vector>

#include "absl/status/status.h"
#include "authority/tag.h"
#include "parlor/authority/input.h"
#include "parlor/authority/message.h"
#include "parlor/authority/peer.h"
#include "parlor/authority/room.h"
#include "parlor/close_reason.h"
#include "parlor/connection.h"
#include "parlor/connector.h"
#include "parlor/lockstep/peer.h"
#include "parlor/sim/network.h"
#include "parlor/sim/player.h"
#include "parlor/sim/world.h"
#include "parlor/status.h"
#include "parlor/time.h"
#include "sim/party.h"
#include "sim/tag_party.h"
#include "support/toy_game.h"

namespace parlor::sim {
namespace {

using authority::ErrorCode;
using authority::PeerEnd;
using authority::PeerState;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::Values;

constexpr Duration kMs = kMillisecond;

class AuthorityWorldTest : public testing::TestWithParam<Via> {
 protected:
  void Seat(int players) { party_.Seat(players, {.via = GetParam()}); }
  Player& Add() { return party_.Add({.via = GetParam()}); }

  // Nobody runs: after a while all see what the room has now.
  void ExpectAllSeeTheNewest() {
    for (std::size_t i = 0; i < party_.world.players(); ++i) {
      party_.world.player(i).SetControls({});
    }
    party_.world.RunFor(kSecond);
    party_.ExpectAllSeeTheRoom();
    for (std::size_t i = 0; i < party_.world.players(); ++i) {
      const authority::Peer& peer = party_.world.player(i).peer();
      if (peer.state() != PeerState::kPlaying) continue;
      EXPECT_EQ(PlacesIn(peer.rows()), PlacesIn(party_.room()->rows())) << i;
    }
  }

  TagParty party_;
};

INSTANTIATE_TEST_SUITE_P(Vias, AuthorityWorldTest,
                         Values(Via::kMessages, Via::kWebSocket, Via::kTcp),
                         [](const auto& via) { return ViaName(via.param); });

// ---- All goes well

TEST_P(AuthorityWorldTest, PlayersSeeEachOtherAsTheAuthorityHasThem) {
  ASSERT_NO_FATAL_FAILURE(Seat(2));
  EXPECT_EQ(party_.host.players(), 2u);
  EXPECT_EQ(party_.host.connections(), 2u);
  // The first delta may overtake the welcome, on a lane of its own.
  EXPECT_LE(party_.peer(1).counters().ignored, 1u);
  const std::uint64_t ignored = party_.peer(1).counters().ignored;
  party_.player(0).SetControls(kRun);
  for (int i = 0; i < 40; ++i) {
    party_.world.RunFor(100 * kMs);
    party_.ExpectAllSeeTheRoom();
  }
  const authority::RowId runner = party_.peer(0).entity();
  const TagPlaces seen = PlacesIn(party_.peer(1).rows());
  ASSERT_TRUE(seen.contains(runner));
  EXPECT_GT(seen.at(runner), 20);
  EXPECT_EQ(seen.at(party_.peer(1).entity()), 0);
  EXPECT_NE(party_.peer(1).Drawn(runner), std::nullopt);
  EXPECT_EQ(party_.peer(1).counters().ignored, ignored);
  EXPECT_EQ(party_.room()->counters().ignored, 0u);
  ExpectAllSeeTheNewest();
}

TEST_P(AuthorityWorldTest, WhatIsSaidIsThereBeforeTheNextStep) {
  ASSERT_NO_FATAL_FAILURE(Seat(2));
  std::vector<std::string> heard;
  Player& listener = party_.player(1);
  listener.SetOnStep([&] {
    for (const authority::ReceivedMessage& said : listener.peer().messages()) {
      heard.emplace_back(said.payload);
    }
  });
  for (const char* word : {"1", "2", "3"}) {
    EXPECT_TRUE(party_.peer(0).Send("say", word));
    // Several steps are made up for in the turn that hears of it.
    listener.Stall(300 * kMs);
    party_.world.RunFor(500 * kMs);
  }
  EXPECT_THAT(heard, ElementsAre("1", "2", "3"));
}

TEST_P(AuthorityWorldTest, WhoLeavesIsGoneAtOnce) {
  ASSERT_NO_FATAL_FAILURE(Seat(2));
  party_.player(0).Leave();
  party_.world.RunFor(300 * kMs);
  EXPECT_EQ(party_.peer(0).end(), PeerEnd::kLeft);
  EXPECT_TRUE(party_.peer(0).closed());
  EXPECT_EQ(party_.host.players(), 1u);
  EXPECT_EQ(party_.room()->held(), 0);
  EXPECT_EQ(party_.peer(1).rows().size(), 1u);
}

// ---- Links and machines

TEST_P(AuthorityWorldTest, ACutOfASecondIsCaughtUpWith) {
  ASSERT_NO_FATAL_FAILURE(Seat(2));
  party_.player(0).SetControls(kRun);
  party_.world.RunFor(kSecond);
  party_.player(1).Cut();
  party_.world.RunFor(kSecond);
  EXPECT_EQ(party_.peer(1).state(), PeerState::kPlaying);
  EXPECT_GT(party_.room()->tick(), party_.peer(1).tick() + 50);
  party_.ExpectHealed();
  party_.world.RunFor(kSecond);
  party_.ExpectAllSeeTheRoom();
  EXPECT_EQ(party_.peer(1).counters().resumes, 0u);
  ExpectAllSeeTheNewest();
}

TEST_P(AuthorityWorldTest, AResetComesBackToItsSeatByItsToken) {
  ASSERT_NO_FATAL_FAILURE(Seat(3));
  const authority::WelcomeFrame before = *party_.peer(1).welcome();
  const authority::RowId runner = party_.peer(1).entity();
  for (std::uint64_t resumes = 1; resumes <= 3; ++resumes) {
    party_.player(1).Reset();
    party_.world.RunFor(100 * kMs);
    EXPECT_EQ(party_.peer(1).state(), PeerState::kReconnecting);
    EXPECT_EQ(party_.room()->held(), 1);
    party_.ExpectHealed();
    EXPECT_EQ(party_.peer(1).counters().resumes, resumes);
    EXPECT_EQ(party_.peer(1).welcome()->player, before.player);
    EXPECT_EQ(party_.peer(1).seat(), before.seat);
    EXPECT_EQ(party_.peer(1).entity(), runner);
    EXPECT_EQ(party_.room()->held(), 0);
    ExpectAllSeeTheNewest();
  }
  EXPECT_EQ(party_.room()->counters().resumes_refused, 0u);
}

// The host has not noticed when the player comes back: its old connection goes.
TEST_P(AuthorityWorldTest, ALinkThatIsSilentForTwoSecondsIsDead) {
  ASSERT_NO_FATAL_FAILURE(Seat(2));
  party_.player(1).Cut(Direction::kDown);
  party_.world.RunFor(1'900 * kMs);
  EXPECT_EQ(party_.peer(1).state(), PeerState::kPlaying);
  party_.world.RunFor(400 * kMs);
  EXPECT_EQ(party_.peer(1).state(), PeerState::kReconnecting);
  EXPECT_EQ(party_.peer(1).counters().dead_links, 1u);
  party_.ExpectHealed();
  EXPECT_EQ(party_.peer(1).counters().resumes, 1u);
  EXPECT_EQ(party_.peer(1).seat(), 1);
  ExpectAllSeeTheNewest();
}

TEST_P(AuthorityWorldTest, WhoStandsStillForAWhileKeepsItsLink) {
  ASSERT_NO_FATAL_FAILURE(Seat(2));
  party_.player(0).SetControls(kRun);
  party_.player(1).Stall(3 * kSecond);
  const std::uint32_t tick = party_.peer(1).tick();
  party_.world.RunFor(2'900 * kMs);
  EXPECT_EQ(party_.peer(1).tick(), tick);
  party_.world.RunFor(kSecond);
  EXPECT_EQ(party_.peer(1).counters().resumes, 0u);
  EXPECT_EQ(party_.peer(1).counters().dead_links, 0u);
  party_.ExpectAllSeeTheRoom();
  ExpectAllSeeTheNewest();
}

TEST_P(AuthorityWorldTest, WhoStandsStillForLongIsPutOutAndComesBack) {
  ASSERT_NO_FATAL_FAILURE(Seat(2));
  party_.player(1).Stall(8 * kSecond);
  party_.world.RunFor(7'900 * kMs);
  EXPECT_EQ(party_.room()->counters().evicted, 1u);
  EXPECT_EQ(party_.room()->held(), 1);
  party_.world.RunFor(kSecond);
  party_.ExpectHealed();
  EXPECT_EQ(party_.peer(1).counters().resumes, 1u);
  EXPECT_EQ(party_.peer(1).seat(), 1);
  ExpectAllSeeTheNewest();
}

TEST_P(AuthorityWorldTest, TheSeatOfACrashedPlayerIsHeldForAWhile) {
  ASSERT_NO_FATAL_FAILURE(Seat(2));
  party_.player(1).Crash();
  party_.world.RunFor(14 * kSecond);
  EXPECT_TRUE(party_.player(1).crashed());
  EXPECT_EQ(party_.room()->held(), 1);
  EXPECT_EQ(party_.peer(0).rows().size(), 2u);
  party_.world.RunFor(2 * kSecond);
  EXPECT_EQ(party_.room()->held(), 0);
  EXPECT_EQ(party_.peer(0).rows().size(), 1u);
}

// ---- Hosts

TEST_P(AuthorityWorldTest, AHostThatIsKilledHasLostItsRooms) {
  for (const Host::Crash how : {Host::Crash::kProcess, Host::Crash::kMachine}) {
    SCOPED_TRACE(static_cast<int>(how));
    TagParty party;
    ASSERT_NO_FATAL_FAILURE(party.Seat(2, {.via = GetParam()}));
    party.host.CrashNow(how);
    EXPECT_EQ(party.room(), nullptr);
    party.world.RunFor(kSecond);
    EXPECT_EQ(party.peer(0).state(), how == Host::Crash::kProcess
                                         ? PeerState::kReconnecting
                                         : PeerState::kPlaying);
    party.host.Start();
    party.world.RunFor(5 * kSecond);
    // The next room is another, and knows no token of this one's.
    for (int i = 0; i < 2; ++i) {
      EXPECT_EQ(party.peer(i).end(), PeerEnd::kRefused);
      EXPECT_EQ(party.peer(i).end_error(), ErrorCode::kResumeRefused);
    }
    Player& again = party.Add({.via = GetParam()});
    party.ExpectHealed();
    EXPECT_EQ(again.peer().seat(), 0);
    EXPECT_EQ(again.peer().welcome()->player, "p1");
    party.ExpectAllSeeTheRoom();
  }
}

TEST_P(AuthorityWorldTest, ADrainEndsTheRoom) {
  ASSERT_NO_FATAL_FAILURE(Seat(2));
  party_.host.Drain();
  party_.world.RunFor(kSecond);
  EXPECT_EQ(party_.peer(0).state(), PeerState::kPlaying) << "rooms go on";
  Player& late = Add();
  party_.world.RunFor(kSecond);
  EXPECT_EQ(late.peer().state(), PeerState::kEnded);
  const absl::Status stopped =
      party_.world.RunUntil([this] { return party_.host.stopped(); });
  EXPECT_TRUE(stopped.ok()) << stopped;
  party_.world.RunFor(kSecond);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(party_.peer(i).end(), PeerEnd::kClosed);
    EXPECT_EQ(party_.peer(i).end_code(), close_code::kRoomEnded);
    EXPECT_EQ(party_.peer(i).end_text(), "the room is over");
  }
  party_.host.Start();
  Add();
  party_.ExpectHealed();
  EXPECT_EQ(party_.room()->players().size(), 1u);
}

TEST_P(AuthorityWorldTest, AStopSaysWhy) {
  ASSERT_NO_FATAL_FAILURE(Seat(1));
  party_.host.Stop(CloseReason::kRoomEnded);
  party_.world.RunFor(kSecond);
  EXPECT_EQ(party_.peer(0).end_code(), close_code::kRoomEnded);
  EXPECT_TRUE(party_.host.stopped());
}

// ---- The room and strangers

TEST_P(AuthorityWorldTest, ARoomWhoseGameFailsEndsForAll) {
  ASSERT_NO_FATAL_FAILURE(Seat(2));
  party_.book.fails = true;
  party_.world.RunFor(kSecond);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(party_.peer(i).end(), PeerEnd::kClosed);
    EXPECT_EQ(party_.peer(i).end_code(), close_code::kRoomEnded);
    EXPECT_EQ(party_.peer(i).last_error(), ErrorCode::kEnded);
  }
  EXPECT_EQ(party_.room(), nullptr);
  EXPECT_EQ(party_.host.connections(), 0u);
  EXPECT_EQ(party_.world.RunUntilHealed().code(),
            absl::StatusCode::kFailedPrecondition);
  Add();
  party_.ExpectHealed();
  EXPECT_EQ(party_.room()->players().size(), 1u);
}

TEST_P(AuthorityWorldTest, TheGateAsksForACodeEachTime) {
  TagParty party({}, {.protocol = "tag-1"},
                 {.gate = {.codes = {"SUMMER-EVENING"}}});
  const auto join = [&](const char* access) -> Player& {
    return party.Invite({.via = GetParam()})
        .Join(party.host, {.access = access, .play = TagParty::kKey},
              {.name = "Ann"});
  };
  Player& guest = join("invite.SUMMER-EVENING");
  Player& stranger = join("invite.WINTER-MORNING");
  party.world.RunFor(kSecond);
  EXPECT_EQ(stranger.peer().end(), PeerEnd::kRefused);
  EXPECT_EQ(stranger.peer().end_refusal(), 403);
  EXPECT_EQ(guest.peer().state(), PeerState::kPlaying);
  guest.Reset();
  party.ExpectHealed();
  EXPECT_EQ(guest.peer().counters().resumes, 1u);
}

TEST_P(AuthorityWorldTest, AFullRoomSaysSo) {
  TagParty party({}, {.protocol = "tag-1", .seats = 2});
  ASSERT_NO_FATAL_FAILURE(party.Seat(2, {.via = GetParam()}));
  Player& late = party.Add({.via = GetParam()});
  party.world.RunFor(kSecond);
  EXPECT_EQ(late.peer().end(), PeerEnd::kRefused);
  EXPECT_EQ(late.peer().end_error(), ErrorCode::kFull);
  // A held seat is taken.
  party.player(0).Crash();
  party.world.RunFor(kSecond);
  Player& later = party.Add({.via = GetParam()});
  party.world.RunFor(kSecond);
  EXPECT_EQ(later.peer().end_error(), ErrorCode::kFull);
}

TEST_P(AuthorityWorldTest, AnotherGameIsToldSo) {
  PlayerOptions options{.via = GetParam()};
  options.peer.protocol = "tag-2";
  Player& player = party_.Add(options);
  party_.world.RunFor(kSecond);
  EXPECT_EQ(player.peer().state(), PeerState::kEnded);
  EXPECT_EQ(player.peer().end_error(), ErrorCode::kProtocol);
}

TEST_P(AuthorityWorldTest, ARoomThatIsNotThereIsNotFound) {
  Player& player = party_.Invite({.via = GetParam()});
  player.Join(party_.host, {.play = "chess"}, {.name = "Ann"});
  party_.world.RunFor(kSecond);
  EXPECT_EQ(player.peer().end_refusal(), 404);
}

// Ways of the test's own into a world's host.
class WayIn final : public Connector {
 public:
  WayIn(TagParty& party, Via via) : party_(party), via_(via) {}

  std::unique_ptr<Connection> Connect(TimePoint /*now*/, const Hello& hello,
                                      ConnectionHandler* handler) override {
    return party_.world.Connect(party_.host, hello, via_, handler);
  }

 private:
  TagParty& party_;
  const Via via_;
};

TEST_P(AuthorityWorldTest, AnotherConnectionWithTheTokenTakesTheSeat) {
  ASSERT_NO_FATAL_FAILURE(Seat(1));
  WayIn way(party_, GetParam());
  test::TagClient first("json");
  test::TagClient second("binary");
  first.Connect(way, party_.world.now(), TagParty::kKey);
  party_.world.RunFor(kSecond);
  ASSERT_TRUE(first.welcome.has_value());
  second.welcome = first.welcome;
  second.Connect(way, party_.world.now(), TagParty::kKey);
  party_.world.RunFor(kSecond);
  EXPECT_EQ(first.close.substr(0, 4), "4001") << first.close;
  EXPECT_FALSE(first.open());
  EXPECT_TRUE(second.open());
  EXPECT_EQ(second.welcome->seat, 1);
  EXPECT_EQ(second.welcome->player, "p2");
  EXPECT_EQ(second.Place(second.welcome->entity), 0.0F);
  EXPECT_EQ(party_.room()->players().size(), 2u);
  EXPECT_EQ(party_.host.connections(), 2u);
  second.Leave();
  party_.world.RunFor(kSecond);
}

// ---- Loops and clocks

TEST(AuthorityLoopTest, RunsAtItsRate) {
  TagParty party;
  std::array<int, 3> steps{};
  const std::array<PlayerOptions, 3> options = {
      PlayerOptions{}, {.rate_hz = 30}, {.clock_ppm = 100'000}};
  for (std::size_t i = 0; i < options.size(); ++i) {
    party.Add(options[i]).SetOnStep([&steps, i] { ++steps[i]; });
  }
  party.world.RunFor(60 * kSecond);
  EXPECT_NEAR(steps[0], 60 * 60, 2);
  EXPECT_NEAR(steps[1], 60 * 30, 2);
  EXPECT_NEAR(steps[2], 60 * 66, 2);
  party.ExpectAllSeeTheRoom();
}

TEST(AuthorityLoopTest, AStepMayCrashItsPlayer) {
  TagParty party;
  ASSERT_NO_FATAL_FAILURE(party.Seat(1));
  Player& player = party.player(0);
  int steps = 0;
  player.SetOnStep([&] {
    if (++steps == 10) player.Crash();
  });
  party.world.Record();
  party.world.RunFor(kSecond);
  EXPECT_EQ(steps, 10);
  EXPECT_EQ(party.room()->held(), 1);
  const std::string text = party.world.TraceText();
  const std::string after = text.substr(text.find("player 0 crashes"));
  const std::string input = "player 0 -> host 0 #1 " +
                            std::to_string(authority::kInputBytes) + " bytes";
  EXPECT_THAT(text, HasSubstr(input));
  EXPECT_THAT(after, Not(HasSubstr(input)));
}

TEST(AuthorityLoopTest, EachHasALinkOfItsOwn) {
  TagParty party({.network = kPerfect});
  const auto add = [&](const Conditions& network) -> Player& {
    return party.world
        .AddPlayer(test::TagSchema(), TagMessages(), network,
                   {.peer = {.protocol = "tag-1"}})
        .Join(party.host, {.play = TagParty::kKey}, {.name = "Ann"});
  };
  Player& far = add({.up = {.latency = 100 * kMs}, .down = {}});
  Player& near = party.Add();
  party.world.RunFor(3 * kSecond);
  ASSERT_TRUE(far.peer().rtt().has_value());
  ASSERT_TRUE(near.peer().rtt().has_value());
  EXPECT_GE(*far.peer().rtt(), 100 * kMs);
  EXPECT_LT(*near.peer().rtt(), 50 * kMs);
}

// ---- Every network

struct Preset {
  const char* name;
  Conditions network;
};

void PrintTo(const Preset& preset, std::ostream* out) { *out << preset.name; }

class AuthorityNetworkTest
    : public testing::TestWithParam<std::tuple<Preset, Via>> {};

TEST_P(AuthorityNetworkTest, AllSeeTheRoom) {
  const auto& [preset, via] = GetParam();
  TagParty party({.network = preset.network});
  ASSERT_NO_FATAL_FAILURE(party.Seat(3, {.via = via}));
  party.player(2).SetControls(kRun);
  for (int i = 0; i < 10; ++i) {
    party.world.RunFor(kSecond);
    party.ExpectAllSeeTheRoom();
  }
  EXPECT_GT(PlacesIn(party.room()->rows()).at(party.peer(2).entity()), 20);
}

INSTANTIATE_TEST_SUITE_P(
    Rows, AuthorityNetworkTest,
    testing::Combine(Values(Preset{"Perfect", kPerfect}, Preset{"Wifi", kWifi},
                            Preset{"Mobile", kMobile}),
                     Values(Via::kMessages, Via::kWebSocket, Via::kTcp)),
    [](const auto& row) {
      return std::get<0>(row.param).name + ViaName(std::get<1>(row.param));
    });

// ---- One seed, one run

std::uint64_t DigestOf(std::uint64_t seed, Via via, std::string* trace) {
  TagBook book;
  World world({.seed = seed, .network = kMobile});
  world.Record();
  Host& host = world.AddHost(
      {.shard = {
           .play_rooms = {{.key = "tag",
                           .make = TagRooms({.protocol = "tag-1"}, book)}}}});
  for (int i = 0; i < 3; ++i) {
    world
        .AddPlayer(test::TagSchema(), TagMessages(),
                   {.via = via, .peer = {.protocol = "tag-1"}})
        .Join(host, {.play = "tag"}, {.name = "Ann"})
        .SetControls(kRun);
  }
  world.RunFor(2 * kSecond);
  world.player(1).Reset();
  world.player(2).Stall(300 * kMs);
  world.RunFor(2 * kSecond);
  world.player(0).Cut();
  host.CrashNow();
  host.Start();
  world.RunFor(4 * kSecond);
  EXPECT_EQ(world.player(1).peer().end_error(), ErrorCode::kResumeRefused);
  *trace = world.TraceText();
  return world.digest();
}

TEST_P(AuthorityWorldTest, OneSeedIsOneRun) {
  std::string first;
  std::string again;
  std::string other;
  EXPECT_EQ(DigestOf(1, GetParam(), &first), DigestOf(1, GetParam(), &again));
  EXPECT_EQ(first, again);
  EXPECT_NE(DigestOf(2, GetParam(), &other), DigestOf(1, GetParam(), &again));
  EXPECT_THAT(first, HasSubstr("player 0 -> host 0"));
  EXPECT_THAT(first, HasSubstr("player 2 stands still"));
}

// ---- What a failure says, and who is waited for

TEST(AuthorityRunUntilTest, SaysWhatEveryoneWaitsFor) {
  TagParty party;
  ASSERT_NO_FATAL_FAILURE(party.Seat(3));
  party.Invite();
  party.player(0).Leave();
  party.player(1).Cut();
  party.player(2).Crash();
  const absl::Status status =
      party.world.RunUntil([] { return false; }, 3 * kSecond);
  const std::string text(StatusText(status));
  EXPECT_THAT(text, HasSubstr("player 0: ended at tick "));
  EXPECT_THAT(text, HasSubstr(": you left\n"));
  EXPECT_THAT(text,
              HasSubstr("player 1: reconnecting, try 1 of 6, seat 1 at "));
  EXPECT_THAT(text, HasSubstr("; its link is cut\n"));
  EXPECT_THAT(text, HasSubstr("player 2: crashed\n"));
  EXPECT_THAT(text, HasSubstr("player 3: has not joined\n"));
  EXPECT_THAT(text, HasSubstr("host 0: 1 rooms, 1 players\n"));
}

TEST(AuthorityRunUntilTest, IsNotHealedWithNobody) {
  TagParty party;
  party.Invite();
  EXPECT_EQ(party.world.RunUntilHealed().code(),
            absl::StatusCode::kFailedPrecondition);
  ASSERT_NO_FATAL_FAILURE(party.Add());
  party.ExpectHealed();
  // Frames are a lockstep client's.
  EXPECT_EQ(party.world.RunUntilFrame(1).code(),
            absl::StatusCode::kFailedPrecondition);
}

// The first of them has seen a new state before it loses its link.
TEST(AuthorityRunUntilTest, IsHealedWhenAllAreAtOnce) {
  TagParty party;
  ASSERT_NO_FATAL_FAILURE(party.Seat(2));
  party.player(1).Stall(300 * kMs);
  party.world.executor().After(150 * kMs, [&] { party.player(0).Reset(); });
  party.ExpectHealed();
  EXPECT_EQ(party.peer(0).counters().resumes, 1u);
  EXPECT_EQ(party.peer(0).state(), PeerState::kPlaying);
}

// A recovery, which a room shows who did not read, is not the state again.
TEST(AuthorityRunUntilTest, IsNotHealedByARecovery) {
  bool shown = false;
  TagParty party;
  ASSERT_NO_FATAL_FAILURE(party.Seat(1));
  Player& player = party.player(0);
  player.SetOnStep([&] { shown |= player.peer().shows_recovery(); });
  player.Stall(2'500 * kMs);
  party.ExpectHealed();
  EXPECT_TRUE(shown);
  EXPECT_FALSE(player.peer().shows_recovery());
}

TEST(AuthorityRunUntilTest, ClientsAndPlayersAreInOneWorld) {
  test::ToyGame game;
  game.word = [](std::uint32_t frame) { return frame; };
  TagParty party;
  ASSERT_NO_FATAL_FAILURE(party.Seat(2));
  Client& client = party.world.AddClient(game);
  client.Join(party.host, {.room = 1, .players = 1});
  party.ExpectHealed();
  EXPECT_EQ(party.host.players(), 3u);
  EXPECT_EQ(party.host.rooms(), 2u);
  client.Reset();
  party.player(1).Reset();
  party.ExpectHealed();
  EXPECT_EQ(client.peer().counters().resumes, 1u);
  EXPECT_EQ(party.peer(1).counters().resumes, 1u);
  const absl::Status status =
      party.world.RunUntilFrame(client.peer().frame() + 100);
  EXPECT_TRUE(status.ok()) << status;
  party.ExpectAllSeeTheRoom();
}

// ---- Misuse stops the program

TEST(AuthorityMisuseDeathTest, IsToldInWords) {
  TagParty party;
  Player& joined = party.Add();
  EXPECT_DEATH(joined.Join(party.host, {.play = "tag"}, {.name = "Ann"}),
               "player 0: Join: it has joined before");
  EXPECT_DEATH(party.Invite().Join(party.host, {.play = "tag"}, {.name = "\n"}),
               "player 1: Join: name: not one that a player may have");
  EXPECT_DEATH(party.Invite({.rate_hz = 0}),
               "player 1.rate_hz: 0 is not in 1..1000");
  EXPECT_DEATH(party.world.AddPlayer(test::TagSchema(), TagMessages(), {}),
               "protocol: not 1 to 64 printable ASCII characters");
  joined.Crash();
  EXPECT_DEATH(joined.peer(), "player 0: peer: it has crashed");
}

}  // namespace
}  // namespace parlor::sim
