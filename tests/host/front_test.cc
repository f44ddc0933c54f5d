// The front of a host in virtual time, over streams in memory: what it answers
// to what, how long it waits, whom it drops, and whom it hands over.
#include "logic/front.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "host/front_fixture.h"
#include "logic/front_client.h"
#include "logic/gate.h"
#include "logic/handover.h"
#include "parlor/byte_io.h"
#include "parlor/connector.h"
#include "parlor/executor.h"
#include "parlor/host/address.h"
#include "parlor/host/gate_options.h"
#include "parlor/time.h"
#include "parlor/transports/net_listener.h"
#include "parlor/transports/request.h"
#include "stream/byte_stream.h"
#include "stream/http_head.h"
#include "stream/tcp_handshake.h"
#include "stream/tls_stream.h"
#include "support/counting_allocator.h"
#include "support/local_tls.h"
#include "support/memory_stream.h"
#include "support/raw_client.h"
#include "support/seed.h"

namespace parlor::host {
namespace {

using stream::IoStatus;
using test::RawClient;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::StartsWith;

// ---- What is answered to what, however it is cut.

struct Row {
  std::string name;
  std::string request;
  std::string answer;
  bool goes_on = true;  // the next request is answered too

  friend std::ostream& operator<<(std::ostream& out, const Row& row) {
    return out << row.name;
  }
};

constexpr bool kEnds = false;

std::vector<Row> HealthRows() {
  std::string head_only = kHealthy;
  head_only.resize(head_only.find("\r\n\r\n") + 4);
  std::string closing = kHealthy;
  closing.insert(closing.find("\r\n") + 2, kClose);
  const std::string not_allowed =
      Answer("405 Method Not Allowed", "Allow: GET, HEAD\r\n");
  return {
      {"Health", kHealth, kHealthy},
      {"HealthHead", Http("HEAD /healthz"), head_only},
      {"HealthQuery", Http("GET /healthz?a=/invite"), kHealthy},
      {"HealthPost", Http("POST /healthz"), not_allowed},
      {"HealthOptions", Http("OPTIONS /healthz"), not_allowed},
      {"HealthUnknown", Http("BREW /healthz"), Answer("501 Not Implemented")},
      {"HealthCase", Http("get /healthz"), Answer("501 Not Implemented")},
      {"HealthClose", Http("GET /healthz", kClose), closing, kEnds},
      {"HealthCloseInList",
       Http("GET /healthz", "Connection: x\r\nConnection: y, CLOSE\r\n"),
       closing, kEnds},
      {"HealthKeepAlive", Http("GET /healthz", "Connection: keep-alive\r\n"),
       kHealthy},
      // A body that nobody asked for is not read.
      {"HealthBody", Http("GET /healthz", "Content-Length: 2\r\n", "GE"),
       closing, kEnds},
      {"HealthEmptyBody", Http("GET /healthz", "Content-Length: 0\r\n"),
       kHealthy},
      {"HealthChunked",
       Http("GET /healthz", "Transfer-Encoding: chunked\r\n", "0\r\n\r\n"),
       closing, kEnds},
      // There is no h2c here, nor anything else to change to.
      {"HealthUpgrade",
       Http("GET /healthz", "Connection: Upgrade\r\nUpgrade: h2c\r\n"),
       kHealthy},
      {"HealthSlash", Http("GET /healthz/"), Answer("404 Not Found")},
      {"HealthCaseOfPath", Http("GET /Healthz"), Answer("404 Not Found")},
      {"HealthEscaped", Http("GET /health%7a"), Answer("404 Not Found")},
      {"Root", Http("GET /"), Answer("404 Not Found")},
      {"RootHead", Http("HEAD /"), Answer("404 Not Found")},
      {"RootUnknown", Http("BREW /"), Answer("501 Not Implemented")},
      {"RootPost", Http("POST /", "Content-Length: 3\r\n", "abc"),
       Last("404 Not Found"), kEnds},
      {"NoRoomYet", Http("GET /room"), Answer("404 Not Found")},
      {"DoubleSlash", Http("GET //healthz"), Answer("404 Not Found")},
  };
}

std::vector<Row> InviteRows() {
  const std::string let_in = Json("200 OK", R"({"ok":true,"players":4})");
  const std::string refused = Json("403 Forbidden", R"({"ok":false})");
  const std::string too_large = Last("413 Content Too Large");
  const std::string bad = Last("400 Bad Request");
  const std::string not_allowed =
      Answer("405 Method Not Allowed", "Allow: POST\r\n");
  const std::string at_limit = "  " + std::string(kCode);
  const std::string padding(kInviteBodyMax - at_limit.size(), ' ');
  return {
      {"Invite", Post(kCode), let_in},
      {"InviteTrimmed", Post(" \r\n goodcode42\n"), let_in},
      {"InviteWrong", Post("GOODCODE43"), refused},
      {"InviteEmpty", Post(""), refused},
      {"InviteNoLength", Http("POST /invite"), refused},
      {"InviteQuery", Http("POST /invite?code=GOODCODE42"), refused},
      {"InviteChunked", Chunked("5\r\nGOODC\r\n5;a=b\r\nODE42\r\n0\r\n\r\n"),
       let_in},
      {"InviteTrailers", Chunked("a\r\nGOODCODE42\r\n0\r\nHost: b\r\n\r\n"),
       let_in},
      {"InviteClose", Post(kCode, kClose),
       Json("200 OK", R"({"ok":true,"players":4})", kClose), kEnds},
      {"InviteAtLimit", Post(at_limit + padding), let_in},
      {"InviteAboveLimit", Post(at_limit + padding + " "), too_large, kEnds},
      {"InviteHuge",
       Http("POST /invite", "Content-Length: 18446744073709551615\r\n"),
       too_large, kEnds},
      {"InviteChunkAboveLimit", Chunked("401\r\n"), too_large, kEnds},
      {"InviteChunksAboveLimit",
       Chunked("1\r\na\r\n400\r\n" + std::string(1'024, 'a')), too_large,
       kEnds},
      {"InviteChunkBareLf", Chunked("a\nGOODCODE42\n0\n\n"), bad, kEnds},
      {"InviteChunkNoHex", Chunked("x\r\n"), bad, kEnds},
      {"InviteGet", Http("GET /invite"), not_allowed},
      {"InviteHead", Http("HEAD /invite"), not_allowed},
      {"InviteOptions",
       Http("OPTIONS /invite", "Origin: https://a.example\r\n"), not_allowed},
      {"InviteUnknown", Http("BREW /invite"), Answer("501 Not Implemented")},
      {"InviteLengthTwice",
       Http("POST /invite", "Content-Length: 1\r\nContent-Length: 1\r\n", "a"),
       bad, kEnds},
      {"InviteLengthAndChunked",
       Http("POST /invite",
            "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n"),
       bad, kEnds},
      {"InviteOtherCoding",
       Http("POST /invite", "Transfer-Encoding: gzip, chunked\r\n"),
       Last("501 Not Implemented"), kEnds},
  };
}

std::vector<Row> RoomRows() {
  const std::string target = "/room/3?players=2";
  const std::string not_found = Last("404 Not Found");
  const std::string bad = Last("400 Bad Request");
  const std::string forbidden = Last("403 Forbidden");
  const std::string no_upgrade =
      Answer("426 Upgrade Required",
             "Connection: close, Upgrade\r\nUpgrade: websocket\r\n"
             "Sec-WebSocket-Version: 13\r\n");
  const std::string not_get = Last("405 Method Not Allowed", "Allow: GET\r\n");
  std::vector<Row> rows = {
      // The path is looked at first, whatever is asked of it.
      {"RoomNoNumber", Join("/room/?players=2"), not_found},
      {"RoomNotOneOfOurs", Join("/room/10?players=2"), not_found},
      {"RoomZeroBefore", Join("/room/03?players=2"), not_found},
      {"RoomHuge", Join("/room/99999999999999999999?players=2"), not_found},
      {"RoomMore", Join("/room/3/4?players=2"), not_found},
      {"RoomElsewhereAndNoUpgrade", Http("GET /room/10?players=2"), not_found},
      {"RoomElsewhereByPost", Http("POST /room/10?players=2"), not_found},
      {"RoomElsewhereByUnknown", Http("BREW /room/10?players=2"), not_found},
      // Then the upgrade.
      {"RoomByPost", Http("POST /room/3?players=2"), not_get},
      {"RoomByHead", Http("HEAD /room/3?players=2", kUpgrade), not_get},
      {"RoomByUnknown", Http("BREW /room/3?players=2"),
       Last("501 Not Implemented")},
      {"RoomNoUpgrade", Http("GET /room/3?players=2"), no_upgrade},
      {"RoomNoUpgradeNorPlayers", Http("GET /room/3"), no_upgrade},
      {"RoomOtherUpgrade",
       Http("GET /room/3", "Connection: Upgrade\r\nUpgrade: h2c\r\n"),
       no_upgrade},
      {"RoomBody", Join(target, "", "Content-Length: 1\r\n") + "a", bad},
      {"RoomChunked", Join(target, "", "Transfer-Encoding: chunked\r\n"), bad},
      {"RoomProtocolTwice", Join(target, ", fizlet-rooms"), bad},
      // Then the rest of what is asked.
      {"RoomNoPlayers", Join("/room/3"), bad},
      {"RoomPlayersTwice", Join("/room/3?players=2&players=2"), bad},
      {"RoomTooManyPlayers", Join("/room/3?players=5"), bad},
      {"RoomNoProtocol", Http("GET /room/3?players=2", kUpgrade), bad},
      {"RoomCodeTwice", Join(target, ", invite.GOODCODE42"), bad},
      {"RoomNoCode",
       Http("GET /room/3?players=2",
            std::string(kUpgrade) + "Sec-WebSocket-Protocol: fizlet-rooms\r\n"),
       forbidden},
      {"RoomCodeInUrl",
       Http("GET /room/3?players=2&invite=GOODCODE42",
            std::string(kUpgrade) + "Sec-WebSocket-Protocol: fizlet-rooms\r\n"),
       forbidden},
      {"RoomWrongCode",
       Http("GET /room/3?players=2",
            std::string(kUpgrade) + "Sec-WebSocket-Protocol: fizlet-rooms\r\n"
                                    "Sec-WebSocket-Protocol: invite.X\r\n"),
       forbidden},
  };
  for (Row& row : rows) row.goes_on = false;
  return rows;
}

// A request for /healthz whose head is so large.
std::string HeadOf(std::size_t bytes) {
  const std::size_t others = Http("GET /healthz", "X: \r\n").size();
  return Http("GET /healthz",
              "X: " + std::string(bytes - others, 'x') + "\r\n");
}

std::string Headers(int count) {  // Host is one of them
  std::string headers;
  for (int i = 1; i < count; ++i) headers += "X: y\r\n";
  return Http("GET /healthz", headers);
}

std::vector<Row> HeadRows() {
  std::vector<Row> rows;
  const auto bad = [&](const char* name, const std::string& head) {
    rows.push_back({name, head, Last("400 Bad Request"), kEnds});
  };
  bad("BareLf", "GET /healthz HTTP/1.1\nHost: a\n\n");
  bad("BareLfInHeaders", Http("GET /healthz", "X: y\nZ: z\r\n"));
  bad("Folded", Http("GET /healthz", "X: y\r\n z\r\n"));
  bad("TwoHosts", Http("GET /healthz", "Host: a\r\n"));
  bad("NoHost", "GET /healthz HTTP/1.1\r\n\r\n");
  bad("TwoLengths",
      Http("GET /healthz", "Content-Length: 0\r\nContent-Length: 0\r\n"));
  bad("LengthAndCoding",
      Http("GET /healthz",
           "Content-Length: 0\r\nTransfer-Encoding: chunked\r\n"));
  bad("CodingAndLength",
      Http("GET /healthz",
           "Transfer-Encoding: chunked\r\nContent-Length: 0\r\n"));
  bad("NegativeLength", Http("POST /invite", "Content-Length: -1\r\n"));
  bad("LengthAbove64Bit",
      Http("POST /invite", "Content-Length: 18446744073709551616\r\n"));
  bad("SpaceBeforeColon", Http("GET /healthz", "X : y\r\n"));
  bad("EmptyLineFirst", "\r\n" + kHealth);
  bad("WholeUrl", Http("GET http://a/healthz"));
  bad("Star", Http("OPTIONS *"));
  bad("Fragment", Http("GET /healthz#a"));
  bad("Nul", Http("GET /healthz", std::string("X: \0\r\n", 6)));
  bad("Tls", std::string("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 11));
  const auto refuse = [&](const char* name, const std::string& head,
                          const char* status) {
    rows.push_back({name, head, Last(status), kEnds});
  };
  refuse("Http10", "GET /healthz HTTP/1.0\r\nHost: a\r\n\r\n",
         "505 HTTP Version Not Supported");
  refuse("Http2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
         "505 HTTP Version Not Supported");
  refuse("OtherCoding", Http("GET /healthz", "Transfer-Encoding: gzip\r\n"),
         "501 Not Implemented");
  rows.push_back({"Headers64", Headers(64), kHealthy});
  refuse("Headers65", Headers(65), "431 Request Header Fields Too Large");
  rows.push_back({"Head8K", HeadOf(stream::kHttpHeadBytesMax), kHealthy});
  refuse("Head8KAnd1", HeadOf(stream::kHttpHeadBytesMax + 1),
         "431 Request Header Fields Too Large");
  return rows;
}

std::vector<Row> AllRows() {
  std::vector<Row> all;
  for (auto* rows : {HealthRows, InviteRows, RoomRows, HeadRows}) {
    std::vector<Row> some = rows();
    std::move(some.begin(), some.end(), std::back_inserter(all));
  }
  return all;
}

class FrontAnswersTest : public FrontTest,
                         public ::testing::WithParamInterface<Row> {
 protected:
  // The request in these pieces, each read by itself, then another request.
  void Check(std::string_view text, std::size_t piece) {
    const Row& row = GetParam();
    const auto client = Connect(NextAddress());
    // The first piece may be another size, so that every cut comes up.
    for (std::size_t size = piece; !text.empty(); size = text.size()) {
      size = std::min(size, text.size());
      client->Say(text.substr(0, size));
      text.remove_prefix(size);
      Run();
    }
    EXPECT_EQ(client->Take(), row.answer);
    ASSERT_EQ(client->ended(), row.goes_on ? IoStatus::kOk : IoStatus::kEnd);
    client->Say(kHealth);
    Run();
    EXPECT_EQ(client->Take(), row.goes_on ? kHealthy : "");
    EXPECT_EQ(front_->unseated(), row.goes_on ? 1u : 0u);
    EXPECT_THAT(handovers_, IsEmpty());
    front_->DropOldest();
  }
};

TEST_P(FrontAnswersTest, HoweverItIsCut) {
  const std::string& text = GetParam().request;
  // Long ones are long because of one header or chunk, all of which is alike.
  const std::size_t step = text.size() > 1'000 ? 97 : 1;
  for (std::size_t cut = text.size();; cut -= std::min(cut, step)) {
    SCOPED_TRACE("cut at " + std::to_string(cut));
    ASSERT_NO_FATAL_FAILURE(Check(text, cut));
    if (cut == 0 || HasFailure()) break;
  }
}

// Bytes by ones and twos, both ways.
TEST_P(FrontAnswersTest, InCrumbs) {
  memory_.piece_bytes_max = 2;
  ASSERT_NO_FATAL_FAILURE(Check(GetParam().request, SIZE_MAX));
}

INSTANTIATE_TEST_SUITE_P(Rows, FrontAnswersTest, ::testing::ValuesIn(AllRows()),
                         [](const auto& row) { return row.param.name; });

// ---- One connection, many requests.

TEST_F(FrontTest, PipelinedRequestsAreAnsweredInOrder) {
  const auto client = Connect();
  std::string all;
  std::string answers;
  for (int i = 0; i < 200; ++i) {
    all += kHealth + Http("GET /nothing") + Post("WRONGCODE0");
    answers += kHealthy + Answer("404 Not Found");
    // As many as an address may ask in a minute (options).
    answers += i < 20
                   ? Json("403 Forbidden", R"({"ok":false})")
                   : Answer("429 Too Many Requests",
                            "Cache-Control: no-store\r\nRetry-After: 60\r\n");
  }
  client->Say(all + Http("GET /healthz", kClose) + kHealth);
  Run();
  answers += Json("200 OK", R"({"ok":true,"rooms":3,"players":7,"uptime":99})",
                  kClose);
  EXPECT_EQ(client->heard(), answers);
  EXPECT_EQ(client->ended(), IoStatus::kEnd);
}

TEST_F(FrontTest, AWaitingBodyIsAskedFor) {
  const auto client = Connect();
  const std::string expect = "Content-Length: 10\r\nExpect: 100-continue\r\n";
  client->Say(Http("POST /invite", expect));
  Run();
  EXPECT_EQ(client->Take(), "HTTP/1.1 100 Continue\r\n\r\n");
  client->Say(kCode);
  Run();
  EXPECT_THAT(client->Take(), StartsWith("HTTP/1.1 200 OK\r\n"));
  // Not when it comes anyway, nor when it is too large.
  client->Say(Http("POST /invite", expect, kCode));
  Run();
  EXPECT_THAT(client->Take(), StartsWith("HTTP/1.1 200 OK\r\n"));
  client->Say(
      Http("POST /invite", "Content-Length: 1025\r\nExpect: 100-continue\r\n"));
  Run();
  EXPECT_EQ(client->heard(), Last("413 Content Too Large"));
}

// `printf ... | nc`: it has said all, and listens.
TEST_F(FrontTest, WhoEndsItsSideIsAnswered) {
  const auto client = Connect();
  client->Say(kHealth + kHealth);
  client->End();
  Run();
  EXPECT_EQ(client->heard(), kHealthy + kHealthy);
  EXPECT_EQ(client->ended(), IoStatus::kEnd);
  EXPECT_EQ(front_->unseated(), 0u);
  EXPECT_EQ(loop_.draining(), 0u);
}

TEST_F(FrontTest, WhoEndsInARequestIsCutOff) {
  for (const std::string& half : {std::string(), kHealth.substr(0, 9),
                                  Post(kCode).substr(0, 60), kHealth + "G"}) {
    SCOPED_TRACE(half);
    const auto client = Connect();
    client->Say(half);
    client->End();
    Run();
    EXPECT_EQ(client->ended(), IoStatus::kLost);
    EXPECT_EQ(front_->unseated(), 0u);
  }
}

TEST_F(FrontTest, WhoVanishesIsForgotten) {
  const auto a = Connect();
  const auto b = Connect();
  EXPECT_EQ(front_->unseated(), 2u);
  a->Vanish();
  b->Say(Http("GET /healthz") + "GET");
  b->Vanish();
  Run();
  EXPECT_EQ(front_->unseated(), 0u);
}

// Who does not read is not read, and not waited for.
TEST_F(FrontTest, AnswersThatAreNotTakenStopTheReading) {
  memory_.buffer_bytes = 1'000;
  const auto client = Connect();
  client->Listen(false);
  std::string requests;
  for (int i = 0; i < 400; ++i) requests += kHealth;
  // What is read at once is answered; that fills the buffer, and then the one
  // towards the front is filled too.
  std::size_t said = 0;
  for (int i = 0; i < 20; ++i) {
    said += client->SayWhatFits(std::string_view(requests).substr(said));
    Run();
  }
  EXPECT_LE(said, kFrontReadBytes + 2 * memory_.buffer_bytes);
  EXPECT_LT(said, requests.size() / 2);
  RunFor(options_.body_ms - 1);
  EXPECT_EQ(front_->unseated(), 1u);
  client->Listen(true);
  // It goes on where it was, and all is answered.
  for (int i = 0; said < requests.size(); ++i) {
    ASSERT_LT(i, 400);
    said += client->SayWhatFits(std::string_view(requests).substr(said));
    Run();
  }
  std::string answers;
  for (int i = 0; i < 400; ++i) answers += kHealthy;
  EXPECT_EQ(client->heard(), answers);

  client->Listen(false);
  client->SayWhatFits(requests);
  Run();
  RunFor(options_.body_ms - 1);
  EXPECT_EQ(front_->unseated(), 1u);
  RunFor(1);
  EXPECT_EQ(front_->unseated(), 0u);
  client->Listen(true);
  Run();
  EXPECT_EQ(client->ended(), IoStatus::kLost);
}

TEST_F(FrontTest, AnswersThatAreTakenLateAreNoFault) {
  memory_.buffer_bytes = 1'000;
  const auto client = Connect();
  client->Listen(false);
  std::string answers;
  for (int i = 0; i < 10; ++i) {
    client->Say(kHealth);
    answers += kHealthy;
  }
  RunFor(options_.body_ms - 1);
  client->Listen(true);
  Run();
  EXPECT_EQ(client->heard(), answers);
  // The times it has are what they were.
  RunFor(options_.idle_ms - options_.body_ms);
  EXPECT_EQ(client->ended(), IoStatus::kOk);
  RunFor(1);
  EXPECT_EQ(client->ended(), IoStatus::kEnd);
}

// ---- Time.

// A byte now and then gains none.
TEST_F(FrontTest, TheFirstHeadHasItsTimeFromTheConnectionOn) {
  for (const NetTransport transport :
       {NetTransport::kWebSocket, NetTransport::kTcp}) {
    const auto silent = Connect("192.0.2.1", transport);
    const auto slow = Connect("192.0.2.1", transport);
    const bool http = transport == NetTransport::kWebSocket;
    const std::int64_t step = options_.stream.handshake_ms / 10;
    for (int i = 0; i < 9; ++i) {
      RunFor(step);
      slow->Say(http ? kHealth.substr(i, 1)
                     : std::string("\6\x20\0\0\1\0\x08\0/", 9).substr(i, 1));
    }
    RunFor(step - 1);
    EXPECT_EQ(front_->unseated(), 2u);
    RunFor(1);
    EXPECT_EQ(front_->unseated(), 0u);
    EXPECT_EQ(silent->ended(), IoStatus::kLost);
    EXPECT_EQ(slow->ended(), IoStatus::kLost);
    EXPECT_THAT(slow->heard(), IsEmpty());
  }
}

TEST_F(FrontTest, TheNextHeadHasItsTimeFromItsFirstByteOn) {
  const auto client = Connect();
  client->Say(kHealth);
  RunFor(options_.idle_ms - 1);
  EXPECT_EQ(client->Take(), kHealthy);
  client->Say("G");
  RunFor(options_.stream.handshake_ms - 1);
  client->Say(kHealth.substr(1, 5));
  Run();
  EXPECT_EQ(client->ended(), IoStatus::kOk);
  RunFor(1);
  EXPECT_EQ(client->ended(), IoStatus::kLost);
  EXPECT_EQ(front_->unseated(), 0u);
}

TEST_F(FrontTest, AnIdleConnectionEndsInOrder) {
  const auto client = Connect();
  for (int i = 0; i < 3; ++i) {
    client->Say(i == 1 ? Post(kCode) : kHealth);
    RunFor(options_.idle_ms - 1);
    EXPECT_THAT(client->Take(), StartsWith("HTTP/1.1 200 OK\r\n"));
    EXPECT_EQ(client->ended(), IoStatus::kOk);
  }
  RunFor(1);
  EXPECT_EQ(client->ended(), IoStatus::kEnd);
  EXPECT_EQ(front_->unseated(), 0u);
}

TEST_F(FrontTest, ABodyHasItsTimeFromItsHeadOn) {
  for (const std::string& request : {Post(kCode), Chunked("a\r\nGOODCODE42")}) {
    const auto client = Connect();
    RunFor(options_.stream.handshake_ms - 1);
    const std::size_t body = request.find("\r\n\r\n") + 4;
    client->Say(request.substr(0, body));
    const std::int64_t step = options_.body_ms / 10;
    for (std::size_t i = 0; i < 9; ++i) {
      RunFor(step);
      client->Say(request.substr(body + i, 1));
    }
    RunFor(step - 1);
    EXPECT_EQ(client->ended(), IoStatus::kOk);
    RunFor(1);
    EXPECT_EQ(client->ended(), IoStatus::kLost);
    EXPECT_THAT(client->heard(), IsEmpty());
    EXPECT_EQ(front_->unseated(), 0u);
  }
}

// The loop was not turned for a while: what came in time counts, though the
// alarm is the first to hear of it, and nobody is let off for that.
TEST_F(FrontTest, WhatCameInTimeIsReadBeforeAnybodyIsCutOff) {
  struct Case {
    std::string before;
    std::int64_t ms;
    std::string late;
    std::string answer;
    IoStatus ended;
  };
  const std::string head = HeadOf(stream::kHttpHeadBytesMax);
  const std::string invited = Json("200 OK", R"({"ok":true,"players":4})");
  const std::vector<Case> cases = {
      {"", options_.stream.handshake_ms, kHealth, kHealthy, IoStatus::kOk},
      {"", options_.stream.handshake_ms, head, kHealthy, IoStatus::kOk},
      {"G", options_.stream.handshake_ms, kHealth.substr(1), kHealthy,
       IoStatus::kOk},
      {"G", options_.stream.handshake_ms, "ET", "", IoStatus::kLost},
      {kHealth, options_.idle_ms, kHealth, kHealthy + kHealthy, IoStatus::kOk},
      {kHealth, options_.idle_ms, "G", kHealthy, IoStatus::kOk},
      {Post(kCode).substr(0, 60), options_.body_ms, Post(kCode).substr(60),
       invited, IoStatus::kOk},
      {Post(kCode).substr(0, 60), options_.body_ms, Post(kCode).substr(60, 2),
       "", IoStatus::kLost},
  };
  for (const std::size_t piece : {SIZE_MAX, std::size_t{300}}) {
    memory_.piece_bytes_max = piece;
    for (const Case& row : cases) {
      SCOPED_TRACE(row.before + " then " + row.late.substr(0, 100));
      // Runs first at that time, and the front's alarm next.
      RawClient* client = nullptr;
      executor_.After(row.ms * kMillisecond, [&] { client->Say(row.late); });
      const auto owner = Connect();
      client = owner.get();
      client->Say(row.before);
      RunFor(row.ms);
      EXPECT_EQ(client->heard(), row.answer);
      EXPECT_EQ(client->ended(), row.ended);
      EXPECT_EQ(front_->unseated(), row.ended == IoStatus::kOk ? 1u : 0u);
      front_->DropOldest();
      RunFor(1);  // or the next alarm could be one that is set already
    }
  }
}

// ---- How many.

TEST_F(FrontTest, TheOldestOfAnAddressGoesFirst) {
  options_.unseated_per_address = 2;
  Make();
  const auto other = Connect("192.0.2.2");
  const auto a = Connect();
  const auto b = Connect();
  EXPECT_EQ(front_->unseated(), 3u);
  // That it was answered makes nobody younger.
  a->Say(kHealth);
  Run();
  const auto c = Connect();
  EXPECT_EQ(a->ended(), IoStatus::kLost);
  b->Vanish();
  Run();
  const auto d = Connect();
  EXPECT_EQ(front_->unseated(), 3u);
  for (RawClient* client : {other.get(), c.get(), d.get()}) {
    client->Say(kHealth);
    Run();
    EXPECT_EQ(client->heard(), kHealthy);
  }
}

TEST_F(FrontTest, TheOldestOfAllGoesFirst) {
  options_.unseated_max = 2;
  Make();
  const auto a = Connect("192.0.2.1");
  const auto b = Connect("192.0.2.2");
  const auto c = Connect("192.0.2.3");
  EXPECT_EQ(front_->unseated(), 2u);
  EXPECT_EQ(a->ended(), IoStatus::kLost);
  EXPECT_TRUE(front_->DropOldest());
  Run();
  EXPECT_EQ(b->ended(), IoStatus::kLost);
  EXPECT_EQ(c->ended(), IoStatus::kOk);
  EXPECT_TRUE(front_->DropOldest());
  EXPECT_FALSE(front_->DropOldest());
  EXPECT_EQ(front_->unseated(), 0u);
}

// As they are counted: a subscriber has all of a /64, and those whose address
// cannot be read are one.
TEST_F(FrontTest, AddressesAreCountedAsTheyAreOwned) {
  options_.unseated_per_address = 1;
  Make();
  const auto a = Connect("2001:db8::1");
  const auto b = Connect("2001:db8::2");
  const auto c = Connect("2001:db8:0:1::1");
  const auto d = Connect("?");
  const auto e = Connect("");
  EXPECT_EQ(a->ended(), IoStatus::kLost);
  EXPECT_EQ(b->ended(), IoStatus::kOk);
  EXPECT_EQ(c->ended(), IoStatus::kOk);
  EXPECT_EQ(d->ended(), IoStatus::kLost);
  EXPECT_EQ(e->ended(), IoStatus::kOk);
}

// A client that has many addresses must not fill the memory one by one.
TEST_F(FrontTest, ForgetsTheAddressesThatHaveGone) {
  const auto visit = [this](int from, int to) {
    for (int i = from; i < to; ++i) {
      const auto client = Connect("2001:db8:0:" + std::to_string(i) + "::1");
      EXPECT_TRUE(front_->DropOldest());
      Run();
      EXPECT_EQ(client->ended(), IoStatus::kLost);
    }
  };
  visit(0, 100);
  const std::uint64_t before = parlor_allocated_bytes();
  visit(100, 4'100);
  EXPECT_LT(parlor_allocated_bytes(), before + 16 * 1024);
}

TEST_F(FrontTest, ItsEndIsThatOfItsClients) {
  const auto fresh = Connect();
  const auto idle = Connect();
  idle->Say(kHealth);
  const auto refused = Connect();
  refused->Say(Join("/room/10?players=2"));
  Run();
  front_ = nullptr;
  Run();
  EXPECT_EQ(fresh->ended(), IoStatus::kLost);
  EXPECT_EQ(idle->ended(), IoStatus::kLost);
  EXPECT_EQ(refused->ended(), IoStatus::kEnd);
}

// ---- Whom it hands over.

// With all that came behind the request: in the same read, and later.
TEST_F(FrontTest, HandsOverWhoIsLetIn) {
  const std::string frames("\x82\x8c\0\0\0\0frame of 12 bytes\xff\n\n", 26);
  const std::string http =
      Join("/room/3?players=2&x=y", ", resume.1f") + frames;
  const std::string tcp = TcpHello(RoomRequest("/room/3?players=2")) + frames;
  for (const bool over_http : {true, false}) {
    const std::string& text = over_http ? http : tcp;
    const auto transport =
        over_http ? NetTransport::kWebSocket : NetTransport::kTcp;
    for (std::size_t cut = 0; cut <= text.size(); ++cut) {
      SCOPED_TRACE(cut);
      const std::string address = NextAddress();
      const auto client = Connect(address, transport);
      client->Say(text.substr(0, cut));
      Run();
      client->Say(text.substr(cut));
      Run();
      EXPECT_EQ(front_->unseated(), 0u);
      ASSERT_THAT(handovers_, SizeIs(1));
      Handover handover = std::move(handovers_.front());
      handovers_.clear();
      EXPECT_EQ(handover.hello.room, 3u);
      EXPECT_EQ(handover.hello.players, 2);
      EXPECT_EQ(handover.hello.access, "invite.goodcode42");
      EXPECT_EQ(handover.hello.resume, "1f");
      EXPECT_EQ(handover.address, *Address::Parse(address));
      EXPECT_EQ(handover.transport, transport);
      EXPECT_THAT(handover.handshake->Accept("fizlet-rooms"),
                  StartsWith(over_http ? "HTTP/1.1 101 " : "\6"));
      const auto stream = handover.stream->Unpark(shard_loop_);
      EXPECT_EQ(TextOf(handover.unread) + ReadAll(*stream), frames);
      // The front has said nothing, and has let go.
      EXPECT_THAT(client->heard(), IsEmpty());
      EXPECT_EQ(client->ended(), IoStatus::kOk);
    }
  }
}

TEST_F(FrontTest, HandsOverBehindOtherRequests) {
  const auto client = Connect();
  client->Say(kHealth + Post(kCode) + Join("/room/0?players=1") + "x");
  Run();
  ASSERT_THAT(handovers_, SizeIs(1));
  EXPECT_EQ(TextOf(handovers_[0].unread), "x");
  EXPECT_EQ(client->heard(),
            kHealthy + Json("200 OK", R"({"ok":true,"players":4})"));
}

// Below, a record of TLS may hold more than one turn of the front reads.
TEST_F(FrontTest, SpeaksTheSameOverTls) {
  const test::LocalTls& tls = test::SharedLocalTls();
  test::MemoryStreamPair pair =
      test::MakeMemoryStreams(executor_, client_loop_, loop_, memory_);
  loop_.Post([&] {
    front_->OnAccept(stream::MakeTlsServerStream(loop_, std::move(pair.second),
                                                 tls.server.context()),
                     "192.0.2.1", NetTransport::kWebSocket);
  });
  RawClient client(stream::MakeTlsClientStream(
      client_loop_, std::move(pair.first), tls.client.context(), "127.0.0.1"));
  Run();
  const std::string behind(10'000, 'x');
  client.Say(HeadOf(stream::kHttpHeadBytesMax) + kHealth +
             Join("/room/3?players=2") + behind);
  Run();
  EXPECT_EQ(client.heard(), kHealthy + kHealthy);
  ASSERT_THAT(handovers_, SizeIs(1));
  const auto stream = handovers_[0].stream->Unpark(shard_loop_);
  Run();
  EXPECT_EQ(TextOf(handovers_[0].unread) + ReadAll(*stream), behind);
}

// The room's answer must not overtake those that are still to be taken.
TEST_F(FrontTest, HandsNobodyOverWhoDoesNotTakeItsAnswers) {
  memory_.buffer_bytes = 1'000;
  const auto client = Connect();
  client->Listen(false);
  std::string answers;
  for (int i = 0; i < 10; ++i) {
    client->Say(kHealth);
    answers += kHealthy;
  }
  client->Say(Join("/room/0?players=1"));
  Run();
  EXPECT_THAT(handovers_, IsEmpty());
  client->Listen(true);
  Run();
  EXPECT_EQ(client->heard(), answers);
  EXPECT_EQ(client->ended(), IoStatus::kEnd);
}

TEST_F(FrontTest, OverTcpTheSameIsRefused) {
  struct Case {
    Request request;
    std::uint16_t status;
  };
  const std::string target = "/room/3?players=2";
  const std::vector<Case> cases = {
      {{.target = "/room/10?players=0"}, 404},
      {{.target = "/healthz"}, 404},
      {{.target = "/invite"}, 404},
      {{.target = "/room/3?players=5", .protocols = {"fizlet-rooms"}}, 400},
      {{.target = target}, 400},
      {{.target = target, .protocols = {"fizlet-rooms"}}, 403},
      {{.target = target, .protocols = {"fizlet-rooms", "invite.x"}}, 403},
  };
  const auto refusal = [](std::uint16_t status) {
    std::string frame("\7\6\0\0??\0\0\0\0", 10);
    frame[4] = static_cast<char>(status & 0xff);
    frame[5] = static_cast<char>(status >> 8);
    return frame;
  };
  const auto check = [&](std::string_view text, std::uint16_t status) {
    const auto client = Connect("192.0.2.1", NetTransport::kTcp);
    client->Say(text);
    Run();
    EXPECT_EQ(client->heard(), refusal(status));
    EXPECT_EQ(client->ended(), IoStatus::kEnd);
    EXPECT_EQ(front_->unseated(), 0u);
  };
  for (const Case& row : cases) {
    SCOPED_TRACE(row.request.target);
    check(TcpHello(row.request), row.status);
  }
  check(kHealth, 400);  // HTTP on the wrong port
  gate_->Drain();
  check(TcpHello({.target = target,
                  .protocols = {"fizlet-rooms", "invite.goodcode42"}}),
        503);
  EXPECT_THAT(handovers_, IsEmpty());
}

// ---- Whose address it is.

class FrontProxyTest : public FrontTest {
 protected:
  FrontProxyTest() {
    gate_options_.trusted_proxies = {"10.0.0.0/8", "::1"};
    gate_options_.joins_per_minute = 6;
    Make();
  }

  static std::string Forwarded(std::string_view list) {
    return std::string("X-Forwarded-For: ").append(list).append("\r\n");
  }
  // A request that is not over.
  static std::string HalfPost(std::string_view list) {
    const std::string whole = Post(kCode, Forwarded(list));
    return whole.substr(0, whole.size() - 1);
  }
  // How many of `count` checks for `list` are looked at, over one connection.
  int LookedAt(std::string_view peer, std::string_view list, int count) {
    const auto client = Connect(peer);
    int looked_at = 0;
    for (int i = 0; i < count; ++i) {
      client->Say(Post(kCode, Forwarded(list)));
      Run();
      if (client->Take().starts_with("HTTP/1.1 200 ")) ++looked_at;
    }
    front_->DropOldest();
    return looked_at;
  }
  // Who joined last.
  Address Joined(std::string_view peer, std::string_view headers,
                 NetTransport transport = NetTransport::kWebSocket) {
    const auto client = Connect(peer, transport);
    client->Say(transport == NetTransport::kWebSocket
                    ? Join("/room/3?players=2", "", headers)
                    : TcpHello(RoomRequest("/room/3?players=2")));
    Run();
    return handovers_.empty() ? Address() : handovers_.back().address;
  }
};

TEST_F(FrontProxyTest, TheHeaderOfAStrangerIsNotRead) {
  for (int i = 0; i < 6; ++i) {
    EXPECT_EQ(LookedAt("192.0.2.9", "198.51.100." + std::to_string(i), 1), 1);
  }
  EXPECT_EQ(LookedAt("192.0.2.9", "198.51.100.9", 1), 0);
  EXPECT_EQ(LookedAt("192.0.2.9", "10.0.0.1", 1), 0);
  // Nor does it use up anybody's.
  EXPECT_EQ(LookedAt("198.51.100.1", "", 7), 6);
  EXPECT_EQ(Joined("192.0.2.8", Forwarded("198.51.100.1")),
            *Address::Parse("192.0.2.8"));
}

TEST_F(FrontProxyTest, ClientsBehindAProxyHaveTheirOwnRates) {
  EXPECT_EQ(LookedAt("10.0.0.1", "192.0.2.1", 7), 6);
  EXPECT_EQ(LookedAt("10.0.0.1", "192.0.2.2", 5), 5);
  // The same clients another way.
  EXPECT_EQ(LookedAt("::1", "192.0.2.1, 10.0.0.7", 1), 0);
  EXPECT_EQ(LookedAt("192.0.2.2", "", 2), 1);
  // And the proxies have theirs.
  EXPECT_EQ(LookedAt("10.0.0.1", "", 7), 6);
  EXPECT_EQ(LookedAt("10.0.0.2", "unknown", 7), 6);
  EXPECT_EQ(LookedAt("10.0.0.2", "192.0.2.3, unknown", 1), 0);
}

// One connection of a proxy carries many clients, failures of whom are theirs.
TEST_F(FrontProxyTest, EveryHeadTellsItsClient) {
  const auto proxy = Connect("10.0.0.1");
  const std::string refused = Json("403 Forbidden", R"({"ok":false})");
  std::string said;
  std::string answers;
  for (int i = 0; i < 3; ++i) {
    said += Post("WRONGCODE0", Forwarded("192.0.2.1"));
    said += Post(kCode, Forwarded("192.0.2.2"));
    answers += i < 2 ? refused
                     : Answer("429 Too Many Requests",
                              "Cache-Control: no-store\r\nRetry-After: 60\r\n");
    answers += Json("200 OK", R"({"ok":true,"players":4})");
  }
  proxy->Say(said + kHealth +
             Join("/room/3?players=2", "", Forwarded("192.0.2.2")));
  Run();
  EXPECT_EQ(proxy->heard(), answers + kHealthy);
  ASSERT_THAT(handovers_, SizeIs(1));
  EXPECT_EQ(handovers_[0].address, *Address::Parse("192.0.2.2"));
  // Without the header it is the proxy's own, not the last client's.
  const auto again = Connect("10.0.0.1");
  again->Say(Post(kCode, Forwarded("192.0.2.3")) + Join("/room/3?players=2"));
  Run();
  ASSERT_THAT(handovers_, SizeIs(2));
  EXPECT_EQ(handovers_[1].address, *Address::Parse("10.0.0.1"));
}

TEST_F(FrontProxyTest, WhatIsLeftOfTheClientIsNobodysWord) {
  for (int i = 0; i < 6; ++i) {
    const std::string forged = "198.51.100." + std::to_string(i);
    EXPECT_EQ(LookedAt("10.0.0.1", forged + ", 192.0.2.1", 1), 1);
  }
  EXPECT_EQ(LookedAt("10.0.0.1", "198.51.100.9, 192.0.2.1", 1), 0);
  EXPECT_EQ(LookedAt("10.0.0.1", "10.0.0.9, \xff, 192.0.2.1", 1), 0);
  EXPECT_EQ(LookedAt("10.0.0.1", "198.51.100.1", 7), 6);
}

TEST_F(FrontProxyTest, AllLinesAreOneList) {
  EXPECT_EQ(Joined("10.0.0.1", Forwarded("198.51.100.1, 192.0.2.1") +
                                   "x-forwarded-for: 10.0.0.3\r\n" +
                                   Forwarded(" , 10.0.0.2,")),
            *Address::Parse("192.0.2.1"));
  EXPECT_EQ(Joined("10.0.0.1", Forwarded("192.0.2.1") + Forwarded("192.0.2.2")),
            *Address::Parse("192.0.2.2"));
  EXPECT_EQ(Joined("10.0.0.1", Forwarded("10.0.0.3,10.0.0.2")),
            *Address::Parse("10.0.0.3"));
  EXPECT_EQ(Joined("10.0.0.1", Forwarded("[2001:db8::1]:443")),
            *Address::Parse("2001:db8::1"));
}

TEST_F(FrontProxyTest, OverTcpAllBehindAProxyAreOne) {
  EXPECT_EQ(Joined("10.0.0.1", "", NetTransport::kTcp),
            *Address::Parse("10.0.0.1"));
  options_.unseated_per_address = 2;
  Make();
  const auto a = Connect("10.0.0.1", NetTransport::kTcp);
  const auto b = Connect("10.0.0.1", NetTransport::kTcp);
  const auto c = Connect("10.0.0.1", NetTransport::kTcp);
  EXPECT_EQ(a->ended(), IoStatus::kLost);
  EXPECT_EQ(b->ended(), IoStatus::kOk);
  EXPECT_EQ(c->ended(), IoStatus::kOk);
}

TEST_F(FrontProxyTest, AProxysConnectionsCountForTheirClients) {
  const auto limit = static_cast<int>(options_.unseated_per_address);
  std::vector<std::unique_ptr<RawClient>> all;
  const auto connect = [&](std::string_view said) -> RawClient& {
    RawClient& client = *all.emplace_back(Connect("10.0.0.1"));
    client.Say(said);
    Run();
    return client;
  };
  for (int i = 0; i < limit + 10; ++i) connect("GET /hea");
  RawClient& other = connect(HalfPost("192.0.2.2"));
  RawClient& first = connect(HalfPost("192.0.2.1"));
  for (int i = 1; i < limit; ++i) connect(HalfPost("192.0.2.1"));
  EXPECT_EQ(front_->unseated(), static_cast<std::size_t>(2 * limit + 11));
  EXPECT_EQ(first.ended(), IoStatus::kOk);
  // The oldest of the client goes, and no other.
  connect(HalfPost("192.0.2.1"));
  EXPECT_EQ(first.ended(), IoStatus::kLost);
  EXPECT_EQ(front_->unseated(), static_cast<std::size_t>(2 * limit + 11));
  // The client's own connections are among them.
  const auto direct = Connect("192.0.2.1");
  EXPECT_EQ(front_->unseated(), static_cast<std::size_t>(2 * limit + 11));
  EXPECT_EQ(other.ended(), IoStatus::kOk);
  for (int i = 0; i < limit; ++i) all.push_back(Connect("192.0.2.2"));
  EXPECT_EQ(other.ended(), IoStatus::kLost);
}

TEST_F(FrontProxyTest, BetweenTwoRequestsAConnectionIsNoClients) {
  options_.unseated_per_address = 1;
  Make();
  const auto a = Connect("10.0.0.1");
  a->Say(Post(kCode, Forwarded("192.0.2.1")));
  const auto b = Connect("10.0.0.1");
  b->Say(HalfPost("192.0.2.1"));
  Run();
  EXPECT_EQ(a->ended(), IoStatus::kOk);
  // It may carry another's next, and then the same one's again, whose older
  // request is cut off.
  a->Say(Post(kCode, Forwarded("192.0.2.2")));
  Run();
  EXPECT_EQ(b->ended(), IoStatus::kOk);
  a->Say(HalfPost("192.0.2.1"));
  Run();
  EXPECT_EQ(a->ended(), IoStatus::kOk);
  EXPECT_EQ(b->ended(), IoStatus::kLost);
  EXPECT_EQ(front_->unseated(), 1u);
}

TEST_F(FrontProxyTest, ForgetsTheClientsThatHaveGone) {
  const auto proxy = Connect("10.0.0.1");
  const auto visit = [&](int from, int to) {
    for (int i = from; i < to; ++i) {
      proxy->Say(Http("GET /healthz",
                      Forwarded("2001:db8:0:" + std::to_string(i) + "::1")));
      Run();
      EXPECT_EQ(proxy->Take(), kHealthy);
    }
  };
  visit(0, 100);
  const std::uint64_t before = parlor_allocated_bytes();
  visit(100, 4'100);
  EXPECT_LT(parlor_allocated_bytes(), before + 16 * 1024);
}

// ---- The gate's words.

TEST_F(FrontTest, WhileDrainingOnlyResumesPass) {
  gate_->Drain();
  const std::string down =
      Json("503 Service Unavailable",
           R"({"ok":false,"rooms":3,"players":7,"uptime":99})");
  EXPECT_EQ(Ask(kHealth), down);
  EXPECT_EQ(Ask(Http("HEAD /healthz")), down.substr(0, down.find('{')));
  EXPECT_EQ(Ask(Join("/room/3?players=2")), Last("503 Service Unavailable"));
  // Before anything else is looked at.
  EXPECT_EQ(Ask(Http("POST /room/10")), Last("503 Service Unavailable"));
  EXPECT_EQ(Ask(Http("GET /nothing")), Answer("404 Not Found"));
  EXPECT_EQ(Ask(Join("/room/10?players=2", ", resume.1f")),
            Last("404 Not Found"));
  EXPECT_THAT(Ask(Post(kCode)), StartsWith("HTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(handovers_, IsEmpty());
  EXPECT_EQ(Ask(Join("/room/3?players=2", ", resume.1f")), "");
  EXPECT_THAT(handovers_, SizeIs(1));
}

TEST_F(FrontTest, RatesAreOfAnAddress) {
  gate_options_.joins_per_minute = 6;
  Make();
  const std::string late = Last("429 Too Many Requests", "Retry-After: 60\r\n");
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(Ask(Join("/room/3?players=2")), "");
    EXPECT_THAT(Ask(Post(kCode)), StartsWith("HTTP/1.1 200 OK\r\n"));
  }
  EXPECT_EQ(Ask(Join("/room/3?players=2")), late);
  EXPECT_EQ(Ask(Post(kCode)),
            Answer("429 Too Many Requests",
                   "Cache-Control: no-store\r\nRetry-After: 60\r\n"));
  // What needs no look-up is not counted.
  EXPECT_EQ(Ask(kHealth), kHealthy);
  EXPECT_EQ(Ask(Http("GET /room/3?players=2")).substr(0, 12), "HTTP/1.1 426");
  const auto other = Connect("192.0.2.2");
  other->Say(Join("/room/3?players=2"));
  Run();
  EXPECT_THAT(handovers_, SizeIs(4));
  RunFor(60'000);
  EXPECT_EQ(Ask(Join("/room/3?players=2")), "");
  EXPECT_THAT(handovers_, SizeIs(5));
}

TEST_F(FrontTest, PagesOfOtherOriginsStayOutside) {
  gate_options_.origins = {"https://play.example"};
  Make();
  const std::string ours = "Origin: https://play.example\r\n";
  const std::string theirs = "Origin: https://evil.example\r\n";
  EXPECT_EQ(Ask(Post(kCode, ours)),
            Answer("200 OK",
                   "Cache-Control: no-store\r\nAccess-Control-Allow-Origin: "
                   "https://play.example\r\nVary: Origin\r\n"
                   "Content-Type: application/json\r\n",
                   R"({"ok":true,"players":4})"));
  EXPECT_EQ(Ask(Post(kCode, theirs)), Json("403 Forbidden", R"({"ok":false})"));
  EXPECT_EQ(Ask(Join("/room/3?players=2", "", theirs)), Last("403 Forbidden"));
  EXPECT_EQ(Ask(Join("/room/3?players=2", "", ours)), "");
  EXPECT_EQ(Ask(Join("/room/3?players=2")), "");
  EXPECT_THAT(handovers_, SizeIs(2));
}

TEST_F(FrontTest, AllIsBelowTheBasePath) {
  options_.base_path = "/games";
  Make();
  EXPECT_EQ(Ask(Http("GET /games/healthz")), kHealthy);
  EXPECT_THAT(Ask(Http("POST /games/invite", "Content-Length: 10\r\n", kCode)),
              StartsWith("HTTP/1.1 200 OK\r\n"));
  for (const char* path :
       {"/healthz", "/", "/games", "/games/", "/gameshealthz",
        "/games/games/healthz", "/other/healthz"}) {
    EXPECT_EQ(Ask(Http(std::string("GET ") + path)), Answer("404 Not Found"))
        << path;
  }
  EXPECT_EQ(Ask(Join("/room/3?players=2")), Answer("404 Not Found"));
  EXPECT_EQ(Ask(Join("/games/room/3?players=2")), "");
  const auto tcp = Connect("192.0.2.1", NetTransport::kTcp);
  tcp->Say(TcpHello(RoomRequest("/games/room/4?players=2")));
  Run();
  ASSERT_THAT(handovers_, SizeIs(2));
  EXPECT_EQ(handovers_[0].hello.room, 3u);
  EXPECT_EQ(handovers_[1].hello.room, 4u);
}

// Not in a header, not in a page: what comes back can be no one's but ours.
TEST_F(FrontTest, NothingAClientSaidIsSaidAgain) {
  const std::vector<std::string> requests = {
      Http("GET /tEsTmArK"),
      Http("tEsTmArK /healthz"),
      Http("GET /healthz?tEsTmArK", "X-tEsTmArK: tEsTmArK\r\n"),
      Http("GET /healthz", "Expect: tEsTmArK\r\nConnection: tEsTmArK\r\n"),
      Http("POST /tEsTmArK", "Content-Length: 8\r\n", "tEsTmArK"),
      Post("tEsTmArK", "Origin: null\r\nContent-Type: tEsTmArK\r\n"),
      Chunked("1;tEsTmArK\r\na\r\n0\r\ntEsTmArK: tEsTmArK\r\n\r\n"),
      Chunked("tEsTmArK\r\n"),
      Http("GET /room/tEsTmArK?players=2"),
      Http("GET /room/3?players=tEsTmArK", kUpgrade),
      Join("/room/3?players=tEsTmArK", ", tEsTmArK"),
      Join("/room/3?players=9", ", resume.tEsTmArK"),
      Http("GET /room/3", "Upgrade: tEsTmArK\r\nConnection: upgrade\r\n"),
      "tEsTmArK\r\n\r\n",
      Http("GET /tEsTmArK\x01"),
      Http("GET /healthz", "tEsTmArK\r\n"),
      Http("GET /healthz", "X-Forwarded-For: tEsTmArK, 192.0.2.1\r\n"),
      Post("a", "X-Forwarded-For: 192.0.2.1, tEsTmArK\r\n"),
  };
  gate_options_.trusted_proxies = {"192.0.2.1"};
  Make();
  for (const std::string& request : requests) {
    SCOPED_TRACE(request);
    const std::string answer = Ask(request);
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 "));
    EXPECT_THAT(answer, Not(HasSubstr("tEsTmArK")));
  }
}

}  // namespace
}  // namespace parlor::host
