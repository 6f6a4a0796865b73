#!/bin/sh
# SPDX-License-Identifier: MIT
# Two builds give the same metrics: every scenario, cut short, byte by byte.
# usage: check_determinism.sh BUILD_A BUILD_B [SCENARIO...]   (default: all of scenarios/)
#
# Left out are the keys "scenario" and "series"; numbers are compared as they are written.
set -eu
[ $# -ge 2 ] || { echo "usage: check_determinism.sh BUILD_A BUILD_B [SCENARIO...]" >&2 && exit 2; }
a=$1 b=$2 events=${DETERMINISM_EVENTS:-2000000}
shift 2
if [ $# = 0 ]; then
    for scenario in "$(dirname "$0")"/../scenarios/*.json "$(dirname "$0")"/../scenarios/co*/*.json; do
        case $scenario in
        */schema.json | */'*.json') ;;
        *) set -- "$@" "$scenario" ;;
        esac
    done
fi
[ $# -gt 0 ] || { echo "determinism: no scenarios" >&2 && exit 1; }
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT

# run BUILD SCENARIO DIR: the exit code; 1 is a run that the limit ended.
run() {
    code=0
    "$1/collwire" run "$2" --quiet --set "limits.events=$events" --out "$3" || code=$?
    echo "$code"
}

failed=0
for scenario; do
    name=$(basename "$scenario" .json)
    code_a=$(run "$a" "$scenario" "$out/a-$name")
    code_b=$(run "$b" "$scenario" "$out/b-$name")
    if [ "$code_a" != "$code_b" ] || [ "$code_a" -gt 1 ]; then
        echo "determinism: $name: exit codes $code_a and $code_b"
        failed=1
    elif ! python3 - "$name" "$out/a-$name/metrics.json" "$out/b-$name/metrics.json" <<'PYTHON'
import json, sys

name, *paths = sys.argv[1:]
as_written = {"parse_float": str, "parse_int": str}
a, b = [json.load(open(path), **as_written) for path in paths]
keys = [key for key in [*a, *(key for key in b if key not in a)]
        if key not in ("scenario", "series") and json.dumps(a.get(key)) != json.dumps(b.get(key))]
sys.exit(f"determinism: {name}: differs in {', '.join(keys)}" if keys else 0)
PYTHON
    then
        failed=1
    else
        echo "determinism: $name: same"
    fi
done
exit $failed
