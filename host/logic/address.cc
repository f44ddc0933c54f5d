#include "parlor/host/address.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace parlor::host {
namespace {

// RFC 4291 section 2.5.5.2: what an IPv4 client looks like to an IPv6 socket.
constexpr std::array<std::uint8_t, 12> kMapped = {0, 0, 0, 0, 0,    0,
                                                  0, 0, 0, 0, 0xff, 0xff};

std::uint64_t ReadBigEndian(std::span<const std::uint8_t> bytes) {
  std::uint64_t value = 0;
  for (const std::uint8_t byte : bytes) value = value << 8 | byte;
  return value;
}

}  // namespace

std::optional<Address> Address::Parse(std::string_view text) {
  // C's functions would stop reading there.
  if (text.find('\0') != std::string_view::npos) return std::nullopt;
  std::array<std::uint8_t, sizeof(in_addr)> v4;
  if (inet_pton(AF_INET, std::string(text).c_str(), v4.data()) == 1) {
    return Address(0, kIpv4 | ReadBigEndian(v4));
  }
  const std::string unscoped(text.substr(0, text.find('%')));
  std::array<std::uint8_t, sizeof(in6_addr)> v6;
  if (inet_pton(AF_INET6, unscoped.c_str(), v6.data()) != 1) {
    return std::nullopt;
  }
  if (std::equal(kMapped.begin(), kMapped.end(), v6.begin())) {
    return Address(0, kIpv4 | ReadBigEndian(std::span(v6).last<4>()));
  }
  return Address(ReadBigEndian(std::span(v6).first<8>()), kIpv6);
}

Address Address::Unknown() { return Address(0, kUnknown); }

}  // namespace parlor::host
