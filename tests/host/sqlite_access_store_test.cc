// The store's thread: answers and their order, codes that another process
// changes, a disk that takes nothing more, and the end.
#include "parlor/host/sqlite_access_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "parlor/check.h"
#include "parlor/host/access_store.h"
#include "storage/access_database.h"
#include "support/full_disk.h"
#include "support/numbered_hash.h"
#include "support/status_matchers.h"
#include "support/temp_folder.h"

namespace parlor::host {
namespace {

using test::NumberedHash;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// Long after anything here is due.
constexpr std::chrono::seconds kPatience{30};
// When a pass expires, long after this test.
constexpr std::int64_t kLater = 4'000'000'000;
constexpr std::int64_t kNow = 1'800'000'000;

PassUse Use(std::uint64_t pass, std::uint32_t device) {
  return {.pass = pass,
          .device = NumberedHash(device),
          .devices_max = 2,
          .expires_s = kLater};
}

// What comes on the store's thread, for the test's to wait for.
template <typename T>
class Arrivals {
 public:
  void Add(T value) {
    {
      const std::lock_guard lock(mutex_);
      values_.push_back(std::move(value));
    }
    added_.notify_all();
  }
  // The first `count`, or what came in all that time.
  std::vector<T> Await(std::size_t count) {
    std::unique_lock lock(mutex_);
    added_.wait_for(lock, kPatience, [&] { return values_.size() >= count; });
    return values_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable added_;
  std::vector<T> values_;
};

class SqliteAccessStoreTest : public ::testing::Test {
 protected:
  using Answers = Arrivals<PassAnswer>;
  using Codes = Arrivals<std::vector<Sha256>>;
  using Statuses = Arrivals<absl::Status>;

  std::shared_ptr<SqliteAccessStore> Open() {
    auto store = SqliteAccessStore::Open(
        path_, [statuses = statuses_](const absl::Status& status) {
          statuses->Add(status);
        });
    EXPECT_THAT(store, IsOk());
    return store.ok() ? *store : nullptr;
  }

  std::unique_ptr<AccessDatabase> CommandLine() const {
    return std::move(AccessDatabase::Open(path_).value());
  }

  static AccessStore::PassHook To(const std::shared_ptr<Answers>& answers) {
    return [answers](PassAnswer answer) { answers->Add(answer); };
  }
  static AccessStore::CodesHook To(const std::shared_ptr<Codes>& codes) {
    return [codes](std::vector<Sha256> list) { codes->Add(std::move(list)); };
  }

  // The answer to one use.
  static PassAnswer Ask(AccessStore& store, const PassUse& use) {
    auto answers = std::make_shared<Answers>();
    store.UsePass(use, To(answers));
    const auto all = answers->Await(1);
    return all.empty() ? PassAnswer::kFailed : all[0];
  }

  const test::TempFolder folder_;
  const std::string path_ = folder_.At("access.db");
  const std::shared_ptr<Statuses> statuses_ = std::make_shared<Statuses>();
};

// Keeps the store's thread inside an answer.
class Blocker {
 public:
  // Of a pass that is no test's.
  explicit Blocker(AccessStore& store) {
    auto entered = std::make_shared<std::promise<void>>();
    store.UsePass(Use(0, 0),
                  [entered, go = go_.get_future().share()](PassAnswer) {
                    entered->set_value();
                    go.wait();
                  });
    PARLOR_CHECK(entered->get_future().wait_for(kPatience) ==
                 std::future_status::ready);
  }
  void Release() { go_.set_value(); }

