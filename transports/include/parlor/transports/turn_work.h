// TurnWork: how much there was in one turn of a loop, counted and not timed, so
// that a test can hold a bound to it on any machine.
#ifndef PARLOR_TRANSPORTS_TURN_WORK_H_
#define PARLOR_TRANSPORTS_TURN_WORK_H_

#include <algorithm>
#include <cstddef>

namespace parlor {

struct TurnWork {
  std::size_t events = 0;  // readable and writable sockets, tasks, listeners
  std::size_t bytes = 0;   // read from sockets
  std::size_t alarms = 0;  // that were due
  std::size_t ends = 0;    // connections that had something to do at its end

  // Of each the larger.
  void RaiseTo(const TurnWork& other) {
    events = std::max(events, other.events);
    bytes = std::max(bytes, other.bytes);
    alarms = std::max(alarms, other.alarms);
    ends = std::max(ends, other.ends);
  }
};

}  // namespace parlor

#endif  // PARLOR_TRANSPORTS_TURN_WORK_H_
