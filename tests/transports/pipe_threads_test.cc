// The memory pipe between two real threads. Nothing here sleeps or polls: a
// thread waits on a condition that its pump's wake hook notifies, so that a
// wake which is lost stops the test.
#include <gtest/gtest.h>

#include <array>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <thread>
#include <utility>

#include "parlor/random.h"
#include "parlor/transports/memory_pipe.h"
#include "support/connection_conformance.h"
#include "support/seed.h"

namespace parlor {
namespace {

// One thread's pump, and its sleep.
class Waker {
 public:
  Waker() {
    pump_.SetWake([this] {
      {
        const std::lock_guard lock(mutex_);
        woken_ = true;
      }
      condition_.notify_one();
    });
  }

  PipePump& pump() { return pump_; }
  void Pump(std::size_t messages_max = SIZE_MAX) {
    pump_.Pump(TimePoint(), messages_max);
  }
  // Sleeps until there is something to pump.
  void PumpNext() {
    if (!pump_.has_ready()) {
      std::unique_lock lock(mutex_);
      condition_.wait(lock, [this] { return woken_; });
      woken_ = false;
    }
    Pump();
  }

 private:
  std::mutex mutex_;
  std::condition_variable condition_;
  bool woken_ = false;
  PipePump pump_;
};

// Hands one thing at a time from one thread to another.
template <typename T>
class Handover {
 public:
  void Give(T thing) {
    {
      const std::lock_guard lock(mutex_);
      thing_ = std::move(thing);
    }
    condition_.notify_one();
  }
  T Take() {
    std::unique_lock lock(mutex_);
    condition_.wait(lock, [this] { return thing_.has_value(); });
    T thing = std::move(*thing_);
    thing_.reset();
    return thing;
  }

 private:
  std::mutex mutex_;
  std::condition_variable condition_;
  std::optional<T> thing_;
};

// One end's user: sends numbers, and checks that what it hears is 0, 1, 2, ...
// on the reliable lane and never an older one on the state lane.
class Player final : public ConnectionHandler {
 public:
  std::uint32_t sent = 0;
  std::uint32_t heard = 0;
  std::uint32_t states_sent = 0;
  std::uint32_t states_heard = 0;
  std::uint64_t writables = 0;
  std::optional<ConformanceClose> closed;

  // Lengths vary, so that records meet the ends of chunks everywhere.
  SendResult SendNext(Connection& end) {
    const SendResult result =
        Send(end, Lane::kReliable, sent, 4 + sent % 61 + sent % 7 * 100);
    if (result == SendResult::kQueued) ++sent;
    return result;
  }
  void SendState(Connection& end) {
    const std::uint32_t number = states_sent + 1;
    const SendResult result = Send(end, Lane::kState, number, 4 + number % 200);
    if (result != SendResult::kClosed) states_sent = number;
  }

  void OnOpen(TimePoint, Connection&) override {
    EXPECT_FALSE(std::exchange(opened_, true));
  }
  void OnMessage(TimePoint, Connection&, Lane lane, MessageKind,
                 std::span<const std::byte> bytes) override {
    EXPECT_TRUE(opened_ && !closed);
    ASSERT_GE(bytes.size(), 4u);
    std::uint32_t number;
    std::memcpy(&number, bytes.data(), 4);
    for (std::byte b : bytes.subspan(4)) {
      ASSERT_EQ(b, static_cast<std::byte>(number)) << "torn";
    }
    if (lane == Lane::kState) {
      ASSERT_GT(number, states_heard);
      states_heard = number;
    } else {
      ASSERT_EQ(number, heard);
      ++heard;
    }
  }
  void OnWritable(TimePoint, Connection&, Lane) override { ++writables; }
  void OnClose(TimePoint, Connection&, const CloseEvent& event) override {
    EXPECT_FALSE(closed);
    closed = {event.code, std::string(event.text), event.by_us};
  }

 private:
  SendResult Send(Connection& end, Lane lane, std::uint32_t number,
                  std::size_t size) {
    std::memset(bytes_.data(), static_cast<int>(number & 0xff), size);
    std::memcpy(bytes_.data(), &number, 4);
    return end.Send(lane, MessageKind::kBinary,
                    std::span(bytes_).subspan(0, size));
  }

