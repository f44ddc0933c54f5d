#include "storage/state_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "counted.h"
#include "parlor/check.h"
#include "parlor/host/server.h"
#include "parlor/lockstep/room_state.h"
#include "parlor/printable.h"
#include "parlor/status.h"
#include "storage/file_descriptor.h"
#include "storage/state_layout.h"

namespace parlor::host {
namespace {

using Line = StateLayout::Line;

constexpr mode_t kOwnerOnly = 0600;
// Each try loses to another process that has put its file in place meanwhile.
constexpr int kLockTries = 16;
constexpr int kSetAsideMax = 100'000;

std::string Why(int error) { return std::generic_category().message(error); }

std::string Quoted(std::string_view path) {
  return '"' + Printable(path) + '"';
}

// Of a path that will never do, or of a system that will not do it now.
absl::Status SystemError(std::string_view path, const char* what, int error) {
  static constexpr int kOfTheSystem[] = {EIO,    ENOSPC, EDQUOT, EFBIG,
                                         EMFILE, ENFILE, ENOMEM};
  const bool of_the_system =
      std::ranges::find(kOfTheSystem, error) != std::end(kOfTheSystem);
  return MakeStatus(of_the_system ? absl::StatusCode::kUnavailable
                                  : absl::StatusCode::kInvalidArgument,
                    absl::StrCat(Quoted(path), " ", what, ": ", Why(error)));
}

// Damage, if that is all there is.
absl::Status ReadError(std::string_view path, int error) {
  if (error == ENODATA) {
    return MakeStatus(absl::StatusCode::kDataLoss, "it is cut off");
  }
  return SystemError(path, "cannot be read", error);
}

int Lock(const FileDescriptor& file) {
  int result = -1;
  do {
    result = flock(file.get(), LOCK_EX | LOCK_NB);
  } while (result != 0 && errno == EINTR);
  return result == 0 ? 0 : errno;
}

bool IsAt(const FileDescriptor& file, const std::string& path) {
  struct stat ours {};
  struct stat there {};
  return fstat(file.get(), &ours) == 0 && lstat(path.c_str(), &there) == 0 &&
         ours.st_dev == there.st_dev && ours.st_ino == there.st_ino;
}

bool IsLink(const std::string& path) {
  struct stat found {};
  return lstat(path.c_str(), &found) == 0 && S_ISLNK(found.st_mode);
}

}  // namespace

StateFile::StateFile(const std::string& path, const StateLayout& layout,
                     LogSink log, FileDescriptor file)
    : path_(path),
      name_(Quoted(path)),
      layout_(layout),
      log_(std::move(log)),
      file_(std::move(file)),
      kept_(static_cast<std::size_t>(layout.rooms())) {}

StateFile::~StateFile() = default;

// --- While it is open

void StateFile::Keep(std::uint32_t room, std::span<const std::byte> state) {
  PARLOR_CHECK(room < kept_.size());
  PARLOR_CHECK(!state.empty() && state.size() <= layout_.half_bytes());
  Note(kept_[room], Write(room, state));
  if (keeps_.fetch_add(1, std::memory_order_relaxed) % kLookEvery == 0) Look();
}

void StateFile::Forget(std::uint32_t room) {
  PARLOR_CHECK(room < kept_.size());
  Note(kept_[room], Erase(room));
}

// Whatever fails, the line still speaks of the state before, which is whole.
int StateFile::Write(std::uint32_t room, std::span<const std::byte> state) {
  Kept& kept = kept_[room];
  const int half = kept.half == 0 ? 1 : 0;
  if (const int error = WriteAt(file_, state, layout_.HalfAt(room, half))) {
    return error;
  }
  const Line line = StateLayout::MakeLine(room, half, state);
  if (const int error = WriteAt(file_, line, layout_.LineAt(room))) {
    return error;
  }
  kept.half = static_cast<std::int8_t>(half);
  return 0;
}

int StateFile::Erase(std::uint32_t room) {
  Kept& kept = kept_[room];
  if (kept.half < 0) return 0;
  if (const int error = WriteAt(file_, Line{}, layout_.LineAt(room))) {
    return error;
  }
  kept.half = -1;
  return 0;
}

// On a disk that is full some rooms find place where others do not: the log
// hears of the first that fails and of the last that works again.
void StateFile::Note(Kept& kept, int error) {
  const bool fails = error != 0;
  if (fails == kept.failing) return;
  kept.failing = fails;
  const bool tell =
      fails ? failing_.fetch_add(1) == 0 : failing_.fetch_sub(1) == 1;
  if (!tell || !log_) return;
  if (fails) {
    log_(LogLevel::kWarning,
         absl::StrCat("matches cannot be kept in ", name_, ": ", Why(error)));
  } else {
    log_(LogLevel::kInfo, absl::StrCat("matches are kept again in ", name_));
  }
}

// One that was removed or replaced takes what is written as before, and nobody
// will ever read it.
void StateFile::Look() {
  const bool gone = !IsAt(file_, path_);
  if (gone_.exchange(gone) == gone || !log_) return;
  if (gone) {
    log_(LogLevel::kWarning,
         absl::StrCat(name_,
                      " was removed or replaced: what is kept of matches"
                      " is lost with this process"));
  } else {
    log_(LogLevel::kInfo, absl::StrCat(name_, " is there again"));
  }
}

// --- Opening it

class StateFile::Opening {
 public:
  Opening(const std::string& path, const StateLayout& layout, LogSink log)
      : path_(path),
        new_path_(path + ".new"),
        layout_(layout),
        log_(std::move(log)) {}

