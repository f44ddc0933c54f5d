# Sourced by the tests that play in a real terminal: a tmux server of their
# own, real keys, and the screen as a player sees it. Nothing here depends on
# how fast anything is: what should come is waited for, with a bound.
source "$(dirname -- "${BASH_SOURCE[0]}")/solo_test_lib.sh"
need tmux
unset TMUX NO_COLOR
export LC_ALL=C.UTF-8

# A server of its own for each terminal: one that is on its way out still takes
# new sessions, and dies with them. `terminal` is the one that all of this is
# about; a test with several sets it to go from one to another.
terminal=0
terminals=0
mux() { tmux -u -S "$work/server-$terminal" -f "$work/tmux.conf" "$@"; }

# Also ends the games: they are killed by the hang-up.
clean_up() {
  for ((terminal = 1; terminal <= terminals; ++terminal)); do
    mux kill-server 2> /dev/null || true
  done
  rm -rf "$work"
}
trap clean_up EXIT

cat > "$work/tmux.conf" <<'END'
set -g status off
set -g default-terminal "tmux-256color"
set -g remain-on-exit on
END

# The player's shell: runs the command line in a file, between marks,
# and says whether the terminal is as it was.
cat > "$work/player" <<'END'
#!/bin/bash
trap : INT QUIT  # Ctrl-C and Ctrl-\ are the game's
before="$(stty -g)"
echo "before the game"
bash "$1"
code=$?
[[ "$(stty -g)" == "$before" ]] && echo "terminal restored"
echo "exit code $code"
exec sleep 3600
END

# start WIDTH HEIGHT COMMAND: in a new terminal, in place of this one.
start() {
  mux kill-server 2> /dev/null || true
  start_beside "$@"
}

# As well, and this one stays.
start_beside() {
  terminals=$((terminals + 1))
  terminal=$terminals
  local command="$work/command-$terminal"
  printf '%s\n' "$3" > "$command"
  mux new-session -d -x "$1" -y "$2" bash "$work/player" "$command"
}

screen() { mux capture-pane -p; }

# await PATTERN: until a line of the screen matches the extended pattern.
await() {
  for ((i = 0; i < 600; ++i)); do
    screen > "$work/screen"
    ! grep -Eq -- "$1" "$work/screen" || return 0
    sleep 0.05
  done
  fail "waited for \"$1\" in vain; the screen is:
$(cat "$work/screen")"
}

# await_gone PATTERN: until no line matches it.
await_gone() {
  for ((i = 0; i < 600; ++i)); do
    screen > "$work/screen"
    grep -Eq -- "$1" "$work/screen" || return 0
    sleep 0.05
  done
  fail "\"$1\" does not go away; the screen is:
$(cat "$work/screen")"
}

keys() { mux send-keys "$@"; }

resize() { mux resize-window -x "$1" -y "$2"; }

# The game is over, and nothing of it is left behind.
await_end() { # exit code
  await "^exit code $1\$"
  grep -q '^terminal restored$' "$work/screen" || fail "$(cat "$work/screen")"
  # tmux fills a screen that grew meanwhile with lines of the game's.
  grep -q 'before the game$' "$work/screen" || fail "$(cat "$work/screen")"
}
