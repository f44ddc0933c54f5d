#include "load/program.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "load/load.h"
#include "load/load_options.h"
#include "load/load_report.h"
#include "parlor/status.h"

namespace parlor::load {
namespace {

Outcome Failure(const absl::Status& status) {
  // A server that does not speak the protocol is wrong; all else is that there
  // was no measurement.
  return {.code = absl::IsDataLoss(status) ? kExitWrong : kExitFailed,
          .out = "",
          .err = "room_load: " + std::string(StatusText(status)) + "\n"};
}

}  // namespace

Outcome RunProgram(std::span<const char* const> arguments) {
  const auto asks_for_help = [](std::string_view argument) {
    return argument == "--help" || argument == "-h";
  };
  if (std::any_of(arguments.begin(), arguments.end(), asks_for_help)) {
    return {.code = kExitRight, .out = std::string(LoadHelp()), .err = ""};
  }
  const auto options = ParseLoadOptions(arguments);
  if (!options.ok()) return Failure(options.status());
  const auto result = RunLoad(*options);
  if (!result.ok()) return Failure(result.status());
  return {.code = ExitCode(*options, *result),
          .out = options->json ? JsonReport(*options, *result)
                               : TextReport(*options, *result),
          .err = Remarks(*options, *result)};
}

}  // namespace parlor::load
