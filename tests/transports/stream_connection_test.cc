// One StreamConnection and, at the other end of its stream, the test itself:
// what the conformance suite cannot see, since there both ends are ours.
#include "stream/stream_connection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "parlor/byte_io.h"
#include "parlor/close_reason.h"
#include "parlor/connection.h"
#include "parlor/executor.h"
#include "parlor/lane.h"
#include "parlor/transports/stream_options.h"
#include "stream/byte_stream.h"
#include "stream/handshake.h"
#include "stream/length_framing.h"
#include "stream/stream_loop.h"
#include "support/memory_stream.h"

namespace parlor::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;

// What a handler heard, as text.
class Heard final : public ConnectionHandler {
 public:
  std::vector<std::string> lines;

  void OnOpen(TimePoint, Connection&) override { lines.emplace_back("open"); }
  void OnMessage(TimePoint, Connection&, Lane lane, MessageKind,
                 std::span<const std::byte> bytes) override {
    lines.push_back((lane == Lane::kState ? "state " : "") +
                    std::string(AsText(bytes)));
  }
  void OnControl(TimePoint, Connection&, ControlKind kind) override {
    lines.emplace_back(kind == ControlKind::kPing ? "ping" : "pong");
  }
  void OnWritable(TimePoint, Connection&, Lane) override {
    lines.emplace_back("writable");
  }
  void OnClose(TimePoint, Connection&, const CloseEvent& event) override {
    lines.push_back(
        "close " + std::to_string(event.code) + (event.by_us ? " by us" : "") +
        (event.refusal != 0 ? " refused " + std::to_string(event.refusal)
                            : ""));
  }
};

// Frames of LengthFraming, written down by hand.
std::string Frame(int type, std::string_view payload) {
  std::string frame(4, '\0');
  StoreU32(reinterpret_cast<std::byte*>(frame.data()),
           static_cast<std::uint32_t>(payload.size() << 8 |
                                      static_cast<unsigned>(type)));
  return frame + std::string(payload);
}
std::string Binary(std::string_view payload) { return Frame(2, payload); }
std::string State(std::string_view payload) { return Frame(0x82, payload); }
std::string Ping(std::string_view payload = "") { return Frame(3, payload); }
std::string Pong(std::string_view payload = "") { return Frame(4, payload); }
std::string CloseFrame(CloseCode code, std::string_view text = "") {
  std::string payload = {static_cast<char>(code & 255),
                         static_cast<char>(code >> 8)};
  return Frame(5, payload.append(text));
}

// Not operator+: gcc 12 takes its copy for one that overlaps (bug 105651).
std::string After(std::string_view first, std::string_view second) {
  return std::string(first).append(second);
}

// The test's end of the stream: reads only when told to.
class Peer final : public stream::ByteStream::Events {
 public:
  explicit Peer(std::unique_ptr<stream::ByteStream> stream)
      : stream_(std::move(stream)) {
    stream_->SetEvents(this);
  }

  void Say(std::string_view bytes) {
    const stream::Bytes piece = AsBytes(bytes);
    ASSERT_EQ(stream_->Write({&piece, 1}).bytes, bytes.size());
  }
  // As much as the stream takes; how much that was.
  std::size_t SayMore() {
    const std::string frames(4'096, '\0');
    const stream::Bytes piece = AsBytes(frames);
    std::size_t said = 0;
    for (;;) {
      const stream::IoResult result = stream_->Write({&piece, 1});
      if (result.status != stream::IoStatus::kOk) return said;
      said += result.bytes;
    }
  }
  // At most so many bytes of what has arrived.
  std::string Hear(std::size_t most = SIZE_MAX) {
    std::string text;
    while (text.size() < most) {
      std::array<std::byte, 4096> buffer;
      const stream::IoResult result = stream_->Read(
          std::span(buffer).first(std::min(buffer.size(), most - text.size())));
      ended_ = result.status == stream::IoStatus::kEnd;
      lost_ = result.status == stream::IoStatus::kLost;
      if (result.status != stream::IoStatus::kOk) break;
      text += AsText(std::span(buffer).first(result.bytes));
    }
    return text;
  }
  bool ended() const { return ended_; }
  bool lost() const { return lost_; }
  void End() { stream_->EndWrite(); }
  void Vanish(bool reset) {
    if (reset) stream_->Reset();
    stream_.reset();
  }

 private:
  void OnReadable() override {}
  void OnWritable() override {}

  std::unique_ptr<stream::ByteStream> stream_;
  bool ended_ = false;
  bool lost_ = false;
};

// A handshake of one letter: 'o' opens, 'r' refuses with 409, else it failed.
class LetterHandshake final : public stream::ClientHandshake {
 public:
  std::string_view hello() const override { return "hello"; }
  Progress Feed(std::span<std::byte>& input) override {
    if (input.empty()) return Progress::kMore;
    const char letter = AsText(input)[0];
    input = input.subspan(1);
    if (letter == 'o') return Progress::kOpen;
    return letter == 'r' ? Progress::kRefused : Progress::kFailed;
  }
  std::uint16_t refusal() const override { return 409; }
  bool lanes_marked() const override { return true; }
};

class StreamConnectionTest : public testing::Test {
 protected:
  StreamConnectionTest() { options_.reliable_bytes_max = 16 * 1024; }

