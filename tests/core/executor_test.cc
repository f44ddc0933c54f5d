#include "parlor/executor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

namespace parlor {
namespace {

using std::chrono::milliseconds;
using testing::ElementsAre;

TimePoint Ms(int ms) { return TimePoint(milliseconds(ms)); }

class ExecutorTest : public testing::Test {
 protected:
  Executor::Event Post(int at_ms, char mark) {
    return executor_.At(Ms(at_ms), [this, mark] { seen_ += mark; });
  }

  Executor executor_{1};
  std::string seen_;
};

TEST_F(ExecutorTest, RunsInTheOrderOfTime) {
  Post(30, 'c');
  Post(10, 'a');
  Post(20, 'b');
  EXPECT_EQ(executor_.next(), Ms(10));
  EXPECT_EQ(executor_.pending(), 3u);
  EXPECT_EQ(executor_.RunUntil(Ms(100)), 3u);
  EXPECT_EQ(seen_, "abc");
  EXPECT_EQ(executor_.now(), Ms(100));
  EXPECT_EQ(executor_.next(), kNever);
  EXPECT_EQ(executor_.pending(), 0u);
}

TEST_F(ExecutorTest, TiesRunAsTheyWerePosted) {
  for (char mark = 'a'; mark <= 'z'; ++mark) Post(5, mark);
  executor_.RunUntil(Ms(5));
  EXPECT_EQ(seen_, "abcdefghijklmnopqrstuvwxyz");
}

TEST_F(ExecutorTest, TimeIsTheEventsOwnWhileItRuns) {
  std::vector<TimePoint> times;
  for (int ms : {7, 3, 3}) {
    executor_.At(Ms(ms), [&] { times.push_back(executor_.now()); });
  }
  executor_.RunFor(milliseconds(50));
  EXPECT_THAT(times, ElementsAre(Ms(3), Ms(3), Ms(7)));
}

TEST_F(ExecutorTest, RunUntilTakesItsEndAndNothingLater) {
  Post(10, 'a');
  executor_.At(Ms(10) + Duration(1), [this] { seen_ += 'b'; });
  EXPECT_EQ(executor_.RunUntil(Ms(10)), 1u);
  EXPECT_EQ(seen_, "a");
  EXPECT_EQ(executor_.now(), Ms(10));
  EXPECT_EQ(executor_.RunUntil(Ms(11)), 1u);
  EXPECT_EQ(seen_, "ab");
}

TEST_F(ExecutorTest, TimeNeverFalls) {
  executor_.RunUntil(Ms(20));
  executor_.RunUntil(Ms(10));
  EXPECT_EQ(executor_.now(), Ms(20));
  // A time that has passed means now.
  Post(5, 'a');
  EXPECT_EQ(executor_.next(), Ms(20));
  executor_.RunUntil(Ms(20));
  EXPECT_EQ(seen_, "a");
  EXPECT_EQ(executor_.now(), Ms(20));
}

TEST_F(ExecutorTest, RunNextStopsAtItsLimit) {
  Post(10, 'a');
  EXPECT_FALSE(executor_.RunNext(Ms(9)));
  EXPECT_EQ(executor_.now(), Ms(0));
  EXPECT_TRUE(executor_.RunNext(Ms(10)));
  EXPECT_EQ(executor_.now(), Ms(10));
  EXPECT_FALSE(executor_.RunNext());
}

TEST_F(ExecutorTest, ACancelledEventNeverRuns) {
  const Executor::Event a = Post(10, 'a');
  Post(10, 'b');
  EXPECT_TRUE(executor_.Cancel(a));
  EXPECT_FALSE(executor_.Cancel(a));
  executor_.RunUntil(Ms(20));
  EXPECT_EQ(seen_, "b");
}

TEST_F(ExecutorTest, CancelSaysFalseOfWhatRanAndOfNothing) {
  EXPECT_FALSE(executor_.Cancel({}));
  const Executor::Event a = Post(10, 'a');
  executor_.RunUntil(Ms(10));
  EXPECT_FALSE(executor_.Cancel(a));
}

TEST_F(ExecutorTest, EventsPostAndCancelEvents) {
  Executor::Event victim;
  Executor::Event self;
  self = executor_.At(Ms(10), [&] {
    seen_ += 'a';
    EXPECT_FALSE(executor_.Cancel(self));  // it runs, so it is no longer posted
    EXPECT_TRUE(executor_.Cancel(victim));
    Post(0, 'b');  // now, after what was posted for now already
    executor_.After(milliseconds(5), [this] { seen_ += 'd'; });
  });
  victim = Post(12, 'x');
  Post(10, 'c');
  executor_.RunUntil(Ms(15));
  EXPECT_EQ(seen_, "acbd");
}

TEST_F(ExecutorTest, AnEventMayOutliveWhatItHolds) {
  auto held = std::make_shared<int>(1);
  const std::weak_ptr<int> watch = held;
  executor_.At(Ms(1), [held = std::move(held)] {});
  executor_.RunUntil(Ms(1));
  EXPECT_TRUE(watch.expired());
}

TEST(ExecutorDeathTest, ALoopWithoutTimeIsStopped) {
  Executor executor(1);
  std::function<void()> again = [&] { executor.After(Duration(0), again); };
  executor.At(TimePoint{}, again);
  EXPECT_DEATH(executor.RunUntil(TimePoint{}, 1'000), "events_max");
}

std::string ShuffledOrder(std::uint64_t seed) {
  Executor executor(seed, Executor::Ties::kShuffled);
  std::string seen;
  executor.At(Ms(4), [&] { seen += 'z'; });
  for (char mark = 'a'; mark <= 'e'; ++mark) {
    executor.At(Ms(3), [&seen, mark] { seen += mark; });
  }
  executor.RunUntil(Ms(4));
  return seen;
}

TEST(ShuffledTiesTest, OneSeedOneOrderAndManySeedsManyOrders) {
  std::set<std::string> orders;
  for (std::uint64_t seed = 0; seed < 2'000; ++seed) {
    std::string order = ShuffledOrder(seed);
    ASSERT_EQ(order, ShuffledOrder(seed)) << seed;
    ASSERT_EQ(order.back(), 'z') << "time comes before the shuffle";
    orders.insert(order);
    std::sort(order.begin(), order.end());
    ASSERT_EQ(order, "abcdez") << seed;
  }
  EXPECT_EQ(orders.size(), 120u);  // all orders of five
}

TEST(ShuffledTiesTest, CancelFindsShuffledEvents) {
  Executor executor(9, Executor::Ties::kShuffled);
  int ran = 0;
  std::vector<Executor::Event> events;
  for (int i = 0; i < 10; ++i)
    events.push_back(executor.At(Ms(1), [&] { ++ran; }));
  for (int i = 0; i < 10; i += 2) EXPECT_TRUE(executor.Cancel(events[i]));
  executor.RunUntil(Ms(1));
  EXPECT_EQ(ran, 5);
}

}  // namespace
}  // namespace parlor
