#!/bin/sh
# SPDX-License-Identifier: MIT
# Build the fuzz targets in folder BUILD (clang, COLLWIRE_SANITIZE=ON) and run them for a number of inputs in all.
# usage: run.sh BUILD INPUTS [SEED] [READER...]
#
# Targets are the readers of files (readers.txt), and the transports over a hostile network. A quarter of the inputs
# are scenarios, a quarter go to transports; the other readers share the rest. Afterwards each source of readers.txt must
# have been reached by its target. A finding is stored in
# BUILD/fuzz/READER-*; once the defect is fixed, move it to tests/fuzz/corpus/READER. Inputs that reach new code are in
# BUILD/fuzz/corpus/READER.
set -eu
[ $# -ge 2 ] || { echo "usage: run.sh BUILD INPUTS [SEED] [READER...]" >&2; exit 2; }
build=$1 inputs=$2 seed=${3:-1}
shift $(($# < 3 ? $# : 3))
here=$(cd "$(dirname "$0")" && pwd)
listed=$(awk '!/^#/ && NF && $2 != "-" { print $2 }' "$here/readers.txt" | sort -u)
others=$(echo "$listed" | grep -c -v '^scenario$')
readers=${*:-$listed roce tcp uec mrc}
cmake -S "$here/../.." -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_COMPILER=clang \
    -DCOLLWIRE_SANITIZE=ON >/dev/null
cmake --build "$build" --target fuzz >"$build/build.log" || { tail -n 40 "$build/build.log"; exit 1; }
mkdir -p "$build/fuzz"
python3 "$here/dictionary.py" "$here/../../scenarios/schema.json" >"$build/fuzz/words"
failed=
for reader in $readers; do
    found=$build/fuzz/corpus/$reader
    mkdir -p "$found"
    case $reader in
    scenario) runs=$((inputs / 4)) ;;
    roce | tcp | uec | mrc) runs=$((inputs / 16)) ;;
    *) runs=$((inputs / 2 / others)) ;;
    esac
    begin=$(date +%s)
    if ! "$build/fuzz_$reader" -runs="$runs" -seed="$seed" -timeout=20 -rss_limit_mb=3000 \
        -max_len=8192 -dict="$build/fuzz/words" -artifact_prefix="$build/fuzz/$reader-" \
        -verbosity=0 "$found" "$here/corpus/$reader" >"$build/fuzz/$reader.log" 2>&1; then
        tail -n 40 "$build/fuzz/$reader.log"
        failed="$failed $reader"
    fi
    reached=$build/fuzz/$reader.reached
    "$build/fuzz_$reader" -runs=0 -print_coverage=1 "$found" "$here/corpus/$reader" >"$reached" 2>&1 || true
    for source in $(awk -v reader="$reader" '$2 == reader { print $1 }' "$here/readers.txt"); do
        grep -a -q "^COVERED_FUNC.*/$source:" "$reached" || { echo "$reader does not reach $source"; failed="$failed $reader"; }
    done
    echo "$reader: $runs inputs, $(($(date +%s) - begin)) s, $(ls "$found" | wc -l) reach new code"
done
[ -z "$failed" ] || { echo "failed:$failed"; exit 1; }