  void Serve(std::string answer = "", std::string_view unread = "") {
    stream::ServerStart start{
        .stream = Streams(),
        .codec = stream::MakeLengthFraming(options_.message_bytes_max),
        .answer = std::move(answer),
        .unread = AsBytes(unread)};
    connection_ =
        stream::MakeServerConnection(loop_, options_, std::move(start));
    connection_->SetHandler(&heard_);
  }
  void Call() {
    stream::ClientStart start{
        .stream = Streams(),
        .codec = stream::MakeLengthFraming(options_.message_bytes_max),
        .handshake = std::make_unique<LetterHandshake>()};
    connection_ = stream::MakeClientConnection(loop_, options_,
                                               std::move(start), &heard_);
  }

  SendResult Send(std::string_view bytes, Lane lane = Lane::kReliable) {
    return connection_->Send(lane, MessageKind::kBinary, AsBytes(bytes));
  }
  void Settle() { executor_.RunUntil(executor_.now(), 1'000'000); }
  void Advance(Duration time) { executor_.RunFor(time); }
  std::vector<std::string> Take() { return std::exchange(heard_.lines, {}); }

  // What the peer hears once it reads, until no more comes.
  std::string HearAll() {
    std::string all;
    for (std::string part = peer_->Hear(); !part.empty();
         part = peer_->Hear()) {
      all += part;
      Settle();
    }
    return all;
  }

  // As much as the stream's buffer takes, so that the next Send stays with us.
  void FillTheStream() {
    Send(std::string(memory_.buffer_bytes, 'f'));
    Settle();
  }

  StreamOptions options_;
  MemoryStreamOptions memory_;
  Executor executor_{1};
  VirtualLoop loop_{executor_};
  Heard heard_;
  std::optional<Peer> peer_;
  std::unique_ptr<Connection> connection_;

