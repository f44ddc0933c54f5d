#include "parlor/transports/net_listener.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "parlor/time.h"
#include "parlor/transports/net_loop.h"
#include "support/net_turns.h"
#include "support/raw_socket.h"
#include "support/status_matchers.h"
#include "transports/net_fixture.h"

// How many more accepts end as if the client had gone before them.
static int accepts_aborted = 0;

// In place of the C library's: Linux hands over connections that were reset,
// other systems (and firewalls) do not.
extern "C" int accept4(int fd, sockaddr* addr, socklen_t* addr_len, int flags) {
  const long accepted = syscall(SYS_accept4, fd, addr, addr_len, flags);
  if (accepted < 0 || accepts_aborted == 0) return static_cast<int>(accepted);
  --accepts_aborted;
  close(static_cast<int>(accepted));
  errno = ECONNABORTED;
  return -1;
}

namespace parlor {
namespace {

using test::kTcp;
using test::kWs;
using test::NetWorld;
using test::RawSocket;

class NetListenerTest : public testing::Test {
 protected:
  absl::StatusOr<std::unique_ptr<NetListener>> Create() {
    return NetListener::Create(world_.host_loop, world_.listening,
                               &world_.host);
  }

  NetWorld world_{kWs};
};

TEST_F(NetListenerTest, SaysWhichPortItGot) {
  world_.Listen();
  EXPECT_NE(world_.listener->port(), 0);
  EXPECT_TRUE(RawSocket::Connect(world_.listener->port()).valid());
}

TEST_F(NetListenerTest, StopsListeningWhenItDies) {
  world_.Listen();
  const std::uint16_t port = world_.listener->port();
  world_.listener.reset();
  EXPECT_FALSE(RawSocket::Connect(port).valid());
  world_.turns.Settle();
}

TEST_F(NetListenerTest, CutsOffOpenHandshakesWhenItDies) {
  world_.Listen();
  RawSocket client = RawSocket::Connect(world_.listener->port());
  ASSERT_TRUE(client.Send("GET / HTTP/1.1\r\n"));
  world_.turns.Settle();
  world_.listener.reset();
  std::string received;
  EXPECT_TRUE(client.Readable(10'000));
  EXPECT_FALSE(client.Receive(received));
}

TEST_F(NetListenerTest, APortThatIsTakenIsUnavailable) {
  world_.Listen();
  world_.listening.port = world_.listener->port();
  EXPECT_THAT(Create(), StatusIs(absl::StatusCode::kUnavailable,
                                 testing::HasSubstr("in use")));
}

TEST_F(NetListenerTest, AnAddressOfAnotherMachineIsUnavailable) {
  world_.listening.address = "192.0.2.1";  // RFC 5737: nobody's
  EXPECT_THAT(Create(), StatusIs(absl::StatusCode::kUnavailable,
                                 testing::HasSubstr("192.0.2.1")));
}

TEST_F(NetListenerTest, SaysWhichOptionIsWrong) {
  for (const char* address : {"localhost", "", "127.1", "[::1]"}) {
    world_.listening.address = address;
    EXPECT_THAT(Create(), StatusIs(absl::StatusCode::kInvalidArgument,
                                   testing::HasSubstr("listener.address")));
  }
  world_.listening.address = test::kLocalhost;
  world_.listening.unseated_max = 0;
  EXPECT_THAT(Create(), StatusIs(absl::StatusCode::kInvalidArgument,
                                 testing::HasSubstr("unseated")));
  world_.listening.unseated_max = 1;
  world_.listening.stream.silence_ms = 0;
  EXPECT_THAT(Create(), StatusIs(absl::StatusCode::kInvalidArgument,
                                 testing::HasSubstr("silence_ms")));
}

TEST_F(NetListenerTest, TheOldestHandshakeMakesRoom) {
  world_.listening.unseated_max = 2;
  world_.Listen();
  std::vector<RawSocket> clients;
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(clients.empty() || !clients.front().Readable());
    clients.push_back(RawSocket::Connect(world_.listener->port()));
    world_.turns.Settle();
  }
  EXPECT_TRUE(clients[0].Readable(10'000));
  EXPECT_FALSE(clients[1].Readable());
  EXPECT_FALSE(clients[2].Readable());
  // Those that are in do not count.
  const auto in = world_.Connect();
  EXPECT_TRUE(clients[1].Readable(10'000));
  clients.push_back(RawSocket::Connect(world_.listener->port()));
  world_.turns.Settle();
  EXPECT_FALSE(clients[2].Readable());
  EXPECT_FALSE(in->closed());
}

TEST_F(NetListenerTest, ACrowdGetsInOverSeveralTurns) {
  world_.Listen();
  std::vector<std::unique_ptr<test::NetEnd>> clients;
  for (int i = 0; i < 100; ++i) clients.push_back(world_.Dial());
  EXPECT_TRUE(world_.turns.Until([&] {
    return std::all_of(clients.begin(), clients.end(),
                       [](const auto& client) { return client->opens == 1; });
  }));
  EXPECT_EQ(world_.host.ends.size(), 100u);
}

// It is no trouble of ours, nor does the loop wait for the next client.
TEST_F(NetListenerTest, ClientsThatAreGoneAgainAreNoTrouble) {
  constexpr int kGone = 20;  // more than are accepted at once
  world_.Listen();
  std::vector<RawSocket> clients;
  for (int i = 0; i < kGone; ++i) {
    clients.push_back(RawSocket::Connect(world_.listener->port()));
    ASSERT_TRUE(clients.back().valid());
  }
  accepts_aborted = kGone;
  world_.turns.Settle();
  EXPECT_EQ(std::exchange(accepts_aborted, 0), 0);
  const auto client = world_.Connect();
  EXPECT_EQ(client->opens, 1);
  EXPECT_TRUE(world_.host.statuses.empty());
}

// "::" takes those who come by IPv4 as well, and says where they come from as
// if it were an IPv4 socket.
TEST_F(NetListenerTest, EveryAddress) {
  world_.listening.address = "::";
  const auto made = Create();
  if (!made.ok()) return;  // a machine without IPv6
  for (const char* host : {"127.0.0.1", "[::1]"}) {
    const auto client = world_.Dial(world_.Url((*made)->port(), host));
    ASSERT_TRUE(world_.turns.Until(
        [&] { return client->opens == 1 || client->closed(); }));
    EXPECT_EQ(client->opens, 1);
  }
  EXPECT_EQ(world_.host.addresses,
            (std::vector<std::string>{"127.0.0.1", "::1"}));
}

// UBSan looks at an object's memory through a pipe, and takes it for no object
// when there is no descriptor for one: tests that use them up are not for it.
#if defined(__has_feature)
#if __has_feature(undefined_behavior_sanitizer)
#define PARLOR_NEEDS_DESCRIPTORS 1
#endif
#endif
#ifndef PARLOR_NEEDS_DESCRIPTORS

constexpr Duration kRetry = kAcceptRetryMs * kMillisecond;

// The least number of descriptors that leaves none.
class DescriptorLimit {
 public:
  DescriptorLimit() {
    getrlimit(RLIMIT_NOFILE, &before_);
    const int next = dup(0);  // the lowest that is free
    close(next);
    limit_ = before_;
    limit_.rlim_cur = static_cast<rlim_t>(next);
    setrlimit(RLIMIT_NOFILE, &limit_);
  }
  ~DescriptorLimit() { setrlimit(RLIMIT_NOFILE, &before_); }

  void LeaveOneMore() {
    ++limit_.rlim_cur;
    setrlimit(RLIMIT_NOFILE, &limit_);
  }

 private:
  rlimit before_{}, limit_{};
};

TEST_F(NetListenerTest, OutlivesDescriptorsBeingUsedUp) {
  world_.Listen();
  std::vector<RawSocket> clients;
  for (int i = 0; i < 20; ++i) {
    clients.push_back(RawSocket::Connect(world_.listener->port()));
    ASSERT_TRUE(clients.back().valid());
  }
  {
    const DescriptorLimit none;
    world_.turns.Settle();
    ASSERT_EQ(world_.host.statuses.size(), 1u);
    EXPECT_THAT(world_.host.statuses[0],
                StatusIs(absl::StatusCode::kResourceExhausted));
    // It waits, and neither spins nor repeats itself.
    EXPECT_EQ(world_.host_loop.next_alarm(), world_.turns.now + kRetry);
    EXPECT_EQ(world_.turns.Turn(), 0u);
    for (int i = 0; i < 10; ++i) world_.turns.Advance(kRetry);
    EXPECT_EQ(world_.host.statuses.size(), 1u);
    EXPECT_EQ(world_.host_loop.next_alarm(), world_.turns.now + kRetry);
  }
  world_.turns.Settle();
  EXPECT_EQ(world_.host.statuses.size(), 1u);
  world_.turns.Advance(kRetry);
  ASSERT_EQ(world_.host.statuses.size(), 2u);
  EXPECT_THAT(world_.host.statuses[1], IsOk());
  const auto client = world_.Connect();
  EXPECT_EQ(client->opens, 1);
}

// Each descriptor that is given back lets one more in, and it is not over yet.
TEST_F(NetListenerTest, IsNotOverWhileSomeoneWaits) {
  constexpr int kWaiting = 5;
  world_.Listen();
  std::vector<RawSocket> clients;
  for (int i = 0; i < kWaiting; ++i) {
    clients.push_back(RawSocket::Connect(world_.listener->port()));
    ASSERT_TRUE(clients.back().valid());
  }
  DescriptorLimit limit;
  world_.turns.Settle();
  for (int let_in = 1; let_in < kWaiting; ++let_in) {
    limit.LeaveOneMore();
    world_.turns.Advance(kRetry);
    ASSERT_EQ(world_.host.statuses.size(), 1u);
  }
  // The one for the last, and one more: Linux wants it before it looks whether
  // anyone waits.
  limit.LeaveOneMore();
  limit.LeaveOneMore();
  world_.turns.Advance(kRetry);
  ASSERT_EQ(world_.host.statuses.size(), 2u);
  EXPECT_THAT(world_.host.statuses[0],
              StatusIs(absl::StatusCode::kResourceExhausted));
  EXPECT_THAT(world_.host.statuses[1], IsOk());
  for (const RawSocket& client : clients) EXPECT_FALSE(client.Readable());
}

TEST_F(NetListenerTest, AClientWithoutDescriptorsIsLost) {
  world_.Listen();
  std::unique_ptr<test::NetEnd> client;
  {
    const DescriptorLimit none;
    client = world_.Dial();
  }
  ASSERT_TRUE(world_.turns.Until([&] { return client->closed(); }));
  EXPECT_EQ(client->opens, 0);
}

#endif  // PARLOR_NEEDS_DESCRIPTORS

TEST_F(NetListenerTest, SeveralOnOneLoop) {
  world_.Listen();
  NetWorld other(kTcp);
  test::NetHost host;
  auto second = NetListener::Create(world_.host_loop, other.listening, &host);
  ASSERT_THAT(second, IsOk());
  const auto by_ws = world_.Connect();
  const auto by_tcp = other.Dial(other.Url((*second)->port()));
  test::NetTurns both{&world_.host_loop, &other.client_loop};
  both.now = world_.turns.now;
  EXPECT_TRUE(both.Until([&] { return by_tcp->opens == 1; }));
  EXPECT_EQ(host.ends.size(), 1u);
  EXPECT_EQ(world_.host.ends.size(), 1u);
}

}  // namespace
}  // namespace parlor
