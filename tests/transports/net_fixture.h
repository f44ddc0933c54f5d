// A host with a listener and a client with a connector, each on a loop of its
// own, turned by one thread; and what each of them heard.
#ifndef PARLOR_TESTS_TRANSPORTS_NET_FIXTURE_H_
#define PARLOR_TESTS_TRANSPORTS_NET_FIXTURE_H_

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "parlor/byte_io.h"
#include "parlor/connection.h"
#include "parlor/connector.h"
#include "parlor/entropy.h"
#include "parlor/lane.h"
#include "parlor/time.h"
#include "parlor/transports/net_connector.h"
#include "parlor/transports/net_listener.h"
#include "parlor/transports/net_loop.h"
#include "parlor/transports/request.h"
#include "support/local_tls.h"
#include "support/net_turns.h"

namespace parlor::test {

inline constexpr std::string_view kLocalhost = "127.0.0.1";

// A connection and what it heard.
class NetEnd final : public ConnectionHandler {
 public:
  struct Closed {
    CloseCode code = 0;
    std::string text;
    bool by_us = false;
    std::uint16_t refusal = 0;
  };

  std::unique_ptr<Connection> connection;
  int opens = 0;
  int pings = 0;
  std::size_t messages = 0;
  std::string last;  // message
  std::vector<Closed> closes;
  std::function<void(std::string_view)> on_message;
  std::function<void()> on_close;

  SendResult Send(std::string_view text) {
    return connection->Send(Lane::kReliable, MessageKind::kText, AsBytes(text));
  }
  bool closed() const { return !closes.empty(); }
  // 0: not yet.
  CloseCode code() const { return closed() ? closes.front().code : 0; }

  void OnOpen(TimePoint, Connection&) override { ++opens; }
  void OnMessage(TimePoint, Connection&, Lane, MessageKind,
                 std::span<const std::byte> bytes) override {
    ++messages;
    const std::string_view text = AsText(bytes);
    last = text;
    if (on_message) on_message(text);
  }
  void OnControl(TimePoint, Connection&, ControlKind kind) override {
    if (kind == ControlKind::kPing) ++pings;
  }
  void OnClose(TimePoint, Connection&, const CloseEvent& event) override {
    closes.push_back(
        {event.code, std::string(event.text), event.by_us, event.refusal});
    if (on_close) on_close();
  }
};

// Lets everyone in, unless `refusal` is set.
class NetHost final : public NetListenerHandler {
 public:
  Refusal refusal;
  std::vector<std::unique_ptr<NetEnd>> ends;
  std::vector<std::string> addresses, targets;
  std::vector<absl::Status> statuses;

  Verdict OnKnock(TimePoint, const Knock& knock) override {
    addresses.emplace_back(knock.address);
    targets.push_back(knock.request.target);
    if (refusal.status != 0) return {.refusal = refusal, .protocol = {}};
    return {.refusal = {}, .protocol = kLockstepProtocol};
  }
  void OnConnection(TimePoint, const Knock&,
                    std::unique_ptr<Connection> connection) override {
    ends.push_back(std::make_unique<NetEnd>());
    ends.back()->connection = std::move(connection);
    ends.back()->connection->SetHandler(ends.back().get());
  }
  void OnAcceptStatus(TimePoint, const absl::Status& status) override {
    statuses.push_back(status);
  }
};

struct NetScheme {
  const char* name;  // of the URL, and of the test
  NetTransport transport;
  bool tls;
  friend void PrintTo(const NetScheme& scheme, std::ostream* out) {
    *out << scheme.name;
  }
};
inline constexpr NetScheme kWs{"ws", NetTransport::kWebSocket, false};
inline constexpr NetScheme kWss{"wss", NetTransport::kWebSocket, true};
inline constexpr NetScheme kTcp{"tcp", NetTransport::kTcp, false};
inline constexpr NetScheme kTls{"tls", NetTransport::kTcp, true};

class NetWorld {
 public:
  explicit NetWorld(const NetScheme& scheme) : scheme_(scheme) {
    listening.transport = scheme.transport;
    if (!scheme.tls) return;
    listening.tls = SharedLocalTls().server;
    connecting.tls = SharedLocalTls().client;
  }

  // May be changed before Listen and Connect.
  NetListenerOptions listening;
  NetConnectorOptions connecting;

  SeededEntropy entropy{1};
  NetLoop host_loop, client_loop;
  NetTurns turns{&host_loop, &client_loop};
  NetHost host;
  std::unique_ptr<NetListener> listener;

  void Listen() {
    auto made = NetListener::Create(host_loop, listening, &host);
    ASSERT_TRUE(made.ok()) << made.status().ToString();
    listener = *std::move(made);
  }

  std::string Url(std::uint16_t port,
                  std::string_view name = kLocalhost) const {
    return std::string(scheme_.name) + "://" + std::string(name) + ":" +
           std::to_string(port);
  }

  // Connecting, and not more than that.
  std::unique_ptr<NetEnd> Dial(const std::string& url) {
    auto made = MakeNetConnector(client_loop, entropy, url, connecting);
    EXPECT_TRUE(made.ok()) << made.status().ToString();
    auto end = std::make_unique<NetEnd>();
    end->connection =
        (*made)->Connect(turns.now, {.room = 1, .players = 2}, end.get());
    return end;
  }
  std::unique_ptr<NetEnd> Dial() { return Dial(Url(listener->port())); }

  // Open at both ends; the host's is the last of its ends.
  std::unique_ptr<NetEnd> Connect() {
    const std::size_t before = host.ends.size();
    std::unique_ptr<NetEnd> client = Dial();
    EXPECT_TRUE(turns.Until([&] {
      return client->opens == 1 && host.ends.size() > before &&
             host.ends.back()->opens == 1;
    })) << client->code();
    return client;
  }

 private:
  NetScheme scheme_;
};

}  // namespace parlor::test

#endif  // PARLOR_TESTS_TRANSPORTS_NET_FIXTURE_H_
