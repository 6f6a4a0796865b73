#!/bin/sh
# SPDX-License-Identifier: MIT
# A folder includes and calls only what the table in cmake/Layers.cmake allows it.
# usage: check_layers.sh NM RULES SOURCE_DIR ARCHIVE...   (ARCHIVE is .../libcollwire_FOLDER.a, with - for /)
#
# A symbol of another folder is allowed when the whole folder is, or when an allowed header of it
# names the symbol. Outside cli/ nothing may print, exit or load code (engine's assert may: stderr).
set -eu
nm=$1 rules=$2 source=$3
shift 3
facts=$(mktemp)
trap 'rm -f "$facts"' EXIT

sed 's/^/allow /' "$rules" >"$facts"
cd "$source"
for archive; do
    folder=${archive##*/libcollwire_} folder=$(echo "${folder%.a}" | tr - /)
    echo "folder $folder"
    case $folder in
    */*) ;; # with the folder around it
    *) grep -nE '^[[:space:]]*#[[:space:]]*include' /dev/null $(find "$folder" -name '*.[ch]') |
        sed -E "s|^([^:]*:[0-9]+):[^<\"]*[<\"]([^>\"]*).*|include \1 \2|" ;;
    esac
    "$nm" -g "$archive" | sed -nE "s|^[0-9a-f ]{17}([A-Za-z]) ([^ ]+)$|symbol $folder \1 \2|p"
done >>"$facts"

awk '
function fail(text) { print text; failed = 1 }
# The layer that has a path: its first folder, or a layer inside it.
function owner(path,    inner, at) {
    at = path
    while (sub(/\/[^\/]*$/, "", at))
        if (at in ours)
            return at
    sub(/\/.*/, "", path)
    return path
}
# The path below its layer.
function below(path) { return substr(path, length(owner(path)) + 2) }
# A layer opens its sub-folder by listing it.
function opened(header, folder) {
    folder = parent(header)
    sub(/\/$/, "", folder)
    return (owner(header), folder) in allowed
}
function parent(path) { sub(/[^\/]*$/, "", path); return path }
function base(path) { sub(/.*\//, "", path); return path }
# The identifiers of a header: what it declares, and what else it talks about.
function read_names(folder, header,    line, words, n, i) {
    while ((getline line < header) > 0) {
        n = split(line, words, /[^A-Za-z0-9_]+/)
        for (i = 1; i <= n; i++)
            named[folder, words[i]] = 1
    }
    close(header)
}
BEGIN {
    n = split("printf puts putchar perror stderr exit _exit quick_exit dlopen", words, " ")
    for (i = 1; i <= n; i++)
        cli_only[words[i]] = 1
    ours["collwire"] = 1 # the public headers
}
$1 == "allow" {
    allowed[$2, $3] = 1
    if ($3 ~ /\.h$/ && $3 !~ /\//)
        reserved[$3] = 1
    else if ($3 ~ /\/.*\.h$/)
        read_names($2, $3)
}
$1 == "folder" { ours[$2] = 1; allowed[$2, $2] = 1 }
$1 == "include" { includes[++n_includes] = $2 " " $3 }
$1 == "symbol" && $3 != "U" && $3 !~ /[vVwW]/ && $4 !~ /^__(odr_)?asan/ {
    if ($4 in home && home[$4] != $2)
        fail($4 " is defined in " home[$4] "/ and in " $2 "/")
    home[$4] = $2
}
$1 == "symbol" && $3 ~ /^[Uwv]$/ { uses[$2, $4] = 1 } # w, v: weak, and used where it is there
END {
    for (i = 1; i <= n_includes; i++) {
        split(includes[i], pair, " ")
        f[2] = pair[1]
        f[3] = pair[2]
        f[1] = owner(f[2])
        if (f[3] ~ /\.\.\//)
            fail(f[2] ": include \"" f[3] "\": write the path from the root")
        else if (f[3] ~ /_internal\.h$/ && owner(f[3]) != f[1])
            fail(f[2] ": " f[3] " is for the files of its own folder")
        else if (owner(f[3]) in ours && below(f[3]) ~ /\// && !opened(f[3]) &&
                 substr(f[2], 1, length(parent(f[3]))) != parent(f[3]))
            fail(f[2] ": " f[3] " is for the files of its own sub-folder")
        else if ((owner(f[3]) in ours && f[3] ~ /\// || base(f[3]) in reserved) &&
                 !((f[1], owner(f[3])) in allowed) && !((f[1], f[3]) in allowed) &&
                 !((f[1], base(f[3])) in allowed))
            fail(f[2] ": " f[1] "/ may not include " f[3])
    }
    for (use in uses) {
        split(use, f, SUBSEP)
        if (f[2] in home && !((f[1], home[f[2]]) in allowed) && !(use in named))
            fail(f[1] "/ may not use " f[2] "() of " home[f[2]] "/")
        if (f[2] in cli_only && f[1] !~ /^cli(\/|$)/ && !(f[1] == "engine" && f[2] == "stderr"))
            fail(f[1] "/ may not use " f[2] ": only cli/ prints, exits and loads code")
    }
    if (failed)
        print "The layers are in cmake/Layers.cmake."
    exit failed
}' "$facts"
