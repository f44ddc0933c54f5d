#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <utility>
#include <variant>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "desync_file.h"
#include "device_key.h"
#include "headless.h"
#include "options.h"
#include "parlor/host/os_entropy.h"
#include "parlor/printable.h"
#include "parlor/status.h"
#include "storage/replay_file.h"
#include "terminal/terminal.h"

namespace parlor::solo {
namespace {

// The exit code of what is known of an option's file.
int CheckFile(const char* option, const absl::Status& status) {
  if (status.ok()) return kExitOk;
  const std::string text = Printable(StatusText(status));
  std::fprintf(stderr, "parlor-solo: %s: %s\n", option, text.c_str());
  return absl::IsAlreadyExists(status) ? kExitRefused : kExitFailed;
}

// Before the match, so that nobody plays one that cannot be recorded, or whose
// desync cannot be kept.
int TakeFiles(const Options& options) {
  int code = kExitOk;
  if (!options.desync.empty()) {
    code = CheckFile("--desync", CheckDesyncFile(options.desync));
  }
  // Which makes it: last.
  if (code == kExitOk && !options.record.empty()) {
    code = CheckFile("--record", host::ClaimReplayFile(options.record));
  }
  return code;
}

// What a host knows this device by, where a pass is shown to one.
absl::Status AddDevice(Options& options) {
  if (options.pass.empty()) return absl::OkStatus();
  const absl::StatusOr<std::string> path =
      DeviceKeyPath(std::getenv("XDG_STATE_HOME"), std::getenv("HOME"));
  if (!path.ok()) return path.status();
  host::OsEntropy entropy;
  absl::StatusOr<std::string> key = DeviceKey(*path, entropy);
  if (!key.ok()) return key.status();
  options.device = *std::move(key);
  return absl::OkStatus();
}

int Main(int argc, char** argv) {
  const bool has_terminal = isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
  auto parsed = ParseOptions(argc, argv, has_terminal);
  if (const Exit* exit = std::get_if<Exit>(&parsed)) {
    std::fputs(exit->out.c_str(), stdout);
    std::fputs(exit->err.c_str(), stderr);
    return exit->code;
  }
  Options& options = std::get<Options>(parsed);
  std::fputs(options.notice.c_str(), stderr);
  if (const absl::Status status = AddDevice(options); !status.ok()) {
    const std::string text = Printable(StatusText(status));
    std::fprintf(stderr, "parlor-solo: --pass: %s\n", text.c_str());
    return kExitFailed;
  }
  if (const int code = TakeFiles(options); code != kExitOk) return code;
  return options.headless ? RunHeadless(options) : RunTerminal(options);
}

}  // namespace
}  // namespace parlor::solo

int main(int argc, char** argv) {
  try {
    return parlor::solo::Main(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "parlor-solo: %s\n", error.what());
    return parlor::solo::kExitFailed;
  }
}
