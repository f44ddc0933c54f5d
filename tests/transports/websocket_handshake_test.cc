// The WebSocket handshake: each side against written heads, and both against
// each other.
#include "stream/websocket_handshake.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "parlor/byte_io.h"
#include "parlor/entropy.h"
#include "parlor/transports/request.h"
#include "stream/handshake.h"
#include "stream/http_head.h"

namespace parlor::stream {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

using Client = ClientHandshake::Progress;
using Server = ServerHandshake::Progress;

// RFC 6455 section 1.3.
constexpr std::string_view kRfcAccept = "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=";

class RfcEntropy final : public Entropy {
 public:
  void Fill(std::span<std::byte> out) override {
    const auto bytes = AsBytes("the sample nonce");
    ASSERT_EQ(out.size(), bytes.size());
    std::copy(bytes.begin(), bytes.end(), out.begin());
  }
};

// Feeds `text` in pieces of `piece` bytes until the side has enough, and
// returns what it left.
template <typename Side, typename Progress>
std::string Feed(Side& side, std::string_view text, Progress* progress,
                 std::size_t piece = SIZE_MAX) {
  std::vector<std::byte> bytes(AsBytes(text).begin(), AsBytes(text).end());
  std::size_t at = 0;
  *progress = Progress::kMore;
  while (*progress == Progress::kMore && at < bytes.size()) {
    const std::size_t size = std::min(piece, bytes.size() - at);
    std::span<std::byte> input = std::span(bytes).subspan(at, size);
    *progress = side.Feed(input);
    at += size - input.size();
  }
  return std::string(text.substr(at));
}

// ---- The server.

// A head that is accepted, with `replaced` (a whole line) instead of the line
// that begins with the same name, or behind the others if there is none.
std::string RequestWith(std::string_view replaced) {
  std::string head;
  bool done = replaced.empty();
  for (const std::string_view line :
       {"GET /room/3?players=2 HTTP/1.1", "Host: example.org",
        "Upgrade: websocket", "Connection: Upgrade",
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
        "Sec-WebSocket-Version: 13"}) {
    const std::string_view name = line.substr(0, line.find(':') + 1);
    const bool same = !name.empty() && replaced.starts_with(name);
    done = done || same;
    // Only a name: the line is left out.
    if (same && replaced == name) continue;
    head += same ? replaced : line;
    head += "\r\n";
  }
  if (!done) {
    head += replaced;
    head += "\r\n";
  }
  return head + "\r\n";
}

struct Row {
  std::string name;
  std::string head;
  std::uint16_t status = 0;  // 0: accepted

