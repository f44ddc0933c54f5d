#!/bin/bash
# What tests/swarm and parlor-swarm refuse: exit code 2 and one line on stderr,
# with the option and the value. The first says it before it builds.
set -euo pipefail

program="$1"
script="$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)/swarm"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT

# Were something let through, nothing would be built.
printf '#!/bin/sh\nexit 1\n' > "$work/cmake"
chmod +x "$work/cmake"
export PATH="$work:$PATH"

refuses() { # command, line, arguments...
  local command="$1" line="$2" code=0
  shift 2
  "$command" "$@" > "$work/out" 2> "$work/err" || code=$?
  if [[ "$code" != 2 || -s "$work/out" ]] ||
    [[ "$(cat "$work/err")" != *"${command##*/}: $line (--help says more)" ]] ||
    [[ "$(wc -l < "$work/err")" != 1 ]]; then
    echo "FAILED: ${command##*/} $*: exit code $code: $(cat "$work/err")" >&2
    exit 1
  fi
}

both() {
  refuses "$script" "$@"
  refuses "$program" "$@"
}

both "there is no option '--seed'" --seed 7
both "there is no option '7'" --seeds 1 7
both '--seeds: its value is missing' --seeds
both '--seeds: 0 is nothing to run' --seeds 0
both '--seeds: 0x0 is nothing to run' --seeds 0x0
both "--seeds: '' is no number from 0 to 2^64 - 1" --seeds ''
both "--seeds: '-1' is no number from 0 to 2^64 - 1" --seeds -1
both "--seeds: '10x' is no number from 0 to 2^64 - 1" --seeds 10x
both "--from: 'one' is no number from 0 to 2^64 - 1" --from one
both "--from: '0x' is no number from 0 to 2^64 - 1" --from 0x
both '--kind: its value is missing' --kind
both "--kind: 'play' is not lockstep, authority or both" --kind play
both "--kind: '' is not lockstep, authority or both" --kind ''
both "--trace: '' is no file's name" --trace ''
both "--trace: '--twice' is no file's name" --trace --twice
refuses "$program" "--from: '18446744073709551616' is no number from 0 to 2^64 - 1" \
  --from 18446744073709551616
refuses "$program" "--trace: cannot write $work/none/at.txt" \
  --trace "$work/none/at"
refuses "$script" '--plant: its value is missing' --plant
refuses "$script" "--plant: there is no ''" --plant ''
refuses "$script" "--plant: there is no 'nettle'" --seeds 1 --plant nettle
refuses "$script" "--plant: there is no '../plants/lost_close'" \
  --plant ../plants/lost_close

"$script" --help > "$work/out"
grep -q 'Plants: .*lost_close' "$work/out"
"$program" --help > "$work/out"
"$program" --kind both --seeds 1 > "$work/out"
grep -q '^authority rooms: ' "$work/out"
"$program" --seeds 1 --from 0x1 --trace "$work/trace" > "$work/out"
[[ -s "$work/trace.txt" && -s "$work/trace.svg" ]]

echo "passed"
