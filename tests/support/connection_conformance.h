// The conformance suite of parlor::Connection: the rules of
// parlor/connection.h as tests, for any transport. It needs GoogleTest and
// parlor's headers only.
//
// To run it on a transport, write a Link and instantiate:
//
//   class MyLink {
//    public:
//     // Everything random in it comes from the seed.
//     explicit MyLink(std::uint64_t seed);
//     // Two ends of one link. A handler may be null. OnOpen comes from here
//     // or from a later step. The suite owns the ends and destroys them before
//     // the Link.
//     ConformanceEnds Connect(const ConformanceOptions& options,
//                             ConnectionHandler* first,
//                             ConnectionHandler* second);
//     // Runs one piece of what is due now, either end's; false: nothing is.
//     bool Step();
//     // Runs until nothing is due at the present time.
//     void Settle();
//     // Lets (virtual) time pass, running what falls due.
//     void Advance(Duration time);
//     // How many random runs it gets; without this line 3,000.
//     static constexpr std::uint64_t kRandomRuns = 100;
//   };
//   INSTANTIATE_TYPED_TEST_SUITE_P(MyTransport, ConnectionConformance, MyLink);
//
// Nothing may run outside Connect, Step, Settle and Advance.
#ifndef PARLOR_TESTS_SUPPORT_CONNECTION_CONFORMANCE_H_
#define PARLOR_TESTS_SUPPORT_CONNECTION_CONFORMANCE_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "parlor/close_reason.h"
#include "parlor/connection.h"
#include "parlor/lane.h"
#include "parlor/random.h"
#include "parlor/time.h"
#include "support/seed.h"

namespace parlor {

struct ConformanceOptions {
  std::size_t reliable_bytes_max = 16 * 1024;
  std::size_t message_bytes_max = 4 * 1024;
  std::int64_t linger_ms = 1'000;
};

// Of a link between a client and a server: which is the suite's first end.
enum class First : bool { kServer, kClient };

struct ConformanceEnds {
  std::unique_ptr<Connection> first;
  std::unique_ptr<Connection> second;
};

struct ConformanceMessage {
  Lane lane;
  MessageKind kind;
  std::string bytes;

  friend bool operator==(const ConformanceMessage&,
                         const ConformanceMessage&) = default;
};

// An owned CloseEvent.
struct ConformanceClose {
  CloseCode code = 0;
  std::string text;
  bool by_us = false;

  friend bool operator==(const ConformanceClose&,
                         const ConformanceClose&) = default;
};

// One end and what it heard. Every test checks by it, unasked, that OnOpen is
// first, OnClose last, each once at most, that nothing but OnClose comes after
// Close or Abort, and that no callback runs inside a call into a connection.
class ConformanceEnd final : public ConnectionHandler {
 public:
  // Run inside the callback, after it was recorded.
  std::function<void()> on_open, on_message, on_writable, on_close;

  std::unique_ptr<Connection> connection;
  int opens = 0;
  int writables = 0;
  std::vector<ConformanceMessage> messages;
  std::vector<ConformanceClose> closes;

  explicit ConformanceEnd(int& calls_running) : calls_(calls_running) {}

  SendResult Send(std::string_view bytes, Lane lane = Lane::kReliable,
                  MessageKind kind = MessageKind::kBinary) {
    const Call call(calls_);
    return connection->Send(
        lane, kind, std::as_bytes(std::span(bytes.data(), bytes.size())));
  }
  SendResult SendState(std::string_view bytes) {
    return Send(bytes, Lane::kState);
  }
  void Close(CloseCode code, std::string_view text = {}) {
    const Call call(calls_);
    connection->Close(code, text);
  }
  void Close(CloseReason reason) {
    const Call call(calls_);
    connection->Close(reason);
  }
  void Abort() {
    const Call call(calls_);
    connection->Abort();
  }
  void SetHandler(ConnectionHandler* handler) {
    const Call call(calls_);
    connection->SetHandler(handler);
  }
  void Destroy() {
    const Call call(calls_);
    connection.reset();
  }

  // The messages of one lane, in order.
  std::vector<std::string> On(Lane lane) const {
    std::vector<std::string> bytes;
    for (const ConformanceMessage& message : messages) {
      if (message.lane == lane) bytes.push_back(message.bytes);
    }
    return bytes;
  }
  std::vector<std::string> reliable() const { return On(Lane::kReliable); }
  std::vector<std::string> state() const { return On(Lane::kState); }

  bool HeardClose(const ConformanceClose& close) const {
    return closes == std::vector{close};
  }

  void OnOpen(TimePoint now, Connection& from) override {
    Check(now, from, /*open=*/true);
    EXPECT_EQ(++opens, 1) << "a second OnOpen";
    EXPECT_TRUE(messages.empty()) << "OnOpen after a message";
    Run(on_open);
  }
  void OnMessage(TimePoint now, Connection& from, Lane lane, MessageKind kind,
                 std::span<const std::byte> bytes) override {
    Check(now, from, /*open=*/true);
    EXPECT_EQ(opens, 1) << "a message before OnOpen";
    messages.push_back({lane, kind, std::string(AsText(bytes))});
    Run(on_message);
    // Rule 8: until here the view holds, whatever the callback did.
    EXPECT_EQ(AsText(bytes), messages.back().bytes);
  }
  void OnControl(TimePoint now, Connection& from, ControlKind) override {
    Check(now, from, /*open=*/true);
  }
  void OnWritable(TimePoint now, Connection& from, Lane) override {
    Check(now, from, /*open=*/true);
    ++writables;
    Run(on_writable);
  }
  void OnClose(TimePoint now, Connection& from,
               const CloseEvent& event) override {
    Check(now, from, /*open=*/false);
    closes.push_back({event.code, std::string(event.text), event.by_us});
    Run(on_close);
    // The text holds too, even when the end died in here.
    EXPECT_EQ(event.text, closes.back().text);
  }

