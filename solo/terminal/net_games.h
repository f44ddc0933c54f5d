// The games with others that the command line and the menu ask for.
#ifndef PARLOR_SOLO_TERMINAL_NET_GAMES_H_
#define PARLOR_SOLO_TERMINAL_NET_GAMES_H_

#include "absl/status/statusor.h"
#include "options.h"
#include "parlor/entropy.h"
#include "terminal/net_scene.h"

namespace parlor::solo {

// Of --listen. Unavailable: the port. `entropy` outlives the game of each.
absl::StatusOr<NetGame> HostGame(const Options& options, Entropy& entropy);

// Of --join. InvalidArgument: the URL.
absl::StatusOr<NetGame> JoinGame(const Options& options, Entropy& entropy);

// Of the menu of a game against bots: the same options. On kListenPort, or
// where the system has a free one.
absl::StatusOr<NetGame> OpenGame(Options options, Entropy& entropy);

}  // namespace parlor::solo

#endif  // PARLOR_SOLO_TERMINAL_NET_GAMES_H_
