// A simulated host, and players at either level who play no game.
#ifndef PARLOR_TESTS_SIM_HOST_FIXTURE_H_
#define PARLOR_TESTS_SIM_HOST_FIXTURE_H_

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "parlor/connector.h"
#include "parlor/executor.h"
#include "parlor/lockstep/wire.h"
#include "parlor/sim/network.h"
#include "parlor/sim/world.h"
#include "parlor/time.h"
#include "parlor/transports/stream_options.h"
#include "sim/host_machine.h"
#include "sim/machine.h"
#include "support/lockstep_client.h"

namespace parlor::test {

inline constexpr std::string_view kCode = "invite.GOODCODE42";

inline constexpr sim::Via kAllVias[] = {sim::Via::kMessages,
                                        sim::Via::kWebSocket, sim::Via::kTcp};

inline std::string ViaName(const ::testing::TestParamInfo<sim::Via>& via) {
  constexpr std::string_view kNames[] = {"messages", "websocket", "tcp"};
  return std::string(kNames[static_cast<std::size_t>(via.param)]);
}

class SimHostTest : public ::testing::TestWithParam<sim::Via> {
 protected:
  // A machine of players, who come from one address.
  struct Home {
    explicit Home(sim::Network& network, const std::string& name)
        : link(network, sim::kLan, name),
          machine(network, sim::Endpoint::Turn::kEvents, StreamOptions{},
                  name) {}

    sim::Link link;
    sim::Machine machine;
    std::list<LockstepClient> players;
  };

  SimHostTest() { AddHome(); }

  // As connections, links and endpoints have to go.
  ~SimHostTest() override {
    for (const std::unique_ptr<Home>& home : homes_) home->players.clear();
    host_ = nullptr;
  }

  void MakeHost() {
    host_ = std::make_unique<sim::HostMachine>(network_, options_, "host");
  }

  Home& AddHome() {
    homes_.push_back(std::make_unique<Home>(
        network_, "home " + std::to_string(homes_.size())));
    return *homes_.back();
  }

  // His request is on its way.
  LockstepClient& AskBy(sim::Via via, const Hello& hello, Home& home) {
    if (host_ == nullptr) MakeHost();
    LockstepClient& player = home.players.emplace_back();
    player.connection = home.machine.Connect(
        home.link, {host_->endpoint(), host_->web_port(), host_->tcp_port()},
        via, hello, &player);
    return player;
  }
  LockstepClient& Ask(const Hello& hello, Home& home) {
    return AskBy(GetParam(), hello, home);
  }
  LockstepClient& Ask(const Hello& hello) { return Ask(hello, *homes_[0]); }

  // The first thing that he hears.
  std::string Answer(const Hello& hello, Home& home) {
    LockstepClient& player = Ask(hello, home);
    RunFor(100);
    return First(player);
  }
  std::string Answer(const Hello& hello) { return Answer(hello, *homes_[0]); }

  static std::string First(const LockstepClient& player) {
    return player.heard.empty() ? "nothing" : player.heard.front();
  }
  static std::string Last(const LockstepClient& player) {
    return player.heard.empty() ? "nothing" : player.heard.back();
  }

  // Two who play in `room`, and have heard of it.
  std::pair<LockstepClient*, LockstepClient*> Match(std::uint32_t room) {
    LockstepClient& first = Ask({.room = room, .players = 2});
    RunFor(100);
    LockstepClient& second = Ask({.room = room, .players = 2});
    RunFor(100);
    EXPECT_NE(first.token, 0u);
    EXPECT_NE(second.token, 0u);
    first.Take();
    second.Take();
    return {&first, &second};
  }

  static Hello Resume(std::uint32_t room, std::uint32_t token) {
    return {.room = room, .players = 2, .resume = lockstep::TokenText(token)};
  }

  void RunFor(std::int64_t ms) { executor_.RunFor(ms * kMillisecond); }

  Executor executor_{1, Executor::Ties::kShuffled};
  sim::Network network_{executor_};
  sim::HostOptions options_;
  std::vector<std::unique_ptr<Home>> homes_;
  std::unique_ptr<sim::HostMachine> host_;  // with options_, as they were then
};

}  // namespace parlor::test

#endif  // PARLOR_TESTS_SIM_HOST_FIXTURE_H_
