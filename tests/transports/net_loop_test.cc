#include "parlor/transports/net_loop.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "parlor/time.h"

namespace parlor {
namespace {

constexpr TimePoint kNow{std::chrono::hours(1)};

TEST(NetLoop, HasNothingToDoAtFirst) {
  NetLoop loop;
  EXPECT_EQ(loop.Poll(kNow), 0u);
  EXPECT_EQ(loop.now(), kNow);
  EXPECT_EQ(loop.next_alarm(), kNever);
}

TEST(NetLoop, RunsTasksInOrder) {
  NetLoop loop;
  std::vector<int> ran;
  for (int i = 0; i < 3; ++i) loop.Post([&, i] { ran.push_back(i); });
  EXPECT_TRUE(ran.empty());
  // The end of the turn is an event too.
  EXPECT_EQ(loop.Poll(kNow), 4u);
  EXPECT_EQ(ran, (std::vector{0, 1, 2}));
  EXPECT_EQ(loop.Poll(kNow), 0u);
}

TEST(NetLoop, PollHandlesNoMoreThanItWasTold) {
  NetLoop loop;
  int ran = 0;
  for (int i = 0; i < 3; ++i) loop.Post([&] { ++ran; });
  EXPECT_EQ(loop.Poll(kNow, 2), 2u);
  EXPECT_EQ(ran, 2);
  EXPECT_EQ(loop.Poll(kNow, 0), 0u);
  EXPECT_EQ(loop.Poll(kNow), 2u);
  EXPECT_EQ(ran, 3);
}

// A task that posts itself for ever must not hold a game's frame.
TEST(NetLoop, PollComesBackFromWorkWithoutEnd) {
  NetLoop loop;
  int ran = 0;
  std::function<void()> again = [&] {
    ++ran;
    loop.Post(again);
  };
  loop.Post(again);
  EXPECT_GT(loop.Poll(kNow), 0u);
  EXPECT_GT(ran, 0);
  EXPECT_LT(ran, 100);
}

TEST(NetLoop, TellsTasksTheTimeThatWasPassed) {
  NetLoop loop;
  TimePoint seen{};
  loop.Post([&] { seen = loop.now(); });
  loop.Poll(kNow);
  EXPECT_EQ(seen, kNow);
  loop.Post([&] { seen = loop.now(); });
  loop.Poll(kNow + kMillisecond);
  EXPECT_EQ(seen, kNow + kMillisecond);
}

TEST(NetLoop, DestroysTasksThatWait) {
  auto held = std::make_shared<int>(1);
  {
    NetLoop loop;
    loop.Post([held] { FAIL() << "was run"; });
    EXPECT_EQ(held.use_count(), 2);
  }
  EXPECT_EQ(held.use_count(), 1);
}

TEST(NetLoop, DestroysTasksThatTasksPostAsTheyDie) {
  auto held = std::make_shared<int>(1);
  {
    NetLoop loop;
    const auto post = [&loop, held](int*) { loop.Post([held] {}); };
    loop.Post([dying = std::shared_ptr<int>(nullptr, post)] {});
    loop.Poll(kNow, 1);  // what it posts waits
    loop.Post([dying = std::shared_ptr<int>(nullptr, post)] {});
  }
  EXPECT_EQ(held.use_count(), 1);
}

TEST(NetLoop, RunReturnsAfterStop) {
  NetLoop loop;
  std::atomic<int> ran = 0;
  std::thread thread([&] { loop.Run(); });
  for (int i = 0; i < 1'000; ++i) {
    loop.Post([&] { ran.fetch_add(1); });
  }
  loop.Post([&] { loop.Stop(); });
  thread.join();
  EXPECT_EQ(ran.load(), 1'000);
}

TEST(NetLoop, StopWakesALoopThatWaits) {
  NetLoop loop;
  std::atomic<bool> running = false;
  std::thread thread([&] { loop.Run(); });
  loop.Post([&] { running.store(true); });
  while (!running.load()) std::this_thread::yield();
  loop.Stop();
  thread.join();
}

TEST(NetLoop, RunAfterStopReturns) {
  NetLoop loop;
  loop.Stop();
  loop.Run();
}

TEST(NetLoop, ManyThreadsPostToManyLoops) {
  constexpr int kEach = 500;
  std::vector<std::unique_ptr<NetLoop>> loops;
  std::vector<int> ran(3);
  std::vector<std::thread> runners, posters;
  for (std::size_t i = 0; i < ran.size(); ++i) {
    loops.push_back(std::make_unique<NetLoop>());
  }
  for (const auto& loop : loops) {
    runners.emplace_back([&loop] { loop->Run(); });
  }
  for (int poster = 0; poster < 2; ++poster) {
    posters.emplace_back([&] {
      for (int n = 0; n < kEach; ++n) {
        for (std::size_t i = 0; i < ran.size(); ++i) {
          loops[i]->Post([&ran, i] { ++ran[i]; });
        }
      }
    });
  }
  for (std::thread& thread : posters) thread.join();
  for (auto& loop : loops) loop->Post([&loop] { loop->Stop(); });
  for (std::thread& thread : runners) thread.join();
  EXPECT_EQ(ran, std::vector<int>(3, 2 * kEach));
}

}  // namespace
}  // namespace parlor
