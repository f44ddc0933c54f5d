// A Server and clients of it on one thread, over real sockets on the loopback.
// The server has threads of its own or, with `shards` of 0, is turned here.
#ifndef PARLOR_TESTS_HOST_SERVER_FIXTURE_H_
#define PARLOR_TESTS_HOST_SERVER_FIXTURE_H_

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "parlor/connection.h"
#include "parlor/connector.h"
#include "parlor/entropy.h"
#include "parlor/host/os_entropy.h"
#include "parlor/host/server.h"
#include "parlor/limits.h"
#include "parlor/time.h"
#include "parlor/transports/memory_pipe.h"
#include "parlor/transports/net_connector.h"
#include "parlor/transports/net_loop.h"
#include "support/local_tls.h"
#include "support/lockstep_client.h"
#include "support/net_turns.h"
#include "support/raw_socket.h"
#include "support/steady_now.h"

namespace parlor::test {

// The name of a test for so many shards.
inline std::string ShardsName(const testing::TestParamInfo<int>& row) {
  return row.param == 0 ? "polled" : "threads_" + std::to_string(row.param);
}

class ServerFixture : public testing::Test {
 protected:
  explicit ServerFixture(int shards) {
    options.shards = shards;
    options.gate.open = true;
    options.shard.rooms = 16;
    // Matches here are not paced.
    options.shard.room.message_rate_per_s = limits::kMessageRate.ceiling;
    options.shard.room.message_burst = limits::kMessageBurst.ceiling;
    options.tcp_port = 0;
  }
  ~ServerFixture() override {
    server.reset();
    for (LockstepClient& client : clients) client.connection.reset();
  }

  void Start() {
    auto created = host::Server::Create(
        options, entropy, [this](host::LogLevel, std::string_view line) {
          const std::lock_guard lock(log_mutex_);
          log_.emplace_back(line);
        });
    ASSERT_TRUE(created.ok()) << created.status();
    server = *std::move(created);
  }

  static TimePoint Now() { return SteadyNow(); }

  void Turn() {
    const TimePoint now = Now();
    if (server != nullptr && options.shards == 0) server->Poll(now);
    loop.Poll(now);
    pump.Pump(now);
    for (const auto& more : turns) more(now);
  }
  // False when that does not come.
  bool Until(const std::function<bool()>& done) {
    const TimePoint patience = Now() + kPatience;
    while (!done()) {
      if (Now() > patience) return false;
      Turn();
      std::this_thread::yield();
    }
    return true;
  }
  // Until the client has heard `count` things since it was asked last.
  std::vector<std::string> Hear(LockstepClient& client, std::size_t count) {
    EXPECT_TRUE(Until([&] { return client.heard.size() >= count; }));
    return client.Take();
  }

  std::string Url(std::string_view scheme) const {
    const bool web = scheme.starts_with("ws");
    return std::string(scheme) + "://127.0.0.1:" +
           std::to_string(web ? server->port() : server->tcp_port());
  }
  std::unique_ptr<Connector> Network(std::string_view scheme = "ws") {
    NetConnectorOptions connector;
    if (scheme == "wss" || scheme == "tls") {
      connector.tls = SharedLocalTls().client;
    }
    auto made = MakeNetConnector(loop, entropy, Url(scheme), connector);
    EXPECT_TRUE(made.ok()) << made.status();
    return *std::move(made);
  }
  LockstepClient& Join(Connector& connector, const Hello& hello) {
    LockstepClient& client = clients.emplace_back();
    client.connection = connector.Connect(Now(), hello, &client);
    return client;
  }
  LockstepClient& Join(std::uint32_t room, std::int32_t players) {
    return Join(*Network(), {.room = room, .players = players});
  }
  // The first thing that someone hears who joins a room of 2 with that code.
  std::string JoinWith(std::string_view code, std::uint32_t room) {
    const Hello hello{.room = room,
                      .players = 2,
                      .access = std::string("invite.").append(code)};
    return Hear(Join(*Network(), hello), 1).front();
  }

  // All that the web port says to a request, until it ends.
  std::string Ask(std::string_view request) {
    RawSocket socket = RawSocket::Connect(server->port());
    socket.Send(request);
    std::string heard;
    EXPECT_TRUE(Until([&] { return !socket.Receive(heard); }));
    return heard;
  }
  std::string Health() {
    return Ask("GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
  }

  std::vector<std::string> log() {
    const std::lock_guard lock(log_mutex_);
    return log_;
  }

  host::ServerOptions options;
  host::OsEntropy entropy;
  NetLoop loop;   // the clients'
  PipePump pump;  // the clients' too
  std::vector<std::function<void(TimePoint)>> turns;
  std::list<LockstepClient> clients;
  std::unique_ptr<host::Server> server;

 private:
  std::mutex log_mutex_;
  std::vector<std::string> log_;
};

}  // namespace parlor::test

#endif  // PARLOR_TESTS_HOST_SERVER_FIXTURE_H_
