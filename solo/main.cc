#include <unistd.h>

#include <cstdio>
#include <exception>
#include <variant>

#include "headless.h"
#include "options.h"
#include "terminal/terminal.h"

namespace parlor::solo {
namespace {

int Main(int argc, char** argv) {
  const bool has_terminal = isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
  const auto parsed = ParseOptions(argc, argv, has_terminal);
  if (const Exit* exit = std::get_if<Exit>(&parsed)) {
    std::fputs(exit->out.c_str(), stdout);
    std::fputs(exit->err.c_str(), stderr);
    return exit->code;
  }
  const Options& options = std::get<Options>(parsed);
  std::fputs(options.notice.c_str(), stderr);
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
