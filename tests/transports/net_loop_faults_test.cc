// The loop where the system is short of something, and where a Poll is: each
// still comes to its sockets, its tasks, its alarms and its ends.
#include <gtest/gtest.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <ctime>
#include <functional>
#include <future>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "net/epoll_loop.h"
#include "net/socket_address.h"
#include "net/socket_stream.h"
#include "net/waker.h"
#include "parlor/time.h"
#include "parlor/transports/net_loop.h"
#include "stream/byte_stream.h"
#include "stream/stream_loop.h"
#include "support/loop_thread.h"
#include "support/net_turns.h"
#include "support/raw_socket.h"
#include "transports/net_fixture.h"

// 0: it can; else what it says.
static std::atomic<int> epoll_add_error = 0;
static std::atomic<int> epoll_pwait2_error = 0;
static std::atomic<int> epoll_pwait2_errors_left = 0;
static std::atomic<int> epoll_waits = 0;

// In place of the C library's.
extern "C" int epoll_ctl(int epfd, int op, int fd, epoll_event* event) {
  if (op == EPOLL_CTL_ADD && epoll_add_error != 0) {
    errno = epoll_add_error;
    return -1;
  }
  return static_cast<int>(syscall(SYS_epoll_ctl, epfd, op, fd, event));
}

extern "C" int epoll_wait(int epfd, epoll_event* events, int maxevents,
                          int timeout) {
  ++epoll_waits;
  return static_cast<int>(
      syscall(SYS_epoll_pwait, epfd, events, maxevents, timeout, nullptr, 0));
}

extern "C" int epoll_pwait2(int epfd, epoll_event* events, int maxevents,
                            const timespec* timeout, const sigset_t* ss) {
  ++epoll_waits;
  if (epoll_pwait2_errors_left > 0) {
    --epoll_pwait2_errors_left;
    errno = epoll_pwait2_error;
    return -1;
  }
  return static_cast<int>(
      syscall(SYS_epoll_pwait2, epfd, events, maxevents, timeout, ss, 0));
}

namespace parlor {
namespace {

using net_internal::SocketStream;
using net_internal::Waker;
using stream::IoStatus;
using test::Await;
using test::kTcp;
using test::LoopThread;
using test::NetTurns;
using test::NetWorld;
using test::RawSocket;

// Wants an end of every turn, and has an alarm.
class Member final : public stream::LoopMember {
 public:
  explicit Member(NetLoop& loop) : LoopMember(loop.internal()) {}

  int ends = 0;
  int alarms = 0;
  std::function<void()> on_alarm;

 private:
  void OnTurnEnd() override { ++ends; }
  void OnAlarm() override {
    ++alarms;
    if (on_alarm) on_alarm();
  }
};

// Reads `read_max` bytes an event, also at the end, unless it is told not to.
class Reader final : public stream::ByteStream::Events {
 public:
  std::unique_ptr<stream::ByteStream> stream;
  std::size_t read_max = 1;
  int readable = 0, writable = 0;
  IoStatus last = IoStatus::kBlocked;

  void Own(std::unique_ptr<stream::ByteStream> owned) {
    stream = std::move(owned);
    stream->SetEvents(this);
  }
  void OnReadable() override {
    ++readable;
    std::array<std::byte, 64> buffer;
    last = stream->Read(std::span(buffer).first(read_max)).status;
    if (last == IoStatus::kEnd || last == IoStatus::kLost) {
      stream->WantRead(false);
    }
  }
  void OnWritable() override { ++writable; }
};

class NetLoopFaultsTest : public testing::Test {
 protected:
  void Connect(Reader& reader, RawSocket& peer) {
    reader.Own(std::make_unique<SocketStream>(loop_.internal(), "127.0.0.1",
                                              listener_.port()));
    reader.stream->WantWrite();
    ASSERT_TRUE(turns_.Until([&] { return reader.writable == 1; }));
    peer = listener_.Accept();
    ASSERT_TRUE(peer.valid());
    turns_.Settle();
  }

