#include "storage/record_folder.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <ctime>
#include <optional>
#include <span>
#include <system_error>
#include <utility>

#include "parlor/printable.h"
#include "parlor/status.h"
#include "storage/file_descriptor.h"
#include "storage/replay_file.h"

namespace parlor::host {
namespace {

constexpr mode_t kOwnerOnly = 0600;
// Matches of one room that begin in one second.
constexpr int kNamesMax = 1'000;

// "20261130T174400Z"
std::string UtcText(std::int64_t seconds) {
  const auto time = static_cast<std::time_t>(seconds);
  std::tm utc{};
  if (gmtime_r(&time, &utc) == nullptr) return std::to_string(seconds);
  char text[32];
  return {text, std::strftime(text, sizeof text, "%Y%m%dT%H%M%SZ", &utc)};
}

absl::Status FolderError(const std::string& path, int error) {
  return InvalidArgument(path + ": " + std::generic_category().message(error));
}

}  // namespace

struct RecordFolder::Shared {
  // Of the thread of whichever room; logged once, until one can be written.
  void Tell(const absl::Status& status) {
    if (failing.load(std::memory_order_relaxed) == !status.ok()) return;
    if (failing.exchange(!status.ok()) == !status.ok() || !log) return;
    if (status.ok()) {
      log(LogLevel::kInfo, "recordings are written again, " + Printable(path));
    } else {
      log(LogLevel::kWarning,
          "recordings end: " + Printable(StatusText(status)));
    }
  }

  std::string path;
  FileDescriptor folder;
  WallClock wall_clock;
  LogSink log;
  std::atomic<bool> failing = false;
};

// A ReplayFile that is made when there is something to write.
class RecordFolder::File final : public lockstep::ReplaySink {
 public:
  File(std::shared_ptr<Shared> shared, std::uint32_t room)
      : shared_(std::move(shared)), room_(room) {}

  absl::Status Write(std::span<const std::byte> bytes) override {
    absl::Status status = file_ ? absl::OkStatus() : Make();
    if (status.ok()) status = file_->Write(bytes);
    shared_->Tell(status);
    return status;
  }

  // Each is told of: others go on.
  void OnFull() override {
    if (!shared_->log || !file_) return;
    shared_->log(
        LogLevel::kWarning,
        "the recording of room " + std::to_string(room_) +
            " ends, as large as one may be: " + Printable(file_->path()));
  }

 private:
  absl::Status Make() {
    const std::string name =
        "room-" + std::to_string(room_) + "-" + UtcText(shared_->wall_clock());
    int error = EEXIST;
    for (int i = 1; error == EEXIST && i <= kNamesMax; ++i) {
      const std::string file =
          name + (i > 1 ? "-" + std::to_string(i) : "") + ".replay";
      FileDescriptor made(openat(
          shared_->folder.get(), file.c_str(),
          O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, kOwnerOnly));
      if (made.valid()) {
        file_.emplace(shared_->path + "/" + file, std::move(made));
        return absl::OkStatus();
      }
      error = errno;
    }
    return MakeStatus(absl::StatusCode::kUnavailable,
                      "cannot make a file in " + shared_->path + ": " +
                          std::generic_category().message(error));
  }

  std::shared_ptr<Shared> shared_;
  const std::uint32_t room_;
  std::optional<ReplayFile> file_;
};

RecordFolder::RecordFolder(std::shared_ptr<Shared> shared)
    : shared_(std::move(shared)) {}

absl::StatusOr<std::unique_ptr<RecordFolder>> RecordFolder::Open(
    const std::string& path, WallClock wall_clock, LogSink log) {
  auto shared = std::make_shared<Shared>();
  shared->path = path;
  shared->folder =
      FileDescriptor(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!shared->folder.valid()) return FolderError(path, errno);
  if (faccessat(shared->folder.get(), ".", W_OK | X_OK, AT_EACCESS) != 0) {
    return FolderError(path, errno);
  }
  shared->wall_clock = std::move(wall_clock);
  shared->log = std::move(log);
  return std::unique_ptr<RecordFolder>(new RecordFolder(std::move(shared)));
}

RoomRecords::Recording RecordFolder::Open(std::uint32_t number) {
  constexpr std::int64_t kMsPerS = 1'000;
  return {.sink = std::make_unique<File>(shared_, number),
          .label = {.number = number,
                    .game = {},
                    .started_unix_ms = shared_->wall_clock() * kMsPerS}};
}

}  // namespace parlor::host
