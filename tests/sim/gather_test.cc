// A room that gathers what it relays delays no frame: the same match is played
// with it and without, over links of fixed delays, and compared frame by frame,
// player by player. Without jitter, loss or limits, so that nothing but the
// room can make a difference.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "parlor/lockstep/peer.h"
#include "parlor/lockstep/room.h"
#include "parlor/lockstep/wire.h"
#include "parlor/random.h"
#include "parlor/sim/network.h"
#include "parlor/sim/world.h"
#include "parlor/time.h"
#include "sim/raw_seat.h"
#include "support/seed.h"
#include "support/toy_game.h"

namespace parlor::sim {
namespace {

constexpr std::uint32_t kRoom = 3;

struct Player {
  Duration up{};  // one way
  Duration down{};
};

// What happens to a player, after the match began.
struct Happening {
  enum class What : std::uint8_t { kReset, kStall, kLeave } what{};
  std::size_t player = 0;
  Duration at{};
};

struct Plan {
  std::uint64_t seed = 1;
  std::vector<Player> players{};
  int delay = 2;
  std::vector<Happening> happenings{};
  // The last seat is nobody's game: it says its next INPUT this often, or none.
  std::optional<Duration> raw_says{};
  bool raw_is_silent = false;
  Duration time = 10 * kSecond;

  bool has_raw() const { return raw_says.has_value() || raw_is_silent; }
};

// When what the room relayed of `seat` for `frame` arrives.
using Arrivals = std::map<std::pair<int, std::uint32_t>, TimePoint>;

// One match, with what is told about it in the end.
class Match final : public NetworkSink {
 public:
  Match(const Plan& plan, std::int64_t gather_ms)
      : plan_(plan),
        world_({.seed = plan.seed,
                .network = {.up = {.latency = 5 * kMillisecond},
                            .down = {.latency = 5 * kMillisecond}},
                .ties = Executor::Ties::kInOrder}),
        host_(world_.AddHost(Options(gather_ms))),
        arrivals_(plan.players.size()),
        ran_(plan.players.size()) {
    world_.network().SetSink(this);
    for (std::size_t i = 0; i < plan.players.size(); ++i) Seat(i);
    if (plan.has_raw()) SeatRaw();
  }
  ~Match() { world_.network().SetSink(nullptr); }

  void Play() {
    ASSERT_TRUE(world_
                    .RunUntil([this] {
                      return world_.client(0).peer().match().has_value();
                    })
                    .ok());
    for (const Happening& happening : plan_.happenings) {
      world_.executor().After(happening.at,
                              [this, &happening] { Happen(happening); });
    }
    world_.RunFor(plan_.time);
  }

  // Of a player: when each INPUT arrives, and when it ran each frame.
  const Arrivals& arrivals(std::size_t player) const {
    return arrivals_[player];
  }
  const std::vector<TimePoint>& ran(std::size_t player) const {
    return ran_[player];
  }
  // When the frames from the first that is said on are complete for a player:
  // all other seats' INPUTs have arrived.
  std::vector<TimePoint> Complete(std::size_t player) const {
    std::vector<TimePoint> complete;
    for (auto frame = static_cast<std::uint32_t>(plan_.delay);; ++frame) {
      TimePoint last{};
      for (int seat = 0; seat < size(); ++seat) {
        if (seat == static_cast<int>(player)) continue;
        const auto found = arrivals_[player].find({seat, frame});
        if (found == arrivals_[player].end()) return complete;
        last = std::max(last, found->second);
      }
      complete.push_back(last);
    }
  }
  std::size_t sends() const { return sends_; }

 private:
  static HostOptions Options(std::int64_t gather_ms) {
    HostOptions options;
    options.shard.seats = 32;
    options.shard.room.gather_ms = gather_ms;
    return options;
  }
  int size() const {
    return static_cast<int>(plan_.players.size()) + (plan_.has_raw() ? 1 : 0);
  }

  // One after the other, so that player i has seat i.
  void Seat(std::size_t i) {
    games_.push_back(std::make_unique<test::ToyGame>());
    games_.back()->keep_frames = false;
    Conditions conditions;
    conditions.up.latency = plan_.players[i].up;
    conditions.down.latency = plan_.players[i].down;
    ClientOptions options;
    options.peer.delay = plan_.delay;
    Client& client = world_.AddClient(*games_.back(), conditions, options);
    client.SetOnStep([this, i, &client] { Look(i, client); });
    client.Join(host_, {.room = kRoom, .players = size()});
    const absl::Status status = world_.RunUntil([&client] {
      return client.peer().state() == lockstep::PeerState::kLobby ||
             client.peer().state() == lockstep::PeerState::kPlaying;
    });
    ASSERT_TRUE(status.ok()) << status;
  }

  void SeatRaw() {
    raw_ = std::make_unique<RawSeat>(world_, host_,
                                     Hello{.room = kRoom, .players = size()});
    if (plan_.raw_says) SayNext();
  }
  void SayNext() {
    if (raw_->playing()) raw_->Input(raw_frame_++);
    world_.executor().After(*plan_.raw_says, [this] { SayNext(); });
  }

