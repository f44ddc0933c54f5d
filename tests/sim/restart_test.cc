// Matches that go on while their host is killed and begins anew: what players
// were told holds, and all of them are in the same state after the same frame.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "parlor/lockstep/peer.h"
#include "parlor/lockstep/replay_frames.h"
#include "parlor/lockstep/replay_log.h"
#include "parlor/lockstep/room.h"
#include "parlor/lockstep/room_state.h"
#include "parlor/random.h"
#include "parlor/sim/network.h"
#include "parlor/sim/world.h"
#include "parlor/time.h"
#include "sim/party.h"
#include "support/memory_room_records.h"
#include "support/replay_match.h"
#include "support/seed.h"

namespace parlor::sim {
namespace {

using lockstep::PeerState;
using Match = PartyOf<World>;

constexpr std::uint32_t kFrames = 900;

// What the matches went through: one that nothing happened to proves nothing.
struct Reached {
  int kills = 0;
  int power_losses = 0;
  int orderly = 0;
  int behind = 0;  // kills when the store lacked more than peers send again
  int after_away = 0;
  int after_leave = 0;
  int half_heard = 0;  // of these two, told to some of the others only
  int twice = 0;       // restarts while not everyone was back from the last one
  std::uint64_t resumes = 0;
  int joined = 0;  // recordings that go on where the one before stopped
  int holes = 0;   // that do not
  std::uint64_t frames = 0;  // that were recorded as they were run
};

// Each seat's newest INPUT in the room.
std::vector<std::int64_t> NewestInputs(Match& party) {
  const lockstep::Room* const room = party.host.FindRoom(Match::kRoom);
  if (room == nullptr) return {};
  std::vector<std::byte> bytes;
  room->Save(party.world.now(), bytes);
  const auto state = lockstep::ParseRoomState(bytes);
  EXPECT_TRUE(state.ok());
  std::vector<std::int64_t> newest;
  for (const lockstep::SeatState& seat : state->seats) {
    newest.push_back(seat.last_input);
  }
  return newest;
}

class RestartedMatch {
 public:
  RestartedMatch(std::uint64_t seed, Reached& reached)
      : random_(seed, 5), seed_(seed), reached_(reached) {
    constexpr Conditions kNetworks[] = {kPerfect, kLan, kWifi};
    network_ = kNetworks[random_.Below(3)];
    players_ = random_.Between(2, 5);
    peer_.delay = random_.Chance(1, 6) ? 31 : random_.Between(1, 6);
    peer_.hash_every = random_.Between(1, 40);
  }

