#!/bin/sh
# SPDX-License-Identifier: MIT
# No writable globals outside cli/: two simulations can run in one process. The exceptions are what a failed
# allocation calls (engine/base/memory.h), and the number of a thread, which it sets once for itself (engine/present.c).
# usage: check_globals.sh BUILD_DIR   (a build without sanitizers)
#
# Sections tell: nm prints "d" for a constant table of pointers too, which lives in .data.rel.ro.
set -eu
for archive in "$1"/lib/libcollwire_*.a; do
    folder=${archive##*/libcollwire_} folder=${folder%.a}
    case $folder in cli) continue ;; esac
    objdump -t "$archive" | sed "s|^|$folder/|"
done | awk -F '\t' '
{
    n = split($1, left, " ")
    section = left[n]
    split($2, right, " ")
    symbols++
}
/file format/ { object = $1; sub(/: .*/, "", object) }
section ~ /^(\*COM\*|\.(data|bss|tdata|tbss)(\.|$))/ && section !~ /^\.data\.rel\.ro/ &&
right[1] ~ /[1-9a-f]/ && right[2] !~ /^\./ && !(object ~ /^engine\/memory/ && right[2] == "on_failure") &&
!(object ~ /^engine\/present/ && right[2] == "thread_number" && section == ".tbss") {
    print object ": " right[2] " is writable (" section ")"
    failed = 1
}
END {
    if (!symbols)
        print "no archives"
    exit failed || !symbols
}'
