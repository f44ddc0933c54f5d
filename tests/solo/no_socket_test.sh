#!/bin/bash
# Play Solo never opens a socket: the system calls of a headless game and of
# one in the terminal, restart included, as strace saw them.
source "$(dirname -- "${BASH_SOURCE[0]}")/tmux_test_lib.sh"
need strace
# LeakSanitizer traces the process as well, and only one can.
export ASAN_OPTIONS="${ASAN_OPTIONS:-}:detect_leaks=0"

trace=(strace -f -qq -e trace=network,execve -e signal=none)

# A trace without the executable's own start proves nothing.
no_socket() {
  grep -q "execve(\"$exe\"" "$1" || fail "strace saw no start: $(cat "$1")"
  ! grep -v 'execve(' "$1" || fail "those are calls for a network"
}

# The net that must catch something if it is there to be caught.
"${trace[@]}" -o "$work/caught" bash -c ': < /dev/tcp/127.0.0.1/1' \
  2> /dev/null || true
grep -q 'socket(' "$work/caught" || fail "strace misses a socket"

"${trace[@]}" -o "$work/headless" "$exe" --headless --frames 600 \
  > "$work/out" 2> /dev/null
wants "$work/out" '^frames: 600$'
no_socket "$work/headless"

start 80 24 "$(printf '%q ' "${trace[@]}" -o "$work/terminal" "$exe")"
await 'Round 1 of'
await 'speed'
keys P
await 'Paused'
keys R
await_gone 'Paused'
await 'speed'
keys P
await 'Paused'
keys Q
await_end 0
no_socket "$work/terminal"

echo "passed"