  void Run() {
    HostOptions host = kHost;
    host.records = records_;
    Match party(Options(), host);
    party_ = &party;
    ASSERT_NO_FATAL_FAILURE(party.Seat(players_, {.peer = peer_}));
    KeepStates(party, states_);
    party.world.RunFor(UpTo(random_.Chance(1, 3) ? 900 : 2'500));
    const int restarts = random_.Between(1, 4);
    for (int i = 0; i < restarts; ++i) {
      if (random_.Chance(1, 3)) LoseSeat();
      Restart();
      party.world.RunFor(random_.Chance(1, 3) ? UpTo(300) : UpTo(3'000));
    }
    PlayOn();
    CheckStates();
    CheckRecordings();
  }

 private:
  // The room's seed is the same in every world: so are the states of a match
  // that nobody leaves.
  static inline const HostOptions kHost{.shard = {.room = {.seed = 4'711}},
                                        .drain_ms = 0};

  WorldOptions Options() const { return {.seed = seed_, .network = network_}; }

  Duration UpTo(std::uint32_t ms) {
    return (1 + random_.Below(ms)) * kMillisecond;
  }

  // That of each seat after kFrames.
  using States = std::vector<std::optional<std::uint64_t>>;

  void KeepStates(Match& party, States& states) {
    states.assign(static_cast<std::size_t>(players_), std::nullopt);
    for (std::size_t s = 0; s < states.size(); ++s) {
      party.games[s]->keep_frames = true;
      party.games[s]->on_step = [&states, &party, s] {
        if (party.world.client(s).peer().frame() + 1 == kFrames) {
          states[s] = party.games[s]->state();
        }
      };
    }
  }

  std::vector<Client*> Staying() {
    std::vector<Client*> staying;
    for (int seat = 0; seat < players_; ++seat) {
      Client& client = party_->client(seat);
      if (client.crashed()) continue;
      if (client.peer().state() != PeerState::kEnded)
        staying.push_back(&client);
    }
    return staying;
  }

  bool AllPlaying() {
    const auto staying = Staying();
    return std::ranges::all_of(staying, [](Client* client) {
      return client->peer().state() == PeerState::kPlaying;
    });
  }

  // Who does not know yet that its host has lost power plays, too.
  bool AllBack() {
    return AllPlaying() && Seated() == static_cast<int>(Staying().size());
  }

  // One who plays leaves, or drops and never comes back: up to where the room
  // has noticed, and told, but not everybody has heard.
  void LoseSeat() {
    if (!AllBack()) return;
    // Until a room that was killed has again what it had relayed. A seat that
    // goes before it said that again leaves the others apart: nobody can help.
    party_->world.RunFor(300 * kMillisecond);
    const auto staying = Staying();
    if (staying.size() < 3 || !AllBack()) return;
    Client& client =
        *staying[random_.Below(static_cast<std::uint32_t>(staying.size()))];
    const int before = Seated();
    const bool leaves = random_.Chance(1, 2);
    if (leaves) {
      client.Leave();
    } else {
      client.Crash();
    }
    ASSERT_TRUE(
        party_->world.RunUntil([&] { return Seated() != before; }).ok());
    ++(leaves ? reached_.after_leave : reached_.after_away);
    left_ = true;
    party_->world.RunFor(random_.Below(20) * kMillisecond);
    if (HalfHeard()) ++reached_.half_heard;
  }

  int Seated() const {
    const lockstep::Room* const room = party_->host.FindRoom(Match::kRoom);
    return room == nullptr ? 0 : room->seated();
  }

  bool HalfHeard() {
    const auto staying = Staying();
    const auto heard = [](const Client* client) {
      return client->peer().lost() | client->peer().away();
    };
    return std::ranges::adjacent_find(staying, [&](Client* a, Client* b) {
             return heard(a) != heard(b);
           }) != staying.end();
  }

  void Restart() {
    if (!AllBack()) ++reached_.twice;
    const std::vector<std::int64_t> before = NewestInputs(*party_);
    const bool orderly = random_.Chance(1, 4);
    if (orderly) {
      ++reached_.orderly;
      party_->host.Drain();
      party_->world.RunFor(UpTo(40));
    }
    const bool power = !orderly && random_.Chance(1, 4);
    ++(power ? reached_.power_losses : reached_.kills);
    records_->killed = true;
    party_->host.CrashNow(power ? Host::Crash::kMachine
                                : Host::Crash::kProcess);
    records_->killed = false;
    party_->world.RunFor(UpTo(random_.Chance(1, 4) ? 3'000 : 300));
    party_->host.Start();
    if (!orderly) CountBehind(before);
  }

  // What was kept is less than the peers' resends can join.
  void CountBehind(const std::vector<std::int64_t>& before) {
    const std::vector<std::int64_t> kept = NewestInputs(*party_);
    for (std::size_t s = 0; s < std::min(kept.size(), before.size()); ++s) {
      if (before[s] - kept[s] > 2 * peer_.delay + 2) {
        ++reached_.behind;
        return;
      }
    }
  }

  // Everyone who stays gets to the end, within every retry and hold.
  void PlayOn() {
    const absl::Status status = party_->world.RunUntil([this] {
      const auto staying = Staying();
      return std::ranges::all_of(staying, [](Client* client) {
        return client->peer().frame() > kFrames && client->peer().away() == 0;
      });
    });
    EXPECT_TRUE(status.ok()) << status;
    EXPECT_TRUE(AllPlaying());
  }

  void CheckStates() {
    party_->ExpectInSync();
    const auto staying = Staying();
    ASSERT_FALSE(staying.empty());
    for (Client* client : staying) {
      EXPECT_EQ(client->peer().desync(), -1);
      reached_.resumes += client->peer().counters().resumes;
    }
    for (int seat = 0; seat < players_; ++seat) {
      Client& client = party_->client(seat);
      if (client.crashed() || client.peer().state() != PeerState::kEnded) {
        continue;
      }
      EXPECT_EQ(client.peer().end(), lockstep::PeerEnd::kLeft)
          << "seat " << seat << ": " << client.peer().end_text();
    }
    if (!left_) {
      EXPECT_EQ(states_[0], Undisturbed());
    }
  }

  // Each process has recorded its part. Together they are what was played, but
  // for what died with one that was killed: then only what was after that.
  void CheckRecordings() {
    party_->host.Stop(CloseReason::kNormal);
    EXPECT_TRUE(
        party_->world.RunUntil([this] { return party_->host.stopped(); }).ok());
    std::optional<lockstep::ReplayFrames> frames;
    for (const auto& recorded : records_->recordings) {
      auto log = lockstep::ReplayLogReader::Open(recorded.bytes, true);
      ASSERT_TRUE(log.ok()) << log.status();
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
    for (int seat = 0; seat < players_; ++seat) {
      if (!party_->client(seat).crashed()) ExpectRecorded(*frames, seat);
    }
  }

  void ExpectRecorded(lockstep::ReplayFrames& frames, int seat) {
    std::size_t others_ran = 0;
    for (std::size_t s = 0; s < party_->games.size(); ++s) {
      if (static_cast<int>(s) == seat) continue;
      others_ran = std::max(others_ran, party_->games[s]->frames.size() + 1);
    }
    reached_.frames += test::ExpectRecorded(
        frames, party_->peer(seat),
        *party_->games[static_cast<std::size_t>(seat)], others_ran);
  }

  std::optional<std::uint64_t> Undisturbed() {
    States states;
    Match party(Options(), kHost);
    party.Seat(players_, {.peer = peer_});
    KeepStates(party, states);
    EXPECT_TRUE(party.world.RunUntilFrame(kFrames).ok());
    return states[0];
  }

  Random random_;
  const std::uint64_t seed_;
  Reached& reached_;
  Conditions network_;
  int players_ = 0;
  lockstep::PeerOptions peer_;
  Match* party_ = nullptr;
  bool left_ = false;
  const std::shared_ptr<test::MemoryRoomRecords> records_ =
      std::make_shared<test::MemoryRoomRecords>();
  States states_;
};

TEST(RestartTest, GoesOnToTheSameHash) {
  const std::uint64_t base = test::TestSeed();
  const std::uint64_t matches = test::NumberFromEnv("PARLOR_MATCHES", 100);
  Reached reached;
  for (std::uint64_t seed = base; seed < base + matches; ++seed) {
    SCOPED_TRACE(testing::Message() << "rerun: PARLOR_SEED=" << seed
                                    << " PARLOR_MATCHES=1 sim_restart_test");
    RestartedMatch(seed, reached).Run();
    if (testing::Test::HasFailure()) return;
  }
  std::printf(
      "%d kills and %d power losses, %d of them far behind, %d orderly, %d "
      "again too soon, after %d AWAY and %d LEAVE, %d half heard; %llu "
      "resumes\n",
      reached.kills, reached.power_losses, reached.behind, reached.orderly,
      reached.twice, reached.after_away, reached.after_leave,
      reached.half_heard, static_cast<unsigned long long>(reached.resumes));
  std::printf("%d recordings joined, %d not; %llu frames\n", reached.joined,
              reached.holes, static_cast<unsigned long long>(reached.frames));
  if (matches < 100) return;
  EXPECT_GT(reached.joined, 60);
  EXPECT_GT(reached.holes, 25);
  EXPECT_GT(reached.frames, 100'000u);
  EXPECT_GT(reached.kills, 60);
  EXPECT_GT(reached.power_losses, 15);
  EXPECT_GT(reached.behind, 25);
  EXPECT_GT(reached.orderly, 25);
  EXPECT_GT(reached.twice, 15);
  EXPECT_GT(reached.after_away, 5);
  EXPECT_GT(reached.after_leave, 5);
  EXPECT_GT(reached.half_heard, 3);
}

}  // namespace
}  // namespace parlor::sim
