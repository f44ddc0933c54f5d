// What every parity suite does: the ways to reach a room, and the comparison
// of the traces that scripts leave.
//
// PARLOR_PARITY_SCRIPTS says how many scripts of each kind run from the seed
// on; a commit's seed gives every commit others.
#ifndef PARLOR_TESTS_SUPPORT_PARITY_WAYS_H_
#define PARLOR_TESTS_SUPPORT_PARITY_WAYS_H_

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

using Trace = std::vector<std::string>;

inline std::unique_ptr<ParityWorld> OneThread(ParityHost& host,
                                              const ParityLimits& limits) {
  return std::make_unique<PipeWorld>(host, limits, PipeWorld::Threads::kOne);
}

inline std::unique_ptr<ParityWorld> TwoThreads(ParityHost& host,
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
inline std::string Difference(const std::vector<std::string>& expected,
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

// The scripts of a run, one in `one_in`, leave the same trace both ways.
inline void Compare(std::uint64_t one_in,
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

// Worlds that a shard alone is put into (RoomsIn).
struct WorldRow {
  const char* name;
  MakeParityWorld make_world;
  std::uint64_t one_in = 1;  // of the scripts runs: TLS handshakes take long
};

inline std::vector<WorldRow> WorldRows() {
  return {{"pipe_two_threads", TwoThreads},
          {"sim", Simulated<sim::Endpoint::Turn::kEvents>},
          {"sim_polled", Simulated<sim::Endpoint::Turn::kPolled>},
          {"ws", Sockets<NetScheme::kWs>},
          {"wss", Sockets<NetScheme::kWss>, 4},
          {"tcp", Sockets<NetScheme::kTcp>},
          {"tls", Sockets<NetScheme::kTls>, 4}};
}

// Whole hosts.
struct RoomsRow {
  const char* name;
  MakeParityRooms make_rooms;
  std::uint64_t one_in = 1;
};

template <NetScheme kScheme>
std::unique_ptr<ParityRooms> OnServer(const host::ShardOptions& options,
                                      std::uint64_t seed,
                                      const ParityLimits& limits) {
  return std::make_unique<ServerRooms>(options, seed, limits, kScheme);
}

inline std::vector<RoomsRow> ServerRows() {
  return {{"ws", OnServer<NetScheme::kWs>},
          {"wss", OnServer<NetScheme::kWss>, 4},
          {"tcp", OnServer<NetScheme::kTcp>},
          {"tls", OnServer<NetScheme::kTls>, 4}};
}

// The host's own code over a simulated network's byte streams.
template <NetTransport kTransport, Tls kTls>
std::unique_ptr<ParityRooms> OverStreams(const host::ShardOptions& options,
                                         std::uint64_t seed,
                                         const ParityLimits& limits) {
  return std::make_unique<VirtualRooms>(options, seed, limits, kTransport,
                                        kTls);
}

inline std::vector<RoomsRow> VirtualRows() {
  return {{"ws", OverStreams<NetTransport::kWebSocket, Tls::kNo>},
          {"wss", OverStreams<NetTransport::kWebSocket, Tls::kYes>, 4},
          {"tcp", OverStreams<NetTransport::kTcp, Tls::kNo>},
          {"tls", OverStreams<NetTransport::kTcp, Tls::kYes>, 4}};
}

}  // namespace parlor::test

#endif  // PARLOR_TESTS_SUPPORT_PARITY_WAYS_H_
