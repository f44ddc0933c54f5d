// The simulated network under the conformance suite: two machines and a link,
// by any conditions.
#ifndef PARLOR_TESTS_SUPPORT_SIM_LINK_H_
#define PARLOR_TESTS_SUPPORT_SIM_LINK_H_

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "parlor/check.h"
#include "parlor/connection.h"
#include "parlor/executor.h"
#include "parlor/sim/network.h"
#include "parlor/time.h"
#include "support/connection_conformance.h"
#include "support/quiet_stream.h"
#include "support/sim_pace.h"

namespace parlor::test {

template <const sim::Conditions& kConditions, sim::Endpoint::Turn kTurn,
          First kFirst>
class SimLink final : private sim::Listener {
 public:
  static constexpr SimPace kPace = PaceOn(kConditions);
  static constexpr std::uint64_t kRandomRuns = 1'000;

  // The suite expects of some messages of the state lane that they arrive. With
  // this seed they do.
  explicit SimLink(std::uint64_t seed)
      : executor_(seed + 1, Executor::Ties::kShuffled),
        network_(executor_),
        link_(network_, kConditions, "link") {}

  ConformanceEnds Connect(ConformanceOptions options, ConnectionHandler* first,
                          ConnectionHandler* second) {
    options.linger_ms *= kPace.slower;
    sim::Endpoint& client = AddEndpoint(options);
    sim::Endpoint& server = AddEndpoint(options);
    server.SetListener(this);
    ConformanceEnds ends;
    ends.first = client.Connect(link_, server, {.room = 0, .players = 2},
                                kFirst == First::kClient ? first : second);
    while (accepted_ == nullptr) PARLOR_CHECK(StepBy(kNever));
    ends.second = std::move(accepted_);
    ends.second->SetHandler(kFirst == First::kClient ? second : first);
    if (kFirst == First::kServer) std::swap(ends.first, ends.second);
    return ends;
  }

  bool Step() { return StepBy(executor_.now() + kPace.quiet); }
  void Settle() {
    while (Step()) {
    }
  }
  void Advance(Duration time) {
    const TimePoint until = executor_.now() + time * kPace.slower;
    while (StepBy(until)) {
    }
    executor_.RunUntil(until);
  }

  sim::Link& link() { return link_; }

 private:
  sim::Endpoint& AddEndpoint(const ConformanceOptions& options) {
    endpoints_.push_back(std::make_unique<sim::Endpoint>(
        network_, kTurn, QuietStream(options), "machine"));
    return *endpoints_.back();
  }

  // Runs what is next, the executor's or a machine's that is polled.
  bool StepBy(TimePoint limit) {
    TimePoint next = executor_.next();
    sim::Endpoint* polled = nullptr;
    if (kTurn == sim::Endpoint::Turn::kPolled) {
      for (const auto& endpoint : endpoints_) {
        if (endpoint->next_event() >= next) continue;
        next = endpoint->next_event();
        polled = endpoint.get();
      }
    }
    if (next > limit || next == kNever) return false;
    if (polled == nullptr) return executor_.RunNext(limit);
    executor_.RunUntil(std::max(next, executor_.now()));
    polled->Poll();
    return true;
  }

  void OnOpening(TimePoint, std::unique_ptr<sim::Opening> opening) override {
    accepted_ = opening->Accept();
  }

  Executor executor_;
  sim::Network network_;
  sim::Link link_;
  std::vector<std::unique_ptr<sim::Endpoint>> endpoints_;
  std::unique_ptr<Connection> accepted_;
};

}  // namespace parlor::test

#endif  // PARLOR_TESTS_SUPPORT_SIM_LINK_H_
