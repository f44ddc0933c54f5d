// room_load as its user runs it, inside this process.
#ifndef PARLOR_TESTS_LOAD_RUN_PROGRAM_H_
#define PARLOR_TESTS_LOAD_RUN_PROGRAM_H_

#include <gmock/gmock.h>

#include <cstdint>
#include <string>
#include <vector>

#include "load/load_report.h"
#include "load/program.h"

namespace parlor::test {

// Against the server on that port of this machine.
inline load::Outcome RunRoomLoad(std::uint16_t port,
                                 std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(),
                   {"--connect", "127.0.0.1:" + std::to_string(port)});
  std::vector<const char*> texts;
  for (const std::string& argument : arguments) {
    texts.push_back(argument.c_str());
  }
  return load::RunProgram(texts);
}

// An exit code of a run that was measured, and in which every byte was right.
// Nothing is said about speed: on a machine that is busy with something else a
// run may well be saturated.
inline auto IsRight() {
  return testing::AnyOf(load::kExitRight, load::kExitSaturated);
}

}  // namespace parlor::test

#endif  // PARLOR_TESTS_LOAD_RUN_PROGRAM_H_
