// What a lockstep room costs: rooms x seats x rate on memory pipes, through
// the shard and its sessions, on one thread. README.md beside this file says
// what each figure means.
//
// One iteration is one step: every seat of every room sends one INPUT, the
// rooms relay it, and every other seat's handler is given it. Virtual time
// moves by 1 / rate, so that deadlines and message rates are as in a room that
// runs at that rate.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "absl/status/status.h"
#include "parlor/check.h"
#include "parlor/host/room_records.h"
#include "parlor/limits.h"
#include "parlor/lockstep/replay_log.h"
#include "pipe_relay.h"
#include "support/counting_allocator.h"
#include "thread_cpu.h"

namespace parlor {
namespace {

// What recording costs before anything of it is written anywhere.
class DeafRecords final : public host::RoomRecords {
 public:
  Recording Open(std::uint32_t number) override {
    return {.sink = std::make_unique<Sink>(),
            .label = {.number = number, .game = {}, .started_unix_ms = 0}};
  }

 private:
  struct Sink final : lockstep::ReplaySink {
    absl::Status Write(std::span<const std::byte>) override {
      return absl::OkStatus();
    }
  };
};

enum class Mode : std::uint8_t { kPlain, kRecorded, kGathered };

bench::PipeRelayOptions RelayOptions(const benchmark::State& state, Mode mode,
                                     DeafRecords& records) {
  bench::PipeRelayOptions options;
  options.rooms = static_cast<int>(state.range(0));
  options.seats = static_cast<int>(state.range(1));
  options.rate_hz = static_cast<int>(state.range(2));
  if (mode == Mode::kGathered) options.gather_ms = 1 + 1'000 / options.rate_hz;
  if (mode == Mode::kRecorded) options.records = &records;
  return options;
}

void BM_Relay(benchmark::State& state, Mode mode) {
  DeafRecords records;
  const bench::PipeRelayOptions options = RelayOptions(state, mode, records);
  bench::PipeRelay relay(options);
  // The buffers' high water is reached within a few steps.
  for (int i = 0; i < 100; ++i) relay.Step();

  const std::uint64_t before = relay.delivered();
  const std::uint64_t allocations = parlor_allocation_count();
  const double began_ns = bench::ThreadCpuNs();
  for (auto _ : state) relay.Step();
  const double spent_ns = bench::ThreadCpuNs() - began_ns;
  const std::uint64_t allocated = parlor_allocation_count() - allocations;
  const auto delivered = static_cast<double>(relay.delivered() - before);

  const double per_step =
      static_cast<double>(options.rooms) * options.seats * (options.seats - 1);
  PARLOR_CHECK(delivered == per_step * static_cast<double>(state.iterations()));
  PARLOR_CHECK(relay.all_open());
  PARLOR_CHECK(allocated == 0);
  state.SetItemsProcessed(static_cast<std::int64_t>(delivered));
  state.counters["ns/msg"] = spent_ns / delivered;
  state.counters["allocs/msg"] = static_cast<double>(allocated) / delivered;
  state.counters["core_share"] =
      spent_ns / delivered * per_step * options.rate_hz * 1e-9;
  state.counters["room_bytes"] = static_cast<double>(relay.room_bytes());
}

// A fixed amount of work for each shape, about ten million messages, and never
// more steps than a room may live.
void Shape(benchmark::internal::Benchmark* bench, int rooms, int seats,
           int rate_hz) {
  const std::int64_t per_step =
      static_cast<std::int64_t>(rooms) * seats * (seats - 1);
  const std::int64_t lifetime_steps =
      (limits::kLifetimeMs.ceiling / 1'000 - 60) * rate_hz;
  const std::int64_t steps =
      std::clamp<std::int64_t>(10'000'000 / per_step, 5, lifetime_steps);
  bench->Args({rooms, seats, rate_hz})->Iterations(steps);
}

// Registered before benchmark_main's main asks for what there is.
const bool kRegistered = [] {
  const auto add = [](const char* name, int rooms, int seats, int rate_hz,
                      Mode mode = Mode::kPlain) {
    auto* bench = benchmark::RegisterBenchmark(name, BM_Relay, mode);
    bench->ArgNames({"rooms", "seats", "rate"})->Unit(benchmark::kMicrosecond);
    Shape(bench, rooms, seats, rate_hz);
  };
  add("relay/least", 1, 2, 60);
  for (int rooms : {1, 8, 64, 250, 1'024}) add("relay/rooms", rooms, 8, 60);
  for (int seats : {2, 4, 8, 16, 32}) add("relay/seats", 64, seats, 60);
  add("relay/recorded", 250, 8, 60, Mode::kRecorded);
  for (int rooms : {64, 250, 1'024}) {
    add("relay/gathered", rooms, 8, 60, Mode::kGathered);
  }
  for (int seats : {2, 4, 32}) {
    add("relay/gathered", 64, seats, 60, Mode::kGathered);
  }
  add("relay/worst", 1'024, 8, 240);
  add("relay/worst", 64, 32, 60);
  return true;
}();

}  // namespace
}  // namespace parlor
