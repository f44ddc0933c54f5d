// What TCP does, that the codecs and handshakes above it live with.
#include "sim/sim_stream.h"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "parlor/sim/network.h"
#include "parlor/time.h"
#include "sim/stream_wire.h"
#include "stream/byte_stream.h"
#include "support/counting_allocator.h"
#include "support/seed.h"
#include "transports/sim_stream_fixture.h"

namespace parlor::sim {
namespace {

using stream::IoStatus;

// ---- Opening.

TEST_F(SimStreamTest, ConnectsForARoundTripAndIsAcceptedHalfOneLater) {
  Call();
  std::array<std::byte, 8> buffer;
  EXPECT_EQ(client.stream->Read(buffer).status, IoStatus::kBlocked);
  EXPECT_EQ(client.Write("x"), IoStatus::kBlocked);
  RunFor(kSecond);
  EXPECT_EQ(client.writable_at, TimePoint{} + kUp + kDown);
  EXPECT_EQ(accepted_at, TimePoint{} + kUp + kDown + kUp);
  EXPECT_EQ(client.ended, IoStatus::kOk);
}

TEST_F(SimStreamTest, WhereNobodyListensItIsRefused) {
  port.Shut();
  Call();
  RunFor(kSecond);
  EXPECT_EQ(client.ended, IoStatus::kLost);
  EXPECT_EQ(client.ended_at, TimePoint{} + kUp + kDown);
  EXPECT_EQ(client.Write("x"), IoStatus::kLost);
}

TEST_F(SimStreamTest, WhoStopsListeningMeanwhileRefusesToo) {
  Call();
  RunFor(kUp + kDown);
  port.Shut();
  EXPECT_TRUE(client.writable_at);
  RunFor(kUp + kDown);
  EXPECT_EQ(client.ended, IoStatus::kLost);
}

TEST_F(SimStreamTest, AMachineThatIsOffSaysNothingUntilItIsOn) {
  port.Unplug();
  Call();
  RunFor(10 * kSecond);
  EXPECT_FALSE(client.writable_at);
  EXPECT_EQ(client.ended, IoStatus::kOk);
  Listen();
  RunFor(10 * kSecond);
  // What was asked first arrived after kUp; tries after 1, 3, 7, ... times.
  EXPECT_EQ(accepted_at,
            TimePoint{} + kUp + 127 * kFirstTry + kUp + kDown + kUp);
}

TEST_F(SimStreamTest, WhatAClientLeavesBehindInOrderIsStillAccepted) {
  Call();
  client.Say("all there is");
  RunFor(kUp + kDown);
  client.stream = nullptr;
  RunFor(kSecond);
  ASSERT_NE(host.stream, nullptr);
  EXPECT_EQ(host.heard, "all there is");
  EXPECT_EQ(host.ended, IoStatus::kEnd);
}

TEST_F(SimStreamTest, WhoIsGoneBeforeItIsConnectedWasNeverThere) {
  Call();
  RunFor(kUp);
  client.stream = nullptr;
  RunFor(kSecond);
  EXPECT_EQ(host.stream, nullptr);
  // Nor is anything left of who goes in order, when the link is no more.
  Call();
  RunFor(kUp + kDown);
  client.stream = nullptr;
  link.reset();
  RunFor(kSecond);
  EXPECT_EQ(host.stream, nullptr);
}

// ---- Bytes.

TEST_F(SimStreamTest, BytesArriveInOrderALatencyLater) {
  Connect();
  const TimePoint then = now();
  const std::string text = RandomText(10'000);
  client.Say(text);
  host.Say("one");
  host.Say(" two");
  RunFor(kUp - Duration(1));
  EXPECT_EQ(host.heard, "");
  RunFor(kSecond);
  EXPECT_EQ(host.heard, text);
  EXPECT_EQ(host.heard_at, then + kUp);
  EXPECT_EQ(client.heard, "one two");
  EXPECT_EQ(client.heard_at, then + kDown);
}

TEST_F(SimStreamTest, WhatIsLostIsLateAndHoldsUpAllBehindIt) {
  Connect();
  const TimePoint then = now();
  Conditions bad = kPlain;
  bad.up.loss_ppm = 1'000'000;
  link->SetConditions(bad);
  client.Say("lost");
  RunFor(kMillisecond);
  link->SetConditions(kPlain);
  client.Say(" and more");
  RunFor(kFirstTry + kUp - kMillisecond - Duration(1));
  EXPECT_EQ(host.heard, "");
  RunFor(Duration(1));
  EXPECT_EQ(host.heard, "lost and more");
  EXPECT_EQ(host.heard_at, then + kFirstTry + kUp);
}

TEST_F(SimStreamTest, EachTryWaitsTwiceAsLong) {
  Connect();
  link->Cut();
  const TimePoint then = now();
  client.Say("x");
  RunFor(10 * kFirstTry);  // tries after 1, 3, 7
  EXPECT_EQ(host.heard, "");
  link->Heal();
  RunFor(4 * kFirstTry);
  EXPECT_EQ(host.heard, "");
  RunFor(kFirstTry + kUp);
  EXPECT_EQ(host.heard_at, then + 15 * kFirstTry + kUp);
}

TEST_F(SimStreamTest, ABadLinkOnlyDelays) {
  const std::uint64_t first = test::TestSeed();
  for (std::uint64_t seed = first; seed < first + 10; ++seed) {
    SCOPED_TRACE(testing::Message() << "PARLOR_SEED=" << seed);
    SimStreamWorld world(kAwful, seed, Executor::Ties::kShuffled);
    world.Connect();
    const std::string up = RandomText(100'000, seed);
    const std::string down = RandomText(70'000, seed + 1);
    world.client.Say(up);
    world.host.Say(down);
    const TimePoint then = world.executor.now();
    world.RunFor(600 * kSecond);
    EXPECT_TRUE(world.host.heard == up);
    EXPECT_TRUE(world.client.heard == down);
    // 64,000 bytes a second.
    EXPECT_GT(*world.host.heard_at - then, kSecond * 3 / 2);
    world.client.stream = nullptr;
    world.RunFor(60 * kSecond);
    EXPECT_EQ(world.host.ended, IoStatus::kEnd);
    world.host.stream = nullptr;
  }
}

TEST_F(SimStreamTest, ALimitTakesItsTime) {
  Conditions slow = kPlain;
  slow.up.bytes_per_s = 100'000;
  link->SetConditions(slow);
  Connect();
  const TimePoint then = now();
  client.Say(RandomText(100'000));
  RunFor(60 * kSecond);
  ASSERT_EQ(host.heard.size(), 100'000u);
  // With what 70 packets add.
  EXPECT_GT(*host.heard_at - then, 1'030 * kMillisecond);
  EXPECT_LT(*host.heard_at - then, 1'200 * kMillisecond);
}

TEST_F(SimStreamTest, PiecesAreAsSmallAsOneWants) {
  Call();
  SetPieces(*client.stream, 3);
  RunFor(kSecond);
  SetPieces(*host.stream, 5);
  const std::string text = RandomText(2'000);
  client.Say(text);
  host.Say(text);
  RunFor(kSecond);
  EXPECT_EQ(host.heard, text);
  EXPECT_EQ(client.heard, text);
  EXPECT_EQ(client.largest_read, 3u);
  EXPECT_EQ(host.largest_read, 5u);
}

TEST_F(SimStreamTest, ASteadyFlowAllocatesNothing) {
  link->SetConditions(kMobile);
  Connect();
  std::array<std::byte, 4'000> buffer;
  std::size_t heard = 0;
  host.on_readable = [&] { heard += host.stream->Read(buffer).bytes; };
  const std::string message(40, 'm');
  const auto run = [&](int turns) {
    for (int i = 0; i < turns; ++i) {
      client.Write(message);
      RunFor(kSecond / 60);
    }
  };
  run(20'000);  // so that the most of all has been on its way
  const std::size_t before = heard;
  const std::uint64_t allocations = parlor_allocation_count();
  run(2'000);
  EXPECT_EQ(parlor_allocation_count(), allocations);
  EXPECT_GT(heard - before, 1'900 * message.size());
}

// ---- Flow control.

TEST_F(SimStreamTest, ASenderOfACutLinkIsBlockedSoon) {
  Connect();
  link->Cut();
  EXPECT_EQ(client.SayWhatFits(RandomText(100'000)), kSendBytes);
  EXPECT_EQ(client.wrote, IoStatus::kBlocked);
  RunFor(60 * kSecond);
  EXPECT_EQ(client.Write("x"), IoStatus::kBlocked);
}

TEST_F(SimStreamTest, AReaderThatDoesNotReadBlocksItsSender) {
  Connect();
  host.Listen(false);
  const std::string text = RandomText(kReceiveBytes + kSendBytes + 10'000);
  client.Say(text);
  RunFor(60 * kSecond);
  EXPECT_EQ(client.unsaid.size(), 10'000u);
  EXPECT_EQ(host.heard, "");
  const TimePoint then = now();
  host.Listen(true);
  RunFor(60 * kSecond);
  EXPECT_EQ(client.unsaid, "");
  EXPECT_TRUE(host.heard == text);
  // The sender heard of the room, and then it was sent.
  EXPECT_GE(*host.heard_at, then + kDown + kUp);
}

TEST_F(SimStreamTest, AnEndWaitsForRoomAsBytesDo) {
  Connect();
  host.Listen(false);
  const std::string text = RandomText(kReceiveBytes + kSendBytes);
  client.Say(text);
  RunFor(kSecond);
  EXPECT_EQ(client.unsaid, "");
  client.stream->EndWrite();
  RunFor(kSecond);
  host.Listen(true);
  RunFor(kSecond);
  EXPECT_TRUE(host.heard == text);
  EXPECT_EQ(host.ended, IoStatus::kEnd);
}

TEST_F(SimStreamTest, AWindowIsNotOpenedByAByte) {
  Connect();
  host.Listen(false);
  client.Say(RandomText(kReceiveBytes + 1));
  RunFor(kSecond);
  std::array<std::byte, kSegmentBytes> buffer;
  host.stream->Read(std::span(buffer).first(kSegmentBytes - 1));
  RunFor(kSecond);
  const auto read_all = [&] {
    std::size_t all = 0;
    for (;;) {
      const stream::IoResult result = host.stream->Read(buffer);
      if (result.status != IoStatus::kOk) return all;
      all += result.bytes;
    }
  };
  EXPECT_EQ(read_all(), kReceiveBytes - (kSegmentBytes - 1));
  RunFor(kSecond);
  EXPECT_EQ(read_all(), 1u);
}

// ---- Ends.

TEST_F(SimStreamTest, OneDirectionEndsBehindWhatWasWritten) {
  Connect();
  client.Say("last");
  client.stream->EndWrite();
  RunFor(kSecond);
  EXPECT_EQ(host.heard, "last");
  EXPECT_EQ(host.ended, IoStatus::kEnd);
  host.Say("the other goes on");
  RunFor(kSecond);
  EXPECT_EQ(client.heard, "the other goes on");
  std::array<std::byte, 8> buffer;
  EXPECT_EQ(host.stream->Read(buffer).status, IoStatus::kEnd);
  EXPECT_EQ(client.ended, IoStatus::kOk);
}

TEST_F(SimStreamTest, WhoGoesInOrderIsHeardToTheEnd) {
  Connect();
  const std::string text = RandomText(kSendBytes);
  client.Say(text);
  client.stream = nullptr;
  RunFor(kUp + kMillisecond);
  EXPECT_EQ(host.heard, text);
  EXPECT_EQ(host.ended, IoStatus::kEnd);
  // Who writes to it nevertheless hears of it, and has an end to read still.
  EXPECT_EQ(host.Write("anyone?"), IoStatus::kOk);
  RunFor(kDown + kUp - kMillisecond);
  EXPECT_EQ(host.Write("?"), IoStatus::kOk);
  RunFor(kMillisecond);
  EXPECT_EQ(host.Write("?"), IoStatus::kLost);
  std::array<std::byte, 8> buffer;
  EXPECT_EQ(host.stream->Read(buffer).status, IoStatus::kEnd);
}

TEST_F(SimStreamTest, WhoGoesWithInputUnreadIsLost) {
  Connect();
  client.Listen(false);
  host.Say("unread");
  RunFor(kSecond);
  client.Say("written just before");
  client.stream = nullptr;
  const TimePoint then = now();
  RunFor(kSecond);
  // It had arrived.
  EXPECT_EQ(host.heard, "written just before");
  EXPECT_EQ(host.ended, IoStatus::kLost);
  EXPECT_EQ(host.ended_at, then + kUp);
}

TEST_F(SimStreamTest, AResetDeliversNothingThatHasNotLeft) {
  Connect();
  host.Listen(false);
  client.Say(RandomText(kReceiveBytes + 5'000));
  RunFor(kSecond);
  client.stream->Reset();
  client.stream = nullptr;
  RunFor(kSecond);
  host.Listen(true);
  RunFor(kSecond);
  EXPECT_EQ(host.heard.size(), kReceiveBytes);
  EXPECT_EQ(host.ended, IoStatus::kLost);
  EXPECT_EQ(host.Write("x"), IoStatus::kLost);
}

TEST_F(SimStreamTest, WhoReadsNothingMoreIsToldOfTheLossToo) {
  Connect();
  host.Listen(false);
  host.on_writable = [] {};
  host.SayWhatFits(RandomText(100'000));
  link->Cut();
  host.writable_at.reset();
  host.stream->WantWrite();
  RunFor(kSecond);
  EXPECT_FALSE(host.writable_at);
  link->Reset();
  RunFor(kSecond);
  EXPECT_TRUE(host.writable_at);
  EXPECT_EQ(host.Write("x"), IoStatus::kLost);
}

TEST_F(SimStreamTest, AStreamMayDieInsideItsEvents) {
  Connect();
  host.on_readable = [&] { host.stream = nullptr; };
  client.on_writable = [&] { client.stream = nullptr; };
  client.Write("x");
  RunFor(kSecond);
  EXPECT_EQ(host.stream, nullptr);
  // Both are wanted at once.
  client.stream->WantWrite();
  RunFor(kSecond);
  EXPECT_EQ(client.stream, nullptr);
}

// ---- Between loops.

TEST_F(SimStreamTest, NothingIsLostOnTheWayToAnotherLoop) {
  Connect();
  host.Listen(false);
  client.Say("before ");
  RunFor(kSecond);
  client.Say("meanwhile ");
  VirtualLoop other(executor);
  std::unique_ptr<stream::ParkedStream> parked = host.stream->Park();
  host.stream = nullptr;
  RunFor(kSecond);
  client.Say("after");
  host.Own(parked->Unpark(other));
  parked = nullptr;
  host.Listen(true);
  host.Say("I am here");
  RunFor(kSecond);
  EXPECT_EQ(host.heard, "before meanwhile after");
  EXPECT_EQ(client.heard, "I am here");
  host.stream = nullptr;
}

TEST_F(SimStreamTest, AParkedStreamThatNobodyWantsIsReset) {
  Connect();
  std::unique_ptr<stream::ParkedStream> parked;
  host.on_readable = [&] {
    parked = host.stream->Park();
    host.stream = nullptr;
  };
  client.Say("hello");
  RunFor(kSecond);
  EXPECT_EQ(client.ended, IoStatus::kOk);
  parked = nullptr;
  RunFor(kSecond);
  EXPECT_EQ(client.ended, IoStatus::kLost);
}

// ---- Faults.

TEST_F(SimStreamTest, WhatIsOnItsWayWhenALinkIsCutComesAgain) {
  Connect();
  const TimePoint then = now();
  client.Say("on its way");
  client.stream->EndWrite();
  RunFor(kUp - kMillisecond);
  link->Cut();
  RunFor(kSecond);
  EXPECT_EQ(host.heard, "");
  link->Heal();
  RunFor(60 * kSecond);
  EXPECT_EQ(host.heard, "on its way");
  EXPECT_EQ(host.ended, IoStatus::kEnd);
  // It was missed when it did not arrive, which the cut says.
  EXPECT_EQ(host.heard_at, then + kUp - kMillisecond + 15 * kFirstTry + kUp);
}

TEST_F(SimStreamTest, WhatWasResetDoesNotComeAgain) {
  Connect();
  client.Say("on its way");
  RunFor(kMillisecond);
  client.stream->Reset();
  client.stream = nullptr;
  RunFor(kMillisecond);
  link->Cut();
  RunFor(kSecond);
  link->Heal();
  RunFor(60 * kSecond);
  EXPECT_EQ(host.heard, "");
  EXPECT_EQ(host.ended, IoStatus::kOk);  // nothing has told it
}

TEST_F(SimStreamTest, HalfALinkCarriesItsDirection) {
  Connect();
  link->Cut(Direction::kDown);
  client.Say("up");
  host.Say("down");
  RunFor(kSecond);
  EXPECT_EQ(host.heard, "up");
  EXPECT_EQ(client.heard, "");
  link->Heal();
  RunFor(60 * kSecond);
  EXPECT_EQ(client.heard, "down");
}

TEST_F(SimStreamTest, NobodyIsToldOfACut) {
  Connect();
  link->Cut();
  client.Say("x");
  RunFor(3'600 * kSecond);
  EXPECT_EQ(client.ended, IoStatus::kOk);
  EXPECT_EQ(host.ended, IoStatus::kOk);
  // And a machine that is gone meanwhile is found out about later.
  host.stream->Reset();
  host.stream = nullptr;
  link->Heal();
  const TimePoint then = now();
  RunFor(kRetransmitMax - kMillisecond);
  RunFor(kUp + kDown + kMillisecond);
  EXPECT_EQ(client.ended, IoStatus::kLost);
  EXPECT_LE(*client.ended_at, then + kRetransmitMax + kUp + kDown);
}

TEST_F(SimStreamTest, AResetOfTheLinkIsHeardAtBothEndsAtOnce) {
  Connect();
  client.Say("on its way");
  const TimePoint then = now();
  link->Reset();
  RunFor(Duration::zero());
  EXPECT_EQ(client.ended, IoStatus::kLost);
  EXPECT_EQ(host.ended, IoStatus::kLost);
  EXPECT_EQ(host.ended_at, then);
  RunFor(60 * kSecond);
  EXPECT_EQ(host.heard, "");
}

TEST_F(SimStreamTest, AResetOfTheLinkEndsWhatOpens) {
  for (const Duration after :
       {Duration::zero(), kUp, kUp + kDown, 2 * kUp + kDown}) {
    Call();
    RunFor(after);
    link->Reset();
    RunFor(kSecond);
    EXPECT_EQ(client.ended, IoStatus::kLost);
    EXPECT_TRUE(host.stream == nullptr || host.ended == IoStatus::kLost);
    client.ended = IoStatus::kOk;
    host.stream = nullptr;
  }
}

TEST_F(SimStreamTest, AMachineThatLosesPowerAnswersOnceItIsBack) {
  Connect();
  client.Say("x");
  RunFor(kSecond);
  port.Unplug();
  host.Say("never said");
  host.stream = nullptr;
  RunFor(60 * kSecond);
  EXPECT_EQ(client.ended, IoStatus::kOk);
  client.Say("still there?");
  RunFor(60 * kSecond);
  EXPECT_EQ(client.ended, IoStatus::kOk);
  Listen();
  RunFor(120 * kSecond);
  EXPECT_EQ(client.ended, IoStatus::kLost);
  EXPECT_EQ(host.stream, nullptr);
}

TEST_F(SimStreamTest, WhoSaysNothingHearsNothingOfALostReset) {
  Connect();
  link->Cut();
  host.stream->Reset();
  host.stream = nullptr;
  RunFor(kSecond);
  link->Heal();
  RunFor(60 * kSecond);
  EXPECT_EQ(client.ended, IoStatus::kOk);
  // The answer to the first byte is lost too; the one to its next try is not.
  const TimePoint then = now();
  client.Say("x");
  RunFor(kMillisecond);
  link->Cut(Direction::kDown);
  RunFor(kSecond);
  EXPECT_EQ(client.ended, IoStatus::kOk);
  link->Heal();
  RunFor(60 * kSecond);
  EXPECT_EQ(client.ended, IoStatus::kLost);
  EXPECT_GT(*client.ended_at, then + kSecond);
}

TEST_F(SimStreamTest, AnEndThatStallsHearsAllOfItLater) {
  Connect();
  const TimePoint then = now();
  host_loop.StallUntil(then + 5 * kSecond);
  const std::string text = RandomText(kReceiveBytes + kSendBytes + 1);
  client.Say(text);
  RunFor(5 * kSecond - Duration(1));
  EXPECT_EQ(host.heard, "");
  // Its system has taken what it has room for.
  EXPECT_EQ(client.unsaid.size(), 1u);
  RunFor(kSecond);
  EXPECT_TRUE(host.heard == text);
}

// ---- What is said of it.

class Listener final : public NetworkSink {
 public:
  void OnNetworkEvent(const NetworkEvent& event) override {
    ++counts[static_cast<std::size_t>(event.what)];
    if (event.what == NetworkEvent::What::kLost) lost = event.lost;
    if (event.connection == 0) return;  // of the link
    EXPECT_TRUE(event.stream);
    EXPECT_LE(event.bytes.size(), kSegmentBytes);
    if (event.what != NetworkEvent::What::kMessage) return;
    if (event.again) {
      said_again += AsText(event.bytes);
      return;
    }
    EXPECT_GE(event.arrives,
              event.sent + (event.direction == Direction::kUp ? kUp : kDown));
    said[static_cast<std::size_t>(event.direction)] += AsText(event.bytes);
  }
  int count(NetworkEvent::What what) const {
    return counts[static_cast<std::size_t>(what)];
  }

  std::array<int, 10> counts{};
  std::array<std::string, 2> said;
  std::string said_again;
  NetworkEvent::What lost{};  // the last
};

TEST_F(SimStreamTest, ASinkHearsWhatIsSent) {
  using What = NetworkEvent::What;
  Listener listener;
  network.SetSink(&listener);
  Connect();
  EXPECT_EQ(listener.count(What::kOpen), 2);
  std::string all;
  for (std::uint64_t i = 0; i < 30; ++i) {  // around the ring
    all += RandomText(10'000, i);
    client.Say(RandomText(10'000, i));
    RunFor(kSecond);
  }
  host.Say("yes");
  RunFor(kSecond);
  EXPECT_TRUE(listener.said[0] == all);
  EXPECT_EQ(listener.said[1], "yes");
  client.Say("on its way");
  link->Cut();
  EXPECT_EQ(listener.count(What::kLost), 1);
  EXPECT_EQ(listener.lost, What::kMessage);
  client.Say("; never sent");
  EXPECT_EQ(listener.count(What::kLost), 1);
  link->Heal();
  RunFor(60 * kSecond);
  EXPECT_EQ(listener.said_again, "on its way");
  EXPECT_TRUE(listener.said[0] == all + "on its way; never sent");
  client.stream->EndWrite();
  host.stream->Reset();
  host.stream = nullptr;
  EXPECT_EQ(listener.count(What::kClose), 1);
  EXPECT_EQ(listener.count(What::kReset), 1);
  network.SetSink(nullptr);
}

std::uint64_t DigestOf(std::uint64_t seed, const std::string& text) {
  SimStreamWorld world(kMobile, seed, Executor::Ties::kShuffled);
  world.Call();
  SetPieces(*world.client.stream, 900);
  world.client.Say(text);
  world.RunFor(kSecond);
  world.host.Say(text);
  world.RunFor(300 * kMillisecond);
  world.link->Cut();
  world.RunFor(kSecond);
  world.link->Heal();
  world.RunFor(20 * kSecond);
  EXPECT_TRUE(world.host.heard == text);
  EXPECT_TRUE(world.client.heard == text);
  world.client.stream = nullptr;
  world.RunFor(10 * kSecond);
  EXPECT_EQ(world.host.ended, IoStatus::kEnd);
  world.host.stream = nullptr;
  return world.network.digest();
}

// Of every compiler and build.
TEST(SimStream, ADigestTellsRunsApart) {
  std::string text = RandomText(200'000);
  const std::uint64_t digest = DigestOf(1, text);
  EXPECT_EQ(digest, 1'370'587'767'970'281'816u);
  EXPECT_EQ(DigestOf(1, text), digest);
  EXPECT_NE(DigestOf(2, text), digest);
  text[199'999] ^= 1;
  EXPECT_NE(DigestOf(1, text), digest);
}

}  // namespace
}  // namespace parlor::sim