 private:
  std::promise<void> go_;
};

TEST_F(SqliteAccessStoreTest, AnswersInTheOrderOfTheUses) {
  const auto store = Open();
  auto answers = std::make_shared<Answers>();
  for (const PassUse& use : {Use(1, 1), Use(1, 2), Use(1, 3), Use(1, 1)}) {
    store->UsePass(use, To(answers));
  }
  EXPECT_THAT(answers->Await(4),
              ElementsAre(PassAnswer::kLetIn, PassAnswer::kLetIn,
                          PassAnswer::kOtherDevice, PassAnswer::kLetIn));
  EXPECT_THAT(CommandLine()->RevokePass(1, kLater, kNow), IsOk());
  EXPECT_EQ(Ask(*store, Use(1, 1)), PassAnswer::kRevoked);
}

TEST_F(SqliteAccessStoreTest, ExpiryIsByTheClockOnTheWall) {
  // Expired in 2020: the write that stores it keeps it, the next forgets it.
  PassUse use = Use(1, 1);
  use.expires_s = 1'600'000'000;
  use.devices_max = 1;
  const auto store = Open();
  EXPECT_EQ(Ask(*store, use), PassAnswer::kLetIn);
  EXPECT_EQ(Ask(*store, Use(2, 1)), PassAnswer::kLetIn);
  use.device = NumberedHash(2);
  EXPECT_EQ(Ask(*store, use), PassAnswer::kLetIn);
}

TEST_F(SqliteAccessStoreTest, LocksOutliveTheStore) {
  EXPECT_EQ(Ask(*Open(), Use(1, 1)), PassAnswer::kLetIn);
  EXPECT_EQ(Ask(*Open(), Use(1, 2)), PassAnswer::kLetIn);
  EXPECT_EQ(Ask(*Open(), Use(1, 3)), PassAnswer::kOtherDevice);
}

// The devices of two hosts come at the same time: each pass has room for one.
TEST_F(SqliteAccessStoreTest, TwoStoresLockNoPassTwice) {
  const auto first = Open();
  const auto second = Open();
  constexpr std::uint64_t kPasses = 100;
  auto first_answers = std::make_shared<Answers>();
  auto second_answers = std::make_shared<Answers>();
  for (std::uint64_t pass = 1; pass <= kPasses; ++pass) {
    PassUse use = Use(pass, 1);
    use.devices_max = 1;
    first->UsePass(use, To(first_answers));
    use.device = NumberedHash(2);
    second->UsePass(use, To(second_answers));
  }
  const auto one = first_answers->Await(kPasses);
  const auto two = second_answers->Await(kPasses);
  ASSERT_THAT(one, SizeIs(kPasses));
  ASSERT_THAT(two, SizeIs(kPasses));
  for (std::uint64_t i = 0; i < kPasses; ++i) {
    SCOPED_TRACE(i);
    EXPECT_FALSE(one[i] == PassAnswer::kLetIn && two[i] == PassAnswer::kLetIn);
    // kFailed: a slow disk, on which the other had the file for a second.
    EXPECT_FALSE(one[i] == PassAnswer::kOtherDevice &&
                 two[i] == PassAnswer::kOtherDevice);
  }
}

TEST_F(SqliteAccessStoreTest, WatchTellsTheCodesThatLetIn) {
  EXPECT_THAT(CommandLine()->AddCode(NumberedHash(7), "", kNow), IsOk());
  const auto store = Open();
  auto codes = std::make_shared<Codes>();
  store->WatchCodes(To(codes));
  // It was told inside.
  EXPECT_THAT(codes->Await(0), ElementsAre(ElementsAre(NumberedHash(7))));

  // Without being asked: within a second.
  EXPECT_THAT(CommandLine()->AddCode(NumberedHash(3), "", kNow), IsOk());
  const auto asked = std::chrono::steady_clock::now();
  ASSERT_THAT(codes->Await(2), SizeIs(2));
  EXPECT_LT(std::chrono::steady_clock::now() - asked, std::chrono::seconds(5));
  EXPECT_THAT(codes->Await(2)[1],
              ElementsAre(NumberedHash(3), NumberedHash(7)));

  // Asked: now.
  EXPECT_THAT(CommandLine()->RevokeCode(1, kNow), IsOk());
  store->Refresh();
  ASSERT_THAT(codes->Await(3), SizeIs(3));
  EXPECT_THAT(codes->Await(3)[2], ElementsAre(NumberedHash(3)));
}

TEST_F(SqliteAccessStoreTest, WatchIsNotToldOfWhatIsNoCode) {
  const auto store = Open();
  auto codes = std::make_shared<Codes>();
  store->WatchCodes(To(codes));
  EXPECT_THAT(CommandLine()->RevokePass(1, kLater, kNow), IsOk());
  store->Refresh();
  // A look comes before the next use.
  EXPECT_EQ(Ask(*store, Use(1, 1)), PassAnswer::kRevoked);
  EXPECT_THAT(codes->Await(0), ElementsAre(IsEmpty()));
}

TEST_F(SqliteAccessStoreTest, WatchEnds) {
  const auto store = Open();
  auto codes = std::make_shared<Codes>();
  store->WatchCodes(To(codes));
  store->WatchCodes({});
  EXPECT_EQ(codes.use_count(), 1);
  EXPECT_THAT(CommandLine()->AddCode(NumberedHash(1), "", kNow), IsOk());
  store->Refresh();
  EXPECT_EQ(Ask(*store, Use(1, 1)), PassAnswer::kLetIn);
  EXPECT_THAT(codes->Await(0), SizeIs(1));
  // What it missed, the next one is told.
  store->WatchCodes(To(codes));
  EXPECT_THAT(codes->Await(0)[1], ElementsAre(NumberedHash(1)));
}

TEST_F(SqliteAccessStoreTest, MoreThanItTakesFailAtOnce) {
  const auto store = Open();
  Blocker blocker(*store);
  auto answers = std::make_shared<Answers>();
  const std::thread::id own = std::this_thread::get_id();
  bool inside = false;
  const std::size_t more = 3;
  for (std::size_t i = 0; i < kUsesMax + more; ++i) {
    store->UsePass(Use(1, 1), [&, answers](PassAnswer answer) {
      inside = inside || std::this_thread::get_id() == own;
      answers->Add(answer);
    });
  }
  EXPECT_THAT(answers->Await(0), IsEmpty());
  blocker.Release();
  std::vector<PassAnswer> expected(kUsesMax + more, PassAnswer::kLetIn);
  std::fill_n(expected.begin(), more, PassAnswer::kFailed);
  EXPECT_EQ(answers->Await(kUsesMax + more), expected);
  EXPECT_FALSE(inside);
}

TEST_F(SqliteAccessStoreTest, AnswersAreOutsideAnyLock) {
  const auto store = Open();
  auto answers = std::make_shared<Answers>();
  auto codes = std::make_shared<Codes>();
  store->UsePass(Use(1, 1), [&, answers](PassAnswer answer) {
    answers->Add(answer);
    store->WatchCodes(To(codes));
    store->Refresh();
    store->UsePass(Use(1, 2), To(answers));
  });
  EXPECT_THAT(answers->Await(2), SizeIs(2));
}

TEST_F(SqliteAccessStoreTest, FullDiskIsSaidOnceAndSoIsItsEnd) {
  const auto store = Open();
  EXPECT_EQ(Ask(*store, Use(1, 1)), PassAnswer::kLetIn);
  {
    const test::FullDisk full;
    EXPECT_EQ(Ask(*store, Use(1, 2)), PassAnswer::kFailed);
    EXPECT_EQ(Ask(*store, Use(1, 2)), PassAnswer::kFailed);
    EXPECT_EQ(Ask(*store, Use(1, 1)), PassAnswer::kLetIn);
    // Looks succeed, and still it is not said that all is well.
    store->Refresh();
    EXPECT_EQ(Ask(*store, Use(1, 1)), PassAnswer::kLetIn);
    EXPECT_THAT(statuses_->Await(1),
                ElementsAre(StatusIs(absl::StatusCode::kUnavailable,
                                     HasSubstr(path_))));
  }
  // Nobody asks for anything.
  const auto statuses = statuses_->Await(2);
  ASSERT_THAT(statuses, SizeIs(2));
  EXPECT_THAT(statuses[1], IsOk());
  EXPECT_EQ(Ask(*store, Use(1, 2)), PassAnswer::kLetIn);
  EXPECT_THAT(statuses_->Await(0), SizeIs(2));
}

// A library's host has no say in what the process does with signals.
TEST_F(SqliteAccessStoreTest, FullDiskEndsNoProcess) {
  const auto store = Open();
  EXPECT_EQ(Ask(*store, Use(1, 1)), PassAnswer::kLetIn);
  {
    // Whatever those who run the tests do with it.
    std::signal(SIGXFSZ, SIG_DFL);
    const test::FileSizeLimit full(0);
    EXPECT_EQ(Ask(*store, Use(1, 2)), PassAnswer::kFailed);
  }
  EXPECT_EQ(Ask(*store, Use(1, 2)), PassAnswer::kLetIn);
}

TEST_F(SqliteAccessStoreTest, FileThatIsGoneIsSaidAndLetsNobodyIn) {
  const auto store = Open();
  EXPECT_EQ(Ask(*store, Use(1, 1)), PassAnswer::kLetIn);
  std::filesystem::rename(path_, folder_.At("away"));
  EXPECT_EQ(Ask(*store, Use(1, 1)), PassAnswer::kFailed);
  std::filesystem::rename(folder_.At("away"), path_);
  EXPECT_EQ(Ask(*store, Use(1, 1)), PassAnswer::kLetIn);
  const auto statuses = statuses_->Await(2);
  ASSERT_THAT(statuses, SizeIs(2));
  EXPECT_THAT(statuses[0], StatusIs(absl::StatusCode::kUnavailable,
                                    HasSubstr("moved, replaced or deleted")));
  EXPECT_THAT(statuses[1], IsOk());
}

TEST_F(SqliteAccessStoreTest, EndDestroysWhatIsNotAnswered) {
  auto store = Open();
  Blocker blocker(*store);
  auto answers = std::make_shared<Answers>();
  constexpr std::size_t kUses = 1'000;
  for (std::uint32_t i = 0; i < kUses; ++i) {
    // New devices: all of them would take a second at least.
    store->UsePass(Use(i, i), To(answers));
  }
  EXPECT_EQ(answers.use_count(), 1 + static_cast<int>(kUses));
  const std::weak_ptr<SqliteAccessStore> gone = store;
  std::thread end([&store] { store.reset(); });
  while (!gone.expired()) std::this_thread::yield();
  blocker.Release();
  end.join();
  EXPECT_EQ(answers.use_count(), 1);
  EXPECT_LT(answers->Await(0).size(), kUses);
}

TEST_F(SqliteAccessStoreTest, FileThatIsNoneIsAnError) {
  EXPECT_THAT(SqliteAccessStore::Open(folder_.path()),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr(folder_.path())));
  EXPECT_THAT(SqliteAccessStore::Open(folder_.At("none/access.db")),
              StatusIs(absl::StatusCode::kUnavailable, HasSubstr("none")));
}

}  // namespace
}  // namespace parlor::host
