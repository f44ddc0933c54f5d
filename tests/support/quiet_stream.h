// What the suites that every transport passes give to those over byte streams.
#ifndef PARLOR_TESTS_SUPPORT_QUIET_STREAM_H_
#define PARLOR_TESTS_SUPPORT_QUIET_STREAM_H_

#include "parlor/limits.h"
#include "parlor/transports/stream_options.h"

namespace parlor::test {

// With the limits of `suite`, as ConformanceOptions and ParityLimits have them.
// Pings are as late as can be: memory has none, and where silence is part of a
// script it is the script's.
template <typename Suite>
StreamOptions QuietStream(const Suite& suite) {
  StreamOptions options;
  options.reliable_bytes_max = suite.reliable_bytes_max;
  options.message_bytes_max = suite.message_bytes_max;
  options.linger_ms = suite.linger_ms;
  options.ping_ms = limits::kPingMs.ceiling;
  options.silence_ms = limits::kSilenceMs.ceiling;
  return options;
}

}  // namespace parlor::test

#endif  // PARLOR_TESTS_SUPPORT_QUIET_STREAM_H_
