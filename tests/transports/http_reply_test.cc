#include "stream/http_reply.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "gtest/gtest.h"
#include "parlor/byte_io.h"
#include "stream/http_head.h"

namespace parlor::stream {
namespace {

TEST(HttpReplyTest, Whole) {
  EXPECT_EQ(FormatHttpReply({.content_type = "application/json",
                             .body = "{\"ok\":true}\n",
                             .close = false}),
            "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
            "Content-Length: 12\r\n\r\n{\"ok\":true}\n");
  EXPECT_EQ(FormatHttpReply({.status = 503, .body = "no"}),
            "HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\n"
            "Content-Length: 2\r\n\r\nno");
}

TEST(HttpReplyTest, HeadHasTheLengthAndNoBody) {
  EXPECT_EQ(FormatHttpReply({.body = "0123456789", .head_only = true}),
            "HTTP/1.1 200 OK\r\nConnection: close\r\n"
            "Content-Length: 10\r\n\r\n");
}

TEST(HttpReplyTest, NoContentHasNoLength) {
  EXPECT_EQ(FormatHttpReply({.status = 204, .close = false}),
            "HTTP/1.1 204 No Content\r\n\r\n");
}

TEST(HttpReplyTest, Headers) {
  EXPECT_EQ(FormatHttpReply({.status = 405,
                             .headers = {{"Allow", "GET, HEAD"}, {"X", ""}},
                             .retry_after_s = 3}),
            "HTTP/1.1 405 Method Not Allowed\r\nConnection: close\r\n"
            "Allow: GET, HEAD\r\nX: \r\nRetry-After: 3\r\n"
            "Content-Length: 0\r\n\r\n");
  EXPECT_EQ(FormatHttpReply({.status = 426, .upgrade = "websocket"}),
            "HTTP/1.1 426 Upgrade Required\r\nConnection: close, Upgrade\r\n"
            "Upgrade: websocket\r\nContent-Length: 0\r\n\r\n");
  EXPECT_EQ(
      FormatHttpReply({.status = 426, .upgrade = "websocket", .close = false}),
      "HTTP/1.1 426 Upgrade Required\r\nConnection: Upgrade\r\n"
      "Upgrade: websocket\r\nContent-Length: 0\r\n\r\n");
}

// What we write, our own strict reader takes.
TEST(HttpReplyTest, CanBeRead) {
  for (std::uint16_t status = 200; status <= 599; ++status) {
    SCOPED_TRACE(status);
    const std::string_view body = status == 204 ? "" : "body";
    const std::string text = FormatHttpReply({.status = status, .body = body});
    const auto bytes = AsBytes(text);
    std::vector<std::byte> copy(bytes.begin(), bytes.end());
    std::span<std::byte> input = copy;
    HttpResponseHead head;
    ASSERT_EQ(head.Feed(input), HttpHead::Progress::kDone);
    EXPECT_EQ(head.status(), status);
    EXPECT_EQ(head.content_length(), body.size());
    EXPECT_EQ(AsText(input), body);
    EXPECT_TRUE(head.ListHas("Connection", "close"));
  }
}

TEST(HttpReplyTest, Methods) {
  for (const char* method : {"GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT",
                             "OPTIONS", "TRACE", "PATCH"}) {
    EXPECT_TRUE(IsKnownMethod(method)) << method;
  }
  for (const char* method : {"", "get", "GETS", "BREW"}) {
    EXPECT_FALSE(IsKnownMethod(method)) << method;
  }
}

TEST(HttpReplyDeathTest, LetsNothingElseIntoTheHead) {
  for (const char* value :
       {"a\r\nSet-Cookie: b", "a\nb", "a\x7f", "\xc3\xa4"}) {
    EXPECT_DEATH(FormatHttpReply({.headers = {{"X", value}}}), "");
    EXPECT_DEATH(FormatHttpReply({.content_type = value}), "");
  }
  EXPECT_DEATH(FormatHttpReply({.headers = {{"a b", "c"}}}), "");
  EXPECT_DEATH(FormatHttpReply({.status = 101}), "");
  EXPECT_DEATH(FormatHttpReply({.status = 204, .body = "x"}), "");
}

}  // namespace
}  // namespace parlor::stream