  std::array<std::byte, 1'024> bytes_;
  bool opened_ = false;
};

constexpr std::uint32_t kFlood = 200'000;
constexpr std::size_t kFloodLimit = 32 * 1024;

// Sends kFlood numbers as fast as the other end takes them, never over the
// limit, and hears as many; then closes, unless the other one did.
void Flood(Waker& waker, Connection& end, Player& player) {
  end.SetHandler(&player);
  std::uint64_t writables = 0;
  bool full = false;
  while (!player.closed) {
    if (full && player.writables != writables) full = false;
    while (!full && player.sent < kFlood && end.is_open()) {
      ASSERT_EQ(player.SendNext(end), SendResult::kQueued);
      if (player.sent % 4 == 0) player.SendState(end);
      if (end.queued_bytes(Lane::kReliable) > kFloodLimit * 3 / 4) {
        full = true;  // until OnWritable says so
        writables = player.writables;
      }
      if (player.sent % 64 == 0) waker.Pump(16);
    }
    if (player.sent == kFlood && player.heard == kFlood) {
      end.Close(CloseReason::kNormal);
    }
    waker.PumpNext();
  }
}

TEST(PipeThreadsTest, FloodsBothWaysOnBothLanes) {
  PipeOptions options;
  options.reliable_bytes_max = kFloodLimit;
  Waker near, far;
  PipePair pair = MakePipe(near.pump(), far.pump(), options);
  Player near_player, far_player;
  std::thread thread([&] { Flood(far, *pair.second, far_player); });
  Flood(near, *pair.first, near_player);
  thread.join();
  for (const Player* player : {&near_player, &far_player}) {
    EXPECT_EQ(player->sent, kFlood);
    EXPECT_EQ(player->heard, kFlood);
    EXPECT_GT(player->states_heard, 0u);
    EXPECT_EQ(player->closed->code, close_code::kNormal);
  }
}

// What one side does with its end, in one round.
enum class Ending { kWait, kClose, kAbort, kDestroy };

struct Plan {
  std::uint64_t seed;
  Ending ending;
  CloseCode code;
};

// Sends and pumps as the seed has it, ends the connection as planned and waits
// for OnClose. True when the end was destroyed without one.
bool Play(const Plan& plan, Waker& waker, std::unique_ptr<Connection> end,
          Player& player) {
  Random random(plan.seed);
  end->SetHandler(&player);
  for (std::uint32_t n = random.Below(60); n > 0 && !player.closed; --n) {
    switch (random.Below(4)) {
      case 0:
        for (std::uint32_t i = random.Below(20); i > 0; --i) {
          player.SendNext(*end);
        }
        break;
      case 1:
        player.SendState(*end);
        break;
      case 2:
        waker.Pump(random.Below(8));
        break;
      default:
        player.SendNext(*end);
    }
  }
  if (plan.ending == Ending::kDestroy && !player.closed) return true;
  if (plan.ending == Ending::kClose) end->Close(plan.code, "planned");
  if (plan.ending == Ending::kAbort) end->Abort();
  while (!player.closed) waker.PumpNext();
  return false;
}

void CheckRound(const Plan& plan, const Player& self, bool destroyed,
                const Plan& other_plan, const Player& other) {
  EXPECT_LE(self.heard, other.sent);
  if (destroyed) return;
  ASSERT_TRUE(self.closed);
  const ConformanceClose& close = *self.closed;
  const ConformanceClose too_slow{1011, "too slow", true};
  if (close.by_us) {
    const bool planned =
        (plan.ending == Ending::kClose && close.code == plan.code) ||
        (plan.ending == Ending::kAbort && close.code == 1006);
    EXPECT_TRUE(planned || close == too_slow);
  } else if (close.code == 1006) {
    EXPECT_TRUE(other_plan.ending == Ending::kAbort ||
                other_plan.ending == Ending::kDestroy);
  } else {
    EXPECT_TRUE(close.code == other_plan.code || close.code == 1011);
    EXPECT_EQ(self.heard, other.sent) << "a clean close came too early";
  }
}

TEST(PipeThreadsTest, EndsCloseAbortAndDieAtRandomTimes) {
  constexpr int kRounds = 4'000;
  struct Round {
    std::unique_ptr<Connection> end;
    Plan plan;
  };
  struct Result {
    Player player;
    bool destroyed = false;
  };
  PipeOptions options;
  options.reliable_bytes_max = 16 * 1024;
  Waker near, far;
  Handover<Round> rounds;
  Handover<std::unique_ptr<Result>> results;
  std::thread thread([&] {
    for (int i = 0; i < kRounds; ++i) {
      Round round = rounds.Take();
      auto result = std::make_unique<Result>();
      result->destroyed =
          Play(round.plan, far, std::move(round.end), result->player);
      results.Give(std::move(result));
    }
  });
  const std::uint64_t seed = test::TestSeed();
  Random random(seed);
  for (int i = 0; i < kRounds; ++i) {
    SCOPED_TRACE(testing::Message()
                 << "PARLOR_SEED=" << seed << " round " << i);
    std::array<Plan, 2> plans;
    for (Plan& plan : plans) {
      plan.seed = random.Next64();
      plan.ending = static_cast<Ending>(random.Below(4));
      plan.code = static_cast<CloseCode>(3000 + random.Below(2000));
    }
    // One of them has to end it.
    if (plans[0].ending == Ending::kWait) plans[1].ending = Ending::kClose;
    PipePair pair = MakePipe(near.pump(), far.pump(), options);
    rounds.Give({std::move(pair.second), plans[1]});
    Result mine;
    mine.destroyed = Play(plans[0], near, std::move(pair.first), mine.player);
    const std::unique_ptr<Result> theirs = results.Take();
    CheckRound(plans[0], mine.player, mine.destroyed, plans[1], theirs->player);
    CheckRound(plans[1], theirs->player, theirs->destroyed, plans[0],
               mine.player);
  }
  thread.join();
}

TEST(PipeThreadsTest, APumpMayDieWhileTheOtherEndStillSends) {
  constexpr int kRounds = 2'000;
  Waker far;
  Handover<std::unique_ptr<Connection>> ends;
  Handover<bool> done;
  std::thread thread([&] {
    for (int i = 0; i < kRounds; ++i) {
      std::unique_ptr<Connection> end = ends.Take();
      Player player;
      end->SetHandler(&player);
      for (int n = 0; n < 50; ++n) {
        player.SendNext(*end);
        player.SendState(*end);
      }
      while (!player.closed) far.PumpNext();
      EXPECT_EQ(player.closed->code, close_code::kDropped);
      done.Give(true);
    }
  });
  for (int i = 0; i < kRounds; ++i) {
    {
      Waker near;
      PipePair pair = MakePipe(near.pump(), far.pump());
      ends.Give(std::move(pair.second));
      Player player;
      pair.first->SetHandler(&player);
      for (int n = i % 20; n > 0; --n) player.SendNext(*pair.first);
      if (i % 3 == 0) near.Pump(2);
      pair.first.reset();
    }
    done.Take();
  }
  thread.join();
}

}  // namespace
}  // namespace parlor
