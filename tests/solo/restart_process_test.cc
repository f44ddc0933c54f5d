// A match of three players on a dedicated host that goes down in the middle of
// it, as a service manager ends it and as a crash does, and comes back.
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <csignal>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "support/child_process.h"
#include "support/temp_folder.h"

namespace parlor::solo {
namespace {

using std::chrono::seconds;
using test::ChildProcess;

// A frame is a 60th of a second: 20 s, and more on a machine that is busy.
constexpr const char* kFrames = "1200";
constexpr seconds kWholeMatch{120};
constexpr seconds kSoon{30};

class RestartProcessTest : public ::testing::Test {
 protected:
  // The same port and file each time.
  void StartHost() {
    host = std::make_unique<ChildProcess>(std::vector<std::string>{
        PARLOR_HOST, "--open", "--port", port, "--drain", "500ms", "--state",
        folder.At("matches")});
    const auto address = host->Await("listening on http://", kSoon);
    ASSERT_TRUE(address.has_value()) << host->output();
    port = address->substr(address->rfind(':') + 1);
  }
  bool HostSaid(std::string_view what) const {
    return host->output().find(what) != std::string::npos;
  }

  const test::TempFolder folder;
  std::string port = "0";
  std::unique_ptr<ChildProcess> host;
};

TEST_F(RestartProcessTest, TheMatchGoesOnToTheSameHash) {
  StartHost();
  std::string url = "ws://127.0.0.1:";
  url.append(port).append("/room/5?players=3");
  std::array<std::unique_ptr<ChildProcess>, 3> players;
  for (auto& player : players) {
    player = std::make_unique<ChildProcess>(std::vector<std::string>{
        PARLOR_SOLO, "--headless", "--join", url, "--frames", kFrames});
  }
  for (const auto& player : players) {
    ASSERT_TRUE(player->Await("started: ", kSoon)) << player->output();
  }
  int restarts = 0;
  for (const int signal : {SIGTERM, SIGKILL}) {
    SCOPED_TRACE(signal);
    // Into the match's 20 s, and longer than the second by which what is kept
    // may lag: what is checked holds wherever it falls.
    std::this_thread::sleep_for(seconds(3));
    host->Signal(signal);
    EXPECT_EQ(host->AwaitEnd(kSoon), signal == SIGTERM ? 0 : -SIGKILL);
    ASSERT_NO_FATAL_FAILURE(StartHost());
    EXPECT_TRUE(HostSaid("1 match with 3 seats taken back")) << host->output();
    ++restarts;
    for (const auto& player : players) {
      EXPECT_TRUE(player->AwaitCount("back at frame ", restarts, kSoon))
          << player->output();
    }
  }
  for (const auto& player : players) {
    EXPECT_EQ(player->AwaitEnd(kWholeMatch), 0);
    SCOPED_TRACE(player->output());
    EXPECT_EQ(player->Find("frames: "), kFrames);
    EXPECT_TRUE(player->Find("hash: ").has_value());
    EXPECT_EQ(player->Find("hash: "), players[0]->Find("hash: "));
    EXPECT_FALSE(player->Find("desync: ").has_value());
    EXPECT_FALSE(player->Find("ended: ").has_value());
    for (const char* lost : {"seat 0 lost", "seat 1 lost", "seat 2 lost"}) {
      EXPECT_FALSE(player->Find(lost).has_value());
    }
  }
  // All have left: there is nothing to take back.
  host->Signal(SIGTERM);
  EXPECT_EQ(host->AwaitEnd(kSoon), 0) << host->output();
  ASSERT_NO_FATAL_FAILURE(StartHost());
  EXPECT_FALSE(HostSaid("taken back")) << host->output();
  EXPECT_EQ(folder.Names(), std::vector<std::string>{"matches"});
}

}  // namespace
}  // namespace parlor::solo
