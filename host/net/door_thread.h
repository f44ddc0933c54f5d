// DoorThread: a door, the loop it is on, and the thread that turns that.
//
// A server without threads has one door, on the loop that it turns itself.
#ifndef PARLOR_HOST_NET_DOOR_THREAD_H_
#define PARLOR_HOST_NET_DOOR_THREAD_H_

#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "logic/door.h"
#include "logic/handover.h"
#include "net/inbox.h"
#include "net/waker.h"
#include "parlor/close_reason.h"
#include "parlor/entropy.h"
#include "parlor/host/room_store.h"
#include "parlor/host/shard.h"
#include "parlor/transports/net_loop.h"
#include "parlor/transports/stream_options.h"

namespace parlor::host {

class DoorThread {
 public:
  // Of the clients that were handed over, so many are let in a turn, as the
  // front accepts them: a crowd at the door does not keep those inside waiting.
  static constexpr std::size_t kHandoversPerTurn = 16;

  struct Options {
    ShardOptions shard;
    StreamOptions stream;
  };

  // On `loop`, which outlives it, or on one of its own. `entropy` outlives it.
  DoorThread(NetLoop* loop, const Options& options, Entropy& entropy);
  // After Join, or where there is no thread, on the loop's.
  ~DoorThread();
  DoorThread(const DoorThread&) = delete;
  DoorThread& operator=(const DoorThread&) = delete;

  // Before KeepIn. Rooms are recorded there, which outlives it.
  void RecordIn(RoomRecords& records) { door_.shard().SetRecords(&records); }
  // Before Start. Matches are kept in `store`, which outlives it; `rooms`,
  // which are among the shard's, go on in the first turn of the loop.
  void KeepIn(RoomStore& store, std::vector<KeptRoom> rooms);

  // Throws std::system_error when the system has no thread for it.
  void Start();
  // Ends the thread, if there is one.
  void Join();

  // Any thread; done in a turn of the loop. Handovers in the order of the
  // calls, kHandoversPerTurn at most, and End behind all of them.
  void HandOver(Handover handover);
  void End(CloseReason reason, std::function<void()> ended);
  // Any thread; in the next turn of the loop, whoever is still at the door.
  void Drain();
  void SetOptions(const ShardOptions& options);

  // Any thread: those who have been leaving longest, kHandoversPerTurn of them
  // at most, make room for others.
  void MakeRoom() { room_maker_.Wake(); }

  NetLoop& loop() { return loop_; }
  const std::shared_ptr<Inbox>& inbox() const { return inbox_; }
  // Of it only what says that it may be asked from any thread.
  const Shard& shard() const { return door_.shard(); }

 private:
  void TakeArrivals();
  void CutLeavers();

  std::optional<NetLoop> own_loop_;
  NetLoop& loop_;
  net_internal::Waker waker_;  // of door_'s pipes
  net_internal::Waker arrivals_waker_;
  net_internal::Waker room_maker_;
  std::mutex mutex_;  // of what other threads put here
  std::deque<Handover> arrivals_;
  std::function<void()> end_;  // behind them
  Door door_;
  std::shared_ptr<Inbox> inbox_;
  std::thread thread_;
};

}  // namespace parlor::host

#endif  // PARLOR_HOST_NET_DOOR_THREAD_H_
