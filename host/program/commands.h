// The commands of parlor-host: 'parlor-host invite new' and its like, which
// change or show what hosts look at, and end.
#ifndef PARLOR_HOST_PROGRAM_COMMANDS_H_
#define PARLOR_HOST_PROGRAM_COMMANDS_H_

#include <cstdint>

#include "parlor/entropy.h"
#include "program/options.h"

namespace parlor::host_program {

// Whether the first word is a command's: RunCommand reads all of them then, and
// ParseOptions none.
bool IsCommand(int argc, const char* const* argv);

// `now_s`: the time, in seconds since 1970.
Exit RunCommand(int argc, const char* const* argv, std::int64_t now_s,
                Entropy& entropy);

}  // namespace parlor::host_program

#endif  // PARLOR_HOST_PROGRAM_COMMANDS_H_
