// Executor: a deterministic event loop in virtual time, for tests, the
// simulator and headless play. Nothing here waits: time jumps to the next
// event.
//
// Events run in the order of their time. Those of one time run in the order
// they were posted, or, with Ties::kShuffled, in an order drawn from the seed:
// the same seed runs the same order, and many seeds try many orders.
//
// One thread. Events may post and cancel events, themselves included.
#ifndef PARLOR_EXECUTOR_H_
#define PARLOR_EXECUTOR_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <tuple>
#include <vector>

#include "parlor/random.h"
#include "parlor/time.h"

namespace parlor {

class Executor {
 public:
  enum class Ties : std::uint8_t { kInOrder, kShuffled };

  // Names one posted event. A default one names none.
  class Event {
   public:
    Event() = default;

   private:
    friend class Executor;
    TimePoint at_{};
    std::uint32_t tie_ = 0;
    std::uint64_t sequence_ = 0;  // 0: none
    auto key() const { return std::tuple(at_, tie_, sequence_); }
  };

  explicit Executor(std::uint64_t seed, Ties ties = Ties::kInOrder)
      : random_(seed), ties_(ties) {}

  TimePoint now() const { return now_; }
  // What now() says, at any time, for who keeps the reference.
  const TimePoint& clock() const { return now_; }

  // For whoever runs on this executor: draws follow the order of events.
  Random& random() { return random_; }

  // A time that has passed means now. `run` is called once, or never if
  // cancelled.
  Event At(TimePoint at, std::function<void()> run);
  Event After(Duration delay, std::function<void()> run) {
    return At(now_ + delay, std::move(run));
  }

  // False when it ran already, was cancelled, or names none.
  bool Cancel(const Event& event);

  // Runs the next event, if there is one at or before `limit`. Time moves to
  // that event's.
  bool RunNext(TimePoint limit = kNever);

  // Runs all events up to and including `until`; time ends there. Returns how
  // many ran. Stops with a failed check after `events_max`: a bound on loops
  // that post themselves without time passing.
  std::size_t RunUntil(TimePoint until, std::size_t events_max = 100'000'000);
  std::size_t RunFor(Duration time) { return RunUntil(now_ + time); }

  std::size_t pending() const { return queue_.size(); }
  TimePoint next() const {
    return queue_.empty() ? kNever : std::get<0>(queue_.begin()->first);
  }

 private:
  using Key = std::tuple<TimePoint, std::uint32_t, std::uint64_t>;
  using Queue = std::map<Key, std::function<void()>>;

  void Spare(Queue::node_type node);

  Queue queue_;
  // Of events that are over: as many as ever waited at once.
  std::vector<Queue::node_type> spare_;
  TimePoint now_{};
  std::uint64_t sequence_ = 0;
  Random random_;
  Ties ties_;
};

}  // namespace parlor

#endif  // PARLOR_EXECUTOR_H_
