// The file of codes and passes: each call, two of them on one file, files that
// are not ours, and a disk that takes nothing more.
#include "storage/access_database.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "parlor/host/access_store.h"
#include "parlor/host/gate_options.h"
#include "support/files.h"
#include "support/full_disk.h"
#include "support/numbered_hash.h"
#include "support/status_matchers.h"
#include "support/temp_folder.h"

namespace parlor::host {
namespace {

// How often this process has waited for the disk.
int syncs = 0;

}  // namespace
}  // namespace parlor::host

// SQLite calls them, and finds these before the C library's.
// NOLINTBEGIN(readability-inconsistent-declaration-parameter-name)
extern "C" int fsync(int file) {
  ++parlor::host::syncs;
  return static_cast<int>(syscall(SYS_fsync, file));
}
extern "C" int fdatasync(int file) {
  ++parlor::host::syncs;
  return static_cast<int>(syscall(SYS_fdatasync, file));
}
// NOLINTEND(readability-inconsistent-declaration-parameter-name)

namespace parlor::host {
namespace {

using test::ModeOf;
using test::NumberedHash;
using test::ReadFile;
using test::WriteFile;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::UnorderedElementsAre;

constexpr std::int64_t kNow = 1'800'000'000;
constexpr std::int64_t kDay = 86'400;
constexpr std::int64_t kLater = kNow + 30 * kDay;

PassUse Use(std::uint64_t pass, std::uint32_t device,
            std::int64_t devices_max = 2) {
  return {.pass = pass,
          .device = NumberedHash(device),
          .devices_max = devices_max,
          .expires_s = kLater};
}

AccessDatabase::Pass ListedPass(std::uint64_t id, std::string label) {
  return {.id = id,
          .label = std::move(label),
          .made_s = kNow,
          .expires_s = kLater,
          .devices_max = 2};
}

class AccessDatabaseTest : public ::testing::Test {
 protected:
  std::unique_ptr<AccessDatabase> Open() const {
    auto database = AccessDatabase::Open(path_);
    EXPECT_THAT(database, IsOk());
    return database.ok() ? std::move(*database) : nullptr;
  }

  // What SQLite does with `sql` on the file, as another program.
  void Execute(const char* sql) const {
    sqlite3* database = nullptr;
    ASSERT_EQ(sqlite3_open(path_.c_str(), &database), SQLITE_OK);
    EXPECT_EQ(sqlite3_exec(database, sql, nullptr, nullptr, nullptr), SQLITE_OK)
        << sqlite3_errmsg(database);
    EXPECT_EQ(sqlite3_close(database), SQLITE_OK);
  }

