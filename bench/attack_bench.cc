// What a running match notices of an attack on its host: how long one message
// takes from a player through the host to the other player, quiet and beside
// each attack.
//
//   nice -n -20 attack_bench --benchmark_counters_tabular=true
//
// The host (its front and one shard, a thread each) is pinned to one core;
// players and attackers are one thread on another. A message is sent every
// millisecond, and its way is waited for without doing anything else; what is
// left of the millisecond is the attackers'. So the attackers are never in the
// way of what is measured, but by what they have left for the host to do.
#include <benchmark/benchmark.h>
#include <sched.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "parlor/check.h"
#include "parlor/connection.h"
#include "parlor/connector.h"
#include "parlor/host/os_entropy.h"
#include "parlor/host/server.h"
#include "parlor/limits.h"
#include "parlor/lockstep/wire.h"
#include "parlor/transports/net_connector.h"
#include "parlor/transports/net_loop.h"
#include "support/attack.h"
#include "support/attack_plans.h"
#include "support/local_tls.h"
#include "support/steady_now.h"

namespace parlor {
namespace {

using test::Attack;
using test::AttackPlan;
using test::SteadyNow;

constexpr Duration kPeriod = 1 * kMillisecond;
constexpr int kTrips = 4'000;  // quiet, and as many beside the attack

// This thread, and those that it will make. Where there is one core there is
// nothing to choose.
void PinTo(int core) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(core, &set);
  sched_setaffinity(0, sizeof(set), &set);
}

struct Player final : ConnectionHandler {
  void OnMessage(TimePoint, Connection&, Lane, MessageKind,
                 std::span<const std::byte> bytes) override {
    const auto message =
        lockstep::Decode(bytes.first<lockstep::kMessageSize>());
    playing = playing || message.kind == lockstep::Kind::kWelcome;
    if (message.kind == lockstep::Kind::kInput) heard = message.frame;
  }
  void OnClose(TimePoint, Connection&, const CloseEvent&) override {
    PARLOR_CHECK(false);  // no attack throws a player out
  }

  bool playing = false;
  std::uint32_t heard = 0;
  std::unique_ptr<Connection> connection;
};

class Match {
 public:
  explicit Match(bool tls) {
    host::ServerOptions options;
    options.tcp_port = 0;
    options.gate.open = true;
    options.shard.rooms = test::kRoomsOfSeatedJoins;
    options.shard.room.message_rate_per_s = limits::kMessageRate.ceiling;
    options.shard.room.message_burst = limits::kMessageBurst.ceiling;
    if (tls) options.tls = test::SharedLocalTls().server;
    PinTo(0);
    auto server = host::Server::Create(options, entropy_);
    PinTo(1);
    PARLOR_CHECK(server.ok());
    server_ = *std::move(server);
    NetConnectorOptions connector_options;
    if (tls) connector_options.tls = test::SharedLocalTls().client;
    auto connector =
        MakeNetConnector(loop_, entropy_,
                         std::string(tls ? "wss" : "ws") +
                             "://127.0.0.1:" + std::to_string(server_->port()),
                         connector_options);
    PARLOR_CHECK(connector.ok());
    for (Player& player : players_) {
      player.connection =
          (*connector)
              ->Connect(SteadyNow(), {.room = test::kMatchRoom, .players = 2},
                        &player);
    }
    while (!players_[0].playing || !players_[1].playing) {
      loop_.Poll(SteadyNow());
    }
  }
  ~Match() {
    for (Player& player : players_) player.connection.reset();
  }

  host::Server& server() { return *server_; }

  // The way of one message, after what is left of the period.
  double TripMicroseconds(const std::function<void(TimePoint)>& meanwhile) {
    do {
      meanwhile(SteadyNow());
      loop_.Poll(SteadyNow());
    } while (SteadyNow() < next_);
    next_ = std::max(next_ + kPeriod, SteadyNow());
    const auto bytes =
        lockstep::Encode({.kind = lockstep::Kind::kInput, .frame = ++frame_});
    const TimePoint begin = SteadyNow();
    players_[0].connection->Send(Lane::kReliable, MessageKind::kBinary, bytes);
    while (players_[1].heard != frame_) loop_.Poll(SteadyNow());
    return std::chrono::duration<double, std::micro>(SteadyNow() - begin)
        .count();
  }