  void Look(std::size_t player, Client& client) {
    while (ran_[player].size() < client.peer().frame()) {
      ran_[player].push_back(world_.now());
    }
  }

  void Happen(const Happening& happening) {
    Client& client = world_.client(happening.player);
    switch (happening.what) {
      case Happening::What::kReset:
        return client.Reset();
      case Happening::What::kStall:
        return client.Stall(300 * kMillisecond);
      case Happening::What::kLeave:
        return client.Leave();
    }
  }

  void OnNetworkEvent(const NetworkEvent& event) override {
    if (event.what != NetworkEvent::What::kMessage ||
        event.direction != Direction::kDown) {
      return;
    }
    const auto message =
        lockstep::Decode(event.bytes.first<lockstep::kMessageSize>());
    if (message.kind != lockstep::Kind::kInput) return;
    for (std::size_t i = 0; i < games_.size(); ++i) {
      if (&world_.client(i).link() != event.link) continue;
      arrivals_[i].try_emplace({message.slot, message.frame}, event.arrives);
      TimePoint& last = last_sent_[i];
      if (event.sent != last) ++sends_;
      last = event.sent;
    }
  }

  const Plan& plan_;
  World world_;
  Host& host_;
  std::vector<std::unique_ptr<test::ToyGame>> games_;
  std::unique_ptr<RawSeat> raw_;
  std::uint32_t raw_frame_ = 0;
  std::vector<Arrivals> arrivals_;
  std::vector<std::vector<TimePoint>> ran_;
  std::map<std::size_t, TimePoint> last_sent_;
  std::size_t sends_ = 0;  // instants in which a player was sent something
};

// The match with and without, and what must hold of the two.
class Comparison {
 public:
  Comparison(const Plan& plan, std::int64_t gather_ms)
      : bound_(gather_ms * kMillisecond),
        with_(plan, gather_ms),
        without_(plan, 0) {}

  void Play() {
    ASSERT_NO_FATAL_FAILURE(with_.Play());
    ASSERT_NO_FATAL_FAILURE(without_.Play());
  }

  // Frame by frame, no player runs one later.
  void ExpectRunsAsSoon(std::size_t player, std::size_t at_least) {
    SCOPED_TRACE("player " + std::to_string(player));
    EXPECT_GE(without_.ran(player).size(), at_least);
    ExpectNoLater(with_.ran(player), without_.ran(player));
  }
  // Nor is one complete for it later, to the nanosecond.
  void ExpectCompleteAsSoon(std::size_t player, std::size_t at_least) {
    SCOPED_TRACE("player " + std::to_string(player));
    EXPECT_GE(without_.Complete(player).size(), at_least);
    ExpectNoLater(with_.Complete(player), without_.Complete(player));
  }
  // Whatever it hears comes at most the bound later.
  void ExpectWithinBound(std::size_t player) {
    SCOPED_TRACE("player " + std::to_string(player));
    for (const auto& [what, arrives] : with_.arrivals(player)) {
      const auto found = without_.arrivals(player).find(what);
      if (found == without_.arrivals(player).end()) continue;
      ASSERT_LE(arrives, found->second + bound_)
          << "frame " << what.second << " of seat " << what.first;
    }
  }

  const Match& with() const { return with_; }
  const Match& without() const { return without_; }

 private:
  static void ExpectNoLater(const std::vector<TimePoint>& with,
                            const std::vector<TimePoint>& without) {
    ASSERT_GE(with.size(), without.size());
    for (std::size_t i = 0; i < without.size(); ++i) {
      ASSERT_LE(with[i], without[i]) << "frame " << i;
    }
  }

