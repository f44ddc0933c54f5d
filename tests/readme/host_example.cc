#include <chrono>
#include <cstdio>
#include <thread>

#include "parlor/fixed_step.h"
#include "parlor/host/os_entropy.h"
#include "parlor/host/server.h"
#include "parlor/lockstep/peer.h"
#include "parlor/transports/memory_pipe.h"

class MyGame final : public parlor::lockstep::Game {
 public:
  void OnStart(const parlor::lockstep::Match& match) override {
    state_ = match.seed + match.mode + static_cast<unsigned>(match.delay);
  }
  std::uint32_t Input(std::uint32_t frame) override { return frame % 7; }
  void Step(std::uint32_t /*frame*/, std::span<const std::uint32_t> inputs,
            std::uint32_t /*bots*/) override {
    for (std::uint32_t word : inputs) state_ = state_ * 31 + word;
  }
  std::uint32_t Hash() override { return state_; }

 private:
  std::uint32_t state_ = 0;
};

parlor::TimePoint Now() {
  return parlor::TimePoint(std::chrono::steady_clock::now().time_since_epoch());
}

int main() {
  parlor::host::OsEntropy entropy;
  parlor::host::ServerOptions options;
  options.gate.codes = {"SUMMER-EVENING"};
  options.address = "0.0.0.0";  // friends may come from everywhere
  auto server = parlor::host::Server::Create(options, entropy);
  if (!server.ok()) return 1;

  // The own seat, in memory; whatever else the game does is as it was.
  parlor::PipePump pump;
  const auto connector = (*server)->MakeConnector(pump);
  MyGame game;
  parlor::lockstep::Peer peer(*connector, game, {});
  peer.Join(Now(), {.room = 0, .players = 4});
  std::printf("friends join ws://<this machine>:%d/room/0?players=4\n",
              (*server)->port());

  parlor::FixedStep steps(Now(), 60);
  bool asked = false;
  while (peer.state() != parlor::lockstep::PeerState::kEnded) {
    const parlor::TimePoint now = Now();
    pump.Pump(now);
    peer.OnAlarm(now);
    if (!asked) asked = peer.Start(0, /*mode=*/0);  // a game has a lobby here
    for (int due = steps.Take(now); due > 0; --due) peer.Step(now);
    if (peer.frame() >= 60) peer.Leave();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  std::printf("%u frames\n", peer.frame());
  (*server)->Stop(parlor::CloseReason::kHostLeft);  // tells everyone who is in
  (*server)->WaitStopped(std::chrono::seconds(2));
}
