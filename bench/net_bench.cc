// What sockets cost beside the memory pipe: the same connections, the same
// messages, over the loopback, both ends turned by one thread, so that the time
// is what both sides and the system work, without waits.
//
//   net_bench --benchmark_repetitions=5 --benchmark_report_aggregates_only=true
//
// `allocs` is heap allocations per message (or handshake), after the first few.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "parlor/check.h"
#include "parlor/connection.h"
#include "parlor/connector.h"
#include "parlor/transports/memory_pipe.h"
#include "parlor/transports/net_listener.h"
#include "parlor/transports/stream_options.h"
#include "support/counting_allocator.h"
#include "support/net_sides.h"
#include "support/steady_now.h"

namespace parlor {
namespace {

using test::NetScheme;
using test::NetSides;
using test::SteadyNow;

// Counts what it is told, and can answer each message with itself.
class Counter final : public ConnectionHandler {
 public:
  explicit Counter(bool echoes = false) : echoes_(echoes) {}

  std::uint64_t messages = 0;
  std::uint64_t opens = 0;
  std::uint64_t closes = 0;
  TimePoint last{};

  void OnOpen(TimePoint, Connection&) override { ++opens; }
  void OnMessage(TimePoint, Connection& from, Lane lane, MessageKind kind,
                 std::span<const std::byte> bytes) override {
    ++messages;
    if (echoes_) from.Send(lane, kind, bytes);
  }
  void OnClose(TimePoint, Connection&, const CloseEvent&) override { ++closes; }

 private:
  bool echoes_;
};

// Two connected ends and how to turn them.
class Ends {
 public:
  virtual ~Ends() = default;
  virtual void Turn() = 0;

  std::unique_ptr<Connection> client, accepted;
  Counter client_heard;
  Counter accepted_heard;

 protected:
  explicit Ends(bool echoes) : accepted_heard(echoes) {}
};

class PipeEnds final : public Ends {
 public:
  explicit PipeEnds(bool echoes) : Ends(echoes) {
    PipePair pair = MakePipe(pumps_[0], pumps_[1]);
    client = std::move(pair.first);
    accepted = std::move(pair.second);
    client->SetHandler(&client_heard);
    accepted->SetHandler(&accepted_heard);
  }
  ~PipeEnds() override {
    client.reset();
    accepted.reset();
  }
  void Turn() override {
    for (PipePump& pump : pumps_) pump.Pump(TimePoint{});
  }

 private:
  std::array<PipePump, 2> pumps_;
};

class NetEnds final : public Ends, private NetListenerHandler {
 public:
  NetEnds(NetScheme scheme, bool echoes)
      : Ends(echoes), sides_(scheme, StreamOptions{}, *this) {
    client = sides_.connector().Connect(SteadyNow(), {.room = 0, .players = 2},
                                        &client_heard);
    while (client_heard.opens == 0 || accepted == nullptr) Turn();
  }
  ~NetEnds() override {
    client.reset();
    accepted.reset();
  }
  void Turn() override { sides_.Poll(SteadyNow()); }

 private:
  Verdict OnKnock(TimePoint, const Knock&) override {
    return {.refusal = {}, .protocol = kLockstepProtocol};
  }
  void OnConnection(TimePoint, const Knock&,
                    std::unique_ptr<Connection> connection) override {
    accepted = std::move(connection);
    accepted->SetHandler(&accepted_heard);
  }

