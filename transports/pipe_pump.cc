#include "pipe_pump.h"

#include <algorithm>

#include "parlor/check.h"
#include "pipe_end.h"

namespace parlor::pipe_internal {

void CloseRecord::Set(CloseCode new_code, std::string_view new_text) {
  PARLOR_CHECK(new_text.size() <= text.size());
  code = new_code;
  text_size = static_cast<std::uint8_t>(new_text.size());
  std::copy(new_text.begin(), new_text.end(), text.begin());
}

Pipe::Pipe(std::size_t reliable_bytes_max, std::shared_ptr<Pump> first,
           std::shared_ptr<Pump> second)
    : directions{Direction{reliable_bytes_max, first == second},
                 Direction{reliable_bytes_max, first == second}} {
  for (Side& side : sides) {
    side.pipe = this;
    side.one_thread = first == second;
  }
  sides[0].pump = std::move(first);
  sides[1].pump = std::move(second);
}

void DropShare(Pipe& pipe) {
  if (pipe.shares.fetch_sub(1, std::memory_order_acq_rel) == 1) delete &pipe;
}

Side Pump::shut_;

void Pump::SetWake(std::function<void()> wake) {
  PARLOR_CHECK(ends_ == 0);
  const std::lock_guard lock(wake_mutex_);
  wake_ = std::move(wake);
  has_wake_ = wake_ != nullptr;
}

void Pump::Shut() {
  PARLOR_CHECK(ends_ == 0 && !running_);
  {
    const std::lock_guard lock(wake_mutex_);
    wake_ = nullptr;
  }
  // All that is left on the lists are orphans.
  while (!active_.empty())
    DropOrphan(active_.Pop(), Side::Orphan::kOnActiveList);
  while (!local_.empty()) DropOrphan(local_.Pop(), Side::Orphan::kOnReadyList);
  Side* side = remote_.exchange(shut(), std::memory_order_acq_rel);
  while (side != nullptr) {
    DropOrphan(*std::exchange(side, side->next_ready),
               Side::Orphan::kOnReadyList);
  }
}

void Pump::DropOrphan(Side& side, Side::Orphan list) {
  if (side.orphan == list) DropShare(*side.pipe);
}

void Pump::Detach(Side& side) {
  ends_.fetch_sub(1, std::memory_order_relaxed);
  side.end = nullptr;
  if (Swap(side.ready, true, side.one_thread)) {
    side.orphan = Side::Orphan::kOnReadyList;
  } else if (side.active) {
    side.orphan = Side::Orphan::kOnActiveList;
  } else {
    DropShare(*side.pipe);
  }
}

void Pump::NotifyFromElsewhere(Side& side) {
  Side* last = remote_.load(std::memory_order_relaxed);
  do {
    if (last == shut()) {
      // The end went before its pump and, since we had won `ready`, left its
      // share to the list.
      DropShare(*side.pipe);
      return;
    }
    side.next_ready = last;
  } while (!remote_.compare_exchange_weak(
      last, &side, std::memory_order_release, std::memory_order_acquire));
  if (last != nullptr) return;
  const std::lock_guard lock(wake_mutex_);
  if (wake_ && !woken_.exchange(true, std::memory_order_acq_rel)) wake_();
}

void Pump::Wake() {
  if (!woken_.exchange(true, std::memory_order_acq_rel)) wake_();
}

Pump::LingerKey Pump::StartLinger(TimePoint deadline, PipeEnd& end) {
  const LingerKey key(deadline, ++lingers_);
  lingering_.emplace(key, &end);
  return key;
}

void Pump::EndLingers(TimePoint now) {
  while (!lingering_.empty() && lingering_.begin()->first.first <= now) {
    lingering_.begin()->second->EndLinger();
  }
}

bool Pump::has_ready() const {
  return !active_.empty() || !local_.empty() ||
         remote_.load(std::memory_order_relaxed) != nullptr;
}

TimePoint Pump::next_alarm() const {
  return lingering_.empty() ? kNever : lingering_.begin()->first.first;
}

// From the ready list to the active one. `ready` turns false before the end
// looks, so that what comes after its look puts it on the ready list again.
void Pump::Activate(Side& side) {
  if (side.end == nullptr) {
    if (side.active) {
      side.orphan = Side::Orphan::kOnActiveList;
    } else {
      DropShare(*side.pipe);
    }
    return;
  }
  Swap(side.ready, false, side.one_thread);
  side.end->Look();
  if (side.active) return;
  side.active = true;
  active_.Push(side);
}

void Pump::TakeReady() {
  while (!local_.empty()) Activate(local_.Pop());
  if (remote_.load(std::memory_order_relaxed) == nullptr) return;
  Side* last = remote_.exchange(nullptr, std::memory_order_acquire);
  Side* first = nullptr;  // they come newest first
  while (last != nullptr) {
    Side* before = last->next_ready;
    last->next_ready = std::exchange(first, last);
    last = before;
  }
  while (first != nullptr) Activate(*std::exchange(first, first->next_ready));
}

std::size_t Pump::Run(TimePoint now, std::size_t messages_max) {
  PARLOR_CHECK(!running_);
  running_ = true;
  // Before the lists are taken: a wake that we do not see the cause of yet
  // must be said again.
  if (has_wake_) woken_.exchange(false, std::memory_order_acq_rel);
  EndLingers(now);
  active_.ForEach([](Side& side) {
    if (side.end != nullptr) side.end->Look();
  });
  TakeReady();

  Turn turn{now, messages_max};
  SideList<& Side::next_active> work = std::exchange(active_, {});
  Side* cut_short = nullptr;
  while (!work.empty()) {
    Side& side = work.Pop();
    const bool had_budget = turn.budget > 0;
    const bool more = side.end != nullptr && side.end->Deliver(turn);
    if (more && had_budget) {
      cut_short = &side;  // its turn comes behind those that had none
    } else if (more) {
      active_.Push(side);
    } else {
      side.active = false;
      if (side.end == nullptr) DropOrphan(side, Side::Orphan::kOnActiveList);
    }
  }
  if (cut_short != nullptr) active_.Push(*cut_short);
  running_ = false;
  return turn.calls;
}

}  // namespace parlor::pipe_internal

namespace parlor {

PipePump::PipePump() : pump_(std::make_shared<pipe_internal::Pump>()) {}
PipePump::~PipePump() { pump_->Shut(); }

void PipePump::SetWake(std::function<void()> wake) {
  pump_->SetWake(std::move(wake));
}

std::size_t PipePump::Pump(TimePoint now, std::size_t messages_max) {
  return pump_->Run(now, messages_max);
}

bool PipePump::has_ready() const { return pump_->has_ready(); }
TimePoint PipePump::next_alarm() const { return pump_->next_alarm(); }

}  // namespace parlor