  friend std::ostream& operator<<(std::ostream& out, const Row& row) {
    return out << row.name;
  }
};

std::string WithMethod(std::string_view method) {
  return std::string(method) + RequestWith("").substr(3);
}

const std::vector<Row>& ServerRows() {
  static const std::vector<Row> rows = {
      {"Plain", RequestWith("")},
      {"UpgradeAnyCase", RequestWith("Upgrade: WebSocket")},
      {"UpgradeList", RequestWith("Upgrade: h2c, websocket")},
      {"ConnectionAnyCase", RequestWith("Connection: uPGRADE")},
      {"ConnectionList", RequestWith("Connection: keep-alive, Upgrade")},
      {"ConnectionLines",
       RequestWith("Connection: keep-alive\r\nConnection: Upgrade")},
      {"Length0", RequestWith("Content-Length: 0")},
      {"Protocols", RequestWith("Sec-WebSocket-Protocol: a, b")},
      {"ProtocolsEmpty", RequestWith("Sec-WebSocket-Protocol: ,, ")},
      {"Extensions",
       RequestWith("Sec-WebSocket-Extensions: permessage-deflate; "
                   "client_max_window_bits; a=1; b=\"2\", x")},

      {"BadHead", "GET / HTTP/1.1\n", 400},
      {"OldVersion", "GET / HTTP/1.0\r\n\r\n", 505},
      {"Post", WithMethod("POST"), 405},
      {"Head", WithMethod("HEAD"), 405},
      {"Delete", WithMethod("DELETE"), 405},
      {"UnknownMethod", WithMethod("BREW"), 501},
      {"LowerCaseMethod", WithMethod("get"), 501},
      {"NoUpgrade", RequestWith("Upgrade:"), 426},
      {"OtherUpgrade", RequestWith("Upgrade: h2c"), 426},
      {"LongUpgrade", RequestWith("Upgrade: websocket2"), 426},
      {"NoConnection", RequestWith("Connection:"), 426},
      {"OtherConnection", RequestWith("Connection: keep-alive"), 426},
      {"BodyByLength", RequestWith("Content-Length: 1"), 400},
      {"BodyByChunks", RequestWith("Transfer-Encoding: chunked"), 400},
      {"BodyOtherCoding", RequestWith("Transfer-Encoding: gzip"), 501},
      {"NoVersion", RequestWith("Sec-WebSocket-Version:"), 426},
      {"Version8", RequestWith("Sec-WebSocket-Version: 8"), 426},
      {"VersionList", RequestWith("Sec-WebSocket-Version: 13, 8"), 426},
      {"NoKey", RequestWith("Sec-WebSocket-Key:"), 400},
      {"EmptyKey", RequestWith("Sec-WebSocket-Key: "), 400},
      {"KeyOf15", RequestWith("Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAA"), 400},
      {"KeyOf17", RequestWith("Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAAA="),
       400},
      {"KeyUnpadded", RequestWith("Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA"),
       400},
      {"KeyStrayBits",
       RequestWith("Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAB=="), 400},
      {"KeyWithSpace",
       RequestWith("Sec-WebSocket-Key: AAAAAAAAAAA AAAAAAAAAAA=="), 400},
      {"KeyForUrls", RequestWith("Sec-WebSocket-Key: __________________AAAA=="),
       400},
      {"ProtocolTwice", RequestWith("Sec-WebSocket-Protocol: a, b, a"), 400},
      {"ProtocolTwiceOverLines",
       RequestWith("Sec-WebSocket-Protocol: a\r\nSec-WebSocket-Protocol: b, a"),
       400},
      {"ProtocolWithSpace", RequestWith("Sec-WebSocket-Protocol: a b"), 400},
      {"ProtocolNoToken", RequestWith("Sec-WebSocket-Protocol: a/b"), 400},
      {"ExtensionNoToken", RequestWith("Sec-WebSocket-Extensions: a b"), 400},
      {"ExtensionNoName", RequestWith("Sec-WebSocket-Extensions: ;a"), 400},
      {"ExtensionNoParameter", RequestWith("Sec-WebSocket-Extensions: a;"),
       400},
      {"ExtensionNoValue", RequestWith("Sec-WebSocket-Extensions: a; b="), 400},
      {"ExtensionQuotedComma",
       RequestWith("Sec-WebSocket-Extensions: a; b=\"c, parlor-lanes\""), 400},
      {"ExtensionOpenQuote", RequestWith("Sec-WebSocket-Extensions: a; b=\""),
       400},

      // What comes first in the order decides.
      {"MethodBeforeUpgrade",
       "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n", 405},
      {"UpgradeBeforeBody",
       "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n", 426},
      {"BodyBeforeVersion",
       RequestWith("Sec-WebSocket-Version: 8\r\nContent-Length: 5"), 400},
      {"VersionBeforeKey",
       RequestWith("Sec-WebSocket-Version: 8\r\nSec-WebSocket-Protocol: a/b"),
       426},
  };
  return rows;
}

class WebSocketServerHandshakeRowsTest : public ::testing::TestWithParam<Row> {
};

TEST_P(WebSocketServerHandshakeRowsTest, Status) {
  const Row& row = GetParam();
  for (const std::size_t piece : {SIZE_MAX, std::size_t{1}}) {
    SCOPED_TRACE(piece);
    auto server = MakeWebSocketServerHandshake();
    Server progress = Server::kMore;
    const std::string rest =
        Feed(*server, row.head + "\x82\x80", &progress, piece);
    if (row.status == 0) {
      ASSERT_EQ(progress, Server::kRequest);
      EXPECT_EQ(rest, "\x82\x80");
      EXPECT_THAT(server->Accept(""), HasSubstr(kRfcAccept));
      continue;
    }
    ASSERT_EQ(progress, Server::kFailed);
    EXPECT_EQ(server->failure(), row.status);
    EXPECT_THAT(server->Refuse({.status = server->failure()}),
                HasSubstr("HTTP/1.1 " + std::to_string(row.status) + ' '));
  }
}

// A front reads the head to see where it goes.
TEST_P(WebSocketServerHandshakeRowsTest, SameForAHeadThatWasRead) {
  const Row& row = GetParam();
  auto head = std::make_unique<HttpRequestHead>();
  auto read = HttpHead::Progress::kMore;
  Feed(*head, row.head, &read);
  if (read != HttpHead::Progress::kDone) return;
  auto server = MakeWebSocketServerHandshake(std::move(head));
  std::vector<std::byte> behind(2);
  std::span<std::byte> input = behind;
  ASSERT_EQ(server->Feed(input),
            row.status == 0 ? Server::kRequest : Server::kFailed);
  EXPECT_EQ(input.size(), behind.size());
  EXPECT_EQ(server->failure(), row.status);
  if (row.status == 0) {
    EXPECT_EQ(server->request().target, "/room/3?players=2");
    EXPECT_THAT(server->Accept(""), HasSubstr(kRfcAccept));
  }
}

INSTANTIATE_TEST_SUITE_P(Rows, WebSocketServerHandshakeRowsTest,
                         ::testing::ValuesIn(ServerRows()),
                         [](const auto& row) { return row.param.name; });

TEST(WebSocketServerHandshakeTest, TellsTheRequest) {
  auto server = MakeWebSocketServerHandshake();
  Server progress = Server::kMore;
  Feed(*server,
       RequestWith("Origin: https://a.example\r\nSec-WebSocket-Protocol: "
                   "fizlet-rooms,, invite.A_b-9 ,\r\n"
                   "sec-websocket-protocol: resume.1f"),
       &progress);
  ASSERT_EQ(progress, Server::kRequest);
  const Request& request = server->request();
  EXPECT_EQ(request.target, "/room/3?players=2");
  EXPECT_THAT(request.protocols,
              ElementsAre("fizlet-rooms", "invite.A_b-9", "resume.1f"));
  EXPECT_EQ(request.origin, "https://a.example");
  EXPECT_FALSE(server->lanes_marked());
}

TEST(WebSocketServerHandshakeTest, ANativeClientHasNoOrigin) {
  auto server = MakeWebSocketServerHandshake();
  Server progress = Server::kMore;
  Feed(*server, RequestWith(""), &progress);
  ASSERT_EQ(progress, Server::kRequest);
  EXPECT_EQ(server->request().origin, std::nullopt);
  EXPECT_THAT(server->request().protocols, IsEmpty());
}

TEST(WebSocketServerHandshakeTest, Accepts) {
  const auto answer = [](std::string_view line, std::string_view protocol) {
    auto server = MakeWebSocketServerHandshake();
    Server progress = Server::kMore;
    Feed(*server, RequestWith(line), &progress);
    EXPECT_EQ(progress, Server::kRequest);
    return server->Accept(protocol);
  };
  const std::string plain =
      "HTTP/1.1 101 Switching Protocols\r\n"
      "Upgrade: websocket\r\n"
      "Connection: Upgrade\r\n"
      "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n";
  EXPECT_EQ(answer("", ""), plain + "\r\n");
  EXPECT_EQ(answer("Sec-WebSocket-Protocol: a, b", "b"),
            plain + "Sec-WebSocket-Protocol: b\r\n\r\n");
  EXPECT_EQ(answer("Sec-WebSocket-Extensions: x; y, parlor-lanes", ""),
            plain + "Sec-WebSocket-Extensions: parlor-lanes\r\n\r\n");
  // One that we do not know, by its parameter or its name.
  EXPECT_EQ(answer("Sec-WebSocket-Extensions: parlor-lanes; a", ""),
            plain + "\r\n");
  EXPECT_EQ(answer("Sec-WebSocket-Extensions: parlor-lanes2", ""),
            plain + "\r\n");
}

TEST(WebSocketServerHandshakeTest, Refuses) {
  auto server = MakeWebSocketServerHandshake();
  EXPECT_EQ(server->Refuse({.status = 403}),
            "HTTP/1.1 403 Forbidden\r\nConnection: close\r\n"
            "Content-Length: 0\r\n\r\n");
  EXPECT_EQ(server->Refuse({.status = 429, .retry_after_s = 7}),
            "HTTP/1.1 429 Too Many Requests\r\nConnection: close\r\n"
            "Retry-After: 7\r\nContent-Length: 0\r\n\r\n");
  EXPECT_EQ(server->Refuse({.status = 426}),
            "HTTP/1.1 426 Upgrade Required\r\nConnection: close, Upgrade\r\n"
            "Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
            "Content-Length: 0\r\n\r\n");
  EXPECT_EQ(server->Refuse({.status = 405}),
            "HTTP/1.1 405 Method Not Allowed\r\nConnection: close\r\n"
            "Allow: GET\r\nContent-Length: 0\r\n\r\n");
  EXPECT_EQ(server->Refuse({.status = 599}),
            "HTTP/1.1 599 \r\nConnection: close\r\n"
            "Content-Length: 0\r\n\r\n");
}

// ---- The client.

std::unique_ptr<ClientHandshake> MakeClient(
    std::vector<std::string> protocols) {
  RfcEntropy entropy;
  return MakeWebSocketClientHandshake({.target = "/room/3?players=2",
                                       .protocols = std::move(protocols),
                                       .origin = "https://not.sent"},
                                      "example.org:8080", entropy);
}

TEST(WebSocketClientHandshakeTest, Hello) {
  const std::string begin =
      "GET /room/3?players=2 HTTP/1.1\r\n"
      "Host: example.org:8080\r\n"
      "Upgrade: websocket\r\n"
      "Connection: Upgrade\r\n"
      "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
      "Sec-WebSocket-Version: 13\r\n";
  EXPECT_EQ(MakeClient({"a", "b.c"})->hello(),
            begin +
                "Sec-WebSocket-Protocol: a, b.c\r\n"
                "Sec-WebSocket-Extensions: parlor-lanes\r\n\r\n");
  EXPECT_EQ(MakeClient({})->hello(),
            begin + "Sec-WebSocket-Extensions: parlor-lanes\r\n\r\n");
}

TEST(WebSocketClientHandshakeTest, AKeyOfItsOwnEachTime) {
  SeededEntropy entropy(1);
  const Request request{.target = "/", .protocols = {}, .origin = {}};
  EXPECT_NE(MakeWebSocketClientHandshake(request, "a", entropy)->hello(),
            MakeWebSocketClientHandshake(request, "a", entropy)->hello());
}

TEST(WebSocketClientHandshakeDeathTest, LetsNothingIntoTheHead) {
  RfcEntropy entropy;
  const auto make = [&](std::string target, std::vector<std::string> protocols,
                        std::string_view authority) {
    MakeWebSocketClientHandshake({.target = std::move(target),
                                  .protocols = std::move(protocols),
                                  .origin = {}},
                                 authority, entropy);
  };
  EXPECT_DEATH(make("/\r\nX: y", {"a"}, "a"), "IsHttpTarget");
  EXPECT_DEATH(make("/", {"a\r\nX: y"}, "a"), "AreDistinctTokens");
  EXPECT_DEATH(make("/", {"a", "a"}, "a"), "AreDistinctTokens");
  EXPECT_DEATH(make("/", {"a"}, "a\r\nX: y"), "IsHttpAuthority");
}

struct AnswerRow {
  std::string name;
  std::string head;
  Client progress = Client::kFailed;
  std::uint16_t refusal = 0;
  bool lanes_marked = false;

