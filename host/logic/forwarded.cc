#include "logic/forwarded.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "logic/numeric_address.h"
#include "parlor/check.h"
#include "parlor/host/address.h"
#include "parlor/status.h"

namespace parlor::host {
namespace {

constexpr int kBits = 128;
constexpr int kIpv4Bits = 32;

bool AreDigits(std::string_view text, std::size_t size_max) {
  return !text.empty() && text.size() <= size_max &&
         std::all_of(text.begin(), text.end(),
                     [](char c) { return absl::ascii_isdigit(c); });
}

// Whether the bit is set, the first being number 0.
bool Bit(const NumericAddress& address, int number) {
  const auto byte = static_cast<std::size_t>(number / 8);
  return (address.bytes[byte] >> (7 - number % 8) & 1) != 0;
}

std::optional<int> ParsePrefix(std::string_view text, int max) {
  if (!AreDigits(text, 3)) return std::nullopt;
  if (text.size() > 1 && text.front() == '0') return std::nullopt;
  const int prefix = std::stoi(std::string(text));
  if (prefix > max) return std::nullopt;
  return prefix;
}

// An element of X-Forwarded-For.
std::optional<NumericAddress> ParseElement(std::string_view text) {
  std::string_view port;  // with its colon
  if (text.starts_with('[')) {
    const std::size_t end = text.find(']');
    if (end == std::string_view::npos) return std::nullopt;
    port = text.substr(end + 1);
    text = text.substr(1, end - 1);
    if (text.find(':') == std::string_view::npos) return std::nullopt;
  } else if (const std::size_t colon = text.find(':');
             colon == text.rfind(':') && colon != std::string_view::npos) {
    port = text.substr(colon);
    text = text.substr(0, colon);
  }
  if (!port.empty() && (port.front() != ':' || !AreDigits(port.substr(1), 5))) {
    return std::nullopt;
  }
  return ParseNumericAddress(text);
}

}  // namespace

bool Network::Has(const NumericAddress& address) const {
  if (address.is_ipv4() != first.is_ipv4()) return false;
  const auto bytes = static_cast<std::size_t>(prefix / 8);
  if (!std::equal(first.bytes.begin(), first.bytes.begin() + bytes,
                  address.bytes.begin())) {
    return false;
  }
  for (int bit = prefix / 8 * 8; bit < prefix; ++bit) {
    if (Bit(first, bit) != Bit(address, bit)) return false;
  }
  return true;
}

absl::StatusOr<Network> ParseNetwork(std::string_view text) {
  const std::size_t slash = text.find('/');
  const std::string_view address = text.substr(0, slash);
  const std::optional<NumericAddress> first = ParseNumericAddress(address);
  if (!first || address.find('%') != std::string_view::npos) {
    return InvalidArgument(
        "is neither an address nor a network like \"10.0.0.0/8\"");
  }
  if (slash == std::string_view::npos) return Network{.first = *first};
  // As it is written, not as it is kept.
  const int bits =
      address.find(':') == std::string_view::npos ? kIpv4Bits : kBits;
  const std::optional<int> prefix = ParsePrefix(text.substr(slash + 1), bits);
  if (!prefix) {
    return InvalidArgument("its prefix is not in 0.." + std::to_string(bits));
  }
  const Network network{.first = *first, .prefix = kBits - bits + *prefix};
  for (int bit = network.prefix; bit < kBits; ++bit) {
    if (!Bit(network.first, bit)) continue;
    return InvalidArgument("it has bits set behind the first " +
                           std::to_string(*prefix));
  }
  return network;
}

TrustedProxies::TrustedProxies(std::span<const std::string> networks) {
  for (const std::string& text : networks) {
    const absl::StatusOr<Network> network = ParseNetwork(text);
    PARLOR_CHECK(network.ok());
    networks_.push_back(*network);
  }
}

bool TrustedProxies::Has(const NumericAddress& address) const {
  return std::any_of(
      networks_.begin(), networks_.end(),
      [&](const Network& network) { return network.Has(address); });
}

Address TrustedProxies::ClientOf(
    const std::optional<NumericAddress>& peer,
    std::span<const std::string_view> forwarded) const {
  if (!peer) return Address::Unknown();
  NumericAddress client = *peer;
  while (Has(client) && !forwarded.empty()) {
    const std::optional<NumericAddress> next = ParseElement(forwarded.back());
    if (!next) break;
    client = *next;
    forwarded = forwarded.first(forwarded.size() - 1);
  }
  return Address::Of(client);
}

}  // namespace parlor::host
