// room_load: loads a server of lockstep rooms, checks every byte and measures.
// bench/README.md explains each figure.
#include <cstddef>
#include <cstdio>
#include <span>

#include "load/program.h"

int main(int argc, char** argv) {
  const std::span<const char* const> arguments(
      argv + 1, static_cast<std::size_t>(argc > 0 ? argc - 1 : 0));
  const parlor::load::Outcome outcome = parlor::load::RunProgram(arguments);
  std::fputs(outcome.out.c_str(), stdout);
  std::fputs(outcome.err.c_str(), stderr);
  return outcome.code;
}
