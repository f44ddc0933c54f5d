// Pass: play time that a host hands out: who holds one comes in until it
// expires, from the first devices that use it.
//
// A pass is text that a subprotocol may carry, "<payload>.<signature>", both
// base64url without padding: a version byte 1, the id, when it expires (both
// 8 bytes, little-endian) and a byte for the devices; and the HMAC-SHA256 of
// these 18 bytes. Of each pass there is one spelling, of 68 characters.
#ifndef PARLOR_HOST_LOGIC_PASS_H_
#define PARLOR_HOST_LOGIC_PASS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "parlor/host/access_store.h"

namespace parlor::host {

struct Pass {
  std::uint64_t id = 0;        // random; shown as 16 hexadecimal digits
  std::int64_t expires_s = 0;  // since 1970
  std::int64_t devices = 1;    // 1..limits::kPassDevices.ceiling

  friend bool operator==(const Pass&, const Pass&) = default;
};

// `secret` is not empty.
std::string WritePass(const Pass& pass, std::string_view secret);

// Nothing, unless `secret` (not empty) signed it, which is compared in constant
// time. It may have expired.
std::optional<Pass> ReadPass(std::string_view text, std::string_view secret);

// What a device shows with a pass: 16 to 64 characters of base64url.
bool IsDeviceKey(std::string_view key);

// 16 hexadecimal digits, as it is shown, and known to rooms by.
std::string PassIdText(std::uint64_t id);

// What is stored of it: differs between passes, so that a device that has two
// does not show that they belong together.
Sha256 HashDevice(std::uint64_t pass, std::string_view key);

}  // namespace parlor::host

#endif  // PARLOR_HOST_LOGIC_PASS_H_
