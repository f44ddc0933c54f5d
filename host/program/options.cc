#include "program/options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "parlor/host/memory_access_store.h"
#include "parlor/hosted_game.h"
#include "parlor/printable.h"
#include "parlor/status.h"
#include "parlor/transports/tls.h"
#include "program/arguments.h"
#include "program/secret_file.h"

namespace parlor::host_program {
namespace {

constexpr std::string_view kPrintConfig = "print-config";

constexpr const char* kFooter =
    "Commands, each with a --help of its own; a running host takes what they "
    "change:\n"
    "  parlor-host invite new|list|revoke       codes that let in\n"
    "  parlor-host pass new|list|revoke|secret  passes, which let in for a "
    "time\n\n"
    "A TIME is a whole number with its unit: 500ms, 2s, 10m, 4h.\n\n"
    "The file of --config is one JSON object with the same names, without the "
    "dashes:\n"
    "  {\"port\": 8787, \"hold\": \"20s\", \"invite\": [\"A-CODE-OF-YOURS\"]}\n"
    "\"play\", which has no flag, lists rooms of the games that are linked "
    "in, each\n"
    "reached at /play/KEY; what a game has for settings stands beside these:\n"
    "  {\"play\": [{\"key\": \"KEY\", \"game\": \"NAME\", \"open\": false}]}\n"
    "Flags win over it. Files that it names are looked for where the host is\n"
    "started, not beside it.\n\n"
    "Exit codes:\n"
    "  0  ended in order, or printed what was asked for\n"
    "  1  a port or a thread could not be had from the system\n"
    "  2  a bad flag or file; nothing was started\n"
    "SIGTERM and SIGINT drain and then end in order; the second ends at "
    "once.\nSIGHUP reads the file of --config, the certificate and the secret "
    "again, without\ndropping anyone; what cannot change while it runs, or is "
    "wrong, changes nothing.\n";

void Declare(CLI::App& app, Raw& raw, const Settings& defaults) {
  app.formatter(std::make_shared<Help>());
  app.set_help_flag("-h,--help", "Print this and end");
  app.set_version_flag("--version", "parlor-host " PARLOR_VERSION,
                       "Print the version and end");
  for (const Row& row : Rows()) {
    if (row.kind == Kind::kObjects) continue;
    DeclareRow(app, raw, row, defaults)->group(std::string(row.group));
  }
  DeclareConfig(app, raw)->group("Process");
  app.add_flag(Flag(kPrintConfig), raw.switches[kPrintConfig],
               "Print all settings as such a file, without the codes, and end")
      ->disable_flag_override()
      ->group("Process");
  app.footer(kFooter);
  // What is not known is looked at below: it may be a code that went astray.
  app.allow_extras();
}

// Behind the place where a file was named, what is wrong with it.
absl::Status InFile(const std::string& place, const absl::Status& status) {
  return InvalidArgument(place + ": " + std::string(StatusText(status)));
}

absl::Status LoadTls(const Places& places, const Settings& settings,
                     host::ServerOptions& server) {
  if (settings.tls_cert.has_value() != settings.tls_key.has_value()) {
    const bool cert = settings.tls_cert.has_value();
    return InvalidArgument(places.Where(cert ? "tls-cert" : "tls-key")
                               .append(": needs --")
                               .append(cert ? "tls-key" : "tls-cert"));
  }
  if (!settings.tls_cert) return absl::OkStatus();
  const auto tls = TlsServer::FromFiles(
      {.certificate_path = *settings.tls_cert, .key_path = *settings.tls_key});
  if (!tls.ok()) {
    const bool cert =
        StatusText(tls.status()).starts_with(*settings.tls_cert + ":");
    return InFile(places.Where(cert ? "tls-cert" : "tls-key"), tls.status());
  }
  server.tls = *tls;
  return absl::OkStatus();
}

absl::Status LoadPassSecret(const Places& places, const Settings& settings,
                            host::ServerOptions& server) {
  if (settings.passes && !settings.pass_secret) {
    return InvalidArgument(places.Where("passes") +
                           ": needs --pass-secret FILE; 'parlor-host pass "
                           "secret FILE' makes one");
  }
  if (settings.passes && !settings.access) {
    return InvalidArgument(places.Where("passes") +
                           ": needs --access FILE, where it is kept which "
                           "devices use a pass");
  }
  if (!settings.pass_secret) return absl::OkStatus();
  absl::StatusOr<std::string> secret = ReadSecret(*settings.pass_secret);
  if (!secret.ok()) {
    return InFile(places.Where("pass-secret"), secret.status());
  }
  server.gate.pass_secret = *std::move(secret);
  return absl::OkStatus();
}

// What no field says alone; and files are read.
absl::Status CheckTogether(const Places& places, const Settings& settings,
                           host::ServerOptions& server) {
  if (settings.tcp_port && *settings.tcp_port != 0 &&
      *settings.tcp_port == settings.port) {
    return InvalidArgument(places.Where("tcp-port") + ": " +
                           std::to_string(settings.port) +
                           " is taken by --port");
  }
  absl::Status status = LoadPassSecret(places, settings, server);
  if (!status.ok()) return status;
  host::ServerOptions complete = server;
  // In place of the one that is opened when nothing is wrong.
  if (settings.access) {
    complete.access_store = std::make_shared<host::MemoryAccessStore>(
        [] { return std::int64_t{0}; }, [](const auto& /*task*/) {});
  }
  status = places.Translated(host::ValidateOptions(complete));
  if (status.ok()) status = LoadTls(places, settings, server);
  return status;
}

// The file's own warning: a code is as good as its secrecy.
void WarnOfCodes(const std::string& path, const Settings& settings,
                 Options& options) {
  if (settings.codes.empty() || !OthersMayRead(path)) return;
  options.warnings.push_back(
      Printable(path) +
      " holds invite codes, and other users may read it: chmod 600 " +
      Printable(path));
}

absl::Status LinkPlayRooms(const Linked& linked, Options& options) {
  auto rooms = ReadPlayRooms(options.settings.play,
                             options.places.Where("play"), linked);
  if (!rooms.ok()) return rooms.status();
  options.server.shard.play_rooms = *std::move(rooms);
  // Which games have rooms may change with the file; this cannot.
  if (options.server.shard.play_rooms.empty()) return absl::OkStatus();
  for (const HostedGame& game : linked.games) {
    std::size_t& bytes_max = options.server.stream.message_bytes_max;
    bytes_max = std::max(bytes_max, game.message_bytes_max);
  }
  return absl::OkStatus();
}

absl::StatusOr<Options> Checked(const Raw& raw, const Settings& defaults,
                                const Linked& linked) {
  Merger merger(defaults);
  Options options;
  const absl::StatusOr<GivenRows> flags = RowsGiven(raw);
  if (!flags.ok()) return flags.status();
  const absl::StatusOr<const std::string*> config = OnlyValue(raw, "config");
  if (!config.ok()) return config.status();
  if (*config != nullptr) {
    absl::Status status = merger.TakeFile(**config);
    if (!status.ok()) return status;
    WarnOfCodes(**config, merger.settings(), options);
  }
  absl::Status status = merger.Take(*flags);
  if (!status.ok()) return status;

  options.settings = merger.settings();
  options.server = ToServerOptions(options.settings);
  options.places = merger.places();
  status = LinkPlayRooms(linked, options);
  if (!status.ok()) return status;
  status = CheckTogether(options.places, options.settings, options.server);
  if (!status.ok()) return status;
  return options;
}

// What is left out is said where it is not part of the file.
Exit PrintedConfig(const Settings& settings) {
  Exit exit{.code = kExitOk, .out = ToJson(settings), .err = {}};
  if (const std::size_t count = settings.codes.size(); count > 0) {
    exit.err = "parlor-host: left out, since they are secrets: " +
               std::to_string(count) + " invite code" +
               (count == 1 ? "" : "s") + " (\"invite\": [...])\n";
  }
  return exit;
}

}  // namespace

Exit Failure(int code, std::string_view text) {
  return {.code = code,
          .out = {},
          .err = std::string(kFailurePrefix) + Printable(text) + "\n"};
}

Exit Failure(const absl::Status& status) {
  const bool refused =
      absl::IsInvalidArgument(status) || absl::IsFailedPrecondition(status);
  return Failure(refused ? kExitRefused : kExitFailed, StatusText(status));
}

std::variant<Options, Exit> ParseOptions(int argc, const char* const* argv,
                                         unsigned cores, const Linked& linked) {
  Raw raw;
  CLI::App app(
      "A host of parlor rooms: one port for WebSocket, invite codes "
      "and health.",
      "parlor-host");
  Settings defaults;
  defaults.shards =
      std::clamp<std::int64_t>(cores, kShards.floor, kShards.ceiling);
  Declare(app, raw, defaults);
  absl::Status status = CheckEquals(app, argc, argv);
  if (!status.ok()) return Failure(kExitRefused, StatusText(status));
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    return Exit{.code = kExitOk, .out = app.help(), .err = {}};
  } catch (const CLI::CallForVersion& version) {
    return Exit{
        .code = kExitOk, .out = std::string(version.what()) + "\n", .err = {}};
  } catch (const CLI::ParseError& error) {
    return Failure(kExitRefused, error.what());
  }
  status = CheckExtras(app, argc, argv);
  absl::StatusOr<Options> options = status.ok()
                                        ? Checked(raw, defaults, linked)
                                        : absl::StatusOr<Options>(status);
  if (!options.ok()) return Failure(kExitRefused, StatusText(options.status()));
  if (raw.switches[kPrintConfig]) return PrintedConfig(options->settings);
  return *std::move(options);
}

}  // namespace parlor::host_program
