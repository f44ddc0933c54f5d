// What the command lines of parlor-host and its commands share: how flags are
// declared to CLI11, which splits the words, and what it leaves to us.
#ifndef PARLOR_HOST_PROGRAM_ARGUMENTS_H_
#define PARLOR_HOST_PROGRAM_ARGUMENTS_H_

#include <CLI/CLI.hpp>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "program/settings.h"

namespace parlor::host_program {

// What the command line says, as text: one rule reads all values, wherever they
// come from (CLI11 would take "010" as eight).
struct Raw {
  std::map<std::string_view, std::vector<std::string>> values;
  std::map<std::string_view, bool> switches;
};

// CLI11 would write "N ..." for all of them, since each is a list here.
class Help final : public CLI::Formatter {
  std::string make_option_opts(const CLI::Option* option) const override;
};

// One that takes a value. `app` writes to `raw` when it parses. `name`: a
// literal or a row's.
CLI::Option* DeclareValue(CLI::App& app, Raw& raw, std::string_view name,
                          std::string_view value, const std::string& help);
// A row's flag, with its default and range in the help.
CLI::Option* DeclareRow(CLI::App& app, Raw& raw, const Row& row,
                        const Settings& defaults);
CLI::Option* DeclareConfig(CLI::App& app, Raw& raw);

// InvalidArgument: "--hold=" with nothing behind it, "--open=no".
absl::Status CheckEquals(const CLI::App& app, int argc,
                         const char* const* argv);
// InvalidArgument: words that `app` was not asked about. Such a word may be a
// code that went astray, and is named by its place alone.
absl::Status CheckExtras(const CLI::App& app, int argc,
                         const char* const* argv);

// Of a flag that may be given once. Null: it was not. InvalidArgument: twice.
absl::StatusOr<const std::string*> OnlyValue(const Raw& raw,
                                             std::string_view name);
// Those of rows.
absl::StatusOr<GivenRows> RowsGiven(const Raw& raw);

}  // namespace parlor::host_program

#endif  // PARLOR_HOST_PROGRAM_ARGUMENTS_H_
