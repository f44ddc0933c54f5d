// What describing a state costs: its hash, its saved bytes, and keeping the
// last of them. 1 % of a step at 60 Hz is 167 us.
#include <benchmark/benchmark.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "parlor/lockstep/desync.h"
#include "parlor/lockstep/state_hash.h"
#include "support/desync_party.h"
#include "support/entity_game.h"

namespace parlor::test {
namespace {

// Saved field by field, for it has padding.
struct PaddedEntity {
  bool awake = false;
  std::int32_t x = 0;
  std::int32_t y = 0;
  std::int16_t dx = 0;
  std::int16_t dy = 0;
  Mood mood = Mood::kCalm;
  float heat = 0;
  std::uint64_t id = 0;
  std::array<std::uint8_t, 6> items{};
};
template <class Fields>
void DescribeState(Fields& fields, PaddedEntity& entity) {
  fields("x", entity.x)("y", entity.y)("dx", entity.dx)("dy", entity.dy);
  fields("heat", entity.heat)("id", entity.id)("items", entity.items);
  fields("mood", entity.mood, kMoods)("awake", entity.awake);
}

template <class T>
std::vector<T> Entities(const benchmark::State& run) {
  return std::vector<T>(static_cast<std::size_t>(run.range(0)));
}

template <class T>
void BM_Hash(benchmark::State& run) {
  std::vector<T> entities = Entities<T>(run);
  for (auto _ : run) {
    ++entities[entities.size() / 2].x;
    benchmark::DoNotOptimize(lockstep::HashState(entities));
  }
}
BENCHMARK(BM_Hash<Entity>)
    ->Arg(100)
    ->Arg(10'000)
    ->Unit(benchmark::kMicrosecond);
BENCHMARK(BM_Hash<PaddedEntity>)
    ->Arg(100)
    ->Arg(10'000)
    ->Unit(benchmark::kMicrosecond);

template <class T>
void BM_Save(benchmark::State& run) {
  const std::vector<T> entities = Entities<T>(run);
  std::vector<std::byte> bytes;
  for (auto _ : run)
    benchmark::DoNotOptimize(lockstep::SaveState(entities, bytes));
}
BENCHMARK(BM_Save<Entity>)->Arg(10'000)->Unit(benchmark::kMicrosecond);
BENCHMARK(BM_Save<PaddedEntity>)->Arg(10'000)->Unit(benchmark::kMicrosecond);

// A frame in which all entities move: of the game alone, without a hash; and
// recorded, with one.
void BM_Step(benchmark::State& run) {
  EntityGame game(static_cast<std::size_t>(run.range(0)));
  game.OnStart(DesyncParty(2, 1).MatchOf(0));
  const std::vector<std::uint32_t> inputs = {1, 2};
  std::uint32_t frame = 0;
  for (auto _ : run) game.Step(frame++, inputs, 0);
}
BENCHMARK(BM_Step)->Arg(10'000)->Unit(benchmark::kMicrosecond);

void BM_RecordedStep(benchmark::State& run) {
  EntityGame game(static_cast<std::size_t>(run.range(0)));
  lockstep::DesyncRecorder recorder(game);
  recorder.OnStart(DesyncParty(2, 1).MatchOf(0));
  const std::vector<std::uint32_t> inputs = {1, 2};
  std::uint32_t frame = 0;
  for (auto _ : run) recorder.Step(frame++, inputs, 0);
  run.counters["frames kept"] = static_cast<double>(recorder.frames());
}
BENCHMARK(BM_RecordedStep)->Arg(10'000)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace parlor::test
