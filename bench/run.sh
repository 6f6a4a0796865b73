#!/bin/sh
# SPDX-License-Identifier: MIT
# Speed of the simulator on the scenarios beside this file, a2a16 under every policy: best of RUNS (3) by CPU time, and the
# instructions of a packet-hop under callgrind where it is installed (they do not vary), with the
# difference from baseline.json. With --record the baseline is written anew.
set -eu
cd "$(dirname "$0")/.."
collwire=${COLLWIRE:-build/collwire}
runs=${RUNS:-3}
baseline=bench/baseline.json
record=
[ "${1:-}" = --record ] && record=yes
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT

value() { sed -n "s/^ \"$2\": \\([0-9.e+-]*\\),*\$/\\1/p" "$1/run.json"; }

# Instructions of a whole run, or nothing.
instructions() {
    valgrind --tool=callgrind --callgrind-out-file=/dev/null "$@" 2>&1 >/dev/null |
        sed -n 's/.*Collected : \([0-9]*\).*/\1/p'
}

# A run of a tenth of the bytes against one of a twentieth: start-up drops out.
per_hop() {
    command -v valgrind >/dev/null || { echo -; return; }
    big=$(instructions "$collwire" run "$1" --quiet --set cc.kind="$2" --out "$out/big" --set workload.bytes="$3")
    small=$(instructions "$collwire" run "$1" --quiet --set cc.kind="$2" --out "$out/small" --set workload.bytes="$4")
    echo "$big $small $(value "$out/big" packet_hops) $(value "$out/small" packet_hops)" |
        awk '{printf "%.0f", ($1 - $2) / ($3 - $4)}'
}

# Change of the instructions of scenario $1 under $2, now $3, in percent.
change() {
    old=$(sed -n "s/^ \"$1 $2\": \([0-9]*\),*\$/\1/p" "$baseline" 2>/dev/null)
    [ -n "$old" ] && [ "$3" != - ] || { echo -; return; }
    echo "$old $3" | awk '{printf "%+.1f%%", 100 * ($2 / $1 - 1)}'
}

printf '%-9s %-7s %12s %8s %8s %10s %9s %10s %8s\n' \
    scenario cc packet-hops ev/hop ns/hop M-hops/s peak-MB instr/hop change
# Scenario, policies, bytes of the two runs under callgrind.
bench() {
    for cc in $2; do
        best=
        for _ in $(seq "$runs"); do
            "$collwire" run "bench/$1.json" --quiet --set cc.kind="$cc" --out "$out/run"
            cpu=$(value "$out/run" cpu_s)
            best=$(printf '%s\n%s\n' "$best" "$cpu" | grep . | sort -g | head -1)
        done
        hops=$(value "$out/run" packet_hops)
        instr=$(per_hop "bench/$1.json" "$cc" "$3" "$4")
        echo "$hops $(value "$out/run" events) $best $(value "$out/run" peak_rss_bytes)" |
            awk -v name="$1" -v cc="$cc" -v instr="$instr" -v change="$(change "$1" "$cc" "$instr")" \
                '{printf "%-9s %-7s %12d %8.2f %8.1f %10.2f %9.1f %10s %8s\n", name, cc, $1,
                  $2 / $1, 1e9 * $3 / $1, $1 / $3 / 1e6, $4 / 1e6, instr, change}'
        [ "$instr" = - ] || echo " \"$1 $cc\": $instr" >>"$out/baseline"
    done
}
three="none dcqcn hpcc"
bench ring16 "$three" 1MB 500KB
bench a2a16 "$("$collwire" list cc | sed '1,2d;s/ .*//')" 1600KB 800KB
bench perm128 "$three" 400KB 200KB
bench perm1024 "$three" 100KB 50KB
bench hoti128 "$three" 400KB 200KB
if [ -n "$record" ] && [ -f "$out/baseline" ]; then
    { echo '{'; sed '$!s/$/,/' "$out/baseline"; echo '}'; } >"$baseline"
fi
