// A client: what world.h says of it, from the inside.
#ifndef PARLOR_HOST_SIM_CLIENT_IMPL_H_
#define PARLOR_HOST_SIM_CLIENT_IMPL_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "parlor/connection.h"
#include "parlor/connector.h"
#include "parlor/fixed_step.h"
#include "parlor/lockstep/peer.h"
#include "parlor/sim/network.h"
#include "parlor/sim/world.h"
#include "parlor/time.h"
#include "sim/local_clock.h"
#include "sim/machine.h"
#include "sim/recorder.h"
#include "sim/virtual_loop.h"
#include "sim/watched_game.h"

namespace parlor::sim {

struct Client::Impl final : Connector {
  // What is passed by reference outlives it; `options` are valid. `called` is
  // its name in traces and texts.
  Impl(Network& to, Recorder& records, lockstep::Game& game,
       const Conditions& conditions, const ClientOptions& opts,
       std::string called);
  ~Impl() override;

  std::unique_ptr<Connection> Connect(TimePoint now, const Hello& hello,
                                      ConnectionHandler* handler) override;

  // Its connections are gone without a word of its own, and nothing of it runs
  // any more. Not inside one of its callbacks.
  void EndProcess();

  void SetOnStep(std::function<void()> next);

  // What a test asks of it can be done; else the program stops with `what`.
  void Require(bool holds, const char* what) const;

  // Has joined, and neither ended nor crashed.
  bool plays() const;
  // "client 1: reconnecting, try 2 of 6, its link is cut": what it does and
  // waits for, on one line.
  std::string Describe() const;

  class Turn final : public VirtualEvent {
   public:
    explicit Turn(Impl& client)
        : VirtualEvent(client.machine.loop()), client_(client) {}

   private:
    void OnEvent() override { client_.RunTurn(); }

    Impl& client_;
  };

  void RunTurn();
  void CallOnStep();
  void ScheduleTurn() { turn.RunAt(clock.When(steps.next())); }

  Network& network;
  Recorder& recorder;
  const ClientOptions options;
  const std::string name;
  Link link;
  Machine machine;
  WatchedGame watched;
  std::unique_ptr<lockstep::Peer> peer;  // null: its process is gone
  // That it has joined, and which room.
  Host* host = nullptr;
  std::uint32_t room = 0;
  bool crashed = false;
  std::function<void()> on_step;
  std::uint64_t steps_set = 0;  // how often it was
  LocalClock clock;
  FixedStep steps;  // in its clock's time
  Turn turn{*this};
};

}  // namespace parlor::sim

#endif  // PARLOR_HOST_SIM_CLIENT_IMPL_H_
