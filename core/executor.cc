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
  if (spare_.empty()) {
    queue_.emplace(event.key(), std::move(run));
    return event;
  }
  Queue::node_type node = std::move(spare_.back());
  spare_.pop_back();
  node.key() = event.key();
  node.mapped() = std::move(run);
  queue_.insert(std::move(node));
  return event;
}

bool Executor::Cancel(const Event& event) {
  Queue::node_type node = queue_.extract(event.key());
  if (node.empty()) return false;
  Spare(std::move(node));
  return true;
}

void Executor::Spare(Queue::node_type node) {
  node.mapped() = nullptr;  // what it captured dies with the event
  spare_.push_back(std::move(node));
}

bool Executor::RunNext(TimePoint limit) {
  if (queue_.empty() || next() > limit) return false;
  Queue::node_type node = queue_.extract(queue_.begin());
  now_ = std::get<0>(node.key());
  node.mapped()();
  Spare(std::move(node));
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