  const Duration bound_;
  Match with_;
  Match without_;
};

Player Away(std::int64_t ms) {
  return {.up = ms * kMillisecond, .down = ms * kMillisecond};
}

// Of one at 50 ms and three at 5 ms, with a delay of two frames, the match
// waits for the one in every frame: what it is told late, all play late. A room
// that waited for every seat, the receiver too, would tell it late.
TEST(GatherTest, OneFarAwayAndThreeNearby) {
  for (const std::int64_t gather_ms : {1, 8, 17, 34, 100}) {
    SCOPED_TRACE(gather_ms);
    const Plan plan{.players = {Away(5), Away(50), Away(5), Away(5)}};
    Comparison match(plan, gather_ms);
    ASSERT_NO_FATAL_FAILURE(match.Play());
    for (std::size_t i = 0; i < plan.players.size(); ++i) {
      match.ExpectCompleteAsSoon(i, 300);
      match.ExpectRunsAsSoon(i, 300);
      match.ExpectWithinBound(i);
    }
    if (gather_ms < 17) continue;
    // What it is for: nearby ones are sent something about once a frame.
    EXPECT_LE(match.with().sends(), match.without().sends() * 6 / 10);
  }
}

Plan Drawn(std::uint64_t seed) {
  Random random(seed * 0x9e3779b97f4a7c15u);
  const auto latency = [&random] {
    const std::int32_t most_us = random.Chance(1, 3) ? 120'000 : 15'000;
    return random.Between(0, most_us) * kMicrosecond;
  };
  Plan plan;
  plan.seed = seed;
  const int players = random.Between(2, 8);
  for (int i = 0; i < players; ++i) {
    const Duration up = latency();
    const Duration down = random.Chance(1, 2) ? up : latency();
    plan.players.push_back({.up = up, .down = down});
  }
  plan.delay = random.Between(1, 7);
  plan.time = 4 * kSecond;
  return plan;
}

std::string Rerun(std::uint64_t seed) {
  return "rerun: PARLOR_SEED=" + std::to_string(seed) +
         " PARLOR_SEQUENCES=1 sim_gather_test";
}

class DrawnGatherTest : public testing::Test {
 protected:
  template <typename Draw, typename Check>
  static void ForSeeds(Draw draw, Check check) {
    const std::uint64_t first = test::TestSeed();
    const std::uint64_t count = test::NumberFromEnv("PARLOR_SEQUENCES", 40);
    for (std::uint64_t seed = first; seed < first + count; ++seed) {
      const Plan plan = draw(seed);
      const auto gather_ms = static_cast<std::int64_t>(1 + seed * 7 % 100);
      SCOPED_TRACE(Rerun(seed));
      Comparison match(plan, gather_ms);
      ASSERT_NO_FATAL_FAILURE(match.Play());
      check(plan, match);
      if (testing::Test::HasFailure()) return;
    }
  }
};

TEST_F(DrawnGatherTest, NoFrameIsLater) {
  ForSeeds(Drawn, [](const Plan& plan, Comparison& match) {
    for (std::size_t i = 0; i < plan.players.size(); ++i) {
      match.ExpectCompleteAsSoon(i, 8);
      match.ExpectRunsAsSoon(i, 8);
      match.ExpectWithinBound(i);
    }
  });
}

// Links are lost, machines stand still, players leave; each plays every frame
// as soon as without. (Not links that are cut for a while: what is sent again
// then comes by the clock of its first try.)
Plan DrawnTrouble(std::uint64_t seed) {
  Plan plan = Drawn(seed);
  Random random(seed * 0x9e3779b97f4a7c15u, /*stream=*/2);
  plan.time = 8 * kSecond;
  const int count = random.Between(1, 4);
  for (int i = 0; i < count; ++i) {
    Happening happening;
    happening.what = static_cast<Happening::What>(random.Below(3));
    happening.player =
        random.Below(static_cast<std::uint32_t>(plan.players.size()));
    // Who leaves says nothing any more, and one stays.
    if (happening.what == Happening::What::kLeave) happening.player = 0;
    happening.at = random.Between(500, 5'000) * kMillisecond +
                   Duration(random.Below(1'000'000));
    plan.happenings.push_back(happening);
  }
  return plan;
}

TEST_F(DrawnGatherTest, NoFrameIsLaterWhateverHappens) {
  ForSeeds(DrawnTrouble, [](const Plan& plan, Comparison& match) {
    for (std::size_t i = 0; i < plan.players.size(); ++i) {
      match.ExpectRunsAsSoon(i, 1);
    }
  });
}

// It says an INPUT every 50 ms, so the match plays 20 frames a second; the
// others hear of each other at most the bound later, and of it at once.
TEST_F(DrawnGatherTest, OneThatLagsCostsNoFrame) {
  const auto draw = [](std::uint64_t seed) {
    Plan plan = Drawn(seed);
    plan.raw_says = 50 * kMillisecond;
    return plan;
  };
  ForSeeds(draw, [](const Plan& plan, Comparison& match) {
    for (std::size_t i = 0; i < plan.players.size(); ++i) {
      match.ExpectCompleteAsSoon(i, 8);
      match.ExpectRunsAsSoon(i, 8);
      match.ExpectWithinBound(i);
    }
  });
}

// Nobody plays a frame beyond those that need no input, with and without; what
// the others say arrives all the same.
TEST(GatherTest, OneThatIsSilentCostsTheBound) {
  const Plan plan{.players = {Away(5), Away(20), Away(5)},
                  .delay = 4,
                  .raw_is_silent = true,
                  .time = kSecond};
  Comparison match(plan, 17);
  ASSERT_NO_FATAL_FAILURE(match.Play());
  for (std::size_t i = 0; i < plan.players.size(); ++i) {
    match.ExpectRunsAsSoon(i, 4);
    match.ExpectWithinBound(i);
    EXPECT_GE(match.with().arrivals(i).size(), 2u * 4);
    EXPECT_EQ(match.with().arrivals(i).size(),
              match.without().arrivals(i).size());
  }
}

}  // namespace
}  // namespace parlor::sim
