// A world's verbs, one at a time, and what a game's tests get from it.
#include "parlor/sim/world.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "parlor/close_reason.h"
#include "parlor/lockstep/peer.h"
#include "parlor/lockstep/room.h"
#include "parlor/status.h"
#include "parlor/time.h"
#include "sim/party.h"
#include "support/lockstep_client.h"
#include "support/toy_game.h"

namespace parlor::sim {
namespace {

using lockstep::PeerEnd;
using lockstep::PeerState;
using testing::ElementsAre;
using testing::HasSubstr;

// ---- Joining, the lobby, leaving

TEST(WorldTest, ALobbyFillsAndStartsWhenItsFirstSeatSays) {
  Party party;
  Client& first = party.Add(4);
  Client& second = party.Add(4);
  EXPECT_EQ(first.peer().state(), PeerState::kConnecting);
  EXPECT_FALSE(first.Start(0, 0)) << "not seated yet";
  ASSERT_TRUE(party.world
                  .RunUntil([&] {
                    return first.peer().seated() == 2 &&
                           second.peer().seated() == 2;
                  })
                  .ok());
  EXPECT_EQ(party.host.players(), 2u);
  Client& host = first.peer().seat() == 0 ? first : second;
  ASSERT_TRUE(host.Start(0, 7));
  party.ExpectPlaysOn(100);
  EXPECT_EQ(second.peer().match()->mode, 7);
  EXPECT_EQ(second.peer().match()->players, 2);
  const lockstep::Room* const room = party.host.FindRoom(Party::kRoom);
  ASSERT_NE(room, nullptr);
  EXPECT_EQ(room->seated(), 2);
  EXPECT_EQ(party.host.FindRoom(0), nullptr);
  EXPECT_EQ(party.host.rooms(), 1u);
  EXPECT_EQ(party.host.connections(), 2u);
}

TEST(WorldTest, WhoLeavesIsTakenOverByABotAtOneFrame) {
  Party party;
  party.Seat(3);
  party.client(1).Leave();
  EXPECT_EQ(party.peer(1).end(), PeerEnd::kLeft);
  party.ExpectPlaysOn(100);
  EXPECT_EQ(party.peer(0).lost(), 0b010u);
  EXPECT_EQ(party.peer(2).bots(), 0b010u);
  EXPECT_EQ(party.games[0]->first_bot_frame, party.games[2]->first_bot_frame);
  EXPECT_TRUE(party.peer(1).closed()) << "the room's answer has come";
  EXPECT_EQ(party.host.players(), 2u);
}

TEST(WorldTest, EachHostHasItsOwnRooms) {
  Party party;
  Host& other = party.world.AddHost();
  party.Add(1);
  party.Invite().Join(other, {.room = Party::kRoom, .players = 1});
  party.ExpectPlaysOn(10);
  EXPECT_EQ(party.host.players(), 1u);
  EXPECT_EQ(other.players(), 1u);
  EXPECT_EQ(&party.world.host(1), &other);
  EXPECT_NE(party.peer(0).match()->seed, party.peer(1).match()->seed);
}

// ---- Every network, every way to the host

struct Preset {
  const char* name;
  Conditions network;
  std::uint32_t frames;
};

void PrintTo(const Preset& preset, std::ostream* out) { *out << preset.name; }

class MatchTest : public testing::TestWithParam<std::tuple<Preset, Via>> {};

TEST_P(MatchTest, StaysInSync) {
  const auto& [preset, via] = GetParam();
  Party party({.network = preset.network});
  // Where a request and its answer may be lost several times, nobody gives up
  // after 3 s.
  ASSERT_NO_FATAL_FAILURE(
      party.Seat(4, {.via = via, .peer = {.delay = 6, .connect_ms = 60'000}}));
  party.ExpectPlaysOn(preset.frames);
  EXPECT_EQ(party.host.players(), 4u);
  for (int seat = 0; seat < 4; ++seat) {
    EXPECT_EQ(party.peer(seat).desync(), -1);
    EXPECT_EQ(party.peer(seat).lost(), 0u);
  }
}

std::string MatchName(const testing::TestParamInfo<MatchTest::ParamType>& row) {
  return std::get<0>(row.param).name + ViaName(std::get<1>(row.param));
}

INSTANTIATE_TEST_SUITE_P(
    Rows, MatchTest,
    testing::Combine(
        testing::Values(Preset{"Perfect", kPerfect, 600},
                        Preset{"Lan", kLan, 600}, Preset{"Wifi", kWifi, 600},
                        Preset{"Mobile", kMobile, 600},
                        Preset{"Awful", kAwful, 120}),
        testing::Values(Via::kMessages, Via::kWebSocket, Via::kTcp)),
    MatchName);

// ---- Links

class WorldViaTest : public testing::TestWithParam<Via> {
 protected:
  void Seat(int players) { party_.Seat(players, {.via = GetParam()}); }

  Party party_;
};

INSTANTIATE_TEST_SUITE_P(Vias, WorldViaTest,
                         testing::Values(Via::kMessages, Via::kWebSocket,
                                         Via::kTcp),
                         [](const auto& via) { return ViaName(via.param); });

TEST_P(WorldViaTest, AShortCutIsAPauseForEveryone) {
  ASSERT_NO_FATAL_FAILURE(Seat(3));
  party_.client(1).Cut();
  party_.world.RunFor(3 * kSecond);
  EXPECT_EQ(party_.peer(0).waiting_for(), 0b010u);
  EXPECT_EQ(party_.peer(1).state(), PeerState::kPlaying) << "nobody told it";
  const absl::Status status = party_.world.RunUntilHealed();
  EXPECT_TRUE(status.ok()) << status;
  party_.ExpectPlaysOn(100);
  EXPECT_EQ(party_.peer(1).counters().resumes, 0u) << "what waited came";
}

TEST_P(WorldViaTest, ALongCutIsADropAndTheSeatComesBack) {
  ASSERT_NO_FATAL_FAILURE(Seat(3));
  party_.client(1).Cut();
  // Both ends take silence for the end of the link.
  party_.world.RunFor(25 * kSecond);
  EXPECT_EQ(party_.peer(1).state(), PeerState::kReconnecting);
  EXPECT_EQ(party_.peer(0).away(), 0b010u);
  EXPECT_EQ(party_.host.players(), 2u);
  const absl::Status status = party_.world.RunUntilHealed();
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_EQ(party_.peer(1).counters().resumes, 1u);
  EXPECT_EQ(party_.peer(0).away(), 0u);
  party_.ExpectPlaysOn(100);
}

TEST_P(WorldViaTest, WhoStaysCutOffIsReplacedByABot) {
  ASSERT_NO_FATAL_FAILURE(Seat(3));
  party_.client(1).Cut();
  party_.world.RunFor(60 * kSecond);
  EXPECT_EQ(party_.peer(1).end(), PeerEnd::kRetriesSpent);
  EXPECT_EQ(party_.peer(0).lost(), 0b010u);
  party_.ExpectPlaysOn(100);
  EXPECT_EQ(party_.peer(2).bots(), 0b010u);
}

TEST_P(WorldViaTest, AHalfOpenLinkIsFoundOut) {
  for (const Direction direction : {Direction::kUp, Direction::kDown}) {
    SCOPED_TRACE(static_cast<int>(direction));
    Party party;
    ASSERT_NO_FATAL_FAILURE(party.Seat(2, {.via = GetParam()}));
    party.client(1).Cut(direction);
    const absl::Status away = party.world.RunUntil(
        [&party] { return party.peer(0).away() == 0b10; }, 32 * kSecond);
    EXPECT_TRUE(away.ok()) << away;
    party.world.RunFor(kSecond);
    EXPECT_EQ(party.peer(1).state(), PeerState::kReconnecting);
    const absl::Status status = party.world.RunUntilHealed();
    EXPECT_TRUE(status.ok()) << status;
    EXPECT_EQ(party.peer(1).counters().resumes, 1u);
    party.ExpectPlaysOn(100);
  }
}

TEST_P(WorldViaTest, AResetIsADropAtOnce) {
  ASSERT_NO_FATAL_FAILURE(Seat(3));
  party_.client(2).Reset();
  party_.world.RunFor(50 * kMillisecond);
  EXPECT_EQ(party_.peer(2).state(), PeerState::kReconnecting);
  EXPECT_EQ(party_.peer(0).away(), 0b100u);
  const absl::Status status = party_.world.RunUntilHealed(kSecond);
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_EQ(party_.peer(2).counters().resumes, 1u);
  party_.ExpectPlaysOn(100);
}

// ---- Machines

TEST_P(WorldViaTest, AMachineThatStandsStillHoldsUpTheOthers) {
  ASSERT_NO_FATAL_FAILURE(Seat(3));
  int turns = 0;
  party_.client(1).SetOnStep([&turns] { ++turns; });
  party_.world.RunFor(kSecond);
  EXPECT_NEAR(turns, 60, 1);
  const std::uint32_t frame = party_.peer(1).frame();
  party_.client(1).Stall(5 * kSecond);
  party_.client(1).Stall(kSecond);  // within the same
  party_.world.RunFor(4'900 * kMillisecond);
  EXPECT_NEAR(turns, 60, 1);
  EXPECT_EQ(party_.peer(1).frame(), frame);
  EXPECT_EQ(party_.peer(0).waiting_for(), 0b010u);
  party_.ExpectPlaysOn(100);
  EXPECT_EQ(party_.peer(1).counters().resumes, 0u);
}

TEST_P(WorldViaTest, ACrashIsADropForGood) {
  ASSERT_NO_FATAL_FAILURE(Seat(3));
  party_.client(1).Crash();
  EXPECT_TRUE(party_.client(1).crashed());
  party_.world.RunFor(50 * kMillisecond);
  EXPECT_EQ(party_.peer(0).away(), 0b010u) << "its system has told the host";
  party_.world.RunFor(19 * kSecond);
  EXPECT_EQ(party_.peer(0).lost(), 0u);
  party_.world.RunFor(2 * kSecond);
  EXPECT_EQ(party_.peer(0).lost(), 0b010u);
  party_.ExpectPlaysOn(100);
  EXPECT_EQ(party_.peer(2).bots(), 0b010u);
}

TEST(WorldTest, AClientMayCrashInItsOwnStep) {
  Party party;
  ASSERT_NO_FATAL_FAILURE(party.Seat(2));
  Client& client = party.client(0);
  int turns = 0;
  client.SetOnStep([&] {
    ++turns;
    client.Crash();
  });
  party.world.RunFor(30 * kSecond);
  EXPECT_EQ(turns, 1);
  party.ExpectPlaysOn(100);
}

TEST(WorldTest, ATurnMaySetWhatTheNextOneCalls) {
  Party party;
  Client& client = party.Add(1);
  auto captured = std::make_shared<int>(0);
  const std::weak_ptr<int> kept = captured;
  client.SetOnStep([&client, &kept, turns = std::move(captured)] {
    if (++*turns < 3) return;
    client.SetOnStep(nullptr);
    EXPECT_FALSE(kept.expired()) << "in its own call";
  });
  party.world.RunFor(kSecond);
  EXPECT_TRUE(kept.expired());
  int turns = 0;
  client.SetOnStep([&client, &turns] {
    client.SetOnStep([&turns] { turns += 100; });
    ++turns;
  });
  party.world.RunFor(kSecond);
  EXPECT_NEAR(turns, 5'901, 100);
}

TEST(WorldTest, AClockThatIsOffRunsItsLoopFaster) {
  Party party;
  party.Add(1, {.clock_ppm = 100'000});
  party.Invite({.clock_ppm = -100'000})
      .Join(party.host, {.room = 1, .players = 1});
  party.world.RunFor(60 * kSecond);
  EXPECT_NEAR(party.peer(0).frame(), 60 * 66, 2);
  EXPECT_NEAR(party.peer(1).frame(), 60 * 54, 2);
}

TEST(WorldTest, TheFastClockWaitsForTheSlowOne) {
  Party party;
  party.Add(2, {.clock_ppm = 1'000});
  party.Add(2);
  // In five minutes it would be 18 frames ahead.
  party.world.RunFor(300 * kSecond);
  EXPECT_NEAR(party.peer(0).frame(), 300 * 60, 4);
  EXPECT_NEAR(party.peer(0).counters().stalls, 18, 5);
  EXPECT_LE(party.peer(1).counters().stalls, 2u);
  party.ExpectInSync();
}

// ---- Hosts

TEST_P(WorldViaTest, AMatchGoesOnAfterItsHostWasKilled) {
  for (const Host::Crash how : {Host::Crash::kProcess, Host::Crash::kMachine}) {
    SCOPED_TRACE(static_cast<int>(how));
    Party party;
    ASSERT_NO_FATAL_FAILURE(party.Seat(3, {.via = GetParam()}));
    party.world.RunFor(3 * kSecond);
    const std::uint32_t seed = party.peer(0).match()->seed;
    party.host.CrashNow(how);
    EXPECT_FALSE(party.host.running());
    EXPECT_EQ(party.host.FindRoom(Party::kRoom), nullptr);
    party.world.RunFor(2 * kSecond);
    for (int seat = 0; seat < 3; ++seat) {
      EXPECT_EQ(party.peer(seat).state(), how == Host::Crash::kProcess
                                              ? PeerState::kReconnecting
                                              : PeerState::kPlaying);
    }
    party.host.Start();
    EXPECT_TRUE(party.host.running());
    const absl::Status status = party.world.RunUntilHealed();
    ASSERT_TRUE(status.ok()) << status;
    for (int seat = 0; seat < 3; ++seat) {
      EXPECT_EQ(party.peer(seat).counters().resumes, 1u);
      EXPECT_EQ(party.peer(seat).match()->seed, seed);
    }
    party.ExpectPlaysOn(200);
    EXPECT_EQ(party.peer(0).lost(), 0u);
  }
}

TEST(WorldTest, AHostThatKeepsNothingHasLostItsMatches) {
  Party party({}, {.keeps_matches = false});
  ASSERT_NO_FATAL_FAILURE(party.Seat(2));
  party.host.CrashNow();
  party.host.Start();
  party.world.RunFor(5 * kSecond);
  EXPECT_EQ(party.peer(0).end_code(), close_code::kSeatGone);
  EXPECT_EQ(party.host.rooms(), 0u);
}

TEST(WorldTest, WhoWaitsInALobbyHearsOfACrash) {
  Party party;
  Client& waits = party.Add(2);
  ASSERT_TRUE(
      party.world.RunUntil([&] { return waits.peer().seat() == 0; }).ok());
  party.host.CrashNow();
  party.world.RunFor(kSecond);
  EXPECT_EQ(waits.peer().end(), PeerEnd::kClosed);
  EXPECT_EQ(waits.peer().end_code(), close_code::kDropped);
}

TEST_P(WorldViaTest, ADrainRefusesJoinsAndThenSendsAllToTheNextProcess) {
  ASSERT_NO_FATAL_FAILURE(Seat(2));
  party_.host.Drain();
  Client& late = party_.Invite({.via = GetParam()});
  late.Join(party_.host, {.room = 9, .players = 1});
  const std::uint32_t frame = party_.peer(0).frame();
  party_.world.RunFor(4'900 * kMillisecond);
  EXPECT_EQ(late.peer().end_refusal(), 503);
  EXPECT_GT(party_.peer(0).frame(), frame + 280) << "matches go on";
  EXPECT_FALSE(party_.host.stopped());
  party_.world.RunFor(200 * kMillisecond);
  EXPECT_EQ(party_.peer(0).state(), PeerState::kReconnecting);
  const absl::Status stopped =
      party_.world.RunUntil([this] { return party_.host.stopped(); });
  EXPECT_TRUE(stopped.ok()) << stopped;
  party_.host.Start();
  const absl::Status status = party_.world.RunUntilHealed();
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_EQ(party_.peer(0).counters().resumes, 1u);
  party_.ExpectPlaysOn(100);
}

TEST(WorldTest, AStopSaysWhy) {
  Party party;
  ASSERT_NO_FATAL_FAILURE(party.Seat(2));
  party.host.Stop(CloseReason::kHostLeft);
  party.world.RunFor(kSecond);
  EXPECT_EQ(party.peer(0).end_text(), "the host left");
  EXPECT_EQ(party.peer(1).end_text(), "the host left");
  EXPECT_TRUE(party.host.stopped());
}

// ---- The gate and strangers

TEST_P(WorldViaTest, TheGateAsksForACode) {
  Party party({}, {.gate = {.codes = {"SUMMER-EVENING"}}});
  Client& guest = party.Invite({.via = GetParam()});
  Client& stranger = party.Invite({.via = GetParam()});
  guest.Join(party.host,
             {.room = 0, .players = 1, .access = "invite.SUMMER-EVENING"});
  stranger.Join(party.host,
                {.room = 0, .players = 1, .access = "invite.WINTER-MORNING"});
  party.world.RunFor(kSecond);
  EXPECT_EQ(guest.peer().state(), PeerState::kPlaying);
  EXPECT_EQ(stranger.peer().end_refusal(), 403);
}

TEST_P(WorldViaTest, AStrangersConnectionIsTakenAsAnyOther) {
  party_.Add(2, {.via = GetParam()});
  test::LockstepClient stranger;
  stranger.connection = party_.world.Connect(
      party_.host, {.room = Party::kRoom, .players = 2}, GetParam(), &stranger);
  party_.world.RunFor(kSecond);
  EXPECT_THAT(stranger.Take(), testing::Contains(HasSubstr("WELCOME")));
  // Says frames that were not asked for, which move nobody.
  stranger.Input(2);
  stranger.Input(3);
  party_.world.RunFor(kSecond);
  EXPECT_EQ(party_.peer(0).frame(), 4u);
  stranger.connection->Close(CloseReason::kNormal);
  party_.ExpectPlaysOn(100);
  EXPECT_EQ(party_.games[0]->first_bot_frame, 4u);
}

// ---- One seed, one run

std::uint64_t DigestOf(std::uint64_t seed, Via via, bool recorded = false) {
  World world({.seed = seed, .network = kMobile});
  Host& host = world.AddHost();
  if (recorded) world.Record();
  std::array<test::ToyGame, 3> games;
  for (test::ToyGame& game : games) {
    game.word = [](std::uint32_t frame) { return frame; };
    world.AddClient(game, {.via = via}).Join(host, {.room = 1, .players = 3});
  }
  world.RunFor(2 * kSecond);
  world.client(1).Reset();
  world.RunFor(2 * kSecond);
  host.CrashNow();
  host.Start();
  world.client(2).Stall(300 * kMillisecond);
  world.RunFor(3 * kSecond);
  EXPECT_GT(world.client(0).peer().frame(), 60u);
  return world.digest();
}

TEST(DigestTest, IsOfItsSeed) {
  for (const Via via : {Via::kMessages, Via::kWebSocket, Via::kTcp}) {
    EXPECT_EQ(DigestOf(1, via), DigestOf(1, via));
    EXPECT_NE(DigestOf(1, via), DigestOf(2, via));
    EXPECT_EQ(DigestOf(1, via), DigestOf(1, via, true)) << "being watched";
  }
}

// Another value is another run: of the code above it, of the host or of the
// network. Where that was meant, these are written anew.
TEST(DigestTest, IsTheSameOnEveryCompilerAndInEveryBuild) {
  EXPECT_EQ(DigestOf(7, Via::kMessages), 11850297866479766675u);
  EXPECT_EQ(DigestOf(7, Via::kWebSocket), 5490608770599013929u);
  EXPECT_EQ(DigestOf(7, Via::kTcp), 6443883782977999901u);
}

// ---- What a failure says

TEST(InSyncTest, ADivergenceIsToldWithItsFrameAndItsClient) {
  Party party;
  ASSERT_NO_FATAL_FAILURE(party.Seat(3));
  test::ToyGame& game = *party.games[1];
  const std::uint32_t at = party.peer(1).frame() + 50;
  game.on_step = [&party, &game, at] {
    if (party.peer(1).frame() == at) game.Corrupt();
  };
  ASSERT_TRUE(party.world.RunUntilFrame(at).ok());
  party.ExpectInSync();
  ASSERT_TRUE(party.world.RunUntilFrame(at + 60).ok());
  const absl::Status status = party.world.CheckInSync();
  EXPECT_EQ(status.code(), absl::StatusCode::kInternal);
  EXPECT_THAT(std::string(StatusText(status)),
              testing::MatchesRegex(
                  "the states differ after frame " + std::to_string(at) +
                  ": client 0 \\(seat 0\\), client 2 \\(seat 2\\): "
                  "[0-9a-f]{8}; client 1 \\(seat 1\\): [0-9a-f]{8}"));
  EXPECT_NE(party.peer(0).desync(), -1) << "the peers have seen it too";
}

TEST(InSyncTest, AnotherBuildIsToldAsDifferentFromTheStart) {
  Party party;
  party.Add(2);
  test::ToyGame other(2);
  party.world.AddClient(other).Join(party.host,
                                    {.room = Party::kRoom, .players = 2});
  party.world.RunFor(kSecond);
  EXPECT_THAT(std::string(StatusText(party.world.CheckInSync())),
              HasSubstr("differ before the first frame"));
}

TEST(RunUntilTest, SaysWhatEveryoneWaitsFor) {
  Party party;
  ASSERT_NO_FATAL_FAILURE(party.Seat(3));
  ASSERT_TRUE(party.world.RunUntilFrame(10).ok());
  party.Invite();
  party.client(1).Cut();
  party.client(2).Crash();
  const absl::Status status = party.world.RunUntilFrame(1'000, 5 * kSecond);
  EXPECT_EQ(status.code(), absl::StatusCode::kDeadlineExceeded);
  const std::string text(StatusText(status));
  EXPECT_THAT(text, HasSubstr("not within 5 s:\n"));
  EXPECT_THAT(text, HasSubstr("client 0: playing, seat 0 at frame 1"));
  EXPECT_THAT(text, HasSubstr(", waits for seat"));
  EXPECT_THAT(text, HasSubstr(", away: seat 2\n"));
  EXPECT_THAT(text, HasSubstr("; its link is cut\n"));
  EXPECT_THAT(text, HasSubstr("client 2: crashed\n"));
  EXPECT_THAT(text, HasSubstr("client 3: has not joined\n"));
  EXPECT_THAT(text, HasSubstr("host 0: 1 rooms, 2 players\n"));
}

TEST(RunUntilTest, IsNotContentWithNobody) {
  Party party;
  ASSERT_NO_FATAL_FAILURE(party.Seat(2));
  party.host.Stop(CloseReason::kHostLeft);
  const absl::Status status = party.world.RunUntilFrame(1'000);
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(StatusText(status)), HasSubstr("the host left"));
}

TEST(RunUntilTest, IsNotHealedWithNobody) {
  Party party;
  party.Invite();
  const absl::Status before = party.world.RunUntilHealed();
  EXPECT_EQ(before.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(StatusText(before)), HasSubstr("has not joined"));
  party.Add(1);
  ASSERT_TRUE(party.world.RunUntilHealed().ok());
  party.host.Stop(CloseReason::kHostLeft);
  party.world.RunFor(kSecond);
  EXPECT_EQ(party.world.RunUntilHealed().code(),
            absl::StatusCode::kFailedPrecondition);
}

// Whoever is added meanwhile has run a frame too.
TEST(RunUntilTest, IsHealedWithAllWhoCame) {
  Party party;
  ASSERT_NO_FATAL_FAILURE(party.Seat(2));
  party.client(0).Cut();
  party.world.RunFor(kSecond);
  party.client(1).SetOnStep([&] {
    if (party.world.clients() < 20) {
      party.Invite().Join(
          party.host, {.room = static_cast<std::uint32_t>(party.games.size()),
                       .players = 1});
    }
  });
  const absl::Status status = party.world.RunUntilHealed();
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_GT(party.world.clients(), 2u);
  for (std::size_t i = 0; i < party.world.clients(); ++i) {
    const lockstep::Peer& peer = party.world.client(i).peer();
    if (peer.match()) {
      EXPECT_GT(peer.frame(), 0u) << i;
    }
  }
}

TEST(RunUntilTest, RunForEndsAtItsTime) {
  World world;
  world.RunFor(3 * kSecond);
  EXPECT_EQ(world.now(), TimePoint(3 * kSecond));
  EXPECT_FALSE(world.RunUntil([] { return false; }, kSecond).ok());
  EXPECT_EQ(world.now(), TimePoint(4 * kSecond));
}

// ---- Traces

TEST(WorldTraceTest, ShowsWhoSaidWhatAndWhatHappenedToMachines) {
  Party party;
  EXPECT_EQ(party.world.TraceText(), "");
  party.world.Record();
  ASSERT_NO_FATAL_FAILURE(party.Seat(2));
  party.client(1).Cut();
  party.client(1).Stall(kSecond);
  party.host.CrashNow();
  const std::string text = party.world.TraceText();
  EXPECT_THAT(text, HasSubstr("client 0 -> host 0"));
  EXPECT_THAT(text, HasSubstr("host 0 -> client 1"));
  EXPECT_THAT(text, HasSubstr("WELCOME seat 1 of 2"));
  EXPECT_THAT(text, HasSubstr("client 1 -- host 0 cut"));
  EXPECT_THAT(text, HasSubstr("client 1 stands still"));
  EXPECT_THAT(text, HasSubstr("host 0 crashes"));
  EXPECT_THAT(party.world.TraceSvg(), HasSubstr("<svg"));
}

}  // namespace
}  // namespace parlor::sim
