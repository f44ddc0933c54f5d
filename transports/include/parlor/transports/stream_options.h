// What every connection over a byte stream (WebSocket, TCP, either with TLS)
// can be told.
#ifndef PARLOR_TRANSPORTS_STREAM_OPTIONS_H_
#define PARLOR_TRANSPORTS_STREAM_OPTIONS_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "absl/status/status.h"
#include "parlor/limits.h"

namespace parlor {

struct StreamOptions {
  // Of what we send. A message counts with kMessageOverhead.
  std::size_t reliable_bytes_max =
      static_cast<std::size_t>(limits::kReliableBytes.fallback);
  // Of what we take; larger messages close 1009 as soon as their length is
  // announced.
  std::size_t message_bytes_max =
      static_cast<std::size_t>(limits::kMessageBytes.fallback);
  // How long a close waits for what was queued to leave and for the peer to
  // answer, and after that for the stream to end.
  std::int64_t linger_ms = limits::kLingerMs.fallback;
  // From the stream's birth to the last byte of the handshake; an opening
  // connection that takes longer is lost (1006).
  std::int64_t handshake_ms = limits::kHandshakeMs.fallback;
  // Nothing received for `ping_ms`: a ping. Nothing either in the
  // silence_ms - ping_ms that follow the ping: the connection is lost (1006).
  // That is `silence_ms`, the longer of the two, from the last byte on; later
  // by as much as a loop that was not turned was late with the ping. Only while
  // the connection has a handler.
  std::int64_t ping_ms = limits::kPingMs.fallback;
  std::int64_t silence_ms = limits::kSilenceMs.fallback;
};

// OK, or InvalidArgument naming the field below `path`.
absl::Status ValidateOptions(const StreamOptions& options,
                             std::string_view path);

}  // namespace parlor

#endif  // PARLOR_TRANSPORTS_STREAM_OPTIONS_H_
