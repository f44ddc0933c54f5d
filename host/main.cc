// parlor-host: host::Server as a process of its own, without games. What it
// does is in the library (program/run.cc).
#include "parlor/host/program.h"

int main(int argc, char** argv) {
  return parlor::host::RunProgram(argc, argv, {});
}
