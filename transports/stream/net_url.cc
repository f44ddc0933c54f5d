#include "stream/net_url.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "parlor/status.h"

namespace parlor::stream {
namespace {

using absl::ascii_isalnum;
using absl::ascii_isdigit;
using absl::ascii_isxdigit;

struct Scheme {
  std::string_view name;
  bool websocket;
  bool tls;
  std::uint16_t port;  // 0: it has to be said
};

constexpr std::array kSchemes = {
    Scheme{"ws", true, false, 80},
    Scheme{"wss", true, true, 443},
    Scheme{"tcp", false, false, 0},
    Scheme{"tls", false, true, 0},
};

// RFC 1035 section 2.3.4: 253 characters without the dot of the root, 63 in a
// label.
constexpr std::size_t kNameMax = 253;
constexpr std::size_t kLabelMax = 63;
// Ours; a request target has to fit into a head with all else.
constexpr std::size_t kBaseMax = 1024;

absl::Status Wrong(std::string_view what) {
  return InvalidArgument("URL: " + std::string(what));
}

std::string Lowered(std::string_view text) {
  std::string lowered(text);
  absl::AsciiStrToLower(&lowered);
  return lowered;
}

bool IsAddress(int family, const std::string& text) {
  std::array<unsigned char, sizeof(in6_addr)> address;
  return inet_pton(family, text.c_str(), address.data()) == 1;
}

// A name of letters, digits, '-' and '_', or an IPv4 address. What ends in a
// number is an address and nothing else: resolvers take "1.2.3" and "0x7f.1"
// for addresses of their own making.
bool IsHost(const std::string& host) {
  if (host.empty() || host.size() > kNameMax) return false;
  std::string_view rest = host;
  std::string_view label;
  while (true) {
    const std::size_t dot = rest.find('.');
    label = rest.substr(0, dot);
    const bool well_formed =
        !label.empty() && label.size() <= kLabelMax && label.front() != '-' &&
        label.back() != '-' &&
        std::all_of(label.begin(), label.end(), [](char c) {
          return ascii_isalnum(c) || c == '-' || c == '_';
        });
    if (!well_formed) return false;
    if (dot == std::string_view::npos) break;
    rest.remove_prefix(dot + 1);
  }
  const bool number = std::all_of(label.begin(), label.end(),
                                  [](char c) { return ascii_isdigit(c); }) ||
                      label.starts_with("0x");
  return !number || IsAddress(AF_INET, host);
}

// RFC 3986 section 3.3: pchar and the slash.
bool IsPath(std::string_view path) {
  constexpr std::string_view kMarks = "-._~!$&'()*+,;=:@/";
  for (std::size_t i = 0; i < path.size(); ++i) {
    const char c = path[i];
    if (ascii_isalnum(c) || kMarks.find(c) != std::string_view::npos) continue;
    const bool escape = c == '%' && path.size() - i > 2 &&
                        ascii_isxdigit(path[i + 1]) &&
                        ascii_isxdigit(path[i + 2]);
    if (!escape) return false;
  }
  return true;
}

// Takes the host and what separates it off the front of `rest`.
absl::Status TakeHost(std::string_view& rest, NetUrl& url) {
  if (rest.starts_with('[')) {
    const std::size_t end = rest.find(']');
    if (end == std::string_view::npos) return Wrong("a bracket is not closed");
    url.host = Lowered(rest.substr(1, end - 1));
    if (!IsAddress(AF_INET6, url.host)) {
      return Wrong("what is in brackets is no IPv6 address");
    }
    url.authority = "[" + url.host + "]";
    rest.remove_prefix(end + 1);
    return absl::OkStatus();
  }
  const std::size_t end = rest.find(':');
  url.host = Lowered(rest.substr(0, end));
  if (end != std::string_view::npos &&
      rest.find(':', end + 1) != std::string_view::npos) {
    return Wrong("an IPv6 address belongs in brackets");
  }
  if (url.host.empty()) return Wrong("the host is missing");
  if (!IsHost(url.host)) return Wrong("the host is no name and no address");
  url.authority = url.host;
  rest.remove_prefix(std::min(end, rest.size()));
  return absl::OkStatus();
}

absl::Status TakePort(std::string_view rest, const Scheme& scheme,
                      NetUrl& url) {
  url.port = scheme.port;
  if (rest.empty()) {
    if (scheme.port == 0) return Wrong("the port is missing");
    return absl::OkStatus();
  }
  if (rest.front() != ':') return Wrong("the port follows a colon");
  rest.remove_prefix(1);
  const auto [end, error] =
      std::from_chars(rest.data(), rest.data() + rest.size(), url.port);
  if (error != std::errc{} || end != rest.data() + rest.size() ||
      url.port == 0) {
    return Wrong("the port is no number in 1..65535");
  }
  if (url.port != scheme.port) {
    url.authority += ':';
    url.authority += std::to_string(url.port);
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<NetUrl> ParseNetUrl(std::string_view url) {
  const std::size_t colon = url.find("://");
  const std::string name = Lowered(url.substr(0, colon));
  const auto* const scheme =
      std::find_if(kSchemes.begin(), kSchemes.end(),
                   [&](const Scheme& row) { return row.name == name; });
  if (colon == std::string_view::npos || scheme == kSchemes.end()) {
    return Wrong("it begins with none of ws://, wss://, tcp:// and tls://");
  }
  NetUrl parsed;
  parsed.websocket = scheme->websocket;
  parsed.tls = scheme->tls;

  std::string_view rest = url.substr(colon + 3);
  if (rest.find('#') != std::string_view::npos) {
    return Wrong("a fragment (#) is not taken");
  }
  if (rest.find('?') != std::string_view::npos) {
    return Wrong("a query (?) is not taken");
  }
  const std::size_t slash = std::min(rest.find('/'), rest.size());
  std::string_view place = rest.substr(0, slash);
  std::string_view base = rest.substr(slash);
  if (place.find('@') != std::string_view::npos) {
    return Wrong("user information (@) is not taken");
  }
  if (absl::Status status = TakeHost(place, parsed); !status.ok())
    return status;
  if (absl::Status status = TakePort(place, *scheme, parsed); !status.ok()) {
    return status;
  }
  if (base.ends_with('/')) base.remove_suffix(1);
  if (base.size() > kBaseMax) return Wrong("the path is too long");
  if (!IsPath(base)) {
    return Wrong("the path holds a character that has to be escaped");
  }
  if (base.ends_with('/')) return Wrong("the path ends in two slashes");
  parsed.base = std::string(base);
  return parsed;
}

}  // namespace parlor::stream
