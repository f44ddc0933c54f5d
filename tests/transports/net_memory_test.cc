// What connections over sockets take from the heap, counted by operator new
// itself: the sockets' own memory is the system's.
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "parlor/byte_io.h"
#include "parlor/connection.h"
#include "parlor/connector.h"
#include "parlor/entropy.h"
#include "parlor/lane.h"
#include "parlor/time.h"
#include "parlor/transports/net_listener.h"
#include "parlor/transports/request.h"
#include "stream/handshake.h"
#include "stream/tcp_handshake.h"
#include "stream/websocket_handshake.h"
#include "support/counting_allocator.h"
#include "support/raw_socket.h"
#include "transports/net_fixture.h"

namespace parlor {
namespace {

using test::kTcp;
using test::kWs;
using test::NetScheme;
using test::NetWorld;
using test::RawSocket;

constexpr bool kCounts = PARLOR_COUNTS_ALLOCATIONS != 0;

class NetMemoryTest : public testing::TestWithParam<NetScheme> {
 protected:
  NetWorld world_{GetParam()};
};

INSTANTIATE_TEST_SUITE_P(Schemes, NetMemoryTest, testing::Values(kWs, kTcp),
                         testing::PrintToStringParamName());

// A seat that its room hears nothing of: the host's end alone, its clients
// being plain sockets.
class Seats final : public NetListenerHandler, public ConnectionHandler {
 public:
  explicit Seats(std::size_t count) { connections_.reserve(count); }

  std::size_t size() const { return connections_.size(); }
  Connection& seat(std::size_t index) { return *connections_[index]; }
  std::size_t messages() const { return messages_; }

  Verdict OnKnock(TimePoint, const Knock&) override {
    return {.refusal = {}, .protocol = kLockstepProtocol};
  }
  void OnConnection(TimePoint, const Knock&,
                    std::unique_ptr<Connection> connection) override {
    connection->SetHandler(this);
    connections_.push_back(std::move(connection));
  }
  void OnMessage(TimePoint, Connection&, Lane, MessageKind,
                 std::span<const std::byte>) override {
    ++messages_;
  }
  void OnClose(TimePoint, Connection&, const CloseEvent&) override {
    ADD_FAILURE() << "closed";
  }

 private:
  std::vector<std::unique_ptr<Connection>> connections_;
  std::size_t messages_ = 0;
};

TEST_P(NetMemoryTest, AnIdleSeatTakes2KiBAtMost) {
  constexpr std::size_t kSeats = 200;
  constexpr std::size_t kWarm = 8;
  Seats seats(kSeats + kWarm);
  const auto listener =
      NetListener::Create(world_.host_loop, world_.listening, &seats);
  ASSERT_TRUE(listener.ok());
  const Request request = RequestForRoom({.room = 1, .players = 2});
  const std::unique_ptr<stream::ClientHandshake> handshake =
      GetParam().transport == NetTransport::kTcp
          ? stream::MakeTcpClientHandshake(request)
          : stream::MakeWebSocketClientHandshake(request, "localhost",
                                                 world_.entropy);
  std::vector<RawSocket> clients;
  clients.reserve(kSeats + kWarm);
  std::string answer(4096, '\0');
  const auto seat_one = [&] {
    clients.push_back(RawSocket::Connect((*listener)->port()));
    ASSERT_TRUE(clients.back().Send(handshake->hello()));
    const std::size_t before = seats.size();
    ASSERT_TRUE(world_.turns.Until([&] { return seats.size() > before; }));
    ASSERT_EQ(seats.seat(before).Send(Lane::kReliable, MessageKind::kText,
                                      AsBytes("welcome")),
              SendResult::kQueued);
    world_.turns.Settle();
    answer.clear();
    ASSERT_TRUE(clients.back().Receive(answer));
  };
  for (std::size_t i = 0; i < kWarm; ++i) seat_one();
  const std::uint64_t before = parlor_allocated_bytes();
  for (std::size_t i = 0; i < kSeats; ++i) seat_one();
  // Until the first ping, when what was kept for a busy time is given back.
  world_.turns.Advance(10'000 * kMillisecond);
  const std::uint64_t each = (parlor_allocated_bytes() - before) / kSeats;
  RecordProperty("bytes_each", static_cast<int>(each));
  if (!kCounts) return;
  EXPECT_GT(each, 0u);
  EXPECT_LE(each, 2u * 1024u);
}

TEST_P(NetMemoryTest, ASteadyFlowAllocatesNothing) {
  constexpr int kWarm = 100;
  constexpr int kRounds = 1'000;
  constexpr std::size_t kClients = 8;
  world_.Listen();
  std::vector<std::unique_ptr<test::NetEnd>> clients;
  for (std::size_t i = 0; i < kClients; ++i) {
    clients.push_back(world_.Connect());
    test::NetEnd& host = *world_.host.ends.back();
    host.on_message = [&host](std::string_view text) { host.Send(text); };
  }
  std::size_t expected = 0;
  const auto round = [&] {
    ++expected;
    for (const auto& client : clients) client->Send("0123456789ab");
    const auto done = [&] {
      for (const auto& client : clients) {
        if (client->messages < expected) return false;
      }
      return true;
    };
    ASSERT_TRUE(world_.turns.Until(std::cref(done)));
    world_.turns.now += kMillisecond;
  };
  for (int i = 0; i < kWarm; ++i) round();
  const std::uint64_t before = parlor_allocation_count();
  for (int i = 0; i < kRounds; ++i) round();
  EXPECT_EQ(parlor_allocation_count() - before, 0u);
}

}  // namespace
}  // namespace parlor
