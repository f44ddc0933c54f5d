// A ParityWorld over the simulated network, on a link that is perfect: what
// takes time elsewhere takes none.
#ifndef PARLOR_TESTS_SUPPORT_PARITY_SIM_H_
#define PARLOR_TESTS_SUPPORT_PARITY_SIM_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

#include "parlor/connection.h"
#include "parlor/connector.h"
#include "parlor/executor.h"
#include "parlor/sim/network.h"
#include "parlor/time.h"
#include "support/parity_world.h"
#include "support/quiet_stream.h"

namespace parlor::test {

class SimParityWorld final : public ParityWorld, private sim::Listener {
 public:
  using Turn = sim::Endpoint::Turn;

  SimParityWorld(ParityHost& host, const ParityLimits& limits, Turn clients)
      : host_(host),
        executor_(/*seed=*/1, Executor::Ties::kShuffled),
        network_(executor_),
        link_(network_, sim::kPerfect, "link"),
        clients_(network_, clients, QuietStream(limits), "clients"),
        machine_(network_, Turn::kEvents, QuietStream(limits), "host"),
        polled_(clients == Turn::kPolled) {
    machine_.SetListener(this);
  }

  std::unique_ptr<Connection> Connect(const Hello& hello,
                                      ConnectionHandler* handler) override {
    return clients_.Connect(link_, machine_, hello, handler);
  }

  void OnHost(const std::function<void()>& task) override { task(); }

  void Barrier() override {
    bool worked = true;
    while (worked) {
      worked = executor_.RunUntil(now()) > 0;
      if (polled_ && clients_.Poll() > 0) worked = true;
      if (host_.next_alarm() > now()) continue;
      host_.OnAlarm(now());
      worked = true;
    }
  }

 private:
  TimePoint next_alarm() override {
    return std::min(
        {host_.next_alarm(), executor_.next(), clients_.next_event()});
  }

  void OnOpening(TimePoint now,
                 std::unique_ptr<sim::Opening> opening) override {
    const std::uint16_t status = host_.Admit(now, opening->hello());
    if (status != 0) return opening->Refuse({.status = status});
    host_.Attach(now, opening->Accept(), opening->hello());
  }

  ParityHost& host_;
  Executor executor_;
  sim::Network network_;
  sim::Link link_;
  sim::Endpoint clients_, machine_;
  const bool polled_;
};

}  // namespace parlor::test

#endif  // PARLOR_TESTS_SUPPORT_PARITY_SIM_H_
