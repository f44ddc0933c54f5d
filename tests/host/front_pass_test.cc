// Clients of a front that wait for the access store: it answers late, in any
// order or never, and they may be gone by then.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "host/front_fixture.h"
#include "logic/front.h"
#include "logic/front_client.h"
#include "logic/gate.h"
#include "logic/handover.h"
#include "logic/pass.h"
#include "parlor/host/access_store.h"
#include "parlor/host/address.h"
#include "parlor/transports/net_listener.h"
#include "parlor/transports/request.h"
#include "stream/byte_stream.h"
#include "support/raw_client.h"

namespace parlor::host {
namespace {

using stream::IoStatus;
using test::RawClient;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::StartsWith;

constexpr std::string_view kSecret = "0123456789abcdef0123456789abcdef";
constexpr std::string_view kDevice = "abcdefghijklmnop-_";
constexpr std::string_view kTarget = "/room/3?players=2";

constexpr NetTransport kTransports[] = {NetTransport::kWebSocket,
                                        NetTransport::kTcp};

const std::string kLetIn =
    Json("200 OK", R"({"ok":true,"players":4,"pass":true})");
const std::string kUnavailable =
    Answer("503 Service Unavailable", "Cache-Control: no-store\r\n");

std::string Refused(std::string_view why) {
  return Json("403 Forbidden",
              R"({"ok":false,"pass":true,"why":")" + std::string(why) + "\"}");
}

class FrontPassTest : public FrontTest {
 protected:
  FrontPassTest() {
    gate_options_.passes = true;
    gate_options_.pass_secret = kSecret;
    options_.store_ms = 3'000;  // no other time
    Make();
  }

  // A pass of its own each time.
  std::string NextPass() {
    return WritePass({.id = ++pass_, .expires_s = kWallSeconds + 60}, kSecret);
  }
  std::string PostPass() {
    return Post(NextPass() + "\n" + std::string(kDevice));
  }
  std::string Hello(NetTransport transport, bool resumes = false) {
    Request request{.target = std::string(kTarget),
                    .protocols = {"fizlet-rooms", "pass." + NextPass(),
                                  "device." + std::string(kDevice)}};
    if (resumes) request.protocols.emplace_back("resume.1f");
    if (transport == NetTransport::kTcp) return TcpHello(request);
    std::string headers(kUpgrade);
    for (const std::string& protocol : request.protocols) {
      headers += "Sec-WebSocket-Protocol: " + protocol + "\r\n";
    }
    return Http("GET " + request.target, headers);
  }

  // What the store says to the question that was asked as the n-th.
  void Say(std::size_t n, PassAnswer answer) {
    ASSERT_LT(n, asked_.size());
    loop_.Post([hook = asked_[n].answer, answer] { hook(answer); });
    Run();
  }

  // One whose question is on its way.
  std::unique_ptr<RawClient> Waiting(NetTransport transport,
                                     std::string_view address = "192.0.2.1") {
    const std::size_t before = asked_.size();
    auto client = Connect(address, transport);
    client->Say(Hello(transport));
    Run();
    EXPECT_THAT(asked_, SizeIs(before + 1));
    return client;
  }

  // The refusal of a room.
  static std::string RoomRefusal(NetTransport transport, std::uint16_t status,
                                 std::string_view over_http) {
    if (transport == NetTransport::kWebSocket) return Last(over_http);
    std::string frame("\7\6\0\0??\0\0\0\0", 10);
    frame[4] = static_cast<char>(status & 0xff);
    frame[5] = static_cast<char>(status >> 8);
    return frame;
  }

