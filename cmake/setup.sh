#!/bin/sh
# SPDX-License-Identifier: MIT
# Install on Debian or Ubuntu what is not there yet: to build, and to write PDF (librsvg2-2, which is loaded when it is needed,
# and a font for it); with --tests also what the tests use; with --ci
# also the second compiler, the linters, and what all tests of the
# Python package use; with --report what bundles the charts of reports anew, with
# --browser what tests them, with --studies what draws the charts of studies, with --site what
# makes pages of the documentation, and with --package what makes packages and a release.
#
# Elsewhere nothing is installed: what a build needs is looked for, and what is missing is named with the packages of the
# system that have it. Exit code 1: a build would fail; 2: bad usage.
set -eu
need="gcc libc6-dev cmake ninja-build pkg-config
      libev-dev libjansson-dev libpcap-dev libisal-dev zlib1g-dev libsmartcols-dev librandom123-dev nettle-dev libsqlite3-dev
      libprotobuf-c-dev protobuf-c-compiler libyaml-dev libexpat1-dev libmetis-dev libnlopt-dev duktape-dev librsvg2-2 fonts-liberation"
extra=
for option; do
    case $option in
    --tests) extra="$extra libcmocka-dev libopenmpi-dev openmpi-bin tshark python3 python3-jsonschema python3-pandas python3-scapy locales make parallel" ;;
    # programs from another source than Debian are left as they are
    --report) command -v npm >/dev/null || extra="$extra nodejs npm" ;;
    --browser) command -v chromium >/dev/null || extra="$extra chromium fonts-dejavu-core" ;;
    --studies) extra="$extra python3 python3-matplotlib" ;;
    --site) extra="$extra python3 mkdocs mkdocs-material" ;;
    --package) extra="$extra dpkg-dev file python3 patchelf binutils git" ;;
    --ci) extra="$extra clang libclang-rt-14-dev clang-format clang-tidy cppcheck
          mypy python3-nbclient python3-ipykernel python3-venv patchelf binutils python3-xarray" ;;
    --coverage) extra="$extra gcovr" ;;
    *) echo "usage: setup.sh [--tests] [--ci] [--coverage] [--report] [--browser] [--studies] [--site] [--package]" >&2 && exit 2 ;;
    esac
done

# found KIND NAME: whether a program, a module of pkg-config, a header, or a library with its header is there.
found() {
    case $1 in
    program) command -v "$2" >/dev/null ;;
    module) command -v pkg-config >/dev/null && pkg-config --exists "$2" ;;
    header) printf '#include <%s>\n' "$2" | ${CC:-cc} -E - >/dev/null 2>&1 ;;
    esac
}

# lacking FAMILY: what is not found, by the names of packages of Fedora and its like (dnf), Arch (pacman), Homebrew
# (brew), or by what was looked for (other).
lacking() {
    while read -r kind name fedora arch brew; do
        names=$(echo "$name" | tr '|' ' ')
        for one in $names; do
            found "$kind" "$one" && continue 2
        done
        case $1 in
        dnf) echo "$fedora" ;;
        pacman) echo "$arch" ;;
        brew) echo "$brew" ;;
        *) echo "${names%% *}" ;;
        esac
    done <<END | awk '!seen[$0]++' | tr '\n' ' ' | sed 's/ $//'
program cc|gcc|clang gcc gcc gcc
program cmake cmake cmake cmake
program ninja|ninja-build ninja-build ninja ninja
program pkg-config pkgconf-pkg-config pkgconf pkgconf
module jansson jansson-devel jansson jansson
module libisal isa-l-devel isa-l isa-l
module libpcap libpcap-devel libpcap libpcap
module libprotobuf-c protobuf-c-devel protobuf-c protobuf-c
program protoc-c protobuf-c-compiler protobuf-c protobuf-c
module zlib zlib-devel zlib zlib
module smartcols libsmartcols-devel util-linux-libs util-linux
module nettle nettle-devel nettle nettle
module sqlite3 sqlite-devel sqlite sqlite
module yaml-0.1 libyaml-devel libyaml libyaml
module expat expat-devel expat expat
module duktape duktape-devel duktape duktape
module nlopt NLopt-devel nlopt nlopt
header ev.h|libev/ev.h libev-devel libev libev
header metis.h metis-devel metis metis
header Random123/philox.h Random123-devel random123 random123
END
}

# On other systems: one message, and exit code 1 where a build would fail.
elsewhere() {
    family=other
    for tool in dnf pacman brew; do
        command -v "$tool" >/dev/null && family=$tool && break
    done
    lacks=$(lacking $family)
    if [ "$(uname -s)" != Linux ]; then
        echo "setup: $(uname -s) is not supported: the library is linked by GNU ld and objcopy; use the container (docs/install.md)." \
            "A build lacks: ${lacks:-nothing that is looked for}" >&2
        exit 1
    fi
    if [ -n "$lacks" ]; then
        case $family in
        dnf) lacks="sudo dnf install $lacks" ;;
        pacman) lacks="sudo pacman -S $lacks (some are in the AUR)" ;;
        esac
        echo "setup: this system has no dpkg, so nothing is installed; a build lacks: $lacks (docs/install.md)" >&2
        exit 1
    fi
    [ -z "$extra" ] || echo "setup: this system has no dpkg, so nothing is installed; install what you need of:" $extra >&2
    exit 0
}

command -v dpkg-query >/dev/null || elsewhere

# absent PACKAGE...: those that are not installed.
absent() {
    for package; do
        status=$(dpkg-query -W -f '${db:Status-Status} ' "$package" 2>/dev/null) || status=
        case $status in
        installed\ *) ;;
        *) printf ' %s' "$package" ;;
        esac
    done
}
missing=$(absent $need)
wanted=$(absent $extra)
[ -n "$missing$wanted" ] || exit 0

as_root=
if [ "$(id -u)" != 0 ]; then
    if ! command -v sudo >/dev/null; then
        echo "setup: cannot install without root; missing:$missing$wanted" >&2
        # They may be there from another source than packages.
        [ -z "$missing" ] || [ -z "$(lacking other)" ]
        exit
    fi
    as_root=sudo
fi
echo "setup: installing$missing$wanted"
$as_root apt-get update -q
$as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends $missing $wanted
