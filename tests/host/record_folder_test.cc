#include "storage/record_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "parlor/host/os_entropy.h"
#include "parlor/host/server.h"
#include "parlor/status.h"
#include "support/files.h"
#include "support/full_disk.h"
#include "support/status_matchers.h"
#include "support/temp_folder.h"

namespace parlor::host {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// 2026-11-30 17:44:00 UTC
constexpr std::int64_t kNow = 1'796'060'640;

class RecordFolderTest : public ::testing::Test {
 protected:
  std::unique_ptr<RecordFolder> Open() {
    auto opened = RecordFolder::Open(
        folder_.path(), [this] { return now_; },
        [this](LogLevel, std::string_view line) { log_.emplace_back(line); });
    EXPECT_TRUE(opened.ok()) << opened.status();
    return *std::move(opened);
  }

  static absl::Status Write(const RoomRecords::Recording& recording,
                            std::string_view text) {
    return recording.sink->Write(AsBytes(text));
  }

  test::TempFolder folder_;
  std::int64_t now_ = kNow;
  std::vector<std::string> log_;
};

TEST_F(RecordFolderTest, AFileAMatchForItsOwnerAlone) {
  const auto folder = Open();
  const RoomRecords::Recording recording = folder->Open(7);
  EXPECT_EQ(recording.label.number, 7u);
  EXPECT_EQ(recording.label.started_unix_ms, kNow * 1'000);
  EXPECT_THAT(folder_.Names(), IsEmpty());  // before anything is written
  EXPECT_TRUE(Write(recording, "one ").ok());
  EXPECT_TRUE(Write(recording, "two").ok());
  const std::string name = "room-7-20261130T174400Z.replay";
  EXPECT_THAT(folder_.Names(), ElementsAre(name));
  EXPECT_EQ(test::ReadFile(folder_.At(name)), "one two");
  EXPECT_EQ(test::ModeOf(folder_.At(name)), 0600u);
}

TEST_F(RecordFolderTest, NoFileIsReplaced) {
  folder_.Write("room-7-20261130T174400Z.replay", "another");
  ASSERT_EQ(
      symlink("/tmp", folder_.At("room-7-20261130T174400Z-2.replay").c_str()),
      0);
  const auto folder = Open();
  EXPECT_TRUE(Write(folder->Open(7), "mine").ok());
  EXPECT_EQ(test::ReadFile(folder_.At("room-7-20261130T174400Z.replay")),
            "another");
  EXPECT_EQ(test::ReadFile(folder_.At("room-7-20261130T174400Z-3.replay")),
            "mine");
}

TEST_F(RecordFolderTest, AFullDiskEndsRecordingsAndIsToldOnce) {
  const auto folder = Open();
  const RoomRecords::Recording first = folder->Open(1);
  EXPECT_TRUE(Write(first, "before").ok());
  {
    const test::FullDisk full;
    EXPECT_THAT(Write(first, "more"), StatusIs(absl::StatusCode::kUnavailable));
    EXPECT_THAT(Write(folder->Open(2), "more"),
                StatusIs(absl::StatusCode::kUnavailable));
  }
  ASSERT_EQ(log_.size(), 1u);
  EXPECT_THAT(log_[0], HasSubstr("recordings end: cannot write " +
                                 folder_.At("room-1-20261130T174400Z.replay") +
                                 ": File too large"));
  EXPECT_TRUE(Write(folder->Open(3), "again").ok());
  EXPECT_TRUE(Write(folder->Open(4), "again").ok());
  ASSERT_EQ(log_.size(), 2u);
  EXPECT_THAT(log_[1], HasSubstr("written again"));
}

// Its own line, whatever else is recorded.
TEST_F(RecordFolderTest, ARecordingThatIsFullIsTold) {
  const auto folder = Open();
  const RoomRecords::Recording full = folder->Open(7);
  const RoomRecords::Recording other = folder->Open(8);
  EXPECT_TRUE(Write(full, "all").ok());
  full.sink->OnFull();
  EXPECT_TRUE(Write(other, "more").ok());
  EXPECT_THAT(log_, ElementsAre("the recording of room 7 ends, as large as one "
                                "may be: " +
                                folder_.At("room-7-20261130T174400Z.replay")));
  other.sink->OnFull();
  EXPECT_EQ(log_.size(), 2u);
}

TEST_F(RecordFolderTest, AFolderThatIsGoneEndsRecordings) {
  auto folder = Open();
  const RoomRecords::Recording recording = folder->Open(1);
  ASSERT_EQ(rmdir(folder_.path().c_str()), 0);
  EXPECT_THAT(Write(recording, "more"),
              StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_THAT(log_, ElementsAre(HasSubstr("No such file")));
  // What is written outlives who made it.
  folder.reset();
  EXPECT_FALSE(Write(recording, "more").ok());
}

// No name makes two lines of one in the log.
TEST_F(RecordFolderTest, WhatIsLoggedIsALine) {
  const std::string odd = folder_.At("a\nb");
  ASSERT_EQ(mkdir(odd.c_str(), 0700), 0);
  auto opened = RecordFolder::Open(
      odd, [] { return kNow; },
      [this](LogLevel, std::string_view line) { log_.emplace_back(line); });
  ASSERT_TRUE(opened.ok()) << opened.status();
  const RoomRecords::Recording recording = (*opened)->Open(1);
  {
    const test::FullDisk full;
    EXPECT_FALSE(Write(recording, "more").ok());
  }
  EXPECT_TRUE(Write(recording, "more").ok());
  EXPECT_THAT(log_, ElementsAre(HasSubstr("a\\x0ab/room-1-"),
                                HasSubstr("written again, " + folder_.At(""))));
  EXPECT_THAT(log_, ::testing::Each(::testing::Not(HasSubstr("\n"))));
}

TEST_F(RecordFolderTest, WhatIsNoFolderIsRefused) {
  const std::string file = folder_.Write("file", "");
  for (const std::string& path : {file, folder_.At("nowhere")}) {
    const absl::Status status = RecordFolder::Open(path, {}, {}).status();
    EXPECT_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument));
    EXPECT_THAT(StatusText(status), HasSubstr(path + ": "));
  }
  OsEntropy entropy;
  ServerOptions options;
  options.shards = 0;
  options.gate.open = true;
  options.record_path = folder_.At("nowhere");
  const auto server = Server::Create(options, entropy);
  EXPECT_THAT(server.status(), StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(StatusText(server.status()),
              HasSubstr("server.record_path: " + options.record_path));
}

TEST_F(RecordFolderTest, AFolderNotToBeWrittenIsRefused) {
  if (geteuid() == 0) return;  // root may write anywhere
  ASSERT_EQ(chmod(folder_.path().c_str(), 0500), 0);
  EXPECT_THAT(RecordFolder::Open(folder_.path(), {}, {}).status(),
              StatusIs(absl::StatusCode::kInvalidArgument));
  ASSERT_EQ(chmod(folder_.path().c_str(), 0700), 0);
}

}  // namespace
}  // namespace parlor::host
