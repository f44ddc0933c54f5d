// StreamLoop: what connections over byte streams need of the loop they live on,
// whatever turns it: Asio on a socket host, virtual time in tests and in the
// simulator.
//
// A turn begins with the first event, or the first piece of work that asks for
// one, and ends with RunTurnEnd, which its owner calls behind the events that
// were ready: what was scheduled runs then, and alarms that are due. What is
// scheduled in there waits for the next turn, so that a turn is bounded.
#ifndef PARLOR_TRANSPORTS_STREAM_STREAM_LOOP_H_
#define PARLOR_TRANSPORTS_STREAM_STREAM_LOOP_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "parlor/entropy.h"
#include "parlor/time.h"
#include "stream/byte_stream.h"
#include "stream/segments.h"

namespace parlor::stream {

class StreamLoop;

// One that lives on a loop: it can be scheduled for the end of the turn and has
// one alarm. Its destruction takes it out of both.
class LoopMember {
 public:
  explicit LoopMember(StreamLoop& loop) : loop_(loop) {}
  LoopMember(const LoopMember&) = delete;
  LoopMember& operator=(const LoopMember&) = delete;

  StreamLoop& loop() const { return loop_; }

  // OnTurnEnd will come, once, at the end of this turn (of the next one, if
  // this one is ending).
  void Schedule();
  // OnAlarm will come in the first turn at or after `at`; kNever: not at all.
  void SetAlarm(TimePoint at);

 protected:
  ~LoopMember();

  // Both may destroy the member, and others.
  virtual void OnTurnEnd() = 0;
  virtual void OnAlarm() = 0;

 private:
  friend class StreamLoop;

  static constexpr std::uint32_t kNoAlarm = UINT32_MAX;

  StreamLoop& loop_;
  // Its neighbours in the list of those that are scheduled; null: it is not.
  LoopMember* previous_ = nullptr;
  LoopMember* next_ = nullptr;
  std::uint32_t alarm_index_ = kNoAlarm;
};

class StreamLoop {
 public:
  StreamLoop();
  virtual ~StreamLoop();
  StreamLoop(const StreamLoop&) = delete;
  StreamLoop& operator=(const StreamLoop&) = delete;

  // Of the present turn.
  TimePoint now() const { return now_; }

  // When the first alarm is due.
  TimePoint next_alarm() const {
    return alarms_.empty() ? kNever : alarms_.front().at;
  }

  // Where a stream is read into, for as long as one event is being handled.
  // What has to stay is copied out of it.
  std::span<std::byte> read_buffer() { return read_buffer_; }

  // What queues are made of.
  SegmentPool& segments() { return segments_; }

  // Takes over a stream whose connection is done: writes `rest`, ends our
  // direction, reads and discards until the peer has ended too, and gives up at
  // `deadline`. Closing with unread input would reset the link and lose what
  // was written last.
  void Drain(std::unique_ptr<ByteStream> stream, Segments rest,
             TimePoint deadline);
  std::size_t draining() const { return draining_count_; }

 protected:
  void set_now(TimePoint now) { now_ = now; }

  // Arranges for RunTurnEnd behind what is ready now. Called when something is
  // scheduled and no turn end was asked for since the last one.
  virtual void RequestTurnEnd() = 0;
  void RunTurnEnd();

  // True when RunTurnEnd has something to do at `now`.
  bool has_work() const;

  // Ends all drains: for the destructor of the one that owns the streams' home.
  void DropDrains();

 private:
  friend class LoopMember;
  class Draining;
  struct AlarmEntry {
    TimePoint at;
    LoopMember* member;
  };

  void Schedule(LoopMember& member);
  void Unschedule(LoopMember& member);
  void SetAlarm(LoopMember& member, TimePoint at);
  void RunAlarms();
  void Place(std::size_t index, AlarmEntry entry);
  void SiftUp(std::size_t index);
  void SiftDown(std::size_t index);

  TimePoint now_{};
  bool turn_end_requested_ = false;
  // Circular lists with a head of their own.
  struct ListHead;
  std::unique_ptr<ListHead> scheduled_;
  std::unique_ptr<ListHead> running_;
  std::vector<AlarmEntry> alarms_;  // a binary heap
  std::vector<std::byte> read_buffer_;
  SegmentPool segments_;
  std::unique_ptr<ListHead> draining_;
  std::size_t draining_count_ = 0;
};

inline void LoopMember::Schedule() {
  if (next_ == nullptr) loop_.Schedule(*this);
}
inline void LoopMember::SetAlarm(TimePoint at) { loop_.SetAlarm(*this, at); }

}  // namespace parlor::stream

#endif  // PARLOR_TRANSPORTS_STREAM_STREAM_LOOP_H_
