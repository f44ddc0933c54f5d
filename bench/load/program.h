// room_load, apart from the process: so that tests can run it.
#ifndef PARLOR_BENCH_LOAD_PROGRAM_H_
#define PARLOR_BENCH_LOAD_PROGRAM_H_

#include <span>
#include <string>

namespace parlor::load {

// What it would print, and its exit code. `arguments` without the program's
// name.
struct Outcome {
  int code = 0;
  std::string out;
  std::string err;
};
Outcome RunProgram(std::span<const char* const> arguments);

}  // namespace parlor::load

#endif  // PARLOR_BENCH_LOAD_PROGRAM_H_
