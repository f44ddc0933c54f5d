// What parlor-host was asked for, apart from the process: by its command line
// and the file that --config names, or what to print and the exit code.
#ifndef PARLOR_HOST_PROGRAM_OPTIONS_H_
#define PARLOR_HOST_PROGRAM_OPTIONS_H_

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "parlor/host/server.h"
#include "program/merger.h"
#include "program/play_settings.h"
#include "program/settings.h"

namespace parlor::host_program {

// Exit codes; --help lists them.
inline constexpr int kExitOk = 0;
inline constexpr int kExitFailed = 1;   // no port, no thread, no such id
inline constexpr int kExitRefused = 2;  // bad flags, a bad file

struct Options {
  Settings settings;
  // Valid; TLS and the secret of passes loaded. Without the access store, which
  // `settings.access` names.
  host::ServerOptions server;
  Places places;
  std::vector<std::string> warnings;  // for the log, a line each
};

// The arguments end the program: print and exit.
struct Exit {
  int code = kExitOk;
  std::string out;
  std::string err;
};

// Reads the files that the arguments name, and nothing else. `cores`: of the
// machine, for --shards.
std::variant<Options, Exit> ParseOptions(int argc, const char* const* argv,
                                         unsigned cores,
                                         const Linked& linked = {});

// What cannot go on, in one line behind this.
inline constexpr std::string_view kFailurePrefix = "parlor-host: ";
Exit Failure(int code, std::string_view text);
// kExitRefused when it is the user's (InvalidArgument, FailedPrecondition),
// else kExitFailed.
Exit Failure(const absl::Status& status);

}  // namespace parlor::host_program

#endif  // PARLOR_HOST_PROGRAM_OPTIONS_H_
