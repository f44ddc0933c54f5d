#include "logic/numeric_address.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace parlor::host {
namespace {

constexpr std::array<std::uint8_t, 12> kMapped = {0, 0, 0, 0, 0,    0,
                                                  0, 0, 0, 0, 0xff, 0xff};

}  // namespace

bool NumericAddress::is_ipv4() const {
  return std::equal(kMapped.begin(), kMapped.end(), bytes.begin());
}

std::optional<NumericAddress> ParseNumericAddress(std::string_view text) {
  // C's functions would stop reading there.
  if (text.find('\0') != std::string_view::npos) return std::nullopt;
  NumericAddress address;
  std::copy(kMapped.begin(), kMapped.end(), address.bytes.begin());
  static_assert(sizeof(in_addr) + kMapped.size() == sizeof(address.bytes));
  if (inet_pton(AF_INET, std::string(text).c_str(),
                address.bytes.data() + kMapped.size()) == 1) {
    return address;
  }
  const std::string unscoped(text.substr(0, text.find('%')));
  static_assert(sizeof(in6_addr) == sizeof(address.bytes));
  if (inet_pton(AF_INET6, unscoped.c_str(), address.bytes.data()) == 1) {
    return address;
  }
  return std::nullopt;
}

}  // namespace parlor::host
