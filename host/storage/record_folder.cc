#include "storage/record_folder.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <span>
#include <utility>

#include "parlor/status.h"
#include "storage/file_descriptor.h"

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

absl::Status FolderError(const std::string& path, const std::string& why) {
  return InvalidArgument(path + ": " + why);
}

}  // namespace

struct RecordFolder::Shared {
  // Of the thread of whichever room; logged once, until one can be written.
  absl::Status Failed(int error) {
    const std::string why = std::strerror(error);
    if (!failing.exchange(true) && log) {
      log(LogLevel::kWarning, "recordings end, " + path + ": " + why);
    }
    return MakeStatus(absl::StatusCode::kUnavailable, why);
  }
  void Written() {
    if (!failing.load(std::memory_order_relaxed)) return;
    if (failing.exchange(false) && log) {
      log(LogLevel::kInfo, "recordings are written again, " + path);
    }
  }

  std::string path;
  FileDescriptor folder;
  WallClock wall_clock;
  LogSink log;
  std::atomic<bool> failing = false;
};

class RecordFolder::File final : public lockstep::ReplaySink {
 public:
  File(std::shared_ptr<Shared> shared, std::uint32_t room)
      : shared_(std::move(shared)), room_(room) {}

  absl::Status Write(std::span<const std::byte> bytes) override {
    if (!file_.valid()) {
      if (const int error = Make(); error != 0) return shared_->Failed(error);
    }
    if (const int error = WriteAt(file_, bytes, size_); error != 0) {
      return shared_->Failed(error);
    }
    size_ += static_cast<std::int64_t>(bytes.size());
    shared_->Written();
    return absl::OkStatus();
  }

 private:
  // An errno, or 0.
  int Make() {
    const std::string name =
        "room-" + std::to_string(room_) + "-" + UtcText(shared_->wall_clock());
    for (int i = 1; i <= kNamesMax; ++i) {
      const std::string file =
          name + (i > 1 ? "-" + std::to_string(i) : "") + ".replay";
      file_ = FileDescriptor(openat(
          shared_->folder.get(), file.c_str(),
          O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, kOwnerOnly));
      if (file_.valid()) return 0;
      if (errno != EEXIST) return errno;
    }
    return EEXIST;
  }

  std::shared_ptr<Shared> shared_;
  const std::uint32_t room_;
  FileDescriptor file_;
  std::int64_t size_ = 0;
};

RecordFolder::RecordFolder(std::shared_ptr<Shared> shared)
    : shared_(std::move(shared)) {}

absl::StatusOr<std::unique_ptr<RecordFolder>> RecordFolder::Open(
    const std::string& path, WallClock wall_clock, LogSink log) {
  auto shared = std::make_shared<Shared>();
  shared->path = path;
  shared->folder =
      FileDescriptor(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!shared->folder.valid()) return FolderError(path, std::strerror(errno));
  if (faccessat(shared->folder.get(), ".", W_OK | X_OK, AT_EACCESS) != 0) {
    return FolderError(path, std::strerror(errno));
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
