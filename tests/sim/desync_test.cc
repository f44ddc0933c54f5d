// Desync reports from real matches: of real peers, in a real room, over a bad
// network. More of them by PARLOR_DESYNC_SEEDS and PARLOR_DESYNC_FRAMES.
#include "parlor/lockstep/desync.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "parlor/random.h"
#include "parlor/sim/world.h"
#include "parlor/status.h"
#include "support/desync_party.h"
#include "support/entity_game.h"
#include "support/seed.h"
#include "support/status_matchers.h"

namespace parlor::sim {
namespace {

using lockstep::DesyncDump;
using lockstep::DesyncJudge;
using lockstep::DesyncKind;
using lockstep::DesyncOptions;
using lockstep::DesyncRecorder;
using lockstep::DesyncReport;
using lockstep::DesyncText;
using lockstep::FindDesync;
using lockstep::ParseDesyncDump;
using test::EntityGame;

struct Setting {
  std::uint64_t seed;
  int players;
  std::size_t entities;
  Conditions network;
  lockstep::PeerOptions peer;
  DesyncOptions recorder;
};

// One match whose games are recorded. Seats are clients, as they come.
class Recorded {
 public:
  explicit Recorded(const Setting& setting)
      : world_({.seed = setting.seed, .network = setting.network}),
        host_(world_.AddHost()) {
    for (int i = 0; i < setting.players; ++i) {
      games_.push_back(std::make_unique<EntityGame>(setting.entities));
      recorders_.push_back(
          std::make_unique<DesyncRecorder>(*games_.back(), setting.recorder));
      Client& client = world_.AddClient(
          *recorders_.back(), {.peer = setting.peer, .desync = std::nullopt});
      recorders_.back()->Follow(&client.peer());
      client.Join(host_, {.room = 1, .players = setting.players});
    }
  }

  World& world() { return world_; }
  Client& client(std::size_t i) { return world_.client(i); }
  EntityGame& game(std::size_t i) { return *games_[i]; }
  std::size_t size() const { return games_.size(); }

  // Its peer goes with it.
  void Crash(std::size_t i) {
    if (client(i).crashed()) return;
    recorders_[i]->Follow(nullptr);
    client(i).Crash();
  }
  bool AllFrozen() const {
    return std::all_of(recorders_.begin(), recorders_.end(),
                       [](const auto& recorder) { return recorder->frozen(); });
  }
  bool AnyFrozen() const {
    return std::any_of(recorders_.begin(), recorders_.end(),
                       [](const auto& recorder) { return recorder->frozen(); });
  }
  // Of those who were in a match, as they are sent.
  std::vector<DesyncDump> Dumps() const {
    std::vector<DesyncDump> dumps;
    for (const auto& recorder : recorders_) {
      if (recorder->frames() == 0) continue;
      auto dump = ParseDesyncDump(EncodeDesyncDump(recorder->Dump()));
      EXPECT_THAT(dump, IsOk());
      if (dump.ok()) dumps.push_back(*std::move(dump));
    }
    return dumps;
  }
  std::uint32_t newest() {
    std::uint32_t frame = 0;
    for (std::size_t i = 0; i < size(); ++i) {
      if (client(i).crashed()) continue;
      frame = std::max(frame, client(i).peer().frame());
    }
    return frame;
  }

