// What a message that a host relays takes from the heap: nothing.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "parlor/check.h"
#include "parlor/connection.h"
#include "parlor/connector.h"
#include "parlor/entropy.h"
#include "parlor/host/server.h"
#include "parlor/limits.h"
#include "parlor/lockstep/wire.h"
#include "parlor/time.h"
#include "parlor/transports/memory_pipe.h"
#include "parlor/transports/net_connector.h"
#include "parlor/transports/net_loop.h"
#include "support/counting_allocator.h"
#include "support/net_turns.h"

namespace parlor::test {
namespace {

// Counts the INPUTs it hears.
struct Seat final : ConnectionHandler {
  void OnMessage(TimePoint, Connection&, Lane, MessageKind,
                 std::span<const std::byte> bytes) override {
    const auto kind = static_cast<lockstep::Kind>(bytes[0]);
    playing = playing || kind == lockstep::Kind::kWelcome;
    inputs += kind == lockstep::Kind::kInput;
  }
  void OnClose(TimePoint, Connection&, const CloseEvent& event) override {
    ADD_FAILURE() << "closed " << event.code;
  }

  bool playing = false;
  std::uint64_t inputs = 0;
  std::unique_ptr<Connection> connection;
};

TEST(ServerMemoryTest, ARelayedMessageAllocatesNothing) {
  SeededEntropy entropy(1);
  host::ServerOptions options;
  options.shards = 0;
  options.tcp_port = 0;
  options.gate.open = true;
  options.shard.room.message_rate_per_s = limits::kMessageRate.ceiling;
  options.shard.room.message_burst = limits::kMessageBurst.ceiling;
  auto server = host::Server::Create(options, entropy);
  ASSERT_TRUE(server.ok()) << server.status();
  NetLoop loop;
  PipePump pump;
  std::vector<std::unique_ptr<Connector>> ways;
  ways.push_back((*server)->MakeConnector(pump));
  for (const std::string& url :
       {"ws://127.0.0.1:" + std::to_string((*server)->port()),
        "tcp://127.0.0.1:" + std::to_string((*server)->tcp_port())}) {
    auto connector = MakeNetConnector(loop, entropy, url);
    ASSERT_TRUE(connector.ok());
    ways.push_back(*std::move(connector));
  }

  const TimePoint now{std::chrono::hours(1)};
  // Without a function object, which would allocate.
  const auto until = [&](const auto& done) {
    const auto give_up = std::chrono::steady_clock::now() + kPatience;
    while (!done()) {
      if (std::chrono::steady_clock::now() > give_up) return false;
      (*server)->Poll(now);
      loop.Poll(now);
      pump.Pump(now);
    }
    return true;
  };
  std::vector<Seat> seats(ways.size());
  for (std::size_t i = 0; i < ways.size(); ++i) {
    seats[i].connection =
        ways[i]->Connect(now, {.room = 0, .players = 3}, &seats[i]);
  }
  ASSERT_TRUE(until([&] {
    return seats[0].playing && seats[1].playing && seats[2].playing;
  }));

  // Each seat says one INPUT, and everybody hears the two others'.
  std::uint32_t frame = 0;
  const auto round = [&] {
    ++frame;
    const auto bytes =
        lockstep::Encode({.kind = lockstep::Kind::kInput, .frame = frame});
    for (Seat& seat : seats) {
      seat.connection->Send(Lane::kReliable, MessageKind::kBinary, bytes);
    }
    const auto all_heard = [&] {
      for (const Seat& seat : seats) {
        if (seat.inputs < 2 * frame) return false;
      }
      return true;
    };
    PARLOR_CHECK(until(all_heard));
  };
  for (int i = 0; i < 200; ++i) round();
  const std::uint64_t before = parlor_allocation_count();
  for (int i = 0; i < 1'000; ++i) round();
  EXPECT_EQ(parlor_allocation_count() - before, 0u);
}

}  // namespace
}  // namespace parlor::test
