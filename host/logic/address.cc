#include "parlor/host/address.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "logic/numeric_address.h"

namespace parlor::host {
namespace {

std::uint64_t ReadBigEndian(std::span<const std::uint8_t> bytes) {
  std::uint64_t value = 0;
  for (const std::uint8_t byte : bytes) value = value << 8 | byte;
  return value;
}

}  // namespace

std::optional<Address> Address::Parse(std::string_view text) {
  const std::optional<NumericAddress> address = ParseNumericAddress(text);
  if (!address) return std::nullopt;
  return Of(*address);
}

Address Address::Of(const NumericAddress& address) {
  const std::span bytes(address.bytes);
  if (address.is_ipv4()) {
    return Address(0, kIpv4 | ReadBigEndian(bytes.last<4>()));
  }
  return Address(ReadBigEndian(bytes.first<8>()), kIpv6);
}

Address Address::Unknown() { return Address(0, kUnknown); }

}  // namespace parlor::host