  const test::TempFolder folder_;
  const std::string path_ = folder_.At("access.db");
};

TEST_F(AccessDatabaseTest, NewOneHoldsNothing) {
  const auto database = Open();
  EXPECT_THAT(*database->Codes(), IsEmpty());
  EXPECT_THAT(*database->CodeHashes(), IsEmpty());
  EXPECT_THAT(*database->Passes(), IsEmpty());
  EXPECT_THAT(database->TryWrite(), IsOk());
}

TEST_F(AccessDatabaseTest, CodesAreListedAndLetInUntilRevoked) {
  const auto database = Open();
  EXPECT_EQ(*database->AddCode(NumberedHash(1), "Ada", kNow), 1);
  EXPECT_EQ(*database->AddCode(NumberedHash(2), "", kNow + 1), 2);
  EXPECT_THAT(*database->CodeHashes(),
              UnorderedElementsAre(NumberedHash(1), NumberedHash(2)));
  EXPECT_THAT(database->RevokeCode(1, kNow + 5), IsOk());
  EXPECT_THAT(database->RevokeCode(1, kNow + 9), IsOk());
  EXPECT_THAT(*database->CodeHashes(), ElementsAre(NumberedHash(2)));

  const auto codes = *database->Codes();
  ASSERT_EQ(codes.size(), 2U);
  EXPECT_EQ(codes[0].id, 1);
  EXPECT_EQ(codes[0].label, "Ada");
  EXPECT_EQ(codes[0].made_s, kNow);
  EXPECT_EQ(codes[0].revoked_s, kNow + 5);
  EXPECT_EQ(codes[1].id, 2);
  EXPECT_EQ(codes[1].label, "");
  EXPECT_EQ(codes[1].revoked_s, std::nullopt);
}

TEST_F(AccessDatabaseTest, CodeThatLetsInIsNotAddedTwice) {
  const auto database = Open();
  EXPECT_THAT(database->AddCode(NumberedHash(1), "Ada", kNow), IsOk());
  EXPECT_THAT(
      database->AddCode(NumberedHash(1), "Bob", kNow),
      StatusIs(absl::StatusCode::kAlreadyExists, Not(HasSubstr("Bob"))));
  EXPECT_EQ(database->Codes()->size(), 1U);
  EXPECT_THAT(database->RevokeCode(1, kNow), IsOk());
  EXPECT_EQ(*database->AddCode(NumberedHash(1), "Bob", kNow), 2);
  EXPECT_THAT(*database->CodeHashes(), ElementsAre(NumberedHash(1)));
}

TEST_F(AccessDatabaseTest, UnknownCodeIsNotRevoked) {
  const auto database = Open();
  EXPECT_THAT(database->RevokeCode(7, kNow),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("7")));
}

TEST_F(AccessDatabaseTest, HasAsManyCodesAsAGateTakes) {
  // Each in its own commit would take seconds.
  Open();
  Execute(
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE"
      " i < 4095) INSERT INTO codes (hash, label, made_s)"
      " SELECT CAST(printf('%032d', i) AS BLOB), '', 1 FROM n");
  const auto database = Open();
  EXPECT_EQ(*database->AddCode(NumberedHash(1), "", kNow),
            static_cast<std::int64_t>(kCodesMax));
  EXPECT_THAT(
      database->AddCode(NumberedHash(2), "", kNow),
      StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("4096")));
  EXPECT_THAT(database->RevokeCode(9, kNow), IsOk());
  EXPECT_THAT(database->AddCode(NumberedHash(2), "", kNow), IsOk());
  EXPECT_EQ(database->CodeHashes()->size(), kCodesMax);
}

TEST_F(AccessDatabaseTest, PassIsLockedToItsFirstDevices) {
  const auto database = Open();
  EXPECT_EQ(*database->UsePass(Use(5, 1), kNow), PassAnswer::kLetIn);
  EXPECT_EQ(*database->UsePass(Use(5, 2), kNow), PassAnswer::kLetIn);
  EXPECT_EQ(*database->UsePass(Use(5, 3), kNow), PassAnswer::kOtherDevice);
  EXPECT_EQ(*database->UsePass(Use(5, 1), kNow), PassAnswer::kLetIn);
  EXPECT_EQ(*database->UsePass(Use(5, 2), kNow), PassAnswer::kLetIn);
  // Another pass has devices of its own.
  EXPECT_EQ(*database->UsePass(Use(6, 3, 1), kNow), PassAnswer::kLetIn);
  EXPECT_EQ(*database->UsePass(Use(6, 1, 1), kNow), PassAnswer::kOtherDevice);
}

TEST_F(AccessDatabaseTest, RevokedPassLetsNobodyIn) {
  const auto database = Open();
  EXPECT_EQ(*database->UsePass(Use(5, 1), kNow), PassAnswer::kLetIn);
  EXPECT_THAT(database->RevokePass(5, kLater, kNow), IsOk());
  EXPECT_THAT(database->RevokePass(5, kLater, kNow), IsOk());
  EXPECT_EQ(*database->UsePass(Use(5, 1), kNow), PassAnswer::kRevoked);
  EXPECT_EQ(*database->UsePass(Use(5, 2), kNow), PassAnswer::kRevoked);
  // And one that was never seen.
  EXPECT_THAT(database->RevokePass(~std::uint64_t{0}, kLater, kNow), IsOk());
  EXPECT_EQ(*database->UsePass(Use(~std::uint64_t{0}, 1), kNow),
            PassAnswer::kRevoked);
}

