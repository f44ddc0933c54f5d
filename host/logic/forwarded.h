// Who the client of a connection is when a proxy is in between: a proxy appends
// the address that it was connected from to X-Forwarded-For. What is left of
// what the own proxies wrote may have been written by anybody.
//
// Nothing of the header is kept, logged or answered.
#ifndef PARLOR_HOST_LOGIC_FORWARDED_H_
#define PARLOR_HOST_LOGIC_FORWARDED_H_

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "logic/numeric_address.h"
#include "parlor/host/address.h"

namespace parlor::host {

// The addresses that begin with the same bits. One of IPv6, "::/0" too, has
// none of IPv4, not as mapped into IPv6 either.
struct Network {
  NumericAddress first;  // no bit is set behind the prefix
  int prefix = 128;      // 0..128; of IPv4 96..128, which is its own plus 96

  bool Has(const NumericAddress& address) const;
};

// "10.0.0.0/8", "2001:db8::/32", "::ffff:10.0.0.0/104" (which is the first), or
// an address, which is a network of one. InvalidArgument: what is wrong with
// it.
absl::StatusOr<Network> ParseNetwork(std::string_view text);

class TrustedProxies {
 public:
  // Nobody.
  TrustedProxies() = default;
  // Each is one that ParseNetwork takes.
  explicit TrustedProxies(std::span<const std::string> networks);

  bool Has(const NumericAddress& address) const;

  // The client of a connection from `peer`, which is nothing when it could not
  // be read. `forwarded`: all the elements of X-Forwarded-For, as one list.
  //
  // The peer, unless it is trusted; else the last in the list that is not, or,
  // when all are, the first. An element may have a port, as some proxies write
  // it ("1.2.3.4:55", "[2001:db8::1]:55"). What is no address ("unknown") ends
  // the walk: the client is then the last of the proxies that was passed, since
  // that is as much as is known.
  Address ClientOf(const std::optional<NumericAddress>& peer,
                   std::span<const std::string_view> forwarded) const;

 private:
  std::vector<Network> networks_;
};

}  // namespace parlor::host

#endif  // PARLOR_HOST_LOGIC_FORWARDED_H_
