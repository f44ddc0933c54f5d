// What a message over the memory pipe costs, from Send to OnMessage.
//
//   pipe_bench --benchmark_repetitions=5
//   --benchmark_report_aggregates_only=true
//
// Time is per message unless a name says otherwise; `allocs` is heap
// allocations per message, after the first few.
#include <benchmark/benchmark.h>

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "parlor/check.h"
#include "parlor/transports/memory_pipe.h"
#include "support/counting_allocator.h"

namespace parlor {
namespace {

// Looks at what it is given, so that a delivery cannot be optimised away.
class SummingHandler final : public ConnectionHandler {
 public:
  std::uint64_t messages = 0;
  std::uint64_t sum = 0;

  void OnMessage(TimePoint, Connection&, Lane, MessageKind,
                 std::span<const std::byte> bytes) override {
    ++messages;
    sum += std::to_integer<std::uint64_t>(bytes.back());
  }
  void OnClose(TimePoint, Connection&, const CloseEvent&) override {
    PARLOR_CHECK(false);
  }
};

// Counters over what ran between construction and Report.
class Cost {
 public:
  explicit Cost(const SummingHandler& handler)
      : handler_(handler),
        messages_(handler.messages),
        allocations_(parlor_allocation_count()) {}

  // Checks that `sent` messages arrived.
  void Report(benchmark::State& state, std::uint64_t sent,
              std::size_t message_bytes) {
    const auto allocations =
        static_cast<double>(parlor_allocation_count() - allocations_);
    PARLOR_CHECK(handler_.messages - messages_ == sent);
    state.SetItemsProcessed(static_cast<std::int64_t>(sent));
    state.SetBytesProcessed(static_cast<std::int64_t>(sent * message_bytes));
    state.counters["allocs"] = allocations / static_cast<double>(sent);
    state.counters["per_message"] = benchmark::Counter(
        static_cast<double>(sent),
        benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
  }

 private:
  const SummingHandler& handler_;
  std::uint64_t messages_;
  std::uint64_t allocations_;
};

// The least that any queue does: copy in, copy nothing out, call a handler.
void BM_BareCopy(benchmark::State& state) {
  const auto bytes = static_cast<std::size_t>(state.range(0));
  const auto burst = static_cast<std::size_t>(state.range(1));
  SummingHandler handler;
  ConnectionHandler* receiver = &handler;
  benchmark::DoNotOptimize(receiver);
  PipePump pump;
  PipePair pair = MakePipe(pump, pump);
  std::vector<std::byte> message(bytes, std::byte{1});
  std::vector<std::byte> queue(bytes * burst);
  Cost cost(handler);
  for (auto _ : state) {
    for (std::size_t i = 0; i < burst; ++i) {
      std::memcpy(queue.data() + i * bytes, message.data(), bytes);
      benchmark::ClobberMemory();
    }
    for (std::size_t i = 0; i < burst; ++i) {
      receiver->OnMessage({}, *pair.second, Lane::kReliable,
                          MessageKind::kBinary,
                          std::span(queue).subspan(i * bytes, bytes));
    }
  }
  cost.Report(state, state.iterations() * burst, bytes);
}
BENCHMARK(BM_BareCopy)
    ->ArgNames({"bytes", "burst"})
    ->ArgsProduct({{12, 4096}, {1, 8, 64}});

// `burst` messages, then a pump. One pump: one thread. Two pumps: what the
// atomic operations cost when nobody contends.
void SendAndPump(benchmark::State& state, bool two_pumps, Lane lane) {
  const auto bytes = static_cast<std::size_t>(state.range(0));
  const auto burst = static_cast<std::size_t>(state.range(1));
  SummingHandler handler;
  PipePump first, second;
  PipePump& receiving = two_pumps ? second : first;
  PipePair pair = MakePipe(first, receiving);
  pair.first->SetHandler(&handler);
  pair.second->SetHandler(&handler);
  first.Pump({});
  receiving.Pump({});
  const std::vector<std::byte> message(bytes, std::byte{1});
  Connection* sender = pair.first.get();
  benchmark::DoNotOptimize(sender);
  const auto run = [&] {
    for (std::size_t i = 0; i < burst; ++i) {
      sender->Send(lane, MessageKind::kBinary, message);
    }
    receiving.Pump({});
  };
  for (int i = 0; i < 100; ++i) run();
  Cost cost(handler);
  for (auto _ : state) run();
  // Of a burst on the state lane the newest arrives.
  const std::size_t arriving = lane == Lane::kState ? 1 : burst;
  cost.Report(state, state.iterations() * arriving, bytes);
}

void BM_OneThread(benchmark::State& state) {
  SendAndPump(state, /*two_pumps=*/false, Lane::kReliable);
}
void BM_OneThreadState(benchmark::State& state) {
  SendAndPump(state, /*two_pumps=*/false, Lane::kState);
}
void BM_TwoPumps(benchmark::State& state) {
  SendAndPump(state, /*two_pumps=*/true, Lane::kReliable);
}
BENCHMARK(BM_OneThread)
    ->ArgNames({"bytes", "burst"})
    ->ArgsProduct({{12, 4096}, {1, 8, 64}});
BENCHMARK(BM_OneThreadState)
    ->ArgNames({"bytes", "burst"})
    ->ArgsProduct({{12, 4096}, {1}});
BENCHMARK(BM_TwoPumps)
    ->ArgNames({"bytes", "burst"})
    ->ArgsProduct({{12}, {1, 8, 64}});

// One message over each of `pipes`, then a pump: what caches make of it. With
// `active` below `pipes` the others idle, and must cost nothing.
void BM_ManyPipes(benchmark::State& state) {
  const auto pipes = static_cast<std::size_t>(state.range(0));
  const auto active = static_cast<std::size_t>(state.range(1));
  SummingHandler handler;
  PipePump pump;
  std::vector<PipePair> pairs(pipes);
  for (PipePair& pair : pairs) {
    pair = MakePipe(pump, pump);
    pair.first->SetHandler(&handler);
    pair.second->SetHandler(&handler);
  }
  const std::array<std::byte, 12> message{};
  const auto run = [&] {
    for (std::size_t i = 0; i < active; ++i) {
      pairs[i].first->Send(Lane::kReliable, MessageKind::kBinary, message);
    }
    pump.Pump({});
  };
  run();
  Cost cost(handler);
  for (auto _ : state) run();
  cost.Report(state, state.iterations() * active, message.size());
}
BENCHMARK(BM_ManyPipes)
    ->ArgNames({"pipes", "active"})
    ->Args({1, 1})
    ->Args({8192, 1})
    ->Args({1024, 1024})
    ->Args({8192, 8192});

// Sends until the lane is full, with nobody reading: what the heap holds then,
// against the lane's limit. Time is for the whole of it.
void BM_SlowConsumerMemory(benchmark::State& state) {
  const auto bytes = static_cast<std::size_t>(state.range(0));
  const PipeOptions options;
  const std::vector<std::byte> message(bytes);
  std::uint64_t held = 0, sent = 0;
  for (auto _ : state) {
    PipePump pump;
    const std::uint64_t before = parlor_allocated_bytes();
    PipePair pair = MakePipe(pump, pump, options);
    sent = 0;
    while (pair.first->Send(Lane::kReliable, MessageKind::kBinary, message) ==
           SendResult::kQueued) {
      ++sent;
    }
    held = parlor_allocated_bytes() - before;
  }
  state.counters["held_bytes"] = static_cast<double>(held);
  state.counters["limit_bytes"] =
      static_cast<double>(options.reliable_bytes_max);
  state.counters["messages"] = static_cast<double>(sent);
}
BENCHMARK(BM_SlowConsumerMemory)
    ->ArgName("bytes")
    ->Arg(12)
    ->Arg(1000)
    ->Arg(65536);

// A thread's turn: woken, it pumps; a handler echoes.
class EchoThread {
 public:
  EchoThread() {
    pump_.SetWake([this] { Wake(); });
  }

