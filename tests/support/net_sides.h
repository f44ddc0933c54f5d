// A listener and a connector to it on the loopback, each on a loop of its own,
// both turned by the test.
#ifndef PARLOR_TESTS_SUPPORT_NET_SIDES_H_
#define PARLOR_TESTS_SUPPORT_NET_SIDES_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "parlor/check.h"
#include "parlor/connector.h"
#include "parlor/entropy.h"
#include "parlor/time.h"
#include "parlor/transports/net_connector.h"
#include "parlor/transports/net_listener.h"
#include "parlor/transports/net_loop.h"
#include "parlor/transports/stream_options.h"
#include "support/local_tls.h"

namespace parlor::test {

enum class NetScheme : std::uint8_t { kWs, kWss, kTcp, kTls };

class NetSides {
 public:
  NetSides(NetScheme scheme, const StreamOptions& options,
           NetListenerHandler& handler)
      : entropy_(1) {
    const bool tls = scheme == NetScheme::kWss || scheme == NetScheme::kTls;
    const bool tcp = scheme == NetScheme::kTcp || scheme == NetScheme::kTls;
    NetListenerOptions listener;
    listener.transport = tcp ? NetTransport::kTcp : NetTransport::kWebSocket;
    listener.stream = options;
    NetConnectorOptions connector;
    connector.stream = options;
    if (tls) {
      listener.tls = SharedLocalTls().server;
      connector.tls = SharedLocalTls().client;
    }
    auto listening = NetListener::Create(host_loop_, listener, &handler);
    PARLOR_CHECK(listening.ok());
    listener_ = *std::move(listening);
    const std::string url =
        std::string(tcp ? (tls ? "tls" : "tcp") : (tls ? "wss" : "ws")) +
        "://127.0.0.1:" + std::to_string(listener_->port());
    auto connecting = MakeNetConnector(client_loop_, entropy_, url, connector);
    PARLOR_CHECK(connecting.ok());
    connector_ = *std::move(connecting);
  }

  Connector& connector() { return *connector_; }

  // Whether there was anything to do, at most so many events of each side.
  bool Poll(TimePoint now, std::size_t events_max = SIZE_MAX) {
    const std::size_t client = client_loop_.Poll(now, events_max);
    return client + host_loop_.Poll(now, events_max) > 0;
  }
  NetLoop& client_loop() { return client_loop_; }
  NetLoop& host_loop() { return host_loop_; }

  TimePoint next_alarm() const {
    return std::min(client_loop_.next_alarm(), host_loop_.next_alarm());
  }

 private:
  SeededEntropy entropy_;
  NetLoop client_loop_, host_loop_;
  std::unique_ptr<NetListener> listener_;
  std::unique_ptr<Connector> connector_;
};

}  // namespace parlor::test

#endif  // PARLOR_TESTS_SUPPORT_NET_SIDES_H_
