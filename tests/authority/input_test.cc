#include "parlor/authority/input.h"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "parlor/random.h"
#include "support/hex.h"
#include "support/seed.h"

namespace parlor::authority {
namespace {

using test::FromHex;
using test::Hex;
using Put = InputQueue::Put;

constexpr InputFrame kInput{.seq = 0x01020304,
                            .held = 0x8000000000000005,
                            .pressed = 0x1122334455667788,
                            .axes = {-32767, 32767, 1, 0},
                            .summed = {-32768, -1, 256, 2}};
constexpr char kInputHex[] =
    "10040302010500000000000080887766554433221101"
    "80ff7f010000000080ffff00010200";
constexpr char kAckHex[] = "11efbeadde";

TEST(InputBytesTest, ArePinned) {
  EXPECT_EQ(Hex(EncodeInput(kInput)), kInputHex);
  EXPECT_EQ(DecodeInput(FromHex(kInputHex)), kInput);
  EXPECT_EQ(Hex(EncodeAck(0xdeadbeef)), kAckHex);
  EXPECT_EQ(DecodeAck(FromHex(kAckHex)), 0xdeadbeef);
}

TEST(InputBytesTest, OtherSizesAndKindsAreRefused) {
  for (std::size_t size = 0; size <= kInputBytes + 1; ++size) {
    std::vector<std::byte> input = FromHex(kInputHex);
    input.resize(size);
    EXPECT_EQ(DecodeInput(input).has_value(), size == kInputBytes) << size;
    EXPECT_FALSE(size != kAckBytes && DecodeAck(input).has_value()) << size;
    std::vector<std::byte> ack = FromHex(kAckHex);
    ack.resize(size);
    EXPECT_EQ(DecodeAck(ack).has_value(), size == kAckBytes) << size;
  }
  for (int kind = 0; kind < 256; ++kind) {
    std::vector<std::byte> input = FromHex(kInputHex);
    input[0] = static_cast<std::byte>(kind);
    EXPECT_EQ(DecodeInput(input).has_value(), kind == 0x10) << kind;
    std::vector<std::byte> ack = FromHex(kAckHex);
    ack[0] = static_cast<std::byte>(kind);
    EXPECT_EQ(DecodeAck(ack).has_value(), kind == 0x11) << kind;
  }
}

TEST(InputBytesTest, SeqBeginsAtOne) {
  EXPECT_FALSE(DecodeInput(EncodeInput({.seq = 0, .held = 1})).has_value());
  EXPECT_TRUE(DecodeInput(EncodeInput({.seq = 1})).has_value());
}

// A queue and its room's time.
class InputQueueTest : public testing::Test {
 protected:
  Put Add(const InputFrame& input) { return queue_.Add(now_, input); }
  InputFrame Take() { return queue_.Take(now_); }
  void Wait(Duration time) { now_ += time; }

