// The whole host over real sockets: threads of its own, or turned by Poll.
#include "parlor/host/server.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "host/server_fixture.h"
#include "host/server_player.h"
#include "parlor/close_reason.h"
#include "parlor/connection.h"
#include "parlor/connector.h"
#include "parlor/limits.h"
#include "parlor/lockstep/peer.h"
#include "parlor/lockstep/wire.h"
#include "parlor/transports/memory_pipe.h"
#include "parlor/transports/net_loop.h"
#include "support/local_tls.h"
#include "support/lockstep_client.h"
#include "support/raw_socket.h"
#include "support/requests.h"
#include "support/status_matchers.h"
#include "support/toy_game.h"

namespace parlor::test {
namespace {

using host::Server;
using host::ServerFigures;
using lockstep::PeerState;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

class ServerTest : public PlayersFixture,
                   public testing::WithParamInterface<int> {
 protected:
  ServerTest() : PlayersFixture(GetParam()) {}
};

INSTANTIATE_TEST_SUITE_P(Shards, ServerTest, testing::Values(0, 1, 3),
                         ShardsName);

TEST_P(ServerTest, PlaysAMatchOverWebSocketAndTcp) {
  Start();
  AddPlayer(Network("ws"));
  AddPlayer(Network("tcp"));
  PlayTo(300);
}

TEST_P(ServerTest, PlaysAMatchOverTls) {
  options.tls = SharedLocalTls().server;
  Start();
  AddPlayer(Network("wss"));
  AddPlayer(Network("tls"));
  PlayTo(300);
}

TEST_P(ServerTest, PlaysAMatchOfTheHostsOwnSeatAndAGuest) {
  Start();
  AddPlayer(server->MakeConnector(pump));
  AddPlayer(Network());
  PlayTo(300);
  players[1]->connector.Cut();
  PlayTo(600);
  EXPECT_EQ(players[1]->peer.counters().resumes, 1u);
}

TEST_P(ServerTest, RunsBesideAnother) {
  Start();
  const std::unique_ptr<Server> first = std::move(server);
  AddPlayer(first->MakeConnector(pump));
  Start();
  ASSERT_NE(first->port(), server->port());
  AddPlayer(server->MakeConnector(pump));
  // Two rooms of one number that know nothing of each other.
  if (GetParam() == 0) {
    turns.emplace_back([&](TimePoint now) { first->Poll(now); });
  }
  EXPECT_TRUE(Until([&] {
    return players[0]->peer.seated() == 1 && players[1]->peer.seated() == 1;
  }));
  AddPlayer(Network());
  EXPECT_TRUE(Until([&] {
    return players[1]->peer.state() == PeerState::kPlaying &&
           players[2]->peer.state() == PeerState::kPlaying;
  }));
  EXPECT_EQ(players[0]->peer.state(), PeerState::kLobby);
  turns.clear();
}

TEST_P(ServerTest, AnswersWhatTheRoomRefuses) {
  options.shard.room_joins_per_minute = 4;
  Start();
  LockstepClient& first = Join(3, 2);
  EXPECT_THAT(Hear(first, 2), ElementsAre("open", "LOBBY 0 2 1"));
  EXPECT_THAT(Hear(Join(3, 3), 1), ElementsAre("refused 409"));
  EXPECT_THAT(Hear(Join(3, 2), 2), ElementsAre("open", "WELCOME 1"));
  EXPECT_THAT(Hear(Join(3, 2), 2), ElementsAre("open", "close 4000 room full"));
  EXPECT_THAT(Hear(Join(3, 2), 1), ElementsAre("refused 429"));
  EXPECT_THAT(Hear(Join(16, 2), 1), ElementsAre("refused 404"));
  EXPECT_THAT(Hear(Join(4, 9), 1), ElementsAre("refused 400"));
  EXPECT_THAT(Hear(Join(4, 2), 2), ElementsAre("open", "LOBBY 0 2 1"));
}

TEST_P(ServerTest, ItsOwnSeatsAreRefusedAsOthersAre) {
  Start();
  const auto own = server->MakeConnector(pump);
  EXPECT_THAT(Hear(Join(*own, {.room = 16, .players = 2}), 1),
              ElementsAre("refused 404"));
  EXPECT_THAT(Hear(Join(*own, {.room = 3, .players = 9}), 1),
              ElementsAre("refused 400"));
  EXPECT_THAT(Hear(Join(*own, {.room = 3, .players = 0}), 1),
              ElementsAre("refused 400"));
  EXPECT_THAT(Hear(Join(*own, {.room = 3, .players = 2}), 2),
              ElementsAre("open", "LOBBY 0 2 1"));
  // What only the room can tell comes later.
  EXPECT_THAT(Hear(Join(*own, {.room = 3, .players = 3}), 2),
              ElementsAre("open", "close 1008 refused"));
}

TEST_P(ServerTest, TellsItsFigures) {
  const TimePoint before = Now();
  Start();
  Hear(Join(3, 2), 2);
  Hear(Join(4, 2), 2);
  Hear(Join(*server->MakeConnector(pump), {.room = 4, .players = 2}), 2);
  RawSocket idle = RawSocket::Connect(server->port());
  EXPECT_TRUE(Until([&] { return server->figures().unseated == 1; }));
  const ServerFigures figures = server->figures();
  EXPECT_EQ(figures.rooms, 2u);
  EXPECT_EQ(figures.players, 3u);
  EXPECT_EQ(figures.connections, 3u);
  const std::string health = Health();
  EXPECT_THAT(health, StartsWith("HTTP/1.1 200 "));
  EXPECT_THAT(health, HasSubstr("{\"ok\":true,\"rooms\":2,\"players\":3,"));
  constexpr std::string_view kUptime = "\"uptime\":";
  const std::size_t at = health.find(kUptime);
  ASSERT_NE(at, std::string::npos);
  const Duration uptime =
      std::stoll(health.substr(at + kUptime.size())) * kSecond;
  EXPECT_LE(uptime, Now() - before);
  idle.Close();
  EXPECT_TRUE(Until([&] { return server->figures().unseated == 0; }));
}

TEST_P(ServerTest, DrainsThenRestarts) {
  options.drain_ms = 400;
  Start();
  LockstepClient& first = Join(3, 2);
  Hear(first, 2);
  LockstepClient& second = Join(3, 2);
  Hear(second, 2);
  LockstepClient& own =
      Join(*server->MakeConnector(pump), {.room = 4, .players = 2});
  Hear(own, 2);
  EXPECT_THAT(Hear(first, 1), ElementsAre("WELCOME 0"));

  const TimePoint drained_at = Now();
  server->Drain();
  EXPECT_TRUE(Until([&] { return Health().starts_with("HTTP/1.1 503 "); }));
  EXPECT_THAT(Health(), HasSubstr("\"ok\":false"));
  EXPECT_THAT(Hear(Join(5, 2), 1), ElementsAre("refused 503"));
  const auto late = server->MakeConnector(pump);
  EXPECT_THAT(Hear(Join(*late, {.room = 5, .players = 2}), 1),
              ElementsAre("refused 503"));
  EXPECT_THAT(Hear(Join(*late, {.room = 5, .players = 2, .resume = "1"}), 2),
              ElementsAre("open", "close 4002 seat gone"));
  // The match goes on, and a seat that drops comes back.
  second.connection.reset();
  EXPECT_THAT(Hear(first, 1), ElementsAre("AWAY 1 2"));
  LockstepClient& back = Join(
      *Network(),
      {.room = 3, .players = 2, .resume = lockstep::TokenText(second.token)});
  EXPECT_THAT(Hear(back, 3), ElementsAre("open", "WELCOME 1", "RESUME 1 2"));
  EXPECT_THAT(Hear(first, 1), ElementsAre("RESUME 1 2"));
  EXPECT_FALSE(server->stopped());

  for (LockstepClient* client : {&first, &back, &own}) {
    EXPECT_THAT(Hear(*client, 1), ElementsAre("close 1012 restart"));
  }
  EXPECT_GE(first.closed_at, drained_at + 400 * kMillisecond);
  EXPECT_TRUE(Until([&] { return server->stopped(); }));
  // Nobody is there any more.
  EXPECT_THAT(
      Hear(Join(*Network(), {.room = 3,
                             .players = 2,
                             .resume = lockstep::TokenText(first.token)}),
           1),
      ElementsAre("close 1006 "));
  EXPECT_THAT(
      Hear(Join(*Network("tcp"), {.room = 3, .players = 2, .resume = "1"}), 1),
      ElementsAre("close 1006 "));
  EXPECT_THAT(Hear(Join(*late, {.room = 3, .players = 2, .resume = "1"}), 1),
              ElementsAre("refused 503"));
}

TEST_P(ServerTest, ASecondDrainEndsAtOnce) {
  options.drain_ms = 60'000;
  Start();
  LockstepClient& client = Join(3, 2);
  Hear(client, 2);
  server->Drain();
  server->Drain();
  EXPECT_THAT(Hear(client, 1), ElementsAre("close 1012 restart"));
  EXPECT_TRUE(Until([&] { return server->stopped(); }));
}

// Not only once the front has heard of it.
TEST_P(ServerTest, NobodyOfThisProcessComesInBehindAStop) {
  Start();
  const auto own = server->MakeConnector(pump);
  server->Stop(CloseReason::kHostLeft);
  EXPECT_THAT(Hear(Join(*own, {.room = 3, .players = 2}), 1),
              ElementsAre("refused 503"));
  EXPECT_TRUE(Until([&] { return server->stopped(); }));
}

TEST_P(ServerTest, StopsWhenTheRefusalsAreOverToo) {
  options.stream.linger_ms = 300;
  Start();
  RawSocket refused = RawSocket::Connect(server->port());
  const TimePoint sent_at = Now();
  refused.Send("no HTTP\r\n");
  std::string heard;
  EXPECT_TRUE(Until([&] { return !refused.Receive(heard); }));
  server->Stop(CloseReason::kRestart);
  EXPECT_TRUE(Until([&] { return server->stopped(); }));
  EXPECT_GE(Now(), sent_at + 300 * kMillisecond);
}

TEST_P(ServerTest, StopTellsEveryoneWhy) {
  options.drain_ms = 60'000;
  // Longer than this test waits.
  options.stream.handshake_ms = limits::kHandshakeMs.ceiling;
  Start();
  LockstepClient& web = Join(3, 3);
  Hear(web, 2);
  LockstepClient& tcp = Join(*Network("tcp"), {.room = 3, .players = 3});
  Hear(tcp, 2);
  LockstepClient& own =
      Join(*server->MakeConnector(pump), {.room = 3, .players = 3});
  Hear(own, 2);
  RawSocket unseated = RawSocket::Connect(server->port());
  EXPECT_TRUE(Until([&] { return server->figures().unseated == 1; }));
  EXPECT_THAT(Hear(web, 2), ElementsAre("LOBBY 0 3 2", "WELCOME 0"));
  EXPECT_THAT(Hear(tcp, 1), ElementsAre("WELCOME 1"));
  EXPECT_FALSE(server->stopped());

  server->Drain();
  server->Stop(CloseReason::kHostLeft);
  server->Stop(CloseReason::kRestart);  // too late
  for (LockstepClient* client : {&web, &tcp, &own}) {
    EXPECT_THAT(Hear(*client, 1), ElementsAre("close 1001 host left"));
  }
  std::string heard;
  EXPECT_TRUE(Until([&] { return !unseated.Receive(heard); }));
  EXPECT_EQ(heard, "");
  EXPECT_TRUE(Until([&] { return server->stopped(); }));
  EXPECT_TRUE(server->WaitStopped(Duration::zero()));
  EXPECT_EQ(server->figures().connections, 0u);
  EXPECT_THAT(log(), Contains("ending: host_left"));
  EXPECT_THAT(log(), Contains("ended"));
}

TEST_P(ServerTest, StopsWithoutWhoDoesNotRead) {
  options.stream.linger_ms = 100;
  Start();
  LockstepClient& own =
      Join(*server->MakeConnector(pump), {.room = 3, .players = 2});
  Hear(own, 2);
  RawSocket deaf = RawSocket::Connect(server->port());
  deaf.Send(UpgradeRequest(4, 2));
  EXPECT_TRUE(Until([&] { return server->figures().players == 2; }));
  server->Stop(CloseReason::kHostLeft);
  const TimePoint patience = Now() + kPatience;
  while (!server->WaitStopped(kMillisecond) && Now() < patience) {
    if (GetParam() == 0) server->Poll(Now());
  }
  EXPECT_TRUE(server->stopped());
}

TEST_P(ServerTest, TheOldestOfTooManyWithoutASeatGoes) {
  options.unseated_per_address = 2;
  Start();
  std::vector<RawSocket> idle;
  for (std::uint64_t i = 1; i <= 2; ++i) {
    idle.push_back(RawSocket::Connect(server->port()));
    EXPECT_TRUE(Until([&] { return server->figures().unseated == i; }));
  }
  idle.push_back(RawSocket::Connect(server->tcp_port()));
  std::string heard;
  EXPECT_TRUE(Until([&] { return !idle[0].Receive(heard); }));
  EXPECT_TRUE(idle[1].Receive(heard));
  EXPECT_TRUE(idle[2].Receive(heard));
  EXPECT_TRUE(Until([&] { return server->figures().connections == 2; }));
}

TEST_P(ServerTest, AFullHouseTakesNobodyButForOneWithoutASeat) {
  options.connections = 2;
  Start();
  Hear(Join(3, 2), 2);
  RawSocket idle = RawSocket::Connect(server->port());
  EXPECT_TRUE(Until([&] { return server->figures().unseated == 1; }));
  EXPECT_THAT(Hear(Join(4, 2), 2), ElementsAre("open", "LOBBY 0 2 1"));
  std::string heard;
  EXPECT_TRUE(Until([&] { return !idle.Receive(heard); }));
  // All that are left have seats.
  EXPECT_THAT(Hear(Join(4, 2), 1), ElementsAre("close 1006 "));
  EXPECT_EQ(server->figures().connections, 2u);
  clients.front().connection.reset();
  EXPECT_TRUE(Until([&] { return server->figures().connections == 1; }));
  EXPECT_THAT(Hear(Join(4, 2), 2), ElementsAre("open", "WELCOME 1"));
}

TEST_P(ServerTest, WhoWasRefusedKeepsNobodyOut) {
  options.connections = 3;
  Start();
  Hear(Join(3, 2), 2);
  // They have their answer, and do not end their side.
  std::vector<RawSocket> refused;
  for (int i = 0; i < 2; ++i) {
    refused.push_back(RawSocket::Connect(server->port()));
    refused.back().Send("no HTTP\r\n");
    std::string heard;
    EXPECT_TRUE(Until([&] { return !refused.back().Receive(heard); }));
    EXPECT_THAT(heard, StartsWith("HTTP/1.1 400 "));
  }
  EXPECT_EQ(server->figures().connections, 3u);
  EXPECT_EQ(server->figures().unseated, 0u);
  EXPECT_THAT(Hear(Join(3, 2), 2), ElementsAre("open", "WELCOME 1"));
  EXPECT_THAT(Hear(Join(4, 2), 2), ElementsAre("open", "LOBBY 0 2 1"));
  // All that are left have seats.
  EXPECT_THAT(Hear(Join(4, 2), 1), ElementsAre("close 1006 "));
}

TEST_P(ServerTest, EndsWhileClientsPlay) {
  Start();
  LockstepClient& web = Join(3, 2);
  Hear(web, 2);
  LockstepClient& own =
      Join(*server->MakeConnector(pump), {.room = 3, .players = 2});
  Hear(own, 2);
  const auto late = server->MakeConnector(pump);
  web.Take();
  for (std::uint32_t frame = 1; frame < 100; ++frame) {
    web.Input(frame);
    own.Input(frame);
  }
  loop.Poll(Now());
  RawSocket unseated = RawSocket::Connect(server->port());
  server.reset();
  EXPECT_TRUE(Until([&] { return !web.connection && !own.connection; }));
  EXPECT_EQ(web.heard.back(), "close 1006 ");
  EXPECT_EQ(own.heard.back(), "close 1006 ");
  EXPECT_THAT(Hear(Join(*late, {.room = 3, .players = 2}), 1),
              ElementsAre("refused 503"));
}

TEST_P(ServerTest, WhatWaitsToBeAttachedDiesWithIt) {
  Start();
  const auto own = server->MakeConnector(pump);
  for (int i = 0; i < 50; ++i) {
    Join(*own, {.room = static_cast<std::uint32_t>(i % 16), .players = 2});
  }
  server.reset();
  for (LockstepClient& client : clients) {
    EXPECT_TRUE(Until([&] { return client.connection == nullptr; }));
    EXPECT_EQ(client.heard.back(), "close 1006 ");
  }
}

// One that lives on the room's loop by other means: a pump of the test's.
TEST_P(ServerTest, SeatsWhatIsAttachedOnTheRoomsLoop) {
  PipePump theirs;
  Start();
  NetLoop& rooms = server->loop(5);
  theirs.SetWake([&rooms, &theirs] {
    rooms.Post([&rooms, &theirs] { theirs.Pump(rooms.now()); });
  });
  LockstepClient& client = clients.emplace_back();
  PipePair pipe = MakePipe(pump, theirs);
  pipe.first->SetHandler(&client);
  client.connection = std::move(pipe.first);
  server->Attach(std::move(pipe.second), {.room = 5, .players = 2});
  EXPECT_THAT(Hear(client, 2), ElementsAre("open", "LOBBY 0 2 1"));
  LockstepClient& guest = Join(5, 2);
  EXPECT_THAT(Hear(guest, 2), ElementsAre("open", "WELCOME 1"));
  guest.Input(1);
  EXPECT_THAT(Hear(client, 2), ElementsAre("WELCOME 0", "INPUT 1 0 0 1 1"));

  LockstepClient& refused = clients.emplace_back();
  pipe = MakePipe(pump, theirs);
  pipe.first->SetHandler(&refused);
  refused.connection = std::move(pipe.first);
  server->Attach(std::move(pipe.second), {.room = 5, .players = 3});
  EXPECT_THAT(Hear(refused, 2), ElementsAre("open", "close 1008 refused"));
  server.reset();
  client.connection.reset();
}

TEST_P(ServerTest, SaysWhatCannotBe) {
  Start();
  const std::uint16_t taken = server->port();
  options.port = taken;
  EXPECT_THAT(Server::Create(options, entropy).status(),
              StatusIs(absl::StatusCode::kUnavailable,
                       HasSubstr("port " + std::to_string(taken))));
  options.port = 0;
  options.tcp_port = taken;
  EXPECT_THAT(Server::Create(options, entropy).status(),
              StatusIs(absl::StatusCode::kUnavailable));
  options.drain_ms = -1;
  EXPECT_THAT(Server::Create(options, entropy).status(),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("server.drain_ms")));
}

TEST_P(ServerTest, LetsTheNetworkInWhenItIsOpened) {
  options.closed = true;
  Start();
  EXPECT_THAT(Hear(Join(3, 2), 1), ElementsAre("close 1006 "));
  LockstepClient& own =
      Join(*server->MakeConnector(pump), {.room = 3, .players = 2});
  server->Open();
  EXPECT_THAT(Hear(Join(3, 2), 2), ElementsAre("open", "WELCOME 1"));
  EXPECT_THAT(Hear(own, 3), ElementsAre("open", "LOBBY 0 2 1", "WELCOME 0"));
}

TEST_P(ServerTest, ServesBelowItsBasePath) {
  options.base_path = "/games";
  Start();
  auto made = MakeNetConnector(loop, entropy, Url("ws") + "/games");
  ASSERT_TRUE(made.ok());
  EXPECT_THAT(Hear(Join(**made, {.room = 3, .players = 2}), 2),
              ElementsAre("open", "LOBBY 0 2 1"));
  EXPECT_THAT(Hear(Join(3, 2), 1), ElementsAre("refused 404"));
}

}  // namespace
}  // namespace parlor::test
