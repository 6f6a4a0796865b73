#!/bin/sh
# SPDX-License-Identifier: MIT
# Remove what the last `make install` of a build directory has installed, and the folders that are collwire's own.
# DESTDIR is put before the names, as it was then. The list of files is not CMake's, since tests install elsewhere.
# usage: uninstall.sh BUILD
set -eu
manifest=$1/installed_files.txt
[ -f "$manifest" ] || { echo "uninstall: $manifest is not there: nothing was installed from here" >&2; exit 1; }
while IFS= read -r file || [ -n "$file" ]; do
    rm -f "${DESTDIR:-}$file"
    # up to the folder that is called collwire
    folder=$(dirname "$file")
    while case $folder in */collwire | */collwire/*) true ;; *) false ;; esac; do
        rmdir "${DESTDIR:-}$folder" 2>/dev/null || break
        folder=$(dirname "$folder")
    done
done <"$manifest"
rm -f "$manifest"
