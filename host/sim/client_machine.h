// What all who play have in common: what world.h says of ClientMachine, from
// the inside.
#ifndef PARLOR_HOST_SIM_CLIENT_MACHINE_H_
#define PARLOR_HOST_SIM_CLIENT_MACHINE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "parlor/connection.h"
#include "parlor/connector.h"
#include "parlor/fixed_step.h"
#include "parlor/sim/network.h"
#include "parlor/sim/world.h"
#include "parlor/time.h"
#include "parlor/transports/stream_options.h"
#include "sim/local_clock.h"
#include "sim/machine.h"
#include "sim/recorder.h"
#include "sim/virtual_loop.h"

namespace parlor::sim {

// Of its link and its loop.
struct LoopOptions {
  // Of ClientOptions or PlayerOptions.
  template <class KindOptions>
  static LoopOptions Of(const KindOptions& of) {
    return {.via = of.via,
            .stream = of.stream,
            .rate_hz = of.rate_hz,
            .clock_ppm = of.clock_ppm,
            .jitter_seed = of.peer.jitter_seed};
  }

  Via via{};
  StreamOptions stream{};
  int rate_hz = 0;
  std::int32_t clock_ppm = 0;
  std::uint64_t jitter_seed = 0;  // of its peer; 0: drawn
};

struct ClientMachine::Impl : Connector {
  // What is passed by reference outlives it. `called` is its name in traces
  // and texts.
  Impl(Network& to, Recorder& records, const Conditions& conditions,
       const LoopOptions& opts, std::string called);
  ~Impl() override;

  std::unique_ptr<Connection> Connect(TimePoint now, const Hello& hello,
                                      ConnectionHandler* handler) override;

  // Its connections are gone without a word of its own, and nothing of it runs
  // any more. Not inside one of its callbacks.
  void EndProcess();

  void CallOnStep();
  void SetOnStep(std::function<void()> next);

  // What a test asks of it can be done; else the program stops with `what`.
  void Require(bool holds, const char* what) const;
  // It joins a room of `to`, for the first time; `idle`: its peer may.
  void SetHost(Host& to, bool idle);

  // Has joined, and neither ended nor crashed.
  bool plays() const { return host != nullptr && !crashed && !ended(); }
  // "client 1: reconnecting, try 2 of 6, its link is cut": what it does and
  // waits for, on one line.
  std::string Describe() const;

  // ---- Of its peer. But for the first and progress(), not of a crashed one.

  virtual void EndPeer() = 0;
  // The rest of a turn, in which `due` steps are.
  virtual void OnTurn(TimePoint now, int due) = 0;
  virtual bool ended() const = 0;
  virtual std::string StateText() const = 0;
  // How far its game has got: it rises while all is well.
  virtual std::uint64_t progress() const = 0;
  // It is connected and has got further than `before`.
  virtual bool IsHealed(std::uint64_t before) const = 0;

  class Turn final : public VirtualEvent {
   public:
    explicit Turn(Impl& of) : VirtualEvent(of.machine.loop()), machine_(of) {}

   private:
    void OnEvent() override { machine_.RunTurn(); }

    Impl& machine_;
  };

  void RunTurn();
  void ScheduleTurn() { turn.RunAt(clock.When(steps.next())); }

  Network& network;
  Recorder& recorder;
  const Via via;
  const std::string name;
  Link link;
  Machine machine;
  // Each comes back at its own time when their host restarts.
  const std::uint64_t jitter_seed;
  Host* host = nullptr;  // that it has joined
  bool crashed = false;
  std::function<void()> on_step;
  std::uint64_t steps_set = 0;  // how often it was
  LocalClock clock;
  FixedStep steps;  // in its clock's time
  Turn turn{*this};
};

}  // namespace parlor::sim

#endif  // PARLOR_HOST_SIM_CLIENT_MACHINE_H_
