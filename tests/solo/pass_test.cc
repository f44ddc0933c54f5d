// A host that hands out passes, and players who come with one: what the command
// line says is what opens the room, from the devices that came first.
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "clock.h"
#include "device_key.h"
#include "friends.h"
#include "logic/pass.h"
#include "net_links.h"
#include "parlor/host/memory_access_store.h"
#include "parlor/host/os_entropy.h"
#include "parlor/host/server.h"
#include "parlor/transports/net_loop.h"
#include "session.h"
#include "support/temp_folder.h"
#include "wall_clock.h"

namespace parlor::solo {
namespace {

constexpr const char* kSecret = "of this host: 32 bytes and some more";
constexpr std::int64_t kDay = 24 * 60 * 60;
constexpr std::uint64_t kId = 7;
constexpr const char* kRefused =
    "the host does not take this pass: it expired, was revoked, or is in use "
    "on other devices";

std::string PassThatLasts(std::int64_t seconds) {
  return host::WritePass({.id = kId,
                          .expires_s = host::WallClockSeconds() + seconds,
                          .devices = 1},
                         kSecret);
}

class PassTest : public ::testing::Test {
 protected:
  PassTest() {
    host::ServerOptions options;
    options.gate.passes = true;
    options.gate.pass_secret = kSecret;
    options.access_store = store_;
    auto server = host::Server::Create(options, entropy_);
    EXPECT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
  }

  // In a room of its own, from a device that is known by a file of its own.
  // What it is told, or empty when it is seated.
  std::string Join(const std::string& pass, const std::string& device) {
    Options options;
    options.join =
        RoomUrl{.host_url = "ws://127.0.0.1:" + std::to_string(server_->port()),
                .room = room_++,
                .players = 2};
    options.pass = pass;
    const auto key = DeviceKey(files_.At(device), entropy_);
    EXPECT_TRUE(key.ok()) << key.status();
    options.device = *key;
    auto link = JoinLink::Create(options.join->host_url, entropy_);
    EXPECT_TRUE(link.ok()) << link.status();
    Session session(FriendSessionOf(options), **link);
    const TimePoint patience = SteadyNow() + 20'000 * kMillisecond;
    while (!session.failed() && session.peer().seated() == 0) {
      const TimePoint now = SteadyNow();
      if (now > patience) return "nothing";
      loop_.Poll(now);
      session.Turn(now);
      SleepUntil(now + kMillisecond);
    }
    FinishLeaving(session, **link);
    return session.error();
  }

  const test::TempFolder files_;
  host::OsEntropy entropy_;
  NetLoop loop_;  // the store answers on it
  std::shared_ptr<host::MemoryAccessStore> store_ =
      std::make_shared<host::MemoryAccessStore>(
          host::WallClockSeconds,
          [this](std::function<void()> task) { loop_.Post(std::move(task)); });
  std::unique_ptr<host::Server> server_;
  std::uint32_t room_ = 0;
};

TEST_F(PassTest, LetsItsFirstDeviceInAgainAndAgain) {
  const std::string pass = PassThatLasts(kDay);
  EXPECT_EQ(Join(pass, "mine"), "");
  EXPECT_EQ(Join(pass, "mine"), "");
  EXPECT_EQ(Join(pass, "another's"), kRefused);
  EXPECT_EQ(Join(pass, "mine"), "");
}

TEST_F(PassTest, ThatIsNoneIsToldSo) {
  EXPECT_EQ(Join(PassThatLasts(-kDay), "mine"), kRefused);
  EXPECT_EQ(Join("no-pass", "mine"), kRefused);
  store_->RevokePass(kId, host::WallClockSeconds() + kDay);
  EXPECT_EQ(Join(PassThatLasts(kDay), "mine"), kRefused);
}

}  // namespace
}  // namespace parlor::solo
