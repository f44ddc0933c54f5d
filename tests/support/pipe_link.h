// The memory pipe under the conformance suite: one pump or two, driven by the
// deterministic executor through the wake hook and next_alarm, as a host would.
#ifndef PARLOR_TESTS_SUPPORT_PIPE_LINK_H_
#define PARLOR_TESTS_SUPPORT_PIPE_LINK_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "parlor/executor.h"
#include "parlor/transports/memory_pipe.h"
#include "support/connection_conformance.h"

namespace parlor {

// Pumps when woken, in an order drawn from the executor's seed, and sometimes
// only a few messages at a time.
class PumpOnExecutor {
 public:
  explicit PumpOnExecutor(Executor& executor) : executor_(executor) {
    pump_.SetWake([this] { Post(); });
  }

  PipePump& pump() { return pump_; }

 private:
  void Post() {
    if (std::exchange(posted_, true)) return;
    executor_.After(Duration::zero(), [this] { Run(); });
  }

  void Run() {
    posted_ = false;
    const std::size_t messages_max = executor_.random().Chance(1, 4)
                                         ? executor_.random().Below(3) + 1
                                         : SIZE_MAX;
    pump_.Pump(executor_.now(), messages_max);
    // What the budget left; a wake covers the rest.
    if (pump_.has_ready()) Post();
    const TimePoint alarm = pump_.next_alarm();
    if (alarm == alarm_) return;
    alarm_ = alarm;
    if (alarm != kNever) executor_.At(alarm, [this] { Run(); });
  }

  Executor& executor_;
  PipePump pump_;
  bool posted_ = false;
  TimePoint alarm_ = kNever;
};

template <std::size_t kPumps>
class PipeLink {
 public:
  explicit PipeLink(std::uint64_t seed)
      : executor_(seed, Executor::Ties::kShuffled),
        pumps_{PumpOnExecutor(executor_), PumpOnExecutor(executor_)} {}

  ConformanceEnds Connect(const ConformanceOptions& options,
                          ConnectionHandler* first, ConnectionHandler* second) {
    PipeOptions pipe;
    pipe.reliable_bytes_max = options.reliable_bytes_max;
    pipe.message_bytes_max = options.message_bytes_max;
    pipe.linger_ms = options.linger_ms;
    PipePair pair = MakePipe(pumps_[0].pump(), pumps_[kPumps - 1].pump(), pipe);
    pair.first->SetHandler(first);
    pair.second->SetHandler(second);
    return {std::move(pair.first), std::move(pair.second)};
  }

  bool Step() { return executor_.RunNext(executor_.now()); }
  void Settle() { executor_.RunUntil(executor_.now(), 1'000'000); }
  void Advance(Duration time) { executor_.RunFor(time); }

 private:
  Executor executor_;
  std::array<PumpOnExecutor, 2> pumps_;
};

}  // namespace parlor

#endif  // PARLOR_TESTS_SUPPORT_PIPE_LINK_H_
