#include "storage/replay_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <array>
#include <filesystem>
#include <memory>
#include <string>

#include "parlor/lockstep/desync.h"
#include "parlor/status.h"
#include "support/full_disk.h"
#include "support/status_matchers.h"
#include "support/temp_folder.h"

namespace parlor::host {
namespace {

using ::testing::HasSubstr;

constexpr std::array kBytes = {std::byte{1}, std::byte{2}, std::byte{3}};

mode_t ModeOf(const std::string& path) {
  struct stat about {};
  EXPECT_EQ(stat(path.c_str(), &about), 0);
  return about.st_mode & 07777;
}

TEST(ReplayFile, IsItsOwnersAndHasWhatWasWritten) {
  const test::TempFolder folder;
  const std::string path = folder.At("a");
  const auto file = ReplayFile::Create(path);
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ(ModeOf(path), 0600u);
  ASSERT_TRUE((*file)->Write(kBytes).ok());
  // The file is still open.
  const auto read = ReadReplayBytes(path);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_THAT(*read, ::testing::ElementsAreArray(kBytes));
}

TEST(ReplayFile, SaysWhyItCannotBeWritten) {
  const test::TempFolder folder;
  const std::string nowhere = folder.At("no/such/place");
  EXPECT_THAT(StatusText(ReplayFile::Create(nowhere).status()),
              HasSubstr("cannot write " + nowhere + ": No such file"));
  const std::string path = folder.At("a");
  const auto file = ReplayFile::Create(path);
  ASSERT_TRUE(file.ok()) << file.status();
  const test::FullDisk full;
  EXPECT_THAT(StatusText((*file)->Write(kBytes)),
              HasSubstr("cannot write " + path + ": File too large"));
}

TEST(ReplayFile, IsClaimedWhereItReplacesNothing) {
  const test::TempFolder folder;
  const std::string path = folder.At("a");
  EXPECT_TRUE(ClaimReplayFile(path).ok());
  EXPECT_EQ(ModeOf(path), 0600u);
  EXPECT_TRUE(ClaimReplayFile(path).ok());
  folder.Write("b", "somebody's");
  EXPECT_THAT(ClaimReplayFile(folder.At("b")),
              StatusIs(absl::StatusCode::kAlreadyExists));
  EXPECT_TRUE(ClaimReplayFile("/dev/null").ok());
  EXPECT_THAT(ClaimReplayFile(folder.path()),
              StatusIs(absl::StatusCode::kUnavailable));
}

// Two programs that were both told a name while nothing was in it.
TEST(ReplayFile, TwoDoNotWriteIntoOne) {
  const test::TempFolder folder;
  const std::string path = folder.At("a");
  ASSERT_TRUE(ClaimReplayFile(path).ok());
  ASSERT_TRUE(ClaimReplayFile(path).ok());
  auto first = ReplayFile::Create(path);
  ASSERT_TRUE(first.ok()) << first.status();
  const auto refused = [&path] {
    const absl::Status status = ReplayFile::Create(path).status();
    EXPECT_THAT(status, StatusIs(absl::StatusCode::kAlreadyExists));
    EXPECT_THAT(StatusText(status), HasSubstr(path));
  };
  refused();
  ASSERT_TRUE((*first)->Write(kBytes).ok());
  refused();
  first->reset();
  refused();
  EXPECT_THAT(*ReadReplayBytes(path), ::testing::ElementsAreArray(kBytes));
}

TEST(ReplayFile, ADeviceIsForAsManyAsLike) {
  const auto first = ReplayFile::Create("/dev/null");
  const auto next = ReplayFile::Create("/dev/null");
  ASSERT_TRUE(first.ok() && next.ok()) << first.status() << next.status();
  EXPECT_TRUE((*first)->Write(kBytes).ok());
  EXPECT_TRUE((*next)->Write(kBytes).ok());
}

TEST(ReplayFile, WhatCannotBeReadIsNamed) {
  const test::TempFolder folder;
  EXPECT_THAT(StatusText(ReadReplayBytes(folder.At("a")).status()),
              HasSubstr("cannot read " + folder.At("a")));
  EXPECT_THAT(StatusText(ReadReplayBytes(folder.path()).status()),
              HasSubstr("Is a directory"));
  const std::string large = folder.Write("large", "");
  std::filesystem::resize_file(large, lockstep::kReplayBytesMax + 1);
  EXPECT_THAT(StatusText(ReadReplayBytes(large).status()),
              HasSubstr(large + ": larger than any replay, 134217728 bytes"));
}

// A dump may be larger, and is read to be compared.
TEST(ReplayFile, ADumpMayBeLargerThanAReplay) {
  const test::TempFolder folder;
  const std::string dump = folder.Write("dump", "PARLORDS");
  std::filesystem::resize_file(dump, lockstep::kReplayBytesMax + 1);
  const auto bytes = ReadReplayBytes(dump);
  ASSERT_TRUE(bytes.ok()) << bytes.status();
  EXPECT_EQ(bytes->size(), lockstep::kReplayBytesMax + 1);
  EXPECT_TRUE(BeginsAsDump(*bytes));
  std::filesystem::resize_file(dump, lockstep::kDesyncBytesMax + 1);
  EXPECT_THAT(
      StatusText(ReadReplayBytes(dump).status()),
      HasSubstr(dump + ": larger than any desync dump, 268435456 bytes"));
}

}  // namespace
}  // namespace parlor::host
