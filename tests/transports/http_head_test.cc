// Heads of HTTP messages: what is taken, what is refused and with which status,
// the limits, and that the cut of the input does not matter.
#include "stream/http_head.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "parlor/byte_io.h"
#include "parlor/random.h"
#include "support/seed.h"

namespace parlor::stream {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using Progress = HttpHead::Progress;

// Feeds `text` in pieces of the size that `piece` draws each time, and returns
// how much of it was taken.
template <typename Piece>
std::size_t Feed(HttpHead& head, std::string_view text, Piece piece) {
  std::vector<std::byte> bytes(AsBytes(text).begin(), AsBytes(text).end());
  std::size_t at = 0;
  Progress progress = Progress::kMore;
  while (progress == Progress::kMore && at < bytes.size()) {
    const std::size_t size = std::min<std::size_t>(piece(), bytes.size() - at);
    std::span<std::byte> input = std::span(bytes).subspan(at, size);
    progress = head.Feed(input);
    at += size - input.size();
    EXPECT_TRUE(progress != Progress::kMore || input.empty());
  }
  return at;
}

// All there is to know of what a head became.
struct Outcome {
  Progress progress = Progress::kMore;
  std::uint16_t failure = 0;
  std::size_t taken = 0;
  std::string start;
  std::vector<std::pair<std::string, std::string>> headers;
  bool chunked = false;
  std::uint64_t content_length = 0;

  bool operator==(const Outcome&) const = default;
};

std::string Start(const HttpRequestHead& head) {
  return std::string(head.method()) + ' ' + std::string(head.target());
}
std::string Start(const HttpResponseHead& head) {
  return std::to_string(head.status());
}

template <typename Head, typename Piece>
Outcome Run(std::string_view text, Piece piece) {
  Head head;
  Outcome outcome;
  outcome.taken = Feed(head, text, piece);
  std::span<std::byte> nothing;
  outcome.progress = head.Feed(nothing);
  outcome.failure = head.failure();
  if (outcome.progress != Progress::kDone) return outcome;
  outcome.start = Start(head);
  for (std::size_t i = 0; i < head.header_count(); ++i) {
    outcome.headers.emplace_back(head.header_name(i), head.header_value(i));
  }
  outcome.chunked = head.chunked();
  outcome.content_length = head.content_length();
  return outcome;
}

// The outcome of the whole text in one piece, which is that of every other cut.
template <typename Head>
Outcome RunAllCuts(std::string_view text) {
  Outcome whole = Run<Head>(text, [] { return SIZE_MAX; });
  EXPECT_EQ(whole, Run<Head>(text, [] { return 1; })) << "byte by byte";
  static const std::uint64_t seed = test::TestSeed();
  Random random(seed);
  EXPECT_EQ(whole, Run<Head>(text, [&] { return random.Below(40) + 1; }));
  return whole;
}

std::string Get(std::string_view headers) {
  return "GET / HTTP/1.1\r\nHost: a\r\n" + std::string(headers) + "\r\n";
}

struct Row {
  std::string name;
  std::string head;
  std::uint16_t failure = 0;  // 0: taken whole

