#include "parlor/executor.h"

#include <algorithm>
#include <utility>

#include "parlor/check.h"

namespace parlor {

Executor::Event Executor::At(TimePoint at, std::function<void()> run) {
  Event event;
  event.at_ = std::max(at, now_);
  event.tie_ = ties_ == Ties::kShuffled ? random_.Next() : 0;
  event.sequence_ = ++sequence_;
  queue_.emplace(event.key(), std::move(run));
  return event;
}

bool Executor::Cancel(const Event& event) {
  return queue_.erase(event.key()) > 0;
}

bool Executor::RunNext(TimePoint limit) {
  if (queue_.empty() || next() > limit) return false;
  auto node = queue_.extract(queue_.begin());
  now_ = std::get<0>(node.key());
  node.mapped()();
  return true;
}

std::size_t Executor::RunUntil(TimePoint until, std::size_t events_max) {
  std::size_t ran = 0;
  while (RunNext(until)) {
    ++ran;
    PARLOR_CHECK(ran <= events_max);
  }
  now_ = std::max(now_, until);
  return ran;
}

}  // namespace parlor