 private:
  host::OsEntropy entropy_;
  NetLoop loop_;
  std::unique_ptr<host::Server> server_;
  std::array<Player, 2> players_;
  std::uint32_t frame_ = 0;
  TimePoint next_ = SteadyNow();
};

double Quantile(std::vector<double>& all, std::size_t percent) {
  std::sort(all.begin(), all.end());
  return all[(all.size() - 1) * percent / 100];
}

using Plans =
    std::function<std::vector<AttackPlan>(std::uint16_t, std::uint16_t)>;

void Measure(benchmark::State& state, const Plans& plans, bool tls) {
  Match match(tls);
  std::vector<double> quiet;
  quiet.reserve(kTrips);
  for (int i = 0; i < kTrips; ++i) {
    quiet.push_back(match.TripMicroseconds([](TimePoint) {}));
  }
  std::vector<std::unique_ptr<Attack>> attacks;
  for (AttackPlan& plan :
       plans(match.server().port(), match.server().tcp_port())) {
    attacks.push_back(std::make_unique<Attack>(std::move(plan)));
  }
  std::vector<double> attacked;
  for (auto _ : state) {
    attacked.push_back(match.TripMicroseconds([&](TimePoint now) {
      for (const auto& attack : attacks) attack->Turn(now);
    }));
    state.SetIterationTime(attacked.back() / 1e6);
  }
  const TurnWork work = match.server().busiest_turn();
  double opened = 0;
  double seated = 0;
  double said = 0;
  for (const auto& attack : attacks) {
    opened += static_cast<double>(attack->figures().opened);
    seated += static_cast<double>(attack->figures().seated);
    said += static_cast<double>(attack->figures().bytes_said);
  }
  state.counters["quiet_p50"] = Quantile(quiet, 50);
  state.counters["quiet_p99"] = Quantile(quiet, 99);
  state.counters["p50"] = Quantile(attacked, 50);
  state.counters["p99"] = Quantile(attacked, 99);
  state.counters["ratio_p99"] = Quantile(attacked, 99) / Quantile(quiet, 99);
  state.counters["sockets"] = opened;
  state.counters["seated"] = seated;
  state.counters["said_MB"] = said / 1e6;
  state.counters["turn_events"] = static_cast<double>(work.events);
  state.counters["turn_KiB"] = static_cast<double>(work.bytes) / 1'024;
}

// One plan of the web port.
Plans Web(AttackPlan (*plan)(std::uint16_t)) {
  return [plan](std::uint16_t port, std::uint16_t) {
    return std::vector{plan(port)};
  };
}

void Register(const std::string& name, Plans plans, bool tls = false) {
  // NOLINTNEXTLINE(clang-analyzer-cplusplus.NewDeleteLeaks): the library's.
  benchmark::RegisterBenchmark(
      ("attack/" + name).c_str(),
      [plans = std::move(plans), tls](benchmark::State& state) {
        Measure(state, plans, tls);
      })
      ->UseManualTime()
      ->Unit(benchmark::kMicrosecond)
      ->Iterations(kTrips);
}

const bool kRegistered = [] {
  Register("none", [](auto, auto) { return std::vector<AttackPlan>(); });
  Register("slow_handshakes", Web(test::SlowHandshakes));
  Register("half_heads", Web(test::HalfHeads));
  Register("idle_sockets", Web(test::IdleSockets));
  Register("connection_storm", Web(test::ConnectionStorm));
  Register("refused_joins", Web(test::RefusedJoins));
  Register("full_room_joins", Web(test::FullRoomJoins));
  Register("seated_joins", Web(test::SeatedJoins));
  Register("message_flood", Web(test::MessageFlood));
  Register("ping_flood", Web(test::PingFlood));
  Register("giant_lengths", [](std::uint16_t web, std::uint16_t tcp) {
    return std::vector{test::GiantContentLength(web), test::GiantChunk(web),
                       test::GiantFrame(web), test::GiantHello(tcp)};
  });
  Register("deaf_seats", [](std::uint16_t web, std::uint16_t) {
    return std::vector{test::DeafSeats(web), test::LoudSeat(web)};
  });
  Register("guesses", [](std::uint16_t web, std::uint16_t) {
    return std::vector{test::Guesses(web, 1), test::Guesses(web, 500)};
  });
  Register("endless_requests", [](std::uint16_t web, std::uint16_t) {
    return std::vector{test::EndlessRequests(web, true),
                       test::EndlessRequests(web, false)};
  });
  Register("dripping_bodies", Web(test::DrippingBodies));
  Register(
      "tls_none", [](auto, auto) { return std::vector<AttackPlan>(); },
      /*tls=*/true);
  Register("tls_begun", Web(test::TlsBegun), /*tls=*/true);
  return true;
}();

}  // namespace
}  // namespace parlor
