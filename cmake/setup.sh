#!/bin/sh
# SPDX-License-Identifier: MIT
# Install on Debian what is not there yet: to build; with --tests also what the tests use; with --ci
# also the second compiler, the linters, and what all tests of the
# Python package use; with --report what bundles the charts of reports anew, with
# --browser what tests them, with --studies what draws the charts of studies, with --site what
# makes pages of the documentation, and with --package what makes packages and a release.
set -eu
need="gcc libc6-dev cmake ninja-build pkg-config
      libev-dev libjansson-dev libpcap-dev libisal-dev zlib1g-dev libsmartcols-dev librandom123-dev nettle-dev libsqlite3-dev
      libprotobuf-c-dev protobuf-c-compiler libyaml-dev libexpat1-dev libmetis-dev"
for option; do
    case $option in
    --tests) need="$need libcmocka-dev libopenmpi-dev openmpi-bin tshark python3 python3-jsonschema python3-pandas python3-scapy locales make parallel" ;;
    # programs from another source than Debian are left as they are
    --report) command -v npm >/dev/null || need="$need nodejs npm" ;;
    --browser) command -v chromium >/dev/null || need="$need chromium fonts-dejavu-core" ;;
    --studies) need="$need python3 python3-matplotlib" ;;
    --site) need="$need python3 python3-markdown-it python3-pygments" ;;
    --package) need="$need dpkg-dev file python3 patchelf binutils" ;;
    --ci) need="$need clang libclang-rt-14-dev clang-format clang-tidy cppcheck
          mypy python3-nbclient python3-ipykernel python3-venv patchelf binutils python3-xarray" ;;
    --coverage) need="$need gcovr" ;;
    *) echo "usage: setup.sh [--tests] [--ci] [--coverage] [--report] [--browser] [--studies] [--site] [--package]" >&2 && exit 2 ;;
    esac
done

if ! command -v dpkg-query >/dev/null; then
    echo "setup: no dpkg here; see to it yourself that these are installed:" $need >&2
    exit 0
fi
missing=
for package in $need; do
    status=$(dpkg-query -W -f '${db:Status-Status} ' "$package" 2>/dev/null) || status=
    case $status in
    installed\ *) ;;
    *) missing="$missing $package" ;;
    esac
done
[ -n "$missing" ] || exit 0

as_root=
if [ "$(id -u)" != 0 ]; then
    if ! command -v sudo >/dev/null; then
        echo "setup: cannot install without root; missing:$missing" >&2
        exit 0
    fi
    as_root=sudo
fi
echo "setup: installing$missing"
$as_root apt-get update -q
$as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends $missing
