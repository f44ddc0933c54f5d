// What a pipe takes from the heap, counted by operator new itself.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <ostream>
#include <span>
#include <string>
#include <vector>

#include "parlor/transports/memory_pipe.h"
#include "support/counting_allocator.h"

namespace parlor {
namespace {

class CountingHandler final : public ConnectionHandler {
 public:
  std::size_t messages = 0;

  void OnMessage(TimePoint, Connection&, Lane, MessageKind,
                 std::span<const std::byte>) override {
    ++messages;
  }
  void OnClose(TimePoint, Connection&, const CloseEvent&) override {}
};

constexpr bool kCounts = PARLOR_COUNTS_ALLOCATIONS != 0;

class PipeMemoryTest : public testing::Test {
 protected:
  // A pump's lists are as long as it ever had ends ready at once; here that is
  // theirs, and not of the pipe that is weighed.
  void SetUp() override {
    for (PipePump& pump : pumps_) {
      std::vector<PipePair> pairs(1'000);
      for (PipePair& pair : pairs) pair = Make(pump, pump);
      for (PipePair& pair : pairs) {
        Send(*pair.first, Lane::kReliable, 1);
        Send(*pair.second, Lane::kReliable, 1);
      }
      PumpBoth();
      pairs.clear();
      PumpBoth();
    }
  }

  SendResult Send(Connection& end, Lane lane, std::size_t size) {
    return end.Send(lane, MessageKind::kBinary,
                    std::span(bytes_).subspan(0, size));
  }
  void PumpBoth() {
    pumps_[0].Pump(now_);
    pumps_[1].Pump(now_);
  }

  PipePair Make(PipePump& first, PipePump& second, PipeOptions options = {}) {
    PipePair pair = MakePipe(first, second, options);
    pair.first->SetHandler(&handler_);
    pair.second->SetHandler(&handler_);
    PumpBoth();
    return pair;
  }

  std::array<PipePump, 2> pumps_;
  CountingHandler handler_;
  TimePoint now_{};
  std::vector<std::byte> bytes_{64 * 1024};
};

// One pump or two, and how many messages go before a pump runs.
struct SteadyRow {
  const char* name;
  std::size_t second_pump;
  int burst;
  friend void PrintTo(const SteadyRow& row, std::ostream* out) {
    *out << row.name;
  }
};

class PipeSteadyTest : public PipeMemoryTest,
                       public testing::WithParamInterface<SteadyRow> {};

TEST_P(PipeSteadyTest, NoMessageAllocates) {
  PipePair pair = Make(pumps_[0], pumps_[GetParam().second_pump]);
  const auto run = [&](int rounds) {
    for (int round = 0; round < rounds; ++round) {
      for (int i = 0; i < GetParam().burst; ++i) {
        const auto size = static_cast<std::size_t>((round * 7 + i) % 1'200);
        ASSERT_EQ(Send(*pair.first, Lane::kReliable, size),
                  SendResult::kQueued);
        ASSERT_EQ(Send(*pair.second, Lane::kReliable, 12), SendResult::kQueued);
        Send(*pair.first, Lane::kState, size);
      }
      PumpBoth();
    }
  };
  run(3'000);
  const std::uint64_t before = parlor_allocation_count();
  run(30'000);
  EXPECT_EQ(parlor_allocation_count() - before, 0u);
  EXPECT_GT(handler_.messages, 60'000u);
}

INSTANTIATE_TEST_SUITE_P(Bursts, PipeSteadyTest,
                         testing::Values(SteadyRow{"OnePump1", 0, 1},
                                         SteadyRow{"OnePump64", 0, 64},
                                         SteadyRow{"TwoPumps1", 1, 1},
                                         SteadyRow{"TwoPumps64", 1, 64}),
                         [](const auto& row) { return row.param.name; });

// The cap counts a message's overhead, which is more than its header takes, so
// that small messages stay below the limit however many they are.
class PipeCapTest : public PipeMemoryTest,
                    public testing::WithParamInterface<std::size_t> {};

TEST_P(PipeCapTest, ASlowConsumerStaysAtTheCap) {
  constexpr std::size_t kChunkBytesMax = 64 * 1024;
  const PipeOptions options;
  const std::size_t cost = GetParam() + kMessageOverhead;
  for (std::size_t second_pump : {0u, 1u}) {
    const std::uint64_t before = parlor_allocated_bytes();
    PipePair pair = Make(pumps_[0], pumps_[second_pump], options);
    std::size_t sent = 0;
    while (Send(*pair.first, Lane::kReliable, GetParam()) ==
           SendResult::kQueued) {
      ++sent;
    }
    const std::uint64_t full = parlor_allocated_bytes() - before;
    pair = {};
    PumpBoth();  // an end that died while it was ready leaves with the pump
    const std::uint64_t after = parlor_allocated_bytes() - before;
    EXPECT_LE(full, options.reliable_bytes_max + kChunkBytesMax);
    EXPECT_EQ(after, 0u) << "the pipe left something";
    // The limit itself was put to use, not cut short by the layout.
    EXPECT_EQ(sent, options.reliable_bytes_max / cost);
    RecordProperty("full_bytes", std::to_string(full));
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, PipeCapTest,
                         testing::Values(0, 1, 12, 100, 600, 1'000, 4'096,
                                         10'000, 40'000, 65'536));

TEST_F(PipeMemoryTest, TheCapHoldsWhenAConsumerFallsBehindAgainAndAgain) {
  PipeOptions options;
  options.reliable_bytes_max = 64 * 1024;
  PipePair pair = Make(pumps_[0], pumps_[1], options);
  const std::uint64_t before = parlor_allocated_bytes();
  std::uint64_t most = 0;
  std::size_t size = 1;
  for (int round = 0; round < 2'000; ++round) {
    // Sizes wander, so that the chunks at hand never suit for long.
    while (pair.first->queued_bytes(Lane::kReliable) + size +
               kMessageOverhead <=
           options.reliable_bytes_max) {
      ASSERT_EQ(Send(*pair.first, Lane::kReliable, size), SendResult::kQueued);
      size = size * 7 % 9'973;
    }
    most = std::max(most, parlor_allocated_bytes() - before);
    pumps_[1].Pump(now_, static_cast<std::size_t>(round % 40));
  }
  EXPECT_LE(most, 2 * options.reliable_bytes_max);
}

// Where nothing can be counted this binary proves nothing.
TEST_F(PipeMemoryTest, TheCounterCounts) {
  const std::uint64_t bytes = parlor_allocated_bytes();
  const std::uint64_t count = parlor_allocation_count();
  auto* block = new std::array<std::byte, 1'000>();
  const std::uint64_t more = parlor_allocated_bytes() - bytes;
  const std::uint64_t calls = parlor_allocation_count() - count;
  // Used, so that no compiler leaves the pair of calls out.
  asm volatile("" : : "g"(block) : "memory");
  delete block;
  EXPECT_EQ(calls, kCounts ? 1u : 0u);
  EXPECT_EQ(more >= 1'000, kCounts);
}

TEST_F(PipeMemoryTest, TheStateLaneDoesNotGrow) {
  PipePair pair = Make(pumps_[0], pumps_[1]);
  for (int i = 0; i < 3; ++i) Send(*pair.first, Lane::kState, 1'000);
  const std::uint64_t before = parlor_allocated_bytes();
  for (int i = 0; i < 100'000; ++i) Send(*pair.first, Lane::kState, 1'000);
  EXPECT_EQ(parlor_allocated_bytes(), before);
}

TEST_F(PipeMemoryTest, AnIdlePipeIsSmall) {
  std::vector<PipePair> pairs(1'000);
  const std::uint64_t before = parlor_allocated_bytes();
  for (PipePair& pair : pairs) pair = Make(pumps_[0], pumps_[0]);
  const std::uint64_t each = (parlor_allocated_bytes() - before) / 1'000;
  EXPECT_LE(each, 2'560u);
  for (PipePair& pair : pairs) Send(*pair.first, Lane::kReliable, 12);
  PumpBoth();
  const std::uint64_t spoken = (parlor_allocated_bytes() - before) / 1'000;
  EXPECT_EQ(spoken, each) << "a small message finds its place in the pipe";
  RecordProperty("idle_bytes", std::to_string(each));
}

}  // namespace
}  // namespace parlor
