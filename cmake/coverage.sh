#!/bin/sh
# SPDX-License-Identifier: MIT
# Lines and branches of the program's own folders that the tests run, without those labelled "long".
# usage: coverage.sh BUILD [CTEST OPTION...]   (a build directory of its own; options choose tests)
set -eu
build=$1
shift
cd "$(dirname "$0")/.."
rooms=$(sed -n 's/^set(COLLWIRE_ROOMS \(.*\))$/\1/p' cmake/Rooms.cmake)

cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_COMPILER=gcc \
    -DCMAKE_C_FLAGS="--coverage -fprofile-update=atomic -O1" >/dev/null
cmake --build "$build"
find "$build" -name '*.gcda' -delete
ctest --test-dir "$build" -j "$(nproc)" "$@" || echo "coverage: some tests have failed" >&2
set --
for folder in $rooms; do
    set -- "$@" --filter "$folder/"
done
gcovr --root . --object-directory "$build" "$@" --gcov-ignore-parse-errors --exclude-throw-branches \
    --txt "$build/coverage.txt" --print-summary
echo "by file: $build/coverage.txt"
