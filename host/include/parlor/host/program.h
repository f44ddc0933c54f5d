// The program parlor-host with games linked in: a dedicated host of your own is
//
//   int main(int argc, char** argv) {
//     return parlor::host::RunProgram(argc, argv, {MyGame()});
//   }
//
// and takes what parlor-host takes: its flags, its configuration file (where
// "play" lists the rooms, each with its game's name), signals and commands.
#ifndef PARLOR_HOST_PROGRAM_H_
#define PARLOR_HOST_PROGRAM_H_

#include <vector>

#include "parlor/hosted_game.h"

namespace parlor::host {

// The whole life of the process, which is the program's: signals, standard
// streams, the log on stderr. Answers its exit code; --help lists them. The
// games' names are IsPlayKey and differ.
int RunProgram(int argc, char** argv, const std::vector<HostedGame>& games);

}  // namespace parlor::host

#endif  // PARLOR_HOST_PROGRAM_H_
