#!/bin/sh
# SPDX-License-Identifier: MIT
# CPU time of the permutations beside this file in collwire and in csg-htsim, in turn: best of RUNS (2)
# rounds. Both send the same bytes in packets of 1000 B over a 3-tier fat tree. collwire runs under PFC
# alone, as htsim_roce does. The time of htsim is that of its process, of collwire that from the first to
# the last event; building is a small part. usage: htsim.sh FOLDER
# FOLDER has htsim_roce, and if wanted htsim_dctcp and its description of the fat tree of N ranks,
# N.topo: that program builds no network of its own, and uses its own packet size.
set -eu
cd "$(dirname "$0")/../.."
collwire=${COLLWIRE:-build/collwire}
runs=${RUNS:-2}
bytes=${BYTES:-4000000}
folder=${1:-}
[ -n "$folder" ] && [ -x "$folder/htsim_roce" ] || {
    echo "htsim: not compared (BENCH_HTSIM names a folder with htsim_roce of csg-htsim)"
    exit 0
}
folder=$(cd "$folder" && pwd)
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT

# Connections of the permutation in the format of htsim; sizes in bytes.
connections() {
    awk -v n="$1" -v bytes="$bytes" 'BEGIN {
        print "Nodes", n; print "Connections", n
        for (i = 0; i < n; i++) print i "->" (i + n / 2) % n " id " i + 1 " start 0 size " bytes}'
}

scenario() {
    cat <<END
{"name": "perm$1", "topology": {"dims": [{"kind": "fat_tree", "size": $1,
 "link": {"rate": "100Gbps", "delay": "1us"}}]}, "transport": {"mtu": "1000B", "ack_interval": 1},
 "cc": {"kind": "$2"}, "workload": {"kind": "permutation", "shift": $(($1 / 2)), "bytes": "${bytes}B"}}
END
}

# Runs a program of htsim in a folder of its own; prints its CPU seconds. All flows must end.
htsim() {
    ranks=$1
    shift
    (cd "$out" && "$@" >log 2>&1 && times >cpu) || { echo "htsim: $1 failed: $(tail -1 "$out/log")" >&2; exit 1; }
    ended=$(grep -c '^Flow .* finished at ' "$out/log" || true)
    [ "$ended" = "$ranks" ] || { echo "htsim: $1: $ended of $ranks flows have ended" >&2; exit 1; }
    sed -n 2p "$out/cpu" | awk '{for (i = 1; i <= 2; i++) {split($i, t, /[ms]/); s += 60 * t[1] + t[2]} print s}'
}

ours() {
    "$collwire" run "$out/$1.$2.json" --quiet --threads 1 --out "$out/run" >&2
    sed -n 's/^ "cpu_s": \([0-9.e+-]*\),*$/\1/p' "$out/run/run.json"
}

printf '%-9s %-12s %12s %10s %8s\n' ranks htsim collwire-s htsim-s ratio
# Rounds of one program of htsim against collwire under policy $3; the rest are its arguments.
compare() {
    ranks=$1 name=$2 cc=$3
    shift 3
    scenario "$ranks" "$cc" >"$out/$ranks.$cc.json"
    rm -f "$out/ours" "$out/theirs"
    for _ in $(seq "$runs"); do
        ours "$ranks" "$cc" >>"$out/ours"
        htsim "$ranks" "$folder/$name" -tm "$out/$ranks.cm" "$@" >>"$out/theirs"
    done
    echo "$(sort -g "$out/ours" | head -1) $(sort -g "$out/theirs" | head -1)" |
        awk -v ranks="$ranks" -v name="$name" \
            '{printf "%-9s %-12s %12.2f %10.2f %8.1f\n", ranks, name, $1, $2, ($1 > 0 ? $2 / $1 : 0)}'
}

for n in ${RANKS:-128 1024}; do
    connections "$n" >"$out/$n.cm"
    compare "$n" htsim_roce none -nodes "$n" -strat ecmp_host -paths 128 -linkspeed 100000 -hop_latency 1 \
        -q 100 -pfc_thresholds 12 15 -mtu 1000 -end 1000000
    if [ -x "$folder/htsim_dctcp" ] && [ -f "$folder/$n.topo" ]; then
        compare "$n" htsim_dctcp dctcp -topo "$folder/$n.topo" -strat single -q 100
    fi
done
