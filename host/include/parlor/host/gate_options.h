// GateOptions: who may come in.
#ifndef PARLOR_HOST_GATE_OPTIONS_H_
#define PARLOR_HOST_GATE_OPTIONS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "parlor/limits.h"

namespace parlor::host {

// Every code is compared with every attempt, every origin with every page's.
inline constexpr std::size_t kCodesMax = 4'096;
inline constexpr std::size_t kOriginsMax = 256;
// And every proxy with every connection.
inline constexpr std::size_t kTrustedProxiesMax = 256;
// As many as HMAC-SHA256 gives out.
inline constexpr std::size_t kPassSecretMin = 32;

struct GateOptions {
  // Invite codes: 10 to 64 characters once trimmed, of those that
  // "invite.<code>" may have as a subprotocol (RFC 9110 section 5.6.2: letters,
  // digits and !#$%&'*+-.^_`|~); case does not count. Only their SHA-256 is
  // kept. Without any, every join is refused, unless `open`.
  std::vector<std::string> codes{};
  // Everyone may come in, with any code or none. Not together with codes.
  bool open = false;
  // Pages that may connect, as browsers name them: "https://play.example",
  // "http://localhost:8080", without a path (case and a default port do not
  // count). With any set, a request with another Origin is refused; one without
  // an Origin is no page and goes on to the access check.
  std::vector<std::string> origins{};
  // Passes let in as well as codes do: each is signed with `pass_secret`,
  // locked to the first devices that use it and may be revoked. Needs the
  // secret, and ServerOptions::access_store for the locks. Not together with
  // `open`.
  bool passes = false;
  // Of HMAC-SHA256; kPassSecretMin bytes at least. Without it no pass is right,
  // and with `passes` set nobody comes in at all.
  std::string pass_secret{};
  // A pass that lasts longer than that, or may be used from more devices, was
  // not made for this host, whatever its signature.
  std::int64_t pass_days = limits::kPassDays.fallback;
  std::int64_t pass_devices = limits::kPassDevices.fallback;
  // Proxies in front of this host, as "10.0.0.0/8" or "::1": where a connection
  // comes from one, its client is the last in X-Forwarded-For that is none of
  // them. From anybody else the header is not read.
  std::vector<std::string> trusted_proxies{};
  // Joins, resumes and access checks of an address, together; failed access
  // checks have a third of it on their own.
  std::int64_t joins_per_minute = limits::kAddressRate.fallback;
};

// OK, or InvalidArgument: the field below `path`, and what is wrong. Never a
// code.
absl::Status ValidateOptions(const GateOptions& options, std::string_view path);

}  // namespace parlor::host

#endif  // PARLOR_HOST_GATE_OPTIONS_H_
