// Matches that go on while their host is killed and begins anew: what players
// were told holds, and all of them are in the same state after the same frame.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <vector>

#include "parlor/lockstep/peer.h"
#include "parlor/lockstep/replay_frames.h"
#include "parlor/lockstep/replay_log.h"
#include "parlor/lockstep/room.h"
#include "parlor/random.h"
#include "support/replay_match.h"
#include "support/restart_world.h"
#include "support/seed.h"

namespace parlor::host {
namespace {

using lockstep::PeerState;
using test::RestartWorld;
using Client = RestartWorld::Client;

constexpr std::uint32_t kRoom = RestartWorld::kRoom;

// What the matches went through: one that nothing happened to proves nothing.
struct Reached {
  int kills = 0;
  int orderly = 0;
  int behind = 0;  // kills when the store lacked more than peers send again
  int after_away = 0;
  int after_leave = 0;
  int half_heard = 0;  // of these two, told to some of the others only
  int twice = 0;       // restarts while not everyone was back from the last one
  std::uint64_t resumes = 0;
  int bots = 0;    // seats that a bot took over
  int joined = 0;  // recordings that go on where the one before stopped
  int holes = 0;   // that do not
  int torn = 0;    // recordings that ended with a kill
  std::uint64_t frames = 0;  // that were recorded as they were run
};

class RestartedMatch {
 public:
  RestartedMatch(std::uint64_t seed, Reached& reached)
      : random_(seed, 5),
        options_(Draw(seed)),
        reached_(reached),
        world_(options_) {}

