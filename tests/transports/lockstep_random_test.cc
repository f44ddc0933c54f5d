// Random lockstep matches, each from one seed: links are lost, hosts cannot be
// reached, seats stall and leave, and in half of the matches hostile seats do
// as they like. Then all is well again. Every honest seat is in step at the
// end, or was told why not.
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "parlor/lockstep/peer.h"
#include "parlor/lockstep/replay_frames.h"
#include "parlor/lockstep/replay_log.h"
#include "parlor/lockstep/room_log.h"
#include "parlor/random.h"
#include "support/lockstep_world.h"
#include "support/replay_bytes.h"
#include "support/replay_match.h"
#include "support/seed.h"

namespace parlor::lockstep {
namespace {

using test::ExpectSameHistory;
using test::Honest;
using test::LockstepWorld;
using test::Outage;
using Client = LockstepWorld::Client;

constexpr Duration kMs{1'000'000};

class RandomMatch {
 public:
  explicit RandomMatch(std::uint64_t seed)
      : random_(seed, 77),
        options_(Draw(seed)),
        world_(options_),
        recorder_(recorded_, world_.now(), world_.room(), Label()) {
    world_.room().SetRecorder(&recorder_);
    rough_ = random_.Chance(1, 4);
    const bool hostile = random_.Chance(1, 2);
    for (int s = 0; s < options_.players; ++s) {
      if (s > 0 && hostile && random_.Chance(1, 3)) {
        AddHostile();
      } else {
        world_.AddPeer().game().keep_frames = true;
      }
    }
  }

  void Run() {
    world_.RunFor(UpTo(500));
    const std::uint32_t actions = 3 + random_.Below(25);
    for (std::uint32_t i = 0; i < actions; ++i) {
      Act();
      world_.RunFor(random_.Chance(1, 3) ? UpTo(5) : UpTo(700));
    }
    Heal();
    CheckLiveness();
    CheckSafety();
    CheckRecording();
  }

  std::uint64_t recorded_frames() const { return recorded_frames_; }
  std::uint64_t frames() {
    std::uint64_t sum = 0;
    for (Client* client : Honest(world_)) sum += client->peer().frame();
    return sum;
  }
  int told() const { return told_; }
  std::uint64_t resumes() const { return resumes_; }

 private:
  LockstepWorld::Options Draw(std::uint64_t seed) {
    LockstepWorld::Options options{.seed = seed};
    options.players = random_.Between(2, 6);
    options.peer.delay = random_.Chance(1, 8) ? 31 : random_.Between(1, 6);
    options.peer.hash_every = random_.Between(1, 12);
    options.peer.jitter_seed = seed;
    options.host_period = UpTo(8);
    options.ragged = random_.Chance(1, 2);
    return options;
  }

  // Of half of the matches, as of any host's, the game is not known: the delay
  // is that of most seats, of which the hostile are less than half.
  RoomLabel Label() {
    RoomLabel label;
    if (random_.Chance(1, 2)) label.game.delay = options_.peer.delay;
    return label;
  }

  Duration UpTo(std::uint32_t ms) { return (1 + random_.Below(ms)) * kMs; }

  std::uint32_t NewestFrame() {
    std::uint32_t newest = 0;
    for (Client* client : Honest(world_)) {
      newest = std::max(newest, client->peer().frame());
    }
    return newest;
  }

  // ---- Hostile seats

  struct Hostile {
    Client* client;
    std::uint32_t next;
    std::uint32_t ahead = 0;
  };

  void AddHostile() {
    const auto delay = static_cast<std::uint32_t>(options_.peer.delay);
    hostiles_.push_back(
        std::make_unique<Hostile>(Hostile{&world_.AddRaw(), delay}));
    Hostile* const hostile = hostiles_.back().get();
    hostile->client->on_tick = [this, hostile] { Play(*hostile); };
  }

  // Mostly on time, so that the match goes on; at most 3 inputs a tick.
  void Play(Hostile& hostile) {
    test::RawLockstepClient& raw = hostile.client->raw();
    if (raw.token() == 0) return;
    if (random_.Chance(1, 60)) Misbehave(hostile);
    const auto delay = static_cast<std::uint32_t>(options_.peer.delay);
    const std::uint64_t until =
        std::uint64_t{NewestFrame()} + delay + hostile.ahead;
    for (int i = 0; i < 3 && hostile.next <= until; ++i) {
      raw.Input(hostile.next++);
    }
  }

