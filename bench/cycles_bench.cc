// Cycles without a screen: frames of whole matches of bots (countdowns and
// tables included), and the hash of a state.
#include <benchmark/benchmark.h>

#include "cycles/state.h"

namespace parlor::cycles {
namespace {

// Arguments: players, level, index of the size.
Options OptionsOf(const benchmark::State& run) {
  return {.players = static_cast<int>(run.range(0)),
          .level = static_cast<Level>(run.range(1)),
          .size = static_cast<int>(run.range(2))};
}

void BM_Frame(benchmark::State& run) {
  State state = Start(OptionsOf(run), 1, 2);
  for (auto _ : run) Step(state, {}, 0);
  benchmark::DoNotOptimize(state);
  run.SetItemsProcessed(run.iterations());
}
BENCHMARK(BM_Frame)
    ->ArgNames({"players", "level", "size"})
    ->Args({4, 1, 11})  // what is played when nothing is asked for
    ->Args({4, 2, 11})
    ->Args({8, 0, 20})
    ->Args({8, 1, 20})
    ->Args({8, 2, 20});  // the worst

void BM_Hash(benchmark::State& run) {
  const State state = Start(OptionsOf(run), 1, 2);
  for (auto _ : run) benchmark::DoNotOptimize(Hash64(state));
}
BENCHMARK(BM_Hash)
    ->ArgNames({"players", "level", "size"})
    ->Args({4, 1, 11})
    ->Args({8, 2, 20});

}  // namespace
}  // namespace parlor::cycles
