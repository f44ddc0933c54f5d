#include "stream/stream_loop.h"

#include <cstddef>
#include <list>
#include <memory>
#include <utility>

#include "parlor/check.h"
#include "parlor/limits.h"
#include "parlor/time.h"
#include "stream/byte_stream.h"
#include "stream/segments.h"

namespace parlor::stream {
namespace {

// One read takes what 64 KiB hold: a host's message cap by default, and some
// thousand lockstep messages.
constexpr std::size_t kReadBufferBytes = 64 * 1024;

// Enough for 8,192 connections that all have something to say in one turn (the
// default caps of a host), so that a steady load allocates nothing.
constexpr std::size_t kKeptBytesMax = 8'192 * kSmallSegmentBytes;

// Streams that drain hold descriptors, and a client that was refused holds its
// own as long as it likes, up to the deadline: as many as may wait to be let in
// by default. Ours.
constexpr std::size_t kDrainsMax =
    static_cast<std::size_t>(limits::kUnseated.fallback);

}  // namespace

LoopMember::~LoopMember() {
  if (next != nullptr) StreamLoop::Unlink(*this);
  if (alarm_index_ != kNoAlarm) loop_.RemoveAlarm(alarm_index_);
}

class StreamLoop::Draining final : public LoopMember, ByteStream::Events {
 public:
  using Place = std::list<std::unique_ptr<Draining>>::iterator;

  Draining(StreamLoop& loop, std::unique_ptr<ByteStream> stream, Segments rest)
      : LoopMember(loop), stream_(std::move(stream)), rest_(std::move(rest)) {}

  void Start(Place place, TimePoint deadline) {
    place_ = place;
    SetAlarm(deadline);
    stream_->SetEvents(this);
    stream_->WantRead(true);
    // Not at once: the caller may still be using what it read.
    Schedule();
  }

 private:
  void OnTurnEnd() override { Flush(); }
  void OnAlarm() override { End(); }
  void OnWritable() override { Flush(); }

  void OnReadable() override {
    const IoResult result = stream_->Read(loop().read_buffer());
    if (result.status == IoStatus::kEnd) {
      peer_ended_ = true;
      stream_->WantRead(false);
      if (rest_.empty()) End();
    } else if (result.status == IoStatus::kLost) {
      End();
    }
  }

  void Flush() {
    const IoStatus status = rest_.WriteTo(*stream_);
    if (status == IoStatus::kBlocked) return stream_->WantWrite();
    if (status == IoStatus::kLost) return End();
    stream_->EndWrite();
    if (peer_ended_) End();
  }

  void End() { loop().drains_.erase(place_); }

  std::unique_ptr<ByteStream> stream_;
  Segments rest_;
  bool peer_ended_ = false;
  Place place_;
};

StreamLoop::StreamLoop()
    : read_buffer_(kReadBufferBytes), segments_(kKeptBytesMax) {
  scheduled_.next = scheduled_.previous = &scheduled_;
  ending_.next = ending_.previous = &ending_;
}

StreamLoop::~StreamLoop() {
  EndDrains();
  // Whatever lives on a loop dies before it.
  PARLOR_CHECK(IsEmpty(scheduled_) && alarms_.empty());
}

void StreamLoop::Drain(std::unique_ptr<ByteStream> stream, Segments rest,
                       TimePoint deadline) {
  if (drains_.size() >= kDrainsMax) DropOldestDrain();
  drains_.push_back(
      std::make_unique<Draining>(*this, std::move(stream), std::move(rest)));
  drains_.back()->Start(std::prev(drains_.end()), deadline);
}

bool StreamLoop::DropOldestDrain() {
  if (drains_.empty()) return false;
  drains_.pop_front();
  return true;
}

void StreamLoop::EndDrains() { drains_.clear(); }

void StreamLoop::Request() {
  if (!std::exchange(turn_end_requested_, true)) RequestTurnEnd();
}

void StreamLoop::Unlink(LoopLink& link) {
  link.previous->next = link.next;
  link.next->previous = link.previous;
  link.next = link.previous = nullptr;
}

void StreamLoop::Schedule(LoopMember& member) {
  LoopLink& link = member;
  link.previous = scheduled_.previous;
  link.next = &scheduled_;
  link.previous->next = &link;
  scheduled_.previous = &link;
  Request();
}

void StreamLoop::RunTurnEnd() {
  // What alarms schedule is still part of this turn.
  turn_end_requested_ = true;
  RunAlarms();
  turn_end_requested_ = false;
  if (IsEmpty(scheduled_)) return;
  PARLOR_DCHECK(IsEmpty(ending_));
  ending_ = scheduled_;
  ending_.next->previous = &ending_;
  ending_.previous->next = &ending_;
  scheduled_.next = scheduled_.previous = &scheduled_;
  while (!IsEmpty(ending_)) {
    auto* const member = static_cast<LoopMember*>(ending_.next);
    Unlink(*ending_.next);
    member->OnTurnEnd();
  }
}

void StreamLoop::RunAlarms() {
  // A bound: alarms that are set again for now wait for the next turn.
  for (std::size_t left = alarms_.size(); left > 0 && next_alarm() <= now_;
       --left) {
    LoopMember* const member = alarms_.front().member;
    RemoveAlarm(0);
    member->OnAlarm();
  }
}

void StreamLoop::SetAlarm(LoopMember& member, TimePoint at) {
  const TimePoint first = next_alarm();
  if (member.alarm_index_ != LoopMember::kNoAlarm) {
    if (alarms_[member.alarm_index_].at == at) return;
    RemoveAlarm(member.alarm_index_);
  }
  if (at == kNever) return;
  alarms_.emplace_back();
  SiftUp(alarms_.size() - 1, {at, &member});
  if (at < first) Request();
}

void StreamLoop::RemoveAlarm(std::size_t index) {
  alarms_[index].member->alarm_index_ = LoopMember::kNoAlarm;
  const Alarm last = alarms_.back();
  alarms_.pop_back();
  if (index == alarms_.size()) return;
  if (index > 0 && last.at < alarms_[(index - 1) / 2].at) {
    SiftUp(index, last);
  } else {
    SiftDown(index, last);
  }
}

void StreamLoop::Place(std::size_t index, Alarm alarm) {
  alarms_[index] = alarm;
  alarm.member->alarm_index_ = index;
}

void StreamLoop::SiftUp(std::size_t index, Alarm alarm) {
  while (index > 0) {
    const std::size_t parent = (index - 1) / 2;
    if (alarms_[parent].at <= alarm.at) break;
    Place(index, alarms_[parent]);
    index = parent;
  }
  Place(index, alarm);
}

void StreamLoop::SiftDown(std::size_t index, Alarm alarm) {
  for (;;) {
    std::size_t child = 2 * index + 1;
    if (child >= alarms_.size()) break;
    if (child + 1 < alarms_.size() &&
        alarms_[child + 1].at < alarms_[child].at) {
      ++child;
    }
    if (alarm.at <= alarms_[child].at) break;
    Place(index, alarms_[child]);
    index = child;
  }
  Place(index, alarm);
}

}  // namespace parlor::stream
