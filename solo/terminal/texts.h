// What the screen says in words.
#ifndef PARLOR_SOLO_TERMINAL_TEXTS_H_
#define PARLOR_SOLO_TERMINAL_TEXTS_H_

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "cycles/state.h"
#include "terminal/view.h"

namespace parlor::solo {

// At most four letters, so that eight fit in a row.
std::string_view PlayerName(int seat, int own_seat);

// "hit Ada's trail", "met you head-on": why a seat is out, or "" while it is
// alive.
std::string DeathText(const cycles::State& state, int seat, int own_seat);

// "Ada wins the round", "Nobody is left".
std::string RoundText(const cycles::State& state, int own_seat);

// "You win the match!", "You and Ada share the match".
std::string MatchText(const cycles::State& state, int own_seat);

// "Ada is reconnecting", "Bix left, a bot plays on", or "": nothing is worth a
// word, or all of it is over.
std::string NetText(const NetView& net, int own_seat);

// "Waiting for Ada and Bix".
std::string WaitingText(std::uint32_t waiting, int own_seat);

// "level normal   size 38x20"
std::string GameText(cycles::Level level, int width, int height);

// What a friend types to join, in rows that have room in `width` columns and
// are, copied together, one command to a shell.
std::vector<std::string> JoinCommand(const std::string& url,
                                     const std::string& code, int width);

// At its spaces.
std::vector<std::string> Wrapped(std::string_view text, int width);

std::string_view StyleName(cycles::Style style);

// The first of `texts` that has room in `width` columns, or the last one.
std::string_view Longest(std::initializer_list<std::string_view> texts,
                         int width);

// What of `text` has room in `width` columns.
std::string_view Clipped(std::string_view text, int width);

// It crashed in this round.
bool IsOut(const cycles::Cycle& cycle);

// The seat that went out last in this round, or -1.
int LastDeath(const cycles::State& state);

}  // namespace parlor::solo

#endif  // PARLOR_SOLO_TERMINAL_TEXTS_H_