  PipePump& pump() { return pump_; }

  void Wake() {
    {
      const std::lock_guard lock(mutex_);
      woken_ = true;
    }
    condition_.notify_one();
  }

  // Waits on the condition, or spins on has_ready.
  void PumpNext(bool spin) {
    if (spin) {
      // On fewer idle cores than threads the other one needs this one.
      while (!pump_.has_ready()) std::this_thread::yield();
    } else {
      std::unique_lock lock(mutex_);
      condition_.wait(lock, [this] { return woken_; });
      woken_ = false;
    }
    pump_.Pump({});
  }

 private:
  std::mutex mutex_;
  std::condition_variable condition_;
  bool woken_ = false;
  PipePump pump_;
};

class Echo final : public ConnectionHandler {
 public:
  std::uint64_t messages = 0;
  bool closed = false;
  bool echoing = false;

  void OnMessage(TimePoint, Connection& from, Lane lane, MessageKind kind,
                 std::span<const std::byte> bytes) override {
    ++messages;
    if (echoing) from.Send(lane, kind, bytes);
  }
  void OnClose(TimePoint, Connection&, const CloseEvent&) override {
    closed = true;
  }
};

// There and back between two threads, 64 bytes. `spin`: both threads poll;
// otherwise each sleeps on a condition variable until its pump is woken.
void BM_RoundTripTwoThreads(benchmark::State& state) {
  const bool spin = state.range(0) != 0;
  EchoThread near, far;
  PipePair pair = MakePipe(near.pump(), far.pump());
  Echo near_handler, far_handler;
  far_handler.echoing = true;
  pair.first->SetHandler(&near_handler);
  std::thread thread([&] {
    pair.second->SetHandler(&far_handler);
    while (!far_handler.closed) far.PumpNext(spin);
    pair.second.reset();
  });
  const std::array<std::byte, 64> message{};
  for (auto _ : state) {
    const std::uint64_t before = near_handler.messages;
    pair.first->Send(Lane::kReliable, MessageKind::kBinary, message);
    while (near_handler.messages == before) near.PumpNext(spin);
  }
  pair.first->Close(CloseReason::kNormal);
  thread.join();
  PARLOR_CHECK(static_cast<std::int64_t>(near_handler.messages) ==
               state.iterations());
}
BENCHMARK(BM_RoundTripTwoThreads)
    ->ArgName("spin")
    ->Arg(0)
    ->Arg(1)
    ->UseRealTime();

}  // namespace
}  // namespace parlor
