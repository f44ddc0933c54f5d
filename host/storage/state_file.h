// StateFile: a RoomStore in a file. What is kept survives the process, however
// it ends, since the system has it before Keep returns; a machine that loses
// power may lose it.
//
// Each room has a place of its own: two halves of room for its state, and a
// line of 64 bytes that says which half holds, how much and with what checksum
// (state_layout.h). A state is written to the half that does not hold, then the
// line, which lies within one page and is so never half written by a process
// that is killed. Hence whatever does not match its checksum is damage, and no
// accident. It guards against that, not against one who writes the file: who
// can do so is the host.
//
// What is forgotten is not wiped: the tokens of a match die with it. Nor are
// bytes read that nothing refers to: what becomes of those goes unnoticed.
//
// Keep and Forget allocate nothing (OpenSSL does, 112 bytes while it hashes),
// share no lock of ours between rooms, and wait for no disk but where the
// system makes those wait who write.
#ifndef PARLOR_HOST_STORAGE_STATE_FILE_H_
#define PARLOR_HOST_STORAGE_STATE_FILE_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "parlor/host/room_store.h"
#include "parlor/host/server.h"
#include "storage/file_descriptor.h"
#include "storage/state_layout.h"

namespace parlor::host {

class StateFile final : public RoomStore {
 public:
  struct Opened {
    std::unique_ptr<StateFile> file;
    std::vector<KeptRoom> rooms;  // by number
  };

  // Reads what an earlier process has kept, for rooms 0..rooms-1 of up to
  // `seats` seats, and begins the file anew (mode 0600) with it; all others are
  // left out, which is logged. A file that is damaged or no state file is
  // logged, renamed to "<path>.refused-<n>" and not read at all; one of no
  // bytes is a new one. One that others could read is taken, which is logged:
  // from here on it is its owner's alone. `log` is told, once each, when a
  // match cannot be kept any more and when all can again, and, within
  // kLookEvery calls of Keep, when the file is not at its path any more (what
  // is kept is then lost with the process) and when it is again; on any thread.
  //
  // The new file is made as "<path>.new" and renamed, so that a process which
  // is killed meanwhile leaves the old one or the new one, whole.
  //
  // InvalidArgument: the path is no file that can be made and renamed (another
  // kind of file, a link, another user's); FailedPrecondition: another process
  // has it open; Unavailable: the system has no room or fails.
  static absl::StatusOr<Opened> Open(const std::string& path,
                                     std::int64_t rooms, std::int64_t seats,
                                     LogSink log);

  // At 500 rooms, 31 times a second; a look takes 2 us.
  static constexpr std::uint32_t kLookEvery = 16;

  // What is kept stays.
  ~StateFile() override;

  void Keep(std::uint32_t room, std::span<const std::byte> state) override;
  void Forget(std::uint32_t room) override;

 private:
  class Opening;

  // Of a room, and of its thread alone.
  struct Kept {
    std::int8_t half = -1;  // that holds; -1: none
    bool failing = false;   // what it was to keep last is not
  };

  StateFile(const std::string& path, const StateLayout& layout, LogSink log,
            FileDescriptor file);

  // The errno of what failed, or 0.
  int Write(std::uint32_t room, std::span<const std::byte> state);
  int Erase(std::uint32_t room);
  void Note(Kept& kept, int error);
  void Look();

  const std::string path_;
  const std::string name_;  // for the log
  const StateLayout layout_;
  const LogSink log_;
  const FileDescriptor file_;
  std::vector<Kept> kept_;
  std::atomic<std::int64_t> failing_ = 0;  // rooms
  std::atomic<std::uint32_t> keeps_ = 0;   // since one looked
  std::atomic<bool> gone_ = false;         // from its path
};

}  // namespace parlor::host

#endif  // PARLOR_HOST_STORAGE_STATE_FILE_H_
