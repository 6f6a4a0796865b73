#!/bin/sh
# SPDX-License-Identifier: MIT
# A script of the site by the first Python that has its packages (the one of Debian, where Debian's are).
# usage: run.sh SCRIPT [ARGUMENT...]     exit code 77: no Python has them
set -eu
unset COLLWIRE_SHARE # the charts that stand beside the program
for python in python3 /usr/bin/python3; do
    "$python" -c 'import markdown_it, pygments' 2>/dev/null && exec "$python" -B "$@"
done
echo "site: no Python has markdown_it and pygments: sh cmake/setup.sh --site installs them" >&2
exit 77
