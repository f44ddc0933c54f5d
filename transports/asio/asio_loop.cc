#include "asio/asio_loop.h"

#include <algorithm>
#include <asio/error_code.hpp>
#include <asio/posix/descriptor_base.hpp>
#include <asio/post.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

#include "asio/handler_memory.h"
#include "asio/socket_set.h"
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
constexpr std::size_t kPollTurnsMax = 8;

TimePoint SteadyNow() {
  return TimePoint(std::chrono::duration_cast<Duration>(
      std::chrono::steady_clock::now().time_since_epoch()));
}

std::chrono::steady_clock::time_point Steady(TimePoint at) {
  return std::chrono::steady_clock::time_point(at.time_since_epoch());
}

}  // namespace

struct AsioLoop::TurnEnd {
  using allocator_type = HandlerAllocator<std::byte>;
  allocator_type get_allocator() const {
    return allocator_type(loop->turn_end_memory_);
  }
  void operator()() const { loop->EndTurn(); }

  AsioLoop* loop;
};

struct AsioLoop::SocketsReady {
  using allocator_type = HandlerAllocator<std::byte>;
  allocator_type get_allocator() const {
    return allocator_type(loop->sockets_memory_);
  }
  void operator()(const asio::error_code& error) const {
    if (!error) loop->TurnSockets();
  }

  AsioLoop* loop;
};

AsioLoop::AsioLoop() { AwaitSockets(); }

AsioLoop::~AsioLoop() {
  // What dies with the context must not post to it.
  end_requested_ = true;
  EndDrains();
  sockets_ready_.release();
}

void AsioLoop::Run() {
  running_ = true;
  events_left_ = SIZE_MAX;
  while (in_turn_ || !stopping_.load(std::memory_order_acquire)) {
    // A wait with a deadline costs no system call more than one without; a
    // timer of Asio's would cost two each time the first alarm moves. It rounds
    // up to a millisecond, so alarms are late by up to that.
    if (end_requested_ || next_alarm() == kNever) {
      context_.run_one();
    } else if (context_.run_one_until(Steady(next_alarm())) == 0) {
      RequestTurnEnd();
    }
  }
  running_ = false;
}

std::size_t AsioLoop::Poll(TimePoint now, std::size_t events_max) {
  set_now(now);
  if (next_alarm() <= now) RequestTurnEnd();
  const std::size_t turns_before = turns_ended_;
  events_left_ = events_max;
  while (events_left_ > 0 && turns_ended_ - turns_before < kPollTurnsMax) {
    const std::size_t left_before = events_left_;
    if (context_.poll_one() == 0) break;
    // That of the sockets has counted them.
    if (events_left_ == left_before) --events_left_;
  }
  return events_max - events_left_;
}

void AsioLoop::Post(std::function<void()> task) {
  asio::post(context_, [this, task = std::move(task)] {
    BeginTurn();
    task();
  });
}

void AsioLoop::Stop() {
  stopping_.store(true, std::memory_order_release);
  asio::post(context_, [] {});  // wakes it
}

void AsioLoop::BeginTurn() {
  CountEvent();
  if (in_turn_) return;
  in_turn_ = true;
  if (running_) set_now(SteadyNow());
  RequestTurnEnd();
}

void AsioLoop::AdvanceTo(TimePoint now) {
  if (!in_turn_) set_now(std::max(now, this->now()));
}

stream::MaskKeys& AsioLoop::mask_keys(Entropy& entropy) {
  for (const Masking& row : masking_) {
    if (row.entropy == &entropy) return *row.keys;
  }
  masking_.push_back({&entropy, std::make_unique<stream::MaskKeys>(entropy)});
  return *masking_.back().keys;
}

void AsioLoop::RequestTurnEnd() {
  if (end_requested_) return;
  end_requested_ = true;
  if (!turning_sockets_) asio::post(context_, TurnEnd{this});
}

void AsioLoop::AwaitSockets() {
  sockets_ready_.async_wait(asio::posix::descriptor_base::wait_read,
                            SocketsReady{this});
}

void AsioLoop::TurnSockets() {
  // An end that is posted already is that of this turn too.
  const bool ends_here = !end_requested_;
  turning_sockets_ = ends_here;
  events_left_ -= sockets_.Dispatch(events_left_);
  turning_sockets_ = false;
  if (ends_here && end_requested_) EndTurn();
  AwaitSockets();
}

void AsioLoop::EndTurn() {
  if (!in_turn_ && running_) set_now(SteadyNow());
  end_requested_ = false;
  in_turn_ = true;
  RunTurnEnd();
  in_turn_ = false;
  ++turns_ended_;
}

}  // namespace net_internal

NetLoop::NetLoop() : loop_(std::make_unique<net_internal::AsioLoop>()) {}
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
