#include <cstdio>
#include <exception>

#include "replay/program.h"

int main(int argc, char** argv) {
  using parlor::replay_program::Outcome;
  try {
    const Outcome outcome = parlor::replay_program::Run(argc, argv);
    std::fputs(outcome.err.c_str(), stderr);
    std::fputs(outcome.out.c_str(), stdout);
    if (std::fflush(stdout) != 0) {
      std::fputs("parlor-replay: cannot write to stdout\n", stderr);
      return parlor::replay_program::kFinding;
    }
    return outcome.code;
  } catch (const std::exception& error) {
    // Out of memory: nothing was found out about the files.
    std::fprintf(stderr, "parlor-replay: %s\n", error.what());
    return parlor::replay_program::kRefused;
  }
}
