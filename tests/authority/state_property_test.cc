// A random game over a random schema, seen by clients with and without views
// over state lanes that lose, repeat and overtake: whatever a client applies,
// it shows what the room showed it at one tick, exactly, and the newest once
// the link heals.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "authority/random_schema.h"
#include "authority/state_client.h"
#include "authority/state_frames.h"
#include "authority/state_game.h"
#include "authority/state_model.h"
#include "parlor/authority/row_table.h"
#include "parlor/authority/schema.h"
#include "parlor/authority/snapshot_encoder.h"
#include "parlor/authority/state_edits.h"
#include "parlor/authority/values.h"
#include "parlor/authority/wire_state_codec.h"
#include "parlor/random.h"
#include "support/hex.h"
#include "support/seed.h"

namespace parlor::authority {
namespace {

constexpr std::uint32_t kTicksApart = 3;  // 20 snapshots of 60 ticks a second
constexpr int kSeats = 4;
// A seat is two viewers of the encoder: itself, and this much above it.
constexpr int kJsonViewers = 100;
constexpr std::size_t kFlyingMax = 24;

// How often each thing happened: what no run may lack.
struct Tally {
  std::uint64_t baselines = 0;
  std::uint64_t join_baselines = 0;
  std::uint64_t resyncs = 0;
  std::uint64_t deltas = 0;
  std::uint64_t recoveries = 0;
  std::uint64_t stale = 0;
  std::uint64_t refusals = 0;
  std::uint64_t epochs = 0;
};

// What a room does at snapshot ticks, and the links to its clients.
class StateRun final : private ViewFilter {
 public:
  StateRun(std::uint64_t seed, Tally& tally)
      : random_(seed, 1),
        schema_(RandomSchema(random_, 12)),
        game_(schema_, seed),
        encoder_(game_.table()),
        tally_(tally) {
    NextTick();
    TakeBaseline();
    for (int seat = 0; seat < kSeats; ++seat) Join(seat);
  }

  void Round() {
    const bool new_epoch = random_.Chance(1, 30);
    if (new_epoch) {
      game_.NewEpoch();
      ++tally_.epochs;
    }
    NextTick();
    if (new_epoch || random_.Chance(1, 8)) TakeBaseline();
    for (Seat& seat : seats_) {
      if (random_.Chance(1, 12)) seat.blocked = !seat.blocked;
      if (random_.Chance(1, 60)) Join(seat.index);
      SendSnapshot(seat);
      Deliver(seat);
      if (testing::Test::HasFailure()) return;
    }
  }

  // Nothing is lost any more.
  void Heal() {
    NextTick();
    for (Seat& seat : seats_) {
      seat.blocked = false;
      SendSnapshot(seat);
      while (!seat.reliable.empty()) TakeReliable(seat);
      const SentState newest = seat.flying.back();
      Take(seat, newest);
      EXPECT_EQ(seat.client->tick(), tick_);
      EXPECT_EQ(seat.client->epoch(), game_.table().epoch());
      EXPECT_EQ(Difference(Visible(seat, game_.rows()),
                           ModelOf(seat.client->binary().rows())),
                "");
    }
    tally_.refusals += game_.refusals();
    EXPECT_EQ(game_.table().refusals(), game_.refusals());
  }

 private:
  struct Seat {
    int index = 0;
    bool has_view = false;
    bool blocked = false;  // reads slowly: recoveries alone
    std::unique_ptr<StateClient> client;
    std::optional<SentState> baseline;  // the last that was sent
    std::deque<SentState> reliable;
    std::vector<SentState> flying;  // the state lane's, the newest last
  };

  void NextTick();
  void TakeBaseline();
  void Join(int index);
  void SendSnapshot(Seat& seat);
  void SendBaseline(Seat& seat);
  void Resync(Seat& seat);
  SentState Delta(const Seat& seat);
  SentState Recovery(const Seat& seat);
  void Deliver(Seat& seat);
  void TakeReliable(Seat& seat);
  void Take(Seat& seat, const SentState& sent);

