#!/bin/sh
# SPDX-License-Identifier: MIT
# A test of the Python package, by the first Python that has pandas (the one of Debian, where Debian's pandas is).
# usage: run.sh TEST BUILD_DIR [COMMAND...]     (the words before the name of Python, such as env LD_PRELOAD=..)
set -eu
file=$1 build=$2
unset COLLWIRE_SHARE # the charts that stand beside the program
shift 2
for python in python3 /usr/bin/python3 none; do
    "$python" -c 'import pandas' 2>/dev/null && break
done
[ "$python" != none ] || python=python3
case $file in
*/test_wheel.py) exec "$@" "$python" -B "$file" "$build" ;;
*) exec "$@" "$python" -B "$file" ;;
esac
