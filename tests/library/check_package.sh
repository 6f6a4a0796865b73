#!/bin/sh
# SPDX-License-Identifier: MIT
# The tarball and the Debian packages of a release on a bare Debian 12 in a folder of its own (debootstrap, as root): the
# tarball with nothing installed, as nobody; the packages: install, run, manual page, completion, extcap, the example
# policy and the C example; removing it leaves nothing.
# usage: check_package.sh SOURCE_DIR BUILD_DIR
set -eu
source=$(realpath "$1") build=$(realpath "$2")
[ "$(id -u)" = 0 ] || { echo "only root can make a Debian in a folder"; exit 77; }
work=$(mktemp -d)
root=$work/debian
cleanup() {
    umount "$root/proc" 2>/dev/null || true
    rm -rf "$work"
}
trap cleanup EXIT
step() { printf '== %s\n' "$*"; }

step "the release"
RELEASE_UNTAGGED=1 python3 -B "$source/cmake/release/make_release.py" "$source" "$build" "$work/package"
deb=$(ls "$work"/package/collwire_*.deb)
python_deb=$(ls "$work"/package/python3-collwire_*.deb)
dpkg-deb --info "$python_deb" | grep -E 'Package|Architecture|Depends'
dpkg-deb --info "$deb" | grep -E 'Package|Version|Depends'

step "a bare Debian"
debootstrap --variant=minbase bookworm "$root" http://deb.debian.org/debian >"$work/debootstrap.log" 2>&1 ||
    { tail -20 "$work/debootstrap.log"; exit 1; }
mount -t proc proc "$root/proc"
cp "$deb" "$root/root/collwire.deb"
cp "$python_deb" "$root/root/python3-collwire.deb"
cp "$source/scenarios/incast.json" "$root/root"
inside() { chroot "$root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root DEBIAN_FRONTEND=noninteractive LC_ALL=C sh -euc "$1"; }

step "the tarball, with nothing installed"
mkdir "$root/opt/tarball"
tar -xzf "$work"/package/collwire-*-linux-*.tar.gz -C "$root/opt/tarball"
inside 'cd /tmp && from=$(echo /opt/tarball/collwire-*) && setpriv --reuid 65534 --regid 65534 --clear-groups sh -euc "
        mkdir home && cp -r $from/bin $from/lib $from/include $from/share home && home/bin/collwire --version
        home/bin/collwire compare home/share/collwire/scenarios/incast.json --cc none,dcqcn --out out | head -4 && ls out/report.html"
        rm -rf /tmp/home /tmp/out /opt/tarball'

# everything but what packages bring with them, and what apt keeps
files() { inside 'find / -xdev -path /proc -prune -o -path /sys -prune -o -path /var -prune -o -path /tmp -prune -o -path /root -prune -o -print' | sort; }
inside 'apt-get update -q && apt-get install -y -q --no-install-recommends man-db bash-completion gcc libc6-dev make pkg-config' >"$work/apt.log" 2>&1 ||
    { tail "$work/apt.log"; exit 1; }

step "install"
inside 'apt-get install -y -q --no-install-recommends /root/collwire.deb' >"$work/install.log" 2>&1 || { tail "$work/install.log"; exit 1; }
inside 'apt-get remove -y -q collwire' >/dev/null 2>&1 # what it depends on stays
files >"$work/before"
inside 'apt-get install -y -q --no-install-recommends /root/collwire.deb' >/dev/null 2>&1

step "run"
inside 'cd /root && collwire --version && collwire run incast.json --set cc.kind=dcqcn --out out | head -4'
step "manual page and completion"
inside 'man -w collwire && man collwire | grep -q "collwire sweep"'
inside 'bash -c ". /usr/share/bash-completion/bash_completion; _completion_loader collwire; complete -p collwire"'
step "extcap"
inside 'cd /root && collwire extcap --extcap-interfaces --scenarios /root >interfaces; grep "value=collwire}" interfaces'
inside 'cd /root && collwire extcap install --scenarios /root >/dev/null; find .local .config -name "collwire*" 2>/dev/null | grep -q extcap
        collwire extcap uninstall >/dev/null; ! find .local .config -name "collwire*" 2>/dev/null | grep extcap'
step "the examples"
inside 'cp -r /usr/share/collwire/examples /root && cd /root/examples/policy && make test 2>&1 | grep -E "^(aimd|none) +[0-9]"'
inside 'cd /root/examples/c && cc run.c $(pkg-config --cflags --libs collwire) -o run && ./run /root/incast.json swift'

step "from Python"
inside 'apt-get install -y -q --no-install-recommends /root/python3-collwire.deb' >/dev/null 2>&1
inside 'cd /root && python3 -c "
import collwire as cw
print(cw.run(\"incast.json\"))
assert cw.compare(\"incast.json\", [\"none\", \"swift\"]).report().html"'
inside 'apt-get purge -y -q python3-collwire && apt-get autoremove -y -q --purge' >/dev/null 2>&1

step "remove"
inside 'rm -rf /root/examples /root/out && apt-get purge -y -q collwire' >/dev/null 2>&1
files >"$work/after"
diff "$work/before" "$work/after"
! inside 'command -v collwire'
echo "nothing is left"
