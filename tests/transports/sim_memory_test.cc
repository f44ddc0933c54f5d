// What the simulated network takes from the heap, counted by operator new.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "parlor/lane.h"
#include "parlor/sim/network.h"
#include "parlor/time.h"
#include "parlor/transports/stream_options.h"
#include "sim_crowd.h"
#include "sim_fixture.h"
#include "support/counting_allocator.h"

namespace parlor {
namespace {

using test::SimCrowd;
using test::SimMachines;

constexpr bool kCounts = PARLOR_COUNTS_ALLOCATIONS != 0;

TEST(SimMemoryTest, ASteadyFlowAllocatesNothing) {
  for (const char* name : {"perfect", "lan", "wifi", "mobile"}) {
    SCOPED_TRACE(name);
    SimCrowd crowd(1, *sim::FindPreset(name), 6);
    crowd.Run(200 * kSecond);  // so that the most of all has been on its way
    const std::size_t heard = crowd.heard;
    const std::uint64_t before = parlor_allocation_count();
    crowd.Run(20 * kSecond);
    EXPECT_EQ(parlor_allocation_count() - before, 0u);
    EXPECT_GT(crowd.heard - heard, 20u * 60 * 6 * 5);
  }
}

TEST(SimMemoryTest, CanCountAllocations) {
  const std::uint64_t before = parlor_allocation_count();
  SimMachines sim(sim::kPerfect);
  EXPECT_EQ(parlor_allocation_count() > before, kCounts);
}

// What `sent` messages of `size` that nobody takes add to the heap.
std::int64_t BytesOfUntaken(SimMachines& sim, Lane lane, std::size_t size,
                            int count) {
  const std::string bytes(size, 'x');
  const auto before = static_cast<std::int64_t>(parlor_allocated_bytes());
  for (int i = 0; i < count; ++i) {
    sim.a.Send(bytes, lane);
    sim.executor.RunFor(kMillisecond);
    if (!sim.a.is_open()) break;
  }
  return static_cast<std::int64_t>(parlor_allocated_bytes()) - before;
}

TEST(SimMemoryTest, WhatNobodyTakesIsBounded) {
  StreamOptions options;
  options.reliable_bytes_max = 64 * 1024;
  for (const Lane lane : {Lane::kReliable, Lane::kState}) {
    for (const std::size_t size : {0, 8, 200, 5'000}) {
      SCOPED_TRACE(testing::Message()
                   << "lane " << static_cast<int>(lane) << ", size " << size);
      // Nobody listens, stands still or is cut off.
      for (int how = 0; how < 3; ++how) {
        SimMachines sim(sim::kLan, 1, options);
        sim.Open();
        if (how == 0) sim.b.connection->SetHandler(nullptr);
        if (how == 1) sim.host.StallUntil(sim.now() + 1'000 * kSecond);
        if (how == 2) sim.link.Cut();
        const std::int64_t taken = BytesOfUntaken(sim, lane, size, 12'000);
        // What a message counts is 8 bytes and itself; what it takes is at most
        // 56 (80 on the state lane, and two blocks' heads) more, in memory that
        // doubles.
        const std::int64_t messages = 64 * 1024 / (size + 8) + 1;
        EXPECT_LE(taken,
                  messages * static_cast<std::int64_t>(2 * (size + 8 + 128)) +
                      16 * 1024)
            << how;
      }
    }
  }
}

// A connection that is over leaves nothing behind.
TEST(SimMemoryTest, ConnectionsLeaveNothing) {
  SimMachines sim(sim::kLan);
  std::int64_t after_first = 0;
  for (int i = 0; i < 200; ++i) {
    sim.a.opened_at = kNever;
    sim.Open();
    sim.a.Send("one");
    sim.b.Send("two", Lane::kState);
    if (i % 3 == 0) sim.a.connection->Close(1000, "");
    if (i % 3 == 1) sim.link.Reset();
    sim.RunMs(10);
    sim.a.connection.reset();
    sim.b.connection.reset();
    sim.RunMs(10);
    sim.a.messages.clear();
    sim.b.messages.clear();
    sim.a.closes.clear();
    sim.b.closes.clear();
    const auto now = static_cast<std::int64_t>(parlor_allocated_bytes());
    if (i == 10) after_first = now;
    if (i > 10) {
      ASSERT_EQ(now, after_first) << i;
    }
  }
  EXPECT_EQ(sim.executor.pending(), 0u);
}

}  // namespace
}  // namespace parlor
