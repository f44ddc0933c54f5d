#!/bin/bash
# Play with friends under real keys: who listens and who joins are processes of
# their own, each in a terminal of its own, on this machine's addresses.
source "$(dirname -- "${BASH_SOURCE[0]}")/tmux_test_lib.sh"
replays="$2" # parlor-replay

# What is typed: the shell becomes the game, whose process is in pid-N then, N
# being its terminal.
typed() {
  printf 'parlor-solo() { echo $$ > %q; exec %q "$@"; }\n%s\n' \
    "$work/pid-$((terminals + 1))" "$exe" "$1"
}
pid() { cat "$work/pid-$1"; }

host=0 friend=0 # their terminals

# listen WIDTH HEIGHT ARGUMENT...
listen() {
  start "$1" "$2" "$(typed "parlor-solo --listen 0 $(printf '%q ' "${@:3}")")"
  host=$terminal
  await 'Friends join with'
}

# What the host's lobby says to type, as it is on the screen.
join_line() {
  terminal=$host
  screen | sed -n '/parlor-solo --join/,/[^\\]$/p' > "$work/line"
  grep -q 'parlor-solo --join' "$work/line" || fail "no line: $(screen)"
}

# join WIDTH HEIGHT ARGUMENT...: as the line says, and the arguments.
join() {
  local line
  join_line
  line="$(< "$work/line")"
  (( $# == 2 )) || line+="$(printf ' %q' "${@:3}")"
  start_beside "$1" "$2" "$(typed "$line")"
  friend=$terminal
}

at_host() { terminal=$host; }
at_friend() { terminal=$friend; }

start_match() {
  at_host
  await "$1 of [2-8] places taken"
  keys Enter
  await 'Round 1 of'
  at_friend
  await 'Round 1 of'
}

quit_twice() {
  keys Q
  await 'Q again quits'
  keys Q
}

# How to do it another time; wrapped lines count as one.
says_again() { # pattern
  mux capture-pane -p -J > "$work/screen"
  wants "$work/screen" "^Again: .*parlor-solo $1"
}

# Both recorded the same frames, but for the few that one ran after the other
# had ended. Each knows its own seat, so the files are not the same.
same_match() { # file, file
  local file
  "$replays" diff "$1" "$2" > "$work/out" || fail "$(cat "$work/out")"
  wants "$work/out" 'same in the [0-9,]{3,} frames .* [1-9][0-9,]* that both'
  for file in "$1" "$2"; do run 0 --headless --replay "$file"; done
}

echo "one listens, one joins by the line on the screen, both see the same match"
listen 60 20 --players 3 --size 24x24 --record "$work/host.replay"
wants "$work/screen" 'level normal   size 24x24'
wants "$work/screen" '1 of 3 places taken'
wants "$work/screen" 'invite code [A-Z2-9]{12}$'
join 90 30 --record "$work/friend.replay"
await 'Waiting for the first player to start'
wants "$work/screen" '2 of 3 places taken'
keys Enter # is not the friend's to press
start_match 2
at_friend
keys Up
await 'speed'
at_host
keys Left
keys P
await 'The match goes on'
at_friend
keys P
await 'The match goes on'
keys p
await_gone 'The match goes on'
at_host
await 'Round 2 of|Space goes on'
keys p
keys Q
await 'ends for your friends too'
keys x
await_gone 'ends for your friends too'
quit_twice
await_end 0
says_again '--listen 0 --players 3 '
at_friend
await 'The match ended'
wants "$work/screen" 'the host left'
keys Q
await_end 1
wants "$work/screen" '^parlor-solo: the host left'
same_match "$work/host.replay" "$work/friend.replay"

echo "a wrong code, and nobody there"
listen 100 20 --players 2
join_line
sed -i 's/--invite .*/--invite ABCDEFGHJKLM/' "$work/line"
start_beside 80 24 "$(typed "$(< "$work/line")")"
await 'the host does not know this invite code'
await_end 1
at_host
keys Q # alone: no question
await_end 0
start 80 24 "$(typed "parlor-solo --join 'ws://127.0.0.1:1/room/0?players=2'")"
await 'the room cannot be reached'
await_end 1
start 80 24 "$(typed "parlor-solo --join 'ws://:1/room/0?players=2'")"
await '^parlor-solo: --join: '
await_end 2

echo "one leaves, another is cut off: bots play on; a signal ends it for all"
listen 100 30 --players 4 --hold 2
join 80 24
leaver=$friend
await '2 of 4 places taken'
join 80 24
victim=$friend
await '3 of 4 places taken'
join 80 24
await 'Round 1 of' # full: nobody has to start it
terminal=$leaver
await 'Round 1 of'
quit_twice
await_end 0
says_again '--join .*ws://'
at_host
await 'left, a bot plays on'
kill -KILL "$(pid "$victim")"
await 'reconnecting'
await_gone 'reconnecting'
await 'left, (a bot plays|bots play) on'
kill -TERM "$(pid "$host")"
await_end 143
at_friend
await 'the host left'
keys Enter
await_end 1

echo "the host is killed: its friend tries to come back"
listen 100 30 --players 2
join 80 24
await 'Round 1 of'
kill -KILL "$(pid "$host")"
await 'reconnecting, try [1-6] of 6'
quit_twice
await_end 0

echo "a game against bots, opened to friends from its pause, on any port"
start 100 30 "$(typed "parlor-solo --listen")"
await 'Friends join with|--listen: cannot listen on .* port 7777'
start_beside 100 30 "$(typed "parlor-solo --listen 7777")"
await '--listen: cannot listen on .* port 7777'
await_end 1
start 100 30 "$(typed "parlor-solo --players 4 --size 24x24 --level hard")"
host=$terminal
await 'Round 1 of'
keys P
await 'O opens it to friends'
keys o
await 'Friends join with'
wants "$work/screen" 'level hard   size 24x24'
! grep -q ':7777/' "$work/screen" || fail "a port that is taken"
keys Q
await 'Paused'
keys p
await_gone 'Paused'
keys P
await 'Paused'
keys O
await 'Friends join with'
join 80 24
await '2 of 4 places taken'
start_match 2
at_host
kill -STOP "$(pid "$friend")"
await 'Waiting for Ada'
kill -CONT "$(pid "$friend")"
await_gone 'Waiting for Ada'
quit_twice
await_end 0
at_friend
await 'the host left'
keys Q
await_end 1

echo "passed"
