// StreamLoop: what connections over byte streams need of the loop they live on,
// whatever turns it: sockets on a host, virtual time in tests and in the
// simulator.
//
// A turn begins with the first event, or the first piece of work that asks for
// one, and ends with RunTurnEnd, which its owner calls behind the events that
// were ready: what was scheduled runs then, and alarms that are due. What is
// scheduled in there waits for the next turn, and so does what is above the
// bounds below, so that a turn is bounded: those who play wait for one turn of
// those who only make work.
#ifndef PARLOR_TRANSPORTS_STREAM_STREAM_LOOP_H_
#define PARLOR_TRANSPORTS_STREAM_STREAM_LOOP_H_

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <span>
#include <vector>

#include "parlor/time.h"
#include "parlor/transports/turn_work.h"
#include "stream/byte_stream.h"
#include "stream/segments.h"

namespace parlor::stream {

class StreamLoop;

// The most of one turn. Ours: an alarm or an end costs some microseconds (most
// of it one call into the system), so that each of the two adds a millisecond
// or two at the most; a message of a few bytes costs some 20 ns.
inline constexpr std::size_t kTurnAlarmsMax = 128;
inline constexpr std::size_t kTurnEndsMax = 256;
// Once so many bytes were read, each further read of the turn may take no more
// than the second number.
inline constexpr std::size_t kTurnBytes = 256 * 1024;
inline constexpr std::size_t kLeastReadBytes = 2 * 1024;

// What is read of a peer that nothing but its end is heard of any more. The
// most of one read; so many reads without a wait, of which a full one counts
// for 32 (so 512 KiB, or 8 KiB that come byte by byte), and then 32 in each so
// long: what else it says waits with its own system (TCP's flow control). A
// peer that answers a close has less on its way before that, and waits for
// nothing; one that goes on costs 250 full reads a second, or 8,000 that are
// not: some milliseconds of the loop's thread; over TLS, whose reads may be of
// many records with next to nothing in them, that many times 0.1 ms. Ours.
inline constexpr std::size_t kDiscardBytes = kLeastReadBytes;
inline constexpr int kDiscardsAtOnce = 8'192;
inline constexpr int kDiscardsMax = 32;
inline constexpr Duration kDiscardTime = 4 * kMillisecond;

// What a loop keeps: its read buffer, which takes a host's largest message by
// default and some thousand lockstep messages, and of each size of piece
// (Segments) as much as queues gave back. Enough for 8,192 connections that all
// have something to say in one turn (the default caps of a host), so that a
// steady load allocates nothing.
inline constexpr std::size_t kReadBufferBytes = 64 * 1024;
inline constexpr std::size_t kKeptBytesMax = 8'192 * kSmallSegmentBytes;
inline constexpr std::size_t kLoopBytesMax =
    kReadBufferBytes + SegmentPool::kSizes * kKeptBytesMax;

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
  // this one is ending), or of a later one when more than kTurnEndsMax are
  // before it.
  void Schedule();
  // OnAlarm will come, once, in the first turn that ends at or after `at`, or
  // in a later one when more than kTurnAlarmsMax are before it; kNever: not at
  // all.
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

// One that may be on its way out: all was said, and its peer may take its time
// to hear it. Where there is no room for newcomers, who leaves makes some.
class LeavingMember : public LoopMember {
 public:
  explicit LeavingMember(StreamLoop& loop) : LoopMember(loop) {}
  ~LeavingMember() override;

 protected:
  // From now on, until it dies or StopLeaving.
  void BeginLeaving();
  void StopLeaving();
  // Drops its link at once. It may destroy the member, and nothing else.
  virtual void CutShort() = 0;

  // A read for kDiscardBytes gave `bytes`, or nothing.
  void CountDiscard(std::size_t bytes);
  // It is not to read, up to the time that AlarmBefore has an alarm for.
  bool discard_paused() const;
  TimePoint AlarmBefore(TimePoint deadline) const {
    return discard_paused() ? std::min(deadline, discards_again_) : deadline;
  }

 private:
  friend class StreamLoop;

  struct Place : stream::LoopLink {
    LeavingMember* member = nullptr;
  };

