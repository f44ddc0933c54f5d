// NumericAddress: an IPv4 or IPv6 address, all of it. Class Address is how one
// is counted.
#ifndef PARLOR_HOST_LOGIC_NUMERIC_ADDRESS_H_
#define PARLOR_HOST_LOGIC_NUMERIC_ADDRESS_H_

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace parlor::host {

struct NumericAddress {
  // As in a packet. IPv4 is mapped into IPv6 (RFC 4291 section 2.5.5.2), which
  // is what an IPv4 client looks like to an IPv6 socket, so that it is the same
  // address either way.
  std::array<std::uint8_t, 16> bytes{};

  bool is_ipv4() const;

  friend bool operator==(const NumericAddress&,
                         const NumericAddress&) = default;
};

// Without port or brackets; a scope ("%eth0") is ignored.
std::optional<NumericAddress> ParseNumericAddress(std::string_view text);

}  // namespace parlor::host

#endif  // PARLOR_HOST_LOGIC_NUMERIC_ADDRESS_H_
