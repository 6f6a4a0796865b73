#!/bin/sh
# SPDX-License-Identifier: MIT
# A test of the Python package, by the first Python that has pandas (the one of Debian, where Debian's pandas is).
# In a build with sanitizers Python's own objects are from malloc() too, so that an access beyond a buffer which Python lends
# to the library is found; and memory that the library leaks fails the test.
# A symbolizer would outlive Python and keep the pipe of ctest open.
# usage: run.sh TEST BUILD_DIR [COMMAND...]     (the words before the name of Python, such as env LD_PRELOAD=..)
set -eu
file=$1 build=$2
unset COLLWIRE_SHARE # the charts that stand beside the program
shift 2
for python in python3 /usr/bin/python3 none; do
    "$python" -c 'import pandas' 2>/dev/null && break
done
[ "$python" != none ] || python=python3
if [ "${COLLWIRE_SANITIZED:-OFF}" = ON ]; then
    logs=$(mktemp -d)
    trap 'rm -rf "$logs"' EXIT
    status=0
    PYTHONMALLOC=malloc ASAN_OPTIONS=detect_leaks=1:symbolize=0:log_path="$logs/log" LSAN_OPTIONS=exitcode=0 \
        "$@" "$python" -B "$file" || status=$?
    "$python" "${0%/*}/sanitizer_logs.py" "$logs" || status=1
    exit "$status"
fi
case $file in
*/test_wheel.py) exec "$@" "$python" -B "$file" "$build" ;;
*) exec "$@" "$python" -B "$file" ;;
esac
