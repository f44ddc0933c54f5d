# Sourced by the tests of the executable: checks that say what they wanted.
set -euo pipefail

exe="$1"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT

fail() {
  echo "FAILED: $*" >&2
  exit 1
}

need() {
  for tool in "$@"; do
    command -v "$tool" > /dev/null || fail "$tool is missing (.ci/packages)"
  done
}

# run EXIT_CODE ARGUMENT...: runs the executable without a terminal; what it
# printed is in $work/out and $work/err.
run() {
  local wanted="$1" code=0
  shift
  "$exe" "$@" > "$work/out" 2> "$work/err" < /dev/null || code=$?
  [[ "$code" == "$wanted" ]] ||
    fail "exit code $code, not $wanted, of: $* ($(cat "$work/err"))"
}

# wants FILE PATTERN: a line of the file matches the extended pattern.
wants() {
  grep -Eq -- "$2" "$1" || fail "no \"$2\" in: $(cat "$1")"
}

lines() {
  [[ "$(wc -l < "$1")" == "$2" ]] || fail "not $2 lines: $(cat "$1")"
}

empty() { [[ ! -s "$1" ]] || fail "not empty: $(cat "$1")"; }

hash_of() { sed -n 's/^hash: //p' "$1"; }
