// RoomRecords: where a host's rooms are recorded (lockstep/replay_log.h). A
// port: ServerOptions::record_path makes each a file, a test has them in
// memory.
#ifndef PARLOR_HOST_ROOM_RECORDS_H_
#define PARLOR_HOST_ROOM_RECORDS_H_

#include <cstdint>
#include <memory>

#include "parlor/lockstep/replay_log.h"
#include "parlor/lockstep/room_log.h"

namespace parlor::host {

class RoomRecords {
 public:
  struct Recording {
    std::unique_ptr<lockstep::ReplaySink> sink;  // null: it is not recorded
    lockstep::RoomLabel label;
  };

  virtual ~RoomRecords() = default;

  // A room is opened under `number`, or taken back after a restart, which is a
  // recording of its own. Called by the thread of the room, which writes to the
  // sink and destroys it when the room is gone; by several threads at once for
  // different rooms. Neither this nor the sink waits for a disk.
  virtual Recording Open(std::uint32_t number) = 0;
};

}  // namespace parlor::host

#endif  // PARLOR_HOST_ROOM_RECORDS_H_