TEST_F(AccessDatabaseTest, PassesAreListedWithWhatBecameOfThem) {
  const auto database = Open();
  EXPECT_THAT(database->AddPass(ListedPass(9, "Ada")), IsOk());
  EXPECT_THAT(database->AddPass(ListedPass(~std::uint64_t{0}, "Bob")), IsOk());
  auto earlier = ListedPass(10, "Cy");
  earlier.made_s = kNow - 1;
  EXPECT_THAT(database->AddPass(earlier), IsOk());
  EXPECT_THAT(database->AddPass(ListedPass(9, "Dan")),
              StatusIs(absl::StatusCode::kAlreadyExists));
  EXPECT_THAT(database->UsePass(Use(9, 1), kNow), IsOk());
  EXPECT_THAT(database->UsePass(Use(9, 2), kNow), IsOk());
  EXPECT_THAT(database->RevokePass(10, kLater, kNow + 3), IsOk());

  const auto passes = *database->Passes();
  EXPECT_THAT(passes, ElementsAre(Field(&AccessDatabase::Pass::label, "Cy"),
                                  Field(&AccessDatabase::Pass::label, "Ada"),
                                  Field(&AccessDatabase::Pass::label, "Bob")));
  ASSERT_EQ(passes.size(), 3U);
  EXPECT_EQ(passes[0].revoked_s, kNow + 3);
  EXPECT_EQ(passes[1].devices, 2);
  EXPECT_EQ(passes[1].devices_max, 2);
  EXPECT_EQ(passes[1].expires_s, kLater);
  EXPECT_EQ(passes[1].revoked_s, std::nullopt);
  EXPECT_EQ(passes[2].id, ~std::uint64_t{0});
}

TEST_F(AccessDatabaseTest, PassHasAsManyDevicesAsAnyMay) {
  const auto database = Open();
  for (const std::int64_t devices : {0, 17}) {
    auto pass = ListedPass(1, "Ada");
    pass.devices_max = devices;
    EXPECT_THAT(database->AddPass(pass),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         HasSubstr(std::to_string(devices))));
  }
  EXPECT_THAT(*database->Passes(), IsEmpty());
}

TEST_F(AccessDatabaseTest, ForgetsWhatHasExpiredForADay) {
  const auto database = Open();
  EXPECT_THAT(database->AddPass(ListedPass(5, "Ada")), IsOk());
  EXPECT_THAT(database->UsePass(Use(5, 1, 1), kNow), IsOk());
  EXPECT_THAT(database->RevokePass(6, kLater, kNow), IsOk());
  // Of the earlier and the later time, the later counts.
  EXPECT_THAT(database->RevokePass(6, kNow, kNow), IsOk());

  // A day after, all is there; a write a second later forgets it.
  EXPECT_THAT(database->AddCode(NumberedHash(1), "", kLater + kDay), IsOk());
  EXPECT_EQ(database->Passes()->size(), 1U);
  EXPECT_EQ(*database->UsePass(Use(5, 2, 1), kNow), PassAnswer::kOtherDevice);
  EXPECT_EQ(*database->UsePass(Use(6, 1), kNow), PassAnswer::kRevoked);
  EXPECT_THAT(database->AddCode(NumberedHash(2), "", kLater + kDay + 1),
              IsOk());
  EXPECT_THAT(*database->Passes(), IsEmpty());
  EXPECT_EQ(*database->UsePass(Use(5, 2, 1), kNow), PassAnswer::kLetIn);
  EXPECT_EQ(*database->UsePass(Use(6, 1), kNow), PassAnswer::kLetIn);
}

TEST_F(AccessDatabaseTest, ForgetsSomeAtATime) {
  Open();
  Execute(
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE"
      " i < 100) INSERT INTO passes SELECT i, '', 1, 2, 1 FROM n");
  const auto database = Open();
  EXPECT_EQ(database->Passes()->size(), 100U);
  EXPECT_THAT(database->AddCode(NumberedHash(1), "", kNow), IsOk());
  EXPECT_EQ(database->Passes()->size(), 36U);
  EXPECT_THAT(database->AddCode(NumberedHash(2), "", kNow), IsOk());
  EXPECT_THAT(*database->Passes(), IsEmpty());
}

TEST_F(AccessDatabaseTest, AllIsThereWhenItIsOpenedAgain) {
  {
    const auto database = Open();
    EXPECT_THAT(database->AddCode(NumberedHash(1), "Ada", kNow), IsOk());
    EXPECT_THAT(database->UsePass(Use(5, 1, 1), kNow), IsOk());
    EXPECT_THAT(database->RevokePass(6, kLater, kNow), IsOk());
  }
  EXPECT_THAT(folder_.Names(), ElementsAre("access.db"));
  const auto database = Open();
  EXPECT_THAT(*database->CodeHashes(), ElementsAre(NumberedHash(1)));
  EXPECT_EQ(*database->UsePass(Use(5, 2, 1), kNow), PassAnswer::kOtherDevice);
  EXPECT_EQ(*database->UsePass(Use(6, 1), kNow), PassAnswer::kRevoked);
  EXPECT_EQ(*database->AddCode(NumberedHash(2), "Bob", kNow), 2);
}

