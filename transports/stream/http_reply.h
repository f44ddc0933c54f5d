// HTTP/1.1 responses that are small and whole: what a host's front answers
// itself, and how a WebSocket handshake refuses. The one place that writes
// them. Pure, like http_head.h, which reads.
#ifndef PARLOR_TRANSPORTS_STREAM_HTTP_REPLY_H_
#define PARLOR_TRANSPORTS_STREAM_HTTP_REPLY_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace parlor::stream {

// Whether HTTP has a method of that name, whose case counts: those of RFC 9110
// section 9.3 and PATCH (RFC 5789). Another is answered with 501, and one
// that a target does not have with 405 and its Allow.
bool IsKnownMethod(std::string_view method);

// Empty for a status that none of ours is; a reply may be without (RFC 9112
// section 4).
std::string_view ReasonPhrase(std::uint16_t status);

// "name: value" and the end of the line. Checked: the name is a token, and the
// value visible ASCII, spaces and tabs: an end of line in here would let
// whoever wrote it answer in our name.
void AppendHttpHeader(std::string& head, std::string_view name,
                      std::string_view value);

struct HttpHeader {
  std::string name;
  std::string value;
};

struct HttpReply {
  std::uint16_t status = 200;  // 200..599
  // Beside those that the fields below make: Connection, Upgrade, Retry-After,
  // Content-Type and Content-Length.
  std::vector<HttpHeader> headers{};
  std::string_view content_type{};  // empty: the header is left out
  std::string_view body{};          // none with 204, which has no length either
  // What the client ought to speak instead (426, RFC 9110 section 15.5.22).
  std::string_view upgrade{};
  std::uint32_t retry_after_s = 0;  // 0: the header is left out
  // Says that we end the connection behind this reply; if not, the next
  // request may follow.
  bool close = true;
  // To HEAD: the head that GET would have got, with the length of the body, and
  // no body.
  bool head_only = false;
};

// All of it, as it is sent. There is no Date: nothing here has a clock (RFC
// 9110 section 6.6.1).
std::string FormatHttpReply(const HttpReply& reply);

}  // namespace parlor::stream

#endif  // PARLOR_TRANSPORTS_STREAM_HTTP_REPLY_H_
