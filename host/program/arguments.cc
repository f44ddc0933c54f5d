#include "program/arguments.h"

#include <algorithm>
#include <cstddef>

#include "parlor/status.h"
#include "program/merger.h"

namespace parlor::host_program {

std::string Help::make_option_opts(const CLI::Option* option) const {
  const std::string& type = option->get_type_name();
  return type.empty() ? "" : " " + type;
}

CLI::Option* DeclareValue(CLI::App& app, Raw& raw, std::string_view name,
                          std::string_view value, const std::string& help) {
  // Else it would take all words behind it, and split "[a,b]".
  return app.add_option(Flag(name), raw.values[name], help)
      ->allow_extra_args(false)
      ->type_name(std::string(value));
}

CLI::Option* DeclareRow(CLI::App& app, Raw& raw, const Row& row,
                        const Settings& defaults) {
  std::string help(row.help);
  if (const std::string range = RangeText(row, defaults); !range.empty()) {
    help += " " + range;
  }
  if (row.kind != Kind::kSwitch) {
    return DeclareValue(app, raw, row.name, row.value, help);
  }
  return app.add_flag(Flag(row.name), raw.switches[row.name], help)
      ->disable_flag_override();
}

CLI::Option* DeclareConfig(CLI::App& app, Raw& raw) {
  return DeclareValue(app, raw, "config", "FILE",
                      "Read the settings of FILE first");
}

// "--hold=" would take the next argument for its value, and what follows the
// equals sign of a switch is no business of CLI11's messages.
absl::Status CheckEquals(const CLI::App& app, int argc,
                         const char* const* argv) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    const std::size_t equals = argument.find('=');
    if (!argument.starts_with("--") || equals == std::string_view::npos) {
      continue;
    }
    const std::string flag(argument.substr(0, equals));
    const CLI::Option* const option = app.get_option_no_throw(flag);
    if (option == nullptr) continue;
    if (option->get_items_expected_max() == 0) {
      return InvalidArgument(flag + ": takes no value");
    }
    if (equals + 1 == argument.size()) {
      return InvalidArgument(flag + ": has no value");
    }
  }
  return absl::OkStatus();
}

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

absl::StatusOr<const std::string*> OnlyValue(const Raw& raw,
                                             std::string_view name) {
  const auto found = raw.values.find(name);
  if (found == raw.values.end() || found->second.empty()) return nullptr;
  if (found->second.size() == 1) return &found->second[0];
  return InvalidArgument(Flag(name) + ": is there twice");
}

absl::StatusOr<GivenRows> RowsGiven(const Raw& raw) {
  GivenRows rows;
  for (const Row& row : Rows()) {
    if (row.kind == Kind::kTexts || row.kind == Kind::kSecrets) {
      const auto found = raw.values.find(row.name);
      if (found == raw.values.end() || found->second.empty()) continue;
      rows[row.name] = {Flag(row.name), found->second};
    } else if (row.kind == Kind::kSwitch) {
      const auto found = raw.switches.find(row.name);
      if (found == raw.switches.end() || !found->second) continue;
      rows[row.name] = {Flag(row.name), {"true"}};
    } else {
      const absl::StatusOr<const std::string*> value = OnlyValue(raw, row.name);
      if (!value.ok()) return value.status();
      if (*value != nullptr) rows[row.name] = {Flag(row.name), {**value}};
    }
  }
  return rows;
}

}  // namespace parlor::host_program
