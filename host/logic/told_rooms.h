// What an operator is told of hosted rooms that cannot be opened.
#ifndef PARLOR_HOST_LOGIC_TOLD_ROOMS_H_
#define PARLOR_HOST_LOGIC_TOLD_ROOMS_H_

#include <vector>

#include "parlor/host/play_room.h"
#include "parlor/host/server.h"

namespace parlor::host {

// The same rooms; that one cannot be opened is told to `log`, once until it
// can again, and what its factory throws goes no further. No player's doing is
// in the line, nor what was thrown.
std::vector<PlayRoom> ToldRooms(std::vector<PlayRoom> rooms,
                                const LogSink& log);

}  // namespace parlor::host

#endif  // PARLOR_HOST_LOGIC_TOLD_ROOMS_H_
