#include "sim/virtual_loop.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "parlor/executor.h"
#include "parlor/time.h"

namespace parlor::sim {

void VirtualEvent::RunAt(TimePoint at) {
  Cancel();
  due_ = true;
  event_ = loop_.executor_.At(at, [this] { Run(); });
}

void VirtualEvent::RunSoon() {
  if (!due_) RunAt(loop_.executor_.now());
}

void VirtualEvent::Cancel() {
  if (std::exchange(due_, false)) loop_.executor_.Cancel(event_);
}

void VirtualEvent::Run() {
  if (loop_.executor_.now() < loop_.stalled_until_) {
    event_ = loop_.executor_.At(loop_.stalled_until_, [this] { Run(); });
    return;
  }
  due_ = false;
  OnEvent();
}

void VirtualLoop::Post(std::function<void()> task) {
  tasks_.push_back(std::move(task));
  task_.RunSoon();
}

void VirtualLoop::StallUntil(TimePoint until) {
  stalled_until_ = std::max(stalled_until_, until);
}

void VirtualLoop::RequestTurnEnd() { turn_.RunSoon(); }

void VirtualLoop::EndTurn() {
  RunTurnEnd();
  if (alarm_.is_due() && next_alarm() == alarm_at_) return;
  alarm_.Cancel();
  alarm_at_ = next_alarm();
  if (alarm_at_ != kNever) alarm_.RunAt(alarm_at_);
}

void VirtualLoop::RunTask() {
  const std::function<void()> task = std::move(tasks_.front());
  tasks_.pop_front();
  if (!tasks_.empty()) task_.RunSoon();
  task();
}

}  // namespace parlor::sim
