// The parity suite: a game that moves from one transport to another sees the
// same events. Each seeded script runs over every transport, and the traces of
// all its seats are those of the memory pipe on one thread.
//
// PARLOR_PARITY_SCRIPTS says how many scripts of each kind run from the seed
// on; a commit's seed gives every commit others.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "parlor/host/shard.h"
#include "parlor/sim/network.h"
#include "parlor/transports/net_listener.h"
#include "support/net_sides.h"
#include "support/parity_net.h"
#include "support/parity_pipes.h"
#include "support/parity_script.h"
#include "support/parity_server.h"
#include "support/parity_sim.h"
#include "support/parity_virtual.h"
#include "support/parity_world.h"
#include "support/seed.h"
#include "support/stream_net.h"

namespace parlor::test {
namespace {

using Trace = std::vector<std::string>;

std::unique_ptr<ParityWorld> OneThread(ParityHost& host,
                                       const ParityLimits& limits) {
  return std::make_unique<PipeWorld>(host, limits, PipeWorld::Threads::kOne);
}

std::unique_ptr<ParityWorld> TwoThreads(ParityHost& host,
                                        const ParityLimits& limits) {
  return std::make_unique<PipeWorld>(host, limits, PipeWorld::Threads::kTwo);
}

template <sim::Endpoint::Turn kClients>
std::unique_ptr<ParityWorld> Simulated(ParityHost& host,
                                       const ParityLimits& limits) {
  return std::make_unique<SimParityWorld>(host, limits, kClients);
}

template <NetScheme kScheme>
std::unique_ptr<ParityWorld> Sockets(ParityHost& host,
                                     const ParityLimits& limits) {
  return std::make_unique<SocketWorld>(host, limits, kScheme);
}

// The first line that differs, with the actions before it.
std::string Difference(const std::vector<std::string>& expected,
                       const std::vector<std::string>& actual) {
  std::size_t at = 0;
  while (at < expected.size() && at < actual.size() &&
         expected[at] == actual[at]) {
    ++at;
  }
  std::string text;
  for (std::size_t i = at < 30 ? 0 : at - 30; i < at; ++i) {
    text += "   " + expected[i] + "\n";
  }
  const auto line = [&](const std::vector<std::string>& trace) {
    return at < trace.size() ? trace[at] : std::string("(the end)");
  };
  return text + "expected " + line(expected) + "\n     got " + line(actual);
}

struct Row {
  const char* name;
  MakeParityWorld make_world;
  std::uint64_t one_in = 1;  // of the scripts runs: TLS handshakes take long
};

// The scripts of a run, one in `one_in`, leave the same trace both ways.
void Compare(std::uint64_t one_in,
             const std::function<Trace(std::uint64_t seed)>& expect,
             const std::function<Trace(std::uint64_t seed)>& run) {
  const std::uint64_t first = TestSeed();
  const std::uint64_t count =
      NumberFromEnv("PARLOR_PARITY_SCRIPTS", 60 / one_in);
  std::size_t events = 0;
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    SCOPED_TRACE(testing::Message() << "PARLOR_SEED=" << seed);
    const Trace expected = expect(seed);
    const Trace actual = run(seed);
    ASSERT_TRUE(expected == actual) << Difference(expected, actual);
    events += actual.size();
  }
  EXPECT_GT(events, count * 60) << "the scripts do not do much";
}

Trace RoomsOfOneThread(std::uint64_t seed) {
  return RunRoomScript(seed, RoomsIn(OneThread));
}

class Parity : public testing::TestWithParam<Row> {};

TEST_P(Parity, OfRoomScripts) {
  const MakeParityRooms rooms = RoomsIn(GetParam().make_world);
  Compare(GetParam().one_in, RoomsOfOneThread,
          [&](std::uint64_t seed) { return RunRoomScript(seed, rooms); });
}

TEST_P(Parity, OfLinkScripts) {
  Compare(
      GetParam().one_in,
      [](std::uint64_t seed) { return RunLinkScript(seed, OneThread); },
      [](std::uint64_t seed) {
        return RunLinkScript(seed, GetParam().make_world);
      });
}

INSTANTIATE_TEST_SUITE_P(
    Transports, Parity,
    testing::Values(Row{"pipe_two_threads", TwoThreads},
                    Row{"sim", Simulated<sim::Endpoint::Turn::kEvents>},
                    Row{"sim_polled", Simulated<sim::Endpoint::Turn::kPolled>},
                    Row{"ws", Sockets<NetScheme::kWs>},
                    Row{"wss", Sockets<NetScheme::kWss>, 4},
                    Row{"tcp", Sockets<NetScheme::kTcp>},
                    Row{"tls", Sockets<NetScheme::kTls>, 4}),
    [](const auto& row) { return row.param.name; });

struct HostRow {
  const char* name;
  NetScheme scheme;
  std::uint64_t one_in = 1;
};

class HostParity : public testing::TestWithParam<HostRow> {};

TEST_P(HostParity, OfRoomScripts) {
  Compare(GetParam().one_in, RoomsOfOneThread, [](std::uint64_t seed) {
    return RunRoomScript(
        seed, [](const host::ShardOptions& options, std::uint64_t rooms_seed,
                 const ParityLimits& limits) {
          return std::make_unique<ServerRooms>(options, rooms_seed, limits,
                                               GetParam().scheme);
        });
  });
}

INSTANTIATE_TEST_SUITE_P(Hosts, HostParity,
                         testing::Values(HostRow{"ws", NetScheme::kWs},
                                         HostRow{"wss", NetScheme::kWss, 4},
                                         HostRow{"tcp", NetScheme::kTcp},
                                         HostRow{"tls", NetScheme::kTls, 4}),
                         [](const auto& row) { return row.param.name; });

struct VirtualRow {
  const char* name;
  NetTransport transport;
  Tls tls;
  std::uint64_t one_in = 1;
};

class VirtualParity : public testing::TestWithParam<VirtualRow> {};

TEST_P(VirtualParity, OfRoomScripts) {
  Compare(GetParam().one_in, RoomsOfOneThread, [](std::uint64_t seed) {
    return RunRoomScript(seed, [](const host::ShardOptions& options,
                                  std::uint64_t rooms_seed,
                                  const ParityLimits& limits) {
      return std::make_unique<VirtualRooms>(
          options, rooms_seed, limits, GetParam().transport, GetParam().tls);
    });
  });
}

INSTANTIATE_TEST_SUITE_P(
    Simulated, VirtualParity,
    testing::Values(VirtualRow{"ws", NetTransport::kWebSocket, Tls::kNo},
                    VirtualRow{"wss", NetTransport::kWebSocket, Tls::kYes, 4},
                    VirtualRow{"tcp", NetTransport::kTcp, Tls::kNo},
                    VirtualRow{"tls", NetTransport::kTcp, Tls::kYes, 4}),
    [](const auto& row) { return row.param.name; });

}  // namespace
}  // namespace parlor::test
