// The program: host::Server as a process of its own. Flags, a file, signals and
// a log are here; what a host does is in the library.
#include "parlor/host/program.h"

#include <algorithm>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "counted.h"
#include "parlor/check.h"
#include "parlor/connector.h"
#include "parlor/entropy.h"
#include "parlor/host/access_store.h"
#include "parlor/host/os_entropy.h"
#include "parlor/host/play_room.h"
#include "parlor/host/server.h"
#include "parlor/host/sqlite_access_store.h"
#include "parlor/hosted_game.h"
#include "parlor/printable.h"
#include "parlor/status.h"
#include "parlor/time.h"
#include "program/commands.h"
#include "program/log.h"
#include "program/options.h"
#include "program/play_settings.h"
#include "program/process.h"
#include "program/report.h"
#include "program/settings.h"
#include "wall_clock.h"

namespace parlor::host_program {
namespace {

// How late the end of a drain, or a second signal, may be noticed.
constexpr Duration kLook = 20 * kMillisecond;

int Print(const Exit& exit) {
  std::fputs(exit.err.c_str(), stderr);
  std::fputs(exit.out.c_str(), stdout);
  const bool all = std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
  return all ? exit.code : kExitFailed;
}

// The same of a command, whose codes nobody sees again.
int PrintAll(const Exit& exit, bool has_stdout) {
  const int code = Print(exit);
  if (code == exit.code && (has_stdout || exit.out.empty())) return code;
  return Print(Failure(kExitFailed, "cannot write to stdout"));
}

// What Failure has put into one.
std::string Reason(const Exit& exit) {
  std::string_view text = exit.err;
  if (text.starts_with(kFailurePrefix))
    text.remove_prefix(kFailurePrefix.size());
  if (text.ends_with('\n')) text.remove_suffix(1);
  return std::string(text);
}

// A host from its arguments to its end.
class Program {
 public:
  Program(int argc, const char* const* argv,
          const std::vector<HostedGame>& games, Entropy& entropy)
      : argc_(argc), argv_(argv), linked_{games, log_}, entropy_(entropy) {}

  int Run() {
    auto parsed = Parse();
    if (const Exit* exit = std::get_if<Exit>(&parsed)) return Print(*exit);
    options_ = std::get<Options>(std::move(parsed));
    absl::Status status = OpenAccess();
    if (status.ok()) status = Start();
    if (!status.ok()) {
      return Print(Failure(options_.places.Translated(status)));
    }
    LogWarnings();
    LogDescriptors();
    if (!SayReady()) {
      return Print(Failure(kExitFailed, "cannot write to stdout"));
    }
    Serve();
    return kExitOk;
  }

 private:
  std::variant<Options, Exit> Parse() const {
    return ParseOptions(argc_, argv_, cores_, linked_);
  }
  void Log(host::LogLevel level, std::string_view line) const {
    log_(level, line);
  }

  absl::Status OpenAccess();
  absl::Status Start();
  bool SayReady() const;
  void LogWarnings() const;
  void LogDescriptors() const;
  void Serve();
  void Reload();

