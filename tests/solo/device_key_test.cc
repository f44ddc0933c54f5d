#include "device_key.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <barrier>
#include <cstddef>
#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "logic/pass.h"
#include "parlor/entropy.h"
#include "parlor/host/os_entropy.h"
#include "support/files.h"
#include "support/temp_folder.h"

namespace parlor::solo {
namespace {

using host::IsDeviceKey;

class DeviceKeyTest : public ::testing::Test {
 protected:
  std::size_t FilesThere() const {
    std::size_t count = 0;
    for (const auto& one :
         std::filesystem::directory_iterator(files_.At("state/parlor"))) {
      count += one.is_symlink() ? 0 : 1;
    }
    return count;
  }

  const test::TempFolder files_;
  const std::string path_ = files_.At("state/parlor/device-key");
  host::OsEntropy entropy_;
};

TEST_F(DeviceKeyTest, IsMadeOnceAndKept) {
  const auto key = DeviceKey(path_, entropy_);
  ASSERT_TRUE(key.ok()) << key.status();
  EXPECT_TRUE(IsDeviceKey(*key)) << key->size();
  EXPECT_EQ(key->size(), 24u) << "144 bits";
  EXPECT_EQ(test::ReadFile(path_), *key + "\n");
  EXPECT_EQ(DeviceKey(path_, entropy_).value_or(""), *key);
  EXPECT_EQ(FilesThere(), 1u) << "the draft is gone";
}

TEST_F(DeviceKeyTest, IsNobodyElsesToRead) {
  const mode_t before = umask(0);
  const auto key = DeviceKey(path_, entropy_);
  umask(before);
  ASSERT_TRUE(key.ok()) << key.status();
  EXPECT_EQ(test::ModeOf(path_), 0600u);
  EXPECT_EQ(test::ModeOf(files_.At("state")), 0700u);
  EXPECT_EQ(test::ModeOf(files_.At("state/parlor")), 0700u);
}

TEST_F(DeviceKeyTest, IsAnotherOnEveryDevice) {
  std::set<std::string> keys;
  for (int i = 0; i < 100; ++i) {
    const std::string path = files_.At("d" + std::to_string(i) + "/key");
    keys.insert(DeviceKey(path, entropy_).value_or(""));
  }
  EXPECT_EQ(keys.size(), 100u);
}

TEST_F(DeviceKeyTest, PlayersStartedAtOnceGetTheSame) {
  constexpr std::size_t kPlayers = 8;
  for (int round = 0; round < 20; ++round) {
    std::filesystem::remove_all(files_.At("state"));
    std::vector<std::string> keys(kPlayers);
    std::barrier together(static_cast<std::ptrdiff_t>(kPlayers));
    std::vector<std::thread> players;
    for (std::string& key : keys) {
      players.emplace_back([&] {
        host::OsEntropy entropy;
        together.arrive_and_wait();
        const auto got = DeviceKey(path_, entropy);
        key = got.ok() ? *got : std::string(got.status().message());
      });
    }
    for (std::thread& player : players) player.join();
    EXPECT_TRUE(IsDeviceKey(keys[0])) << keys[0];
    EXPECT_EQ(std::count(keys.begin(), keys.end(), keys[0]), kPlayers);
    EXPECT_EQ(FilesThere(), 1u);
  }
}

TEST_F(DeviceKeyTest, ADamagedFileIsToldAndKept) {
  std::filesystem::create_directories(files_.At("state/parlor"));
  const std::string too_long(65, '0');
  for (const std::string& text :
       {std::string(), std::string("\n"), std::string("fifteen-letters"),
        std::string("sixteen letters!"), std::string("0123456789abcdef\nx"),
        too_long}) {
    SCOPED_TRACE(text);
    files_.Write("state/parlor/device-key", text);
    const absl::Status status = DeviceKey(path_, entropy_).status();
    EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
    EXPECT_NE(status.message().find(path_), absl::string_view::npos);
    EXPECT_NE(status.message().find("key cannot be had"),
              absl::string_view::npos);
    EXPECT_EQ(test::ReadFile(path_), text);
    EXPECT_EQ(FilesThere(), 1u);
  }
}

TEST_F(DeviceKeyTest, AFileOfAnotherKindIsToldAndKept) {
  std::filesystem::create_directories(path_);
  const absl::Status status = DeviceKey(path_, entropy_).status();
  EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
  EXPECT_TRUE(std::filesystem::is_directory(path_));
}

// A link to itself: root cannot read that either.
TEST_F(DeviceKeyTest, AnUnreadableFileIsToldAndKept) {
  std::filesystem::create_directories(files_.At("state/parlor"));
  std::filesystem::create_symlink("device-key", path_);
  const absl::Status status = DeviceKey(path_, entropy_).status();
  EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
  EXPECT_TRUE(std::filesystem::is_symlink(path_));
  EXPECT_EQ(FilesThere(), 0u) << "nothing else either";
}

TEST_F(DeviceKeyTest, ADirectoryThatCannotBeIsTold) {
  files_.Write("state", "a file");
  const absl::Status status = DeviceKey(path_, entropy_).status();
  EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
  EXPECT_NE(status.message().find("state"), absl::string_view::npos);
  EXPECT_EQ(test::ReadFile(files_.At("state")), "a file");
}

TEST(DeviceKeyPath, IsThatOfTheDesktopsOfThisWorld) {
  struct {
    const char* xdg;
    const char* home;
    std::string_view path;
  } const rows[] = {
      {"/s", "/h", "/s/parlor/device-key"},
      {"/s", nullptr, "/s/parlor/device-key"},
      {nullptr, "/h", "/h/.local/state/parlor/device-key"},
      {"", "/h", "/h/.local/state/parlor/device-key"},
      {"relative", "/h", "/h/.local/state/parlor/device-key"},
      {nullptr, nullptr, ""},
      {"", "", ""},
      {"relative", "too", ""},
  };
  for (const auto& row : rows) {
    const auto path = DeviceKeyPath(row.xdg, row.home);
    EXPECT_EQ(path.value_or(""), row.path);
    if (path.ok()) continue;
    EXPECT_TRUE(absl::IsFailedPrecondition(path.status()));
    EXPECT_NE(path.status().message().find("set HOME"),
              absl::string_view::npos);
  }
}

}  // namespace
}  // namespace parlor::solo
