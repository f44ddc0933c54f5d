// Lockstep rooms behind a whole host: front, gate, hand-over and door of a
// Server that Poll turns, with the time of the script.
#ifndef PARLOR_TESTS_SUPPORT_PARITY_SERVER_H_
#define PARLOR_TESTS_SUPPORT_PARITY_SERVER_H_

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "parlor/check.h"
#include "parlor/close_reason.h"
#include "parlor/connection.h"
#include "parlor/connector.h"
#include "parlor/entropy.h"
#include "parlor/host/server.h"
#include "parlor/host/shard.h"
#include "parlor/limits.h"
#include "parlor/transports/net_connector.h"
#include "parlor/transports/net_loop.h"
#include "support/local_tls.h"
#include "support/loopback.h"
#include "support/net_sides.h"
#include "support/parity_script.h"
#include "support/parity_world.h"
#include "support/quiet_stream.h"

namespace parlor::test {

class ServerRooms final : public ParityRooms, private ParityWorld {
 public:
  ServerRooms(const host::ShardOptions& rooms, std::uint64_t seed,
              const ParityLimits& limits, NetScheme scheme)
      : rooms_entropy_(seed), clients_entropy_(1) {
    const bool tls = scheme == NetScheme::kWss || scheme == NetScheme::kTls;
    const bool tcp = scheme == NetScheme::kTcp || scheme == NetScheme::kTls;
    host::ServerOptions options;
    options.shards = 0;
    options.tcp_port = 0;
    options.shard = rooms;
    options.gate.open = true;
    options.stream = QuietStream(limits);
    // Everybody comes from one address, again and again.
    options.shard.room_joins_per_minute = limits::kRoomJoinRate.ceiling;
    options.gate.joins_per_minute = limits::kAddressRate.ceiling;
    NetConnectorOptions connector;
    connector.stream = options.stream;
    if (tls) {
      options.tls = SharedLocalTls().server;
      connector.tls = SharedLocalTls().client;
    }
    auto server = host::Server::Create(options, rooms_entropy_);
    PARLOR_CHECK(server.ok());
    server_ = *std::move(server);
    const std::string url =
        std::string(tcp ? (tls ? "tls" : "tcp") : (tls ? "wss" : "ws")) +
        "://127.0.0.1:" +
        std::to_string(tcp ? server_->tcp_port() : server_->port());
    auto connecting =
        MakeNetConnector(client_loop_, clients_entropy_, url, connector);
    PARLOR_CHECK(connecting.ok());
    connector_ = *std::move(connecting);
  }

  ParityWorld& world() override { return *this; }
  void EndAll() override { server_->Stop(CloseReason::kHostLeft); }
  void Drop() override { server_.reset(); }

 private:
  std::unique_ptr<Connection> Connect(const Hello& hello,
                                      ConnectionHandler* handler) override {
    return connector_->Connect(now(), hello, handler);
  }

  void OnHost(const std::function<void()>& task) override { task(); }

  void Barrier() override {
    RunUntilQuiet([this] {
      const std::size_t client = client_loop_.Poll(now());
      return (server_ == nullptr ? 0 : server_->Poll(now())) + client > 0;
    });
  }

  TimePoint next_alarm() override {
    const TimePoint client = client_loop_.next_alarm();
    return server_ == nullptr ? client
                              : std::min(client, server_->next_alarm());
  }

  SeededEntropy rooms_entropy_, clients_entropy_;
  NetLoop client_loop_;
  std::unique_ptr<Connector> connector_;
  std::unique_ptr<host::Server> server_;
};

}  // namespace parlor::test

#endif  // PARLOR_TESTS_SUPPORT_PARITY_SERVER_H_
