#!/bin/sh
# SPDX-License-Identifier: MIT
# Nanoseconds a packet-hop over the number of ranks: permutations of short flows on fat trees and on
# leaf-spine networks (leaves of 32 ranks and 32 spines up to 1,024 ranks, 64 and 64 above), on 1, 2, 4 ...
# threads, and on as many processes where collwire runs under mpirun. Results are compared byte for byte.
# usage: scale.sh [--quick] [THREADS]     --quick: 64 and 128 ranks
set -eu
cd "$(dirname "$0")/../.."
collwire=${COLLWIRE:-build/collwire}
sizes="1024 2048 4096 8192 16384 32768 65536"
[ "${1:-}" = --quick ] && { sizes="64 128" && shift; }
most=${1:-$(nproc)}
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT

value() { sed -n "s/^ *\"$2\": \\([0-9.e+-]*\\),*\$/\\1/p" "$1/run.json" | head -1; }

# The network of kind $1 with $2 ranks.
network() {
    half=$([ "$2" -gt 1024 ] && echo 64 || echo 32)
    [ "$2" -ge 1024 ] || half=8
    link='{"rate": "100Gbps", "delay": "1us"}'
    case $1 in
    fat_tree) echo "{\"kind\": \"fat_tree\", \"size\": $2, \"link\": $link}" ;;
    *) echo "{\"kind\": \"leaf_spine\", \"size\": $2, \"ranks_per_leaf\": $half, \"spines\": $half, \"link\": $link, \"trunk\": $link}" ;;
    esac
}

# 100 KB a flow, 20 KB above 16,384 ranks.
scenario() {
    bytes=$([ "$2" -gt 16384 ] && echo 20KB || echo 100KB)
    cat <<END
{"name": "$1-$2", "topology": {"dims": [$(network "$1" "$2")]}, "cc": {"kind": "dcqcn"},
 "transport": {"mtu": "1000B", "ack_interval": 1},
 "workload": {"kind": "permutation", "shift": $(($2 / 2)), "bytes": "$bytes"}, "report": {"flows_max": 0}}
END
}

# As root, and with more processes than cores.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1

# Prints a row; $1 threads and $2 processes, the rest is the command. metrics.json is that of one thread.
row() {
    threads=$1 processes=$2
    shift 2
    "$@" run "$out/s.json" --quiet --threads "$threads" --out "$out/$threads.$processes" >&2
    run=$out/$threads.$processes
    cmp "$out/1.1/metrics.json" "$run/metrics.json"
    echo "$(value "$run" packet_hops) $(value "$run" wall_s) $(value "$run" cpu_s) $(value "$run" peak_rss_bytes)" |
        awk -v name="$name" -v n="$n" -v threads="$threads" -v processes="$processes" \
            '{printf "%-11s %6d %8d %10d %12d %10.1f %10.1f %9.1f\n", name, n, threads, processes, $1,
              1e9 * $2 / $1, 1e9 * $3 / $1, $4 / 1e6}'
}

printf '%-11s %6s %8s %10s %12s %10s %10s %9s\n' \
    network ranks threads processes packet-hops wall-ns cpu-ns peak-MB
for name in fat_tree leaf_spine; do
    for n in $sizes; do
        scenario "$name" "$n" >"$out/s.json"
        count=1
        while [ "$count" -le "$most" ]; do
            row "$count" 1 "$collwire"
            [ "$count" -gt 1 ] && find "$(dirname "$collwire")" -name processes_mpi.so | grep -q . && command -v mpirun >/dev/null &&
                row 1 "$count" mpirun -n "$count" "$collwire"
            count=$((2 * count))
        done
    done
done