 private:
  std::unique_ptr<stream::ByteStream> Streams() {
    MemoryStreamPair pair = MakeMemoryStreams(executor_, loop_, loop_, memory_);
    peer_.emplace(std::move(pair.second));
    return std::move(pair.first);
  }
};

// ---- Opening.

TEST_F(StreamConnectionTest, AServerAnswersBeforeAnythingElse) {
  Serve("welcome ", Binary("sent with the request"));
  Send("first");
  Settle();
  EXPECT_EQ(peer_->Hear(), "welcome " + Binary("first"));
  EXPECT_THAT(Take(), ElementsAre("open", "sent with the request"));
}

TEST_F(StreamConnectionTest, AClientSaysNothingBeforeItIsLetIn) {
  Call();
  Send("first");
  Send("newest", Lane::kState);
  Settle();
  EXPECT_EQ(peer_->Hear(), "hello");
  EXPECT_THAT(Take(), IsEmpty());
  peer_->Say("o");
  peer_->Say(Binary("behind the answer"));
  Settle();
  EXPECT_THAT(Take(), ElementsAre("open", "behind the answer"));
  EXPECT_EQ(peer_->Hear(), Binary("first") + State("newest"));
}

TEST_F(StreamConnectionTest, ARefusalIsTold) {
  Call();
  peer_->Say("r");
  Settle();
  EXPECT_THAT(Take(), ElementsAre("close 1006 refused 409"));
}

TEST_F(StreamConnectionTest, AServerOfAnotherProtocolIsALostLink) {
  Call();
  peer_->Say("x");
  Settle();
  EXPECT_THAT(Take(), ElementsAre("close 1006"));
}

TEST_F(StreamConnectionTest, TheHandshakeHasADeadline) {
  Call();
  Advance(milliseconds(options_.handshake_ms - 1));
  EXPECT_THAT(Take(), IsEmpty());
  Advance(milliseconds(1));
  EXPECT_THAT(Take(), ElementsAre("close 1006"));
}

TEST_F(StreamConnectionTest, CloseWaitsForTheHandshakeAndFlushes) {
  Call();
  Send("first");
  connection_->Close(4000, "");
  Settle();
  peer_->Say("o");
  Settle();
  EXPECT_EQ(peer_->Hear(), "hello" + Binary("first") + CloseFrame(4000));
  peer_->Say(CloseFrame(4000));
  Settle();
  EXPECT_THAT(Take(), ElementsAre("close 4000 by us"));
}

TEST_F(StreamConnectionTest, CloseWaitsForTheHandshakeAsLongAsItLingers) {
  Call();
  connection_->Close(4000, "");
  Advance(milliseconds(options_.linger_ms));
  EXPECT_THAT(Take(), ElementsAre("close 4000 by us"));
}

TEST_F(StreamConnectionTest, CloseDoesNotGiveTheHandshakeMoreTime) {
  options_.linger_ms = 3 * options_.handshake_ms;
  Call();
  Advance(milliseconds(options_.handshake_ms - 2));
  connection_->Close(4000, "");
  Advance(milliseconds(1));
  EXPECT_THAT(Take(), IsEmpty());
  Advance(milliseconds(1));
  EXPECT_THAT(Take(), ElementsAre("close 4000 by us"));
}

// ---- Liveness.

TEST_F(StreamConnectionTest, PingsWhenNothingWasHeardAndGivesUpAfterSilence) {
  Serve();
  Advance(milliseconds(options_.ping_ms - 1));
  EXPECT_EQ(peer_->Hear(), "");
  Advance(milliseconds(1));
  EXPECT_EQ(peer_->Hear(), Ping());
  Advance(milliseconds(options_.silence_ms - options_.ping_ms - 1));
  EXPECT_THAT(Take(), ElementsAre("open"));
  Advance(milliseconds(1));
  EXPECT_THAT(Take(), ElementsAre("close 1006"));
  peer_->Hear();
  EXPECT_TRUE(peer_->lost());
}

TEST_F(StreamConnectionTest, AClientPingsWhenNothingWasHeardSinceItWasLetIn) {
  options_.handshake_ms = 3 * options_.ping_ms;
  Call();
  Advance(seconds(1));
  peer_->Say("o");
  Settle();
  EXPECT_EQ(peer_->Hear(), "hello");
  Advance(milliseconds(options_.ping_ms - 1));
  EXPECT_EQ(peer_->Hear(), "");
  Advance(milliseconds(1));
  EXPECT_EQ(peer_->Hear(), Ping());
}

TEST_F(StreamConnectionTest, AnythingHeardIsLife) {
  Serve();
  for (const std::string& life : {Pong(), Binary("x"), Ping()}) {
    Advance(milliseconds(options_.ping_ms));
    EXPECT_EQ(peer_->Hear(), Ping());
    Advance(milliseconds(options_.silence_ms - options_.ping_ms - 1));
    peer_->Say(life);
    Settle();
    peer_->Hear();
  }
  EXPECT_TRUE(connection_->is_open());
  EXPECT_THAT(Take(), ElementsAre("open", "pong", "x", "ping"));
}

TEST_F(StreamConnectionTest, ABusyLinkIsNotPinged) {
  Serve();
  for (int i = 0; i < 100; ++i) {
    Advance(seconds(1));
    peer_->Say(Binary("x"));
  }
  EXPECT_EQ(peer_->Hear(), "");
}

TEST_F(StreamConnectionTest, SilenceCountsOnlyWhileSomebodyListens) {
  Serve();
  Settle();
  connection_->SetHandler(nullptr);
  Advance(seconds(100));
  connection_->SetHandler(&heard_);
  Advance(milliseconds(options_.silence_ms - 1));
  EXPECT_TRUE(connection_->is_open());
  Advance(milliseconds(1));
  EXPECT_FALSE(connection_->is_open());
}

TEST_F(StreamConnectionTest, SilenceBeginsAnewWhenListeningDoes) {
  Serve();
  Advance(milliseconds(options_.ping_ms - 2));
  connection_->SetHandler(nullptr);
  Advance(milliseconds(1));
  connection_->SetHandler(&heard_);
  Advance(milliseconds(options_.ping_ms - 1));
  EXPECT_EQ(peer_->Hear(), "");
  Advance(milliseconds(1));
  EXPECT_EQ(peer_->Hear(), Ping());
}

TEST_F(StreamConnectionTest, APingIsAnsweredWithItsPayload) {
  Serve();
  peer_->Say(Ping("abc"));
  Settle();
  EXPECT_EQ(peer_->Hear(), Pong("abc"));
  EXPECT_THAT(Take(), ElementsAre("open", "ping"));
}

TEST_F(StreamConnectionTest, OfManyPingsTheNewestIsAnswered) {
  memory_.buffer_bytes = 8 * 1024;
  Serve();
  Settle();
  for (int i = 0; i < 1'000; ++i) peer_->Say(Ping(std::to_string(i)));
  Settle();
  EXPECT_EQ(peer_->Hear(), Pong("999"));
  // Nor do they pile up when nothing leaves.
  FillTheStream();
  for (int i = 0; i < 1'000; ++i) {
    peer_->Say(Ping(std::to_string(i)));
    Settle();
  }
  const std::string heard = peer_->Hear();
  Settle();
  EXPECT_THAT(heard + peer_->Hear(), EndsWith(After("f", Pong("999"))));
}

// ---- Lanes behind a peer that does not read.

TEST_F(StreamConnectionTest, AReliableLaneThatIsFullIsTooSlow) {
  memory_.buffer_bytes = 4 * 1024;
  Serve();
  Settle();
  std::size_t taken = 0;
  while (Send(std::string(1'000, 'x')) == SendResult::kQueued) {
    ++taken;
    Settle();
  }
  // The lane's limit, and what the stream took.
  EXPECT_GE(taken, 16u);
  EXPECT_LE(taken, 21u);
  Settle();
  EXPECT_THAT(Take(), ElementsAre("open"));
  const std::string heard = HearAll();
  EXPECT_EQ(heard.size(), taken * 1'004 + CloseFrame(1011, "too slow").size());
  EXPECT_THAT(heard, EndsWith(CloseFrame(1011, "too slow")));
  peer_->Say(CloseFrame(1011));
  Settle();
  EXPECT_THAT(Take(), ElementsAre("close 1011 by us"));
}

TEST_F(StreamConnectionTest, AReliableLaneTakesExactlyItsLimit) {
  Serve();
  const std::size_t half = options_.reliable_bytes_max / 2;
  EXPECT_EQ(Send(std::string(half - kMessageOverhead, 'x')),
            SendResult::kQueued);
  EXPECT_EQ(Send(std::string(half - kMessageOverhead, 'x')),
            SendResult::kQueued);
  EXPECT_EQ(connection_->queued_bytes(Lane::kReliable),
            options_.reliable_bytes_max);
}

TEST_F(StreamConnectionTest, AReliableLaneTakesNoByteMoreThanItsLimit) {
  Serve();
  const std::size_t half = options_.reliable_bytes_max / 2;
  EXPECT_EQ(Send(std::string(half - kMessageOverhead, 'x')),
            SendResult::kQueued);
  EXPECT_EQ(Send(std::string(half - kMessageOverhead + 1, 'x')),
            SendResult::kOverflow);
}

// The short ones take another way than the rest.
TEST_F(StreamConnectionTest, MessagesOfEachSizeLeaveAndCount) {
  Serve();
  std::string expected;
  std::size_t counted = 0;
  for (std::size_t size = 0; size < 150; ++size) {
    const std::string message(size, static_cast<char>(size));
    ASSERT_EQ(Send(message), SendResult::kQueued);
    counted += size + kMessageOverhead;
    ASSERT_EQ(connection_->queued_bytes(Lane::kReliable), counted);
    expected += Binary(message);
  }
  Settle();
  EXPECT_EQ(HearAll(), expected);
  EXPECT_EQ(connection_->queued_bytes(Lane::kReliable), 0u);
}

TEST_F(StreamConnectionTest, TheHandshakesAnswerIsNoPartOfTheLane) {
  Serve(std::string(600, 'a'));
  EXPECT_EQ(connection_->queued_bytes(Lane::kReliable), 0u);
  EXPECT_EQ(
      Send(std::string(options_.reliable_bytes_max - kMessageOverhead, 'x')),
      SendResult::kQueued);
  Settle();
  EXPECT_EQ(HearAll().size(),
            600 + 4 + options_.reliable_bytes_max - kMessageOverhead);
  EXPECT_EQ(connection_->queued_bytes(Lane::kReliable), 0u);
}

TEST_F(StreamConnectionTest, TooSlowIsOverWhenTheLingerIs) {
  memory_.buffer_bytes = 4 * 1024;
  Serve();
  while (Send(std::string(1'000, 'x')) == SendResult::kQueued) Settle();
  Advance(milliseconds(options_.linger_ms));
  EXPECT_THAT(Take(), ElementsAre("open", "close 1011 by us"));
}

TEST_F(StreamConnectionTest, TheStateLaneKeepsTheNewestForASlowReader) {
  memory_.buffer_bytes = 1'024;
  Serve();
  Settle();
  FillTheStream();
  for (int i = 0; i < 1'000; ++i) {
    const SendResult result = Send(std::to_string(i), Lane::kState);
    ASSERT_EQ(result, i == 0 ? SendResult::kQueued : SendResult::kReplaced);
    Settle();
  }
  EXPECT_EQ(connection_->queued_bytes(Lane::kState), 3 + kMessageOverhead);
  EXPECT_THAT(HearAll(), EndsWith(After("f", State("999"))));
  EXPECT_EQ(connection_->queued_bytes(Lane::kState), 0u);
}

TEST_F(StreamConnectionTest, AStateMessageCountsTheSameWaitingAndOnItsWay) {
  memory_.buffer_bytes = 1'024;
  Serve();
  Send(std::string(3'000, 's'), Lane::kState);
  EXPECT_EQ(connection_->queued_bytes(Lane::kState), 3'000 + kMessageOverhead);
  Settle();
  EXPECT_EQ(connection_->queued_bytes(Lane::kState), 3'000 + kMessageOverhead);
  Send("newest", Lane::kState);
  EXPECT_EQ(connection_->queued_bytes(Lane::kState),
            3'000 + 6 + 2 * kMessageOverhead);
  HearAll();
  EXPECT_EQ(connection_->queued_bytes(Lane::kState), 0u);
}

TEST_F(StreamConnectionTest, AStateMessageDoesNotWaitForLaterReliableOnes) {
  memory_.buffer_bytes = 1'024;
  Serve();
  Settle();
  Send(std::string(1'500, 'f'));
  Send("newest", Lane::kState);
  Settle();
  Send(std::string(100, 'g'));
  EXPECT_EQ(HearAll(), Binary(std::string(1'500, 'f')) + State("newest") +
                           Binary(std::string(100, 'g')));
}

TEST_F(StreamConnectionTest, StateInTheQueueDoesNotCountForTheReliableLane) {
  memory_.buffer_bytes = 1'024;
  Serve();
  Settle();
  Send(std::string(60'000, 's'), Lane::kState);
  Settle();
  EXPECT_EQ(connection_->queued_bytes(Lane::kReliable), 0u);
  for (int i = 0; i < 15; ++i) {
    ASSERT_EQ(Send(std::string(1'000, 'x')), SendResult::kQueued);
    Settle();
    EXPECT_EQ(connection_->queued_bytes(Lane::kReliable),
              static_cast<std::size_t>(i + 1) * (1'000 + kMessageOverhead));
    peer_->Hear(500);
    Settle();
  }
}

// They share a piece with the state lane's bytes unless somebody sees to it.
TEST_F(StreamConnectionTest, WhatLeftBehindAStateMessageCountsNoMore) {
  memory_.buffer_bytes = 1'024;
  Serve();
  for (int i = 0; i < 3; ++i) {
    Send(std::string(2'000, 's'), Lane::kState);
    Settle();
    for (int k = 0; k < 10; ++k) {
      ASSERT_EQ(Send(std::string(1'000, 'x')), SendResult::kQueued);
    }
    EXPECT_EQ(connection_->queued_bytes(Lane::kReliable),
              10 * (1'000 + kMessageOverhead));
    EXPECT_EQ(HearAll().size(), 2'004u + 10 * 1'004u);
    EXPECT_EQ(connection_->queued_bytes(Lane::kReliable), 0u);
  }
}

TEST_F(StreamConnectionTest, WritableComesOnceTheQueueIsHalfEmpty) {
  memory_.buffer_bytes = 1'024;
  Serve();
  Settle();
  for (int i = 0; i < 15; ++i) Send(std::string(1'000, 'x'));
  Settle();
  Take();
  while (connection_->queued_bytes(Lane::kReliable) >
         options_.reliable_bytes_max / 2) {
    EXPECT_THAT(Take(), IsEmpty());
    peer_->Hear();
    Settle();
  }
  EXPECT_THAT(Take(), ElementsAre("writable"));
}

TEST_F(StreamConnectionTest, WritableComesOnlyAfterMoreThanHalf) {
  Serve();
  Settle();
  const std::size_t half = options_.reliable_bytes_max / 2 - kMessageOverhead;
  Take();
  Send(std::string(half, 'x'));
  Settle();
  EXPECT_THAT(Take(), IsEmpty());
  Send(std::string(half + 1, 'x'));
  Settle();
  EXPECT_THAT(Take(), ElementsAre("writable"));
}

TEST_F(StreamConnectionTest, WritableComesAtExactlyHalf) {
  memory_.buffer_bytes = 2'004;  // the first frame, and no more
  Serve();
  Settle();
  Take();
  const std::string text(2'000, 'p');
  const auto bytes = AsBytes(text);
  // Shared, so that it is a piece of its own and the count stays exact.
  connection_->Send(
      Lane::kReliable,
      Payload(MessageKind::kBinary, std::vector(bytes.begin(), bytes.end())));
  const std::size_t half = options_.reliable_bytes_max / 2;
  Send(std::string(half - kMessageOverhead, 'x'));
  Settle();
  EXPECT_EQ(connection_->queued_bytes(Lane::kReliable), half);
  EXPECT_THAT(Take(), ElementsAre("writable"));
}

TEST_F(StreamConnectionTest, ALargeSharedPayloadIsNotCopied) {
  memory_.buffer_bytes = 1'024;
  Serve();
  Settle();
  const std::string text(9'000, 'p');
  const auto bytes = AsBytes(text);
  std::optional<Payload> payload(std::in_place, MessageKind::kBinary,
                                 std::vector(bytes.begin(), bytes.end()));
  EXPECT_EQ(connection_->Send(Lane::kReliable, *payload), SendResult::kQueued);
  EXPECT_EQ(connection_->Send(Lane::kState, *payload), SendResult::kQueued);
  EXPECT_EQ(connection_->queued_bytes(Lane::kReliable),
            9'000 + kMessageOverhead);
  payload.reset();
  Settle();
  EXPECT_EQ(HearAll(), Binary(text) + State(text));
}

// ---- The end.

using StreamConnectionDeathTest = StreamConnectionTest;

TEST_F(StreamConnectionDeathTest, ACloseThatNobodyMaySendIsOurMistake) {
  Serve();
  EXPECT_DEATH(connection_->Close(1006, ""), "IsSendableClose");
  EXPECT_DEATH(connection_->Close(1000, "\xff"), "IsSendableClose");
}

TEST_F(StreamConnectionTest, CloseReadsOnAndEndsBehindTheAnswer) {
  Serve();
  Settle();
  Send("last");
  connection_->Close(4000, "bye");
  Settle();
  EXPECT_EQ(peer_->Hear(), Binary("last") + CloseFrame(4000, "bye"));
  EXPECT_FALSE(peer_->ended());
  peer_->Say(Binary("unread") + Ping("unanswered"));
  Settle();
  EXPECT_THAT(Take(), ElementsAre("open"));
  peer_->Say(CloseFrame(1000));
  Settle();
  EXPECT_THAT(Take(), ElementsAre("close 4000 by us"));
  EXPECT_EQ(peer_->Hear(), "");
  EXPECT_TRUE(peer_->ended());
  EXPECT_EQ(loop_.draining(), 1u);
  peer_->End();
  Settle();
  EXPECT_EQ(loop_.draining(), 0u);
}

TEST_F(StreamConnectionTest, CloseFlushesTheNewestStateBehindAnOlderOne) {
  memory_.buffer_bytes = 1'024;
  Serve();
  Send(std::string(1'500, 'f'));
  Send("older", Lane::kState);
  Settle();
  Send("newest", Lane::kState);
  connection_->Close(4000, "");
  Settle();
  EXPECT_EQ(HearAll(), Binary(std::string(1'500, 'f')) + State("older") +
                           State("newest") + CloseFrame(4000));
}

TEST_F(StreamConnectionTest, ACloseThatIsNotAnsweredEndsWithTheLinger) {
  Serve();
  Settle();
  connection_->Close(4000, "");
  Advance(milliseconds(options_.linger_ms - 1));
  EXPECT_THAT(Take(), ElementsAre("open"));
  Advance(milliseconds(1));
  EXPECT_THAT(Take(), ElementsAre("close 4000 by us"));
  peer_->Hear();
  EXPECT_TRUE(peer_->lost());
}

TEST_F(StreamConnectionTest, WhoAnswersACloseWaitsForNothing) {
  Serve();
  Settle();
  connection_->Close(4000, "");
  Settle();
  for (int i = 1; i < stream::kDiscardsMax; ++i) {
    peer_->Say(Binary("on its way"));
    Settle();
  }
  peer_->Say(CloseFrame(4000));
  Settle();  // which takes no time
  EXPECT_THAT(Take(), ElementsAre("open", "close 4000 by us"));
}

TEST_F(StreamConnectionTest, AnAnswerBehindABacklogIsHeard) {
  memory_.piece_bytes_max = 1;
  Serve();
  Settle();
  connection_->Close(4000, "");
  Settle();
  // More than is discarded without a wait.
  constexpr int kReads = stream::kDiscardsAtOnce + 1'024;
  for (const char letter :
       After(Binary(std::string(kReads, 'x')), CloseFrame(4000))) {
    peer_->Say({&letter, 1});
  }
  Settle();
  EXPECT_THAT(Take(), ElementsAre("open"));
  Advance((1'024 / stream::kDiscardsMax + 1) * stream::kDiscardTime);
  EXPECT_THAT(Take(), ElementsAre("close 4000 by us"));
  EXPECT_EQ(peer_->Hear(), CloseFrame(4000));
  EXPECT_TRUE(peer_->ended());
}

struct Flood {
  const char* name;
  std::size_t piece_bytes_max;  // of one read
  std::size_t most;             // that is discarded in kDiscardTime
  bool answered;                // the peer closed, and then floods
};

class StreamFlood : public StreamConnectionTest,
                    public testing::WithParamInterface<Flood> {};

TEST_P(StreamFlood, IsReadSlowlyAndHearsWhy) {
  memory_.piece_bytes_max = GetParam().piece_bytes_max;
  Serve();
  Settle();
  connection_->Close(CloseReason::kMessageRate);
  Settle();
  if (GetParam().answered) {
    for (const char letter : CloseFrame(1000)) peer_->Say({&letter, 1});
    Settle();
    ASSERT_EQ(loop_.draining(), 1u);
  }
  peer_->SayMore();
  std::size_t discarded = 0;
  for (int i = 0; i < 1'000; ++i) {
    Advance(milliseconds(1));
    discarded += peer_->SayMore();
  }
  EXPECT_LE(discarded,
            GetParam().most * (stream::kDiscardsAtOnce / stream::kDiscardsMax +
                               seconds(1) / stream::kDiscardTime + 1));
  EXPECT_GT(discarded, 0u);
  EXPECT_THAT(HearAll(), HasSubstr(std::string("\xf0\x03", 2)));  // 1008
  Advance(milliseconds(options_.linger_ms) - seconds(1));
  EXPECT_THAT(Take(), ElementsAre("open", "close 1008 by us"));
  EXPECT_EQ(loop_.draining(), 0u);
}

INSTANTIATE_TEST_SUITE_P(
    Of, StreamFlood,
    testing::Values(
        Flood{"Much", SIZE_MAX, stream::kDiscardBytes, false},
        Flood{"Little", 16, 16 * stream::kDiscardsMax, false},
        Flood{"MuchBehindAnAnswer", SIZE_MAX, stream::kDiscardBytes, true},
        Flood{"LittleBehindAnAnswer", 16, 16 * stream::kDiscardsMax, true}),
    [](const auto& row) { return std::string(row.param.name); });

TEST_F(StreamConnectionTest, WhoWaitsForTheAnswerToACloseMakesRoom) {
  Serve();
  Settle();
  EXPECT_FALSE(loop_.CutLeaver());
  connection_->Close(4000, "");
  EXPECT_FALSE(loop_.CutLeaver());  // it has not been told why
  Settle();
  EXPECT_EQ(peer_->Hear(), CloseFrame(4000));
  EXPECT_TRUE(loop_.CutLeaver());
  EXPECT_FALSE(loop_.CutLeaver());
  EXPECT_THAT(Take(), ElementsAre("open"));  // nothing inside the call
  Settle();
  EXPECT_THAT(Take(), ElementsAre("close 4000 by us"));
  peer_->Hear();
  EXPECT_TRUE(peer_->lost());
}

// It would drain, and hold its place for another linger.
TEST_F(StreamConnectionTest, WhoseAnswerWasNotReadYetMakesRoomToo) {
  Serve();
  Settle();
  connection_->Close(4000, "");
  Settle();
  peer_->Say(CloseFrame(4000));
  EXPECT_TRUE(loop_.CutLeaver());
  peer_->Hear();
  EXPECT_TRUE(peer_->lost());
  Settle();
  EXPECT_EQ(loop_.draining(), 0u);
  EXPECT_FALSE(loop_.CutLeaver());
  EXPECT_THAT(Take(), ElementsAre("open", "close 4000 by us"));
}

TEST_F(StreamConnectionTest, WhoWasCutOffMakesNoRoom) {
  Serve();
  Settle();
  connection_->Close(4000, "");
  connection_->Abort();
  EXPECT_FALSE(loop_.CutLeaver());
  Settle();
  EXPECT_THAT(Take(), ElementsAre("open", "close 4000 by us"));
}

TEST_F(StreamConnectionTest, WhoHasLeftMakesNoRoom) {
  Serve();
  Settle();
  connection_->Close(4000, "");
  peer_->Say(CloseFrame(4000));
  peer_->End();
  Settle();
  EXPECT_THAT(Take(), ElementsAre("open", "close 4000 by us"));
  EXPECT_FALSE(loop_.CutLeaver());
}

TEST_F(StreamConnectionTest, ThePeersCloseIsHeardAtItsFrameAndAnswered) {
  Serve();
  Settle();
  peer_->Say(Binary("last") + CloseFrame(4000) + Binary("behind it"));
  Settle();
  EXPECT_THAT(Take(), ElementsAre("open", "last", "close 4000"));
  connection_.reset();  // its stream lives on, until the peer has ended too
  EXPECT_EQ(peer_->Hear(), CloseFrame(4000));
  EXPECT_TRUE(peer_->ended());
  EXPECT_EQ(loop_.draining(), 1u);
  peer_->Say(std::string(60'000, 'x'));
  Settle();
  EXPECT_EQ(loop_.draining(), 1u);
  peer_->End();
  Advance(60'000 / stream::kDiscardBytes * stream::kDiscardTime);
  EXPECT_EQ(loop_.draining(), 0u);
}

// The peer's end is read at once, and means only that it says no more.
TEST_F(StreamConnectionTest, AClosedPeerThatEndsGetsTheBacklogAndOurClose) {
  memory_.buffer_bytes = 1'024;
  Serve();
  Send(std::string(3'000, 'x'));
  Settle();
  peer_->Say(CloseFrame(4000));
  peer_->End();
  Settle();
  EXPECT_THAT(Take(), ElementsAre("open", "close 4000"));
  EXPECT_EQ(loop_.draining(), 1u);
  EXPECT_EQ(HearAll(), Binary(std::string(3'000, 'x')) + CloseFrame(4000));
  EXPECT_TRUE(peer_->ended());
  EXPECT_EQ(loop_.draining(), 0u);
}

struct CloseBehind {
  const char* name;
  bool queued;  // our close frame, when the peer's comes
};

class StreamCloseBehind : public StreamConnectionTest,
                          public testing::WithParamInterface<CloseBehind> {};

TEST_P(StreamCloseBehind, ABacklogArrivesThoughThePeerClosesToo) {
  memory_.buffer_bytes = 1'024;
  Serve();
  Settle();
  Send(std::string(3'000, 'x'));
  if (!GetParam().queued) Settle();  // the stream blocks before we close
  connection_->Close(4000, "ours");
  Settle();
  peer_->Say(CloseFrame(4001, "theirs"));
  Settle();
  EXPECT_THAT(Take(), ElementsAre("open", "close 4000 by us"));
  EXPECT_EQ(HearAll(),
            Binary(std::string(3'000, 'x')) + CloseFrame(4000, "ours"));
  EXPECT_TRUE(peer_->ended());
  EXPECT_FALSE(peer_->lost());
}

INSTANTIATE_TEST_SUITE_P(Frames, StreamCloseBehind,
                         testing::Values(CloseBehind{"queued", true},
                                         CloseBehind{"waiting", false}),
                         [](const auto& row) {
                           return std::string(row.param.name);
                         });

TEST_F(StreamConnectionTest, AnAnsweredCloseDoesNotWaitForEverForThePeersEnd) {
  Serve();
  Settle();
  peer_->Say(CloseFrame(1000));
  Settle();
  connection_.reset();
  Advance(milliseconds(options_.linger_ms));
  EXPECT_EQ(loop_.draining(), 0u);
}

TEST_F(StreamConnectionTest, ACloseWithoutACodeIs1005AndAnsweredWithoutOne) {
  Serve();
  Settle();
  peer_->Say(Frame(5, ""));
  Settle();
  EXPECT_THAT(Take(), ElementsAre("open", "close 1005"));
  EXPECT_EQ(peer_->Hear(), Frame(5, ""));
}

struct LinkEnd {
  const char* name;
  void (*happen)(Peer& peer);
};

class StreamLinkEnd : public StreamConnectionTest,
                      public testing::WithParamInterface<LinkEnd> {};

TEST_P(StreamLinkEnd, IsADrop) {
  Serve();
  Settle();
  GetParam().happen(*peer_);
  Settle();
  EXPECT_THAT(Take(), ElementsAre("open", "close 1006"));
}

TEST_P(StreamLinkEnd, EndsOurClose) {
  Serve();
  Settle();
  connection_->Close(4000, "");
  Settle();
  GetParam().happen(*peer_);
  Settle();
  EXPECT_THAT(Take(), ElementsAre("open", "close 4000 by us"));
}

TEST_P(StreamLinkEnd, EndsTheHandshake) {
  Call();
  Settle();
  GetParam().happen(*peer_);
  Settle();
  EXPECT_THAT(Take(), ElementsAre("close 1006"));
}

INSTANTIATE_TEST_SUITE_P(
    Ways, StreamLinkEnd,
    testing::Values(LinkEnd{"end", [](Peer& peer) { peer.End(); }},
                    LinkEnd{"gone", [](Peer& peer) { peer.Vanish(false); }},
                    LinkEnd{"reset", [](Peer& peer) { peer.Vanish(true); }}),
    [](const auto& row) { return std::string(row.param.name); });

TEST_F(StreamConnectionTest, ALostLinkWaitsForAHandlerToBeTold) {
  Serve();
  Settle();
  peer_->Say(Binary("1"));
  Settle();
  connection_->SetHandler(nullptr);
  Settle();
  peer_->Say(Binary("2"));
  peer_->Vanish(false);
  Settle();
  connection_->SetHandler(&heard_);
  Settle();
  EXPECT_THAT(Take(), ElementsAre("open", "1", "2", "close 1006"));
}

TEST_F(StreamConnectionTest, WhatThePeerSaidLastIsHeardThoughWritingFails) {
  Serve();
  Settle();
  peer_->Say(Binary("last") + CloseFrame(4000));
  peer_->Vanish(false);
  Send("nobody is there");
  Settle();
  EXPECT_THAT(Take(), ElementsAre("open", "last", "close 4000"));
}

struct Fault {
  const char* name;
  std::string bytes;
  CloseCode code;
};

class StreamFault : public StreamConnectionTest,
                    public testing::WithParamInterface<Fault> {};

TEST_P(StreamFault, ClosesAndReadsOnToTheEnd) {
  options_.message_bytes_max = 100;
  Serve();
  Settle();
  peer_->Say(Binary("before") + GetParam().bytes + CloseFrame(1000) +
             std::string(1'000, '\xff'));
  Settle();
  EXPECT_THAT(Take(), ElementsAre("open", "before"));
  const std::string told = peer_->Hear();
  EXPECT_EQ(told.substr(4, 2), CloseFrame(GetParam().code).substr(4))
      << testing::PrintToString(told);
  EXPECT_TRUE(peer_->ended());
  peer_->End();
  Settle();
  EXPECT_THAT(Take(), ElementsAre("close " + std::to_string(GetParam().code) +
                                  " by us"));
}

INSTANTIATE_TEST_SUITE_P(
    Faults, StreamFault,
    testing::Values(Fault{"type", Frame(77, "x"), 1002},
                    Fault{"size", Binary(std::string(101, 'x')), 1009},
                    Fault{"text", Frame(1, "\xff"), 1007},
                    Fault{"close_code", CloseFrame(1005), 1002}),
    [](const auto& row) { return std::string(row.param.name); });

TEST_F(StreamConnectionTest, AbortDropsWhatHasArrivedAndResets) {
  Serve();
  Settle();
  peer_->Say(Binary("1") + Binary("2"));
  connection_->Abort();
  Settle();
  EXPECT_THAT(Take(), ElementsAre("open", "close 1006 by us"));
  peer_->Hear();
  EXPECT_TRUE(peer_->lost());
}

}  // namespace
}  // namespace parlor::test
