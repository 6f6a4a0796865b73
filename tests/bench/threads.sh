#!/bin/sh
# SPDX-License-Identifier: MIT
# Wall time of scenarios beside this file on one thread and on several, in turn: best of RUNS (2) rounds.
# Results are compared byte for byte. usage: threads.sh [THREADS] [SCENARIO ...]
set -eu
cd "$(dirname "$0")/../.."
collwire=${COLLWIRE:-build/collwire}
runs=${RUNS:-2}
threads=${1:-2}
[ $# -gt 0 ] && shift
[ $# -gt 0 ] || set -- perm128 hoti128 perm1024 ring1024 pfc-a2a512 ft16384 llama-layer
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT

# Value of a key of run.json, at any depth.
value() { sed -n "s/^ *\"$2\": \\([0-9.e+-]*\\),*\$/\\1/p" "$1/run.json" | head -1; }

printf '%-12s %9s %9s %6s %9s %9s %9s %9s %10s %10s\n' \
    scenario wall-1 "wall-$threads" ratio windows ev/window parallel waiting imbalance crossings
for name in "$@"; do
    for _ in $(seq "$runs"); do
        for n in 1 "$threads"; do
            "$collwire" run "tests/bench/$name.json" --quiet --threads "$n" --out "$out/$name.$n" 2>/dev/null
            value "$out/$name.$n" wall_s >>"$out/$name.$n.wall"
        done
        cmp "$out/$name.1/metrics.json" "$out/$name.$threads/metrics.json"
    done
    many=$out/$name.$threads
    echo "$(sort -g "$out/$name.1.wall" | head -1) $(sort -g "$many.wall" | head -1) $(value "$many" windows) \
        $(value "$many" events_per_window) $(value "$many" parallel) $(value "$many" waiting) \
        $(value "$many" imbalance) $(value "$many" crossings)" |
        awk -v name="$name" '{printf "%-12s %9.2f %9.2f %6.2f %9d %9.0f %9.3f %9.3f %10.3f %10d\n",
                              name, $1, $2, $2 / $1, $3, $4, $5, $6, $7, $8}'
done
