#include "net/epoll_loop.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

#include "net/task_queue.h"
#include "parlor/entropy.h"
#include "parlor/time.h"
#include "parlor/transports/net_loop.h"
#include "parlor/transports/turn_work.h"
#include "stream/websocket_codec.h"

namespace parlor {
namespace net_internal {
namespace {

// A Poll that found work looks for more, up to so many turns: what was sent
// between two Polls has a turn of its own, and what arrived meanwhile must not
// wait for another frame of the game. Two ends on one loop that answer each
// other without pause would never let go otherwise.
constexpr int kPollTurnsMax = 8;

TimePoint SteadyNow() {
  return TimePoint(std::chrono::duration_cast<Duration>(
      std::chrono::steady_clock::now().time_since_epoch()));
}

class Function final : public TaskQueue::Task {
 public:
  Function(EpollLoop& loop, std::function<void()> function)
      : loop_(loop), function_(std::move(function)) {}

  void Run() override {
    loop_.BeginTurn();
    function_();
  }

 private:
  EpollLoop& loop_;
  std::function<void()> function_;
};

}  // namespace

void EpollLoop::Run() {
  running_ = true;
  while (in_turn_ || !stopping_.load()) {
    Sleep();
    // First: what was asked for before something arrived is done before it.
    tasks_.Run(SIZE_MAX);
    sockets_.Dispatch();
    if (end_requested_) EndTurn();
  }
  running_ = false;
}

// Until there is something to do.
void EpollLoop::Sleep() {
  Duration longest = Duration::zero();
  if (!end_requested_ && tasks_.MaySleep() && !stopping_.load()) {
    longest =
        next_alarm() == kNever ? Duration::max() : next_alarm() - SteadyNow();
  }
  const std::size_t found = sockets_.Wait(SIZE_MAX, longest);
  tasks_.DoneSleeping();
  if (found == 0 && next_alarm() != kNever) end_requested_ = true;
}

std::size_t EpollLoop::Poll(TimePoint now, std::size_t events_max) {
  set_now(now);
  if (next_alarm() <= now) end_requested_ = true;
  std::size_t left = events_max;
  for (int turns = 0; turns < kPollTurnsMax && left > 0; ++turns) {
    // Else there may be tasks that came behind the step of theirs.
    const bool whole = next_step_ == Step::kTasks;
    if (next_step_ == Step::kTasks) {
      left -= tasks_.Run(left);
      if (tasks_.running()) break;
      next_step_ = Step::kSockets;
      if (left == 0) break;
    }
    if (next_step_ == Step::kSockets) {
      left -= sockets_.Wait(left, Duration::zero());
      sockets_.Dispatch();
      next_step_ = Step::kEnd;
    }
    if (left == 0 && end_requested_) break;
    next_step_ = Step::kTasks;
    if (end_requested_) {
      EndTurn();
      --left;
    } else if (whole) {
      break;
    }
  }
  return events_max - left;
}

void EpollLoop::Post(std::function<void()> task) {
  tasks_.Add(std::make_shared<Function>(*this, std::move(task)));
}

void EpollLoop::Stop() {
  stopping_.store(true);
  tasks_.Wake();
}

void EpollLoop::BeginTurn() {
  CountEvent();
  if (in_turn_) return;
  in_turn_ = true;
  if (running_) set_now(SteadyNow());
  end_requested_ = true;
}

void EpollLoop::AdvanceTo(TimePoint now) {
  if (!in_turn_) set_now(std::max(now, this->now()));
}

stream::MaskKeys& EpollLoop::mask_keys(Entropy& entropy) {
  for (const Masking& row : masking_) {
    if (row.entropy == &entropy) return *row.keys;
  }
  masking_.push_back({&entropy, std::make_unique<stream::MaskKeys>(entropy)});
  return *masking_.back().keys;
}

void EpollLoop::EndTurn() {
  if (!in_turn_ && running_) set_now(SteadyNow());
  end_requested_ = false;
  in_turn_ = true;
  RunTurnEnd();
  in_turn_ = false;
}

}  // namespace net_internal

NetLoop::NetLoop() : loop_(std::make_unique<net_internal::EpollLoop>()) {}
NetLoop::~NetLoop() = default;

void NetLoop::Run() { loop_->Run(); }

std::size_t NetLoop::Poll(TimePoint now, std::size_t events_max) {
  return loop_->Poll(now, events_max);
}

TimePoint NetLoop::next_alarm() const { return loop_->next_alarm(); }

void NetLoop::Post(std::function<void()> task) { loop_->Post(std::move(task)); }

void NetLoop::Stop() { loop_->Stop(); }

TurnWork NetLoop::busiest_turn() const { return loop_->busiest_turn(); }

TimePoint NetLoop::now() const { return loop_->now(); }

}  // namespace parlor