  absl::StatusOr<Opened> Run();

 private:
  absl::Status OpenOld();
  absl::Status CheckOld();
  absl::Status MakeNew();
  // DataLoss: the file is not to be read.
  absl::Status TakeBack();
  absl::Status TakeBackLines(const StateLayout& old);
  absl::Status TakeBackRoom(const StateLayout& old, std::uint32_t room,
                            const Line& line, const StateLayout::Place& place);
  absl::Status SetAside(std::string_view reason);
  absl::Status PutInPlace();
  void Log(LogLevel level, const std::string& line) const {
    if (log_) log_(level, line);
  }

  const std::string path_;
  const std::string new_path_;
  const StateLayout layout_;
  const LogSink log_;
  FileDescriptor old_;
  std::int64_t old_size_ = 0;
  std::int64_t left_out_ = 0;
  std::vector<std::byte> state_;  // that is being read
  Opened opened_;
};

absl::StatusOr<StateFile::Opened> StateFile::Open(const std::string& path,
                                                  std::int64_t rooms,
                                                  std::int64_t seats,
                                                  LogSink log) {
  return Opening(path, StateLayout(rooms, seats), std::move(log)).Run();
}

absl::StatusOr<StateFile::Opened> StateFile::Opening::Run() {
  if (path_.empty() || path_.find('\0') != std::string::npos) {
    return InvalidArgument(absl::StrCat(Quoted(path_), " is no path"));
  }
  if (absl::Status status = OpenOld(); !status.ok()) return status;
  absl::Status status = MakeNew();
  if (status.ok() && old_size_ > 0) status = TakeBack();
  if (status.code() == absl::StatusCode::kDataLoss) {
    status = SetAside(StatusText(status));
  }
  if (status.ok()) status = PutInPlace();
  if (!status.ok()) {
    unlink(new_path_.c_str());
    return status;
  }
  if (left_out_ > 0) {
    Log(LogLevel::kWarning,
        absl::StrCat(Quoted(path_), ": ",
                     Counted(left_out_, "match", "matches"),
                     " left out, of rooms that are not run any more"));
  }
  return std::move(opened_);
}

// Makes the file if there is none, so that there is something to lock: whoever
// holds the file that is at the path is the only one who may replace it.
absl::Status StateFile::Opening::OpenOld() {
  for (int i = 0; i < kLockTries; ++i) {
    // Not to wait for the other end of a pipe, nor follow a link: the new file
    // would take its place and not that of what it points to.
    old_ = FileDescriptor(
        open(path_.c_str(),
             O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY,
             kOwnerOnly));
    if (!old_.valid()) {
      const int error = errno;
      if (IsLink(path_)) {
        return InvalidArgument(
            absl::StrCat(Quoted(path_), " is a link, which is not followed"));
      }
      return SystemError(path_, "cannot be opened", error);
    }
    if (absl::Status status = CheckOld(); !status.ok()) return status;
    const int error = Lock(old_);
    if (error == EWOULDBLOCK) break;
    if (error != 0) return SystemError(path_, "cannot be locked", error);
    if (IsAt(old_, path_)) return absl::OkStatus();
  }
  return MakeStatus(
      absl::StatusCode::kFailedPrecondition,
      absl::StrCat(Quoted(path_), " is in use by another process"));
}

absl::Status StateFile::Opening::CheckOld() {
  struct stat found {};
  if (fstat(old_.get(), &found) != 0) {
    const int error = errno;
    return SystemError(path_, "cannot be opened", error);
  }
  if (!S_ISREG(found.st_mode)) {
    return InvalidArgument(absl::StrCat(Quoted(path_), " is no regular file"));
  }
  // Its tokens are what another chose.
  if (found.st_uid != geteuid()) {
    return InvalidArgument(
        absl::StrCat(Quoted(path_), " belongs to another user"));
  }
  old_size_ = found.st_size;
  if ((found.st_mode & 0077) == 0) return absl::OkStatus();
  if (fchmod(old_.get(), kOwnerOnly) != 0) {
    const int error = errno;
    return SystemError(path_, "cannot be closed to others", error);
  }
  Log(LogLevel::kWarning,
      absl::StrCat(Quoted(path_), " was open to others, and is not any more"));
  return absl::OkStatus();
}

// Locked before anyone can open it. Its lines are written and so have their
// blocks: on a full disk there is still place for a line.
absl::Status StateFile::Opening::MakeNew() {
  // Of a process that was killed here.
  if (unlink(new_path_.c_str()) != 0 && errno != ENOENT) {
    const int error = errno;
    return SystemError(new_path_, "cannot be removed", error);
  }
  FileDescriptor file(open(new_path_.c_str(),
                           O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW,
                           kOwnerOnly));
  if (!file.valid() || fchmod(file.get(), kOwnerOnly) != 0) {
    const int error = errno;
    return SystemError(new_path_, "cannot be made", error);
  }
  std::vector<std::byte> head(static_cast<std::size_t>(layout_.head_bytes()));
  std::ranges::copy(layout_.Header(), head.begin());
  int error = Lock(file);
  if (error == 0) error = Resize(file, layout_.file_bytes());
  if (error == 0) error = WriteAt(file, head, 0);
  if (error != 0) return SystemError(new_path_, "cannot be made", error);
  opened_ = {};
  opened_.file.reset(new StateFile(path_, layout_, log_, std::move(file)));
  return absl::OkStatus();
}

absl::Status StateFile::Opening::TakeBack() {
  Line header;
  if (const int error = ReadAt(old_, header, 0)) {
    // Too short for any of ours.
    if (error == ENODATA) {
      return MakeStatus(absl::StatusCode::kDataLoss, "no state file");
    }
    return ReadError(path_, error);
  }
  const absl::StatusOr<StateLayout> old = StateLayout::ParseHeader(header);
  if (!old.ok()) return old.status();
  if (old_size_ != old->file_bytes()) {
    return MakeStatus(
        absl::StatusCode::kDataLoss,
        absl::StrCat("it has ", old_size_, " bytes, not ", old->file_bytes()));
  }
  return TakeBackLines(*old);
}

absl::Status StateFile::Opening::TakeBackLines(const StateLayout& old) {
  std::vector<Line> lines(static_cast<std::size_t>(old.rooms()));
  if (const int error = ReadAt(old_, std::as_writable_bytes(std::span(lines)),
                               old.LineAt(0))) {
    return ReadError(path_, error);
  }
  for (std::uint32_t room = 0; room < lines.size(); ++room) {
    const auto place = old.ParseLine(room, lines[room]);
    if (!place.ok()) return place.status();
    if (!*place) continue;
    absl::Status status = TakeBackRoom(old, room, lines[room], **place);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status StateFile::Opening::TakeBackRoom(const StateLayout& old,
                                              std::uint32_t room,
                                              const Line& line,
                                              const StateLayout::Place& place) {
  state_.resize(place.size);
  if (const int error = ReadAt(old_, state_, old.HalfAt(room, place.half))) {
    return ReadError(path_, error);
  }
  const auto damaged = [room](std::string_view what) {
    return MakeStatus(absl::StatusCode::kDataLoss,
                      absl::StrCat("room ", room, ": ", std::string(what)));
  };
  if (!StateLayout::Matches(line, state_)) {
    return damaged("what is kept of it is damaged");
  }
  absl::StatusOr<lockstep::RoomState> state = lockstep::ParseRoomState(state_);
  if (!state.ok()) return damaged(StatusText(state.status()));
  if (state->opened_for > old.seats()) {
    return damaged("it is larger than the file says");
  }
  if (room >= layout_.rooms() || state->opened_for > layout_.seats()) {
    ++left_out_;
    return absl::OkStatus();
  }
  if (const int error = opened_.file->Write(room, state_)) {
    return SystemError(new_path_, "cannot be written", error);
  }
  opened_.rooms.push_back({room, *std::move(state)});
  return absl::OkStatus();
}

// By a second name, which replaces no file; the first stays, and with it the
// lock, until the new file has it.
absl::Status StateFile::Opening::SetAside(std::string_view reason) {
  std::string aside;
  int result = -1;
  for (int n = 1; n <= kSetAsideMax; ++n) {
    aside = absl::StrCat(path_, ".refused-", n);
    result = link(path_.c_str(), aside.c_str());
    if (result == 0 || errno != EEXIST) break;
  }
  if (result != 0) {
    const int error = errno;
    return SystemError(path_, "is refused and cannot be set aside", error);
  }
  Log(LogLevel::kWarning,
      absl::StrCat(Quoted(path_), " is refused: ", std::string(reason),
                   ". Set aside as ", Quoted(aside),
                   "; no match of it is taken back"));
  left_out_ = 0;
  return MakeNew();  // without what was read before the damage
}

absl::Status StateFile::Opening::PutInPlace() {
  if (fdatasync(opened_.file->file_.get()) != 0) {
    const int error = errno;
    return SystemError(new_path_, "cannot be written", error);
  }
  if (std::rename(new_path_.c_str(), path_.c_str()) != 0) {
    const int error = errno;
    return SystemError(path_, "cannot be replaced", error);
  }
  return absl::OkStatus();
}

}  // namespace parlor::host
