// What a run found, for people and for programs.
#ifndef PARLOR_BENCH_LOAD_LOAD_REPORT_H_
#define PARLOR_BENCH_LOAD_LOAD_REPORT_H_

#include <string>

#include "load/load.h"
#include "load/load_options.h"

namespace parlor::load {

// room_load's exit codes; --help lists them.
inline constexpr int kExitRight = 0;
inline constexpr int kExitWrong = 1;
inline constexpr int kExitFailed = 2;
inline constexpr int kExitSaturated = 3;

int ExitCode(const LoadOptions& options, const LoadResult& result);

// A table, one figure a line.
std::string TextReport(const LoadOptions& options, const LoadResult& result);
// One JSON object on one line. Latencies are in microseconds; what is of the
// server is null without server_pid.
std::string JsonReport(const LoadOptions& options, const LoadResult& result);

// What has to be said beside either, on stderr, a line each; empty when the
// server was right and the figures are its own.
std::string Remarks(const LoadOptions& options, const LoadResult& result);

}  // namespace parlor::load

#endif  // PARLOR_BENCH_LOAD_LOAD_REPORT_H_
