// Two machines and a link between them, for tests of the simulated network.
#ifndef PARLOR_TESTS_TRANSPORTS_SIM_FIXTURE_H_
#define PARLOR_TESTS_TRANSPORTS_SIM_FIXTURE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "parlor/byte_io.h"
#include "parlor/close_reason.h"
#include "parlor/connection.h"
#include "parlor/connector.h"
#include "parlor/executor.h"
#include "parlor/lane.h"
#include "parlor/sim/network.h"
#include "parlor/time.h"
#include "parlor/transports/stream_options.h"

namespace parlor::test {

// An end and what it heard, with the times.
class SimEnd final : public ConnectionHandler {
 public:
  struct Message {
    TimePoint at;
    Lane lane;
    std::string bytes;
  };

  std::unique_ptr<Connection> connection;
  std::vector<Message> messages;
  std::vector<TimePoint> pings, pongs;
  std::vector<CloseCode> closes;
  std::uint16_t refusal = 0;
  bool closed_by_us = false;
  TimePoint opened_at = kNever;
  TimePoint closed_at = kNever;
  int writables = 0;
  std::function<void()> on_message;

  SendResult Send(std::string_view bytes, Lane lane = Lane::kReliable) {
    return connection->Send(lane, MessageKind::kBinary, AsBytes(bytes));
  }
  std::vector<std::string> On(Lane lane) const {
    std::vector<std::string> all;
    for (const Message& message : messages) {
      if (message.lane == lane) all.push_back(message.bytes);
    }
    return all;
  }
  bool is_open() const { return connection->is_open(); }

  void OnOpen(TimePoint now, Connection&) override { opened_at = now; }
  void OnMessage(TimePoint now, Connection&, Lane lane, MessageKind,
                 std::span<const std::byte> bytes) override {
    messages.push_back({now, lane, std::string(AsText(bytes))});
    if (on_message) on_message();
  }
  void OnControl(TimePoint now, Connection&, ControlKind kind) override {
    (kind == ControlKind::kPing ? pings : pongs).push_back(now);
  }
  void OnWritable(TimePoint, Connection&, Lane) override { ++writables; }
  void OnClose(TimePoint now, Connection&, const CloseEvent& event) override {
    closes.push_back(event.code);
    refusal = event.refusal;
    closed_by_us = event.by_us;
    closed_at = now;
  }
};

// Both machines run their events as they come, unless a test asks for a client
// that is polled.
class SimMachines final : private sim::Listener {
 public:
  explicit SimMachines(const sim::Conditions& conditions,
                       std::uint64_t seed = 1, StreamOptions options = {},
                       sim::Endpoint::Turn turn = sim::Endpoint::Turn::kEvents)
      : executor(seed),
        network(executor),
        link(network, conditions, "link"),
        client(network, turn, options, "client"),
        host(network, sim::Endpoint::Turn::kEvents, options, "host") {
    host.SetListener(this);
  }

  // What the host does with who comes; accepts by default.
  std::function<void(std::unique_ptr<sim::Opening>)> on_opening =
      [this](std::unique_ptr<sim::Opening> opening) {
        b.connection = opening->Accept();
        b.connection->SetHandler(&b);
      };

  Hello hello{.room = 7, .players = 2};
  void Connect() { a.connection = client.Connect(link, host, hello, &a); }
  // Until both ends are open.
  void Open() {
    Connect();
    while (a.opened_at == kNever) executor.RunNext();
  }
  void RunMs(std::int64_t ms) { executor.RunFor(ms * kMillisecond); }
  TimePoint now() const { return executor.now(); }
  sim::Listener& listener() { return *this; }

  Executor executor;
  sim::Network network;
  sim::Link link;
  sim::Endpoint client, host;
  SimEnd a, b;  // the client's end and the host's

 private:
  void OnOpening(TimePoint, std::unique_ptr<sim::Opening> opening) override {
    on_opening(std::move(opening));
  }
};

}  // namespace parlor::test

#endif  // PARLOR_TESTS_TRANSPORTS_SIM_FIXTURE_H_
