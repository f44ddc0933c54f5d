#include "stream/stream_loop.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <list>
#include <memory>
#include <span>
#include <utility>

#include "parlor/check.h"
#include "parlor/limits.h"
#include "parlor/time.h"
#include "stream/byte_stream.h"
#include "stream/segments.h"

namespace parlor::stream {
namespace {

// Streams that drain hold descriptors, and a client that was refused holds its
// own as long as it likes, up to the deadline: as many as may wait to be let in
// by default. Ours.
constexpr std::size_t kDrainsMax =
    static_cast<std::size_t>(limits::kUnseated.fallback);

}  // namespace

LeavingMember::~LeavingMember() { StopLeaving(); }

void LeavingMember::BeginLeaving() {
  place_.member = this;
  if (place_.next == nullptr) StreamLoop::Append(loop().leaving_, place_);
}

void LeavingMember::StopLeaving() {
  if (place_.next != nullptr) StreamLoop::Unlink(place_);
}

void LeavingMember::CountDiscard(std::size_t bytes) {
  discards_left_ -= bytes < kDiscardBytes ? 1 : kDiscardsMax;
  if (discards_left_ > 0) return;
  discards_left_ = kDiscardsMax;
  discards_again_ = loop().now() + kDiscardTime;
}

LoopMember::~LoopMember() {
  if (next != nullptr) StreamLoop::Unlink(*this);
  if (alarm_index_ != kNoAlarm) loop_.RemoveAlarm(alarm_index_);
}

class StreamLoop::Draining final : public LeavingMember, ByteStream::Events {
 public:
  using Place = std::list<std::unique_ptr<Draining>>::iterator;

  Draining(StreamLoop& loop, std::unique_ptr<ByteStream> stream, Segments rest)
      : LeavingMember(loop),
        stream_(std::move(stream)),
        rest_(std::move(rest)) {}

  void Start(Place place, TimePoint deadline) {
    place_ = place;
    deadline_ = deadline;
    BeginLeaving();
    SetAlarm(deadline);
    stream_->SetEvents(this);
    stream_->WantRead(true);
    // Not at once: the caller may still be using what it read.
    Schedule();
  }

 private:
  void OnTurnEnd() override { Flush(); }
  void OnAlarm() override {
    if (loop().now() >= deadline_) return End();
    stream_->WantRead(true);
    SetAlarm(deadline_);
  }
  void CutShort() override { End(); }
  void OnWritable() override { Flush(); }

  void OnReadable() override {
    const IoResult result =
        stream_->Read(loop().read_buffer().first(kDiscardBytes));
    CountDiscard(result.bytes);
    if (result.status == IoStatus::kEnd) {
      peer_ended_ = true;
      stream_->WantRead(false);
      if (rest_.empty()) End();
    } else if (result.status == IoStatus::kLost) {
      End();
    } else if (discard_paused()) {
      stream_->WantRead(false);
      SetAlarm(AlarmBefore(deadline_));
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
  TimePoint deadline_ = kNever;
};

StreamLoop::StreamLoop()
    : read_buffer_(kReadBufferBytes), segments_(kKeptBytesMax) {
  scheduled_.next = scheduled_.previous = &scheduled_;
  ending_.next = ending_.previous = &ending_;
  leaving_.next = leaving_.previous = &leaving_;
}

StreamLoop::~StreamLoop() {
  EndDrains();
  // Whatever lives on a loop dies before it.
  PARLOR_CHECK(IsEmpty(scheduled_) && IsEmpty(ending_) && alarms_.empty());
}

std::span<std::byte> StreamLoop::read_buffer() {
  const std::size_t left =
      kTurnBytes - std::min(kTurnBytes, turn_.bytes);  // of what is for all
  return std::span(read_buffer_)
      .first(std::clamp(left, kLeastReadBytes, kReadBufferBytes));
}

void StreamLoop::Drain(std::unique_ptr<ByteStream> stream, Segments rest,
                       TimePoint deadline) {
  if (drains_.size() >= kDrainsMax) drains_.pop_front();
  drains_.push_back(
      std::make_unique<Draining>(*this, std::move(stream), std::move(rest)));
  drains_.back()->Start(std::prev(drains_.end()), deadline);
}

bool StreamLoop::CutLeaver() {
  if (IsEmpty(leaving_)) return false;
  LeavingMember* const member =
      static_cast<LeavingMember::Place*>(leaving_.next)->member;
  member->StopLeaving();
  member->CutShort();
  return true;
}

void StreamLoop::EndDrains() { drains_.clear(); }

void StreamLoop::Request() {
  if (!std::exchange(turn_end_requested_, true)) RequestTurnEnd();
}

void StreamLoop::Append(LoopLink& list, LoopLink& link) {
  link.previous = list.previous;
  link.next = &list;
  link.previous->next = &link;
  list.previous = &link;
}

void StreamLoop::Unlink(LoopLink& link) {
  link.previous->next = link.next;
  link.next->previous = link.previous;
  link.next = link.previous = nullptr;
}

void StreamLoop::Schedule(LoopMember& member) {
  Append(scheduled_, member);
  Request();
}

void StreamLoop::RunTurnEnd() {
  // What alarms schedule is still part of this turn.
  turn_end_requested_ = true;
  RunAlarms();
  turn_end_requested_ = false;
  RunScheduled();
  if (!IsEmpty(ending_) || next_alarm() <= now()) Request();
  KeepFigures();
}

void StreamLoop::RunAlarms() {
  // Also a bound for alarms that are set again for now.
  while (turn_.alarms < kTurnAlarmsMax && next_alarm() <= now()) {
    ++turn_.alarms;
    LoopMember* const member = alarms_.front().member;
    RemoveAlarm(0);
    member->OnAlarm();
  }
}

void StreamLoop::RunScheduled() {
  // Behind those that the last turn had no time for.
  if (!IsEmpty(scheduled_)) {
    ending_.previous->next = scheduled_.next;
    scheduled_.next->previous = ending_.previous;
    ending_.previous = scheduled_.previous;
    ending_.previous->next = &ending_;
    scheduled_.next = scheduled_.previous = &scheduled_;
  }
  while (turn_.ends < kTurnEndsMax && !IsEmpty(ending_)) {
    ++turn_.ends;
    auto* const member = static_cast<LoopMember*>(ending_.next);
    Unlink(*ending_.next);
    member->OnTurnEnd();
  }
}

void StreamLoop::KeepFigures() {
  const std::array figures = {turn_.events, turn_.bytes, turn_.alarms,
                              turn_.ends};
  for (std::size_t i = 0; i < figures.size(); ++i) {
    if (figures[i] > busiest_[i].load(std::memory_order_relaxed)) {
      busiest_[i].store(figures[i], std::memory_order_relaxed);
    }
  }
  turn_ = {};
}

TurnWork StreamLoop::busiest_turn() const {
  const auto of = [this](std::size_t i) {
    return busiest_[i].load(std::memory_order_relaxed);
  };
  return {.events = of(0), .bytes = of(1), .alarms = of(2), .ends = of(3)};
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
