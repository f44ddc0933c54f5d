#include "program/options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "parlor/printable.h"
#include "parlor/status.h"
#include "parlor/transports/tls.h"
#include "program/config_file.h"

namespace parlor::host_program {
namespace {

// What the command line says, as text: one rule reads all values, wherever they
// come from (CLI11 would take "010" as eight).
struct Raw {
  std::map<std::string_view, std::vector<std::string>> values;
  std::map<std::string_view, bool> switches;
  std::vector<std::string> config;
  bool print_config = false;
};

std::string Flag(std::string_view name) { return "--" + std::string(name); }

constexpr const char* kFooter =
    "A TIME is a whole number with its unit: 500ms, 2s, 10m, 4h.\n\n"
    "The file of --config is one JSON object with the same names, without the "
    "dashes:\n"
    "  {\"port\": 8787, \"hold\": \"20s\", \"invite\": [\"A-CODE-OF-YOURS\"]}\n"
    "Flags win over it.\n\n"
    "Exit codes:\n"
    "  0  ended in order, or printed what was asked for\n"
    "  1  a port or a thread could not be had from the system\n"
    "  2  a bad flag or file; nothing was started\n"
    "SIGTERM and SIGINT drain and then end in order; the second ends at "
    "once.\n";

// CLI11 would write "N ..." for all of them, since each is a list here.
class Help final : public CLI::Formatter {
  std::string make_option_opts(const CLI::Option* option) const override {
    const std::string& type = option->get_type_name();
    return type.empty() ? "" : " " + type;
  }
};

void Declare(CLI::App& app, Raw& raw, const Settings& defaults) {
  app.formatter(std::make_shared<Help>());
  app.set_help_flag("-h,--help", "Print this and end");
  app.set_version_flag("--version", "parlor-host " PARLOR_VERSION,
                       "Print the version and end");
  for (const Row& row : Rows()) {
    std::string help(row.help);
    if (const std::string range = RangeText(row, defaults); !range.empty()) {
      help += " " + range;
    }
    CLI::Option* option = nullptr;
    if (row.kind == Kind::kSwitch) {
      option = app.add_flag(Flag(row.name), raw.switches[row.name], help)
                   ->disable_flag_override();
    } else {
      // Else it would take all words behind it, and split "[a,b]".
      option = app.add_option(Flag(row.name), raw.values[row.name], help)
                   ->allow_extra_args(false)
                   ->type_name(std::string(row.value));
    }
    option->group(std::string(row.group));
  }
  app.add_option("--config", raw.config, "Read the settings of FILE first")
      ->allow_extra_args(false)
      ->type_name("FILE")
      ->group("Process");
  app.add_flag("--print-config", raw.print_config,
               "Print all settings as such a file, without the codes, and end")
      ->disable_flag_override()
      ->group("Process");
  app.footer(kFooter);
  // What is not known is looked at below: it may be a code that went astray.
  app.allow_extras();
}

// "--hold=" would take the next argument for its value, and what follows the
// equals sign of a switch is no business of CLI11's messages.
absl::Status CheckEquals(int argc, const char* const* argv) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    const std::size_t equals = argument.find('=');
    if (!argument.starts_with("--") || equals == std::string_view::npos) {
      continue;
    }
    const std::string_view name = argument.substr(2, equals - 2);
    const Row* row = FindRow(name);
    const bool is_switch =
        row != nullptr ? row->kind == Kind::kSwitch : name == "print-config";
    if (is_switch) return InvalidArgument(Flag(name) + ": takes no value");
    const bool known = row != nullptr || name == "config";
    if (known && equals + 1 == argument.size()) {
      return InvalidArgument(Flag(name) + ": has no value");
    }
  }
  return absl::OkStatus();
}

// Names what nobody asked for, and of a word its place alone.
absl::Status CheckExtras(const CLI::App& app, int argc,
                         const char* const* argv) {
  const std::vector<std::string> extras = app.remaining();
  if (extras.empty()) return absl::OkStatus();
  const std::string& extra = extras.front();
  if (extra.starts_with("--") && extra.size() > 2) {
    return InvalidArgument(Shown(extra.substr(0, extra.find('='))) +
                           ": there is no such flag");
  }
  if (extra.starts_with('-')) {
    return InvalidArgument(Shown(extra.substr(0, 2)) +
                           ": there is no such flag");
  }
  const char* const* const found = std::find(argv + 1, argv + argc, extra);
  return InvalidArgument("argument " + std::to_string(found - argv) +
                         " belongs to no flag");
}

// What both sources say, one after the other, and which had the last word.
class Merger {
 public:
  explicit Merger(const Settings& defaults) : settings_(defaults) {}

