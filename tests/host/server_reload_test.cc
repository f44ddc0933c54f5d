// What changes while a server runs, and what does not: with threads of its own,
// or turned by Poll.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "host/server_fixture.h"
#include "parlor/connector.h"
#include "parlor/host/server.h"
#include "parlor/transports/net_connector.h"
#include "parlor/transports/tls.h"
#include "support/lockstep_client.h"
#include "support/raw_socket.h"
#include "support/requests.h"
#include "support/status_matchers.h"
#include "support/test_certificate.h"

namespace parlor::test {
namespace {

using host::ServerOptions;
using testing::ElementsAre;
using testing::StartsWith;

class ServerReloadTest : public ServerFixture,
                         public testing::WithParamInterface<int> {
 protected:
  ServerReloadTest() : ServerFixture(GetParam()) {}

  void Reload() { ASSERT_THAT(server->Reload(options), IsOk()); }

  // The status that /invite answers to a code.
  int Invite(std::string_view code, std::string_view headers = "") {
    const std::string answer = Ask(InviteRequest(
        code, std::string("Connection: close\r\n").append(headers)));
    return answer.starts_with("HTTP/1.1 ") ? std::stoi(answer.substr(9)) : 0;
  }
  int InviteFrom(std::string_view client) {
    return Invite("", std::string("X-Forwarded-For: ").append(client) + "\r\n");
  }
};

INSTANTIATE_TEST_SUITE_P(Shards, ServerReloadTest, testing::Values(0, 1, 3),
                         ShardsName);

TEST_P(ServerReloadTest, AMatchGoesOn) {
  Start();
  LockstepClient& first = Join(3, 2);
  Hear(first, 2);
  LockstepClient& second = Join(3, 2);
  Hear(second, 2);
  EXPECT_THAT(Hear(first, 1), ElementsAre("WELCOME 0"));
  options.gate.open = false;
  options.gate.codes = {"another-code"};
  options.shard.room.hold_ms = 1;
  options.shard.room.idle_ms = 1;
  options.shard.room_joins_per_minute = 1;
  options.connections = 2;
  options.unseated = 1;
  options.drain_ms = 0;
  for (std::uint32_t frame = 1; frame <= 20; ++frame) {
    Reload();
    first.Input(frame);
    const std::string said = std::to_string(frame);
    EXPECT_THAT(Hear(second, 1),
                ElementsAre("INPUT 0 0 0 " + said + " " + said));
  }
  // The room is the one that was opened: a dropped seat is still held.
  first.connection->Abort();
  EXPECT_THAT(Hear(second, 1), ElementsAre("AWAY 0 2"));
  const TimePoint later = Now() + 50 * kMillisecond;
  EXPECT_TRUE(Until([&] { return Now() > later; }));
  EXPECT_THAT(second.Take(), ElementsAre());
}

TEST_P(ServerReloadTest, CodesThatGoAndCome) {
  options.gate.open = false;
  options.gate.codes = {"first-code-1", "second-code-2"};
  Start();
  EXPECT_EQ(JoinWith("first-code-1", 1), "open");
  EXPECT_EQ(JoinWith("third-code-3", 2), "refused 403");
  options.gate.codes = {"second-code-2", "third-code-3"};
  Reload();
  EXPECT_EQ(JoinWith("first-code-1", 3), "refused 403");
  EXPECT_EQ(JoinWith("second-code-2", 4), "open");
  EXPECT_EQ(JoinWith("third-code-3", 5), "open");
  options.gate.codes = {};
  Reload();
  EXPECT_EQ(Invite("third-code-3"), 403);
  options.gate.open = true;
  Reload();
  EXPECT_EQ(JoinWith("first-code-1", 6), "open");
}

TEST_P(ServerReloadTest, PagesThatGoAndCome) {
  options.gate.origins = {"https://a.example"};
  Start();
  const std::string_view a = "Origin: https://a.example\r\n";
  const std::string_view b = "Origin: https://b.example\r\n";
  EXPECT_EQ(Invite("", a), 200);
  EXPECT_EQ(Invite("", b), 403);
  options.gate.origins = {"https://b.example"};
  Reload();
  EXPECT_EQ(Invite("", a), 403);
  EXPECT_EQ(Invite("", b), 200);
}

// Nobody gets a fresh minute, whatever the rate becomes.
TEST_P(ServerReloadTest, WhatWasCountedCounts) {
  options.gate.joins_per_minute = 4;
  Start();
  for (int i = 0; i < 4; ++i) EXPECT_EQ(Invite(""), 200);
  EXPECT_EQ(Invite(""), 429);
  Reload();
  EXPECT_EQ(Invite(""), 429);
  options.gate.joins_per_minute = 6;
  Reload();
  EXPECT_EQ(Invite(""), 200);
  EXPECT_EQ(Invite(""), 200);
  EXPECT_EQ(Invite(""), 429);
  options.gate.joins_per_minute = 5;
  Reload();
  EXPECT_EQ(Invite(""), 429);
  options.gate.joins_per_minute = 7;
  Reload();
  EXPECT_EQ(Invite(""), 200);
  EXPECT_EQ(Invite(""), 429);
}

TEST_P(ServerReloadTest, FailuresThatWereCountedCount) {
  options.gate.open = false;
  options.gate.codes = {"first-code-1"};
  options.gate.joins_per_minute = 30;
  Start();
  for (int i = 0; i < 10; ++i) EXPECT_EQ(Invite("guessed-code"), 403);
  EXPECT_EQ(Invite("first-code-1"), 429);
  options.gate.joins_per_minute = 36;
  Reload();
  EXPECT_EQ(Invite("guessed-code"), 403);
  EXPECT_EQ(Invite("first-code-1"), 200);
  EXPECT_EQ(Invite("guessed-code"), 403);
  EXPECT_EQ(Invite("first-code-1"), 429);
}

TEST_P(ServerReloadTest, JoinsIntoARoomThatWereCountedCount) {
  options.shard.room_joins_per_minute = 2;
  Start();
  EXPECT_EQ(JoinWith("", 5), "open");
  EXPECT_EQ(JoinWith("", 5), "open");
  EXPECT_EQ(JoinWith("", 5), "refused 429");
  options.shard.room_joins_per_minute = 3;
  Reload();
  EXPECT_EQ(JoinWith("", 5), "open");
  EXPECT_EQ(JoinWith("", 5), "refused 429");
  options.shard.room_joins_per_minute = 1;
  Reload();
  EXPECT_EQ(JoinWith("", 6), "open");
  EXPECT_EQ(JoinWith("", 6), "refused 429");
}

TEST_P(ServerReloadTest, ProxiesThatComeAndGo) {
  options.gate.joins_per_minute = 2;
  Start();
  EXPECT_EQ(InviteFrom("192.0.2.1"), 200);
  EXPECT_EQ(InviteFrom("192.0.2.2"), 200);
  EXPECT_EQ(InviteFrom("192.0.2.3"), 429);
  options.gate.trusted_proxies = {"127.0.0.0/8"};
  Reload();
  for (const char* client : {"192.0.2.1", "192.0.2.2"}) {
    EXPECT_EQ(InviteFrom(client), 200);
    EXPECT_EQ(InviteFrom(client), 200);
    EXPECT_EQ(InviteFrom(client), 429);
  }
  EXPECT_EQ(InviteFrom("unknown"), 429);
  options.gate.trusted_proxies = {"127.0.0.2"};
  Reload();
  EXPECT_EQ(InviteFrom("192.0.2.4"), 429);
}

TEST_P(ServerReloadTest, NewRoomsAreOpenedAnew) {
  Start();
  LockstepClient& old = Join(3, 2);
  Hear(old, 2);
  options.shard.room.lobby_ms = 1;
  Reload();
  EXPECT_THAT(Hear(Join(4, 2), 3),
              ElementsAre("open", "LOBBY 0 2 1", "close 1001 room not filled"));
  EXPECT_THAT(Hear(Join(3, 2), 2), ElementsAre("open", "WELCOME 1"));
  EXPECT_THAT(Hear(old, 1), ElementsAre("WELCOME 0"));
}

TEST_P(ServerReloadTest, LimitsOfConnections) {
  Start();
  std::vector<RawSocket> idle;
  const auto connect = [&] {
    const std::uint64_t before = server->figures().connections;
    idle.push_back(RawSocket::Connect(server->port()));
    return before;
  };
  for (int i = 0; i < 3; ++i) {
    const std::uint64_t before = connect();
    EXPECT_TRUE(
        Until([&] { return server->figures().unseated == before + 1; }));
  }
  options.unseated_per_address = 2;
  Reload();
  connect();
  EXPECT_TRUE(Until([&] { return server->figures().connections == 2; }));
  std::string heard;
  EXPECT_FALSE(idle[1].Receive(heard));
  EXPECT_TRUE(idle[2].Receive(heard));
  options.unseated = 1;
  Reload();
  connect();
  EXPECT_TRUE(Until([&] { return server->figures().connections == 1; }));
  // Only those without a seat make room.
  EXPECT_EQ(JoinWith("", 5), "open");
  options.connections = 1;
  Reload();
  EXPECT_EQ(JoinWith("", 6), "close 1006 ");
  options.connections = 2;
  Reload();
  EXPECT_EQ(JoinWith("", 7), "open");
}

TEST_P(ServerReloadTest, HowLongADrainIs) {
  options.drain_ms = 60'000;
  Start();
  LockstepClient& client = Join(3, 2);
  Hear(client, 2);
  options.drain_ms = 1;
  Reload();
  server->Drain();
  EXPECT_THAT(Hear(client, 1), ElementsAre("close 1012 restart"));
  // Nothing comes of it any more.
  Reload();
  EXPECT_TRUE(Until([&] { return server->stopped(); }));
  Reload();
}

// ---- TLS

struct Identity {
  TlsServer server;
  TlsClient client;  // trusts it alone
};

Identity MakeIdentity() {
  TestAuthority authority;
  return {TlsServer::FromFiles(authority.IssueLocal()).value(),
          TlsClient::Create({.ca_path = authority.path()}).value()};
}

TEST_P(ServerReloadTest, ANewCertificateIsForNewConnections) {
  const Identity before = MakeIdentity();
  const Identity after = MakeIdentity();
  const auto join = [&](const Identity& identity) -> LockstepClient& {
    NetConnectorOptions trusting;
    trusting.tls = identity.client;
    auto made = MakeNetConnector(loop, entropy, Url("wss"), trusting);
    EXPECT_THAT(made, IsOk());
    return Join(**made, {.room = 3, .players = 3});
  };
  options.tls = before.server;
  Start();
  LockstepClient& old = join(before);
  EXPECT_THAT(Hear(old, 2), ElementsAre("open", "LOBBY 0 3 1"));
  EXPECT_THAT(Hear(join(after), 1), ElementsAre("close 1006 "));
  options.tls = after.server;
  Reload();
  EXPECT_THAT(Hear(join(before), 1), ElementsAre("close 1006 "));
  EXPECT_THAT(Hear(join(after), 2), ElementsAre("open", "LOBBY 1 3 2"));
  EXPECT_THAT(Hear(old, 1), ElementsAre("LOBBY 0 3 2"));
  // Nobody has to keep it.
  options.tls.reset();
  Reload();
  EXPECT_THAT(Hear(Join(3, 3), 2), ElementsAre("open", "WELCOME 2"));
  EXPECT_THAT(Hear(old, 1), ElementsAre("WELCOME 0"));
  old.Input(1);
  EXPECT_THAT(Hear(clients.back(), 1), ElementsAre("INPUT 0 0 0 1 1"));
}

// ---- What is refused

struct RefusedRow {
  const char* name;
  void (*change)(ServerOptions& options);
  std::string_view field;
  std::string_view wrong = ": cannot change while it runs";
};

const RefusedRow kRefused[] = {
    {"Address", [](auto& o) { o.address = "127.0.0.2"; }, "server.address"},
    {"Port", [](auto& o) { o.port = 1; }, "server.port"},
    {"TcpPort", [](auto& o) { o.tcp_port = 1; }, "server.tcp_port"},
    {"NoTcpPort", [](auto& o) { o.tcp_port.reset(); }, "server.tcp_port"},
    {"BasePath", [](auto& o) { o.base_path = "/games"; }, "server.base_path"},
    {"Shards", [](auto& o) { ++o.shards; }, "server.shards"},
    {"Rooms", [](auto& o) { ++o.shard.rooms; }, "server.shard.rooms"},
    {"Seats", [](auto& o) { --o.shard.seats; }, "server.shard.seats"},
    {"LaneBytes", [](auto& o) { ++o.stream.reliable_bytes_max; },
     "server.stream.reliable_bytes_max"},
    {"MessageBytes", [](auto& o) { --o.stream.message_bytes_max; },
     "server.stream.message_bytes_max"},
    {"Linger", [](auto& o) { --o.stream.linger_ms; },
     "server.stream.linger_ms"},
    {"Handshake", [](auto& o) { --o.stream.handshake_ms; },
     "server.stream.handshake_ms"},
    {"Ping", [](auto& o) { --o.stream.ping_ms; }, "server.stream.ping_ms"},
    {"Silence", [](auto& o) { ++o.stream.silence_ms; },
     "server.stream.silence_ms"},
    {"StatePath", [](auto& o) { o.state_path = "elsewhere"; },
     "server.state_path"},
    {"RecordPath", [](auto& o) { o.record_path = "elsewhere"; },
     "server.record_path"},
    {"Drain", [](auto& o) { o.drain_ms = -1; }, "server.drain_ms",
     ": -1 is not in 0..80000"},
    {"Proxies",
     [](auto& o) {
       o.gate.trusted_proxies = {"::1", "x"};
     },
     "server.gate.trusted_proxies[1]", ": \"x\": is neither an address"},
    {"Hold", [](auto& o) { o.shard.room.hold_ms = -1; },
     "server.shard.room.hold_ms", ": -1 is not in 0..120000"},
};

TEST_P(ServerReloadTest, NothingChangesWhenAFieldIsRefused) {
  Start();
  for (const RefusedRow& row : kRefused) {
    SCOPED_TRACE(row.name);
    ServerOptions changed = options;
    changed.gate.open = false;
    changed.drain_ms = 1;
    row.change(changed);
    EXPECT_THAT(server->Reload(changed),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         StartsWith(std::string(row.field).append(row.wrong))));
  }
  EXPECT_EQ(Invite(""), 200);
  options.gate.open = false;
  options.closed = true;  // not looked at
  Reload();
  EXPECT_EQ(Invite(""), 403);
}

// ---- Threads

TEST_P(ServerReloadTest, AnyThreadMayCallIt) {
  Start();
  LockstepClient& first = Join(3, 2);
  Hear(first, 2);
  LockstepClient& second = Join(3, 2);
  Hear(second, 2);
  Hear(first, 1);
  std::atomic<int> left = 3;
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([this, &left, i, mine = options]() mutable {
      for (int j = 0; j < 30; ++j) {
        mine.gate.joins_per_minute = 100 + i;
        mine.gate.codes.assign(static_cast<std::size_t>(i), "a-code-of-some");
        mine.gate.open = i == 0;
        mine.shard.room.hold_ms = j;
        EXPECT_THAT(server->Reload(mine), IsOk());
      }
      --left;
    });
  }
  std::uint32_t frame = 0;
  EXPECT_TRUE(Until([&] {
    first.Input(++frame);
    return left == 0;
  }));
  for (std::thread& thread : threads) thread.join();
  Hear(second, frame);
  // And the end may be next.
  Reload();
  server.reset();
}

}  // namespace
}  // namespace parlor::test
