# SPDX-License-Identifier: MIT
"""cmake/setup.sh on systems without dpkg: it goes on where all is there, and else says in one line what a build lacks, by the names
of the system's packages, and ends with 1. Run here with a PATH in which other systems are made up.

usage: check_setup.py SOURCE_DIR
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

TOOLS = ("sh", "cc", "gcc", "cmake", "ninja", "pkg-config", "protoc-c", "tr", "awk", "sed", "uname", "cat", "id")
failures = []


def expect(condition, message):
    if not condition:
        failures.append(message)


def system(folder, without=(), **programs):
    """A folder of programs: those of a build, without some, and others that print a text."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for name in TOOLS:
        path = shutil.which(name)
        if path and name not in without and name not in programs:
            (folder / name).symlink_to(path)
    for name, text in programs.items():
        (folder / name).write_text(f"#!{shutil.which('sh')}\necho {text}\n")
        (folder / name).chmod(0o755)
    return folder


def setup(source, folder, *options, **environment):
    words = {**os.environ, "PATH": str(folder), **environment}
    words.pop("CC", None)
    return subprocess.run([shutil.which("sh"), source / "cmake" / "setup.sh", *options], env=words, capture_output=True, text=True, check=False)


def main():
    source = pathlib.Path(sys.argv[1])
    with tempfile.TemporaryDirectory() as work:
        folder = pathlib.Path(work) / "bin"
        nothing = {"PKG_CONFIG_LIBDIR": work, "PKG_CONFIG_PATH": ""}
        done = setup(source, system(folder))
        expect(done.returncode == 0 and not done.stderr, f"where all is there: {done.returncode} {done.stderr}")
        done = setup(source, folder, "--tests")
        expect(done.returncode == 0 and done.stderr.count("\n") == 1 and "libcmocka-dev" in done.stderr, f"--tests: {done.returncode} {done.stderr}")
        done = setup(source, system(folder, without=("ninja",), dnf="dnf"), **nothing)
        expect(done.returncode == 1 and done.stderr.count("\n") == 1 and "sudo dnf install ninja-build jansson-devel" in done.stderr
               and "protobuf-c-devel" in done.stderr and "gcc" not in done.stderr, f"dnf: {done.returncode} {done.stderr}")
        done = setup(source, system(folder), **nothing)
        expect(done.returncode == 1 and done.stderr.count("\n") == 1 and "jansson libisal libpcap" in done.stderr, f"others: {done.returncode} {done.stderr}")
        done = setup(source, system(folder, uname="Darwin", brew="brew"), **nothing)
        expect(done.returncode == 1 and done.stderr.count("\n") == 1 and "Darwin is not supported" in done.stderr, f"macOS: {done.returncode} {done.stderr}")
        # A Debian without the packages, without root and without sudo.
        done = setup(source, system(folder, **{"dpkg-query": "no", "id": "1000"}), **nothing)
        expect(done.returncode == 1 and "cannot install without root; missing: gcc" in done.stderr, f"no root: {done.returncode} {done.stderr}")
        done = setup(source, folder)
        expect(done.returncode == 0 and "cannot install without root" in done.stderr, f"from another source: {done.returncode} {done.stderr}")
        done = setup(source, folder, "--no-such")
        expect(done.returncode == 2 and done.stderr.startswith("usage:"), f"usage: {done.returncode} {done.stderr}")
    for text in failures:
        print("FAILED:", text)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