TEST_F(AccessDatabaseTest, TwoOnOneFileSeeEachOther) {
  const auto host = Open();
  const auto command_line = Open();
  const std::int64_t before = *host->Version();
  EXPECT_EQ(*host->Version(), before);

  EXPECT_THAT(command_line->AddCode(NumberedHash(1), "", kNow), IsOk());
  const std::int64_t after = *host->Version();
  EXPECT_NE(after, before);
  EXPECT_THAT(*host->CodeHashes(), ElementsAre(NumberedHash(1)));
  // What one changes itself is no news to it.
  EXPECT_EQ(*host->UsePass(Use(5, 1, 1), kNow), PassAnswer::kLetIn);
  EXPECT_EQ(*host->Version(), after);

  EXPECT_EQ(*command_line->UsePass(Use(5, 2, 1), kNow),
            PassAnswer::kOtherDevice);
  EXPECT_THAT(command_line->RevokePass(5, kLater, kNow), IsOk());
  EXPECT_EQ(*host->UsePass(Use(5, 1, 1), kNow), PassAnswer::kRevoked);
}

// To open and to close one in the same process leaves another its locks.
TEST_F(AccessDatabaseTest, OneThatIsClosedTakesNothingFromTheOther) {
  const auto host = Open();
  EXPECT_THAT(host->AddCode(NumberedHash(1), "", kNow), IsOk());
  Open().reset();
  EXPECT_THAT(AccessDatabase::Open(folder_.path()), Not(IsOk()));
  Execute("SELECT * FROM codes");
  EXPECT_THAT(
      folder_.Names(),
      UnorderedElementsAre("access.db", "access.db-wal", "access.db-shm"));
  EXPECT_THAT(host->AddCode(NumberedHash(2), "", kNow), IsOk());
  EXPECT_EQ(Open()->CodeHashes()->size(), 2U);
}

TEST_F(AccessDatabaseTest, EachChangeIsOnTheDiskBeforeItIsAcknowledged) {
  const auto database = Open();
  const auto syncs_of = [](auto call) {
    const int before = syncs;
    EXPECT_THAT(call(), IsOk());
    return syncs - before;
  };
  // The first change also makes the WAL, whose name has to stay.
  EXPECT_THAT(database->TryWrite(), IsOk());
  EXPECT_EQ(
      syncs_of([&] { return database->AddCode(NumberedHash(1), "", kNow); }),
      1);
  EXPECT_EQ(syncs_of([&] { return database->RevokeCode(1, kNow); }), 1);
  EXPECT_EQ(syncs_of([&] { return database->AddPass(ListedPass(5, "")); }), 1);
  EXPECT_EQ(syncs_of([&] { return database->UsePass(Use(5, 1), kNow); }), 1);
  EXPECT_EQ(syncs_of([&] { return database->UsePass(Use(5, 1), kNow); }), 0);
  EXPECT_EQ(syncs_of([&] { return database->RevokePass(5, 1, kNow); }), 1);
}

TEST_F(AccessDatabaseTest, OnlyTheOwnerMayRead) {
  const mode_t before = umask(0);
  const auto database = Open();
  EXPECT_THAT(database->AddCode(NumberedHash(1), "", kNow), IsOk());
  umask(before);
  for (const char* end : {"", "-wal", "-shm"}) {
    SCOPED_TRACE(end);
    EXPECT_EQ(ModeOf(path_ + end), 0600U);
  }
}

TEST_F(AccessDatabaseTest, IsBornWithItsMode) {
  const auto database = Open();
  EXPECT_EQ(ReadFile(path_).substr(18, 2), "\x02\x02");
}

struct LabelCase {
  std::string label;
  bool fits;
};

