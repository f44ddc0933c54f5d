#include <chrono>
#include <cstdio>

#include "parlor/fixed_step.h"
#include "parlor/host/local_connector.h"
#include "parlor/host/os_entropy.h"
#include "parlor/host/shard.h"
#include "parlor/lockstep/peer.h"
#include "parlor/transports/memory_pipe.h"

// The simulation: the same on every peer for the same seed and inputs.
class MyGame final : public parlor::lockstep::Game {
 public:
  void OnStart(const parlor::lockstep::Match& match) override {
    // Rules, options and delay belong to what is hashed.
    state_ = match.seed + match.mode + static_cast<unsigned>(match.delay);
  }
  // This player's keys, for a frame that runs `delay` frames from now.
  std::uint32_t Input(std::uint32_t frame) override { return frame % 7; }
  void Step(std::uint32_t /*frame*/, std::span<const std::uint32_t> inputs,
            std::uint32_t /*bots*/) override {
    for (std::uint32_t word : inputs) state_ = state_ * 31 + word;
  }
  std::uint32_t Hash() override { return state_; }

 private:
  std::uint32_t state_ = 0;
};

// parlor has no clock: time is what you say it is.
parlor::TimePoint Now() {
  return parlor::TimePoint(std::chrono::steady_clock::now().time_since_epoch());
}

int main() {
  parlor::host::OsEntropy entropy;  // the room: seed and tokens come from here
  parlor::PipePump pump;
  parlor::host::Shard shard({}, entropy);

  parlor::host::LocalConnector connector(pump, pump, shard);
  MyGame game;  // the player
  parlor::lockstep::Peer peer(connector, game, {});
  peer.Join(Now(), {.room = 0, .players = 4});

  parlor::FixedStep steps(Now(), 60);
  bool asked = false;
  while (peer.state() != parlor::lockstep::PeerState::kEnded) {
    const parlor::TimePoint now = Now();
    pump.Pump(now);
    shard.OnAlarm(now);
    peer.OnAlarm(now);
    // A match begins when all 4 are seated, or when the first one asks.
    if (!asked) asked = peer.Start(0, /*mode=*/0);
    for (int due = steps.Take(now); due > 0; --due) peer.Step(now);
    if (peer.frame() >= 60) peer.Leave();
  }
  std::printf("%u frames, hash %08x\n", peer.frame(), game.Hash());
}
