#include "net/door_thread.h"

#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "logic/door.h"
#include "logic/handover.h"
#include "net/epoll_loop.h"
#include "net/inbox.h"
#include "parlor/check.h"
#include "parlor/close_reason.h"
#include "parlor/entropy.h"
#include "parlor/host/room_store.h"
#include "parlor/host/shard.h"
#include "parlor/transports/net_loop.h"

namespace parlor::host {

DoorThread::DoorThread(NetLoop* loop, const Options& options, Entropy& entropy)
    : loop_(loop != nullptr ? *loop : own_loop_.emplace()),
      waker_(loop_.internal(), [this] { door_.OnWake(); }),
      arrivals_waker_(loop_.internal(), [this] { TakeArrivals(); }),
      room_maker_(loop_.internal(), [this] { CutLeavers(); }),
      door_(
          loop_.internal(), [this] { waker_.Wake(); }, options.shard,
          options.stream, entropy),
      inbox_(std::make_shared<Inbox>(door_, loop_)) {}

DoorThread::~DoorThread() {
  Join();
  inbox_->Shut();
}

void DoorThread::KeepIn(RoomStore& store, std::vector<KeptRoom> rooms) {
  door_.shard().SetStore(&store);
  // The loop has no time before its first turn, and nobody is handed over
  // before this.
  loop_.Post([this, rooms = std::move(rooms)] {
    for (const KeptRoom& room : rooms) {
      PARLOR_CHECK(door_.shard().Restore(loop_.now(), room.number, room.state));
    }
  });
}

void DoorThread::Start() {
  thread_ = std::thread([this] { loop_.Run(); });
}

void DoorThread::Join() {
  if (!thread_.joinable()) return;
  loop_.Stop();
  thread_.join();
}

void DoorThread::HandOver(Handover handover) {
  {
    const std::lock_guard lock(mutex_);
    arrivals_.push_back(std::move(handover));
  }
  arrivals_waker_.Wake();
}

void DoorThread::Drain() {
  loop_.Post([this] { door_.Drain(); });
}

void DoorThread::SetOptions(const ShardOptions& options) {
  loop_.Post([this, options] { door_.shard().SetOptions(options); });
}

void DoorThread::End(CloseReason reason, std::function<void()> ended) {
  {
    const std::lock_guard lock(mutex_);
    end_ = [this, reason, ended = std::move(ended)] {
      door_.End(reason, ended);
    };
  }
  arrivals_waker_.Wake();
}

void DoorThread::TakeArrivals() {
  for (std::size_t i = 0; i < kHandoversPerTurn; ++i) {
    std::unique_lock lock(mutex_);
    if (arrivals_.empty()) {
      const std::function<void()> end = std::exchange(end_, nullptr);
      lock.unlock();
      if (end) end();
      return;
    }
    Handover handover = std::move(arrivals_.front());
    arrivals_.pop_front();
    lock.unlock();
    door_.OnHandover(std::move(handover));
  }
  arrivals_waker_.Wake();  // there may be more
}

void DoorThread::CutLeavers() {
  std::size_t left = kHandoversPerTurn;
  while (left > 0 && loop_.internal().CutLeaver()) --left;
}

}  // namespace parlor::host
