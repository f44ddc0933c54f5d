// Address: where a client comes from, as a host counts it. Kept in memory only
// for as long as it is counted, never stored and never logged.
#ifndef PARLOR_HOST_ADDRESS_H_
#define PARLOR_HOST_ADDRESS_H_

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

namespace parlor::host {

class Address {
 public:
  // Numeric, without port; a scope ("%eth0") is ignored. IPv4, and IPv4 mapped
  // into IPv6, count whole; IPv6 counts by its first 64 bits, since one
  // subscriber has all of the rest (RFC 6177).
  static std::optional<Address> Parse(std::string_view text);

  // Of no client: what is attached in the process itself.
  Address() = default;

  friend bool operator==(const Address&, const Address&) = default;
  template <typename H>
  friend H AbslHashValue(H state, const Address& address) {
    return H::combine(std::move(state), address.high_, address.low_);
  }

 private:
  std::uint64_t high_ = 0;
  std::uint64_t low_ = 0;  // 0 for IPv6; IPv4: ::ffff:a.b.c.d
};

}  // namespace parlor::host

#endif  // PARLOR_HOST_ADDRESS_H_
