#include "sim/endpoint.h"

#include <algorithm>
#include <cstddef>
#include <tuple>
#include <utility>

#include "parlor/check.h"
#include "parlor/time.h"
#include "sim/wire.h"

namespace parlor::sim {
namespace {

// No two are equal, so that the order is the same wherever it runs.
bool Before(const Side& a, const Side& b) {
  if (a.due != b.due) return a.due < b.due;
  return std::tuple(a.wire->number(), a.out) <
         std::tuple(b.wire->number(), b.out);
}

}  // namespace

void EndpointState::Add(Side& side) {
  heap_.push_back(&side);
  side.heap_index = heap_.size() - 1;
  SiftUp(side.heap_index);
}

void EndpointState::Retire(Side& side) {
  if (side.work_index != Side::kNowhere) work_[side.work_index] = nullptr;
  side.work_index = Side::kNowhere;
  SetDue(side, kNever);
}

void EndpointState::Remove(Side& side) {
  Retire(side);
  if (side.heap_index == Side::kNowhere) return;
  const std::size_t index = std::exchange(side.heap_index, Side::kNowhere);
  Side* const last = heap_.back();
  heap_.pop_back();
  if (last == &side) return;
  Place(*last, index);
  SiftUp(index);
  SiftDown(last->heap_index);
}

void EndpointState::SetDue(Side& side, TimePoint due) {
  if (side.heap_index == Side::kNowhere || due == side.due) return;
  const bool sooner = due < side.due;
  side.due = due;
  if (sooner) {
    SiftUp(side.heap_index);
  } else {
    SiftDown(side.heap_index);
  }
  Arm();
}

TimePoint EndpointState::next() const {
  if (heap_.empty() || heap_[0]->due == kNever) return kNever;
  return std::max(heap_[0]->due, stalled_until_);
}

std::size_t EndpointState::Run() {
  PARLOR_CHECK(!running_);
  const TimePoint now = network.now();
  if (now < stalled_until_ || heap_.empty() || heap_[0]->due > now) return 0;
  running_ = true;
  const std::size_t before = callbacks;
  const std::uint64_t mark = orders;
  // All of them look before the first one acts.
  while (!heap_.empty() && heap_[0]->due <= now) {
    Side& side = *heap_[0];
    side.due = kNever;
    SiftDown(0);
    side.work_index = work_.size();
    work_.push_back(&side);
    side.wire->Look(side);
  }
  for (std::size_t i = 0; i < work_.size(); ++i) {
    Side* const side = work_[i];
    if (side == nullptr) continue;
    side->work_index = Side::kNowhere;
    side->wire->Run(*side, now, mark);
  }
  work_.clear();
  running_ = false;
  Arm();
  return callbacks - before;
}

void EndpointState::Stall(TimePoint until) {
  stalled_until_ = std::max(stalled_until_, until);
  Arm();
}

void EndpointState::SetPower(bool on) {
  if (off == !on) return;
  off = !on;
  for (Side* side : heap_) side->wire->OnPower(on);
}

void EndpointState::End() {
  PARLOR_CHECK(heap_.empty());
  if (armed_ != kNever) network.executor().Cancel(event_);
}

void EndpointState::Place(Side& side, std::size_t index) {
  heap_[index] = &side;
  side.heap_index = index;
}

void EndpointState::SiftUp(std::size_t index) {
  Side& side = *heap_[index];
  while (index > 0) {
    const std::size_t parent = (index - 1) / 2;
    if (!Before(side, *heap_[parent])) break;
    Place(*heap_[parent], index);
    index = parent;
  }
  Place(side, index);
}

void EndpointState::SiftDown(std::size_t index) {
  Side& side = *heap_[index];
  for (;;) {
    std::size_t child = 2 * index + 1;
    if (child >= heap_.size()) break;
    if (child + 1 < heap_.size() && Before(*heap_[child + 1], *heap_[child])) {
      ++child;
    }
    if (!Before(*heap_[child], side)) break;
    Place(*heap_[child], index);
    index = child;
  }
  Place(side, index);
}

// One event of the executor's for all that lies ahead.
void EndpointState::Arm() {
  if (turn == Endpoint::Turn::kPolled || running_) return;
  const TimePoint at = next();
  if (at == armed_) return;
  Executor& executor = network.executor();
  if (armed_ != kNever) executor.Cancel(event_);
  armed_ = at;
  if (at == kNever) return;
  event_ = executor.At(at, [this] {
    armed_ = kNever;
    Run();
  });
}

}  // namespace parlor::sim
