#!/bin/sh
# SPDX-License-Identifier: MIT
# Speed of the simulator on the scenarios beside this file, a2a16 under every policy: best of RUNS (3)
# rounds by CPU time, and the instructions of a packet-hop under callgrind where it is installed (they
# do not vary), with the difference from baseline.json. With --record the baseline is written anew.
set -eu
cd "$(dirname "$0")/../.."
collwire=${COLLWIRE:-build/collwire}
runs=${RUNS:-3}
baseline=tests/bench/baseline.json
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

three="none dcqcn hpcc"
# Calls $1 with each scenario, its policies, and the bytes of the two runs under callgrind.
scenarios() {
    "$1" ring16 "$three" 1MB 500KB
    "$1" a2a16 "$("$collwire" list cc | sed -n 's/^  \([a-z_0-9]*\) .*/\1/p' | grep -v -e newreno -e cubic -e nscc -e rccc | tr '\n' ' ')" 1600KB 800KB
    "$1" perm128 "$three" 400KB 200KB
    "$1" perm1024 "$three dctcp" 100KB 50KB
    "$1" hoti128 "$three" 400KB 200KB
    "$1" tcp-a2a16 dctcp 1600KB 800KB
    "$1" tcp-perm1024 dctcp 100KB 50KB
    "$1" ft16384 dcqcn 20KB 10KB
    "$1" a2a1024 dcqcn 2048KB 1024KB
    "$1" pfc-a2a512 none 1024KB 512KB
}

# One run of each: the machine's bad minutes fall on all of them.
timed() {
    for cc in $2; do
        "$collwire" run "tests/bench/$1.json" --quiet --set cc.kind="$cc" --out "$out/$1.$cc"
        value "$out/$1.$cc" cpu_s >>"$out/$1.$cc/cpu"
    done
}

row() {
    for cc in $2; do
        run=$out/$1.$cc
        best=$(sort -g "$run/cpu" | head -1)
        instr=$(per_hop "tests/bench/$1.json" "$cc" "$3" "$4")
        echo "$(value "$run" packet_hops) $(value "$run" events) $best $(value "$run" peak_rss_bytes)" |
            awk -v name="$1" -v cc="$cc" -v instr="$instr" -v change="$(change "$1" "$cc" "$instr")" \
                '{printf "%-9s %-14s %12d %8.2f %8.1f %10.2f %9.1f %10s %8s\n", name, cc, $1,
                  $2 / $1, 1e9 * $3 / $1, $1 / $3 / 1e6, $4 / 1e6, instr, change}' |
            tee -a "$out/table"
        [ "$instr" = - ] || echo " \"$1 $cc\": $instr" >>"$out/baseline"
    done
}

for _ in $(seq "$runs"); do
    scenarios timed
done
printf '%-9s %-14s %12s %8s %8s %10s %9s %10s %8s\n' \
    scenario cc packet-hops ev/hop ns/hop M-hops/s peak-MB instr/hop change
scenarios row
"$collwire" run tests/bench/analytical-65536.json --quiet --out "$out/closed"
echo "analytical-65536: $(value "$out/closed" wall_s) s, $(value "$out/closed" peak_rss_bytes) bytes of memory"
for name in nccl-ring1024 nccl-tree1024; do
    "$collwire" run tests/bench/$name.json --quiet --out "$out/$name"
    echo "$name: $(value "$out/$name" packet_hops) packet-hops, $(value "$out/$name" cpu_s) s," \
        "$(value "$out/$name" peak_rss_bytes) bytes of memory"
done
awk '$2 == "dcqcn" {ns[$1] = $5}
     END {printf "ns/hop of perm1024 over ring16, dcqcn: %.2f\n", ns["perm1024"] / ns["ring16"]}' \
    "$out/table"
if [ -n "$record" ] && [ -f "$out/baseline" ]; then
    { echo '{'; sed '$!s/$/,/' "$out/baseline"; echo '}'; } >"$baseline"
fi
