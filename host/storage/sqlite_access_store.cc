#include "parlor/host/sqlite_access_store.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "parlor/check.h"
#include "parlor/host/access_store.h"
#include "parlor/printable.h"
#include "parlor/status.h"
#include "storage/access_database.h"
#include "wall_clock.h"

namespace parlor::host {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kLookEvery{1};

// A file that may not grow is an error of the write then, not the end of the
// process. The system sends it to the thread that writes.
void BlockFileSizeSignal() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGXFSZ);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
}

// In an order of their own, so that the same ones are the same.
absl::StatusOr<std::vector<Sha256>> SortedCodes(AccessDatabase& database) {
  absl::StatusOr<std::vector<Sha256>> codes = database.CodeHashes();
  if (codes.ok()) std::sort(codes->begin(), codes->end());
  return codes;
}

class Store final : public SqliteAccessStore {
 public:
  Store(std::unique_ptr<AccessDatabase> database, std::int64_t version,
        std::vector<Sha256> codes, StatusHook status)
      : database_(std::move(database)),
        status_(std::move(status)),
        version_(version),
        codes_(std::move(codes)) {}
  ~Store() override;

  // Throws std::system_error when the system has no thread for it.
  void Start() {
    thread_ = std::thread([this] { Work(); });
  }

  void WatchCodes(CodesHook hook) override;
  void UsePass(const PassUse& use, PassHook answer) override;
  void Refresh() override;

 private:
  struct Waiting {
    PassUse use;
    PassHook answer;
  };

  // What the thread does between two looks at what is new.
  struct Turn {
    std::vector<PassHook> refused;
    bool look = false;
    std::optional<Waiting> use;
  };

  // All of these on the thread, and but for the first without mutex_.
  void Work();
  void Do(Turn turn);
  void Look();
  absl::Status ReadCodes();
  void Note(const absl::Status& status);

  // The thread's own, once it runs.
  const std::unique_ptr<AccessDatabase> database_;
  const StatusHook status_;
  std::int64_t version_;  // of which codes_ are
  bool failing_ = false;

  // Held while the hook runs, so that a watch ends for good.
  std::mutex codes_mutex_;
  CodesHook codes_hook_;
  std::vector<Sha256> codes_;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Waiting> uses_;       // up to kUsesMax
  std::vector<PassHook> refused_;  // that came when uses_ were that many
  bool refresh_ = false;
  bool ending_ = false;

  std::thread thread_;
};

Store::~Store() {
  PARLOR_CHECK(thread_.get_id() != std::this_thread::get_id());
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void Store::WatchCodes(CodesHook hook) {
  {
    const std::lock_guard lock(codes_mutex_);
    std::swap(codes_hook_, hook);
    if (codes_hook_) codes_hook_(codes_);
  }
  // The one before ends here, where no lock is held.
}

void Store::UsePass(const PassUse& use, PassHook answer) {
  {
    const std::lock_guard lock(mutex_);
    if (uses_.size() < kUsesMax) {
      uses_.push_back({use, std::move(answer)});
    } else {
      refused_.push_back(std::move(answer));
    }
  }
  changed_.notify_all();
}

void Store::Refresh() {
  {
    const std::lock_guard lock(mutex_);
    refresh_ = true;
  }
  changed_.notify_all();
}

void Store::Work() {
  BlockFileSizeSignal();
  Clock::time_point look_at = Clock::now() + kLookEvery;
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait_until(lock, look_at, [this] {
      return ending_ || refresh_ || !refused_.empty() || !uses_.empty();
    });
    if (ending_) return;
    Turn turn;
    // Before the next use: what is revoked by now counts for it.
    turn.look = refresh_ || Clock::now() >= look_at;
    refresh_ = false;
    turn.refused = std::exchange(refused_, {});
    if (!uses_.empty()) {
      turn.use = std::move(uses_.front());
      uses_.pop_front();
    }
    lock.unlock();
    if (turn.look) look_at = Clock::now() + kLookEvery;
    Do(std::move(turn));
    lock.lock();
  }
}

// By value: the answers end in here too, where no lock is held.
void Store::Do(Turn turn) {
  for (const PassHook& answer : turn.refused) answer(PassAnswer::kFailed);
  if (turn.look) Look();
  if (!turn.use) return;
  const absl::StatusOr<PassAnswer> answer =
      database_->UsePass(turn.use->use, WallClockSeconds());
  if (!answer.ok()) Note(answer.status());
  turn.use->answer(answer.ok() ? *answer : PassAnswer::kFailed);
}

void Store::Look() {
  absl::Status status = ReadCodes();
  // That a read succeeds does not say that a disk has room again.
  if (status.ok() && failing_) status = database_->TryWrite();
  Note(status);
}

absl::Status Store::ReadCodes() {
  const absl::StatusOr<std::int64_t> version = database_->Version();
  if (!version.ok()) return version.status();
  if (*version == version_) return absl::OkStatus();
  absl::StatusOr<std::vector<Sha256>> codes = SortedCodes(*database_);
  if (!codes.ok()) return codes.status();
  version_ = *version;
  const std::lock_guard lock(codes_mutex_);
  if (*codes == codes_) return absl::OkStatus();
  codes_ = std::move(*codes);
  if (codes_hook_) codes_hook_(codes_);
  return absl::OkStatus();
}

void Store::Note(const absl::Status& status) {
  if (failing_ == !status.ok()) return;
  failing_ = !status.ok();
  if (status_) status_(status);
}

}  // namespace

absl::StatusOr<std::shared_ptr<SqliteAccessStore>> SqliteAccessStore::Open(
    const std::string& path, StatusHook status) {
  auto database = AccessDatabase::Open(path);
  if (!database.ok()) return database.status();
  // First, so that a change after it is seen as one.
  const absl::StatusOr<std::int64_t> version = (*database)->Version();
  if (!version.ok()) return version.status();
  absl::StatusOr<std::vector<Sha256>> codes = SortedCodes(**database);
  if (!codes.ok()) return codes.status();
  auto store = std::make_shared<Store>(std::move(*database), *version,
                                       std::move(*codes), std::move(status));
  try {
    store->Start();
  } catch (const std::system_error& error) {
    return MakeStatus(absl::StatusCode::kUnavailable,
                      Printable(path) + ": no thread for it: " + error.what());
  }
  return store;
}

}  // namespace parlor::host
