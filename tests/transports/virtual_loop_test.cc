#include "sim/virtual_loop.h"

#include <gtest/gtest.h>

#include <functional>
#include <utility>
#include <vector>

#include "parlor/executor.h"
#include "parlor/time.h"
#include "stream/stream_loop.h"

namespace parlor::sim {
namespace {

class Call final : public VirtualEvent {
 public:
  Call(VirtualLoop& loop, std::function<void()> run)
      : VirtualEvent(loop), run_(std::move(run)) {}

 private:
  void OnEvent() override { run_(); }

  std::function<void()> run_;
};

class Member final : public stream::LoopMember {
 public:
  Member(stream::StreamLoop& loop, std::function<void(bool alarm)> run)
      : LoopMember(loop), run_(std::move(run)) {}

 private:
  void OnTurnEnd() override { run_(false); }
  void OnAlarm() override { run_(true); }

  std::function<void(bool alarm)> run_;
};

class VirtualLoopTest : public testing::Test {
 protected:
  TimePoint At(int ms) const { return TimePoint{} + ms * kMillisecond; }

  Executor executor_{1};
  VirtualLoop loop_{executor_};
};

TEST_F(VirtualLoopTest, AnEventHasOneTimeAndIsOfItsLoop) {
  std::vector<TimePoint> ran;
  Call call(loop_, [&] { ran.push_back(loop_.now()); });
  call.RunAt(At(5));
  call.RunSoon();  // it is to come: no earlier for that
  EXPECT_TRUE(call.is_due());
  executor_.RunUntil(At(4));
  EXPECT_TRUE(ran.empty());
  call.RunAt(At(7));  // instead
  executor_.RunUntil(At(10));
  EXPECT_EQ(ran, (std::vector{At(7)}));
  EXPECT_FALSE(call.is_due());
  call.RunSoon();
  call.Cancel();
  executor_.RunUntil(At(11));
  EXPECT_EQ(ran.size(), 1u);
  {
    Call goner(loop_, [&] { ran.push_back(loop_.now()); });
    goner.RunSoon();
  }
  EXPECT_EQ(executor_.pending(), 0u);
}

TEST_F(VirtualLoopTest, ItsTimeGoesOnOutsideOfTurnsToo) {
  executor_.RunUntil(At(5));
  EXPECT_EQ(loop_.now(), At(5));
}

TEST_F(VirtualLoopTest, AMachineThatStandsStillDoesAllOfItLater) {
  std::vector<char> order;
  VirtualLoop other(executor_);
  Call call(loop_, [&] { order.push_back('e'); });
  Call elsewhere(other, [&] { order.push_back('o'); });
  Member member(loop_, [&](bool alarm) {
    EXPECT_EQ(loop_.now(), At(20));
    order.push_back(alarm ? 'a' : 'm');
  });
  call.RunAt(At(5));
  elsewhere.RunAt(At(5));
  member.SetAlarm(At(6));
  executor_.RunUntil(At(1));  // the loop has seen the alarm
  member.Schedule();
  loop_.Post([&] { order.push_back('t'); });
  loop_.StallUntil(At(20));
  loop_.StallUntil(At(10));  // no shorter for that
  executor_.RunUntil(At(19));
  EXPECT_EQ(order, (std::vector{'o'}));
  executor_.RunUntil(At(20));
  // In the order in which each was due: the turn's end, which finds that the
  // alarm's time has come too, the task, the event.
  EXPECT_EQ(order, (std::vector{'o', 'a', 'm', 't', 'e'}));
}

}  // namespace
}  // namespace parlor::sim