  void Run() {
    // Who has not heard WELCOME has no token to come back with.
    world_.RunFor(40 * kMillisecond + UpTo(random_.Chance(1, 3) ? 900 : 2'500));
    const int restarts = random_.Between(1, 4);
    for (int i = 0; i < restarts; ++i) {
      if (random_.Chance(1, 3)) LoseSeat();
      Restart();
      world_.RunFor(random_.Chance(1, 3) ? UpTo(300) : UpTo(3'000));
    }
    PlayOn();
    CheckStates();
    CheckRecordings();
  }

 private:
  RestartWorld::Options Draw(std::uint64_t seed) {
    RestartWorld::Options options{.seed = seed};
    options.players = random_.Between(2, 5);
    options.frames = 900;
    options.peer.delay = random_.Chance(1, 6) ? 31 : random_.Between(1, 6);
    options.peer.hash_every = random_.Between(1, 40);
    options.peer.jitter_seed = seed;
    options.shard.room.seed = 4'711;
    return options;
  }

  Duration UpTo(std::uint32_t ms) {
    return (1 + random_.Below(ms)) * kMillisecond;
  }

  std::vector<Client*> Staying() {
    std::vector<Client*> staying;
    for (const auto& client : world_.clients()) {
      if (client->in_match() && !client->cut_off) {
        staying.push_back(client.get());
      }
    }
    return staying;
  }

  bool AllPlaying() {
    const auto staying = Staying();
    return std::all_of(staying.begin(), staying.end(), [](Client* client) {
      return client->peer().state() == PeerState::kPlaying;
    });
  }

  // One who plays leaves, or drops and never comes back: up to where the room
  // has noticed, and told, but not everybody has heard.
  void LoseSeat() {
    if (!AllPlaying()) return;
    // Until a room that was killed has again what it had relayed. A seat that
    // goes before it said that again leaves the others apart: nobody can help.
    world_.RunFor(60 * kMillisecond);
    const auto staying = Staying();
    if (staying.size() < 3) return;
    Client& client =
        *staying[random_.Below(static_cast<std::uint32_t>(staying.size()))];
    const int before = world_.room()->seated();
    const bool leaves = random_.Chance(1, 2);
    if (leaves) {
      client.peer().Leave();
    } else {
      client.CutOff();
    }
    while (world_.room()->seated() == before) world_.RunFor(kMillisecond);
    ++(leaves ? reached_.after_leave : reached_.after_away);
    left_ = true;
    world_.RunFor(random_.Below(20) * kMillisecond);
    if (HalfHeard()) ++reached_.half_heard;
  }

  bool HalfHeard() {
    const auto staying = Staying();
    return std::adjacent_find(staying.begin(), staying.end(),
                              [](Client* a, Client* b) {
                                return (a->peer().lost() | a->peer().away()) !=
                                       (b->peer().lost() | b->peer().away());
                              }) != staying.end();
  }

  void Restart() {
    if (!AllPlaying()) ++reached_.twice;
    if (random_.Chance(1, 4)) {
      ++reached_.orderly;
      world_.EndInOrder();
      world_.RunFor(UpTo(40));
    } else {
      ++reached_.kills;
      CountBehind();
    }
    world_.Kill();
    world_.RunFor(UpTo(random_.Chance(1, 4) ? 3'000 : 300));
    world_.Start();
  }

  // The store has less than the peers' resends can join.
  void CountBehind() {
    std::vector<std::byte> now;
    world_.room()->Save(world_.now(), now);
    const auto kept = world_.store().Find(kRoom);
    const auto state = lockstep::ParseRoomState(now);
    ASSERT_TRUE(state.ok());
    ASSERT_TRUE(kept);
    for (std::size_t seat = 0; seat < kept->seats.size(); ++seat) {
      const std::int64_t lacks =
          state->seats[seat].last_input - kept->seats[seat].last_input;
      if (lacks > 2 * options_.peer.delay + 2) {
        ++reached_.behind;
        return;
      }
    }
  }

  // Everyone who stays gets to the end, within every retry and hold.
  void PlayOn() {
    const auto done = [this] {
      const auto staying = Staying();
      return std::all_of(staying.begin(), staying.end(), [this](Client* c) {
        return c->peer().frame() > options_.frames && c->peer().away() == 0;
      });
    };
    for (int i = 0; i < 120 && !done(); ++i) {
      world_.RunFor(500 * kMillisecond);
    }
    EXPECT_TRUE(done()) << "somebody stalls for ever";
    EXPECT_TRUE(AllPlaying());
  }

  void CheckStates() {
    const auto staying = Staying();
    ASSERT_FALSE(staying.empty());
    const test::LoggedGame& first = staying[0]->game();
    for (Client* client : staying) {
      SCOPED_TRACE(testing::Message() << "seat " << client->peer().seat());
      EXPECT_EQ(client->peer().desync(), -1);
      EXPECT_EQ(client->game().bot_from, first.bot_from);
      EXPECT_EQ(client->game().stop_state, first.stop_state);
      reached_.resumes += client->peer().counters().resumes;
    }
    reached_.bots += static_cast<int>(
        std::count_if(first.bot_from.begin(), first.bot_from.end(),
                      [](std::uint32_t from) { return from != 0xffffffff; }));
    for (const auto& client : world_.clients()) {
      SCOPED_TRACE(testing::Message() << "seat " << client->peer().seat());
      if (!client->in_match()) ExpectGone(*client);
    }
    if (left_) return;
    EXPECT_EQ(first.stop_state, Undisturbed());
  }

  // Each process has recorded its part. Together they are what was played, but
  // for what died with one that was killed: then only what was after that.
  void CheckRecordings() {
    world_.EndInOrder();
    std::optional<lockstep::ReplayFrames> frames;
    for (const auto& recorded : world_.records().recordings) {
      EXPECT_EQ(recorded.number, kRoom);
      auto log = lockstep::ReplayLogReader::Open(recorded.bytes, true);
      ASSERT_TRUE(log.ok()) << log.status();
      if (log->torn_at()) ++reached_.torn;
      EXPECT_EQ(log->kept().has_value(), frames.has_value());
      if (frames && frames->Append(*log).ok()) {
        ++reached_.joined;
        continue;
      }
      if (frames) ++reached_.holes;
      auto anew = lockstep::ReplayFrames::Of(*log);
      ASSERT_TRUE(anew.ok()) << anew.status();
      frames = *std::move(anew);
    }
    for (const auto& client : world_.clients()) {
      reached_.frames +=
          test::ExpectRecorded(*frames, client->peer(), client->game(),
                               test::OthersRan(world_, *client));
    }
  }

  void ExpectGone(Client& client) {
    EXPECT_TRUE(client.cut_off ||
                client.peer().end() == lockstep::PeerEnd::kLeft)
        << client.peer().end_text();
  }

  std::optional<std::uint64_t> Undisturbed() {
    RestartWorld world(options_);
    world.RunFor((options_.frames + 60) * kMillisecond * 1'000 / 60);
    return world.clients()[0]->game().stop_state;
  }

  Random random_;
  const RestartWorld::Options options_;
  Reached& reached_;
  bool left_ = false;
  RestartWorld world_;
};

TEST(RestartMatchTest, GoesOnToTheSameHash) {
  const std::uint64_t base = test::TestSeed();
  const std::uint64_t matches = test::NumberFromEnv("PARLOR_MATCHES", 300);
  Reached reached;
  for (std::uint64_t seed = base; seed < base + matches; ++seed) {
    SCOPED_TRACE(testing::Message()
                 << "rerun: PARLOR_SEED=" << seed
                 << " PARLOR_MATCHES=1 host_test"
                    " --gtest_filter=RestartMatchTest.GoesOnToTheSameHash");
    RestartedMatch(seed, reached).Run();
    if (testing::Test::HasFailure()) return;
  }
  std::printf("%d recordings joined, %d not, %d torn; %llu frames\n",
              reached.joined, reached.holes, reached.torn,
              static_cast<unsigned long long>(reached.frames));
  std::printf(
      "%d kills, %d of them far behind, %d orderly, %d again too soon, after "
      "%d AWAY and %d LEAVE, %d half heard; %llu resumes, %d bots\n",
      reached.kills, reached.behind, reached.orderly, reached.twice,
      reached.after_away, reached.after_leave, reached.half_heard,
      static_cast<unsigned long long>(reached.resumes), reached.bots);
  if (matches < 300) return;
  EXPECT_GT(reached.kills, 300);
  EXPECT_GT(reached.behind, 100);
  EXPECT_GT(reached.orderly, 100);
  EXPECT_GT(reached.twice, 50);
  EXPECT_GT(reached.after_away, 30);
  EXPECT_GT(reached.after_leave, 30);
  EXPECT_GT(reached.half_heard, 10);
  EXPECT_GT(reached.bots, 60);
  EXPECT_GT(reached.torn, 300);
  EXPECT_GT(reached.frames, 300'000u);
}

}  // namespace
}  // namespace parlor::host
