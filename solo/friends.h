// What the command line asks for of play with friends.
#ifndef PARLOR_SOLO_FRIENDS_H_
#define PARLOR_SOLO_FRIENDS_H_

#include "net_links.h"
#include "options.h"
#include "parlor/entropy.h"
#include "session.h"

namespace parlor::solo {

// Of --listen. The code is drawn from `entropy` where none was given.
ListenOptions ListenOptionsOf(const Options& options, Entropy& entropy);

// Of --listen and --join: a seat in a lobby.
SessionOptions FriendSessionOf(const Options& options);

}  // namespace parlor::solo

#endif  // PARLOR_SOLO_FRIENDS_H_
