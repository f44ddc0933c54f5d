// Peers and the real room, over the real memory pipe, in virtual time.
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "parlor/lockstep/peer.h"
#include "support/lockstep_world.h"

namespace parlor::lockstep {
namespace {

using test::ExpectSameHistory;
using test::Honest;
using test::LockstepWorld;
using test::LoggedGame;
using test::Outage;
using testing::Values;
using Client = LockstepWorld::Client;

constexpr Duration kMs{1'000'000};

void ExpectAllPlaying(LockstepWorld& world) {
  for (Client* client : Honest(world)) {
    EXPECT_EQ(client->peer().state(), PeerState::kPlaying)
        << "seat " << client->peer().seat() << ": "
        << client->peer().end_text();
  }
}

// Everyone who still plays ran `frames` more within a time that leaves room for
// every retry and hold.
void ExpectAllAdvance(LockstepWorld& world, std::uint32_t frames) {
  std::vector<std::uint32_t> before;
  const auto honest = Honest(world);
  for (Client* client : honest) before.push_back(client->peer().frame());
  world.RunFor(45 * kSecond);
  for (std::size_t i = 0; i < honest.size(); ++i) {
    Peer& peer = honest[i]->peer();
    if (!honest[i]->in_match()) continue;
    EXPECT_EQ(peer.state(), PeerState::kPlaying) << "seat " << peer.seat();
    EXPECT_GT(peer.frame(), before[i] + frames) << "seat " << peer.seat();
  }
}

// ---- All goes well

struct Size {
  int players;
  std::uint32_t frames;
};

class MatchTest : public testing::TestWithParam<Size> {};

TEST_P(MatchTest, EndsByteIdentical) {
  const auto [players, frames] = GetParam();
  LockstepWorld world({.seed = 7, .players = players});
  for (int s = 0; s < players; ++s) {
    LoggedGame& game = world.AddPeer().game();
    game.keep_states = false;
    game.stop_frame = frames;
  }
  world.RunFor((frames + 60) * kSecond / 60);
  const std::optional<std::uint64_t> first =
      world.clients()[0]->game().stop_state;
  EXPECT_TRUE(first.has_value());
  for (Client* client : Honest(world)) {
    EXPECT_EQ(client->game().stop_state, first);
    EXPECT_EQ(client->peer().desync(), -1);
    EXPECT_EQ(client->peer().counters().dropped, 0u);
    EXPECT_EQ(client->peer().counters().resends, 0u);
  }
  EXPECT_EQ(world.room().counters().stale, 0u);
}

INSTANTIATE_TEST_SUITE_P(Sizes, MatchTest,
                         Values(Size{2, 600}, Size{4, 600}, Size{8, 600},
                                Size{32, 600}, Size{2, 100'000},
                                Size{4, 100'000}, Size{8, 100'000},
                                Size{32, 100'000}),
                         [](const auto& size) {
                           return std::to_string(size.param.players) + "x" +
                                  std::to_string(size.param.frames);
                         });

// ---- Links are lost, and every seat comes back

// 32 peers are slow without optimisation.
#ifdef NDEBUG
constexpr int kLongest = 100'000;
#else
constexpr int kLongest = 20'000;
#endif

class DropMatchTest : public testing::TestWithParam<Size> {};

TEST_P(DropMatchTest, ADropInTheMiddleChangesNothing) {
  const auto [players, frames] = GetParam();
  LockstepWorld world({.seed = 8, .players = players});
  for (int s = 0; s < players; ++s) world.AddPeer();
  world.RunFor(frames / 2 * kSecond / 60);
  Client& dropped = *world.clients().back();
  world.Lose(dropped);
  world.RunFor(20 * kMs);
  EXPECT_EQ(dropped.peer().state(), PeerState::kReconnecting);
  EXPECT_EQ(dropped.peer().away(), 1u << (players - 1));
  EXPECT_EQ(world.clients()[0]->peer().away(), 1u << (players - 1));
  while (world.clients()[0]->peer().frame() < frames) world.RunFor(kSecond);
  EXPECT_EQ(dropped.peer().counters().resumes, 1u);
  EXPECT_EQ(world.clients()[0]->peer().away(), 0u);
  ExpectAllPlaying(world);
  ExpectSameHistory(world);
}

INSTANTIATE_TEST_SUITE_P(Sizes, DropMatchTest,
                         Values(Size{2, 600}, Size{4, 600}, Size{8, 600},
                                Size{32, 600}, Size{2, 100'000},
                                Size{4, 100'000}, Size{8, 100'000},
                                Size{32, kLongest}),
                         [](const auto& size) {
                           return std::to_string(size.param.players) + "x" +
                                  std::to_string(size.param.frames);
                         });

struct DropRow {
  const char* name;
  int dropped;      // how many at once
  Duration notice;  // until the host knows
  Duration outage;  // until a try finds the host
  Outage kind;
  Duration stall;  // of a seat that stays, before the drop
};

class DropKindTest : public testing::TestWithParam<DropRow> {};

TEST_P(DropKindTest, EverySeatComesBackInStep) {
  const DropRow& row = GetParam();
  for (const int delay : {1, 2, 5, 31}) {
    SCOPED_TRACE(delay);
    LockstepWorld world({.seed = 9, .players = 4, .peer = {.delay = delay}});
    for (int s = 0; s < 4; ++s) world.AddPeer();
    world.RunFor(3 * kSecond);
    world.clients()[3]->paused_until = world.now() + row.stall;
    world.RunFor(row.stall / 2);
    for (int s = 0; s < row.dropped; ++s) {
      world.clients()[s]->outage = row.kind;
      world.Lose(*world.clients()[s], row.notice);
    }
    world.RunFor(row.outage);
    for (auto& client : world.clients()) client->outage = Outage::kNone;
    ExpectAllAdvance(world, 1'000);
    ExpectAllPlaying(world);
    ExpectSameHistory(world);
    for (int s = 0; s < row.dropped; ++s) {
      EXPECT_EQ(world.clients()[s]->peer().counters().resumes, 1u);
    }
    for (Client* client : Honest(world)) {
      EXPECT_EQ(client->peer().away(), 0u);
      EXPECT_EQ(client->peer().lost(), 0u);
    }
    EXPECT_EQ(world.room().counters().kicked_rate, 0u);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Rows, DropKindTest,
    Values(DropRow{"One", 1, {}, {}, Outage::kNone, {}},
           DropRow{"TwoAtOnce", 2, {}, {}, Outage::kNone, {}},
           DropRow{"All", 4, {}, {}, Outage::kNone, {}},
           DropRow{"WhileAnotherStalls", 1, {}, {}, Outage::kNone, 4 * kSecond},
           DropRow{"TwoWhileAnotherStalls", 2, {}, {}, Outage::kNone, kSecond},
           // The seat resumes while its old link is still seated: 4001.
           DropRow{"NoticedLate", 1, 5 * kSecond, {}, Outage::kNone, {}},
           DropRow{"AllNoticedLate", 4, 5 * kSecond, {}, Outage::kNone, {}},
           DropRow{"Refused", 2, {}, 5 * kSecond, Outage::kRefused503, {}},
           DropRow{"Unreachable", 2, {}, 5 * kSecond, Outage::kLost, {}},
           DropRow{"Silent", 2, {}, 5 * kSecond, Outage::kSilent, {}}),
    [](const auto& row) { return std::string(row.param.name); });

TEST(LongOutageTest, EveryoneIsToldAndABotPlaysOn) {
  LockstepWorld world({.seed = 10, .players = 3});
  for (int s = 0; s < 3; ++s) world.AddPeer();
  world.RunFor(3 * kSecond);
  Client& gone = *world.clients()[1];
  gone.outage = Outage::kLost;
  world.Lose(gone);
  world.RunFor(15 * kSecond);
  EXPECT_EQ(gone.peer().state(), PeerState::kReconnecting);
  EXPECT_EQ(world.clients()[0]->peer().away(), 0b010u);
  world.RunFor(10 * kSecond);
  EXPECT_EQ(gone.peer().end(), PeerEnd::kRetriesSpent);
  EXPECT_EQ(world.clients()[0]->peer().lost(), 0b010u);
  EXPECT_EQ(world.clients()[0]->peer().away(), 0u);
  ExpectAllAdvance(world, 1'000);
  ExpectSameHistory(world);
  EXPECT_EQ(world.clients()[0]->peer().bots(), 0b010u);
  EXPECT_EQ(world.clients()[0]->game().first_bot_frame,
            world.clients()[2]->game().first_bot_frame);
}

// ---- A bot takes over, at the same frame everywhere

// Seats 0 and 1 are honest, seat 2 is a raw connection that plays on time until
// it does what the row says; then it leaves.
struct BotRow {
  const char* name;
  std::uint32_t ahead;  // frames beyond its time, before it leaves
  bool skips;           // a frame, before those
  bool away;            // seat 1 is, from before that until after
  Duration paused;      // seat 1 reads nothing and takes no step, before
};

class BotTakeOverTest : public testing::TestWithParam<BotRow> {
 protected:
  BotTakeOverTest() : world_({.seed = 11, .players = 3}) {
    world_.AddPeer();
    world_.AddPeer();
    Client& raw = world_.AddRaw();
    raw.on_tick = [this] {
      // On time for seat 0; never more than 4 a tick: 240 a second are legal.
      const std::uint32_t until = peer(0).frame() + 2 + ahead_;
      for (int i = 0; i < 4 && next_ <= until; ++i) hostile().Input(next_++);
    };
  }
  Client& client(int s) { return *world_.clients()[static_cast<size_t>(s)]; }
  Peer& peer(int s) { return client(s).peer(); }
  test::RawClient& hostile() { return client(2).raw(); }

  LockstepWorld world_;
  std::uint32_t next_ = 2;
  std::uint32_t ahead_ = 0;
};

TEST_P(BotTakeOverTest, AllSwitchAtTheSameFrameOrAreTold) {
  const BotRow& row = GetParam();
  world_.RunFor(3 * kSecond);
  if (row.away) {
    client(1).outage = Outage::kRefused503;
    world_.Lose(client(1));
  }
  client(1).paused_until = world_.now() + row.paused;
  world_.RunFor(row.paused / 2);
  if (row.paused > Duration{}) {
    EXPECT_GT(peer(0).frame(), peer(1).frame());
  }
  std::uint32_t first_missing = next_;
  if (row.skips) ++next_;
  ahead_ = row.ahead;
  world_.RunFor(9 * kSecond);
  if (!row.skips) first_missing = next_;
  EXPECT_GE(next_, peer(0).frame() + row.ahead);
  client(2).on_tick = nullptr;
  hostile().Leave();
  world_.RunFor(kSecond);
  EXPECT_EQ(peer(0).lost(), 0b100u);
  client(1).outage = Outage::kNone;
  const bool told = row.away && row.ahead > 64 && !row.skips;
  world_.RunFor(40 * kSecond);
  ASSERT_EQ(peer(0).state(), PeerState::kPlaying) << peer(0).end_text();
  EXPECT_GT(peer(0).frame(), first_missing + 100);
  if (told) {
    EXPECT_EQ(peer(1).end(), PeerEnd::kHole);
    EXPECT_EQ(peer(1).end_text(),
              "seat 2 played on too far while you were away");
    EXPECT_EQ(peer(0).lost(), 0b110u);
  } else {
    ASSERT_EQ(peer(1).state(), PeerState::kPlaying) << peer(1).end_text();
    EXPECT_EQ(client(0).game().first_bot_frame, first_missing);
    EXPECT_EQ(client(1).game().first_bot_frame, first_missing);
    EXPECT_EQ(peer(0).bots(), 0b100u);
    EXPECT_EQ(peer(1).bots(), 0b100u);
  }
  ExpectSameHistory(world_);
  EXPECT_EQ(world_.room().counters().kicked_rate, 0u);
}

INSTANTIATE_TEST_SUITE_P(
    Rows, BotTakeOverTest,
    Values(BotRow{"InTime", 0, false, false, {}},
           BotRow{"AtDifferentFrames", 0, false, false, 10 * kSecond},
           BotRow{"WhileOneIsAway", 0, false, true, {}},
           BotRow{"Ahead10", 10, false, false, {}},
           BotRow{"Ahead64", 64, false, false, {}},
           BotRow{"Ahead65", 65, false, false, {}},
           BotRow{"Ahead1000", 1'000, false, false, {}},
           BotRow{"Ahead1000AtDifferentFrames", 1'000, false, false,
                  10 * kSecond},
           BotRow{"Ahead10WhileOneIsAway", 10, false, true, {}},
           BotRow{"Ahead50WhileOneIsAway", 50, false, true, {}},
           BotRow{"Ahead100WhileOneIsAway", 100, false, true, {}},
           BotRow{"Ahead1000WhileOneIsAway", 1'000, false, true, {}},
           BotRow{"Skipped", 5, true, false, {}},
           BotRow{"Skipped1000", 1'000, true, false, {}},
           BotRow{"SkippedAtDifferentFrames", 5, true, false, 10 * kSecond},
           BotRow{"SkippedWhileOneIsAway", 5, true, true, {}}),
    [](const auto& row) { return std::string(row.param.name); });

// Around the 64 that the room replays nobody can say which it is without
// counting what the lost link still delivered; both ends are right.
TEST(ReplayEdgeTest, InStepOrToldAtEveryDistance) {
  bool in_step = false, told = false;
  for (std::uint32_t ahead = 50; ahead < 75; ++ahead) {
    SCOPED_TRACE(ahead);
    LockstepWorld world({.seed = ahead, .players = 3});
    Client& stays = world.AddPeer();
    Client& away = world.AddPeer();
    Client& raw = world.AddRaw();
    world.RunFor(100 * kMs);
    for (std::uint32_t f = 2; f < 40; ++f) raw.raw().Input(f);
    world.RunFor(kSecond);
    world.Lose(away);
    for (std::uint32_t f = 40; f < 40 + ahead; ++f) raw.raw().Input(f);
    world.RunFor(10 * kMs);
    raw.raw().Leave();
    world.RunFor(10 * kSecond);
    if (away.peer().state() == PeerState::kPlaying) {
      ASSERT_EQ(away.game().first_bot_frame, 40 + ahead);
      ASSERT_EQ(stays.game().first_bot_frame, 40 + ahead);
      in_step = true;
    } else {
      ASSERT_EQ(away.peer().end(), PeerEnd::kHole);
      told = true;
    }
    ASSERT_EQ(told, ahead > 64) << "64 inputs are replayed, 65 are not";
    ExpectSameHistory(world);
  }
  EXPECT_TRUE(in_step);
}

// ---- Storms

TEST(StormTest, ResumesOfHostileSeatsNeverReachTheHonestOnesRate) {
  for (const int delay : {2, 31}) {
    SCOPED_TRACE(delay);
    LockstepWorld world({.seed = 12, .players = 4, .peer = {.delay = delay}});
    Client& first = world.AddPeer();
    world.AddPeer();
    for (int i = 0; i < 2; ++i) {
      Client* raw = &world.AddRaw();
      auto next = std::make_shared<std::uint32_t>(delay);
      raw->on_tick = [raw, next, &first, delay] {
        if (raw->raw().token() == 0) return;
        raw->ResumeRaw();  // 60 a second each, all told to everyone
        // Inputs a little early, so that the honest can play.
        const auto until =
            first.peer().frame() + static_cast<std::uint32_t>(delay) + 2;
        while (*next <= until) raw->raw().Input((*next)++);
      };
    }
    world.RunFor(30 * kSecond);
    ExpectAllPlaying(world);
    ExpectSameHistory(world);
    EXPECT_EQ(world.room().counters().kicked_rate, 0u);
    EXPECT_GT(first.peer().counters().resends, 1'000u);
    EXPECT_GT(first.peer().frame(), 1'000u);
  }
}

}  // namespace
}  // namespace parlor::lockstep
