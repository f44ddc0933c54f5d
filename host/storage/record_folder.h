// RecordFolder: RoomRecords in a folder, a file a match. A file is made when
// its match begins, for its owner alone (0600: who played what is nobody
// else's), and named by room and time, "room-7-20261130T174400Z.replay"; where
// there is one already, "-2" and so on follow the time.
//
// What is written is with the system when the call returns, so that a killed
// process leaves all but the last second; it waits for no disk but where the
// system makes those wait who write. A folder that is full, or gone, ends
// recordings and no match. Nothing is ever deleted here.
#ifndef PARLOR_HOST_STORAGE_RECORD_FOLDER_H_
#define PARLOR_HOST_STORAGE_RECORD_FOLDER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "parlor/host/room_records.h"
#include "parlor/host/server.h"

namespace parlor::host {

class RecordFolder final : public RoomRecords {
 public:
  // Seconds since 1970, from any thread.
  using WallClock = std::function<std::int64_t()>;

  // `log` is told when recordings cannot be written any more and when they can
  // again, once each, and of each file that is full (lockstep/replay_log.h), on
  // any thread. Sinks may outlive the folder.
  //
  // InvalidArgument: there is no folder at `path`, or not one that this process
  // may write to.
  static absl::StatusOr<std::unique_ptr<RecordFolder>> Open(
      const std::string& path, WallClock wall_clock, LogSink log);

  Recording Open(std::uint32_t number) override;

 private:
  struct Shared;
  class File;

  explicit RecordFolder(std::shared_ptr<Shared> shared);

  std::shared_ptr<Shared> shared_;
};

}  // namespace parlor::host

#endif  // PARLOR_HOST_STORAGE_RECORD_FOLDER_H_
