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
  // Joins, resumes and access checks of an address, together; failed access
  // checks have a third of it on their own.
  std::int64_t joins_per_minute = limits::kAddressRate.fallback;
};

// OK, or InvalidArgument: the field below `path`, and what is wrong. Never a
// code.
absl::Status ValidateOptions(const GateOptions& options, std::string_view path);

}  // namespace parlor::host

#endif  // PARLOR_HOST_GATE_OPTIONS_H_