  Place place_;
  int discards_left_ = kDiscardsAtOnce;  // before the next pause
  TimePoint discards_again_ = TimePoint::min();
};

class StreamLoop {
 public:
  StreamLoop();
  virtual ~StreamLoop();
  StreamLoop(const StreamLoop&) = delete;
  StreamLoop& operator=(const StreamLoop&) = delete;

  // Of the present turn.
  TimePoint now() const { return *clock_; }

  // When the first alarm is due.
  TimePoint next_alarm() const {
    return alarms_.empty() ? kNever : alarms_.front().at;
  }

  // Where a stream is read into, for as long as one event is being handled.
  // What has to stay is copied out of it. 64 KiB, or less once the turn has
  // read kTurnBytes.
  std::span<std::byte> read_buffer();

  // What queues are made of.
  SegmentPool& segments() { return segments_; }

  // Takes over a stream whose connection is done: writes `rest`, ends our
  // direction, reads and discards until the peer has ended too (kDiscardBytes
  // above), and gives up at `deadline`. Closing with unread input would reset
  // the link and lose what was written last. No event of the stream comes to
  // anyone else any more. When too many drain, the one that has drained longest
  // is dropped.
  void Drain(std::unique_ptr<ByteStream> stream, Segments rest,
             TimePoint deadline);
  std::size_t draining() const { return drains_.size(); }
  // For who has no room for another stream: the member that has been leaving
  // longest makes some, at once. False: nobody leaves. Not inside an event of
  // a stream.
  bool CutLeaver();

  // The most that any turn did, of each; of a turn that has ended. Any thread.
  TurnWork busiest_turn() const;

 protected:
  void set_now(TimePoint now) { now_ = now; }
  // From here on now() is what `clock` says, outside of turns too.
  void Follow(const TimePoint& clock) { clock_ = &clock; }

  // For the figures of this turn, and its bound on bytes.
  void CountEvent() { ++turn_.events; }
  void CountRead(std::size_t bytes) { turn_.bytes += bytes; }

  // Arranges for RunTurnEnd behind what is ready now. Called once from one
  // RunTurnEnd to the next: when the first member is scheduled, or an alarm is
  // set that is now the first one due (so that its owner looks at next_alarm).
  virtual void RequestTurnEnd() = 0;
  void RunTurnEnd();

  // Drops the streams that are draining: for an owner of what they live on.
  void EndDrains();

 private:
  friend class LoopMember;
  friend class LeavingMember;
  class Draining;
  struct Alarm {
    TimePoint at;
    LoopMember* member;
  };

  static bool IsEmpty(const LoopLink& list) { return list.next == &list; }
  static void Append(LoopLink& list, LoopLink& link);
  static void Unlink(LoopLink& link);

  void Request();
  void Schedule(LoopMember& member);
  void SetAlarm(LoopMember& member, TimePoint at);
  void RunAlarms();
  void RunScheduled();
  void KeepFigures();
  void RemoveAlarm(std::size_t index);
  void Place(std::size_t index, Alarm alarm);
  void SiftUp(std::size_t index, Alarm alarm);
  void SiftDown(std::size_t index, Alarm alarm);

  TimePoint now_{};
  const TimePoint* clock_ = &now_;
  bool turn_end_requested_ = false;
  LoopLink scheduled_;         // circular lists, these their heads
  LoopLink ending_;            // of those, whose turn is ending
  LoopLink leaving_;           // the first has left longest
  std::vector<Alarm> alarms_;  // a binary heap
  std::vector<std::byte> read_buffer_;
  SegmentPool segments_;
  std::list<std::unique_ptr<Draining>> drains_;
  TurnWork turn_;  // this one's, so far
  // The most of events, bytes, alarms, ends; written on this thread alone.
  std::array<std::atomic<std::size_t>, 4> busiest_{};
};

inline void LoopMember::Schedule() {
  if (next == nullptr) loop_.Schedule(*this);
}
inline bool LeavingMember::discard_paused() const {
  return loop().now() < discards_again_;
}
inline void LoopMember::SetAlarm(TimePoint at) { loop_.SetAlarm(*this, at); }

}  // namespace parlor::stream

#endif  // PARLOR_TRANSPORTS_STREAM_STREAM_LOOP_H_