  // Rows come into a view and leave it as time goes by.
  bool InView(int viewer, RowId row) override {
    return Sees(viewer % kJsonViewers, row);
  }
  bool Sees(int seat, RowId row) const;
  ModelRows Visible(const Seat& seat, const ModelRows& rows) const;

  Random random_;
  Schema schema_;
  StateGame game_;
  SnapshotEncoder encoder_;
  Tally& tally_;
  std::uint32_t tick_ = 0;
  std::uint32_t base_tick_ = 0;
  ModelRows base_rows_;
  std::vector<Seat> seats_{kSeats};
};

void StateRun::NextTick() {
  game_.Step();
  tick_ += kTicksApart;
  encoder_.BeginTick(tick_, this);
  EXPECT_EQ(Difference(game_.rows(), ModelOf(game_.table())), "");
}

void StateRun::TakeBaseline() {
  encoder_.TakeBaseline();
  base_tick_ = tick_;
  base_rows_ = game_.rows();
}

// A new connection, which begins with nothing.
void StateRun::Join(int index) {
  Seat& seat = seats_[static_cast<std::size_t>(index)];
  seat.index = index;
  seat.has_view = index % 2 == 1;
  seat.blocked = false;
  seat.client = std::make_unique<StateClient>(schema_);
  seat.reliable.clear();
  seat.flying.clear();
  encoder_.RemoveViewer(index);
  encoder_.RemoveViewer(index + kJsonViewers);
  encoder_.AddViewer(index, BinaryStateCodec(), seat.has_view);
  encoder_.AddViewer(index + kJsonViewers, JsonStateCodec(), seat.has_view);
}

bool StateRun::Sees(int seat, RowId row) const {
  const std::uint32_t when = tick_ / (6 * kTicksApart);
  return (row * 7 + when * 5 + static_cast<std::uint32_t>(seat)) % 4 != 0;
}

ModelRows StateRun::Visible(const Seat& seat, const ModelRows& rows) const {
  ModelRows visible = rows;
  if (!seat.has_view) return visible;
  std::erase_if(visible,
                [&](const auto& row) { return !Sees(seat.index, row.first); });
  return visible;
}

void StateRun::SendSnapshot(Seat& seat) {
  if (seat.blocked) {
    if (random_.Chance(1, 3)) seat.flying.push_back(Recovery(seat));
    return;
  }
  EXPECT_EQ(encoder_.HasBaseline(seat.index),
            encoder_.HasBaseline(seat.index + kJsonViewers));
  if (!encoder_.HasBaseline(seat.index)) {
    SendBaseline(seat);
  } else if (random_.Chance(1, 25)) {
    Resync(seat);
  }
  seat.flying.push_back(Delta(seat));
}

void StateRun::SendBaseline(Seat& seat) {
  const RowTable& table = game_.table();
  auto shown = std::make_shared<Shown>();
  shown->rows = Visible(seat, base_rows_);
  // A view is that of now, which has no row that is gone.
  if (seat.has_view) {
    std::erase_if(shown->rows, [this](const auto& row) {
      return !game_.rows().contains(row.first);
    });
  }
  ++(base_tick_ == tick_ ? tally_.baselines : tally_.join_baselines);
  const StateHeader header{StateKind::kBaseline, table.epoch(), table.base(),
                           base_tick_};
  seat.baseline.emplace(SentState{header, encoder_.Baseline(seat.index),
                                  encoder_.Baseline(seat.index + kJsonViewers),
                                  std::move(shown)});
  seat.reliable.push_back(*seat.baseline);
}

// The client threw away what waited for it, or believes so, and asks for the
// baseline: it is the same again, whatever is in view by now, since deltas to
// it are on their way.
void StateRun::Resync(Seat& seat) {
  ++tally_.resyncs;
  if (random_.Chance(1, 2)) seat.reliable.clear();
  const Payload binary = encoder_.Baseline(seat.index);
  const Payload json = encoder_.Baseline(seat.index + kJsonViewers);
  EXPECT_EQ(test::Hex(binary.bytes()),
            test::Hex(seat.baseline->binary.bytes()));
  EXPECT_EQ(test::Hex(json.bytes()), test::Hex(seat.baseline->json.bytes()));
  seat.reliable.push_back(*seat.baseline);
}

SentState StateRun::Delta(const Seat& seat) {
  const RowTable& table = game_.table();
  std::optional<OwnWords> own;
  if (random_.Chance(1, 2)) own = QuantiseOwn(game_.RandomOwn());
  const OwnWords* const tail = own ? &*own : nullptr;
  auto shown = std::make_shared<Shown>();
  shown->rows = Visible(seat, game_.rows());
  if (own) shown->own = OwnBodyOf(*own);
  const StateHeader header{StateKind::kDelta, table.epoch(), table.base(),
                           tick_};
  SentState sent{header, encoder_.Delta(seat.index, tail),
                 encoder_.Delta(seat.index + kJsonViewers, tail),
                 std::move(shown)};
  if (!seat.has_view) {
    EXPECT_EQ(test::Hex(sent.binary.bytes()),
              test::Hex(WriteDelta(BinaryStateCodec(), table, tick_, tail)));
  }
  return sent;
}

SentState StateRun::Recovery(const Seat& seat) {
  auto shown = std::make_shared<Shown>();
  shown->rows = Visible(seat, game_.rows());
  const StateHeader header{StateKind::kRecovery, game_.table().epoch(), 0,
                           tick_};
  return {header, encoder_.Recovery(seat.index),
          encoder_.Recovery(seat.index + kJsonViewers), std::move(shown)};
}

// Some of what is on its way arrives, in no order; of that, some stays on its
// way and arrives again.
void StateRun::Deliver(Seat& seat) {
  for (std::uint32_t n = random_.Below(4); n > 0; --n) {
    if (!seat.reliable.empty() && random_.Chance(1, 3)) TakeReliable(seat);
    if (seat.flying.empty()) continue;
    // The newest half of the time: else hardly any would be news.
    const auto count = static_cast<std::uint32_t>(seat.flying.size());
    const bool newest = random_.Chance(1, 2);
    const std::uint32_t at = newest ? count - 1 : random_.Below(count);
    const SentState sent = seat.flying[at];
    if (random_.Chance(2, 3)) seat.flying.erase(seat.flying.begin() + at);
    Take(seat, sent);
  }
  while (seat.flying.size() > kFlyingMax) {
    seat.flying.erase(seat.flying.begin() + random_.Below(kFlyingMax));
  }
}

void StateRun::TakeReliable(Seat& seat) {
  const SentState sent = seat.reliable.front();
  seat.reliable.pop_front();
  Take(seat, sent);
}

void StateRun::Take(Seat& seat, const SentState& sent) {
  switch (seat.client->Take(sent)) {
    case StateOutcome::kDelta:
      ++tally_.deltas;
      break;
    case StateOutcome::kRecovery:
      ++tally_.recoveries;
      break;
    case StateOutcome::kStale:
      ++tally_.stale;
      break;
    case StateOutcome::kBaseline:
    case StateOutcome::kMalformed:
      break;
  }
}

TEST(StateProperty, ClientsShowATickExactlyAndReachTheNewest) {
  const std::uint64_t seed = test::TestSeed();
  constexpr std::uint64_t kRuns = 30;
  Tally tally;
  for (std::uint64_t i = 0; i < kRuns; ++i) {
    SCOPED_TRACE(testing::Message() << "rerun: PARLOR_SEED=" << seed + i);
    StateRun run(seed + i, tally);
    for (int round = 0; round < 120; ++round) {
      SCOPED_TRACE(testing::Message() << "round " << round);
      run.Round();
      if (HasFailure()) return;
    }
    run.Heal();
    if (HasFailure()) return;
  }
  // Nothing of it was left out.
  EXPECT_GT(tally.baselines, 20 * kRuns);
  EXPECT_GT(tally.join_baselines, kRuns);
  EXPECT_GT(tally.resyncs, kRuns);
  EXPECT_GT(tally.deltas, 50 * kRuns);
  EXPECT_GT(tally.recoveries, 5 * kRuns);
  EXPECT_GT(tally.stale, 50 * kRuns);
  EXPECT_GT(tally.refusals, 10 * kRuns);
  EXPECT_GT(tally.epochs, kRuns);
}

}  // namespace
}  // namespace parlor::authority
