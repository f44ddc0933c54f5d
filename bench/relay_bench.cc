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
#include <cstdint>
#include <ctime>
#include <memory>
#include <vector>

#include "parlor/check.h"
#include "parlor/entropy.h"
#include "parlor/host/local_connector.h"
#include "parlor/host/room_records.h"
#include "parlor/host/shard.h"
#include "parlor/limits.h"
#include "parlor/lockstep/wire.h"
#include "parlor/transports/memory_pipe.h"
#include "support/counting_allocator.h"

namespace parlor {
namespace {

// A seat that plays by hand: it counts what it is given, and reads every byte
// that a peer would.
class Player final : public ConnectionHandler {
 public:
  void OnMessage(TimePoint, Connection&, Lane, MessageKind,
                 std::span<const std::byte> bytes) override {
    const auto message =
        lockstep::Decode(bytes.first<lockstep::kMessageSize>());
    if (message.kind != lockstep::Kind::kInput) return;
    ++delivered;
    sum += message.slot + message.frame + message.value;
  }
  void OnClose(TimePoint, Connection&, const CloseEvent&) override {
    closed = true;
  }

  std::unique_ptr<Connection> connection;
  std::uint64_t delivered = 0;
  std::uint64_t sum = 0;
  bool closed = false;
};

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

class Relay {
 public:
  Relay(int rooms, int seats, int rate_hz, Mode mode)
      : step_(Duration(1'000'000'000 / rate_hz)),
        entropy_(1),
        shard_(Options(mode == Mode::kGathered ? 1 + 1'000 / rate_hz : 0),
               entropy_),
        connector_(pump_, pump_, shard_),
        players_(static_cast<std::size_t>(rooms * seats)) {
    if (mode == Mode::kRecorded) shard_.SetRecords(&records_);
    Hello hello;
    hello.players = seats;
    for (std::size_t i = 0; i < players_.size(); ++i) {
      hello.room =
          static_cast<std::uint32_t>(i) / static_cast<std::uint32_t>(seats);
      players_[i].connection = connector_.Connect(now_, hello, &players_[i]);
    }
    while (pump_.Pump(now_) > 0) {
    }
  }

  // Every seat says its input for the next frame, and hears the others'.
  void Step() {
    now_ += step_;
    lockstep::Message input{.kind = lockstep::Kind::kInput, .frame = frame_++};
    for (Player& player : players_) {
      input.value = static_cast<std::uint32_t>(player.delivered);
      player.connection->Send(Lane::kReliable, MessageKind::kBinary,
                              lockstep::Encode(input));
    }
    pump_.Pump(now_);  // the rooms' ends
    pump_.Pump(now_);  // the players' ends
    while (shard_.next_alarm() <= now_) shard_.OnAlarm(now_);
  }

  std::uint64_t delivered() const {
    std::uint64_t sum = 0;
    for (const Player& player : players_) sum += player.delivered;
    return sum;
  }

  bool all_open() const {
    for (const Player& player : players_) {
      if (player.closed) return false;
    }
    return true;
  }

  std::size_t room_bytes() const { return shard_.FindRoom(0)->memory_bytes(); }

 private:
  static host::ShardOptions Options(std::int64_t gather_ms) {
    host::ShardOptions options;
    options.rooms = limits::kRooms.ceiling;
    options.seats = limits::kSeats.ceiling;
    options.room.lifetime_ms = limits::kLifetimeMs.ceiling;
    options.room.gather_ms = gather_ms;
    return options;
  }

  Duration step_;
  TimePoint now_{};
  std::uint32_t frame_ = 0;
  SeededEntropy entropy_;
  PipePump pump_;
  DeafRecords records_;
  host::Shard shard_;
  host::LocalConnector connector_;
  std::vector<Player> players_;
};

// CPU time, since other work on the machine is not the relay's.
double ThreadCpuNs() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e9 +
         static_cast<double>(now.tv_nsec);
}

void BM_Relay(benchmark::State& state, Mode mode) {
  const auto rooms = static_cast<int>(state.range(0));
  const auto seats = static_cast<int>(state.range(1));
  const auto rate = static_cast<int>(state.range(2));
  Relay relay(rooms, seats, rate, mode);
  // The buffers' high water is reached within a few steps.
  for (int i = 0; i < 100; ++i) relay.Step();

  const std::uint64_t before = relay.delivered();
  const std::uint64_t allocations = parlor_allocation_count();
  const double began_ns = ThreadCpuNs();
  for (auto _ : state) relay.Step();
  const double spent_ns = ThreadCpuNs() - began_ns;
  const std::uint64_t allocated = parlor_allocation_count() - allocations;
  const auto delivered = static_cast<double>(relay.delivered() - before);

  const double per_step = static_cast<double>(rooms) * seats * (seats - 1);
  PARLOR_CHECK(delivered == per_step * static_cast<double>(state.iterations()));
  PARLOR_CHECK(relay.all_open());
  PARLOR_CHECK(allocated == 0);
  state.SetItemsProcessed(static_cast<std::int64_t>(delivered));
  state.counters["ns/msg"] = spent_ns / delivered;
  state.counters["allocs/msg"] = static_cast<double>(allocated) / delivered;
  state.counters["core_share"] = spent_ns / delivered * per_step * rate * 1e-9;
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
