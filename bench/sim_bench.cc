// What a simulated match costs: clients of a small game over a bad network, in
// a room of a real host, in virtual time.
//
//   sim_bench --benchmark_counters_tabular=true
#include <benchmark/benchmark.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "parlor/check.h"
#include "parlor/lockstep/peer.h"
#include "parlor/sim/network.h"
#include "parlor/sim/world.h"
#include "parlor/time.h"
#include "support/counting_allocator.h"
#include "thread_cpu.h"

namespace parlor::sim {
namespace {

// The least a game does: what is measured is what is around it.
class SmallGame final : public lockstep::Game {
 public:
  void OnStart(const lockstep::Match& match) override { state_ = match.seed; }
  std::uint32_t Input(std::uint32_t frame) override { return frame; }
  void Step(std::uint32_t /*frame*/, std::span<const std::uint32_t> inputs,
            std::uint32_t bots) override {
    for (const std::uint32_t word : inputs) state_ = state_ * 31 + word;
    state_ += bots;
  }
  std::uint32_t Hash() override { return state_; }

 private:
  std::uint32_t state_ = 0;
};

// Half a second: nearly every frame runs in its time, as at 60 Hz it should,
// though what is lost of the others' inputs comes a round trip later.
constexpr int kDelay = 30;
constexpr std::int64_t kWarmSeconds = 10;

std::uint64_t Frames(World& world) {
  std::uint64_t frames = 0;
  for (std::size_t i = 0; i < world.clients(); ++i) {
    frames += world.client(i).peer().frame();
  }
  return frames;
}

// A match of `players` for so many simulated seconds, at the level of `via`.
// One INPUT a frame goes up from each, and down to each of the others; one HASH
// each 30 frames likewise.
void Play(benchmark::State& state, Via via) {
  const auto players = static_cast<int>(state.range(0));
  const std::int64_t seconds = state.range(1);
  std::uint64_t frames = 0, allocations = 0;
  double spent_ns = 0;
  for (auto _ : state) {
    state.PauseTiming();
    std::vector<SmallGame> games(static_cast<std::size_t>(players));
    World world({.seed = 7, .network = kMobile});
    Host& host = world.AddHost();
    for (SmallGame& game : games) {
      world.AddClient(game, {.via = via, .peer = {.delay = kDelay}})
          .Join(host, {.room = 0, .players = players});
    }
    world.RunFor(kWarmSeconds * kSecond);
    const std::uint64_t frames_before = Frames(world);
    const std::uint64_t allocations_before = parlor_allocation_count();
    const double began_ns = bench::ThreadCpuNs();
    state.ResumeTiming();
    world.RunFor(seconds * kSecond);
    state.PauseTiming();
    spent_ns += bench::ThreadCpuNs() - began_ns;
    allocations += parlor_allocation_count() - allocations_before;
    frames += Frames(world) - frames_before;
    PARLOR_CHECK(world.CheckInSync().ok());
    state.ResumeTiming();
  }
  // Up, and down to the others.
  const double messages =
      static_cast<double>(frames) * (1 + 1.0 / 30) * players;
  const auto runs = static_cast<double>(state.iterations());
  state.counters["messages"] = messages / runs;
  state.counters["frames_per_s"] = static_cast<double>(frames) / runs /
                                   players / static_cast<double>(seconds);
  state.counters["allocs/msg"] = static_cast<double>(allocations) / messages;
  state.counters["ns/msg"] = spent_ns / messages;
}

void BM_Messages(benchmark::State& state) { Play(state, Via::kMessages); }
void BM_WebSocket(benchmark::State& state) { Play(state, Via::kWebSocket); }
void BM_Tcp(benchmark::State& state) { Play(state, Via::kTcp); }

// Ten simulated minutes are what is promised to take less than a second.
BENCHMARK(BM_Messages)
    ->ArgNames({"players", "seconds"})
    ->Args({2, 10})
    ->Args({2, 600})
    ->Args({8, 600})
    ->Unit(benchmark::kMillisecond);
BENCHMARK(BM_WebSocket)
    ->ArgNames({"players", "seconds"})
    ->Args({2, 10})
    ->Args({8, 60})
    ->Unit(benchmark::kMillisecond);
BENCHMARK(BM_Tcp)
    ->ArgNames({"players", "seconds"})
    ->Args({2, 10})
    ->Args({8, 60})
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace parlor::sim
