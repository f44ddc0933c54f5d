// EndWatch: tells when a loop has nothing left to say goodbye to.
#ifndef PARLOR_HOST_LOGIC_END_WATCH_H_
#define PARLOR_HOST_LOGIC_END_WATCH_H_

#include <functional>
#include <utility>

#include "parlor/time.h"
#include "stream/stream_loop.h"

namespace parlor::host {

class EndWatch final : private stream::LoopMember {
 public:
  explicit EndWatch(stream::StreamLoop& loop) : LoopMember(loop) {}

  // Calls `ended` once, in a turn of the loop, when `idle` says true or
  // `deadline` has come. Asks at the end of this turn and every kAskEvery from
  // then on: whoever ends can wait that long, and nobody else has to tell.
  void Start(TimePoint deadline, std::function<bool()> idle,
             std::function<void()> ended) {
    deadline_ = deadline;
    idle_ = std::move(idle);
    ended_ = std::move(ended);
    SetAlarm(loop().now());
  }

 private:
  static constexpr Duration kAskEvery = 5 * kMillisecond;

  void OnTurnEnd() override {}  // never asked for
  void OnAlarm() override {
    if (loop().now() < deadline_ && !idle_()) {
      return SetAlarm(loop().now() + kAskEvery);
    }
    ended_();
  }

  TimePoint deadline_{};
  std::function<bool()> idle_;
  std::function<void()> ended_;
};

}  // namespace parlor::host

#endif  // PARLOR_HOST_LOGIC_END_WATCH_H_