 private:
  class Call {
   public:
    explicit Call(int& running) : running_(running) { ++running_; }
    ~Call() { --running_; }

   private:
    int& running_;
  };

  static std::string_view AsText(std::span<const std::byte> bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }
  static void Run(const std::function<void()>& hook) {
    if (hook) hook();
  }
  void Check(TimePoint now, Connection& from, bool open) {
    EXPECT_EQ(calls_, 0) << "a callback inside a call (rule 2)";
    EXPECT_TRUE(closes.empty()) << "a callback after OnClose (rule 3)";
    EXPECT_EQ(from.is_open(), open) << "rule 3";
    EXPECT_GE(now, last_now_) << "time went back";
    last_now_ = now;
  }

  int& calls_;
  TimePoint last_now_ = TimePoint::min();
};

template <typename Link>
class ConnectionConformance : public testing::Test {
 protected:
  // Each test starts with a fresh pair; it may connect again.
  ConnectionConformance() : link_(1) { Connect({}); }

  void Connect(const ConformanceOptions& options, bool with_handlers = true) {
    a_.emplace(calls_);
    b_.emplace(calls_);
    options_ = options;
    ConformanceEnds ends =
        link_.Connect(options, with_handlers ? &*a_ : nullptr,
                      with_handlers ? &*b_ : nullptr);
    a_->connection = std::move(ends.first);
    b_->connection = std::move(ends.second);
  }

  ConformanceEnd& a() { return *a_; }
  ConformanceEnd& b() { return *b_; }
  const ConformanceOptions& options() const { return options_; }
  std::string Filled(std::size_t size, char with = 'x') const {
    return std::string(size, with);
  }

  bool Step() { return link_.Step(); }
  void Settle() { link_.Settle(); }
  void Advance(Duration time) { link_.Advance(time); }
  void AdvancePastLinger() {
    Advance(std::chrono::milliseconds(options_.linger_ms + 1));
    Settle();
  }