  InputQueue queue_{2};
  TimePoint now_{kSecond};
};

TEST_F(InputQueueTest, ATickTakesOneInput) {
  const InputFrame first{.seq = 1, .held = 1, .pressed = 1, .axes = {5}};
  const InputFrame second{.seq = 2, .held = 2, .pressed = 2, .summed = {7}};
  EXPECT_EQ(Add(first), Put::kQueued);
  EXPECT_EQ(Add(second), Put::kQueued);
  EXPECT_EQ(queue_.ack(), 0u);  // came, but no tick has taken it
  EXPECT_EQ(Take(), first);
  EXPECT_EQ(queue_.ack(), 1u);
  EXPECT_EQ(Take(), second);
  EXPECT_EQ(queue_.ack(), 2u);
}

TEST_F(InputQueueTest, WithoutAnInputHeldAndAxesStay) {
  EXPECT_EQ(Take(), InputFrame{});
  Add({.seq = 4,
       .held = 6,
       .pressed = 2,
       .axes = {1, -2, 3, -4},
       .summed = {9, 9, 9, 9}});
  Take();
  const InputFrame repeated{.seq = 4, .held = 6, .axes = {1, -2, 3, -4}};
  EXPECT_EQ(Take(), repeated);
  EXPECT_EQ(Take(), repeated);
  EXPECT_EQ(queue_.ack(), 4u);
}

TEST_F(InputQueueTest, WhatIsTooManyIsFoldedIntoTheLast) {
  const InputFrame first{.seq = 1, .held = 8, .pressed = 8};
  Add(first);
  Add({.seq = 2,
       .held = 1,
       .pressed = 1,
       .axes = {10, 20, 30, 40},
       .summed = {1, 2, 3, 4}});
  EXPECT_EQ(Add({.seq = 5,
                 .held = 4,
                 .pressed = 4,
                 .axes = {-1, -2, -3, -4},
                 .summed = {10, 20, 30, -40}}),
            Put::kFolded);
  EXPECT_EQ(Add({.seq = 6, .held = 2, .axes = {7}, .summed = {100}}),
            Put::kFolded);
  EXPECT_EQ(Take(), first);
  const InputFrame folded{.seq = 6,
                          .held = 2,
                          .pressed = 5,
                          .axes = {7},
                          .summed = {111, 22, 33, -36}};
  EXPECT_EQ(Take(), folded);
  EXPECT_EQ(Take(), (InputFrame{.seq = 6, .held = 2, .axes = {7}}));
}

TEST_F(InputQueueTest, SumsStopAtTheEndsOfTheirRange) {
  Add({.seq = 1});
  Add({.seq = 2, .summed = {32'000, -32'000, 32'767, -32'768}});
  Add({.seq = 3, .summed = {32'000, -32'000, 0, 0}});
  Take();
  EXPECT_EQ(Take().summed, (Axes{32'767, -32'768, 32'767, -32'768}));
}

TEST_F(InputQueueTest, OneThatMayWaitIsFoldedInto) {
  queue_ = InputQueue(1);
  EXPECT_EQ(Add({.seq = 1, .pressed = 1}), Put::kQueued);
  EXPECT_EQ(Add({.seq = 2, .pressed = 2}), Put::kFolded);
  EXPECT_EQ(Take(), (InputFrame{.seq = 2, .pressed = 3}));
}

TEST_F(InputQueueTest, StaleInputsChangeNothing) {
  Add({.seq = 7, .held = 1});
  EXPECT_EQ(Add({.seq = 7, .held = 2, .pressed = 2}), Put::kStale);
  EXPECT_EQ(Add({.seq = 6, .held = 2, .pressed = 2}), Put::kStale);
  EXPECT_EQ(Take(), (InputFrame{.seq = 7, .held = 1}));
  EXPECT_EQ(Add({.seq = 7, .held = 2, .pressed = 2}), Put::kStale);
  EXPECT_EQ(Take(), (InputFrame{.seq = 7, .held = 1}));
  // Nor do they count as heard.
  Wait(InputQueue::kInputSilence);
  EXPECT_EQ(Add({.seq = 7, .held = 1}), Put::kStale);
  EXPECT_EQ(Take(), (InputFrame{.seq = 7}));
}

TEST_F(InputQueueTest, SilenceReleasesEverything) {
  Add({.seq = 1, .held = 3, .axes = {9}});
  Take();
  Wait(InputQueue::kInputSilence - Duration(1));
  EXPECT_EQ(Take(), (InputFrame{.seq = 1, .held = 3, .axes = {9}}));
  Wait(Duration(1));
  EXPECT_EQ(Take(), (InputFrame{.seq = 1}));
  EXPECT_EQ(Take(), (InputFrame{.seq = 1}));
  EXPECT_EQ(Add({.seq = 2, .held = 3}), Put::kQueued);
  EXPECT_EQ(Take(), (InputFrame{.seq = 2, .held = 3}));
}

// A room that ticks late has heard of the input all the same.
TEST_F(InputQueueTest, WhatWaitsIsTakenAfterSilenceToo) {
  Add({.seq = 1, .held = 3, .pressed = 1});
  Wait(2 * InputQueue::kInputSilence);
  EXPECT_EQ(Take(), (InputFrame{.seq = 1, .held = 3, .pressed = 1}));
  EXPECT_EQ(Take(), (InputFrame{.seq = 1}));
}

TEST_F(InputQueueTest, ReleaseDropsWhatWaitsAndKeepsTheAck) {
  Add({.seq = 1, .held = 1});
  Take();
  Add({.seq = 2, .held = 3, .pressed = 2});
  queue_.Release();
  EXPECT_EQ(Take(), (InputFrame{.seq = 1}));
  EXPECT_EQ(queue_.ack(), 1u);
  EXPECT_EQ(Add({.seq = 2}), Put::kStale);
  EXPECT_EQ(Add({.seq = 3}), Put::kQueued);
}

TEST_F(InputQueueTest, ANewConnectionCountsFromOne) {
  Add({.seq = 900, .held = 1});
  Take();
  Add({.seq = 901, .held = 1});
  queue_.Restart();
  EXPECT_EQ(queue_.ack(), 0u);
  EXPECT_EQ(Take(), InputFrame{});
  EXPECT_EQ(Add({.seq = 1, .held = 2}), Put::kQueued);
  EXPECT_EQ(Take(), (InputFrame{.seq = 1, .held = 2}));
}

// However inputs bunch up, every press reaches exactly one tick, every sum
// arrives, and the ack never passes what a tick took.
TEST(InputQueueRandomTest, EdgesReachOneTickAndSumsAddUp) {
  const std::uint64_t seed = test::TestSeed();
  Random random(seed);
  for (int round = 0; round < 200; ++round) {
    SCOPED_TRACE(round);
    InputQueue queue(1 + static_cast<int>(random.Below(2)));
    TimePoint now{kSecond};
    std::uint32_t seq = 0;
    std::uint32_t acked = 0;
    std::int64_t summed = 0;
    std::uint64_t wanted = 0;
    std::array<int, 64> presses{};
    for (int tick = 0; tick < 64 + 2; ++tick) {  // the last two let it run dry
      const std::uint32_t burst = tick < 64 ? random.Below(4) : 0;
      for (std::uint32_t i = 0; i < burst; ++i) {
        // Bit n is pressed once, by the first input of turn n.
        const std::uint64_t edge = i == 0 ? std::uint64_t{1} << tick : 0;
        queue.Add(now, {.seq = ++seq, .pressed = edge, .summed = {1}});
        wanted |= edge;
      }
      const InputFrame taken = queue.Take(now);
      for (std::size_t bit = 0; bit < 64; ++bit) {
        presses[bit] += static_cast<int>(taken.pressed >> bit & 1);
      }
      summed += taken.summed[0];
      ASSERT_GE(taken.seq, acked);
      ASSERT_EQ(taken.seq, queue.ack());
      acked = taken.seq;
      now += kSecond / 60;
    }
    EXPECT_EQ(summed, seq);
    EXPECT_EQ(acked, seq);
    for (std::size_t bit = 0; bit < 64; ++bit) {
      EXPECT_EQ(presses[bit], static_cast<int>(wanted >> bit & 1)) << bit;
    }
  }
}

}  // namespace
}  // namespace parlor::authority
