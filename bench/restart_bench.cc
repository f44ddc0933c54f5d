// What it costs to keep matches in a file, and how soon a host that was
// restarted has its players back: 500 rooms of 4 seats, each with the 64 last
// inputs of every seat.
//
//   restart_bench --benchmark_repetitions=5
//
// The file is in the system's temporary folder: TMPDIR chooses the disk.
#include <benchmark/benchmark.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "parlor/check.h"
#include "parlor/host/os_entropy.h"
#include "parlor/host/room_store.h"
#include "parlor/host/shard.h"
#include "parlor/limits.h"
#include "parlor/lockstep/wire.h"
#include "parlor/time.h"
#include "storage/state_file.h"
#include "support/restart_crowd.h"
#include "support/room_states.h"
#include "support/temp_folder.h"

namespace parlor {
namespace {

using host::StateFile;
using test::RestartCrowd;

// One room's, over and over: the system has it when it returns.
void BM_Keep(benchmark::State& state) {
  const test::TempFolder folder;
  const auto seats = static_cast<int>(state.range(0));
  auto opened = StateFile::Open(folder.At("matches"), 1, seats, {});
  PARLOR_CHECK(opened.ok());
  const std::vector<std::byte> bytes =
      test::BytesOf(test::MakeRoomState(seats, 1, lockstep::kReplayInputs));
  for (auto _ : state) opened->file->Keep(0, bytes);
  state.SetBytesProcessed(state.iterations() *
                          static_cast<std::int64_t>(bytes.size()));
}

void BM_Forget(benchmark::State& state) {
  const test::TempFolder folder;
  auto opened = StateFile::Open(folder.At("matches"), 1, 2, {});
  PARLOR_CHECK(opened.ok());
  const auto bytes = test::BytesOf(test::MakeRoomState(2, 1, 0));
  for (auto _ : state) {
    opened->file->Keep(0, bytes);
    opened->file->Forget(0);
  }
}

// The file is read and begun anew, and the rooms are there.
void BM_TakeBack(benchmark::State& state) {
  const test::TempFolder folder;
  const std::string path = folder.At("matches");
  RestartCrowd(path).WriteFile();
  host::OsEntropy entropy;
  for (auto _ : state) {
    auto opened = StateFile::Open(path, limits::kRooms.fallback,
                                  limits::kSeats.fallback, {});
    PARLOR_CHECK(opened.ok());
    host::Shard shard({}, entropy);
    shard.SetStore(opened->file.get());
    for (const host::KeptRoom& room : opened->rooms) {
      PARLOR_CHECK(shard.Restore(TimePoint{}, room.number, room.state));
    }
    PARLOR_CHECK(shard.rooms() == RestartCrowd::kRooms);
  }
}

// From Create until the last of 2,000 players, who all connect at once, has
// WELCOME and RESUME; the players are turned by one thread.
void BM_EveryoneIsBack(benchmark::State& state) {
  const test::TempFolder folder;
  RestartCrowd crowd(folder.At("matches"));
  crowd.WriteFile();
  for (auto _ : state) {
    state.SetIterationTime(
        std::chrono::duration<double>(crowd.ComeBack()).count());
  }
}

BENCHMARK(BM_Keep)->ArgName("seats")->Arg(2)->Arg(4)->Arg(8)->Arg(32);
BENCHMARK(BM_Forget);
BENCHMARK(BM_TakeBack)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(BM_EveryoneIsBack)
    ->Unit(benchmark::kMillisecond)
    ->UseManualTime()
    ->Iterations(1);

}  // namespace
}  // namespace parlor