TEST_F(AccessDatabaseTest, LabelsAreShortAndPrintable) {
  const std::vector<LabelCase> cases = {
      {"", true},
      {"Ada's laptop", true},
      {std::string(64, 'x'), true},
      {std::string(65, 'x'), false},
      {"\u00e4\u00f6\u00fc \u65e5\u672c \U0001f3b2 \u00a0", true},
      {"\u200d\u2010\u2027\u202f\u2065\u206a", true},
      {"\xff", false},                  // no UTF-8
      {"\xe6\x97", false},              // cut off
      {std::string("a\0b", 3), false},  // a zero
      {"a\nb", false},                  // a new line
      {"\x1b[31m", false},              // ESC [
      {"\x7f", false},                  // a delete
      {"a\u0085", false},               // a new line
      {"\u009b31m", false},             // as ESC [
      // Right to left from here; the next is one of its likes; a line ends.
      {{'\xe2', '\x80', '\xae', 'a', 'd', 'A'}, false},
      {{'\xe2', '\x81', '\xa6'}, false},
      {{'\xe2', '\x80', '\xa8'}, false},
      {{'\xe2', '\x80', '\x8f'}, false},
      {{'\xd8', '\x9c'}, false},
      {"'); DROP TABLE codes; --", true},
  };
  const auto database = Open();
  std::uint32_t number = 0;
  for (const LabelCase& one : cases) {
    SCOPED_TRACE(one.label);
    ++number;
    EXPECT_EQ(WhatIsWrongWithLabel(one.label).empty(), one.fits);
    const auto added = database->AddCode(NumberedHash(number), one.label, kNow);
    const auto listed = database->AddPass(ListedPass(number, one.label));
    const auto code =
        one.fits ? absl::StatusCode::kOk : absl::StatusCode::kInvalidArgument;
    EXPECT_THAT(added, StatusIs(code));
    EXPECT_THAT(listed, StatusIs(code));
    if (!one.fits) continue;
    EXPECT_EQ(database->Codes()->back().label, one.label);
    EXPECT_EQ(database->Passes()->back().label, one.label);
  }
}

class ForeignFileTest : public AccessDatabaseTest {
 protected:
  // The file is refused, with that in the message, and nothing about it has
  // changed nor is anything new beside it.
  void ExpectRefused(std::string_view what) const {
    const std::string before = ReadFile(path_);
    const auto files = folder_.Names();
    EXPECT_THAT(AccessDatabase::Open(path_),
                StatusIs(absl::StatusCode::kFailedPrecondition,
                         AllOf(HasSubstr(path_), HasSubstr(what))));
    EXPECT_EQ(ReadFile(path_), before);
    EXPECT_EQ(folder_.Names(), files);
  }

  // An access database with a code, closed.
  void Make() const {
    EXPECT_THAT(Open()->AddCode(NumberedHash(1), "Ada", kNow), IsOk());
  }
};

TEST_F(ForeignFileTest, Empty) {
  WriteFile(path_, "");
  ExpectRefused("no access database");
}

