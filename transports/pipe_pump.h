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
#include <vector>

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
  std::atomic<bool> close_taken{false};  // consumer
  CloseRecord record;  // the producer's, before it says kClosed
};

// One line of memory: what a pump looks at before any end gets its turn.
struct alignas(kCacheLine) Side {
  // Who drops the share of an end that is gone.
  enum class Orphan : std::uint8_t { kNone, kOnReadyList, kOnActiveList };

  Pipe* pipe = nullptr;
  Pump* pump = nullptr;        // the pipe keeps it
  Side* next_ready = nullptr;  // whoever turned `ready` true, then the pump
  PipeEnd* end = nullptr;      // from here on the pump's thread, unless it says

  // Said by the other end: how far the lane to this side was filled.
  std::atomic<std::uint64_t> tail{0};
  std::uint64_t mark = 0;  // and what the pump saw of that

  // On the ready list; stays true when the end is gone, so that nobody puts it
  // there again. Any thread.
  std::atomic<bool> ready{false};
  // There is news besides messages of the reliable lane. Any thread.
  std::atomic<bool> more{false};
  // Said by the other end: that it says no more. And what the pump saw.
  std::atomic<EndOfLane> ended{EndOfLane::kNone};
  EndOfLane seen_ended = EndOfLane::kNone;
  bool active = false;
  Orphan orphan = Orphan::kNone;
  bool one_thread = false;  // both ends are on one pump
};
static_assert(sizeof(Side) == kCacheLine);

struct Pipe {
  Pipe(std::size_t reliable_bytes_max, std::shared_ptr<Pump> first,
       std::shared_ptr<Pump> second);

  std::array<Side, 2> sides;
  std::array<Direction, 2> directions;  // [i] from side i to the other
  std::array<std::shared_ptr<Pump>, 2> pumps;
  std::atomic<int> shares{2};
};

void DropShare(Pipe& pipe);

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
    const bool first = local_->empty();
    local_->push_back(&side);
    if (first && has_wake_) Wake();
  }
  void NotifyFromElsewhere(Side& side);
  void Wake();
  bool Activate(Side& side);
  void TakeReady(std::vector<Side*>& work);
  void EndLingers(TimePoint now);
  void DropOrphan(Side& side, Side::Orphan list);

  // Stands for the whole list once the pump is gone.
  static Side* shut() { return &shut_; }
  static Side shut_;

  // The pump's own thread.
  std::array<std::vector<Side*>, 2> lists_;
  std::vector<Side*>* local_ = &lists_[0];  // ready, by calls on this thread
  std::vector<Side*> left_;  // active, but the last run's budget ended first
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
