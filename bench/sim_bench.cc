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

// The delay that a match over a bad network is played with: 167 ms, so that
// frames wait for what was lost only.
constexpr int kDelay = 10;
constexpr std::uint64_t kWarmSeconds = 10;

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
  const auto seconds = static_cast<std::uint64_t>(state.range(1));
  std::uint64_t frames = 0, allocations = 0;
  for (auto _ : state) {
    state.PauseTiming();
    World world({.seed = 7, .network = kMobile});
    Host& host = world.AddHost();
    std::vector<SmallGame> games(static_cast<std::size_t>(players));
    for (SmallGame& game : games) {
      world.AddClient(game, {.via = via, .peer = {.delay = kDelay}})
          .Join(host, {.room = 0, .players = players});
    }
    world.RunFor(kWarmSeconds * kSecond);
    const std::uint64_t frames_before = Frames(world);
    const std::uint64_t allocations_before = parlor_allocation_count();
    state.ResumeTiming();
    world.RunFor(static_cast<std::int64_t>(seconds) * kSecond);
    state.PauseTiming();
    frames = Frames(world) - frames_before;
    allocations = parlor_allocation_count() - allocations_before;
    PARLOR_CHECK(world.CheckInSync().ok());
    state.ResumeTiming();
  }
  const double each = static_cast<double>(frames) * (1 + 1.0 / 30);
  const double messages = each * players;  // up, and down to the others
  state.counters["messages"] = messages;
  state.counters["frames_per_s"] =
      static_cast<double>(frames) / players / static_cast<double>(seconds);
  state.counters["allocs/msg"] = static_cast<double>(allocations) / messages;
  state.counters["ns/msg"] = benchmark::Counter(
      messages * 1e-9 * static_cast<double>(state.iterations()),
      benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
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
