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

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <span>
#include <vector>

#include "parlor/time.h"
#include "stream/byte_stream.h"
#include "stream/segments.h"

namespace parlor::stream {

class StreamLoop;

struct LoopLink {
  LoopLink* previous = nullptr;
  LoopLink* next = nullptr;
};

// One that lives on a loop: it can be scheduled for the end of the turn and has
// one alarm. Its destruction takes it out of both.
class LoopMember : private LoopLink {
 public:
  explicit LoopMember(StreamLoop& loop) : loop_(loop) {}
  LoopMember(const LoopMember&) = delete;
  LoopMember& operator=(const LoopMember&) = delete;
  virtual ~LoopMember();

  StreamLoop& loop() const { return loop_; }

  // OnTurnEnd will come, once, at the end of this turn (of the next one, if
  // this one is ending).
  void Schedule();
  // OnAlarm will come, once, in the first turn that ends at or after `at`;
  // kNever: not at all.
  void SetAlarm(TimePoint at);

 protected:
  // Both may destroy the member, and others.
  virtual void OnTurnEnd() = 0;
  virtual void OnAlarm() = 0;

 private:
  friend class StreamLoop;

  static constexpr std::size_t kNoAlarm = SIZE_MAX;

  StreamLoop& loop_;
  std::size_t alarm_index_ = kNoAlarm;  // in the loop's heap
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
  // was written last. No event of the stream comes to anyone else any more.
  // When too many drain, the one that has drained longest is dropped.
  void Drain(std::unique_ptr<ByteStream> stream, Segments rest,
             TimePoint deadline);
  std::size_t draining() const { return drains_.size(); }
  // For who has no room for another stream. False: nothing drains. Not inside
  // an event of a stream.
  bool DropOldestDrain();

 protected:
  void set_now(TimePoint now) { now_ = now; }

  // Arranges for RunTurnEnd behind what is ready now. Called once from one
  // RunTurnEnd to the next: when the first member is scheduled, or an alarm is
  // set that is now the first one due (so that its owner looks at next_alarm).
  virtual void RequestTurnEnd() = 0;
  void RunTurnEnd();

  // Drops the streams that are draining: for an owner of what they live on.
  void EndDrains();

 private:
  friend class LoopMember;
  class Draining;
  struct Alarm {
    TimePoint at;
    LoopMember* member;
  };

  static bool IsEmpty(const LoopLink& list) { return list.next == &list; }
  static void Unlink(LoopLink& link);

  void Request();
  void Schedule(LoopMember& member);
  void SetAlarm(LoopMember& member, TimePoint at);
  void RunAlarms();
  void RemoveAlarm(std::size_t index);
  void Place(std::size_t index, Alarm alarm);
  void SiftUp(std::size_t index, Alarm alarm);
  void SiftDown(std::size_t index, Alarm alarm);

  TimePoint now_{};
  bool turn_end_requested_ = false;
  LoopLink scheduled_;         // circular lists, these their heads
  LoopLink ending_;            // scheduled for the turn that is ending
  std::vector<Alarm> alarms_;  // a binary heap
  std::vector<std::byte> read_buffer_;
  SegmentPool segments_;
  std::list<std::unique_ptr<Draining>> drains_;
};

inline void LoopMember::Schedule() {
  if (next == nullptr) loop_.Schedule(*this);
}
inline void LoopMember::SetAlarm(TimePoint at) { loop_.SetAlarm(*this, at); }

}  // namespace parlor::stream

#endif  // PARLOR_TRANSPORTS_STREAM_STREAM_LOOP_H_