  const host::LogSink log_ = StderrLog();
  const int argc_;
  const char* const* const argv_;
  const Linked linked_;
  Entropy& entropy_;
  // Those of the start: a shard cannot be added later.
  const unsigned cores_ = std::thread::hardware_concurrency();
  Signals signals_;  // before any thread
  const std::uint64_t descriptors_ = RaiseDescriptorLimit();
  Options options_;
  std::shared_ptr<host::AccessStore> access_;
  std::size_t kept_codes_ = 0;  // at the start
  std::unique_ptr<host::Server> server_;
};

absl::Status Program::OpenAccess() {
  if (!options_.settings.access) return absl::OkStatus();
  const auto store = host::SqliteAccessStore::Open(
      *options_.settings.access,
      [log = log_, path = Printable(*options_.settings.access)](
          const absl::Status& status) {
        if (status.ok()) {
          log(host::LogLevel::kInfo, path + ": works again");
        } else {
          log(host::LogLevel::kWarning, StatusText(status));
        }
      });
  if (!store.ok()) {
    return MakeStatus(store.status().code(),
                      options_.places.Where("access") + ": " +
                          std::string(StatusText(store.status())));
  }
  access_ = *store;
  access_->WatchCodes([this](const std::vector<host::Sha256>& codes) {
    kept_codes_ = codes.size();
  });
  access_->WatchCodes({});  // the server's from here on
  options_.server.access_store = access_;
  return absl::OkStatus();
}

absl::Status Program::Start() {
  auto server = host::Server::Create(options_.server, entropy_, log_);
  if (!server.ok()) return server.status();
  server_ = *std::move(server);
  return absl::OkStatus();
}

// All at once and now: who started us waits for the first line.
bool Program::SayReady() const {
  const Settings& settings = options_.settings;
  std::string text =
      ListeningText(options_.server, server_->port(), server_->tcp_port()) +
      WorstCaseText(options_.server) + MemoryText(options_.server);
  const bool open =
      settings.open ||
      std::ranges::any_of(options_.server.shard.play_rooms,
                          [](const host::PlayRoom& room) { return room.open; });
  if (settings.codes.empty() && kept_codes_ == 0 && !settings.passes && !open) {
    text += "every join will be refused: there is no code (";
    text += settings.access ? "parlor-host invite new makes one"
                            : "--invite, or --access FILE and parlor-host "
                              "invite new";
    text += "), no --passes and no --open\n";
  }
  return Print({.code = kExitOk, .out = text, .err = {}}) == kExitOk;
}

void Program::LogWarnings() const {
  for (const std::string& warning : options_.warnings) {
    Log(host::LogLevel::kWarning, warning);
  }
}

void Program::LogDescriptors() const {
  const std::uint64_t need = DescriptorsNeeded(options_.server);
  if (descriptors_ >= need) return;
  Log(host::LogLevel::kWarning,
      "the system grants " + std::to_string(descriptors_) +
          " descriptors, and " + std::to_string(options_.settings.connections) +
          " connections need " + std::to_string(need) +
          ": raise the limit (ulimit -n) or lower --connections");
}

// Until it has ended in order; or a second signal ends the process.
void Program::Serve() {
  for (int signal = signals_.Wait(); signal == SIGHUP;
       signal = signals_.Wait()) {
    Reload();
  }
  Log(host::LogLevel::kInfo, "told to end; another signal ends at once");
  server_->Drain();
  while (!server_->stopped()) {
    const int second = signals_.WaitFor(kLook);
    if (second == 0) continue;
    if (second == SIGHUP) {
      Log(host::LogLevel::kInfo, "not read again: it is about to end");
      continue;
    }
    Log(host::LogLevel::kWarning,
        "ended at once by a second signal, with " +
            host::Counted(static_cast<std::int64_t>(server_->figures().players),
                          "player", "players"));
    Signals::DieBy(second);
  }
}

// Takes over all of it or nothing: what is wrong is said, and it goes on as it
// was.
void Program::Reload() {
  auto parsed = Parse();
  if (const Exit* exit = std::get_if<Exit>(&parsed)) {
    Log(host::LogLevel::kWarning, "nothing has changed: " + Reason(*exit));
    return;
  }
  Options next = std::get<Options>(std::move(parsed));
  next.server.access_store = access_;
  absl::Status status =
      next.settings.access == options_.settings.access
          ? server_->Reload(next.server)
          : InvalidArgument("server.access_store: cannot change while it runs");
  if (!status.ok()) {
    status = next.places.Translated(status);
    Log(host::LogLevel::kWarning,
        "nothing has changed: " + Printable(StatusText(status)));
    return;
  }
  if (access_ != nullptr) access_->Refresh();
  std::string changed;
  for (const std::string_view name :
       Differences(options_.settings, next.settings)) {
    changed.append(changed.empty() ? "; changed: " : ", ").append(name);
  }
  const bool more = next.settings.connections > options_.settings.connections;
  options_ = std::move(next);
  Log(host::LogLevel::kInfo, "read again: settings and files" + changed);
  LogWarnings();
  if (more) LogDescriptors();
}

void CheckGames(const std::vector<HostedGame>& games) {
  std::set<std::string_view> names;
  for (const HostedGame& game : games) {
    PARLOR_CHECK(IsPlayKey(game.name) && game.configure);
    PARLOR_CHECK(names.insert(game.name).second);
  }
}

int Run(int argc, char** argv, const std::vector<HostedGame>& games) {
  CheckGames(games);
  const bool has_stdout = HoldStandardStreams();
  IgnoreFileSizeSignal();
  host::OsEntropy entropy;
  if (IsCommand(argc, argv)) {
    return PrintAll(RunCommand(argc, argv, host::WallClockSeconds(), entropy),
                    has_stdout);
  }
  return Program(argc, argv, games, entropy).Run();
}

}  // namespace
}  // namespace parlor::host_program

namespace parlor::host {

int RunProgram(int argc, char** argv, const std::vector<HostedGame>& games) {
  try {
    return host_program::Run(argc, argv, games);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "parlor-host: %s\n", error.what());
    return host_program::kExitFailed;
  }
}

}  // namespace parlor::host