  void Misbehave(Hostile& hostile) {
    test::RawLockstepClient& raw = hostile.client->raw();
    switch (random_.Below(12)) {
      case 0:
        hostile.next += 1 + random_.Below(3);
        return;
      case 1:
        hostile.ahead += random_.Below(300);
        return;
      case 2:
        raw.Input(random_.Below(hostile.next + 1));
        return;
      case 3:
        return hostile.client->ResumeRaw();
      case 4:
        return world_.Lose(*hostile.client, UpTo(500));
      case 5:
        if (random_.Chance(1, 8)) raw.Leave();
        return;
      case 6:
        if (random_.Chance(1, 8)) raw.Input(0xffffffff);
        return;
      case 7:  // forged names and kinds; a false hash is a desync, and told as
               // one
        raw.Say({.kind = static_cast<Kind>(3 + random_.Below(253)),
                 .slot = static_cast<std::uint8_t>(random_.Below(8)),
                 .frame = hostile.next,
                 .value = 1});
        return;
      default:
        hostile.ahead = random_.Below(4);
        return;
    }
  }

  // ---- What happens to honest seats

  void Act() {
    const auto honest = Honest(world_);
    const auto at = [&] {
      return honest[random_.Below(static_cast<std::uint32_t>(honest.size()))];
    };
    switch (random_.Below(10)) {
      case 0:
      case 1:
      case 2:
      case 3:
        return Lose(*at());
      case 4:
      case 5:
        for (Client* client : honest) {
          if (random_.Chance(1, 2)) Lose(*client);
        }
        return;
      case 6:
      case 7: {
        Client& client = *at();
        if (client.in_match() && MayHit(client)) {
          client.paused_until = world_.now() + UpTo(2'000);
        }
        return;
      }
      case 8: {
        Client& client = *at();
        if (put_out_.size() + 1 == honest.size()) return;  // one stays
        if (random_.Chance(1, 3) && put_out_.insert(&client).second) {
          client.peer().Leave();
        }
        return;
      }
      default: {
        Client& client = *at();
        if (put_out_.size() + 1 == honest.size() || !client.in_match()) return;
        if (random_.Chance(1, 6) && put_out_.insert(&client).second) {
          world_.room().Kick(world_.now(), client.peer().seat(),
                             CloseReason::kKicked);
        }
        return;
      }
    }
  }

  // In a gentle match a seat that comes back is not hit again meanwhile, so
  // that it must come back.
  bool MayHit(Client& client) {
    return rough_ || (client.peer().state() == PeerState::kPlaying &&
                      client.outage == Outage::kNone);
  }

  void Lose(Client& client) {
    if (!MayHit(client)) return;
    if (random_.Chance(1, 2)) {
      client.outage = static_cast<Outage>(1 + random_.Below(3));
      world_.executor().After(UpTo(rough_ ? 25'000 : 5'000),
                              [&client] { client.outage = Outage::kNone; });
    }
    world_.Lose(client, random_.Chance(1, 2) ? Duration{} : UpTo(3'000));
  }

  // ---- The end

  void Heal() {
    for (const auto& client : world_.clients()) {
      client->outage = Outage::kNone;
      client->paused_until = {};
    }
    for (const auto& hostile : hostiles_) {
      hostile->client->on_tick = nullptr;
      hostile->client->raw().Leave();
    }
  }

  // Within every retry and hold, all who still play get on.
  void CheckLiveness() {
    const std::uint32_t until = NewestFrame() + 100;
    const auto done = [&] {
      for (Client* client : Honest(world_)) {
        const Peer& peer = client->peer();
        if (peer.state() == PeerState::kEnded) continue;
        if (peer.state() != PeerState::kPlaying || peer.away() != 0 ||
            peer.frame() < until) {
          return false;
        }
      }
      return true;
    };
    for (int i = 0; i < 120 && !done(); ++i) world_.RunFor(500 * kMs);
    EXPECT_TRUE(done()) << "somebody stalls for ever";
  }

  void CheckSafety() {
    ExpectSameHistory(world_);
    const Peer* playing = nullptr;
    for (Client* client : Honest(world_)) {
      const Peer& peer = client->peer();
      resumes_ += peer.counters().resumes;
      if (peer.state() == PeerState::kEnded) {
        CheckEnd(*client);
        continue;
      }
      EXPECT_EQ(peer.away(), 0u);
      EXPECT_EQ(peer.lost(), (playing != nullptr ? playing : &peer)->lost());
      playing = &peer;
    }
  }

  // The most frames that anybody else ran.
  std::size_t OthersRan(const Client& client) {
    std::size_t most = 0;
    for (Client* other : Honest(world_)) {
      if (other == &client) continue;
      most = std::max(most, other->game().frames.size());
    }
    return most;
  }

  // What hostile seats said, too: the recording says what it came to.
  void CheckRecording() {
    world_.room().End(world_.now(), CloseReason::kNormal);
    auto log = ReplayLogReader::Open(recorded_.bytes);
    ASSERT_TRUE(log.ok()) << log.status();
    auto frames = ReplayFrames::Of(*log);
    EXPECT_EQ(frames.ok(), log->match().has_value()) << frames.status();
    if (!frames.ok()) return;
    for (Client* client : Honest(world_)) {
      if (!client->peer().match()) continue;
      recorded_frames_ += test::ExpectRecorded(
          *frames, client->peer(), client->game(), OthersRan(*client));
    }
  }

  void CheckEnd(Client& client) {
    const Peer& peer = client.peer();
    SCOPED_TRACE(testing::Message()
                 << "seat " << peer.seat() << " ended: " << peer.end_text());
    EXPECT_FALSE(peer.end_text().empty());
    if (put_out_.count(&client) != 0) return;
    ++told_;
    switch (peer.end()) {
      case PeerEnd::kHole:
      case PeerEnd::kAhead:
        EXPECT_FALSE(hostiles_.empty());
        return;
      case PeerEnd::kRetriesSpent:
        EXPECT_TRUE(rough_);
        return;
      case PeerEnd::kClosed:
        EXPECT_TRUE(rough_);
        // Without WELCOME it has no token to come back with.
        EXPECT_EQ(peer.end_code(),
                  peer.match() ? close_code::kSeatGone : close_code::kDropped);
        return;
      default:
        ADD_FAILURE();
    }
  }

  Random random_;
  const LockstepWorld::Options options_;
  std::vector<std::unique_ptr<Hostile>> hostiles_;
  std::set<Client*> put_out_;  // told to leave, or kicked
  bool rough_ = false;
  int told_ = 0;
  std::uint64_t resumes_ = 0;
  std::uint64_t recorded_frames_ = 0;
  LockstepWorld world_;
  test::MemoryReplaySink recorded_;
  RoomLog recorder_;
};

TEST(RandomMatchTest, EveryHonestSeatIsInStepOrWasTold) {
  const std::uint64_t base = test::TestSeed();
  const std::uint64_t matches = test::NumberFromEnv("PARLOR_MATCHES", 2'000);
  std::uint64_t frames = 0, recorded = 0, resumes = 0;
  int told = 0;
  for (std::uint64_t seed = base; seed < base + matches; ++seed) {
    SCOPED_TRACE(testing::Message() << "rerun: PARLOR_SEED=" << seed
                                    << " PARLOR_MATCHES=1 lockstep_random_test"
                                       " --gtest_filter=RandomMatchTest.*");
    RandomMatch match(seed);
    match.Run();
    frames += match.frames();
    recorded += match.recorded_frames();
    resumes += match.resumes();
    told += match.told();
    if (testing::Test::HasFailure()) return;
  }
  std::printf("%llu frames, %llu recorded, %llu resumes, %d told\n",
              static_cast<unsigned long long>(frames),
              static_cast<unsigned long long>(recorded),
              static_cast<unsigned long long>(resumes), told);
  // Matches in which nothing happens prove nothing.
  if (matches >= 1'000) {
    EXPECT_GT(resumes, matches);
    EXPECT_GT(told, 0);
    EXPECT_GT(recorded, frames / 10 * 9);
  }
}

}  // namespace
}  // namespace parlor::lockstep