  RawSocket listener_ = RawSocket::Listen();
  NetLoop loop_;
  NetTurns turns_{&loop_};
};

// A game that allows a loop little of a frame.
class SmallPollTest : public NetLoopFaultsTest,
                      public testing::WithParamInterface<std::size_t> {
 protected:
  // So often.
  void Poll(int times) {
    for (int i = 0; i < times; ++i) {
      EXPECT_LE(loop_.Poll(turns_.now, GetParam()), GetParam());
    }
  }
};

TEST_P(SmallPollTest, TasksWithoutEndLeaveTimeForTheRest) {
  Reader reader;
  RawSocket peer;
  ASSERT_NO_FATAL_FAILURE(Connect(reader, peer));
  Member member(loop_);
  int ran = 0;
  bool stopped = false;
  std::function<void()> again = [&] {
    ++ran;
    if (!stopped) loop_.Post(again);
  };
  loop_.Post(again);
  reader.stream->WantRead(true);
  ASSERT_TRUE(peer.Send("x"));
  member.SetAlarm(turns_.now);
  member.Schedule();
  Poll(12);
  EXPECT_EQ(reader.readable, 1);
  EXPECT_EQ(member.alarms, 1);
  EXPECT_EQ(member.ends, 1);
  EXPECT_GE(ran, 3);
  stopped = true;
  turns_.Settle();
}

TEST_P(SmallPollTest, ReadersWithoutEndLeaveTimeForTheRest) {
  std::array<Reader, 4> readers;
  std::array<RawSocket, 4> peers;
  for (std::size_t i = 0; i < readers.size(); ++i) {
    ASSERT_NO_FATAL_FAILURE(Connect(readers[i], peers[i]));
  }
  for (std::size_t i = 0; i < readers.size(); ++i) {
    ASSERT_TRUE(peers[i].Send(std::string(1'000, 'x')));
    readers[i].stream->WantRead(true);
  }
  Member member(loop_);
  bool ran = false;
  loop_.Post([&] { ran = true; });
  member.SetAlarm(turns_.now);
  member.Schedule();
  Poll(24);
  EXPECT_TRUE(ran);
  EXPECT_EQ(member.alarms, 1);
  EXPECT_EQ(member.ends, 1);
  for (const Reader& reader : readers) EXPECT_GE(reader.readable, 1);
}

// Nothing that had to end began with the waker's call, as it is gone.
TEST_P(SmallPollTest, ATaskBehindACallForNobodyIsNotLeftBehind) {
  for (std::size_t i = 0; i < GetParam(); ++i) {
    Waker waker(loop_.internal(), [] { FAIL() << "was run"; });
    waker.Wake();
  }
  EXPECT_EQ(loop_.Poll(turns_.now, GetParam()), GetParam());
  bool ran = false;
  loop_.Post([&] { ran = true; });
  EXPECT_EQ(loop_.Poll(turns_.now), 2u);
  EXPECT_TRUE(ran);
}

INSTANTIATE_TEST_SUITE_P(Events, SmallPollTest, testing::Values(1, 2, 3));

// What is left of a link does not bring the loop round again and again.
TEST_F(NetLoopFaultsTest, IsQuietOnceALinkIsOver) {
  for (const bool reset : {false, true}) {
    for (const bool read : {false, true}) {
      for (const bool write : {false, true}) {
        SCOPED_TRACE(testing::Message() << reset << read << write);
        Reader reader;
        RawSocket peer;
        ASSERT_NO_FATAL_FAILURE(Connect(reader, peer));
        reader.stream->WantRead(true);
        if (write) reader.stream->WantWrite();
        if (!read) reader.stream->WantRead(false);
        reader.stream->EndWrite();
        if (reset) {
          peer.Reset();
        } else {
          peer.EndWrite();
        }
        // It has arrived: a socket that is lost or ended can be read.
        if (read) {
          ASSERT_TRUE(turns_.Until([&] { return reader.readable == 1; }));
        }
        for (int i = 0; i < 10; ++i) turns_.Turn();
        EXPECT_EQ(turns_.Turn(), 0u);
        EXPECT_EQ(reader.readable, read ? 1 : 0);
        EXPECT_EQ(reader.writable, write ? 2 : 1);
      }
    }
  }
}

// As of a name with two addresses, the first of a host that is too busy.
TEST_F(NetLoopFaultsTest, TheNextAddressIsTriedWhenOneIsSilent) {
  constexpr Duration kAttempt = 2'500 * kMillisecond;  // socket_stream.cc
  RawSocket busy = RawSocket::Listen();
  // Its queue is 8, and Linux takes one more; what comes then is not answered.
  std::array<RawSocket, 9> queue;
  for (RawSocket& socket : queue) {
    socket = RawSocket::Connect(busy.port());
    ASSERT_TRUE(socket.valid());
  }
  turns_.Turn();
  const auto at = [](const RawSocket& listener) {
    return net_internal::SocketAddress::Parse("127.0.0.1", listener.port())
        .value();
  };
  Reader reader;
  reader.Own(std::make_unique<SocketStream>(
      loop_.internal(), std::vector{at(busy), at(listener_)}));
  reader.stream->WantWrite();
  turns_.Settle();
  EXPECT_EQ(loop_.next_alarm(), turns_.now + kAttempt);
  turns_.Advance(kAttempt - Duration(1));
  EXPECT_EQ(reader.writable, 0);
  turns_.Advance(Duration(1));
  ASSERT_TRUE(turns_.Until([&] { return reader.writable == 1; }));
  EXPECT_TRUE(listener_.Accept().valid());
  EXPECT_EQ(loop_.next_alarm(), kNever);
}

// A loop that Run turns, with one alarm after `wait`, which stops it. How often
// it looked at its sockets.
int WaitsUntilAlarm(Duration wait) {
  NetLoop loop;
  Member member(loop);
  TimePoint due{}, came{};
  member.on_alarm = [&] {
    came = loop.now();
    loop.Stop();
  };
  loop.Post([&] { member.SetAlarm(due = loop.now() + wait); });
  const int before = epoll_waits;
  loop.Run();
  EXPECT_GE(came, due);
  EXPECT_EQ(member.alarms, 1);
  return epoll_waits - before;
}

// Linux before 5.11 does not know the call; a container whose rules do not know
// it may forbid it instead.
TEST(NetLoopWait, SleepsWhereTheSystemHasNoExactWait) {
  for (const int error : {ENOSYS, EPERM}) {
    SCOPED_TRACE(error);
    epoll_pwait2_error = error;
    epoll_pwait2_errors_left = 1'000'000;
    EXPECT_LT(WaitsUntilAlarm(20 * kMillisecond), 10);
    epoll_pwait2_errors_left = 0;
  }
}

TEST(NetLoopWait, SignalsDoNotCostAnAlarm) {
  epoll_pwait2_error = EINTR;
  epoll_pwait2_errors_left = 5;
  EXPECT_LT(WaitsUntilAlarm(5 * kMillisecond), 15);
  EXPECT_EQ(epoll_pwait2_errors_left.exchange(0), 0);
}

TEST(NetLoopWait, AnAlarmBeforeTheOneThatIsSleptFor) {
  LoopThread thread;
  Member late(thread.loop()), early(thread.loop());
  std::promise<void> came;
  early.on_alarm = [&] { came.set_value(); };
  thread.Call(
      [&] { late.SetAlarm(thread.loop().now() + 3'600'000 * kMillisecond); });
  thread.Call([&] { early.SetAlarm(thread.loop().now() + kMillisecond); });
  Await(came);
  thread.Call([&] {
    EXPECT_EQ(late.alarms, 0);
    late.SetAlarm(kNever);
  });
}

// Each finds the loop asleep, or about to be.
TEST(NetLoopWait, NoWakeIsLostToALoopThatFallsAsleep) {
  constexpr int kWakes = 2'000;
  LoopThread thread;
  std::atomic<int> woken = 0, ran = 0;
  Waker waker(thread.loop().internal(), [&] { ++woken; });
  std::array<std::thread, 2> callers;
  const auto wait_for = [](const std::atomic<int>& count, int least) {
    const auto deadline = std::chrono::steady_clock::now() + test::kPatience;
    while (count < least) {
      if (std::chrono::steady_clock::now() > deadline) return false;
      std::this_thread::yield();
    }
    return true;
  };
  callers[0] = std::thread([&] {
    for (int i = 1; i <= kWakes; ++i) {
      waker.Wake();
      if (!wait_for(woken, i)) return;
    }
  });
  callers[1] = std::thread([&] {
    for (int i = 1; i <= kWakes; ++i) {
      thread.loop().Post([&] { ++ran; });
      if (!wait_for(ran, i)) return;
    }
  });
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(woken, kWakes);
  EXPECT_EQ(ran, kWakes);
  thread.Call([] {});
}

// The system watches no more descriptors (max_user_watches), or has no memory.
class UnwatchedTest : public testing::TestWithParam<int> {
 protected:
  ~UnwatchedTest() override { epoll_add_error = 0; }

  NetWorld world_{kTcp};
};

TEST_P(UnwatchedTest, AClientIsLost) {
  world_.Listen();
  epoll_add_error = GetParam();
  const auto client = world_.Dial();
  ASSERT_TRUE(world_.turns.Until([&] { return client->closed(); }));
  EXPECT_EQ(client->opens, 0);
  world_.turns.Settle();
}

TEST_P(UnwatchedTest, AListenerCutsOffWhomItCannotHear) {
  world_.Listen();
  RawSocket client = RawSocket::Connect(world_.listener->port());
  epoll_add_error = GetParam();
  std::string received;
  ASSERT_TRUE(world_.turns.Until([&] { return client.Readable(); }));
  EXPECT_FALSE(client.Receive(received));
  world_.turns.Settle();
  epoll_add_error = 0;
  EXPECT_EQ(world_.Connect()->opens, 1);
}

TEST_P(UnwatchedTest, AParkedStreamIsLostWhereItGoesOn) {
  RawSocket listener = RawSocket::Listen();
  NetLoop loop;
  NetTurns turns{&loop};
  Reader reader;
  reader.Own(std::make_unique<SocketStream>(loop.internal(), "127.0.0.1",
                                            listener.port()));
  reader.stream->WantWrite();
  ASSERT_TRUE(turns.Until([&] { return reader.writable == 1; }));
  const std::unique_ptr<stream::ParkedStream> parked = reader.stream->Park();
  epoll_add_error = GetParam();
  reader.Own(parked->Unpark(loop.internal()));
  reader.stream->WantRead(true);
  reader.stream->WantWrite();
  ASSERT_TRUE(turns.Until([&] { return reader.readable == 1; }));
  turns.Settle();
  EXPECT_EQ(reader.last, IoStatus::kLost);
  EXPECT_EQ(reader.readable, 1);
  EXPECT_EQ(reader.writable, 2);
}

INSTANTIATE_TEST_SUITE_P(Errors, UnwatchedTest,
                         testing::Values(ENOSPC, ENOMEM));

}  // namespace
}  // namespace parlor
