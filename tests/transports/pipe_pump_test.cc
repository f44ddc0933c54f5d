// What the pipe and its pump promise beyond the rules of every connection.
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "parlor/transports/memory_pipe.h"
#include "support/connection_conformance.h"

namespace parlor {
namespace {

using std::chrono::milliseconds;

// Two ends, on one pump or on two; nothing runs before Pump.
class PipePumpTest : public testing::TestWithParam<std::size_t> {
 protected:
  PipePumpTest() {
    near_.SetWake([this] { ++wakes_; });
    Connect({});
  }

  void Connect(const PipeOptions& options) {
    PipePair pair = MakePipe(near_, far(), options);
    a_.connection = std::move(pair.first);
    b_.connection = std::move(pair.second);
    a_.SetHandler(&a_);
    b_.SetHandler(&b_);
    PumpAll();
  }
  PipePump& far() { return GetParam() == 1 ? near_ : far_; }
  void PumpAll() {
    for (int i = 0; i < 4; ++i) {
      near_.Pump(now_);
      far_.Pump(now_);
    }
  }

  TimePoint now_{};
  int calls_ = 0;
  int wakes_ = 0;
  PipePump near_, far_;
  ConformanceEnd a_{calls_}, b_{calls_};
};

INSTANTIATE_TEST_SUITE_P(Pumps, PipePumpTest, testing::Values(1, 2),
                         [](const auto& row) {
                           return row.param == 1 ? "One" : "Two";
                         });

TEST_P(PipePumpTest, AnIdlePumpHasNothingToDo) {
  EXPECT_FALSE(near_.has_ready());
  EXPECT_EQ(near_.Pump(now_), 0u);
  EXPECT_EQ(near_.next_alarm(), kNever);
}

TEST_P(PipePumpTest, WakesOnceForEachPump) {
  wakes_ = 0;
  for (int i = 0; i < 10; ++i) b_.Send("x");
  EXPECT_EQ(wakes_, 1);
  EXPECT_TRUE(near_.has_ready());
  near_.Pump(now_);
  EXPECT_FALSE(near_.has_ready());
  b_.SendState("y");
  EXPECT_EQ(wakes_, 2);
}

TEST_P(PipePumpTest, WakesForWhatACallbackCaused) {
  a_.on_message = [&] { b_.Send("again"); };
  b_.Send("x");
  wakes_ = 0;
  near_.Pump(now_);
  EXPECT_EQ(a_.messages.size(), 1u) << "the answer waits for the next pump";
  EXPECT_EQ(wakes_, 1);
  near_.Pump(now_);
  EXPECT_EQ(a_.messages.size(), 2u);
}

TEST_P(PipePumpTest, CountsCallbacks) {
  b_.Send("x");
  b_.SendState("y");
  b_.Close(1000);
  EXPECT_EQ(near_.Pump(now_), 3u);
}

TEST_P(PipePumpTest, DeliversReliableBeforeState) {
  b_.SendState("state");
  b_.Send("reliable");
  near_.Pump(now_);
  ASSERT_EQ(a_.messages.size(), 2u);
  EXPECT_EQ(a_.messages[0].bytes, "reliable");
}

TEST_P(PipePumpTest, AStateMessageThatACallbackReplacesIsStillTheOldOne) {
  a_.on_message = [&] {
    a_.on_message = nullptr;
    EXPECT_EQ(b_.SendState("new"), SendResult::kQueued);
  };
  b_.Send("go");
  b_.SendState("old");
  near_.Pump(now_);
  EXPECT_EQ(a_.state(), std::vector<std::string>{"old"});
  near_.Pump(now_);
  EXPECT_EQ(a_.state(), (std::vector<std::string>{"old", "new"}));
}

TEST_P(PipePumpTest, ABudgetLeavesTheRestInOrder) {
  for (int i = 0; i < 5; ++i) b_.Send(std::to_string(i));
  b_.SendState("state");
  b_.Close(4000);
  for (std::size_t heard = 2; heard <= 6; heard += 2) {
    near_.Pump(now_, 2);
    EXPECT_EQ(a_.messages.size(), heard);
    EXPECT_TRUE(near_.has_ready() || heard == 6);
  }
  EXPECT_EQ(a_.reliable(), (std::vector<std::string>{"0", "1", "2", "3", "4"}));
  EXPECT_TRUE(a_.HeardClose({4000, "", false}));
}

TEST_P(PipePumpTest, ABudgetGoesRoundAllEnds) {
  // One end with much to hear, and others behind it.
  constexpr std::size_t kOthers = 4;
  std::vector<PipePair> pairs;
  std::vector<std::unique_ptr<ConformanceEnd>> others;
  for (std::size_t i = 0; i < kOthers; ++i) {
    pairs.push_back(MakePipe(near_, far()));
    others.push_back(std::make_unique<ConformanceEnd>(calls_));
    pairs.back().first->SetHandler(others.back().get());
  }
  PumpAll();
  for (int i = 0; i < 100; ++i) b_.Send("much");
  for (PipePair& pair : pairs) {
    pair.second->Send(Lane::kReliable, MessageKind::kBinary, {});
  }
  near_.Pump(now_, 10);
  EXPECT_EQ(a_.messages.size(), 10u);
  near_.Pump(now_, 10);
  for (const auto& other : others) EXPECT_EQ(other->messages.size(), 1u);
  EXPECT_EQ(a_.messages.size(), 16u);
}

TEST_P(PipePumpTest, AnEndCutShortMayDie) {
  for (int i = 0; i < 10; ++i) b_.Send("x");
  near_.Pump(now_, 3);
  a_.Destroy();
  EXPECT_EQ(near_.Pump(now_), GetParam() == 1 ? 1u : 0u);
  PumpAll();
  EXPECT_EQ(a_.messages.size(), 3u);
  EXPECT_TRUE(b_.HeardClose({1006, "", false}));
}

TEST_P(PipePumpTest, BothMayDieWhileOneIsCutShortAndReadyAgain) {
  for (int i = 0; i < 10; ++i) b_.Send("x");
  near_.Pump(now_, 3);
  b_.Send("x");
  a_.Destroy();
  b_.Destroy();
  EXPECT_TRUE(near_.has_ready());
  PumpAll();
  EXPECT_FALSE(near_.has_ready());
}

TEST_P(PipePumpTest, AbortLosesWhatWasQueued) {
  a_.Send("lost");
  a_.SendState("lost");
  a_.Abort();
  PumpAll();
  EXPECT_TRUE(b_.messages.empty());
}

TEST_P(PipePumpTest, TheLingerCountsFromTheFirstPumpAfterClose) {
  b_.SetHandler(nullptr);
  a_.Send("unheard");
  a_.Close(1000);
  now_ += milliseconds(100'000);  // no pump: it has not begun
  PumpAll();
  const TimePoint deadline = now_ + milliseconds(PipeOptions().linger_ms);
  EXPECT_EQ(near_.next_alarm(), deadline);
  now_ = deadline - Duration(1);
  PumpAll();
  EXPECT_TRUE(a_.closes.empty());
  now_ = deadline;
  PumpAll();
  EXPECT_TRUE(a_.HeardClose({1000, "", true}));
  EXPECT_EQ(near_.next_alarm(), kNever);
  // What it had not taken is lost, and so is the code.
  b_.SetHandler(&b_);
  PumpAll();
  EXPECT_TRUE(b_.messages.empty());
  EXPECT_TRUE(b_.HeardClose({1006, "", false}));
}

TEST_P(PipePumpTest, NoLingerIsLeftBehind) {
  for (bool abort : {false, true}) {
    b_.SetHandler(nullptr);
    a_.Close(1000);
    PumpAll();
    EXPECT_NE(near_.next_alarm(), kNever);
    if (abort) {
      a_.Abort();
    } else {
      a_.Destroy();
    }
    EXPECT_EQ(near_.next_alarm(), kNever);
    PumpAll();
    a_.closes.clear();
    a_.opens = b_.opens = 0;
    Connect({});
  }
}

TEST_P(PipePumpTest, AFullLaneToAnEndThatIsGoneIsNotSlowness) {
  PipeOptions options;
  options.reliable_bytes_max = 1'024;
  a_.opens = b_.opens = 0;
  Connect(options);
  a_.Destroy();
  SendResult result = SendResult::kQueued;
  for (int i = 0; i < 100 && result == SendResult::kQueued; ++i) {
    result = b_.Send(std::string(100, 'x'));
  }
  EXPECT_EQ(result, SendResult::kClosed);
  PumpAll();
  EXPECT_TRUE(b_.HeardClose({1006, "", false}));
}

TEST_P(PipePumpTest, AMessageCountsItsOverhead) {
  PipeOptions options;
  options.reliable_bytes_max = 1'024;
  a_.opens = b_.opens = 0;
  Connect(options);
  for (std::size_t i = 0; i < 1'024 / kMessageOverhead; ++i) {
    ASSERT_EQ(a_.Send(""), SendResult::kQueued);
    EXPECT_EQ(a_.connection->queued_bytes(Lane::kReliable),
              (i + 1) * kMessageOverhead);
  }
  EXPECT_EQ(a_.Send(""), SendResult::kOverflow);
}

class RefusalHandler final : public ConnectionHandler {
 public:
  std::vector<CloseEvent> closes;

  void OnOpen(TimePoint, Connection&) override { ADD_FAILURE(); }
  void OnMessage(TimePoint, Connection&, Lane, MessageKind,
                 std::span<const std::byte>) override {
    ADD_FAILURE();
  }
  void OnClose(TimePoint, Connection&, const CloseEvent& event) override {
    closes.push_back(event);
  }
};

TEST(RefusedPipeTest, HearsItsRefusalOnce) {
  PipePump pump;
  RefusalHandler handler;
  const std::unique_ptr<Connection> end = MakeRefusedPipe(pump, 409);
  EXPECT_FALSE(end->is_open());
  EXPECT_EQ(end->Send(Lane::kReliable, MessageKind::kText, {}),
            SendResult::kClosed);
  pump.Pump({});
  end->SetHandler(&handler);
  EXPECT_TRUE(handler.closes.empty());
  pump.Pump({});
  end->Close(CloseReason::kNormal);
  end->Abort();
  pump.Pump({});
  ASSERT_EQ(handler.closes.size(), 1u);
  EXPECT_EQ(handler.closes[0].code, close_code::kDropped);
  EXPECT_EQ(handler.closes[0].refusal, 409);
  EXPECT_FALSE(handler.closes[0].by_us);
}

TEST(RefusedPipeTest, MayDieUnheard) {
  PipePump pump;
  RefusalHandler handler;
  MakeRefusedPipe(pump, 503)->SetHandler(&handler);
  EXPECT_EQ(pump.Pump({}), 0u);
  MakeRefusedPipe(pump, 503);
}

using PipeDeathTest = PipePumpTest;
INSTANTIATE_TEST_SUITE_P(Pumps, PipeDeathTest, testing::Values(1));

TEST_P(PipeDeathTest, OurOwnMistakesStopTheProcess) {
  EXPECT_DEATH(a_.Close(1005), "check failed");
  EXPECT_DEATH(a_.Close(1006), "check failed");
  EXPECT_DEATH(a_.Close(1000, std::string(kCloseTextMax + 1, 'x')),
               "check failed");
  EXPECT_DEATH(a_.Close(1000, "\xff"), "check failed");
  EXPECT_DEATH(near_.SetWake({}), "check failed") << "after the first pipe";
  PipeOptions options;
  options.reliable_bytes_max = 1;
  EXPECT_DEATH(MakePipe(near_, far_, options), "check failed");
  EXPECT_DEATH(
      {
        a_.on_message = [&] { near_.Pump(now_); };
        b_.Send("x");
        near_.Pump(now_);
      },
      "check failed");
}

}  // namespace
}  // namespace parlor