TEST_F(ForeignFileTest, Text) {
  WriteFile(path_, std::string(5'000, '#'));
  ExpectRefused("no access database");
}

TEST_F(ForeignFileTest, OnlyTheFirstBytesOfADatabase) {
  Make();
  WriteFile(path_, ReadFile(path_).substr(0, 60));
  ExpectRefused("no access database");
}

TEST_F(ForeignFileTest, AnotherProgramsDatabase) {
  Execute("CREATE TABLE songs (name TEXT)");
  ExpectRefused("no access database");
}

TEST_F(ForeignFileTest, AnotherProgramsDatabaseWithAJournal) {
  Execute("PRAGMA application_id = 7; CREATE TABLE songs (name TEXT)");
  // Whoever takes it for a journal of that file would play it back.
  WriteFile(path_ + "-journal", ReadFile(path_));
  WriteFile(path_ + "-wal", ReadFile(path_));
  ExpectRefused("no access database");
}

TEST_F(ForeignFileTest, LaterVersion) {
  Make();
  Execute("PRAGMA user_version = 2");
  ExpectRefused("version 2");
}

TEST_F(ForeignFileTest, LaterVersionThatIsInTheWalOnly) {
  Make();
  sqlite3* later = nullptr;
  ASSERT_EQ(sqlite3_open(path_.c_str(), &later), SQLITE_OK);
  EXPECT_EQ(
      sqlite3_exec(later, "PRAGMA user_version = 2", nullptr, nullptr, nullptr),
      SQLITE_OK);
  ExpectRefused("version 2");
  EXPECT_EQ(sqlite3_close(later), SQLITE_OK);
}

TEST_F(ForeignFileTest, Truncated) {
  Make();
  const std::string whole = ReadFile(path_);
  for (const std::size_t size : {whole.size() - 4'096, whole.size() / 2,
                                 std::size_t{4'096}, std::size_t{100}}) {
    SCOPED_TRACE(size);
    WriteFile(path_, whole.substr(0, size));
    ExpectRefused("malformed");
  }
}

TEST_F(ForeignFileTest, WithoutATable) {
  Make();
  Execute("DROP TABLE devices");
  ExpectRefused(": ");
}

TEST_F(ForeignFileTest, ARestoredBackupIsOurs) {
  Make();
  Execute("PRAGMA journal_mode = DELETE");
  EXPECT_NE(ReadFile(path_).substr(18, 2), "\x02\x02");
  EXPECT_THAT(*Open()->CodeHashes(), ElementsAre(NumberedHash(1)));
  EXPECT_EQ(ReadFile(path_).substr(18, 2), "\x02\x02");
}

TEST_F(ForeignFileTest, NoFileAtAll) {
  EXPECT_THAT(AccessDatabase::Open(folder_.path()),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr(folder_.path())));
  ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0);
  EXPECT_THAT(AccessDatabase::Open(path_),
              StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_THAT(AccessDatabase::Open(folder_.At("none/access.db")),
              StatusIs(absl::StatusCode::kUnavailable, HasSubstr("none")));
  EXPECT_THAT(AccessDatabase::Open(""),
              StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(AccessDatabase::Open(std::string("a\0b", 3)),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

// What SQLite would take for something else than the file of that name.
TEST_F(ForeignFileTest, NamesMeanFiles) {
  const std::string before = std::filesystem::current_path();
  std::filesystem::current_path(folder_.path());
  for (const char* name : {":memory:", "file:access?mode=memory", "plain"}) {
    SCOPED_TRACE(name);
    const auto database = AccessDatabase::Open(name);
    ASSERT_THAT(database, IsOk());
    EXPECT_TRUE(std::filesystem::exists(folder_.At(name)));
  }
  std::filesystem::current_path(before);
}

TEST_F(AccessDatabaseTest, FullDiskFailsAndPasses) {
  const auto database = Open();
  EXPECT_EQ(*database->UsePass(Use(5, 1), kNow), PassAnswer::kLetIn);
  {
    const test::FullDisk full;
    EXPECT_THAT(database->AddCode(NumberedHash(1), "Ada", kNow),
                StatusIs(absl::StatusCode::kUnavailable,
                         AllOf(HasSubstr(path_), Not(HasSubstr("Ada")))));
    EXPECT_THAT(database->UsePass(Use(5, 2), kNow),
                StatusIs(absl::StatusCode::kUnavailable));
    EXPECT_THAT(database->RevokePass(5, kLater, kNow),
                StatusIs(absl::StatusCode::kUnavailable));
    EXPECT_THAT(database->TryWrite(), StatusIs(absl::StatusCode::kUnavailable));
    // Nothing has to be written for those.
    EXPECT_EQ(*database->UsePass(Use(5, 1), kNow), PassAnswer::kLetIn);
    EXPECT_THAT(*database->CodeHashes(), IsEmpty());
    EXPECT_THAT(AccessDatabase::Open(folder_.At("new.db")),
                StatusIs(absl::StatusCode::kUnavailable, HasSubstr("new.db")));
  }
  EXPECT_THAT(database->TryWrite(), IsOk());
  EXPECT_EQ(*database->AddCode(NumberedHash(1), "Ada", kNow), 1);
  EXPECT_EQ(*database->UsePass(Use(5, 2), kNow), PassAnswer::kLetIn);
  EXPECT_THAT(Open()->CodeHashes().value(), ElementsAre(NumberedHash(1)));
  // The half of a new file is gone.
  EXPECT_THAT(
      folder_.Names(),
      UnorderedElementsAre("access.db", "access.db-wal", "access.db-shm"));
}

TEST_F(AccessDatabaseTest, FileThatIsLockedKeepsOutNewDevicesOnly) {
  const auto database = Open();
  EXPECT_EQ(*database->UsePass(Use(5, 1), kNow), PassAnswer::kLetIn);
  sqlite3* other = nullptr;
  ASSERT_EQ(sqlite3_open(path_.c_str(), &other), SQLITE_OK);
  EXPECT_EQ(sqlite3_exec(other, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr),
            SQLITE_OK);
  EXPECT_EQ(*database->UsePass(Use(5, 1), kNow), PassAnswer::kLetIn);
  EXPECT_THAT(database->UsePass(Use(5, 2), kNow),
              StatusIs(absl::StatusCode::kUnavailable, HasSubstr("locked")));
  EXPECT_EQ(sqlite3_close(other), SQLITE_OK);
  EXPECT_EQ(*database->UsePass(Use(5, 2), kNow), PassAnswer::kLetIn);
}

// Whoever needs no lock may wait behind many who do.
TEST_F(AccessDatabaseTest, LockIsWaitedForOnce) {
  constexpr std::uint32_t kDevices = 30;
  const auto database = Open();
  sqlite3* other = nullptr;
  ASSERT_EQ(sqlite3_open(path_.c_str(), &other), SQLITE_OK);
  EXPECT_EQ(sqlite3_exec(other, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr),
            SQLITE_OK);
  const auto begin = std::chrono::steady_clock::now();
  for (std::uint32_t device = 0; device < kDevices; ++device) {
    EXPECT_THAT(database->UsePass(Use(device, device), kNow),
                StatusIs(absl::StatusCode::kUnavailable));
    EXPECT_THAT(database->TryWrite(), StatusIs(absl::StatusCode::kUnavailable));
  }
  // A second for each were a minute.
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
  EXPECT_EQ(sqlite3_close(other), SQLITE_OK);
  EXPECT_EQ(*database->UsePass(Use(5, 2), kNow), PassAnswer::kLetIn);
}

// What SQLite has open is another file then, in which nobody else looks.
class MovedFileTest : public AccessDatabaseTest {
 protected:
  void ExpectNothingWorks(AccessDatabase& database) const {
    const auto moved = StatusIs(
        absl::StatusCode::kUnavailable,
        AllOf(HasSubstr(path_), HasSubstr("moved, replaced or deleted")));
    EXPECT_THAT(database.UsePass(Use(5, 1), kNow), moved);
    EXPECT_THAT(database.UsePass(Use(5, 2), kNow), moved);
    EXPECT_THAT(database.AddCode(NumberedHash(1), "Ada", kNow), moved);
    EXPECT_THAT(database.RevokePass(5, kLater, kNow), moved);
    EXPECT_THAT(database.Version(), moved);
    EXPECT_THAT(database.TryWrite(), moved);
  }
};

TEST_F(MovedFileTest, Deleted) {
  const auto database = Open();
  EXPECT_EQ(*database->UsePass(Use(5, 1), kNow), PassAnswer::kLetIn);
  std::filesystem::remove(path_);
  ExpectNothingWorks(*database);
}

TEST_F(MovedFileTest, Replaced) {
  const auto database = Open();
  EXPECT_EQ(*database->UsePass(Use(5, 1), kNow), PassAnswer::kLetIn);
  {
    const auto backup = AccessDatabase::Open(folder_.At("backup.db"));
    ASSERT_THAT(backup, IsOk());
    EXPECT_THAT((*backup)->RevokePass(5, kLater, kNow), IsOk());
  }
  std::filesystem::rename(folder_.At("backup.db"), path_);
  ExpectNothingWorks(*database);
}

TEST_F(MovedFileTest, PutBack) {
  const auto database = Open();
  EXPECT_EQ(*database->UsePass(Use(5, 1), kNow), PassAnswer::kLetIn);
  std::filesystem::rename(path_, folder_.At("away"));
  ExpectNothingWorks(*database);
  std::filesystem::rename(folder_.At("away"), path_);
  EXPECT_EQ(*database->UsePass(Use(5, 1), kNow), PassAnswer::kLetIn);
  EXPECT_THAT(database->TryWrite(), IsOk());
}

TEST_F(AccessDatabaseTest, MistakesInTheFileAreAnErrorAndNoCrash) {
  const auto database = Open();
  EXPECT_THAT(database->AddCode(NumberedHash(1), "Ada", kNow), IsOk());
  Execute(
      "PRAGMA ignore_check_constraints = 1;"
      "UPDATE codes SET hash = x'00'");
  EXPECT_THAT(database->CodeHashes(), StatusIs(absl::StatusCode::kDataLoss));
}

}  // namespace
}  // namespace parlor::host