  friend std::ostream& operator<<(std::ostream& out, const Row& row) {
    return out << row.name;
  }
};

template <std::size_t kSize>
std::string Raw(const char (&text)[kSize]) {
  return std::string(text, kSize - 1);  // may hold NUL
}

const std::vector<Row>& RequestRows() {
  static const std::vector<Row> rows = {
      {"Plain", Get("")},
      {"Query", "GET /room/3?players=2&x=%20 HTTP/1.1\r\nHost: a\r\n\r\n"},
      {"UnknownMethod", "BREW / HTTP/1.1\r\nHost: a\r\n\r\n"},
      {"TokenMethod", "M-%!'~ / HTTP/1.1\r\nHost: a\r\n\r\n"},
      {"NoSpaceAfterColon", Get("X:y\r\n")},
      {"SpaceAroundValue", Get("X: \t y z \t\r\n")},
      {"EmptyValue", Get("X:\r\nY: \r\n")},
      {"ColonsInValue", Get("X: a:b: c\r\n")},
      {"ObsoleteTextInValue", Get("X: \xc3\xa4\xff\r\n")},
      {"ListOverLines", Get("X: a\r\nX: b\r\nConnection: c\r\nConnection: d\r\n"
                            "Sec-WebSocket-Protocol: e\r\n"
                            "Sec-WebSocket-Protocol: f\r\n")},
      {"Length0", Get("Content-Length: 0\r\n")},
      {"LengthMax", Get("Content-Length: 18446744073709551615\r\n")},
      {"LengthZeros", Get("Content-Length: 007\r\n")},
      {"Chunked", Get("Transfer-Encoding: chunked\r\n")},
      {"ChunkedAnyCase", Get("transfer-encoding: CHUNKED\r\n")},
      {"HostPort", "GET / HTTP/1.1\r\nhOST: [::1]:80\r\n\r\n"},

      // Ends of lines.
      {"EmptyLineFirst", "\r\n" + Get(""), 400},
      {"BareLfFirst", "\n" + Get(""), 400},
      {"BareLfAfterStart", "GET / HTTP/1.1\nHost: a\r\n\r\n", 400},
      {"BareLfAfterHeader", Get("X: y\n"), 400},
      {"BareLfInValue", Get("X: a\nY: b\r\n"), 400},
      {"BareLfAtEnd", "GET / HTTP/1.1\r\nHost: a\r\n\n", 400},
      {"BareCrInStart", "GET /\r HTTP/1.1\r\nHost: a\r\n\r\n", 400},
      {"BareCrInValue", Get("X: a\rb\r\n"), 400},
      {"BareCrAtEnd", "GET / HTTP/1.1\r\nHost: a\r\n\rX", 400},
      {"TwoCr", Get("X: y\r\r\n"), 400},
      {"FoldedBySpace", Get("X: y\r\n z\r\n"), 400},
      {"FoldedByTab", Get("X: y\r\n\tz\r\n"), 400},
      {"FoldedFirst", "GET / HTTP/1.1\r\n Host: a\r\n\r\n", 400},
      {"LineOfSpace", Get(" \r\n"), 400},

      // Bytes.
      {"NulInTarget", Raw("GET /\0 HTTP/1.1\r\nHost: a\r\n\r\n"), 400},
      {"NulInName", Get(Raw("X\0: y\r\n")), 400},
      {"NulInValue", Get(Raw("X: \0\r\n")), 400},
      {"ControlInValue", Get("X: a\x01z\r\n"), 400},
      {"EscapeInValue", Get("X: \x1b[2J\r\n"), 400},
      {"DelInValue", Get("X: \x7f\r\n"), 400},
      {"TlsClientHello", Raw("\x16\x03\x01\x02"), 400},

      // Names.
      {"NoColon", Get("X\r\n"), 400},
      {"EmptyName", Get(": y\r\n"), 400},
      {"SpaceBeforeColon", Get("X : y\r\n"), 400},
      {"TabBeforeColon", Get("X\t: y\r\n"), 400},
      {"SpaceInName", Get("X Y: z\r\n"), 400},
      {"BracketInName", Get("X(Y): z\r\n"), 400},
      {"QuoteInName", Get("\"X\": z\r\n"), 400},
      {"HighByteInName", Get("\xc3\xa4: z\r\n"), 400},

      // Start lines.
      {"EmptyStart", "\r\n\r\n", 400},
      {"MethodOnly", "GET\r\nHost: a\r\n\r\n", 400},
      {"NoVersion", "GET /\r\nHost: a\r\n\r\n", 400},
      {"NoTarget", "GET  HTTP/1.1\r\nHost: a\r\n\r\n", 400},
      {"NoMethod", " / HTTP/1.1\r\nHost: a\r\n\r\n", 400},
      {"BadMethod", "G(T / HTTP/1.1\r\nHost: a\r\n\r\n", 400},
      {"TwoSpacesBefore", "GET  / HTTP/1.1\r\nHost: a\r\n\r\n", 400},
      {"TwoSpacesBehind", "GET /  HTTP/1.1\r\nHost: a\r\n\r\n", 400},
      {"SpaceAtEnd", "GET / HTTP/1.1 \r\nHost: a\r\n\r\n", 400},
      {"SpaceInTarget", "GET /a b HTTP/1.1\r\nHost: a\r\n\r\n", 400},
      {"TabInStart", "GET\t/\tHTTP/1.1\r\nHost: a\r\n\r\n", 400},
      {"AbsoluteTarget", "GET http://a/ HTTP/1.1\r\nHost: a\r\n\r\n", 400},
      {"AuthorityTarget", "CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n", 400},
      {"AsteriskTarget", "OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n", 400},
      {"FragmentInTarget", "GET /#x HTTP/1.1\r\nHost: a\r\n\r\n", 400},
      {"HighByteInTarget", "GET /\xc3\xa4 HTTP/1.1\r\nHost: a\r\n\r\n", 400},
      {"OtherProtocol", "GET / HTTQ/1.1\r\nHost: a\r\n\r\n", 400},
      {"LowerCaseVersion", "GET / http/1.1\r\nHost: a\r\n\r\n", 400},
      {"LongVersion", "GET / HTTP/1.11\r\nHost: a\r\n\r\n", 400},
      {"ShortVersion", "GET / HTTP/1\r\nHost: a\r\n\r\n", 400},
      {"CommaVersion", "GET / HTTP/1,1\r\nHost: a\r\n\r\n", 400},
      {"LetterVersion", "GET / HTTP/1.x\r\nHost: a\r\n\r\n", 400},
      {"Version10", "GET / HTTP/1.0\r\nHost: a\r\n\r\n", 505},
      {"Version12", "GET / HTTP/1.2\r\nHost: a\r\n\r\n", 505},
      {"Http2Preface", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505},

      // Host.
      {"NoHost", "GET / HTTP/1.1\r\n\r\n", 400},
      {"EmptyHost", "GET / HTTP/1.1\r\nHost:\r\n\r\n", 400},
      {"TwoHosts", Get("Host: a\r\n"), 400},
      {"HostWithPath", "GET / HTTP/1.1\r\nHost: a/b\r\n\r\n", 400},
      {"HostWithUser", "GET / HTTP/1.1\r\nHost: u@a\r\n\r\n", 400},
      {"HostWithSpace", "GET / HTTP/1.1\r\nHost: a b\r\n\r\n", 400},

      // Twice what may come once.
      {"TwoLengths", Get("Content-Length: 1\r\ncontent-length: 1\r\n"), 400},
      {"TwoCodings",
       Get("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n"),
       400},
      {"TwoUpgrades", Get("Upgrade: a\r\nUPGRADE: a\r\n"), 400},
      {"TwoOrigins", Get("Origin: a\r\nX: y\r\nOrigin: a\r\n"), 400},
      {"TwoKeys", Get("Sec-WebSocket-Key: a\r\nSec-WebSocket-Key: a\r\n"), 400},
      {"TwoVersions",
       Get("Sec-WebSocket-Version: 13\r\nSec-WebSocket-Version: 13\r\n"), 400},
      {"TwoTypes", Get("Content-Type: a\r\nContent-Type: a\r\n"), 400},
      {"TwoAuthorizations", Get("Authorization: a\r\nAuthorization: b\r\n"),
       400},

      // Bodies.
      {"LengthAndCoding",
       Get("Content-Length: 1\r\nTransfer-Encoding: chunked\r\n"), 400},
      {"CodingAndLength",
       Get("Transfer-Encoding: chunked\r\nContent-Length: 0\r\n"), 400},
      {"OtherCoding", Get("Transfer-Encoding: gzip\r\n"), 501},
      {"TwoCodingsInOne", Get("Transfer-Encoding: gzip, chunked\r\n"), 501},
      {"ChunkedTwiceInOne", Get("Transfer-Encoding: chunked, chunked\r\n"),
       501},
      {"ChunkedParameter", Get("Transfer-Encoding: chunked;a=b\r\n"), 501},
      {"EmptyCoding", Get("Transfer-Encoding:\r\n"), 501},
      {"EmptyLength", Get("Content-Length:\r\n"), 400},
      {"LengthPlus", Get("Content-Length: +1\r\n"), 400},
      {"LengthMinus", Get("Content-Length: -1\r\n"), 400},
      {"LengthHex", Get("Content-Length: 0x1\r\n"), 400},
      {"LengthSpaces", Get("Content-Length: 1 2\r\n"), 400},
      {"LengthList", Get("Content-Length: 1, 1\r\n"), 400},
      {"LengthFraction", Get("Content-Length: 1.0\r\n"), 400},
      {"LengthOverflow", Get("Content-Length: 18446744073709551616\r\n"), 400},
  };
  return rows;
}

class HttpRequestHeadTest : public ::testing::TestWithParam<Row> {};

TEST_P(HttpRequestHeadTest, Status) {
  const Row& row = GetParam();
  const std::string_view behind = "\r\nGET behind it";
  const Outcome outcome =
      RunAllCuts<HttpRequestHead>(row.head + std::string(behind));
  EXPECT_EQ(outcome.failure, row.failure);
  if (row.failure == 0) {
    EXPECT_EQ(outcome.progress, Progress::kDone);
    EXPECT_EQ(outcome.taken, row.head.size());
  } else {
    EXPECT_EQ(outcome.progress, Progress::kFailed);
    EXPECT_LE(outcome.taken, row.head.size());
  }
}

// A head that is cut short is never whole, and never refused for being short.
TEST_P(HttpRequestHeadTest, NeedsAllOfIt) {
  const Row& row = GetParam();
  if (row.failure != 0) return;
  for (std::size_t size = 0; size < row.head.size(); ++size) {
    HttpRequestHead head;
    Feed(head, std::string_view(row.head).substr(0, size),
         [] { return SIZE_MAX; });
    std::span<std::byte> nothing;
    ASSERT_EQ(head.Feed(nothing), Progress::kMore) << size;
  }
}

INSTANTIATE_TEST_SUITE_P(Rows, HttpRequestHeadTest,
                         ::testing::ValuesIn(RequestRows()),
                         [](const auto& row) { return row.param.name; });

const std::vector<Row>& ResponseRows() {
  static const std::vector<Row> rows = {
      {"Plain", "HTTP/1.1 101 Switching Protocols\r\n\r\n"},
      {"NoReason", "HTTP/1.1 404 \r\nX: y\r\n\r\n"},
      {"HighByteInReason", "HTTP/1.1 599 \xc3\xa4\r\n\r\n"},
      {"Cookies", "HTTP/1.1 200 OK\r\nSet-Cookie: a\r\nSet-Cookie: b\r\n\r\n"},
      {"Versions",
       "HTTP/1.1 426 x\r\nSec-WebSocket-Version: 13\r\n"
       "Sec-WebSocket-Version: 8, 7\r\n\r\n"},
      {"NoSpaceBehindStatus", "HTTP/1.1 404\r\n\r\n", 400},
      {"StatusOf2", "HTTP/1.1 40 \r\n\r\n", 400},
      {"StatusOf4", "HTTP/1.1 4040 \r\n\r\n", 400},
      {"StatusSign", "HTTP/1.1 +40 \r\n\r\n", 400},
      {"StatusLetter", "HTTP/1.1 40x \r\n\r\n", 400},
      {"Status099", "HTTP/1.1 099 \r\n\r\n", 400},
      {"Status600", "HTTP/1.1 600 \r\n\r\n", 400},
      {"TwoSpaces", "HTTP/1.1  404 \r\n\r\n", 400},
      {"Empty", "\r\n\r\n", 400},
      {"Version10", "HTTP/1.0 200 OK\r\n\r\n", 505},
      {"Request", Get(""), 400},
      {"TwoLengths",
       "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n",
       400},
      {"LengthAndCoding",
       "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n"
       "Transfer-Encoding: chunked\r\n\r\n",
       400},
      {"TwoAccepts",
       "HTTP/1.1 101 x\r\nSec-WebSocket-Accept: a\r\n"
       "Sec-WebSocket-Accept: a\r\n\r\n",
       400},
      {"TwoProtocols",
       "HTTP/1.1 101 x\r\nSec-WebSocket-Protocol: a\r\n"
       "Sec-WebSocket-Protocol: a\r\n\r\n",
       400},
      {"BareLf", "HTTP/1.1 101 x\n\r\n", 400},
  };
  return rows;
}

class HttpResponseHeadTest : public ::testing::TestWithParam<Row> {};

TEST_P(HttpResponseHeadTest, Status) {
  const Row& row = GetParam();
  const Outcome outcome = RunAllCuts<HttpResponseHead>(row.head + "\x82\x01");
  EXPECT_EQ(outcome.failure, row.failure);
  if (row.failure == 0) {
    EXPECT_EQ(outcome.taken, row.head.size());
    EXPECT_EQ(outcome.start, row.head.substr(9, 3));
  }
}

INSTANTIATE_TEST_SUITE_P(Rows, HttpResponseHeadTest,
                         ::testing::ValuesIn(ResponseRows()),
                         [](const auto& row) { return row.param.name; });

TEST(HttpHeadTest, TellsWhatItRead) {
  const Outcome outcome = RunAllCuts<HttpRequestHead>(
      "POST /invite?a HTTP/1.1\r\nHost: a:1\r\nX:  y z \t\r\nempty:\r\n"
      "Content-Length: 42\r\n\r\n");
  EXPECT_EQ(outcome.start, "POST /invite?a");
  EXPECT_THAT(outcome.headers,
              ElementsAre(Pair("Host", "a:1"), Pair("X", "y z"),
                          Pair("empty", ""), Pair("Content-Length", "42")));
  EXPECT_FALSE(outcome.chunked);
  EXPECT_EQ(outcome.content_length, 42u);
}

TEST(HttpHeadTest, ListsOverSeveralLines) {
  HttpRequestHead head;
  Feed(head, Get("X: a,, b ,\r\nY: n\r\nx: \t,\r\nX: c d\r\n"),
       [] { return SIZE_MAX; });
  EXPECT_THAT(head.List("x"), ElementsAre("a", "b", "c d"));
  EXPECT_THAT(head.List("Z"), IsEmpty());
  EXPECT_TRUE(head.ListHas("x", "B"));
  EXPECT_FALSE(head.ListHas("x", "c"));
  EXPECT_FALSE(head.ListHas("x", ""));
  EXPECT_EQ(head.Find("X"), "a,, b ,");
  EXPECT_EQ(head.Find("Z"), std::nullopt);
}

TEST(HttpHeadTest, SixtyFourHeadersPass) {
  std::string headers;
  for (int i = 1; i < 64; ++i) headers += "X: y\r\n";  // and Host
  EXPECT_EQ(RunAllCuts<HttpRequestHead>(Get(headers)).failure, 0);
  headers += "X: y\r\n";
  EXPECT_EQ(RunAllCuts<HttpRequestHead>(Get(headers)).failure, 431);
}

// The final CRLF counts. A head above the limit is refused at the limit: no
// more of it is taken.
TEST(HttpHeadTest, EightKibibytesPass) {
  const std::size_t other = Get("X: \r\n").size();
  const auto head_of = [&](std::size_t size) {
    return Get("X: " + std::string(size - other, 'y') + "\r\n");
  };
  ASSERT_EQ(head_of(8192).size(), 8192u);
  EXPECT_EQ(RunAllCuts<HttpRequestHead>(head_of(8192)).progress,
            Progress::kDone);
  for (const std::size_t size : {8193u, 8194u, 100'000u}) {
    const Outcome outcome = RunAllCuts<HttpRequestHead>(head_of(size));
    EXPECT_EQ(outcome.failure, 431) << size;
    EXPECT_EQ(outcome.taken, 8192u) << size;
  }
  EXPECT_EQ(RunAllCuts<HttpRequestHead>(std::string(9'000, 'G')).failure, 431);
}

TEST(HttpHeadTest, WhatATokenIs) {
  EXPECT_TRUE(IsHttpToken("!#$%&'*+-.^_`|~09azAZ"));
  EXPECT_FALSE(IsHttpToken(""));
  for (int c = 0; c < 256; ++c) {
    const bool allowed =
        c > ' ' && c < 0x7f &&
        std::string_view("\"(),/:;<=>?@[\\]{}").find(static_cast<char>(c)) ==
            std::string_view::npos;
    EXPECT_EQ(IsHttpToken(std::string(1, static_cast<char>(c))), allowed) << c;
  }
}

}  // namespace
}  // namespace parlor::stream
