// Whole connections over sockets: what is only true, or only hard, where a
// network is between the ends. The rules of connection.h have a suite of their
// own (support/connection_conformance.h).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "parlor/close_reason.h"
#include "parlor/connection.h"
#include "parlor/connector.h"
#include "parlor/lane.h"
#include "parlor/time.h"
#include "parlor/transports/net_connector.h"
#include "parlor/transports/net_loop.h"
#include "parlor/transports/request.h"
#include "stream/stream_loop.h"
#include "stream/tcp_handshake.h"
#include "support/net_turns.h"
#include "support/raw_socket.h"
#include "support/status_matchers.h"
#include "support/steady_now.h"
#include "transports/net_fixture.h"

namespace parlor {
namespace {

using test::kTcp;
using test::kTls;
using test::kWs;
using test::kWss;
using test::NetEnd;
using test::NetScheme;
using test::NetWorld;
using test::RawSocket;

constexpr int kPatienceMs = std::chrono::milliseconds(test::kPatience).count();

class NetConnectionTest : public testing::TestWithParam<NetScheme> {
 protected:
  NetWorld world_{GetParam()};
};

INSTANTIATE_TEST_SUITE_P(Schemes, NetConnectionTest,
                         testing::Values(kWs, kWss, kTcp, kTls),
                         testing::PrintToStringParamName());

TEST_P(NetConnectionTest, CarriesMessagesBothWays) {
  world_.Listen();
  const auto client = world_.Connect();
  NetEnd& host = *world_.host.ends.back();
  host.on_message = [&](std::string_view text) {
    host.Send("echo " + std::string(text));
  };
  for (int i = 0; i < 20; ++i) {
    const std::string text = std::to_string(i);
    ASSERT_EQ(client->Send(text), SendResult::kQueued);
    ASSERT_TRUE(
        world_.turns.Until([&] { return client->last == "echo " + text; }));
  }
  EXPECT_EQ(world_.host.targets, std::vector<std::string>{"/room/1?players=2"});
  EXPECT_EQ(world_.host.addresses, std::vector<std::string>{"127.0.0.1"});
  EXPECT_FALSE(client->closed());
}

TEST_P(NetConnectionTest, CarriesALargeMessage) {
  world_.Listen();
  const auto client = world_.Connect();
  const std::string large(60'000, 'x');
  for (int i = 0; i < 8; ++i) {
    ASSERT_EQ(client->Send(large), SendResult::kQueued);
  }
  const NetEnd& host = *world_.host.ends.back();
  ASSERT_TRUE(world_.turns.Until([&] { return host.messages == 8; }));
  EXPECT_EQ(host.last, large);
}

TEST_P(NetConnectionTest, ARefusalArrivesWithItsStatus) {
  world_.Listen();
  world_.host.refusal = {.status = 409};
  const auto client = world_.Dial();
  ASSERT_TRUE(world_.turns.Until([&] { return client->closed(); }));
  EXPECT_EQ(client->code(), close_code::kDropped);
  EXPECT_EQ(client->closes.front().refusal, 409);
  EXPECT_EQ(client->opens, 0);
  EXPECT_TRUE(world_.host.ends.empty());
}

TEST_P(NetConnectionTest, NobodyListens) {
  RawSocket listener = RawSocket::Listen();
  const std::uint16_t port = listener.port();
  listener.Close();
  const auto client = world_.Dial(world_.Url(port));
  EXPECT_TRUE(client->closes.empty());
  ASSERT_TRUE(world_.turns.Until([&] { return client->closed(); }));
  EXPECT_EQ(client->code(), close_code::kDropped);
  EXPECT_EQ(client->closes.front().refusal, 0);
}

// RFC 6761 section 6.4: no resolver may find it.
TEST_P(NetConnectionTest, NameThatCannotBeFound) {
  const auto client = world_.Dial(world_.Url(80, "nobody.invalid"));
  ASSERT_TRUE(world_.turns.Until([&] { return client->closed(); }));
  EXPECT_EQ(client->code(), close_code::kDropped);
}

// A client that connects and says nothing has its time, and no more.
TEST_P(NetConnectionTest, ASilentClientIsCutOff) {
  world_.Listen();
  RawSocket client = RawSocket::Connect(world_.listener->port());
  world_.turns.Settle();
  world_.turns.Advance(9'999 * kMillisecond);
  EXPECT_FALSE(client.Readable());
  world_.turns.Advance(kMillisecond);
  EXPECT_TRUE(client.Readable(10'000));
  EXPECT_TRUE(world_.host.targets.empty());
}

TEST_P(NetConnectionTest, ASilentServerIsGivenUp) {
  RawSocket listener = RawSocket::Listen();
  const auto client = world_.Dial(world_.Url(listener.port()));
  world_.turns.Settle();
  RawSocket server = listener.Accept();
  world_.turns.Advance(9'999 * kMillisecond);
  EXPECT_FALSE(client->closed());
  world_.turns.Advance(kMillisecond);
  EXPECT_EQ(client->code(), close_code::kDropped);
  EXPECT_EQ(client->opens, 0);
}

TEST_P(NetConnectionTest, AServerOfSomethingElseIsGivenUp) {
  RawSocket listener = RawSocket::Listen();
  const auto client = world_.Dial(world_.Url(listener.port()));
  world_.turns.Settle();
  RawSocket server = listener.Accept();
  ASSERT_TRUE(server.Send("220 mail.example.org ESMTP ready\r\n\r\n"));
  ASSERT_TRUE(world_.turns.Until([&] { return client->closed(); }));
  EXPECT_EQ(client->code(), close_code::kDropped);
}

// The network died: nothing comes any more, and nothing says so.
TEST_P(NetConnectionTest, APeerThatFellSilentIsPingedThenDropped) {
  world_.Listen();
  const auto client = world_.Connect();
  world_.turns.Settle();
  const NetEnd& host = *world_.host.ends.back();
  // The client's loop stands still.
  test::NetTurns host_alone{&world_.host_loop};
  host_alone.now = world_.turns.now + 10 * kSecond;
  host_alone.Settle();
  EXPECT_FALSE(host.closed());
  host_alone.Advance(10 * kSecond - kMillisecond);
  EXPECT_FALSE(host.closed());
  host_alone.Advance(kMillisecond);
  EXPECT_EQ(host.code(), close_code::kDropped);
  // What the client finds when it wakes: the ping, and the end.
  world_.turns.now = host_alone.now - 5 * kSecond;
  ASSERT_TRUE(world_.turns.Until([&] { return client->closed(); }));
  EXPECT_EQ(client->pings, 1);
  EXPECT_EQ(client->code(), close_code::kDropped);
}

// A loop that was not turned for a while (a game that loads, a host's long
// task) finds what came in time beside deadlines that are over.
TEST_P(NetConnectionTest, ALateLoopHearsWhatCameInTime) {
  world_.Listen();
  const auto client = world_.Connect();
  world_.turns.Settle();
  const NetEnd& host = *world_.host.ends.back();
  test::NetTurns client_alone{&world_.client_loop};
  client_alone.now = world_.turns.now;
  for (int i = 0; i < 19; ++i) {
    client->Send("alive");
    client_alone.Advance(kSecond);
  }
  test::NetTurns host_alone{&world_.host_loop};
  host_alone.now = client_alone.now + kSecond;
  ASSERT_TRUE(host_alone.Until([&] { return host.messages == 19; }));
  EXPECT_FALSE(host.closed());
}

TEST_P(NetConnectionTest, ALateLoopHearsACloseThatCameInTime) {
  world_.Listen();
  const auto client = world_.Connect();
  world_.turns.Settle();
  const NetEnd& host = *world_.host.ends.back();
  client->Send("last");
  client->connection->Close(close_code::kNormal, "");
  test::NetTurns client_alone{&world_.client_loop};
  client_alone.now = world_.turns.now;
  client_alone.Settle();
  world_.turns.now += std::chrono::hours(1);
  ASSERT_TRUE(world_.turns.Until([&] { return host.closed(); }));
  EXPECT_EQ(host.last, "last");
  EXPECT_EQ(host.code(), close_code::kNormal);
}

TEST_P(NetConnectionTest, ALateLoopPingsBeforeItGivesUp) {
  world_.Listen();
  const auto client = world_.Connect();
  world_.turns.Settle();
  // Both stood still for an hour, and nobody had anything to say.
  world_.turns.Advance(std::chrono::hours(1));
  EXPECT_FALSE(client->closed());
  EXPECT_FALSE(world_.host.ends.back()->closed());
  EXPECT_EQ(client->pings, 1);
  client->Send("still here");
  ASSERT_TRUE(world_.turns.Until(
      [&] { return world_.host.ends.back()->last == "still here"; }));
}

TEST_P(NetConnectionTest, PingsKeepAnIdleConnection) {
  world_.Listen();
  const auto client = world_.Connect();
  for (int i = 0; i < 120; ++i) world_.turns.Advance(kSecond);
  EXPECT_FALSE(client->closed());
  EXPECT_FALSE(world_.host.ends.back()->closed());
  EXPECT_GT(client->pings + world_.host.ends.back()->pings, 5);
}

TEST_P(NetConnectionTest, AnAbortIsADropAtTheOtherEnd) {
  world_.Listen();
  for (const bool by_client : {true, false}) {
    SCOPED_TRACE(by_client);
    const auto client = world_.Connect();
    NetEnd& host = *world_.host.ends.back();
    NetEnd& first = by_client ? *client : host;
    NetEnd& second = by_client ? host : *client;
    first.connection->Abort();
    ASSERT_TRUE(
        world_.turns.Until([&] { return first.closed() && second.closed(); }));
    EXPECT_EQ(second.code(), close_code::kDropped);
    EXPECT_FALSE(second.closes.front().by_us);
    EXPECT_TRUE(first.closes.front().by_us);
  }
}

// The close frame arrives although the one who closes has input that it never
// reads: a socket closed like that is reset, and takes what was under way with
// it (200 of 200 times when tried).
TEST_P(NetConnectionTest, ACloseArrivesWithUnreadInput) {
  world_.Listen();
  const std::string large(4'000, 'x');
  for (int round = 0; round < 50; ++round) {
    SCOPED_TRACE(round);
    const bool by_client = round % 2 == 1;
    const auto client = world_.Connect();
    NetEnd& host = *world_.host.ends.back();
    NetEnd& closes = by_client ? *client : host;
    NetEnd& floods = by_client ? host : *client;
    closes.on_message = [&](std::string_view) {
      closes.connection->Close(4'000, "enough");
    };
    while (!floods.closed()) {
      while (floods.connection->queued_bytes(Lane::kReliable) < 400'000 &&
             floods.Send(large) == SendResult::kQueued) {
      }
      world_.turns.Turn();
    }
    EXPECT_EQ(floods.code(), 4'000);
    EXPECT_EQ(floods.closes.front().text, "enough");
    // The answer is behind what is discarded, which takes a moment: not the
    // linger (5 s), which would reset the link.
    Duration waited{};
    while (!closes.closed() && waited < kSecond) {
      world_.turns.Advance(stream::kDiscardTime);
      waited += stream::kDiscardTime;
    }
    ASSERT_TRUE(closes.closed());
    EXPECT_EQ(closes.code(), 4'000);
    EXPECT_TRUE(closes.closes.front().by_us);
  }
}

// The simplest of peers: it writes all that it has, and only then reads. It has
// not answered, so it is owed the whole linger, and no reset eats the frame.
TEST(NetConnection, WhoSaysAllBeforeHeReadsHearsWhy) {
  NetWorld world(kTcp);
  world.Listen();
  RawSocket peer = RawSocket::Connect(world.listener->port());
  const auto hello =
      stream::MakeTcpClientHandshake(RequestForRoom({.room = 1, .players = 2}));
  ASSERT_TRUE(peer.Send(hello->hello()));
  ASSERT_TRUE(world.turns.Until([&] { return world.host.ends.size() == 1; }));
  NetEnd& host = *world.host.ends.front();
  host.on_message = [&](std::string_view) {
    host.connection->Close(4'000, "enough");
  };
  // Twice what is discarded at once, as messages of 252 bytes.
  const std::string message =
      std::string("\x01\xfc\0\0", 4) + std::string(252, 'x');
  std::string all;
  while (all.size() < 1'024 * 1'024) all += message;
  const TimePoint begin = world.turns.now;
  for (std::string_view rest = all; !rest.empty();) {
    rest.remove_prefix(peer.SendSome(rest));
    world.turns.Advance(stream::kDiscardTime);
    ASSERT_LT(world.turns.now - begin, 2 * kSecond);
  }
  std::string heard;
  ASSERT_TRUE(peer.Receive(heard)) << peer.error();
  const std::string close(
      "\x05\x08\0\0\xa0\x0f"
      "enough",
      12);
  EXPECT_THAT(heard, testing::EndsWith(close));
  ASSERT_TRUE(peer.Send(close));
  while (peer.Receive(heard)) {
    world.turns.Advance(stream::kDiscardTime);
    ASSERT_LT(world.turns.now - begin, 2 * kSecond);
  }
  EXPECT_EQ(peer.error(), 0);
  EXPECT_EQ(host.code(), 4'000);
  EXPECT_TRUE(host.closes.front().by_us);
}

TEST_P(NetConnectionTest, ALateCloseEndsWhatWasNeverOpen) {
  RawSocket listener = RawSocket::Listen();
  const auto client = world_.Dial(world_.Url(listener.port()));
  client->connection->Close(CloseReason::kNormal);
  world_.turns.Settle();
  world_.turns.Advance(10 * kSecond);
  EXPECT_TRUE(client->closed());
  EXPECT_TRUE(client->closes.front().by_us);
}

TEST_P(NetConnectionTest, MayDieInAnyOrder) {
  for (int order = 0; order < 4; ++order) {
    SCOPED_TRACE(order);
    auto world = std::make_unique<NetWorld>(GetParam());
    world->Listen();
    auto client = world->Connect();
    auto dialing = world->Dial();
    ASSERT_EQ(client->Send("on its way"), SendResult::kQueued);
    if (order == 0) world->listener.reset();
    if (order == 1) world->host.ends.clear();
    if (order == 2) client.reset();
    if (order == 3) dialing.reset();
    world->turns.Settle();
    world->host.ends.clear();
    client.reset();
    dialing.reset();
    world.reset();
  }
}

TEST_P(NetConnectionTest, OutlivesItsListener) {
  world_.Listen();
  const auto client = world_.Connect();
  world_.listener.reset();
  ASSERT_EQ(client->Send("still there"), SendResult::kQueued);
  EXPECT_TRUE(world_.turns.Until(
      [&] { return world_.host.ends.back()->last == "still there"; }));
}

TEST_P(NetConnectionTest, TheConnectorMayGoFirst) {
  world_.Listen();  // Connect drops its connector at once
  const auto client = world_.Connect();
  for (int i = 0; i < 3'000; ++i) {  // more masks than one draw
    ASSERT_EQ(client->Send("x"), SendResult::kQueued);
    world_.turns.Turn();
  }
  EXPECT_TRUE(world_.turns.Until(
      [&] { return world_.host.ends.back()->messages == 3'000; }));
}

// Both loops on threads of their own, stopped from this one.
TEST_P(NetConnectionTest, RunsOnThreads) {
  constexpr int kRounds = 200;
  world_.Listen();
  NetEnd client;
  std::atomic<int> rounds = 0;
  auto connector =
      MakeNetConnector(world_.client_loop, world_.entropy,
                       world_.Url(world_.listener->port()), world_.connecting);
  ASSERT_THAT(connector, IsOk());
  std::thread host_thread([&] { world_.host_loop.Run(); });
  std::thread client_thread([&] { world_.client_loop.Run(); });

  client.on_message = [&](std::string_view) {
    if (rounds.fetch_add(1) + 1 < kRounds) client.Send("again");
  };
  world_.client_loop.Post([&] {
    client.connection = (*connector)
                            ->Connect(world_.client_loop.now(),
                                      {.room = 1, .players = 2}, &client);
    client.Send("first");
  });
  std::atomic<bool> echoing = false;
  const auto deadline = std::chrono::steady_clock::now() + test::kPatience;
  while (rounds.load() < kRounds &&
         std::chrono::steady_clock::now() < deadline) {
    if (!echoing.load()) {
      world_.host_loop.Post([&] {
        if (world_.host.ends.empty() || echoing.exchange(true)) return;
        NetEnd& end = *world_.host.ends.back();
        if (end.messages > 0) end.Send(end.last);
        end.on_message = [&end](std::string_view text) { end.Send(text); };
      });
    }
    std::this_thread::yield();
  }
  world_.host_loop.Stop();
  world_.client_loop.Stop();
  host_thread.join();
  client_thread.join();
  EXPECT_GE(rounds.load(), kRounds);
}

// Run on a thread, until it dies.
class Running {
 public:
  explicit Running(NetLoop& loop) : loop_(loop) {}
  ~Running() {
    loop_.Stop();
    thread_.join();
  }

 private:
  NetLoop& loop_;
  std::thread thread_{[this] { loop_.Run(); }};
};

// Nothing arrives that could wake the loop; in real time.
TEST_P(NetConnectionTest, AnIdleLoopCutsASilentClientOff) {
  world_.listening.stream.handshake_ms = 50;
  world_.Listen();
  const Running host(world_.host_loop);
  RawSocket client = RawSocket::Connect(world_.listener->port());
  EXPECT_TRUE(client.Readable(kPatienceMs));
  std::string received;
  EXPECT_FALSE(client.Receive(received));
}

TEST_P(NetConnectionTest, AnIdleLoopDropsAPeerThatFellSilent) {
  world_.listening.stream.ping_ms = 50;
  world_.listening.stream.silence_ms = 100;
  world_.turns.now = test::SteadyNow();
  world_.Listen();
  const auto client = world_.Connect();  // whose loop stands still
  std::atomic<bool> dropped = false;
  world_.host.ends.back()->on_close = [&] { dropped.store(true); };
  {
    const Running host(world_.host_loop);
    const auto deadline = std::chrono::steady_clock::now() + test::kPatience;
    while (!dropped.load() && std::chrono::steady_clock::now() < deadline) {
      std::this_thread::yield();
    }
  }
  EXPECT_EQ(world_.host.ends.back()->code(), close_code::kDropped);
}

TEST_P(NetConnectionTest, WhatWasSentInTheLastTurnIsWritten) {
  world_.turns.now = test::SteadyNow();
  world_.Listen();
  const auto client = world_.Connect();
  NetEnd& host = *world_.host.ends.back();
  host.on_message = [&](std::string_view) {
    EXPECT_EQ(host.Send("last"), SendResult::kQueued);
    world_.host_loop.Stop();
  };
  test::NetTurns client_alone{&world_.client_loop};
  client_alone.now = world_.turns.now;
  ASSERT_EQ(client->Send("stop"), SendResult::kQueued);
  client_alone.Settle();
  world_.host_loop.Run();
  EXPECT_TRUE(client_alone.Until([&] { return client->last == "last"; }));
}

// Inside a turn: everyone else on the loop would have been silent for too long.
TEST_P(NetConnectionTest, AWrongClockInACallbackDropsNobody) {
  world_.Listen();
  const auto first = world_.Connect();
  const auto second = world_.Connect();
  const TimePoint turn = world_.turns.now;
  std::unique_ptr<NetEnd> third;
  first->on_message = [&](std::string_view) {
    world_.turns.now = turn + 30 * kSecond;  // as Dial understands it
    third = world_.Dial();
    world_.turns.now = turn;
    EXPECT_EQ(world_.client_loop.now(), turn);
  };
  ASSERT_EQ(world_.host.ends.front()->Send("x"), SendResult::kQueued);
  ASSERT_TRUE(world_.turns.Until([&] { return third && third->opens == 1; }));
  EXPECT_FALSE(first->closed());
  EXPECT_FALSE(second->closed());
}

TEST_P(NetConnectionTest, BetweenTurnsTheTimeRisesAndNeverFalls) {
  RawSocket listener = RawSocket::Listen();
  const std::string url = world_.Url(listener.port());
  const TimePoint start = world_.turns.now;
  world_.turns.Settle();
  world_.turns.now = start + 30 * kSecond;
  const auto first = world_.Dial(url);
  EXPECT_EQ(world_.client_loop.now(), start + 30 * kSecond);
  world_.turns.now = start;
  const auto second = world_.Dial(url);
  EXPECT_EQ(world_.client_loop.now(), start + 30 * kSecond);
}

TEST(NetListener, ALateLoopLetsInWhoAskedInTime) {
  for (const test::NetScheme& scheme : {test::kWs, test::kTcp}) {
    SCOPED_TRACE(scheme.name);
    test::NetWorld world(scheme);
    world.Listen();
    const auto client = world.Dial();
    test::NetTurns client_alone{&world.client_loop};
    client_alone.now = world.turns.now;
    test::NetTurns host_alone{&world.host_loop};
    host_alone.now = world.turns.now;
    client_alone.Settle();
    // It accepts, and stands still before it reads.
    while (world.host_loop.Poll(host_alone.now, 1) == 0) {
    }
    ASSERT_TRUE(world.host.targets.empty());
    client_alone.Settle();
    host_alone.now += 11 * kSecond;
    ASSERT_TRUE(host_alone.Until([&] { return !world.host.ends.empty(); }));
  }
}

TEST(NetConnector, SaysWhatIsWrong) {
  NetWorld world(kWs);
  const auto make = [&](std::string_view url) {
    return MakeNetConnector(world.client_loop, world.entropy, url,
                            world.connecting);
  };
  EXPECT_THAT(make("http://h"), StatusIs(absl::StatusCode::kInvalidArgument,
                                         testing::HasSubstr("ws://")));
  world.connecting.stream.ping_ms = 0;
  EXPECT_THAT(make("ws://h"), StatusIs(absl::StatusCode::kInvalidArgument,
                                       testing::HasSubstr("ping_ms")));
  // An idle connection would be dropped without having been asked.
  world.connecting.stream.ping_ms = world.connecting.stream.silence_ms;
  EXPECT_THAT(make("ws://h"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       testing::HasSubstr("is not below silence_ms, 20000")));
}

// A certificate of an authority that the client does not know.
TEST(NetConnector, VerifiesByDefault) {
  NetWorld world(kWss);
  world.Listen();
  world.connecting.tls.reset();
  const auto client = world.Dial();
  ASSERT_TRUE(world.turns.Until([&] { return client->closed(); }));
  EXPECT_EQ(client->code(), close_code::kDropped);
  EXPECT_TRUE(world.host.targets.empty());
}

}  // namespace
}  // namespace parlor
