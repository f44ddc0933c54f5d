// The pump of a memory pipe's ends, and the control block that two ends share.
//
// A Side is what the other end can reach of an end: a node for its pump's
// ready list. It lives in the control block, not in the end, so that a node
// may still be on a list when its end is gone: the end's share in the block
// then belongs to that list.
#ifndef PARLOR_TRANSPORTS_PIPE_PUMP_H_
#define PARLOR_TRANSPORTS_PIPE_PUMP_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string_view>
#include <utility>

#include "parlor/close_reason.h"
#include "parlor/time.h"
#include "pipe_lane.h"

namespace parlor::pipe_internal {

class PipeEnd;
class Pump;
struct Pipe;

// How a direction ended, said by its producer.
enum class EndOfLane : std::uint8_t {
  kNone,
  kClosed,   // the close record counts, behind what was queued
  kAborted,  // what was queued is lost
};

struct CloseRecord {
  CloseCode code = 0;
  std::uint8_t text_size = 0;
  std::array<char, kCloseTextMax> text;

  void Set(CloseCode new_code, std::string_view new_text);
  std::string_view view() const { return {text.data(), text_size}; }
};

struct Direction {
  Direction(std::size_t reliable_bytes_max, bool one_thread)
      : lane(reliable_bytes_max, one_thread), mailbox(one_thread) {}

  ReliableLane lane;
  Mailbox mailbox;
  std::atomic<EndOfLane> end{EndOfLane::kNone};  // producer
  std::atomic<bool> close_taken{false};          // consumer
  CloseRecord record;  // the producer's, before `end` becomes kClosed
};

struct Side {
  // Who drops the share of an end that is gone.
  enum class Orphan : std::uint8_t { kNone, kOnReadyList, kOnActiveList };

  Pipe* pipe = nullptr;
  std::shared_ptr<Pump> pump;
  bool one_thread = false;  // both ends are on one pump
  // On the ready list; stays true when the end is gone, so that nobody puts it
  // there again.
  std::atomic<bool> ready{false};
  Side* next_ready = nullptr;  // whoever turned `ready` true, then the pump

  // The pump's thread only.
  PipeEnd* end = nullptr;
  Side* next_active = nullptr;
  bool active = false;
  Orphan orphan = Orphan::kNone;
};

struct Pipe {
  Pipe(std::size_t reliable_bytes_max, std::shared_ptr<Pump> first,
       std::shared_ptr<Pump> second);

  std::atomic<int> shares{2};
  std::array<Side, 2> sides;
  std::array<Direction, 2> directions;  // [i] from side i to the other
};

void DropShare(Pipe& pipe);

// First in, first out, linked through one of a Side's two links.
template <Side* Side::*kNext>
class SideList {
 public:
  bool empty() const { return first_ == nullptr; }

  void Push(Side& side) {
    side.*kNext = nullptr;
    (first_ == nullptr ? first_ : last_->*kNext) = &side;
    last_ = &side;
  }

  Side& Pop() {
    Side& side = *first_;
    first_ = side.*kNext;
    return side;
  }

  // The list is empty then and the side first in a chain of its own.
  Side* TakeAll() { return std::exchange(first_, nullptr); }

  template <typename Visit>
  void ForEach(Visit visit) {
    for (Side* side = first_; side != nullptr; side = side->*kNext) {
      visit(*side);
    }
  }

 private:
  Side* first_ = nullptr;
  Side* last_ = nullptr;
};

class Pump {
 public:
  // Where a lingering end stands in the pump's table.
  using LingerKey = std::pair<TimePoint, std::uint64_t>;

  void SetWake(std::function<void()> wake);
  // PipePump::Pump.
  std::size_t Run(TimePoint now, std::size_t messages_max);
  bool has_ready() const;
  TimePoint next_alarm() const;

  // Nothing is reached through this pump any more, except by late Notify calls
  // of other threads, which then do nothing.
  void Shut();

  // Whoever makes the pipe.
  void Attach() { ends_.fetch_add(1, std::memory_order_relaxed); }

  // The pump's own thread.
  void Detach(Side& side);
  LingerKey StartLinger(TimePoint deadline, PipeEnd& end);
  void StopLinger(const LingerKey& key) { lingering_.erase(key); }

  // Puts `side`, which is one of this pump's, on the ready list. `own_thread`:
  // the caller is on the pump's thread for sure.
  void Notify(Side& side, bool own_thread) {
    if (Swap(side.ready, true, side.one_thread)) return;
    if (own_thread) {
      NotifyHere(side);
    } else {
      NotifyFromElsewhere(side);
    }
  }

 private:
  void NotifyHere(Side& side) {
    const bool first = local_.empty();
    local_.Push(side);
    if (first && has_wake_) Wake();
  }
  void NotifyFromElsewhere(Side& side);
  void Wake();
  void Activate(Side& side);
  void TakeReady();
  void EndLingers(TimePoint now);
  void DropOrphan(Side& side, Side::Orphan list);

  // Stands for the whole list once the pump is gone.
  static Side* shut() { return &shut_; }
  static Side shut_;

  // The pump's own thread.
  SideList<&Side::next_ready> local_;
  SideList<&Side::next_active> active_;
  std::map<LingerKey, PipeEnd*> lingering_;
  std::uint64_t lingers_ = 0;
  bool running_ = false;
  bool has_wake_ = false;

  // Any thread: the last notified side, linked to those before it.
  alignas(kCacheLine) std::atomic<Side*> remote_{nullptr};
  std::atomic<bool> woken_{false};
  std::atomic<std::size_t> ends_{0};
  std::mutex wake_mutex_;  // guards wake_ against Shut
  std::function<void()> wake_;
};

}  // namespace parlor::pipe_internal

#endif  // PARLOR_TRANSPORTS_PIPE_PUMP_H_