  std::uint64_t pass_ = 0;
};

// Whatever comes before the answer goes along, and whatever comes later.
TEST_F(FrontPassTest, AJoinWaits) {
  const std::string frames("\x82\x8c\0\0\0\0frame of 12 bytes\xff\n\n", 26);
  for (const NetTransport transport : kTransports) {
    const std::size_t whole = Hello(transport).size() + frames.size();
    for (std::size_t cut = 0; cut <= whole; ++cut) {
      SCOPED_TRACE(cut);
      const std::string text = Hello(transport) + frames;
      const std::string address = NextAddress();
      const auto client = Connect(address, transport);
      client->Say(text.substr(0, cut));
      Run();
      const bool asked = !asked_.empty();
      if (asked) Say(0, PassAnswer::kLetIn);
      client->Say(text.substr(cut));
      Run();
      ASSERT_THAT(asked_, SizeIs(1));
      EXPECT_EQ(asked_[0].use.pass, pass_);
      EXPECT_EQ(asked_[0].use.device, HashDevice(pass_, kDevice));
      if (!asked) {
        EXPECT_THAT(handovers_, IsEmpty());
        EXPECT_EQ(front_->unseated(), 1u);
        RunFor(options_.store_ms - 1);
        Say(0, PassAnswer::kLetIn);
      }
      EXPECT_EQ(front_->unseated(), 0u);
      ASSERT_THAT(handovers_, SizeIs(1));
      Handover handover = std::move(handovers_.front());
      handovers_.clear();
      asked_.clear();
      EXPECT_EQ(handover.hello.room, 3u);
      EXPECT_EQ(handover.hello.players, 2);
      EXPECT_EQ(handover.address, *Address::Parse(address));
      EXPECT_THAT(
          handover.handshake->Accept("fizlet-rooms"),
          StartsWith(transport == NetTransport::kTcp ? "\6" : "HTTP/1.1 101 "));
      const auto stream = handover.stream->Unpark(shard_loop_);
      EXPECT_EQ(TextOf(handover.unread) + ReadAll(*stream), frames);
      EXPECT_THAT(client->heard(), IsEmpty());
      EXPECT_EQ(client->ended(), IoStatus::kOk);
    }
  }
}

TEST_F(FrontPassTest, TheStoreMayRefuse) {
  struct Case {
    PassAnswer said;
    std::uint16_t status;
    std::string_view over_http;
  };
  for (const Case& row :
       {Case{PassAnswer::kRevoked, 403, "403 Forbidden"},
        Case{PassAnswer::kOtherDevice, 403, "403 Forbidden"},
        Case{PassAnswer::kFailed, 503, "503 Service Unavailable"}}) {
    for (const NetTransport transport : kTransports) {
      SCOPED_TRACE(row.over_http);
      const auto client = Waiting(transport);
      Say(asked_.size() - 1, row.said);
      EXPECT_EQ(client->heard(),
                RoomRefusal(transport, row.status, row.over_http));
      EXPECT_EQ(client->ended(), IoStatus::kEnd);
      EXPECT_EQ(front_->unseated(), 0u);
    }
  }
  EXPECT_THAT(handovers_, IsEmpty());
}

TEST_F(FrontPassTest, AnInviteIsToldWhatTheStoreSaid) {
  const auto client = Connect();
  const auto hear = [&](PassAnswer said) {
    client->Say(PostPass());
    Run();
    EXPECT_THAT(client->heard(), IsEmpty());
    Say(asked_.size() - 1, said);
    return client->Take();
  };
  EXPECT_EQ(hear(PassAnswer::kLetIn), kLetIn);
  EXPECT_EQ(hear(PassAnswer::kRevoked), Refused("pass revoked"));
  EXPECT_EQ(hear(PassAnswer::kOtherDevice),
            Refused("pass in use on another device"));
  EXPECT_EQ(hear(PassAnswer::kFailed), kUnavailable);
  // What the gate can tell is told at once.
  client->Say(Post(WritePass({.expires_s = kWallSeconds}, kSecret) + "\r\n" +
                   std::string(kDevice)));
  client->Say(Post(kCode));
  Run();
  EXPECT_EQ(client->heard(), Refused("pass expired") + kLetIn);
  EXPECT_THAT(asked_, SizeIs(4));
}

// However they are cut, and one question at a time.
TEST_F(FrontPassTest, PipelinedRequestsWaitTheirTurn) {
  const std::size_t size = 2 * PostPass().size() + 2 * kHealth.size();
  for (std::size_t cut = 0; cut <= size; ++cut) {
    SCOPED_TRACE(cut);
    asked_.clear();
    const std::string text = kHealth + PostPass() + PostPass() + kHealth;
    const auto client = Connect(NextAddress());
    client->Say(text.substr(0, cut));
    Run();
    client->Say(text.substr(cut));
    Run();
    EXPECT_EQ(client->Take(), kHealthy);
    ASSERT_THAT(asked_, SizeIs(1));
    Say(0, PassAnswer::kRevoked);
    EXPECT_EQ(client->Take(), Refused("pass revoked"));
    ASSERT_THAT(asked_, SizeIs(2));
    // The first is no answer to the second.
    Say(0, PassAnswer::kRevoked);
    EXPECT_EQ(client->Take(), "");
    Say(1, PassAnswer::kLetIn);
    EXPECT_EQ(client->Take(), kLetIn + kHealthy);
    client->Say(kHealth);
    Run();
    EXPECT_EQ(client->Take(), kHealthy);
    front_->DropOldest();
  }
}

TEST_F(FrontPassTest, AJoinMayWaitBehindAnInvite) {
  const auto client = Connect();
  client->Say(PostPass() + Hello(NetTransport::kWebSocket) + "x");
  Run();
  Say(0, PassAnswer::kLetIn);
  EXPECT_EQ(client->Take(), kLetIn);
  EXPECT_THAT(handovers_, IsEmpty());
  Say(1, PassAnswer::kLetIn);
  ASSERT_THAT(handovers_, SizeIs(1));
  EXPECT_EQ(TextOf(handovers_[0].unread), "x");
}

TEST_F(FrontPassTest, NothingIsReadMeanwhile) {
  memory_.buffer_bytes = 1'000;
  const auto client = Connect();
  client->Say(PostPass());
  Run();
  ASSERT_THAT(asked_, SizeIs(1));
  std::string requests;
  for (int i = 0; i < 100; ++i) requests += kHealth;
  std::size_t said = 0;
  for (int i = 0; i < 20; ++i) {
    said += client->SayWhatFits(std::string_view(requests).substr(said));
    Run();
  }
  EXPECT_EQ(said, memory_.buffer_bytes);
  Say(0, PassAnswer::kLetIn);
  for (int i = 0; said < requests.size(); ++i) {
    ASSERT_LT(i, 100);
    said += client->SayWhatFits(std::string_view(requests).substr(said));
    Run();
  }
  std::string answers = kLetIn;
  for (int i = 0; i < 100; ++i) answers += kHealthy;
  EXPECT_EQ(client->heard(), answers);
}

// A body that has come is not asked for, though its answer has not.
TEST_F(FrontPassTest, AWaitingBodyIsNotAskedForAgain) {
  const std::string body = NextPass() + "\n" + std::string(kDevice);
  const auto client = Connect();
  client->Say(Post(body, "Expect: 100-continue\r\n"));
  Run();
  Say(0, PassAnswer::kLetIn);
  EXPECT_EQ(client->heard(), kLetIn);
}

// ---- Time.

TEST_F(FrontPassTest, AJoinIsRefusedWhenTheStoreTakesTooLong) {
  for (const NetTransport transport : kTransports) {
    const auto client = Waiting(transport);
    RunFor(options_.store_ms - 1);
    EXPECT_THAT(client->heard(), IsEmpty());
    RunFor(1);
    EXPECT_EQ(client->heard(),
              RoomRefusal(transport, 503, "503 Service Unavailable"));
    EXPECT_EQ(client->ended(), IoStatus::kEnd);
    EXPECT_EQ(front_->unseated(), 0u);
    Say(asked_.size() - 1, PassAnswer::kLetIn);
    EXPECT_THAT(handovers_, IsEmpty());
  }
}

TEST_F(FrontPassTest, AnInviteGoesOnWhenTheStoreTakesTooLong) {
  const auto client = Connect();
  client->Say(PostPass() + kHealth + PostPass());
  RunFor(options_.store_ms - 1);
  EXPECT_THAT(client->heard(), IsEmpty());
  RunFor(1);
  EXPECT_EQ(client->Take(), kUnavailable + kHealthy);
  // The answer that comes late is not the next question's.
  ASSERT_THAT(asked_, SizeIs(2));
  Say(0, PassAnswer::kLetIn);
  EXPECT_THAT(client->heard(), IsEmpty());
  Say(1, PassAnswer::kOtherDevice);
  EXPECT_EQ(client->Take(), Refused("pass in use on another device"));
  // Then it has the time that everyone has.
  RunFor(options_.idle_ms - 1);
  EXPECT_EQ(client->ended(), IoStatus::kOk);
  RunFor(1);
  EXPECT_EQ(client->ended(), IoStatus::kEnd);
}

// Each question has a time of its own, however many are pipelined.
TEST_F(FrontPassTest, AStoreThatNeverAnswersKeepsNobodyForEver) {
  const auto client = Connect();
  client->Say(PostPass() + PostPass() + Hello(NetTransport::kWebSocket));
  RunFor(3 * options_.store_ms - 1);
  EXPECT_EQ(client->heard(), kUnavailable + kUnavailable);
  EXPECT_EQ(client->ended(), IoStatus::kOk);
  RunFor(1);
  EXPECT_EQ(client->ended(), IoStatus::kEnd);
  EXPECT_EQ(front_->unseated(), 0u);
}

// ---- Who is gone.

TEST_F(FrontPassTest, AnAnswerMayComeWhenNobodyWaits) {
  for (const NetTransport transport : kTransports) {
    const auto client = Waiting(transport);
    EXPECT_TRUE(front_->DropOldest());
    Run();
    EXPECT_EQ(client->ended(), IoStatus::kLost);
    Say(asked_.size() - 1, PassAnswer::kLetIn);
    EXPECT_THAT(handovers_, IsEmpty());
    EXPECT_EQ(front_->unseated(), 0u);
  }
}

TEST_F(FrontPassTest, WhoWaitsCountsAsUnseated) {
  options_.unseated_per_address = 2;
  Make();
  const auto a = Waiting(NetTransport::kWebSocket);
  const auto b = Waiting(NetTransport::kTcp);
  const auto c = Waiting(NetTransport::kWebSocket);
  EXPECT_EQ(a->ended(), IoStatus::kLost);
  EXPECT_EQ(front_->unseated(), 2u);
  // In any order.
  for (const std::size_t n : {2u, 0u, 1u}) Say(n, PassAnswer::kLetIn);
  EXPECT_THAT(handovers_, SizeIs(2));
  EXPECT_EQ(handovers_[0].transport, NetTransport::kWebSocket);
  EXPECT_EQ(handovers_[1].transport, NetTransport::kTcp);
}

TEST_F(FrontPassTest, WhoVanishesWhileHeWaitsIsForgotten) {
  for (const PassAnswer said : {PassAnswer::kRevoked, PassAnswer::kFailed}) {
    const auto client = Waiting(NetTransport::kWebSocket);
    client->Vanish();
    Run();
    Say(asked_.size() - 1, said);
    EXPECT_EQ(front_->unseated(), 0u);
  }
  const auto invited = Connect();
  invited->Say(PostPass() + kHealth);
  Run();
  invited->Vanish();
  Say(asked_.size() - 1, PassAnswer::kLetIn);
  EXPECT_EQ(front_->unseated(), 0u);
  // And whom the store never answers.
  const auto silent = Waiting(NetTransport::kTcp);
  silent->Vanish();
  RunFor(options_.store_ms);
  EXPECT_EQ(front_->unseated(), 0u);
  EXPECT_THAT(handovers_, IsEmpty());
}

// `printf ... | nc`: it has said all, and listens.
TEST_F(FrontPassTest, WhoEndsItsSideIsAnswered) {
  const auto client = Connect();
  client->Say(PostPass() + kHealth);
  client->End();
  Run();
  EXPECT_EQ(client->ended(), IoStatus::kOk);
  Say(0, PassAnswer::kLetIn);
  EXPECT_EQ(client->heard(), kLetIn + kHealthy);
  EXPECT_EQ(client->ended(), IoStatus::kEnd);
  EXPECT_EQ(front_->unseated(), 0u);
}

TEST_F(FrontPassTest, AnAnswerMayOutliveTheFront) {
  const auto a = Waiting(NetTransport::kWebSocket);
  const auto b = Connect();
  b->Say(PostPass());
  Run();
  front_ = nullptr;
  Run();
  EXPECT_EQ(a->ended(), IoStatus::kLost);
  EXPECT_EQ(b->ended(), IoStatus::kLost);
  Say(0, PassAnswer::kLetIn);
  Say(1, PassAnswer::kLetIn);
  EXPECT_THAT(handovers_, IsEmpty());
}

// ---- Who does not take his answers.

TEST_F(FrontPassTest, AnswersMayWaitInFrontOfTheStores) {
  memory_.buffer_bytes = 600;
  for (const bool taken_first : {true, false}) {
    const auto client = Connect(NextAddress());
    client->Listen(false);
    const std::string healths = kHealth + kHealth + kHealth + kHealth + kHealth;
    const std::string answers =
        kHealthy + kHealthy + kHealthy + kHealthy + kHealthy;
    ASSERT_GT(answers.size(), memory_.buffer_bytes);
    client->Say(healths + PostPass());
    Run();
    if (taken_first) {
      client->Listen(true);
      Run();
      // That is no reason to read on: it would be kept in the place of what is
      // kept already.
      client->Say(kHealth);
      Run();
      client->Say(kHealth);
      Run();
      EXPECT_EQ(client->heard(), answers);
    }
    Say(asked_.size() - 1, PassAnswer::kLetIn);
    client->Listen(true);
    client->Say(kHealth);
    Run();
    EXPECT_EQ(client->heard(), answers + kLetIn + kHealthy +
                                   (taken_first ? kHealthy + kHealthy : ""));
    front_->DropOldest();
  }
}

// The time to take them runs on, whatever the store says and when.
TEST_F(FrontPassTest, WhoDoesNotTakeHisAnswersIsCutOffWhetherHeWaitsOrNot) {
  memory_.buffer_bytes = 600;
  for (const bool answered : {true, false}) {
    const auto client = Connect(NextAddress());
    client->Listen(false);
    client->Say(kHealth + kHealth + kHealth + kHealth + kHealth + PostPass());
    RunFor(1'000);
    if (answered) Say(asked_.size() - 1, PassAnswer::kLetIn);
    RunFor(options_.body_ms - 1'001);
    EXPECT_EQ(front_->unseated(), 1u);
    RunFor(1);
    EXPECT_EQ(front_->unseated(), 0u);
  }
}

// The room's answer must not overtake them.
TEST_F(FrontPassTest, HandsNobodyOverWhoDoesNotTakeHisAnswers) {
  memory_.buffer_bytes = 700;
  const auto client = Connect();
  client->Listen(false);
  std::string answers;
  std::string text;
  for (int i = 0; i < 5; ++i) {
    text += kHealth;
    answers += kHealthy;
  }
  ASSERT_GT(answers.size(), memory_.buffer_bytes);
  client->Say(text + Hello(NetTransport::kWebSocket));
  Run();
  Say(0, PassAnswer::kLetIn);
  EXPECT_THAT(handovers_, IsEmpty());
  client->Listen(true);
  Run();
  EXPECT_EQ(client->heard(), answers);
  EXPECT_EQ(client->ended(), IoStatus::kEnd);
}

// ---- The gate's words.

TEST_F(FrontPassTest, ADrainThatBeginsMeanwhileLetsResumesPass) {
  for (const NetTransport transport : kTransports) {
    const auto joins = Connect(NextAddress(), transport);
    joins->Say(Hello(transport));
    const auto resumes = Connect(NextAddress(), transport);
    resumes->Say(Hello(transport, true));
    const auto invited = Connect(NextAddress());
    invited->Say(PostPass());
    Run();
    const std::size_t before = asked_.size() - 3;
    gate_->Drain();
    for (std::size_t i = 0; i < 3; ++i) Say(before + i, PassAnswer::kLetIn);
    EXPECT_EQ(joins->heard(),
              RoomRefusal(transport, 503, "503 Service Unavailable"));
    EXPECT_EQ(invited->heard(), kLetIn);
    ASSERT_THAT(handovers_, SizeIs(1));
    EXPECT_EQ(handovers_[0].hello.resume, "1f");
    handovers_.clear();
    Make();  // a gate that does not drain
  }
}

// Neither is anything asked of the store behind the rate, nor may more fail at
// once than one after the other.
TEST_F(FrontPassTest, RatesComeBeforeTheStore) {
  gate_options_.joins_per_minute = 12;
  Make();
  std::vector<std::unique_ptr<RawClient>> clients;
  for (int i = 0; i < 12; ++i) {
    clients.push_back(Waiting(NetTransport::kWebSocket));
  }
  const std::string late = Last("429 Too Many Requests", "Retry-After: 60\r\n");
  EXPECT_EQ(Ask(Hello(NetTransport::kWebSocket)), late);
  EXPECT_EQ(Ask(PostPass()),
            Answer("429 Too Many Requests",
                   "Cache-Control: no-store\r\nRetry-After: 60\r\n"));
  EXPECT_THAT(asked_, SizeIs(12));
  for (std::size_t i = 0; i < 12; ++i) {
    Say(i, PassAnswer::kRevoked);
    EXPECT_EQ(clients[i]->heard(), i < 4 ? Last("403 Forbidden") : late);
  }
}

// However fast clients leave again, the store has no more to remember.
TEST_F(FrontPassTest, TheStoreIsAskedNoMoreThanMayBeUnseated) {
  options_.unseated_max = 3;
  Make();
  for (int i = 0; i < 3; ++i) {
    Waiting(NetTransport::kWebSocket, NextAddress());
    front_->DropOldest();
  }
  EXPECT_EQ(Ask(Hello(NetTransport::kWebSocket)),
            Last("503 Service Unavailable"));
  EXPECT_EQ(Ask(PostPass() + kHealth), kUnavailable + kHealthy);
  EXPECT_THAT(asked_, SizeIs(3));
  // An answer makes room, though nobody hears it, and so does a question that
  // is given up.
  Say(0, PassAnswer::kLetIn);
  asked_.erase(asked_.begin());
  Waiting(NetTransport::kWebSocket);
  EXPECT_EQ(Ask(PostPass()), kUnavailable);
  asked_.clear();
  for (int i = 0; i < 3; ++i) Waiting(NetTransport::kWebSocket);
  EXPECT_THAT(asked_, SizeIs(3));
}

}  // namespace
}  // namespace parlor::host
