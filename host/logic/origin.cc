#include "logic/origin.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>

#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "parlor/status.h"

namespace parlor::host {
namespace {

// RFC 3986 section 3.1. Apps have schemes of their own:
// "capacitor://localhost".
bool IsScheme(std::string_view text) {
  return !text.empty() && absl::ascii_isalpha(text.front()) &&
         std::all_of(text.begin(), text.end(), [](char c) {
           return absl::ascii_isalnum(c) || c == '+' || c == '-' || c == '.';
         });
}

// A name (browsers write others than ASCII as "xn--..."), or an IPv6 address in
// brackets.
bool IsHost(std::string_view text) {
  const bool bracketed =
      text.size() > 2 && text.starts_with('[') && text.ends_with(']');
  if (bracketed) text = text.substr(1, text.size() - 2);
  return !text.empty() && std::all_of(text.begin(), text.end(), [&](char c) {
    if (bracketed) return absl::ascii_isxdigit(c) || c == ':' || c == '.';
    return absl::ascii_isalnum(c) || c == '-' || c == '.' || c == '_';
  });
}

bool IsPort(std::string_view text) {
  std::uint16_t port = 0;
  const char* const end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, port);
  return error == std::errc{} && at == end && port > 0 && text.front() != '0';
}

}  // namespace

absl::StatusOr<std::string> NormalOrigin(std::string_view text) {
  std::string origin(text);
  absl::AsciiStrToLower(&origin);
  const std::size_t colon = origin.find("://");
  if (colon == std::string::npos) {
    return InvalidArgument("an origin is <scheme>://<host>[:<port>]");
  }
  const std::string scheme = origin.substr(0, colon);
  std::string host = origin.substr(colon + 3);
  if (!IsScheme(scheme)) return InvalidArgument("its scheme is none");
  if (host.find_first_of("/?#") != std::string::npos) {
    return InvalidArgument(
        "an origin ends with its host or port: no path, no slash");
  }
  // The colons inside brackets are an address's.
  const std::size_t divider = host.find(':', host.rfind(']') + 1);
  if (divider != std::string::npos) {
    const std::string port = host.substr(divider + 1);
    if (!IsPort(port)) return InvalidArgument("its port is not in 1..65535");
    const bool is_default = (scheme == "https" && port == "443") ||
                            (scheme == "http" && port == "80");
    if (is_default) origin.resize(colon + 3 + divider);
    host.resize(divider);
  }
  if (!IsHost(host)) return InvalidArgument("its host is no name or address");
  return origin;
}

}  // namespace parlor::host
