// Random links, faults and actions against what must hold of every connection:
// of the reliable lane a beginning of what was sent, and all of it once the
// link is whole; of the state lane only what was sent; one close each; and one
// seed gives one run.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "parlor/close_reason.h"
#include "parlor/lane.h"
#include "parlor/random.h"
#include "parlor/sim/network.h"
#include "parlor/time.h"
#include "sim_fixture.h"
#include "support/seed.h"

namespace parlor {
namespace {

using sim::Direction;
using sim::Endpoint;
using sim::PathConditions;
using test::SimEnd;
using test::SimMachines;

Duration DrawMs(Random& random, std::uint32_t below) {
  return static_cast<std::int64_t>(random.Below(below)) * kMillisecond;
}

PathConditions DrawPath(Random& random) {
  PathConditions path;
  path.latency = DrawMs(random, 80);
  if (random.Chance(2, 3)) path.jitter = DrawMs(random, 60);
  if (random.Chance(2, 3)) path.loss_ppm = random.Below(250'000);
  if (random.Chance(1, 3)) path.burst_ppm = random.Below(20'000);
  path.burst = DrawMs(random, 400);
  if (random.Chance(1, 2)) path.duplicate_ppm = random.Below(300'000);
  if (random.Chance(1, 2)) path.overtake_ppm = random.Below(300'000);
  path.overtake = DrawMs(random, 100);
  if (random.Chance(1, 3)) {
    path.bytes_per_s = 5'000 + random.Below(100'000);
    path.queue_bytes = random.Below(20'000);
  }
  return path;
}

class RandomRun {
 public:
  explicit RandomRun(std::uint64_t seed)
      : random_(seed, /*stream=*/11),
        turn_(random_.Chance(1, 2) ? Endpoint::Turn::kEvents
                                   : Endpoint::Turn::kPolled),
        sim_(Draw(), seed, {}, turn_) {
    sim_.Connect();
    for (int i = 0; i < 300; ++i) {
      Act();
      Run(DrawMs(random_, 30));
      CheckSoFar();
      if (testing::Test::HasFailure()) return;
    }
    Finish();
  }

  std::uint64_t digest() const { return sim_.network.digest(); }
  std::size_t delivered() const {
    return sim_.a.messages.size() + sim_.b.messages.size();
  }

 private:
  struct Sent {
    std::vector<std::string> reliable, state;
  };

  sim::Conditions Draw() {
    const PathConditions up = DrawPath(random_);
    const PathConditions down = DrawPath(random_);
    const sim::Conditions conditions{.up = up, .down = down};
    EXPECT_TRUE(sim::ValidateConditions(conditions, "drawn").ok());
    return conditions;
  }

  void Run(Duration time) {
    const TimePoint until = sim_.now() + time;
    do {
      sim_.executor.RunUntil(std::min(sim_.now() + 5 * kMillisecond, until));
      if (turn_ == Endpoint::Turn::kPolled) sim_.client.Poll();
    } while (sim_.now() < until);
  }

  void Act() {
    const std::uint32_t draw = random_.Below(100);
    if (draw < 80) {
      const bool from_client = random_.Chance(1, 2);
      return Send(from_client ? sim_.a : sim_.b, from_client ? to_b_ : to_a_);
    }
    if (draw < 84) return sim_.link.Cut();
    if (draw < 86) return sim_.link.Cut(Direction::kUp);
    if (draw < 88) return sim_.link.Cut(Direction::kDown);
    if (draw < 94) return sim_.link.Heal();
    if (draw < 96) return sim_.link.SetConditions(Draw());
    SimEnd& end = random_.Chance(1, 2) ? sim_.a : sim_.b;
    if (draw < 98) {
      const Duration still = DrawMs(random_, 500);
      (&end == &sim_.a ? sim_.client : sim_.host)
          .StallUntil(sim_.now() + still);
    } else if (draw == 98 && end.connection != nullptr) {
      end.connection->SetHandler(nullptr);
    } else if (end.connection != nullptr) {
      end.connection->SetHandler(&end);
    }
  }

  void Send(SimEnd& end, Sent& sent) {
    if (end.connection == nullptr) return;
    for (std::uint32_t n = random_.Below(4); n > 0; --n) {
      const Lane lane = random_.Chance(1, 2) ? Lane::kReliable : Lane::kState;
      const std::string bytes =
          std::to_string(++messages_) + std::string(random_.Below(300), 'm');
      if (end.Send(bytes, lane) == SendResult::kClosed) return;
      (lane == Lane::kReliable ? sent.reliable : sent.state).push_back(bytes);
    }
  }

  static void CheckHeard(const SimEnd& end, const Sent& sent) {
    std::size_t reliable = 0;
    for (const SimEnd::Message& message : end.messages) {
      if (message.lane == Lane::kReliable) {
        ASSERT_LT(reliable, sent.reliable.size());
        ASSERT_EQ(message.bytes, sent.reliable[reliable++]);
      } else {
        ASSERT_TRUE(std::count(sent.state.begin(), sent.state.end(),
                               message.bytes) > 0);
      }
    }
    ASSERT_LE(end.closes.size(), 1u);
  }
  void CheckSoFar() {
    CheckHeard(sim_.a, to_a_);
    CheckHeard(sim_.b, to_b_);
  }

  // The link is whole, and everyone listens: all of it comes, if neither end
  // gave the other up before.
  void Finish() {
    sim_.link.SetConditions(sim::kLan);
    sim_.link.Heal();
    for (SimEnd* end : {&sim_.a, &sim_.b}) {
      if (end->connection != nullptr) end->connection->SetHandler(end);
    }
    Run(60 * kSecond);
    CheckSoFar();
    const bool lost = !sim_.a.closes.empty() || !sim_.b.closes.empty();
    if (lost) {
      // Then both know.
      EXPECT_EQ(sim_.a.closes, std::vector<CloseCode>{1006});
      if (sim_.b.connection != nullptr) {
        EXPECT_EQ(sim_.b.closes, std::vector<CloseCode>{1006});
      }
      return;
    }
    EXPECT_EQ(sim_.a.On(Lane::kReliable), to_a_.reliable);
    EXPECT_EQ(sim_.b.On(Lane::kReliable), to_b_.reliable);
    // And what is said now goes through.
    sim_.a.connection->Close(4000, "");
    Run(kSecond);
    EXPECT_EQ(sim_.b.closes, std::vector<CloseCode>{4000});
    EXPECT_EQ(sim_.a.closes, std::vector<CloseCode>{4000});
  }

  Random random_;
  const Endpoint::Turn turn_;
  SimMachines sim_;
  Sent to_a_, to_b_;
  int messages_ = 0;
};

TEST(SimRandomTest, ConnectionsKeepTheirPromisesOverAnyLink) {
  const std::uint64_t first = test::TestSeed();
  const std::uint64_t seeds = test::NumberFromEnv("PARLOR_SIM_SEEDS", 200);
  std::size_t delivered = 0;
  for (std::uint64_t seed = first; seed < first + seeds; ++seed) {
    SCOPED_TRACE(testing::Message() << "PARLOR_SEED=" << seed);
    const RandomRun run(seed);
    if (HasFailure()) return;
    delivered += run.delivered();
    if (seed % 16 != 0) continue;
    ASSERT_EQ(RandomRun(seed).digest(), run.digest());
  }
  EXPECT_GT(delivered, seeds * 150);
}

}  // namespace
}  // namespace parlor
