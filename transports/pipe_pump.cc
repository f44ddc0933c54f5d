#include "pipe_pump.h"

#include <algorithm>

#include "parlor/check.h"
#include "pipe_end.h"

namespace parlor::pipe_internal {

namespace {

// With thousands of pipes nothing of one is in the cache when its turn comes.
// So what some of the next sides need is fetched while one is worked on. Sides
// of a list are in memory as long as they are on it.
constexpr std::size_t kFetchSides = 12;
constexpr std::size_t kFetchEnds = 10;
constexpr std::size_t kFetchHandlers = 4;

void FetchSide(const std::vector<Side*>& sides, std::size_t at) {
  if (at < sides.size()) __builtin_prefetch(sides[at], 1);
}

void FetchEnds(const std::vector<Side*>& sides, std::size_t at) {
  FetchSide(sides, at + kFetchEnds + kFetchSides);
  if (at + kFetchEnds < sides.size() && sides[at + kFetchEnds] != nullptr) {
    const Side& side = *sides[at + kFetchEnds];
    const auto index =
        static_cast<std::size_t>(&side - side.pipe->sides.data());
    static_cast<const PipeBlock*>(side.pipe)->Prefetch(index);
  }
  const Side* side =
      at + kFetchHandlers < sides.size() ? sides[at + kFetchHandlers] : nullptr;
  if (side != nullptr) {
    const PipeEnd* end = side->end;
    if (end != nullptr) end->PrefetchHandler();
  }
}

}  // namespace

void CloseRecord::Set(CloseCode new_code, std::string_view new_text) {
  PARLOR_CHECK(new_text.size() <= text.size());
  code = new_code;
  text_size = static_cast<std::uint8_t>(new_text.size());
  std::copy(new_text.begin(), new_text.end(), text.begin());
}

Pipe::Pipe(std::size_t reliable_bytes_max, std::shared_ptr<Pump> first,
           std::shared_ptr<Pump> second)
    : directions{Direction{reliable_bytes_max, first == second},
                 Direction{reliable_bytes_max, first == second}},
      pumps{std::move(first), std::move(second)} {
  for (std::size_t i = 0; i < sides.size(); ++i) {
    sides[i].pipe = this;
    sides[i].pump = pumps[i].get();
    sides[i].one_thread = pumps[0] == pumps[1];
  }
}

void DropShare(Pipe& pipe) {
  if (pipe.shares.fetch_sub(1, std::memory_order_acq_rel) == 1) {
    delete static_cast<PipeBlock*>(&pipe);
  }
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
  for (Side* side : left_) DropOrphan(*side, Side::Orphan::kOnActiveList);
  for (Side* side : *local_) DropOrphan(*side, Side::Orphan::kOnReadyList);
  left_.clear();
  local_->clear();
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
  return !left_.empty() || !local_->empty() ||
         remote_.load(std::memory_order_relaxed) != nullptr;
}

TimePoint Pump::next_alarm() const {
  return lingering_.empty() ? kNever : lingering_.begin()->first.first;
}

// True when `side`, taken off a ready list, gets a turn for that. `ready` turns
// false before the end looks, so that what comes after its look puts it on the
// ready list again.
bool Pump::Activate(Side& side) {
  if (side.end == nullptr) {
    if (side.active) {
      side.orphan = Side::Orphan::kOnActiveList;
    } else {
      DropShare(*side.pipe);
    }
    return false;
  }
  Swap(side.ready, false, side.one_thread);
  PipeEnd::Look(side);
  return !std::exchange(side.active, true);
}

// Makes `work`, which holds what this thread made ready, all that gets a turn:
// what was left first, then that, then what other threads made ready. Null
// where there is none.
void Pump::TakeReady(std::vector<Side*>& work) {
  const std::size_t left = left_.size();
  if (left > 0) {
    work.insert(work.begin(), left_.begin(), left_.end());
    left_.clear();
    for (std::size_t i = 0; i < left; ++i) {
      if (work[i]->end != nullptr) PipeEnd::Look(*work[i]);
    }
  }
  if (remote_.load(std::memory_order_relaxed) != nullptr) {
    const auto local = static_cast<std::ptrdiff_t>(work.size());
    Side* last = remote_.exchange(nullptr, std::memory_order_acquire);
    for (; last != nullptr; last = last->next_ready) work.push_back(last);
    std::reverse(work.begin() + local, work.end());  // they come newest first
  }
  for (std::size_t i = left; i < work.size(); ++i) {
    FetchSide(work, i + kFetchSides);
    if (!Activate(*work[i])) work[i] = nullptr;
  }
}

std::size_t Pump::Run(TimePoint now, std::size_t messages_max) {
  PARLOR_CHECK(!running_);
  running_ = true;
  // Before the lists are taken: a wake that we do not see the cause of yet
  // must be said again.
  if (has_wake_) woken_.exchange(false, std::memory_order_acq_rel);
  EndLingers(now);
  std::vector<Side*>& work = *local_;
  local_ = local_ == &lists_[0] ? &lists_[1] : &lists_[0];
  TakeReady(work);

  Turn turn{now, messages_max};
  Side* cut_short = nullptr;
  for (std::size_t i = 0; i < work.size(); ++i) {
    FetchEnds(work, i);
    if (work[i] == nullptr) continue;
    Side& side = *work[i];
    const bool had_budget = turn.budget > 0;
    const bool more = side.end != nullptr && side.end->Deliver(turn);
    if (more && had_budget) {
      cut_short = &side;  // its turn comes behind those that had none
    } else if (more) {
      left_.push_back(&side);
    } else {
      side.active = false;
      if (side.end == nullptr) DropOrphan(side, Side::Orphan::kOnActiveList);
    }
  }
  work.clear();
  if (cut_short != nullptr) left_.push_back(cut_short);
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
