// A run: the crowd joins, plays for a while, is measured meanwhile and leaves.
//
// Time, in order: joins; `warm_seconds` of load; `seconds` that are measured;
// what is still on its way is waited for, until nothing has come for
// `drain_seconds`, and for a minute at most; goodbye. A latency
// counts when its message was due in the measured time, whenever it came, so
// that a server which stalls at the end cannot hide it. What was delivered, and
// what it cost the processor, is what fell into the measured time itself.
#ifndef PARLOR_BENCH_LOAD_LOAD_H_
#define PARLOR_BENCH_LOAD_LOAD_H_

#include <cstdint>
#include <optional>

#include "absl/status/statusor.h"
#include "load/findings.h"
#include "load/latency_histogram.h"
#include "load/load_options.h"
#include "load/process_figures.h"

namespace parlor::load {

struct ServerFigures {
  std::int64_t cpu_ns = 0;  // in the measured time
  MemoryFigures before;     // the first connection
  MemoryFigures after;      // the measured time, or the joins with `idle`
};

struct LoadResult {
  double seconds = 0;  // that were measured
  std::uint64_t delivered = 0;
  std::uint64_t lost = 0;
  Findings findings;

  // Of timed seats: from the moment a message was due at its sender to its
  // receipt; and from the moment the last of the others' INPUTs for a frame was
  // due until that frame was complete at a receiver.
  LatencyHistogram message;
  LatencyHistogram frame;

  std::optional<ServerFigures> server;  // with server_pid

  // This program's own: its processor time in the measured time, and how much
  // later than it was due a message was sent.
  std::int64_t own_cpu_ns = 0;
  LatencyHistogram late;

  double own_cpu_share() const {
    return seconds > 0 ? static_cast<double>(own_cpu_ns) / 1e9 / seconds : 0;
  }
};

// Whether the figures are those of this program and not of the server: it used
// more than this share of a core, or sent one message in a hundred too late: by
// more than a quarter of a step or, in step, where to send what is due at one
// moment takes its time, by more than three quarters, since that is to be over
// well before the next. (A closed loop is never late.)
inline constexpr double kCpuShareMax = 0.85;
bool IsSaturated(const LoadOptions& options, const LoadResult& result);

// OK even where the server was wrong: `findings`. InvalidArgument: the core is
// not there; NotFound, PermissionDenied: the server's process;
// ResourceExhausted: files; Unavailable, DeadlineExceeded: the server refused,
// closed or was silent; DataLoss: what it says is not the protocol.
absl::StatusOr<LoadResult> RunLoad(const LoadOptions& options);

}  // namespace parlor::load

#endif  // PARLOR_BENCH_LOAD_LOAD_H_
