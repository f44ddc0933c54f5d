// RoomAlarms: when which room wants to be woken. A room's node is moved, never
// made again: alarms allocate nothing once each room has had its first.
#ifndef PARLOR_HOST_LOGIC_ROOM_ALARMS_H_
#define PARLOR_HOST_LOGIC_ROOM_ALARMS_H_

#include <cstdint>
#include <set>
#include <utility>

#include "parlor/time.h"

namespace parlor::host {

class RoomAlarms {
 private:
  // The number orders rooms of one instant.
  using Times = std::set<std::pair<TimePoint, std::uint32_t>>;

 public:
  // One room's, kept with the room. Set to kNever before it goes.
  class Alarm {
   public:
    explicit Alarm(std::uint32_t number) : number_(number) {}
    TimePoint at() const { return at_; }

   private:
    friend class RoomAlarms;
    std::uint32_t number_;
    TimePoint at_ = kNever;  // its place in times_; kNever: it has none
    Times::node_type node_;  // while it has none
  };

  void Set(Alarm& alarm, TimePoint at) {
    auto node = alarm.at_ == kNever
                    ? std::move(alarm.node_)
                    : times_.extract({alarm.at_, alarm.number_});
    alarm.at_ = at;
    if (at == kNever) {
      alarm.node_ = std::move(node);
    } else if (node.empty()) {
      times_.emplace(at, alarm.number_);
    } else {
      node.value() = {at, alarm.number_};
      times_.insert(std::move(node));
    }
  }

  TimePoint next() const {
    return times_.empty() ? kNever : times_.begin()->first;
  }
  // The room of next(), where that is not kNever.
  std::uint32_t first() const { return times_.begin()->second; }

 private:
  Times times_;
};

}  // namespace parlor::host

#endif  // PARLOR_HOST_LOGIC_ROOM_ALARMS_H_
