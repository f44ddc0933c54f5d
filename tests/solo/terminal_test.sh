#!/bin/bash
# Play Solo under real keys in real terminals of several sizes.
source "$(dirname -- "${BASH_SOURCE[0]}")/tmux_test_lib.sh"
change_hash="$2"
game="$(printf '%q' "$exe") --seed 7 --players 4"

# From the pause, a fresh match in its countdown.
restart() {
  keys R
  await_gone 'Paused'
}

pause() {
  keys P
  await 'Paused'
}

# in_countdown PATTERN [KEY]: presses the key and looks. The countdown is three
# seconds long; a machine too slow to look in time gets it again.
in_countdown() {
  for ((try = 0; try < 20; ++try)); do
    (( $# == 1 )) || keys "$2"
    for ((look = 0; look < 10; ++look)); do
      screen > "$work/screen"
      if grep -q 'Round 1 of' "$work/screen" &&
         ! grep -q 'speed' "$work/screen" &&
         grep -Eq -- "$1" "$work/screen"; then
        return 0
      fi
    done
    pause
    restart
  done
  fail "no \"$1\" in a countdown: $(cat "$work/screen")"
}

echo "80x24: keys, countdown, steering, pause, resizing, quitting"
start 80 24 "$game"
await 'arrows.*steer.*boost.*pause.*help.*quit'
in_countdown '██████' # the upper or lower line of a large digit
in_countdown 'You'
# An arrow chooses the heading, and the head shows it.
in_countdown '▲1' Up
in_countdown '▼1' Down
in_countdown '◀1' Left
in_countdown '▶1' Right
in_countdown '▲1' w
in_countdown '▼1' j
await 'speed'
pause
wants "$work/screen" 'seed 7'
wants "$work/screen" 'size 38x20'
screen > "$work/first"
sleep 0.3
screen > "$work/second"
cmp -s "$work/first" "$work/second" || fail "the pause does not hold"
resize 40 10
await 'needs 48x14, has 40x10'
await_gone 'Paused'
resize 12 3
await 'needs 48x14'
resize 60 16
await '│ {38}│' # half cells: a column each
await 'Paused'
resize 80 24
await 'Paused'
await '│ {76}│'
keys p
await_gone 'Paused'
keys '?'
await 'How to play'
keys x
await_gone 'How to play'
keys Q
await 'Quit\?'
keys x
await_gone 'Quit\?'
keys Q
await 'Quit\?'
keys Q
await_end 0
mux capture-pane -p -J > "$work/screen" # wrapped lines as one
wants "$work/screen" '^Again: .*/parlor-solo --players 4 .*--seed 7 *$'

echo "a window that is too small from the start, and grows"
start 30 8 "$game --size 38x20"
await 'needs 48x14, has 30x8'
resize 80 24
await 'Paused'
keys P
await 'Round 1 of'
keys Q
await 'Quit\?'
keys Q
await_end 0

echo "120x40: the panel; eight players"
start 120 40 "$(printf '%q' "$exe") --players 8 --level hard --seed 3"
await 'C Y C L E S'
await 'Gus'
await 'seed +3'
pause
keys Q
await_end 0

echo "played to the end of a round, and watched to the end of a match"
start 80 24 "$game --size 24x24 --record $(printf '%q' "$work/match.replay")"
await 'the round|Nobody is left'
wants "$work/screen" 'score'
wants "$work/screen" 'hit|head-on|caught'
pause
keys Q
await_end 0
start 80 24 "$(printf '%q' "$exe") --replay $(printf '%q' "$work/match.replay")"
await 'Replay [0-9]+/[0-9]+ x1 '
keys P
await 'x1 paused'
keys .
keys P
keys + + + +
await 'x16'
await 'every hash of [0-9]+ frames is as recorded'
keys R
await_gone 'every hash'
keys q
await_end 0

echo "a replay that differs ends by itself, and says where"
cp "$work/match.replay" "$work/start.replay"
"$change_hash" "$work/start.replay" 0
start 160 24 "$(printf '%q' "$exe") --replay $(printf '%q' "$work/start.replay")"
await 'the replay differs at the start'
await_end 1
cp "$work/match.replay" "$work/middle.replay"
"$change_hash" "$work/middle.replay" 120
start 160 24 "$(printf '%q' "$exe") --replay $(printf '%q' "$work/middle.replay")"
await 'Replay [0-9]+/|the replay differs'
keys - - # frames are then rarer than drawings
await 'the replay differs before frame 120'
await_end 1

echo "recordings: nothing is overwritten, nobody plays in vain"
record="$game --size 24x24 --record"
start 160 24 "$record $(printf '%q' "$work/match.replay")"
await 'match.replay exists already'
await_end 2
start 160 24 "$record $(printf '%q' "$work/nowhere/match.replay")"
await 'cannot write'
await_end 1
echo "an earlier session's" > "$work/new.replay.2"
start 80 24 "$record $(printf '%q' "$work/new.replay")"
await 'Round 1 of'
pause
restart
pause
keys Q
await_end 0
[[ "$(< "$work/new.replay.2")" == "an earlier session's" ]] || fail "lost"
[[ -s "$work/new.replay.3" ]] || fail "no recording of the restart"

echo "signals: SIGINT by Ctrl-C, SIGQUIT by Ctrl-\\, SIGTERM, Ctrl-Z and back"
start 80 24 "exec $game"
await 'Round 1 of'
keys C-c
await_end 130
start 80 24 "ulimit -c 0; exec $game"
await 'Round 1 of'
keys 'C-\'
await_end 131
start 80 24 "echo \$\$ > $(printf '%q' "$work/pid"); exec $game"
await 'Round 1 of'
kill -TERM "$(< "$work/pid")"
await_end 143
start 80 24 "exec bash --norc --noprofile -i"
keys "PS1='ready> '" Enter
await '^ready>'
keys "$game" Enter
await 'Round 1 of'
keys C-z
await 'Stopped'
keys fg Enter
await 'Paused'
keys Q
await 'Again: '
keys exit Enter
await_end 0

echo "without UTF-8: ASCII"
start 80 24 "LC_ALL=C $game"
await '^ *\+-+ Round 1 of'
await '[v^<>]1'
pause
keys Q
await_end 0

echo "a terminal without colours, and one that cannot show a screen"
start 80 24 "TERM=vt100 $game"
await 'Round 1 of'
await '[▲▼◀▶]1'
pause
keys Q
await '^exit code 0$' # a vt100 has no second screen to leave
wants "$work/screen" '^terminal restored$'
start 60 16 "NO_COLOR=1 $game --size 38x20"
await 'needs 78x24, has 60x16' # half cells are colours
keys Q
await_end 0
start 80 24 "TERM=dumb $game"
await 'the terminal .dumb. cannot show a game'
await_end 1

echo "passed"