  friend std::ostream& operator<<(std::ostream& out, const AnswerRow& row) {
    return out << row.name;
  }
};

const std::vector<AnswerRow>& AnswerRows() {
  const std::string start = "HTTP/1.1 101 Switching Protocols\r\n";
  const std::string upgrade = "Upgrade: websocket\r\n";
  const std::string connection = "Connection: Upgrade\r\n";
  const std::string accept =
      "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n";
  const std::string protocol = "Sec-WebSocket-Protocol: b\r\n";
  const std::string most = start + upgrade + connection + accept;
  const auto with = [&](std::string_view more) {
    return most + protocol + std::string(more) + "\r\n";
  };
  static const std::vector<AnswerRow> rows = {
      {"Plain", with(""), Client::kOpen},
      {"AnyCase",
       start + "upgrade: WebSocket\r\nCONNECTION: keep-alive, upgrade\r\n" +
           accept + protocol + "\r\n",
       Client::kOpen},
      {"OtherHeaders", with("Server: x\r\nSet-Cookie: a\r\n"), Client::kOpen},
      {"Lanes", with("Sec-WebSocket-Extensions: parlor-lanes\r\n"),
       Client::kOpen, 0, true},
      {"EmptyExtensions", with("Sec-WebSocket-Extensions:\r\n"), Client::kOpen},
      {"Length0", with("Content-Length: 0\r\n"), Client::kOpen},

      {"Refused", "HTTP/1.1 403 Forbidden\r\n\r\n", Client::kRefused, 403},
      {"RefusedWithBody", "HTTP/1.1 503 x\r\nContent-Length: 2\r\n\r\nno",
       Client::kRefused, 503},
      {"Redirect", "HTTP/1.1 302 Found\r\nLocation: /\r\n\r\n",
       Client::kRefused, 302},
      {"LeastRefusal", "HTTP/1.1 300 \r\n\r\n", Client::kRefused, 300},
      {"LastRefusal", "HTTP/1.1 599 \r\n\r\n", Client::kRefused, 599},

      {"Status200", "HTTP/1.1 200 OK\r\n\r\n"},
      {"Status299", "HTTP/1.1 299 \r\n\r\n"},
      {"Status100", "HTTP/1.1 100 Continue\r\n\r\n"},
      {"Status600", "HTTP/1.1 600 \r\n\r\n"},
      {"Status102",
       "HTTP/1.1 102 Processing\r\n" + with("").substr(start.size())},
      {"OldVersion", "HTTP/1.0 403 Forbidden\r\n\r\n"},
      {"NotHttp", "SSH-2.0-OpenSSH\r\n"},
      {"BareLf", "HTTP/1.1 403 Forbidden\n\n"},
      {"NoUpgrade", start + connection + accept + protocol + "\r\n"},
      {"OtherUpgrade",
       start + "Upgrade: h2c\r\n" + connection + accept + protocol + "\r\n"},
      {"UpgradeList", start + "Upgrade: websocket, h2c\r\n" + connection +
                          accept + protocol + "\r\n"},
      {"NoConnection", start + upgrade + accept + protocol + "\r\n"},
      {"OtherConnection",
       start + upgrade + "Connection: close\r\n" + accept + protocol + "\r\n"},
      {"NoAccept", start + upgrade + connection + protocol + "\r\n"},
      {"OtherAccept",
       start + upgrade + connection +
           "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOO=\r\n" + protocol +
           "\r\n"},
      {"AcceptOtherCase",
       start + upgrade + connection +
           "Sec-WebSocket-Accept: S3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n" + protocol +
           "\r\n"},
      {"NoProtocol", most + "\r\n"},
      {"EmptyProtocol", most + "Sec-WebSocket-Protocol:\r\n\r\n"},
      {"OtherProtocol", most + "Sec-WebSocket-Protocol: c\r\n\r\n"},
      {"ProtocolOtherCase", most + "Sec-WebSocket-Protocol: B\r\n\r\n"},
      {"ProtocolList", most + "Sec-WebSocket-Protocol: a, b\r\n\r\n"},
      {"OtherExtension", with("Sec-WebSocket-Extensions: x\r\n")},
      {"ExtensionParameter",
       with("Sec-WebSocket-Extensions: parlor-lanes; a\r\n")},
      {"LanesAndOther", with("Sec-WebSocket-Extensions: parlor-lanes, x\r\n")},
      {"LanesTwice", with("Sec-WebSocket-Extensions: parlor-lanes\r\n"
                          "Sec-WebSocket-Extensions: parlor-lanes\r\n")},
      {"Body", with("Content-Length: 1\r\n")},
      {"ChunkedBody", with("Transfer-Encoding: chunked\r\n")},
      {"TooManyHeaders",
       [&] {
         std::string more;
         for (int i = 0; i < 60; ++i) more += "X: y\r\n";
         return with(more + "X: y\r\n");
       }()},
      {"TooLong", with("X: " + std::string(8192, 'y') + "\r\n")},
  };
  return rows;
}

class WebSocketClientHandshakeRowsTest
    : public ::testing::TestWithParam<AnswerRow> {};

TEST_P(WebSocketClientHandshakeRowsTest, Progress) {
  const AnswerRow& row = GetParam();
  for (const std::size_t piece : {SIZE_MAX, std::size_t{1}}) {
    SCOPED_TRACE(piece);
    auto client = MakeClient({"a", "b"});
    Client progress = Client::kMore;
    const std::string rest =
        Feed(*client, row.head + "\x82\x01", &progress, piece);
    ASSERT_EQ(progress, row.progress);
    if (progress == Client::kOpen) {
      EXPECT_EQ(rest, "\x82\x01");
      EXPECT_EQ(client->lanes_marked(), row.lanes_marked);
    } else if (progress == Client::kRefused) {
      EXPECT_EQ(client->refusal(), row.refusal);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Rows, WebSocketClientHandshakeRowsTest,
                         ::testing::ValuesIn(AnswerRows()),
                         [](const auto& row) { return row.param.name; });

TEST(WebSocketClientHandshakeTest, WithoutProtocolsNoneIsAnswered) {
  const std::string most =
      "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n"
      "Connection: Upgrade\r\n"
      "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n";
  Client progress = Client::kMore;
  Feed(*MakeClient({}), most + "\r\n", &progress);
  EXPECT_EQ(progress, Client::kOpen);
  Feed(*MakeClient({}), most + "Sec-WebSocket-Protocol: a\r\n\r\n", &progress);
  EXPECT_EQ(progress, Client::kFailed);
}

// ---- Both.

TEST(WebSocketHandshakeTest, ClientAndServerUnderstandEachOther) {
  SeededEntropy entropy(1);
  for (const std::size_t piece : {SIZE_MAX, std::size_t{1}, std::size_t{7}}) {
    SCOPED_TRACE(piece);
    const Request request{.target = "/room/3?players=2",
                          .protocols = {"fizlet-rooms", "invite.ABCDEFGHIJ"},
                          .origin = {}};
    auto client = MakeWebSocketClientHandshake(request, "a:1", entropy);
    auto server = MakeWebSocketServerHandshake();
    Server asked = Server::kMore;
    Feed(*server, client->hello(), &asked, piece);
    ASSERT_EQ(asked, Server::kRequest);
    EXPECT_EQ(server->request().target, request.target);
    EXPECT_EQ(server->request().protocols, request.protocols);
    EXPECT_EQ(server->request().origin, std::nullopt);

    const std::string answer = server->Accept("fizlet-rooms");
    EXPECT_THAT(answer, Not(HasSubstr("invite")));
    Client answered = Client::kMore;
    EXPECT_EQ(Feed(*client, answer, &answered, piece), "");
    ASSERT_EQ(answered, Client::kOpen);
    EXPECT_TRUE(server->lanes_marked());
    EXPECT_TRUE(client->lanes_marked());
  }
}

TEST(WebSocketHandshakeTest, RefusalsArrive) {
  for (const std::uint16_t status : {400, 403, 404, 409, 426, 429, 503}) {
    SCOPED_TRACE(status);
    auto server = MakeWebSocketServerHandshake();
    auto client = MakeClient({"a"});
    Client progress = Client::kMore;
    Feed(*client, server->Refuse({.status = status, .retry_after_s = 1}),
         &progress);
    ASSERT_EQ(progress, Client::kRefused);
    EXPECT_EQ(client->refusal(), status);
  }
}

}  // namespace
}  // namespace parlor::stream