  NetSides sides_;
};

// The rows every benchmark here has.
constexpr std::int64_t kPipeRow = 4;
const std::array<const char*, 5> kRowNames = {"ws", "wss", "tcp", "tls",
                                              "pipe"};

std::unique_ptr<Ends> MakeEnds(benchmark::State& state, bool echoes) {
  const std::int64_t row = state.range(0);
  state.SetLabel(kRowNames[static_cast<std::size_t>(row)]);
  if (row == kPipeRow) return std::make_unique<PipeEnds>(echoes);
  return std::make_unique<NetEnds>(static_cast<NetScheme>(row), echoes);
}

void Report(benchmark::State& state, std::uint64_t allocations,
            std::size_t message_bytes, std::uint64_t messages) {
  state.SetItemsProcessed(static_cast<std::int64_t>(messages));
  state.SetBytesProcessed(static_cast<std::int64_t>(messages * message_bytes));
  state.counters["allocs"] =
      static_cast<double>(parlor_allocation_count() - allocations) /
      static_cast<double>(messages);
}

// A message there and back.
void BM_RoundTrip(benchmark::State& state) {
  const auto ends = MakeEnds(state, /*echoes=*/true);
  const std::vector<std::byte> message(
      static_cast<std::size_t>(state.range(1)));
  const auto trip = [&] {
    const std::uint64_t before = ends->client_heard.messages;
    ends->client->Send(Lane::kReliable, MessageKind::kBinary, message);
    while (ends->client_heard.messages == before) ends->Turn();
  };
  for (int i = 0; i < 100; ++i) trip();
  const std::uint64_t allocations = parlor_allocation_count();
  for (auto _ : state) trip();
  Report(state, allocations, message.size(),
         static_cast<std::uint64_t>(state.iterations()));
}

// Bursts of messages one way, each burst handed out before the next is sent.
void BM_OneWay(benchmark::State& state) {
  constexpr std::uint64_t kBurst = 64;
  const auto ends = MakeEnds(state, /*echoes=*/false);
  const std::vector<std::byte> message(
      static_cast<std::size_t>(state.range(1)));
  const auto burst = [&] {
    const std::uint64_t until = ends->accepted_heard.messages + kBurst;
    for (std::uint64_t i = 0; i < kBurst; ++i) {
      const SendResult result =
          ends->client->Send(Lane::kReliable, MessageKind::kBinary, message);
      PARLOR_CHECK(result == SendResult::kQueued);
    }
    while (ends->accepted_heard.messages < until) ends->Turn();
  };
  for (int i = 0; i < 100; ++i) burst();
  const std::uint64_t allocations = parlor_allocation_count();
  for (auto _ : state) burst();
  Report(state, allocations, message.size(),
         static_cast<std::uint64_t>(state.iterations()) * kBurst);
}

// From Connect to OnOpen on both sides; the close is not timed.
void BM_Handshake(benchmark::State& state) {
  std::uint64_t count = 0;
  const std::uint64_t allocations = parlor_allocation_count();
  class Door final : public NetListenerHandler {
   public:
    std::unique_ptr<Connection> accepted;
    Counter heard;

    Verdict OnKnock(TimePoint, const Knock&) override {
      return {.refusal = {}, .protocol = kLockstepProtocol};
    }
    void OnConnection(TimePoint, const Knock&,
                      std::unique_ptr<Connection> connection) override {
      accepted = std::move(connection);
      accepted->SetHandler(&heard);
    }
  } door;
  const auto scheme = static_cast<NetScheme>(state.range(0));
  state.SetLabel(kRowNames[static_cast<std::size_t>(state.range(0))]);
  NetSides sides(scheme, StreamOptions{}, door);
  for (auto _ : state) {
    ++count;
    Counter heard;
    std::unique_ptr<Connection> client = sides.connector().Connect(
        SteadyNow(), {.room = 0, .players = 2}, &heard);
    while (heard.opens == 0 || door.heard.opens < count) {
      sides.Poll(SteadyNow());
    }
    state.PauseTiming();
    client->Close(CloseReason::kNormal);
    while (heard.closes == 0 || door.heard.closes < count) {
      sides.Poll(SteadyNow());
    }
    door.accepted.reset();
    state.ResumeTiming();
  }
  Report(state, allocations, 0, count);
}

// One message to each of 64 readers a turn, of whom `stalled` read nothing: how
// long it takes until every other one has it.
void BM_StalledReaders(benchmark::State& state) {
  constexpr std::size_t kReaders = 64;
  const auto stalled = static_cast<std::size_t>(state.range(0));
  class Door final : public NetListenerHandler {
   public:
    std::vector<std::unique_ptr<Connection>> accepted;
    Counter heard;

    Verdict OnKnock(TimePoint, const Knock&) override {
      return {.refusal = {}, .protocol = kLockstepProtocol};
    }
    void OnConnection(TimePoint, const Knock&,
                      std::unique_ptr<Connection> connection) override {
      accepted.push_back(std::move(connection));
      accepted.back()->SetHandler(&heard);
    }
  } door;
  NetSides sides(NetScheme::kWs, StreamOptions{}, door);
  Counter heard;
  std::vector<std::unique_ptr<Connection>> readers;
  for (std::size_t i = 0; i < kReaders; ++i) {
    readers.push_back(sides.connector().Connect(
        SteadyNow(), {.room = 0, .players = 2}, &heard));
    while (door.accepted.size() <= i || heard.opens <= i) {
      sides.Poll(SteadyNow());
    }
  }
  for (std::size_t i = 0; i < stalled; ++i) readers[i]->SetHandler(nullptr);
  const std::vector<std::byte> message(1'024);
  std::vector<double> nanoseconds;
  for (auto _ : state) {
    const auto begin = std::chrono::steady_clock::now();
    const std::uint64_t until = heard.messages + kReaders - stalled;
    for (const auto& connection : door.accepted) {
      connection->Send(Lane::kState, MessageKind::kBinary, message);
    }
    while (heard.messages < until) sides.Poll(SteadyNow());
    nanoseconds.push_back(std::chrono::duration<double, std::nano>(
                              std::chrono::steady_clock::now() - begin)
                              .count());
  }
  door.accepted.clear();  // before their loop
  std::sort(nanoseconds.begin(), nanoseconds.end());
  state.counters["p50_us"] = nanoseconds[nanoseconds.size() / 2] / 1e3;
  state.counters["p99_us"] = nanoseconds[nanoseconds.size() * 99 / 100] / 1e3;
}

BENCHMARK(BM_RoundTrip)
    ->ArgNames({"row", "bytes"})
    ->ArgsProduct({{0, 1, 2, 3, kPipeRow}, {12, 4'096}});
BENCHMARK(BM_OneWay)
    ->ArgNames({"row", "bytes"})
    ->ArgsProduct({{0, 1, 2, 3, kPipeRow}, {12, 4'096}});
BENCHMARK(BM_Handshake)->ArgName("row")->DenseRange(0, 3);
BENCHMARK(BM_StalledReaders)->ArgName("stalled")->Arg(0)->Arg(1);

}  // namespace
}  // namespace parlor
