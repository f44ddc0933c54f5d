#!/bin/bash
# parlor-solo without a terminal: arguments, exit codes, the three lines, the
# same hash on every run, recordings and replays.
source "$(dirname -- "${BASH_SOURCE[0]}")/solo_test_lib.sh"

golden_hash=0x9701ba582678cfed

three_lines() { # frames
  lines "$work/out" 3
  sed -n 1p "$work/out" | grep -qx "frames: $1" || fail "$(cat "$work/out")"
  sed -n 2p "$work/out" | grep -Eqx 'hash: 0x[0-9a-f]{16}' ||
    fail "$(cat "$work/out")"
  sed -n 3p "$work/out" | grep -Eqx 'frames_per_second: [0-9]+' ||
    fail "$(cat "$work/out")"
}

# Bad arguments: exit code 2, nothing on stdout, one line that names them.
bad() { # pattern arguments...
  local pattern="$1"
  shift
  run 2 "$@"
  empty "$work/out"
  lines "$work/err" 1
  wants "$work/err" "^parlor-solo: .*$pattern"
}
bad '--players' --headless --players 1
bad '--players' --headless --players 9
bad '--players' --players
bad '--level' --headless --level insane
bad '--seed' --headless --seed 4294967296
bad '--size: there is no 77x40, the nearest is 76x40' --headless --size 77x40
bad '--frames' --headless --frames 0
bad '--frames' --headless --frames many
bad '--frames' --frames 10
bad '--seed' --replay file --seed 1
bad '--record' --replay file --record file
bad '--partial' --headless --partial
bad '--speed' --speed
bad 'words' words
bad '--headless' --players 3

run 0 --help
wants "$work/out" 'Exit codes'
empty "$work/err"
run 0 --version
lines "$work/out" 1

# Without options and a terminal.
run 0
three_lines 3600
wants "$work/err" '^parlor-solo: no terminal, so this is --headless'

# The same seed, options and frames: the same hash, here and on every machine.
game=(--seed 7 --players 5 --level hard --size 48x24)
run 0 --headless --frames 2000 "${game[@]}"
three_lines 2000
empty "$work/err"
hash="$(hash_of "$work/out")"
run 0 --headless --frames 2000 "${game[@]}"
[[ "$(hash_of "$work/out")" == "$hash" ]] || fail "another hash: $hash"
[[ "$hash" == "$golden_hash" ]] ||
  fail "hash $hash, not $golden_hash. If the rules changed on purpose, raise" \
       "kRulesVersion and put the new hash here."
run 0 --headless --seed 8 --frames 2000 --players 5 --level hard --size 48x24
[[ "$(hash_of "$work/out")" != "$hash" ]] || fail "the seed changes nothing"

# Without a seed one is drawn, and told.
run 0 --headless --frames 300
seed="$(sed -n 's/^parlor-solo: seed //p' "$work/err")"
hash="$(hash_of "$work/out")"
run 0 --headless --frames 300 --seed "$seed"
[[ "$(hash_of "$work/out")" == "$hash" ]] || fail "seed $seed differs"

# More than the five minutes after which a room without messages is closed.
run 0 --headless --seed 1 --frames 20000 --players 2 --size 24x24
three_lines 20000

# A recording plays again with the same hash.
replay="$work/match.replay"
run 0 --headless --frames 2000 "${game[@]}" --record "$replay"
[[ "$(hash_of "$work/out")" == "$golden_hash" ]] || fail "recording differs"
run 0 --headless --replay "$replay"
three_lines 2000
[[ "$(hash_of "$work/out")" == "$golden_hash" ]] || fail "the replay differs"
run 1 --headless --seed 7 --frames 100 --record /dev/full
wants "$work/err" 'cannot write /dev/full'
empty "$work/out"
run 1 --headless --seed 7 --record "$work/no/such/place"
lines "$work/err" 1
wants "$work/err" '--record: cannot write'

# What is there is not overwritten.
cp "$replay" "$work/before"
bad "--record: .*match.replay exists already" \
  --headless --seed 8 --frames 100 --record "$replay"
cmp -s "$replay" "$work/before" || fail "the recording is overwritten"

# So is a file for a desync: before the match, and without a trace of it.
: > "$work/taken"
bad '--desync: .*taken exists already' --headless --desync "$work/taken"
ln -s nowhere "$work/link"
bad '--desync: .*link exists already' --headless --desync "$work/link"
run 1 --headless --desync "$work/no/such/place" --record "$work/unmade"
lines "$work/err" 1
wants "$work/err" '--desync: cannot write .*/no/such/place: No such file'
run 1 --headless --desync "$replay/inside"
wants "$work/err" '--desync: cannot write .*/inside: Not a directory'
run 0 --headless --seed 7 --frames 100 --desync "$work/desync"
[[ "$(cd "$work" && echo *sync* unmade*)" == '*sync* unmade*' ]] ||
  fail "left behind: $(ls "$work")"

# A flipped byte, a cut and a foreign file are refused with their place.
refused() { # pattern arguments...
  local pattern="$1"
  shift
  run 2 --headless --replay "$@"
  empty "$work/out"
  lines "$work/err" 1
  wants "$work/err" "$pattern"
}
size="$(stat -c %s "$replay")"
cp "$replay" "$work/flipped"
byte="$(od -An -tu1 -j 1000 -N 1 "$replay" | tr -d ' ')"
printf "%b" "\\x$(printf %x $((byte ^ 1)))" |
  dd of="$work/flipped" bs=1 seek=1000 conv=notrunc status=none
refused 'flipped: byte [0-9]+: .*does not match its checksum' "$work/flipped"
printf 'PARLREP\032\001\000%038d' 0 > "$work/first"
refused 'first: byte 8: format version 1, this program reads version 2' \
  "$work/first"
head -c $((size - 100)) "$replay" > "$work/torn"
refused 'torn: byte [0-9]+: the recording was cut off here' "$work/torn"
run 0 --headless --partial --replay "$work/torn"
frames="$(sed -n 's/^frames: //p' "$work/out")"
(( frames > 1800 && frames < 2000 )) || fail "$frames frames of a torn file"
three_lines "$frames"
wants "$work/err" 'cut off'
hash="$(hash_of "$work/out")"
run 0 --headless "${game[@]}" --frames "$frames"
[[ "$(hash_of "$work/out")" == "$hash" ]] || fail "the prefix differs"
cat "$replay" <(echo) > "$work/longer"
refused '1 byte after the end' "$work/longer"
refused 'byte 0: not a parlor replay' "$exe"
refused 'cannot read' "$work/nothing"
refused 'cannot read' "$work"

echo "passed"
