// The bounds of a turn.
#include "stream/stream_loop.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <functional>
#include <list>
#include <memory>
#include <vector>

#include "parlor/executor.h"
#include "parlor/time.h"
#include "stream/segments.h"
#include "support/memory_stream.h"

namespace parlor::test {
namespace {

using stream::kLeastReadBytes;
using stream::kTurnAlarmsMax;
using stream::kTurnBytes;
using stream::kTurnEndsMax;

class Member final : public stream::LoopMember {
 public:
  explicit Member(stream::StreamLoop& loop) : LoopMember(loop) {}

  std::function<void()> on_turn_end = [] {};
  std::function<void()> on_alarm = [] {};

 private:
  void OnTurnEnd() override { on_turn_end(); }
  void OnAlarm() override { on_alarm(); }
};

class StreamLoopTest : public testing::Test {
 protected:
  Member& Add() { return members_.emplace_back(loop_); }

  Executor executor_{1};
  VirtualLoop loop_{executor_};
  std::list<Member> members_;
};

TEST_F(StreamLoopTest, AlarmsOfOneInstantAreRunInSeveralTurns) {
  constexpr std::size_t kCount = 5 * kTurnAlarmsMax / 2;
  const TimePoint at = executor_.now() + std::chrono::seconds(1);
  std::size_t run = 0;
  // Those who play have their turn in between.
  std::vector<std::size_t> run_before;
  Member& playing = Add();
  playing.on_turn_end = [&] { run_before.push_back(run); };
  for (std::size_t i = 0; i < kCount; ++i) {
    Member& member = Add();
    member.on_alarm = [&] {
      ++run;
      playing.Schedule();
    };
    member.SetAlarm(at);
  }
  executor_.RunUntil(at, 100);
  EXPECT_EQ(run, kCount);
  EXPECT_EQ(loop_.busiest_turn().alarms, kTurnAlarmsMax);
  EXPECT_EQ(run_before, (std::vector<std::size_t>{kTurnAlarmsMax,
                                                  2 * kTurnAlarmsMax, kCount}));
}

TEST_F(StreamLoopTest, EndsOfManyAreRunInSeveralTurns) {
  constexpr std::size_t kCount = 2 * kTurnEndsMax + 1;
  std::vector<std::size_t> order;
  std::vector<Member*> all;
  for (std::size_t i = 0; i < kCount; ++i) {
    Member& member = Add();
    member.on_turn_end = [&, i] {
      order.push_back(i);
      // The last one waits already, and does not come twice.
      if (i == 0) all.back()->Schedule();
    };
    all.push_back(&member);
  }
  for (Member* member : all) member->Schedule();
  executor_.RunUntil(executor_.now(), 100);
  ASSERT_EQ(order.size(), kCount);
  for (std::size_t i = 0; i < kCount; ++i) EXPECT_EQ(order[i], i);
  EXPECT_EQ(loop_.busiest_turn().ends, kTurnEndsMax);
}

TEST_F(StreamLoopTest, WhoWaitsForALaterTurnMayDie) {
  std::size_t ends = 0;
  for (std::size_t i = 0; i < 2 * kTurnEndsMax; ++i) {
    Add().on_turn_end = [&] {
      if (++ends == kTurnEndsMax) members_.pop_back();
    };
  }
  for (Member& member : members_) member.Schedule();
  executor_.RunUntil(executor_.now(), 100);
  EXPECT_EQ(ends, 2 * kTurnEndsMax - 1);
}

// A loop whose turns the test makes.
class Turns final : public stream::StreamLoop {
 public:
  using StreamLoop::CountRead;
  void End() { RunTurnEnd(); }

 private:
  void RequestTurnEnd() override {}
};

TEST(StreamLoop, ReadsLessOnceATurnHasReadMuch) {
  Turns loop;
  const std::size_t whole = loop.read_buffer().size();
  EXPECT_EQ(whole, 64u * 1024);
  loop.CountRead(kTurnBytes - whole);
  EXPECT_EQ(loop.read_buffer().size(), whole);
  loop.CountRead(1);
  EXPECT_EQ(loop.read_buffer().size(), whole - 1);
  loop.CountRead(kTurnBytes);
  EXPECT_EQ(loop.read_buffer().size(), kLeastReadBytes);
  loop.End();
  EXPECT_EQ(loop.read_buffer().size(), whole);
  EXPECT_EQ(loop.busiest_turn().bytes, 2 * kTurnBytes - whole + 1);
  loop.CountRead(1);
  loop.End();
  EXPECT_EQ(loop.busiest_turn().bytes, 2 * kTurnBytes - whole + 1);
}

class Guest final : public stream::LeavingMember {
 public:
  Guest(stream::StreamLoop& loop, std::vector<int>& cut, int number)
      : LeavingMember(loop), cut_(cut), number_(number) {}
  using LeavingMember::BeginLeaving;
  using LeavingMember::StopLeaving;

 private:
  void OnTurnEnd() override {}
  void OnAlarm() override {}
  void CutShort() override { cut_.push_back(number_); }

  std::vector<int>& cut_;
  const int number_;
};

TEST(StreamLoop, WhoHasBeenLeavingLongestMakesRoomFirst) {
  Turns loop;
  std::vector<int> cut;
  EXPECT_FALSE(loop.CutLeaver());
  std::vector<std::unique_ptr<Guest>> guests;
  for (int i = 0; i < 5; ++i) {
    guests.push_back(std::make_unique<Guest>(loop, cut, i));
  }
  for (const int i : {3, 0, 4, 1}) {
    guests[static_cast<std::size_t>(i)]->BeginLeaving();
  }
  guests[3]->BeginLeaving();  // it has begun
  guests[0] = nullptr;
  guests[4]->StopLeaving();
  while (loop.CutLeaver()) {
  }
  EXPECT_EQ(cut, (std::vector{3, 1}));
}

}  // namespace
}  // namespace parlor::test
