// Hosted rooms on a server, over real sockets on the loopback and from within
// its process: with threads of the server's, or turned by Poll.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <list>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "host/server_fixture.h"
#include "parlor/close_reason.h"
#include "parlor/connector.h"
#include "parlor/entropy.h"
#include "parlor/host/play_room.h"
#include "parlor/host/server.h"
#include "parlor/hosted_room.h"
#include "parlor/limits.h"
#include "parlor/time.h"
#include "parlor/transports/memory_pipe.h"
#include "parlor/transports/net_loop.h"
#include "support/echo_client.h"
#include "support/echo_room.h"
#include "support/lockstep_client.h"
#include "support/status_matchers.h"

namespace parlor::test {
namespace {

using host::PlayRoom;
using host::ServerOptions;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

class ServerPlayTest : public ServerFixture,
                       public testing::WithParamInterface<int> {
 protected:
  ServerPlayTest() : ServerFixture(GetParam()) {
    options.gate.open = false;
    options.gate.codes = {"config-code-1"};
    options.shard.play_rooms = {Echo("den", false), Echo("arena", true),
                                Echo("hall", true), Echo("yard", true)};
  }
  ~ServerPlayTest() override { turns.clear(); }

  PlayRoom Echo(std::string key, bool open) {
    return {
        .key = std::move(key), .open = open, .make = [](TimePoint, Entropy&) {
          return std::make_unique<EchoRoom>();
        }};
  }

  EchoClient& Connect(Connector& way, const Hello& hello) {
    EchoClient& client = echoes_.emplace_back();
    client.connection = way.Connect(Now(), hello, &client);
    return client;
  }
  EchoClient& Connect(std::string_view scheme, std::string key,
                      std::string access = {}) {
    return Connect(*Network(scheme),
                   {.access = std::move(access), .play = std::move(key)});
  }
  EchoClient& Join(std::string_view scheme, std::string key) {
    EchoClient& client = Connect(scheme, std::move(key));
    client.Say("join");
    return client;
  }
  std::vector<std::string> Heard(EchoClient& client, std::size_t count) {
    EXPECT_TRUE(Until([&] { return client.heard.size() >= count; }));
    return client.Take();
  }

 private:
  std::list<EchoClient> echoes_;
};

INSTANTIATE_TEST_SUITE_P(Shards, ServerPlayTest, testing::Values(0, 1, 3),
                         ShardsName);

TEST_P(ServerPlayTest, TheHostAndGuestsByEveryWayAreInOneRoom) {
  Start();
  EchoClient& own = Connect(*server->MakeConnector(pump), {.play = "arena"});
  own.Say("join");
  EXPECT_THAT(Heard(own, 2), ElementsAre("open", "+0 "));
  EchoClient& web = Join("ws", "arena");
  EXPECT_THAT(Heard(web, 2), ElementsAre("open", "+1 "));
  EchoClient& tcp = Join("tcp", "arena");
  EXPECT_THAT(Heard(tcp, 2), ElementsAre("open", "+2 "));
  tcp.Say("hello");
  EXPECT_THAT(Heard(own, 3), ElementsAre("+1 ", "+2 ", "2: hello"));
  EXPECT_THAT(Heard(web, 2), ElementsAre("+2 ", "2: hello"));
  EXPECT_EQ(server->figures().rooms, 1u);
  EXPECT_EQ(server->figures().players, 3u);
  // Rooms of both kinds, each on its shard.
  EchoClient& other = Join("ws", "yard");
  EXPECT_THAT(Heard(other, 2), ElementsAre("open", "+0 "));
  LockstepClient& lockstep = ServerFixture::Join(
      *Network(), {.room = 1, .players = 2, .access = "invite.config-code-1"});
  EXPECT_THAT(Hear(lockstep, 2), ElementsAre("open", "LOBBY 0 2 1"));
  EXPECT_TRUE(Until([&] { return server->figures().players == 5; }));
  EXPECT_EQ(server->figures().rooms, 3u);
}

TEST_P(ServerPlayTest, OnlyOpenRoomsAreOpen) {
  Start();
  EXPECT_THAT(Heard(Connect("ws", "den"), 1), ElementsAre("refused 403"));
  EXPECT_THAT(Heard(Connect("tcp", "den"), 1), ElementsAre("refused 403"));
  EXPECT_THAT(Heard(Connect("ws", "den", "invite.config-code-1"), 1),
              ElementsAre("open"));
  EXPECT_THAT(Heard(Connect("tcp", "attic"), 1), ElementsAre("refused 404"));
  const auto own = server->MakeConnector(pump);
  EXPECT_THAT(Heard(Connect(*own, {.play = "attic"}), 1),
              ElementsAre("refused 404"));
  EXPECT_THAT(Heard(Connect(*own, {.play = "den"}), 1), ElementsAre("open"));
}

TEST_P(ServerPlayTest, JoinsIntoOneRoomAreCounted) {
  options.shard.room_joins_per_minute = 2;
  Start();
  EXPECT_THAT(Heard(Connect("ws", "arena"), 1), ElementsAre("open"));
  EXPECT_THAT(Heard(Connect("tcp", "arena"), 1), ElementsAre("open"));
  EXPECT_THAT(Heard(Connect("ws", "arena"), 1), ElementsAre("refused 429"));
  EXPECT_THAT(Heard(Connect("ws", "yard"), 1), ElementsAre("open"));
}

TEST_P(ServerPlayTest, ADrainLetsSeatsComeBackThenTheRoomEnds) {
  options.drain_ms = 60'000;
  Start();
  EchoClient& stays = Join("ws", "arena");
  EXPECT_THAT(Heard(stays, 2), ElementsAre("open", "+0 "));
  EchoClient& drops = Join("tcp", "arena");
  EXPECT_THAT(Heard(drops, 2), ElementsAre("open", "+1 "));
  server->Drain();
  EXPECT_TRUE(Until([&] { return Health().starts_with("HTTP/1.1 503 "); }));
  drops.connection->Abort();
  drops.connection.reset();
  EXPECT_TRUE(Until([&] { return server->figures().players == 1; }));
  EchoClient& back = Connect("ws", "arena");
  back.Say("resume 1");
  EXPECT_THAT(Heard(back, 2), ElementsAre("open", "~1"));
  EXPECT_THAT(Heard(Join("ws", "arena"), 2),
              ElementsAre("open", "close 1008 refused"));
  EXPECT_THAT(Heard(Connect("tcp", "yard"), 1), ElementsAre("refused 503"));
  EchoClient& own = Connect(*server->MakeConnector(pump), {.play = "arena"});
  own.Say("join");
  EXPECT_THAT(Heard(own, 2), ElementsAre("open", "close 1008 refused"));

  server->Drain();
  EXPECT_THAT(Heard(stays, 3),
              ElementsAre("+1 ", "~1", "close 4004 room ended"));
  EXPECT_THAT(Heard(back, 1), ElementsAre("close 4004 room ended"));
  EXPECT_TRUE(Until([&] { return server->stopped(); }));
  EXPECT_EQ(server->figures().rooms, 0u);
}

TEST_P(ServerPlayTest, AfterAStopNobodyComesIn) {
  Start();
  const auto own = server->MakeConnector(pump);
  server->Stop(CloseReason::kHostLeft);
  EXPECT_THAT(Heard(Connect(*own, {.play = "arena"}), 1),
              ElementsAre("refused 503"));
  EXPECT_TRUE(Until([&] { return server->stopped(); }));
}

TEST_P(ServerPlayTest, LetsTheNetworkInWhenItIsOpened) {
  options.closed = true;
  Start();
  EXPECT_THAT(Heard(Connect("ws", "arena"), 1), ElementsAre("close 1006 "));
  EchoClient& own = Connect(*server->MakeConnector(pump), {.play = "arena"});
  own.Say("join");
  server->Open();
  EXPECT_THAT(Heard(Join("ws", "arena"), 2), ElementsAre("open", "+1 "));
  EXPECT_THAT(Heard(own, 3), ElementsAre("open", "+0 ", "+1 "));
}

// One that lives on the room's loop by other means: a pump of the test's, one
// for each room, since their loops may be of two threads.
TEST_P(ServerPlayTest, SeatsWhatIsAttachedOnTheRoomsLoop) {
  std::list<PipePump> pumps;
  Start();
  for (const std::string key : {"hall", "attic"}) {
    NetLoop& rooms = server->play_loop(key);
    PipePump& theirs = pumps.emplace_back();
    theirs.SetWake([&rooms, &theirs] {
      rooms.Post([&rooms, &theirs] { theirs.Pump(rooms.now()); });
    });
    EchoClient client;
    PipePair pipe = MakePipe(pump, theirs);
    pipe.first->SetHandler(&client);
    client.connection = std::move(pipe.first);
    server->Attach(std::move(pipe.second), {.play = key, .identity = "friend"});
    client.Say("join");
    if (key == "hall") {
      EXPECT_THAT(Heard(client, 2), ElementsAre("open", "+0 friend"));
      client.connection->Close(CloseReason::kNormal);
      EXPECT_TRUE(Until([&] { return client.connection == nullptr; }));
    } else {
      EXPECT_THAT(Heard(client, 2), ElementsAre("open", "close 1008 refused"));
    }
  }
  server.reset();
}

TEST_P(ServerPlayTest, ARoomThatCannotBeOpenedIsToldOnce) {
  const auto works = std::make_shared<std::atomic<bool>>(false);
  options.shard.play_rooms[1].make = [works](TimePoint, Entropy&) {
    if (!*works) throw std::runtime_error("what was thrown");
    return std::make_unique<EchoRoom>();
  };
  options.shard.play_rooms[2].make = [](TimePoint, Entropy&) {
    return nullptr;
  };
  Start();
  for (int i = 0; i < 3; ++i) {
    EXPECT_THAT(Heard(Connect("ws", "arena"), 1), ElementsAre("refused 503"));
    EXPECT_THAT(Heard(Connect("ws", "hall"), 1), ElementsAre("refused 503"));
  }
  EXPECT_THAT(Heard(Join("ws", "yard"), 2), ElementsAre("open", "+0 "));
  *works = true;
  EXPECT_THAT(Heard(Join("ws", "arena"), 2), ElementsAre("open", "+0 "));
  const auto told = [&](std::string_view line) {
    const std::vector<std::string> lines = log();
    return std::count(lines.begin(), lines.end(), line);
  };
  EXPECT_EQ(told("room \"arena\" cannot be opened: its game threw"), 1);
  EXPECT_EQ(told("room \"hall\" cannot be opened: its game gives none"), 1);
  EXPECT_THAT(log(), Not(Contains(HasSubstr("what was thrown"))));
}

TEST_P(ServerPlayTest, WhichAreOpenMayChange) {
  options.gate.joins_per_minute = limits::kAddressRate.ceiling;
  Start();
  EXPECT_THAT(Heard(Join("ws", "arena"), 2), ElementsAre("open", "+0 "));
  ServerOptions changed = options;
  changed.shard.play_rooms[0].open = true;
  changed.shard.play_rooms[1].open = false;
  ASSERT_EQ(server->Reload(changed), absl::OkStatus());
  EXPECT_TRUE(
      Until([&] { return Heard(Connect("ws", "den"), 1).front() == "open"; }));
  EXPECT_THAT(Heard(Connect("ws", "arena"), 1), ElementsAre("refused 403"));

  std::swap(changed.shard.play_rooms[0], changed.shard.play_rooms[1]);
  EXPECT_THAT(server->Reload(changed),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "server.shard.play_rooms: cannot change while it runs"));
  changed.shard.play_rooms[0].key = "";
  EXPECT_THAT(server->Reload(changed),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("server.shard.play_rooms[0].key: \"\"")));
}

}  // namespace
}  // namespace parlor::test
