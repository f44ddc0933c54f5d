// The log of parlor-host: lines on stderr, with their time and level.
#ifndef PARLOR_HOST_PROGRAM_LOG_H_
#define PARLOR_HOST_PROGRAM_LOG_H_

#include "parlor/host/server.h"

namespace parlor::host_program {

// May be called from any thread, and for as long as the process lives.
host::LogSink StderrLog();

}  // namespace parlor::host_program

#endif  // PARLOR_HOST_PROGRAM_LOG_H_
