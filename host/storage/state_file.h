// StateFile: a RoomStore in a file. What is kept survives the process, however
// it ends, since the system has it before Keep returns; a machine that loses
// power may lose it.
//
// Each room has a place of its own: two halves of room for its state, and a
// line of 64 bytes that says which half holds, how much and with what checksum.
// A state is written to the half that does not hold, then the line, which lies
// within one page and is so never half written by a process that is killed.
// Hence whatever does not match its checksum is damage, and no accident.
#ifndef PARLOR_HOST_STORAGE_STATE_FILE_H_
#define PARLOR_HOST_STORAGE_STATE_FILE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "parlor/host/room_store.h"
#include "parlor/host/server.h"
#include "parlor/lockstep/room_state.h"

namespace parlor::host {

class StateFile : public RoomStore {
 public:
  struct KeptRoom {
    std::uint32_t number = 0;
    lockstep::RoomState state;
  };
  struct Opened {
    std::unique_ptr<StateFile> file;
    std::vector<KeptRoom> rooms;  // by number
  };

  // Reads what an earlier process has kept, for rooms 0..rooms-1 of up to
  // `seats` seats, and begins the file anew (mode 0600) with it; all others are
  // left out, which is logged. A file that is damaged or no state file is
  // logged, renamed to "<path>.refused-<n>" and not read at all. `log` is told,
  // once each, when nothing can be kept any more and when it can again, on any
  // thread.
  //
  // InvalidArgument: the path is no file that can be made and renamed;
  // FailedPrecondition: another process has it open.
  static absl::StatusOr<Opened> Open(const std::string& path,
                                     std::int64_t rooms, std::int64_t seats,
                                     LogSink log);
};

}  // namespace parlor::host

#endif  // PARLOR_HOST_STORAGE_STATE_FILE_H_
