#include "parlor/transports/stream_options.h"

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "parlor/limits.h"
#include "parlor/status.h"

namespace parlor {

absl::Status ValidateOptions(const StreamOptions& options,
                             std::string_view path) {
  const auto check = [&](const Limit& limit, std::int64_t value) {
    return CheckLimit(limit, std::string(path) + "." + std::string(limit.name),
                      value);
  };
  absl::Status status =
      check(limits::kReliableBytes,
            static_cast<std::int64_t>(options.reliable_bytes_max));
  status.Update(check(limits::kMessageBytes,
                      static_cast<std::int64_t>(options.message_bytes_max)));
  status.Update(check(limits::kLingerMs, options.linger_ms));
  status.Update(check(limits::kHandshakeMs, options.handshake_ms));
  status.Update(check(limits::kPingMs, options.ping_ms));
  status.Update(check(limits::kSilenceMs, options.silence_ms));
  // Who is never asked is silent: every idle connection would be dropped.
  if (options.ping_ms >= options.silence_ms) {
    status.Update(InvalidArgument(
        std::string(path) + ".ping_ms: " + std::to_string(options.ping_ms) +
        " is not below silence_ms, " + std::to_string(options.silence_ms)));
  }
  return status;
}

}  // namespace parlor
