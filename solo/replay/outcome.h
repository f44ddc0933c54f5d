// What a command of parlor-replay leaves to main(): what to print, where, and
// the exit code.
#ifndef PARLOR_SOLO_REPLAY_OUTCOME_H_
#define PARLOR_SOLO_REPLAY_OUTCOME_H_

#include <string>

namespace parlor::replay_program {

// --help lists them.
inline constexpr int kFine = 0;
inline constexpr int kFinding = 1;  // something is not as it should be
inline constexpr int kRefused = 2;  // bad arguments, or no such file

struct Outcome {
  int code = kFine;
  std::string out;
  std::string err;
};

}  // namespace parlor::replay_program

#endif  // PARLOR_SOLO_REPLAY_OUTCOME_H_
