// Clients that are polled 60 times a second and a host that relays what each
// says to all others: a match's traffic, without its game.
#ifndef PARLOR_TESTS_TRANSPORTS_SIM_CROWD_H_
#define PARLOR_TESTS_TRANSPORTS_SIM_CROWD_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "parlor/connection.h"
#include "parlor/executor.h"
#include "parlor/lane.h"
#include "parlor/sim/network.h"
#include "parlor/time.h"

namespace parlor::test {

class SimCrowd final : private ConnectionHandler, private sim::Listener {
 public:
  static constexpr Duration kStep{16'666'667};

  SimCrowd(std::uint64_t seed, const sim::Conditions& conditions,
           std::size_t clients)
      : executor(seed, Executor::Ties::kShuffled),
        network(executor),
        host(network, sim::Endpoint::Turn::kEvents, {}, "host") {
    host.SetListener(this);
    for (std::size_t i = 0; i < clients; ++i) {
      clients_.push_back(std::make_unique<Client>(*this, conditions, i));
    }
  }

  sim::Link& link(std::size_t client) { return clients_[client]->link; }
  sim::Endpoint& endpoint(std::size_t client) {
    return clients_[client]->endpoint;
  }
  void Run(Duration time) { executor.RunFor(time); }

  Executor executor;
  sim::Network network;
  sim::Endpoint host;
  std::size_t heard = 0;  // by clients
  std::size_t lost = 0;   // connections; each client comes again

 private:
  struct Client final : ConnectionHandler {
    Client(SimCrowd& in, const sim::Conditions& conditions, std::size_t index)
        : crowd(in),
          link(in.network, conditions, "link " + std::to_string(index)),
          endpoint(in.network, sim::Endpoint::Turn::kPolled, {},
                   "client " + std::to_string(index)) {
      Connect();
      next = TimePoint(static_cast<int>(index) * kMillisecond);
      Post();
    }

    void Connect() {
      connection = endpoint.Connect(link, crowd.host, {}, this);
    }
    void Post() {
      next += kStep;
      crowd.executor.At(next, [this] { Step(); });
    }
    void Step() {
      endpoint.Poll();
      if (connection == nullptr) Connect();
      std::array<std::byte, 16> bytes{};
      bytes[0] = static_cast<std::byte>(++steps);
      connection->Send(Lane::kReliable, MessageKind::kBinary, bytes);
      if (steps % 3 == 0) {
        connection->Send(Lane::kState, MessageKind::kBinary, bytes);
      }
      Post();
    }
    void OnMessage(TimePoint, Connection&, Lane, MessageKind,
                   std::span<const std::byte>) override {
      ++crowd.heard;
    }
    void OnClose(TimePoint, Connection&, const CloseEvent&) override {
      ++crowd.lost;
      connection.reset();
    }

    SimCrowd& crowd;
    sim::Link link;
    sim::Endpoint endpoint;
    std::unique_ptr<Connection> connection;
    TimePoint next{};
    std::size_t steps = 0;
  };

  void OnOpening(TimePoint, std::unique_ptr<sim::Opening> opening) override {
    seats_.push_back(opening->Accept());
    seats_.back()->SetHandler(this);
  }
  void OnMessage(TimePoint, Connection& from, Lane lane, MessageKind kind,
                 std::span<const std::byte> bytes) override {
    for (const auto& seat : seats_) {
      if (seat.get() != &from) seat->Send(lane, kind, bytes);
    }
  }
  void OnClose(TimePoint, Connection& from, const CloseEvent&) override {
    std::erase_if(seats_,
                  [&](const auto& seat) { return seat.get() == &from; });
  }

  std::vector<std::unique_ptr<Client>> clients_;
  std::vector<std::unique_ptr<Connection>> seats_;
};

}  // namespace parlor::test

#endif  // PARLOR_TESTS_TRANSPORTS_SIM_CROWD_H_