 private:
  std::vector<std::unique_ptr<EntityGame>> games_;
  std::vector<std::unique_ptr<DesyncRecorder>> recorders_;
  World world_;
  Host& host_;
};

// The bits of a bool that are not its value may not be read.
std::size_t AnyBit(Random& random) {
  const std::uint32_t bit = random.Below(31 * 8 + 1);
  return bit;
}

void FlipOneBit(std::uint64_t seed) {
  Random random(seed);
  constexpr std::size_t kEntities = 10'000;
  const int players = random.Between(2, 5);
  const int delay = random.Between(1, 6);
  Recorded match({.seed = seed,
                  .players = players,
                  .entities = kEntities,
                  .network = random.Chance(1, 2) ? kMobile : kWifi,
                  .peer = {.delay = delay},
                  .recorder = {.game = "entities"}});
  const std::size_t odd = random.Below(static_cast<std::uint32_t>(players));
  const std::uint32_t frame = 1 + random.Below(150);
  const std::size_t entity = random.Below(kEntities);
  const std::size_t bit = AnyBit(random);
  SCOPED_TRACE("seat of client " + std::to_string(odd) + ", frame " +
               std::to_string(frame) + ", entity " + std::to_string(entity) +
               ", bit " + std::to_string(bit));
  match.game(odd).flip = {.frame = frame, .entity = entity, .bit = bit};
  // Some are written over before the next HASH, as the last bit of a float to
  // which something is added: nobody hears of them, and they are kept.
  const auto healed = [&] {
    return match.newest() > frame + 45 && !match.AnyFrozen();
  };
  ASSERT_THAT(
      match.world().RunUntil([&] { return match.AllFrozen() || healed(); }),
      IsOk());
  const int seat = match.client(odd).peer().seat();
  const std::vector<DesyncDump> dumps = match.Dumps();
  const auto fresh = test::FreshEntities(kEntities);
  const auto expect = [&](const absl::StatusOr<DesyncReport>& report) {
    ASSERT_THAT(report, IsOk());
    SCOPED_TRACE(DesyncText(*report));
    EXPECT_EQ(report->kind, DesyncKind::kState);
    EXPECT_EQ(report->frame, frame + 1);
    EXPECT_EQ(report->shown, frame + 1);
    EXPECT_TRUE(report->exact);
    EXPECT_EQ(report->odd, std::vector{seat});
    ASSERT_EQ(report->sides.size(), 2u);
    EXPECT_EQ(report->sides[1].differences_total, 1u);
    ASSERT_EQ(report->sides[1].differences.size(), 1u);
    EXPECT_EQ(report->sides[1].differences[0].path,
              test::PathOfBit(entity, bit));
  };
  // Those of all; or that of the odd seat alone, and the game.
  expect(FindDesync(dumps, players == 2 ? fresh : nullptr));
  if (healed()) return;
  const auto alone = std::find_if(
      dumps.begin(), dumps.end(),
      [&](const DesyncDump& dump) { return dump.match.seat == seat; });
  expect(FindDesync({&*alone, 1}, fresh));
}

TEST(DesyncMatchTest, OneFlippedBitInTenThousandEntitiesIsFound) {
  const std::uint64_t first = test::TestSeed();
  const std::uint64_t seeds = test::NumberFromEnv("PARLOR_DESYNC_SEEDS", 3);
  for (std::uint64_t seed = first; seed < first + seeds; ++seed) {
    SCOPED_TRACE("PARLOR_SEED=" + std::to_string(seed));
    ASSERT_NO_FATAL_FAILURE(FlipOneBit(seed));
    if (testing::Test::HasFailure()) return;
  }
}

// ---- No false alarm

// What happens to links and players.
void Disturb(Recorded& match, Random& random) {
  const std::size_t who =
      random.Below(static_cast<std::uint32_t>(match.size()));
  Client& client = match.client(who);
  if (client.crashed()) return;
  switch (random.Below(10)) {
    case 0:
      return client.Leave();
    case 1:
      return match.Crash(who);
    case 2:
    case 3:
      return client.Cut();
    case 4:
      return client.Cut(random.Chance(1, 2) ? Direction::kUp
                                            : Direction::kDown);
    case 5:
      return client.Stall(random.Below(3'000) * kMillisecond);
    case 6:
    case 7:
      return client.Reset();
    default:
      for (std::size_t i = 0; i < match.size(); ++i) match.client(i).Heal();
  }
}

// Frames that the longest of its peers ran.
std::uint32_t PlayQuietly(std::uint64_t seed) {
  Random random(seed);
  Recorded match({.seed = seed,
                  .players = random.Between(2, 6),
                  .entities = 3,
                  .network = random.Chance(1, 2) ? kMobile : kAwful,
                  .peer = {.delay = random.Between(1, 8),
                           .hash_every = random.Between(1, 30)},
                  .recorder = {.bytes_max = std::size_t{1} << 17}});
  std::uint32_t newest = 0;
  for (int turn = 0; turn < 40; ++turn) {
    // Fewer frames than a recorder keeps.
    match.world().RunFor(random.Between(100, 2'000) * kMillisecond);
    Disturb(match, random);
    newest = std::max(newest, match.newest());
    EXPECT_FALSE(match.AnyFrozen());
    EXPECT_THAT(match.world().CheckInSync(), IsOk());
    const std::vector<DesyncDump> dumps = match.Dumps();
    if (dumps.size() < 2) continue;
    const auto report = FindDesync(dumps);
    if (report.ok()) {
      EXPECT_EQ(report->kind, DesyncKind::kNone) << DesyncText(*report);
    } else {
      // Who went long ago kept none of the frames that the others have.
      EXPECT_EQ(StatusText(report.status()), "no frame is in two of the dumps");
    }
    if (testing::Test::HasFailure()) break;
  }
  return newest;
}

TEST(DesyncMatchTest, NothingIsFoundWhereNothingDiffers) {
  std::uint64_t seed = test::TestSeed();
  const std::uint64_t frames =
      test::NumberFromEnv("PARLOR_DESYNC_FRAMES", 8'000);
  std::uint64_t played = 0;
  std::uint64_t matches = 0;
  for (; played < frames && !testing::Test::HasFailure(); ++seed, ++matches) {
    SCOPED_TRACE("PARLOR_SEED=" + std::to_string(seed));
    played += PlayQuietly(seed);
  }
  std::printf("%llu frames in %llu matches\n",
              static_cast<unsigned long long>(played),
              static_cast<unsigned long long>(matches));
}

}  // namespace
}  // namespace parlor::sim
