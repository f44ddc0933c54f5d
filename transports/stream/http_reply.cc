#include "stream/http_reply.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "parlor/check.h"
#include "stream/http_head.h"

namespace parlor::stream {
namespace {

constexpr std::uint16_t kNoContent = 204;

bool IsHeaderValue(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= ' ' && c <= '~') || c == '\t';
  });
}

}  // namespace

bool IsKnownMethod(std::string_view method) {
  constexpr std::array<std::string_view, 9> kMethods = {
      "CONNECT", "DELETE", "GET", "HEAD", "OPTIONS",
      "PATCH",   "POST",   "PUT", "TRACE"};
  return std::find(kMethods.begin(), kMethods.end(), method) != kMethods.end();
}

std::string_view ReasonPhrase(std::uint16_t status) {
  struct Row {
    std::uint16_t status;
    std::string_view phrase;
  };
  constexpr std::array<Row, 18> kRows = {{
      {200, "OK"},
      {204, "No Content"},
      {400, "Bad Request"},
      {401, "Unauthorized"},
      {403, "Forbidden"},
      {404, "Not Found"},
      {405, "Method Not Allowed"},
      {408, "Request Timeout"},
      {409, "Conflict"},
      {411, "Length Required"},
      {413, "Content Too Large"},
      {415, "Unsupported Media Type"},
      {426, "Upgrade Required"},
      {429, "Too Many Requests"},
      {431, "Request Header Fields Too Large"},
      {501, "Not Implemented"},
      {503, "Service Unavailable"},
      {505, "HTTP Version Not Supported"},
  }};
  for (const Row& row : kRows) {
    if (row.status == status) return row.phrase;
  }
  return {};
}

void AppendHttpHeader(std::string& head, std::string_view name,
                      std::string_view value) {
  PARLOR_CHECK(IsHttpToken(name) && IsHeaderValue(value));
  head += name;
  head += ": ";
  head += value;
  head += "\r\n";
}

std::string FormatHttpReply(const HttpReply& reply) {
  PARLOR_CHECK(reply.status >= 200 && reply.status <= 599);
  PARLOR_CHECK(reply.status != kNoContent || reply.body.empty());
  std::string text = "HTTP/1.1 ";
  text += std::to_string(reply.status);
  text += ' ';
  text += ReasonPhrase(reply.status);
  text += "\r\n";
  // Upgrade counts from one hop to the next, and is named so (RFC 9110 section
  // 7.8).
  std::string connection = reply.close ? "close" : "";
  if (!reply.upgrade.empty())
    connection += reply.close ? ", Upgrade" : "Upgrade";
  if (!connection.empty()) AppendHttpHeader(text, "Connection", connection);
  if (!reply.upgrade.empty()) AppendHttpHeader(text, "Upgrade", reply.upgrade);
  for (const HttpHeader& header : reply.headers) {
    AppendHttpHeader(text, header.name, header.value);
  }
  if (reply.retry_after_s != 0) {
    AppendHttpHeader(text, "Retry-After", std::to_string(reply.retry_after_s));
  }
  if (!reply.content_type.empty()) {
    AppendHttpHeader(text, "Content-Type", reply.content_type);
  }
  if (reply.status != kNoContent) {
    AppendHttpHeader(text, "Content-Length", std::to_string(reply.body.size()));
  }
  text += "\r\n";
  if (!reply.head_only) text += reply.body;
  return text;
}

}  // namespace parlor::stream
