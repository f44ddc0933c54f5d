// An endpoint's insides: which of its sides has something to do next, and the
// turns in which they do it.
#ifndef PARLOR_TRANSPORTS_SIM_ENDPOINT_H_
#define PARLOR_TRANSPORTS_SIM_ENDPOINT_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "parlor/executor.h"
#include "parlor/sim/network.h"
#include "parlor/time.h"
#include "parlor/transports/stream_options.h"

namespace parlor::sim {

class MessageEnd;
class Wire;

// One of the two sides of a wire, and the machine that it is on.
struct Side {
  static constexpr std::size_t kNowhere = SIZE_MAX;

  Wire* wire = nullptr;
  Direction out{};  // in which it sends
  EndpointState* endpoint = nullptr;
  MessageEnd* end = nullptr;  // null: not there yet, or no more
  bool gone = false;          // it went without a close: who sends is told
  TimePoint due = kNever;     // when it has something to do
  std::size_t heap_index = kNowhere;
  std::size_t work_index = kNowhere;
};

struct EndpointState {
  EndpointState(Network& on_network, Endpoint::Turn how,
                const StreamOptions& stream_options)
      : network(on_network), turn(how), options(stream_options) {}

  void Add(Side& side);  // due never
  // Also in the midst of a turn: it has nothing to do any more, or is no more.
  void Retire(Side& side);
  void Remove(Side& side);
  void SetDue(Side& side, TimePoint due);
  // Has its turn no later than that.
  void SetDueBy(Side& side, TimePoint due) {
    if (due < side.due) SetDue(side, due);
  }
  TimePoint next() const;
  // Runs the sides that are due. What happens in there waits for the next turn.
  std::size_t Run();
  void Stall(TimePoint until);
  void SetPower(bool on);
  void End();  // nobody lives here any more
  // For what is sent to a side here: records of a higher number than a turn
  // began with wait for the next.
  std::uint64_t NextOrder() { return ++orders; }

  Network& network;
  const Endpoint::Turn turn;
  const StreamOptions options;
  Listener* listener = nullptr;
  bool off = false;  // the machine is
  std::uint64_t orders = 0;
  std::size_t callbacks = 0;  // so far

 private:
  void Place(Side& side, std::size_t index);
  void SiftUp(std::size_t index);
  void SiftDown(std::size_t index);
  void Arm();

  std::vector<Side*> heap_;
  std::vector<Side*> work_;  // of this turn; null where one was removed
  Executor::Event event_;
  TimePoint armed_ = kNever;
  TimePoint stalled_until_{};
  bool running_ = false;
};

}  // namespace parlor::sim

#endif  // PARLOR_TRANSPORTS_SIM_ENDPOINT_H_