  absl::Status Take(const GivenRows& rows) {
    for (const Row& row : Rows()) {
      const auto found = rows.find(row.name);
      if (found == rows.end()) continue;
      if (absl::Status status = Apply(row, found->second, settings_);
          !status.ok()) {
        return status;
      }
      where_[row.name] = found->second.where;
    }
    return absl::OkStatus();
  }

  const Settings& settings() const { return settings_; }

  // Who said so; of a default its flag.
  std::string Where(std::string_view name) const {
    const auto found = where_.find(name);
    return found == where_.end() ? Flag(name) : found->second;
  }

  // A refusal of the library's, which names a field, in the user's words.
  absl::Status Translated(const absl::Status& status) const {
    const std::string_view text = StatusText(status);
    for (const Row& row : Rows()) {
      if (row.field.empty() || !text.starts_with(row.field)) continue;
      const std::string_view rest = text.substr(row.field.size());
      if (!rest.starts_with(':') && !rest.starts_with('[')) continue;
      return InvalidArgument(Where(row.name).append(rest));
    }
    return status;
  }

 private:
  Settings settings_;
  std::map<std::string_view, std::string> where_;
};

absl::StatusOr<GivenRows> FlagsGiven(const Raw& raw) {
  GivenRows rows;
  for (const auto& [name, values] : raw.values) {
    if (values.empty()) continue;
    const Kind kind = FindRow(name)->kind;
    if (values.size() > 1 && kind != Kind::kTexts && kind != Kind::kSecrets) {
      return InvalidArgument(Flag(name) + ": is there twice");
    }
    rows[name] = {Flag(name), values};
  }
  for (const auto& [name, on] : raw.switches) {
    if (on) rows[name] = {Flag(name), {"true"}};
  }
  return rows;
}

// What no field says alone; and the certificate is read.
absl::Status CheckTogether(const Merger& merger, const Settings& settings,
                           host::ServerOptions& server) {
  if (settings.tcp_port && *settings.tcp_port != 0 &&
      *settings.tcp_port == settings.port) {
    return InvalidArgument(merger.Where("tcp-port") + ": " +
                           std::to_string(settings.port) +
                           " is taken by --port");
  }
  if (settings.tls_cert.has_value() != settings.tls_key.has_value()) {
    const bool cert = settings.tls_cert.has_value();
    return InvalidArgument(merger.Where(cert ? "tls-cert" : "tls-key")
                               .append(": needs --")
                               .append(cert ? "tls-key" : "tls-cert"));
  }
  absl::Status status = merger.Translated(host::ValidateOptions(server));
  if (!status.ok() || !settings.tls_cert) return status;
  const auto tls = TlsServer::FromFiles(
      {.certificate_path = *settings.tls_cert, .key_path = *settings.tls_key});
  if (!tls.ok()) {
    const std::string_view text = StatusText(tls.status());
    const bool cert = text.starts_with(*settings.tls_cert + ":");
    return InvalidArgument(
        merger.Where(cert ? "tls-cert" : "tls-key").append(": ").append(text));
  }
  server.tls = *tls;
  return absl::OkStatus();
}

absl::StatusOr<Options> Checked(const Raw& raw, const Settings& defaults) {
  Merger merger(defaults);
  const absl::StatusOr<GivenRows> flags = FlagsGiven(raw);
  if (!flags.ok()) return flags.status();
  if (raw.config.size() > 1) {
    return InvalidArgument("--config: is there twice");
  }
  if (!raw.config.empty()) {
    if (raw.config[0].empty()) {
      return InvalidArgument("--config: the file has no name");
    }
    const absl::StatusOr<GivenRows> file = ReadConfig(raw.config[0]);
    if (!file.ok()) return file.status();
    if (absl::Status status = merger.Take(*file); !status.ok()) return status;
  }
  if (absl::Status status = merger.Take(*flags); !status.ok()) return status;

  Options options{merger.settings(), ToServerOptions(merger.settings())};
  if (absl::Status status =
          CheckTogether(merger, options.settings, options.server);
      !status.ok()) {
    return status;
  }
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
  return {
      .code = code, .out = {}, .err = "parlor-host: " + Printable(text) + "\n"};
}

std::variant<Options, Exit> ParseOptions(int argc, const char* const* argv,
                                         unsigned cores) {
  Raw raw;
  CLI::App app(
      "A host of parlor rooms: one port for WebSocket, invite codes "
      "and health.",
      "parlor-host");
  Settings defaults;
  defaults.shards =
      std::clamp<std::int64_t>(cores, kShards.floor, kShards.ceiling);
  Declare(app, raw, defaults);
  absl::Status status = CheckEquals(argc, argv);
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
  absl::StatusOr<Options> options =
      status.ok() ? Checked(raw, defaults) : absl::StatusOr<Options>(status);
  if (!options.ok()) return Failure(kExitRefused, StatusText(options.status()));
  if (raw.print_config) return PrintedConfig(options->settings);
  return *std::move(options);
}

}  // namespace parlor::host_program