  // Sends until the lane is over its limit. Returns what was taken.
  std::vector<std::string> FillReliable(ConformanceEnd& end) {
    std::vector<std::string> sent;
    for (std::size_t i = 0; i <= options_.reliable_bytes_max / 1'000; ++i) {
      const std::string bytes =
          std::to_string(i) + Filled(1'000, static_cast<char>('a' + i % 26));
      const SendResult result = end.Send(bytes);
      if (result == SendResult::kOverflow) return sent;
      EXPECT_EQ(result, SendResult::kQueued);
      sent.push_back(bytes);
    }
    ADD_FAILURE() << "the lane never overflowed";
    return sent;
  }

 private:
  int calls_ = 0;
  Link link_;
  ConformanceOptions options_;
  std::optional<ConformanceEnd> a_, b_;
};

TYPED_TEST_SUITE_P(ConnectionConformance);

// ---- Rule 1: messages arrive whole, in order, and Send copies.

TYPED_TEST_P(ConnectionConformance, DeliversInOrderBothWays) {
  std::vector<std::string> to_b, to_a;
  for (int i = 0; i < 100; ++i) {
    to_b.push_back("to b " + std::to_string(i));
    to_a.push_back(this->Filled(static_cast<std::size_t>(i)));
    EXPECT_EQ(this->a().Send(to_b.back()), SendResult::kQueued);
    EXPECT_EQ(this->b().Send(to_a.back()), SendResult::kQueued);
  }
  this->Settle();
  EXPECT_EQ(this->b().reliable(), to_b);
  EXPECT_EQ(this->a().reliable(), to_a);
}

TYPED_TEST_P(ConnectionConformance, SendCopies) {
  std::string bytes = "before";
  this->a().Send(bytes);
  bytes = "after.";
  this->Settle();
  EXPECT_EQ(this->b().reliable(), std::vector<std::string>{"before"});
}

TYPED_TEST_P(ConnectionConformance, ZeroBytesAreAMessage) {
  this->a().Send("");
  this->a().Send("", Lane::kReliable, MessageKind::kText);
  this->Settle();
  this->a().SendState("");
  this->Settle();
  const std::vector<ConformanceMessage> expected = {
      {Lane::kReliable, MessageKind::kBinary, ""},
      {Lane::kReliable, MessageKind::kText, ""},
      {Lane::kState, MessageKind::kBinary, ""}};
  EXPECT_EQ(this->b().messages, expected);
}

TYPED_TEST_P(ConnectionConformance, KeepsTextAndBinaryApart) {
  for (MessageKind kind : {MessageKind::kText, MessageKind::kBinary}) {
    for (Lane lane : {Lane::kReliable, Lane::kState}) {
      this->b().messages.clear();
      this->a().Send("same", lane, kind);
      this->Settle();
      const std::vector<ConformanceMessage> expected = {{lane, kind, "same"}};
      EXPECT_EQ(this->b().messages, expected);
    }
  }
}

TYPED_TEST_P(ConnectionConformance, SendsASharedPayload) {
  const std::string_view text = "encoded once";
  const auto bytes = std::as_bytes(std::span(text.data(), text.size()));
  {
    const Payload payload(MessageKind::kText, {bytes.begin(), bytes.end()});
    this->a().connection->Send(Lane::kReliable, payload);
    this->b().connection->Send(Lane::kState, payload);
  }
  this->Settle();
  const std::vector<ConformanceMessage> to_b = {
      {Lane::kReliable, MessageKind::kText, "encoded once"}};
  const std::vector<ConformanceMessage> to_a = {
      {Lane::kState, MessageKind::kText, "encoded once"}};
  EXPECT_EQ(this->b().messages, to_b);
  EXPECT_EQ(this->a().messages, to_a);
}

// ---- Rule 2: no callback inside a call (ConformanceEnd checks each), and
// what callbacks cause waits.

TYPED_TEST_P(ConnectionConformance, NothingHappensWithoutAStep) {
  this->Settle();
  this->a().Send("x");
  this->a().SendState("y");
  this->a().Close(1000);
  EXPECT_TRUE(this->b().messages.empty());
  EXPECT_TRUE(this->a().closes.empty() && this->b().closes.empty());
}

TYPED_TEST_P(ConnectionConformance, EndsMayAnswerEachOtherInsideCallbacks) {
  int left = 100;
  this->a().on_message = [&] {
    if (left-- > 0) this->a().Send("ping");
  };
  this->b().on_message = [&] { this->b().Send("pong"); };
  this->a().Send("ping");
  this->Settle();
  EXPECT_EQ(this->b().messages.size(), 101u);
  EXPECT_EQ(this->a().messages.size(), 101u);
}

// ---- Rule 3: OnOpen first, OnClose once and last.

TYPED_TEST_P(ConnectionConformance, OpensOnce) {
  this->Settle();
  this->a().Send("x");
  this->Settle();
  EXPECT_EQ(this->a().opens, 1);
  EXPECT_EQ(this->b().opens, 1);
  EXPECT_TRUE(this->a().connection->is_open());
  EXPECT_TRUE(this->b().connection->is_open());
}

TYPED_TEST_P(ConnectionConformance, CloseIsHeardOnBothSides) {
  this->Settle();
  this->a().Close(4001, "resumed");
  EXPECT_FALSE(this->a().connection->is_open());
  this->Settle();
  EXPECT_FALSE(this->b().connection->is_open());
  EXPECT_TRUE(this->b().HeardClose({4001, "resumed", false}));
  EXPECT_TRUE(this->a().HeardClose({4001, "resumed", true}));
  this->AdvancePastLinger();
  EXPECT_EQ(this->a().closes.size() + this->b().closes.size(), 2u);
}

TYPED_TEST_P(ConnectionConformance, ClosesAtOnceWithoutEverOpening) {
  this->a().Close(CloseReason::kKicked);
  this->Settle();
  EXPECT_TRUE(this->a().HeardClose({1008, "kicked", true}));
  EXPECT_TRUE(this->b().HeardClose({1008, "kicked", false}));
}

TYPED_TEST_P(ConnectionConformance, ClosedAnswersEverySend) {
  this->Settle();
  this->a().Close(1000);
  EXPECT_EQ(this->a().Send("x"), SendResult::kClosed);
  EXPECT_EQ(this->a().SendState("x"), SendResult::kClosed);
  this->Settle();
  EXPECT_EQ(this->a().Send("x"), SendResult::kClosed);
  EXPECT_EQ(this->b().Send("x"), SendResult::kClosed);
  EXPECT_EQ(this->b().SendState("x"), SendResult::kClosed);
  EXPECT_TRUE(this->a().messages.empty() && this->b().messages.empty());
}

TYPED_TEST_P(ConnectionConformance, DiscardsWhatArrivesAfterOurClose) {
  this->Settle();
  this->b().Send("unread");
  this->b().SendState("unread");
  this->a().Close(1000);
  this->b().Send("late");
  this->Settle();
  EXPECT_TRUE(this->a().messages.empty());
  EXPECT_TRUE(this->a().HeardClose({1000, "", true}));
  EXPECT_TRUE(this->b().HeardClose({1000, "", false}));
}

// ---- Rule 4: Close is idempotent, flushes, and lingers; Abort does not.

TYPED_TEST_P(ConnectionConformance, TheFirstCloseCounts) {
  this->Settle();
  this->a().Close(4000, "first");
  this->a().Close(1000, "second");
  this->Settle();
  this->a().Close(1001);
  this->b().Close(1001);
  this->Settle();
  EXPECT_TRUE(this->a().HeardClose({4000, "first", true}));
  EXPECT_TRUE(this->b().HeardClose({4000, "first", false}));
}

TYPED_TEST_P(ConnectionConformance, CloseCarriesEveryCodeAndTheLongestText) {
  const std::string text = this->Filled(kCloseTextMax, 't');
  for (CloseCode code : {1000, 1003, 1007, 1014, 3000, 4999}) {
    this->Connect({});
    this->a().Close(code, text);
    this->Settle();
    EXPECT_TRUE(this->b().HeardClose({code, text, false})) << code;
  }
}

TYPED_TEST_P(ConnectionConformance, CloseFlushesWhatWasQueued) {
  this->Settle();
  std::vector<std::string> sent;
  for (int i = 0; i < 50; ++i) {
    sent.push_back(std::to_string(i) + this->Filled(200));
    this->a().Send(sent.back());
  }
  this->a().Close(1000);
  this->Settle();
  EXPECT_EQ(this->b().reliable(), sent);
  EXPECT_TRUE(this->b().HeardClose({1000, "", false}));
}

TYPED_TEST_P(ConnectionConformance, TheLingerEndsAnUnreadClose) {
  // Nobody listens at b, so that it takes nothing.
  this->Settle();
  this->b().SetHandler(nullptr);
  this->a().Send("never read");
  this->a().Close(1000);
  this->AdvancePastLinger();
  EXPECT_TRUE(this->a().HeardClose({1000, "", true}));
  this->b().SetHandler(&this->b());
  this->Settle();
  // Whether the transport had carried the close already is its own affair.
  ASSERT_EQ(this->b().closes.size(), 1u);
  EXPECT_FALSE(this->b().closes[0].by_us);
}

TYPED_TEST_P(ConnectionConformance, AbortIsHeardAs1006) {
  this->Settle();
  this->a().Abort();
  EXPECT_FALSE(this->a().connection->is_open());
  EXPECT_EQ(this->a().Send("x"), SendResult::kClosed);
  this->Settle();
  EXPECT_TRUE(this->a().HeardClose({1006, "", true}));
  EXPECT_TRUE(this->b().HeardClose({1006, "", false}));
}

TYPED_TEST_P(ConnectionConformance, AbortEndsTheLinger) {
  this->Settle();
  this->b().SetHandler(nullptr);
  this->a().Close(4000, "first");
  this->a().Abort();
  this->Settle();
  EXPECT_TRUE(this->a().HeardClose({4000, "first", true}));
}

TYPED_TEST_P(ConnectionConformance, BothMayCloseAtOnce) {
  this->Settle();
  this->a().Send("dropped");
  this->b().Send("dropped");
  this->a().Close(4001, "a");
  this->b().Close(4002, "b");
  this->Settle();  // no time passes: neither waits for its linger
  EXPECT_TRUE(this->a().HeardClose({4001, "a", true}));
  EXPECT_TRUE(this->b().HeardClose({4002, "b", true}));
  EXPECT_TRUE(this->a().messages.empty() && this->b().messages.empty());
}

TYPED_TEST_P(ConnectionConformance, BothMayAbortAtOnce) {
  this->Settle();
  this->a().Abort();
  this->b().Abort();
  this->Settle();
  EXPECT_TRUE(this->a().HeardClose({1006, "", true}));
  EXPECT_TRUE(this->b().HeardClose({1006, "", true}));
}

TYPED_TEST_P(ConnectionConformance, MayCloseInsideOnOpen) {
  this->a().on_open = [&] { this->a().Close(4000); };
  this->b().on_open = [&] { this->b().Send("discarded"); };
  this->Settle();
  // A transport may have opened in Connect already.
  if (this->a().closes.empty()) this->a().Close(4000);
  this->Settle();
  EXPECT_TRUE(this->a().HeardClose({4000, "", true}));
  EXPECT_TRUE(this->b().HeardClose({4000, "", false}));
}

TYPED_TEST_P(ConnectionConformance, MayCloseInsideOnMessage) {
  this->Settle();
  for (int i = 0; i < 10; ++i) this->a().Send(std::to_string(i));
  this->a().SendState("newest");
  this->b().on_message = [&] { this->b().Close(4002, "enough"); };
  this->Settle();
  // Both lanes were there; whichever came first was the last.
  EXPECT_EQ(this->b().messages.size(), 1u);
  EXPECT_TRUE(this->b().HeardClose({4002, "enough", true}));
  EXPECT_TRUE(this->a().HeardClose({4002, "enough", false}));
}

TYPED_TEST_P(ConnectionConformance, MayAbortInsideOnMessage) {
  this->Settle();
  for (int i = 0; i < 10; ++i) this->a().Send(std::to_string(i));
  this->b().on_message = [&] { this->b().Abort(); };
  this->Settle();
  EXPECT_EQ(this->b().messages.size(), 1u);
  EXPECT_TRUE(this->b().HeardClose({1006, "", true}));
  EXPECT_TRUE(this->a().HeardClose({1006, "", false}));
}

TYPED_TEST_P(ConnectionConformance, MayCloseInsideOnWritable) {
  this->Settle();
  this->a().on_writable = [&] { this->a().Close(4000); };
  for (int i = 0; i < 12; ++i) this->a().Send(this->Filled(1'000));
  this->Settle();
  EXPECT_EQ(this->a().writables, 1);
  EXPECT_TRUE(this->a().HeardClose({4000, "", true}));
  EXPECT_TRUE(this->b().HeardClose({4000, "", false}));
}

TYPED_TEST_P(ConnectionConformance, CallsInsideOnCloseDoNothing) {
  this->Settle();
  this->b().on_close = [&] {
    EXPECT_EQ(this->b().Send("x"), SendResult::kClosed);
    this->b().Close(1000);
    this->b().Abort();
  };
  this->a().on_close = this->b().on_close;
  this->a().Close(4000);
  this->Settle();
  EXPECT_TRUE(this->a().HeardClose({4000, "", true}));
  EXPECT_TRUE(this->b().HeardClose({4000, "", false}));
}

// ---- Rule 5: a clean close comes behind what was sent before it.

TYPED_TEST_P(ConnectionConformance, OurQueueIsDroppedWhenThePeerCloses) {
  this->Settle();
  this->a().Send("last");
  this->a().Close(1000);
  this->b().on_message = [&] { this->b().Send("into the void"); };
  this->Settle();
  EXPECT_EQ(this->b().reliable(), std::vector<std::string>{"last"});
  EXPECT_TRUE(this->a().messages.empty());
  EXPECT_TRUE(this->b().HeardClose({1000, "", false}));
  EXPECT_EQ(this->b().connection->queued_bytes(Lane::kReliable), 0u);
}

// ---- Rule 6: the lanes.

TYPED_TEST_P(ConnectionConformance, TheStateLaneKeepsTheNewest) {
  this->Settle();
  EXPECT_EQ(this->a().SendState("old"), SendResult::kQueued);
  EXPECT_EQ(this->a().SendState("newer"), SendResult::kReplaced);
  EXPECT_EQ(this->a().SendState("newest"), SendResult::kReplaced);
  this->Settle();
  ASSERT_FALSE(this->b().state().empty());
  EXPECT_EQ(this->b().state().back(), "newest");
  EXPECT_EQ(this->a().SendState("again"), SendResult::kQueued);
  this->Settle();
  EXPECT_EQ(this->b().state().back(), "again");
}

TYPED_TEST_P(ConnectionConformance, TheStateLaneNeverOverflows) {
  this->Settle();
  for (int i = 0; i < 1'000; ++i) {
    const SendResult result = this->a().SendState(this->Filled(1'000));
    ASSERT_TRUE(result == SendResult::kQueued ||
                result == SendResult::kReplaced);
  }
  EXPECT_LE(this->a().connection->queued_bytes(Lane::kState), 1'100u);
  this->Settle();
  EXPECT_TRUE(this->a().connection->is_open());
}

TYPED_TEST_P(ConnectionConformance, OverflowClosesTooSlow) {
  this->Settle();
  const std::vector<std::string> sent = this->FillReliable(this->a());
  EXPECT_FALSE(this->a().connection->is_open());
  EXPECT_EQ(this->a().Send("more"), SendResult::kClosed);
  this->Settle();
  EXPECT_EQ(this->b().reliable(), sent);
  EXPECT_TRUE(this->b().HeardClose({1011, "too slow", false}));
  EXPECT_TRUE(this->a().HeardClose({1011, "too slow", true}));
}

TYPED_TEST_P(ConnectionConformance, TheLimitCountsWhatIsQueuedNow) {
  this->Settle();
  // Ten times the limit, in pieces that the other side takes meanwhile.
  for (int i = 0; i < 160; ++i) {
    ASSERT_EQ(this->a().Send(this->Filled(1'000)), SendResult::kQueued);
    if (i % 8 == 7) this->Settle();
  }
  EXPECT_EQ(this->b().messages.size(), 160u);
}

TYPED_TEST_P(ConnectionConformance, QueuedBytesRiseAndFall) {
  this->Settle();
  EXPECT_EQ(this->a().connection->queued_bytes(Lane::kReliable), 0u);
  EXPECT_EQ(this->a().connection->queued_bytes(Lane::kState), 0u);
  this->a().Send(this->Filled(100));
  this->a().Send(this->Filled(100));
  this->a().SendState(this->Filled(50));
  EXPECT_GE(this->a().connection->queued_bytes(Lane::kReliable), 200u);
  EXPECT_LE(this->a().connection->queued_bytes(Lane::kReliable), 240u);
  EXPECT_GE(this->a().connection->queued_bytes(Lane::kState), 50u);
  EXPECT_LE(this->a().connection->queued_bytes(Lane::kState), 70u);
  this->Settle();
  EXPECT_EQ(this->a().connection->queued_bytes(Lane::kReliable), 0u);
  EXPECT_EQ(this->a().connection->queued_bytes(Lane::kState), 0u);
}

TYPED_TEST_P(ConnectionConformance, OnWritableComesOnceAfterAFullQueue) {
  this->Settle();
  for (int i = 0; i < 4; ++i) this->a().Send(this->Filled(1'000));
  this->Settle();
  EXPECT_EQ(this->a().writables, 0) << "the queue was never above half";
  for (int round = 1; round <= 3; ++round) {
    for (int i = 0; i < 12; ++i) this->a().Send(this->Filled(1'000));
    this->Settle();
    EXPECT_EQ(this->a().writables, round);
  }
}

// ---- Rule 7: sizes and text.

TYPED_TEST_P(ConnectionConformance, TheLargestMessageArrives) {
  this->Settle();
  const std::string largest = this->Filled(this->options().message_bytes_max);
  this->a().Send(largest);
  this->Settle();
  this->a().SendState(largest);
  this->Settle();
  EXPECT_EQ(this->b().reliable(), std::vector{largest});
  EXPECT_EQ(this->b().state(), std::vector{largest});
}

TYPED_TEST_P(ConnectionConformance, ALargerMessageClosesAtTheReceiver) {
  for (Lane lane : {Lane::kReliable, Lane::kState}) {
    this->Connect({});
    this->a().Send("before");
    this->Settle();
    this->a().Send(this->Filled(this->options().message_bytes_max + 1), lane);
    this->Settle();
    EXPECT_EQ(this->b().reliable(), std::vector<std::string>{"before"});
    EXPECT_TRUE(this->b().state().empty());
    EXPECT_TRUE(this->b().HeardClose({1009, "message size", true}));
    EXPECT_TRUE(this->a().HeardClose({1009, "message size", false}));
  }
}

TYPED_TEST_P(ConnectionConformance, TextThatIsNotUtf8ClosesAtTheReceiver) {
  // A lone tail, an overlong slash, a surrogate, above U+10FFFF, and cut off.
  for (const char* text :
       {"\x80", "\xc0\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80",
        "all but the last byte \xe4\xb8"}) {
    for (Lane lane : {Lane::kReliable, Lane::kState}) {
      SCOPED_TRACE(text);
      this->Connect({});
      this->a().Send("before");
      this->Settle();
      this->a().Send(text, lane, MessageKind::kText);
      this->Settle();
      EXPECT_EQ(this->b().reliable(), std::vector<std::string>{"before"});
      EXPECT_TRUE(this->b().state().empty());
      EXPECT_TRUE(this->b().HeardClose({1007, "text is not UTF-8", true}));
      EXPECT_TRUE(this->a().HeardClose({1007, "text is not UTF-8", false}));
    }
  }
}

TYPED_TEST_P(ConnectionConformance, TextOfAllLengthsArrives) {
  // The first and the last character of each length, and some between.
  const std::string text =
      "a\x7f \u0080\u0436\u07ff \u0800\u4e2d\ud7ff\ue000\uffff "
      "\U00010000\U0001f600\U0010ffff";
  for (Lane lane : {Lane::kReliable, Lane::kState}) {
    this->b().messages.clear();
    this->a().Send(text, lane, MessageKind::kText);
    this->Settle();
    const std::vector<ConformanceMessage> expected = {
        {lane, MessageKind::kText, text}};
    EXPECT_EQ(this->b().messages, expected);
  }
}

TYPED_TEST_P(ConnectionConformance, BinaryNeedNotBeText) {
  std::string bytes;
  for (int byte = 0; byte < 256; ++byte) bytes += static_cast<char>(byte);
  this->a().Send(bytes);
  this->a().SendState(bytes);
  this->Settle();
  EXPECT_EQ(this->b().reliable(), std::vector{bytes});
  EXPECT_EQ(this->b().state(), std::vector{bytes});
}

TYPED_TEST_P(ConnectionConformance, TooLargeIsSaidBeforeNotText) {
  this->Settle();
  this->a().Send(this->Filled(this->options().message_bytes_max + 1, '\xff'),
                 Lane::kReliable, MessageKind::kText);
  this->Settle();
  EXPECT_TRUE(this->b().HeardClose({1009, "message size", true}));
}

// ---- Rule 9: an identity is verified or empty.

TYPED_TEST_P(ConnectionConformance, ThePeerCannotNameItself) {
  this->Settle();
  this->a().Send("{\"identity\":\"root\"}", Lane::kReliable,
                 MessageKind::kText);
  this->Settle();
  EXPECT_EQ(this->b().connection->identity(), "");
}

// ---- Handlers.

TYPED_TEST_P(ConnectionConformance, EventsWaitForAHandler) {
  this->Connect({}, /*with_handlers=*/false);
  this->a().Send("1");
  this->a().SendState("old");
  this->Settle();
  this->a().Send("2");
  this->a().SendState("new");
  this->a().Close(4000, "gone");
  this->Settle();
  EXPECT_EQ(this->b().opens, 0);
  this->b().SetHandler(&this->b());
  this->Settle();
  EXPECT_EQ(this->b().opens, 1);
  EXPECT_EQ(this->b().reliable(), (std::vector<std::string>{"1", "2"}));
  ASSERT_FALSE(this->b().state().empty());
  EXPECT_EQ(this->b().state().back(), "new");
  EXPECT_TRUE(this->b().HeardClose({4000, "gone", false}));
  this->a().SetHandler(&this->a());
  this->Settle();
  EXPECT_TRUE(this->a().HeardClose({4000, "gone", true}));
}

TYPED_TEST_P(ConnectionConformance, AHandlerMayLeaveInsideItsCallback) {
  this->Settle();
  for (int i = 0; i < 4; ++i) this->a().Send(std::to_string(i));
  this->a().Close(1000);
  this->b().on_message = [&] { this->b().SetHandler(nullptr); };
  for (std::size_t heard = 1; heard <= 4; ++heard) {
    this->Settle();
    EXPECT_EQ(this->b().messages.size(), heard);
    this->b().SetHandler(&this->b());
  }
  this->Settle();
  EXPECT_EQ(this->b().reliable(),
            (std::vector<std::string>{"0", "1", "2", "3"}));
  EXPECT_TRUE(this->b().HeardClose({1000, "", false}));
}

TYPED_TEST_P(ConnectionConformance, AHandlerMayPassTheConnectionOn) {
  int calls = 0;
  ConformanceEnd next(calls);
  next.opens = 1;  // it takes over an open one
  this->Settle();
  this->a().Send("to the first");
  this->a().Send("to the next");
  this->b().on_message = [&] { this->b().SetHandler(&next); };
  this->Settle();
  EXPECT_EQ(this->b().reliable(), std::vector<std::string>{"to the first"});
  EXPECT_EQ(next.reliable(), std::vector<std::string>{"to the next"});
  this->b().Destroy();
}

// ---- Lifetime.

TYPED_TEST_P(ConnectionConformance, MayDieInsideItsOnClose) {
  this->Settle();
  this->a().on_close = [&] { this->a().connection.reset(); };
  this->b().on_close = [&] { this->b().connection.reset(); };
  this->a().Send("x");
  this->a().Close(4000, "text outlives the end");
  this->Settle();
  EXPECT_TRUE(this->a().HeardClose({4000, "text outlives the end", true}));
  EXPECT_TRUE(this->b().HeardClose({4000, "text outlives the end", false}));
  EXPECT_EQ(this->a().connection, nullptr);
  EXPECT_EQ(this->b().connection, nullptr);
}

TYPED_TEST_P(ConnectionConformance, DestructionIsAnAbort) {
  this->Settle();
  this->a().Destroy();
  this->Settle();
  EXPECT_TRUE(this->a().closes.empty());
  EXPECT_TRUE(this->b().HeardClose({1006, "", false}));
}

TYPED_TEST_P(ConnectionConformance, SendingToADestroyedEndIsHarmless) {
  this->Settle();
  this->a().Destroy();
  for (int i = 0; i < 100; ++i) {
    this->b().Send(this->Filled(1'000));
    this->b().SendState("x");
  }
  this->Settle();
  EXPECT_EQ(this->b().closes.size(), 1u);
}

TYPED_TEST_P(ConnectionConformance, TheOtherEndMayDieInsideACallback) {
  this->Settle();
  this->a().Send("1");
  this->a().Send("2");
  this->b().on_message = [&] {
    if (this->a().connection != nullptr) this->a().Destroy();
  };
  this->Settle();
  EXPECT_TRUE(this->a().closes.empty());
  EXPECT_TRUE(this->b().HeardClose({1006, "", false}));
}

TYPED_TEST_P(ConnectionConformance, BothMayDieUnclosed) {
  this->Settle();
  this->a().Send("x");
  this->b().SendState("y");
  this->a().Destroy();
  this->b().Destroy();
  this->AdvancePastLinger();
  EXPECT_TRUE(this->a().closes.empty() && this->b().closes.empty());
}

TYPED_TEST_P(ConnectionConformance, AClosingEndMayDie) {
  this->Settle();
  this->a().Close(1000);
  this->a().Destroy();
  this->AdvancePastLinger();
  EXPECT_TRUE(this->a().closes.empty());
  ASSERT_EQ(this->b().closes.size(), 1u);
  EXPECT_FALSE(this->b().closes[0].by_us);
}

// ---- All rules at once: random actions, outside and inside callbacks,
// against a model of who did what first.

template <typename Link>
class ConformanceModel {
 public:
  explicit ConformanceModel(std::uint64_t seed)
      : random_(seed, /*stream=*/1), link_(seed) {
    ConformanceEnds ends =
        link_.Connect(options_, &sides_[0].end, &sides_[1].end);
    sides_[0].end.connection = std::move(ends.first);
    sides_[1].end.connection = std::move(ends.second);
    for (std::size_t i = 0; i < 2; ++i) {
      ConformanceEnd& end = sides_[i].end;
      end.on_open = end.on_message = end.on_writable = [this, i] {
        if (acting_ && random_.Chance(1, 4)) Act(random_.Below(2), i);
      };
      end.on_close = [this, i] {
        if (random_.Chance(1, 2)) sides_[i].end.connection.reset();
      };
    }
  }

  void Run(int actions) {
    for (int i = 0; i < actions && !testing::Test::HasFailure(); ++i) {
      const std::uint32_t draw = random_.Below(10);
      if (draw < 6) {
        Act(random_.Below(2), kOutside);
      } else if (draw < 9) {
        for (std::uint32_t n = random_.Below(6); n > 0 && link_.Step(); --n) {
        }
      } else {
        Advance(random_.Below(300));
      }
      for (std::size_t side = 0; side < 2; ++side) CheckPrefix(side);
    }
    acting_ = false;
    for (Side& side : sides_) {
      if (side.end.connection) side.end.SetHandler(&side.end);
    }
    link_.Settle();
    Advance(options_.linger_ms + 1);
    link_.Settle();
    for (std::size_t side = 0; side < 2; ++side) CheckEnd(side);
  }

 private:
  struct Side {
    explicit Side(int& calls) : end(calls) {}

    ConformanceEnd end;
    std::vector<std::string> reliable;  // accepted from it
    std::vector<std::string> state;
    std::optional<ConformanceClose> closed;  // by it
    std::int64_t closed_at_ms = 0;
    bool cut = false;  // aborted or destroyed: nothing need arrive
  };

  // Acts on one side, outside or inside a callback of side `inside`.
  static constexpr std::size_t kOutside = 2;
  void Act(std::size_t index, std::size_t inside) {
    Side& side = sides_[index];
    if (side.end.connection == nullptr) return;
    const std::uint32_t draw = random_.Below(64);
    if (draw < 36) return SendReliable(side);
    if (draw < 50) return SendState(side);
    if (draw < 54) return side.end.SetHandler(nullptr);
    if (draw < 60) return side.end.SetHandler(&side.end);
    if (draw == 60) return Close(side);
    if (draw == 61) return Abort(side);
    // Not inside one of its own callbacks.
    if (draw == 62 && inside != index) return Destroy(side);
    if (inside == kOutside) link_.Settle();
  }

  void SendReliable(Side& side) {
    const std::string bytes =
        std::to_string(++messages_) + std::string(random_.Below(700), 'r');
    switch (side.end.Send(bytes)) {
      case SendResult::kQueued:
        side.reliable.push_back(bytes);
        return;
      case SendResult::kOverflow:
        return Closed(side, {1011, "too slow", true});
      case SendResult::kClosed:
        EXPECT_TRUE(!side.end.connection->is_open() || ended());
        return;
      case SendResult::kReplaced:
        ADD_FAILURE() << "a reliable message was replaced";
    }
  }

  void SendState(Side& side) {
    const std::string bytes = std::to_string(++messages_);
    const SendResult result = side.end.SendState(bytes);
    EXPECT_NE(result, SendResult::kOverflow);
    if (result != SendResult::kClosed) side.state.push_back(bytes);
  }

  void Close(Side& side) {
    const auto code = static_cast<CloseCode>(3000 + random_.Below(2000));
    const std::string text = std::to_string(code);
    const bool first = side.end.connection->is_open();
    side.end.Close(code, text);
    if (first) Closed(side, {code, text, true});
  }

  void Abort(Side& side) {
    if (side.end.connection->is_open()) Closed(side, {1006, "", true});
    if (side.end.closes.empty()) side.cut = true;
    side.end.Abort();
  }

  void Destroy(Side& side) {
    if (side.end.connection == nullptr) return;
    if (side.end.closes.empty()) side.cut = true;
    side.end.Destroy();
  }

  void Closed(Side& side, ConformanceClose close) {
    side.closed = std::move(close);
    side.closed_at_ms = now_ms_;
  }

  void Advance(std::int64_t ms) {
    now_ms_ += ms;
    link_.Advance(std::chrono::milliseconds(ms));
  }

  bool ended() const {
    return sides_[0].closed || sides_[1].closed || sides_[0].cut ||
           sides_[1].cut;
  }

  // What one side heard is a beginning of what the other sent, and on the
  // state lane nothing that was never sent.
  void CheckPrefix(std::size_t index) const {
    const std::vector<std::string>& sent = sides_[1 - index].reliable;
    const std::vector<std::string> heard = sides_[index].end.reliable();
    ASSERT_LE(heard.size(), sent.size());
    EXPECT_TRUE(std::equal(heard.begin(), heard.end(), sent.begin()));
    const std::vector<std::string>& states = sides_[1 - index].state;
    for (const std::string& bytes : sides_[index].end.state()) {
      EXPECT_TRUE(std::count(states.begin(), states.end(), bytes)) << bytes;
    }
  }

  void CheckEnd(std::size_t index) const {
    const Side& side = sides_[index];
    const Side& other = sides_[1 - index];
    const ConformanceEnd& end = side.end;
    if (side.cut && end.connection == nullptr && end.closes.empty()) return;
    if (!side.closed && !other.closed && !other.cut) {
      EXPECT_TRUE(end.closes.empty());
      EXPECT_TRUE(end.reliable() == other.reliable);
      return;
    }
    ASSERT_EQ(end.closes.size(), 1u) << "OnClose comes exactly once";
    const ConformanceClose& heard = end.closes[0];
    if (heard.by_us) {
      ASSERT_TRUE(side.closed);
      EXPECT_EQ(heard, *side.closed);
      return;
    }
    EXPECT_FALSE(side.closed) << "its own close counts";
    if (heard.code == close_code::kDropped) {
      EXPECT_TRUE(other.cut || (other.closed && LingerMayHaveEnded(other)));
      return;
    }
    ASSERT_TRUE(other.closed);
    EXPECT_EQ(heard.code, other.closed->code);
    EXPECT_EQ(heard.text, other.closed->text);
    EXPECT_TRUE(end.reliable() == other.reliable) << "the close came too early";
  }

  bool LingerMayHaveEnded(const Side& side) const {
    return now_ms_ - side.closed_at_ms >= options_.linger_ms;
  }

  ConformanceOptions options_;
  Random random_;
  std::int64_t now_ms_ = 0;
  int messages_ = 0;
  int calls_ = 0;
  bool acting_ = true;
  Link link_;
  std::array<Side, 2> sides_{Side(calls_), Side(calls_)};
};

// For transports on which a step costs more.
template <typename Link>
constexpr std::uint64_t RandomRunsOf() {
  if constexpr (requires { Link::kRandomRuns; }) {
    return Link::kRandomRuns;
  } else {
    return 3'000;
  }
}

TYPED_TEST_P(ConnectionConformance, KeepsTheRulesUnderRandomActions) {
  const std::uint64_t first = test::TestSeed();
  const std::uint64_t runs = RandomRunsOf<TypeParam>();
  for (std::uint64_t seed = first; seed < first + runs; ++seed) {
    SCOPED_TRACE(testing::Message() << "PARLOR_SEED=" << seed);
    ConformanceModel<TypeParam>(seed).Run(80);
    if (this->HasFailure()) return;
  }
}

// clang-format off: one name a line
REGISTER_TYPED_TEST_SUITE_P(
    ConnectionConformance, DeliversInOrderBothWays, SendCopies,
    ZeroBytesAreAMessage, KeepsTextAndBinaryApart, SendsASharedPayload,
    NothingHappensWithoutAStep, EndsMayAnswerEachOtherInsideCallbacks,
    OpensOnce, CloseIsHeardOnBothSides, ClosesAtOnceWithoutEverOpening,
    ClosedAnswersEverySend, DiscardsWhatArrivesAfterOurClose,
    TheFirstCloseCounts, CloseCarriesEveryCodeAndTheLongestText,
    CloseFlushesWhatWasQueued, TheLingerEndsAnUnreadClose, AbortIsHeardAs1006,
    AbortEndsTheLinger, BothMayCloseAtOnce, BothMayAbortAtOnce,
    MayCloseInsideOnOpen, MayCloseInsideOnMessage, MayAbortInsideOnMessage,
    MayCloseInsideOnWritable, CallsInsideOnCloseDoNothing,
    OurQueueIsDroppedWhenThePeerCloses, TheStateLaneKeepsTheNewest,
    TheStateLaneNeverOverflows, OverflowClosesTooSlow,
    TheLimitCountsWhatIsQueuedNow, QueuedBytesRiseAndFall,
    OnWritableComesOnceAfterAFullQueue, TheLargestMessageArrives,
    ALargerMessageClosesAtTheReceiver, TextThatIsNotUtf8ClosesAtTheReceiver,
    TextOfAllLengthsArrives, BinaryNeedNotBeText, TooLargeIsSaidBeforeNotText,
    ThePeerCannotNameItself, EventsWaitForAHandler,
    AHandlerMayLeaveInsideItsCallback, AHandlerMayPassTheConnectionOn,
    MayDieInsideItsOnClose, DestructionIsAnAbort,
    SendingToADestroyedEndIsHarmless, TheOtherEndMayDieInsideACallback,
    BothMayDieUnclosed, AClosingEndMayDie, KeepsTheRulesUnderRandomActions);
// clang-format on

}  // namespace parlor

#endif  // PARLOR_TESTS_SUPPORT_CONNECTION_CONFORMANCE_H_
