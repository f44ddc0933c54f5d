// Address: where a client comes from, as a host counts it. Kept in memory only
// for as long as it is counted, never stored and never logged.
#ifndef PARLOR_HOST_ADDRESS_H_
#define PARLOR_HOST_ADDRESS_H_

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

namespace parlor::host {

struct NumericAddress;  // logic/numeric_address.h

class Address {
 public:
  // Numeric, without port; a scope ("%eth0") is ignored. IPv4, and IPv4 mapped
  // into IPv6, count whole; IPv6 counts by its first 64 bits, since one
  // subscriber has all of the rest (RFC 6177).
  static std::optional<Address> Parse(std::string_view text);
  static Address Of(const NumericAddress& address);

  // Of a client whose address could not be read: all of them count as one.
  static Address Unknown();

  // Of no client: what is attached in the process itself, and not counted.
  Address() = default;

  friend bool operator==(const Address&, const Address&) = default;
  template <typename H>
  friend H AbslHashValue(H state, const Address& address) {
    return H::combine(std::move(state), address.high_, address.low_);
  }

 private:
  // What low_ says: the kind, and with IPv4 the address in the lower half. No
  // address is equal to Address(), that of "::1" included.
  static constexpr std::uint64_t kIpv4 = std::uint64_t{1} << 32;
  static constexpr std::uint64_t kIpv6 = std::uint64_t{2} << 32;
  static constexpr std::uint64_t kUnknown = std::uint64_t{3} << 32;

  Address(std::uint64_t high, std::uint64_t low) : high_(high), low_(low) {}

  std::uint64_t high_ = 0;  // the first 64 bits of IPv6
  std::uint64_t low_ = 0;
};

}  // namespace parlor::host

#endif  // PARLOR_HOST_ADDRESS_H_
