// parlor-host: host::Server as a process of its own. Flags, a file, signals and
// a log are here; what a host does is in the library.
#include <cstdint>
#include <cstdio>
#include <exception>
#include <memory>
#include <string>
#include <thread>
#include <variant>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "parlor/host/os_entropy.h"
#include "parlor/host/server.h"
#include "parlor/status.h"
#include "parlor/time.h"
#include "program/log.h"
#include "program/options.h"
#include "program/process.h"
#include "program/report.h"

namespace parlor::host_program {
namespace {

// How late the end of a drain, or a second signal, may be noticed.
constexpr Duration kLook = 20 * kMillisecond;

int Print(const Exit& exit) {
  std::fputs(exit.err.c_str(), stderr);
  std::fputs(exit.out.c_str(), stdout);
  return std::fflush(stdout) == 0 ? exit.code : kExitFailed;
}

// All at once and now: who started us waits for the first line.
bool SayReady(const Options& options, const host::Server& server) {
  std::string text =
      ListeningText(options.server, server.port(), server.tcp_port()) +
      WorstCaseText(options.server) + MemoryText(options.server);
  if (options.settings.codes.empty() && !options.settings.open) {
    text += "every join will be refused: there is no --invite and no --open\n";
  }
  return Print({.code = kExitOk, .out = text, .err = {}}) == kExitOk;
}

void LogDescriptors(std::uint64_t have, const Options& options,
                    const host::LogSink& log) {
  const std::uint64_t need = DescriptorsNeeded(options.server);
  if (have >= need) return;
  log(host::LogLevel::kWarning,
      "the system grants " + std::to_string(have) + " descriptors, and " +
          std::to_string(options.settings.connections) + " connections need " +
          std::to_string(need) +
          ": raise the limit (ulimit -n) or lower --connections");
}

// Until it has ended in order; or a second signal ends the process.
void Serve(host::Server& server, EndSignals& signals,
           const host::LogSink& log) {
  signals.Wait();
  log(host::LogLevel::kInfo, "told to end; another signal ends at once");
  server.Drain();
  while (!server.stopped()) {
    const int second = signals.WaitFor(kLook);
    if (second == 0) continue;
    log(host::LogLevel::kWarning, "ended at once by a second signal, with " +
                                      std::to_string(server.figures().players) +
                                      " players");
    EndSignals::DieBy(second);
  }
}

int Main(int argc, char** argv) {
  HoldStandardStreams();
  const auto parsed =
      ParseOptions(argc, argv, std::thread::hardware_concurrency());
  if (const Exit* exit = std::get_if<Exit>(&parsed)) return Print(*exit);
  const Options& options = std::get<Options>(parsed);

  EndSignals signals;
  const host::LogSink log = StderrLog();
  const std::uint64_t descriptors = RaiseDescriptorLimit();
  host::OsEntropy entropy;
  const auto server = host::Server::Create(options.server, entropy, log);
  if (!server.ok()) {
    return Print(Failure(
        absl::IsInvalidArgument(server.status()) ? kExitRefused : kExitFailed,
        StatusText(server.status())));
  }
  LogDescriptors(descriptors, options, log);
  if (!SayReady(options, **server)) {
    return Print(Failure(kExitFailed, "cannot write to stdout"));
  }
  Serve(**server, signals, log);
  return kExitOk;
}

}  // namespace
}  // namespace parlor::host_program

int main(int argc, char** argv) {
  try {
    return parlor::host_program::Main(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "parlor-host: %s\n", error.what());
    return parlor::host_program::kExitFailed;
  }
}
