#!/bin/sh
# SPDX-License-Identifier: MIT
# Format, sizes, clang-tidy and cppcheck over all sources but tests; the first finding of each tool fails.
# usage: lint.sh BUILD   (a configured build directory: its compile_commands.json)
set -eu
build=$1
cd "$(dirname "$0")/.."
jobs=$(nproc)
rooms=$(sed -n 's/^set(COLLWIRE_ROOMS \(.*\))$/\1/p' cmake/Rooms.cmake)

without=none
grep -q engine/processes/beats.c "$build/compile_commands.json" || without=engine/processes # MPI is not there

find . -name 'build*' -prune -o -name '*.[ch]' -print0 | xargs -0 clang-format --dry-run -Werror
# Comments and strings, which clang-format does not break: lines of at most 100 columns, files of at most 500 lines.
git ls-files '*.[ch]' | xargs awk '
    length > 100 { print FILENAME ":" FNR ": more than 100 columns"; bad = 1 }
    FNR == 501 { print FILENAME ": more than 500 lines"; bad = 1 }
    END { exit bad }'
find $rooms -path $without -prune -o -name '*.c' -print0 |
    xargs -0 -P "$jobs" -n 8 clang-tidy --quiet -p "$build" 2>/dev/null
cppcheck --quiet --std=c11 --enable=warning,performance,portability --inline-suppr --error-exitcode=1 \
    -j "$jobs" -D_DEFAULT_SOURCE --suppress=missingInclude --suppress=unknownMacro \
    --suppress=preprocessorErrorDirective -I . -I include $rooms
