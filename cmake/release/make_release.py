# SPDX-License-Identifier: MIT
"""Writes a release: packages for Debian, the wheel, a tarball that runs where it is unpacked, the sources, a bill of materials, the
recipe of a container, and the digests of all. Nothing is fetched, and the same commit and build give the same bytes.

A tree with changes, or a commit without the tag of its version (such as v0.3.0), is refused; RELEASE_UNTAGGED=1 makes a release for trial.

usage: make_release.py SOURCE_DIR BUILD_DIR OUTPUT_DIR       (on Debian; needs cpack, dpkg-dev, patchelf, binutils)
"""
import gzip
import hashlib
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

import libraries
import sbom
import tarball


def git(source, *words):
    done = subprocess.run(["git", "-C", source, *words], capture_output=True, check=False)
    if done.returncode != 0:
        sys.exit(f"release: git {' '.join(map(str, words))}: {done.stderr.decode().strip()}")
    return done.stdout


def check_tree(source, version):
    """Refuse what nobody could make again from the sources of a version."""
    if os.environ.get("RELEASE_UNTAGGED") == "1":
        return
    changed = git(source, "status", "--porcelain").decode().splitlines()
    if changed:
        sys.exit(f"release: the tree has changes that are not committed ({changed[0].strip()}{', ..' if len(changed) > 1 else ''}); "
                 "RELEASE_UNTAGGED=1 makes a release for trial")
    if f"v{version}" not in git(source, "tag", "--points-at", "HEAD").decode().split():
        sys.exit(f"release: this commit has not the tag v{version}: git tag v{version}; RELEASE_UNTAGGED=1 makes a release for trial")


def sources(source, out, version):
    """The files of the commit, the charts of reports among them, so that nothing of a build needs a network."""
    data = git(source, "archive", "--format=tar", f"--prefix=collwire-{version}/", "HEAD")
    file = out / f"collwire-{version}.tar.gz"
    file.write_bytes(gzip.compress(data, 9, mtime=0))
    return file


def packages(build, out, work, epoch):
    """By CPack, as `make deb` makes them; SOURCE_DATE_EPOCH gives the files in them the time of the commit."""
    done = subprocess.run(["cpack", "--config", build / "CPackConfig.cmake", "-B", pathlib.Path(work) / "packages"], capture_output=True,
                          text=True, check=False, env={**os.environ, "SOURCE_DATE_EPOCH": str(epoch)})
    if done.returncode != 0:
        sys.exit(f"release: cpack ended with {done.returncode}:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    for file in sorted(pathlib.Path(work, "packages").glob("*.deb")):
        shutil.copyfile(file, out / file.name)


def wheel(source, build, out):
    """Only where the tree has the Python package."""
    script = source / "python" / "make_wheel.py"
    if script.exists():
        subprocess.run([sys.executable, "-B", script, source, build, out], check=True, stdout=subprocess.DEVNULL)


def sums(out):
    lines = [f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.name}\n" for file in sorted(out.iterdir())]
    (out / "SHA256SUMS").write_text("".join(lines))


def tools():
    missing = [name for name in ("cpack", "dpkg-query", "dpkg-shlibdeps", "patchelf", "strip", "objdump", "git") if not shutil.which(name)]
    if missing:
        sys.exit(f"release: {', '.join(missing)} missing: a release is made on Debian; sh cmake/setup.sh --package installs what it needs")


def main():
    source, build, final = (pathlib.Path(word).resolve() for word in sys.argv[1:4])
    version = libraries.version_of(source)
    check_tree(source, version)
    tools()
    commit = git(source, "rev-parse", "HEAD").decode().strip()
    epoch = int(git(source, "log", "-1", "--format=%ct").decode())
    files = [build / "collwire", build / "library" / "libcollwire.so"]
    facts = {"version": version, "commit": commit, "epoch": epoch, "libraries": libraries.bundled(files),
             "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(epoch))}
    out = final.with_name(final.name + ".new")  # a release is there whole or not at all
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    with tempfile.TemporaryDirectory(prefix="release") as work:
        sources(source, out, version)
        packages(build, out, work, epoch)
        wheel(source, build, out)
        tarball.make(build, out, work, facts)
    sbom.write(source, out / f"collwire-{version}.cdx.json", facts)
    shutil.copyfile(source / "cmake" / "release" / "Containerfile", out / "Containerfile")
    sums(out)
    shutil.rmtree(final, ignore_errors=True)
    out.rename(final)
    for file in sorted(final.iterdir()):
        print(f"{file.stat().st_size / 1e6:8.2f} MB  {file.name}")


if __name__ == "__main__":
    main()
