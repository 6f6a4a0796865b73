# SPDX-License-Identifier: MIT
"""The version has one place, project() of CMakeLists.txt: program, library, pkg-config, packages, CITATION and CHANGELOG agree.

usage: check_version.py SOURCE_DIR BUILD_DIR
"""
import ctypes
import pathlib
import re
import subprocess
import sys


def versions(source, build):
    """(who states it, the version)"""
    found = [("collwire --version", subprocess.run([build / "collwire", "--version"], capture_output=True, text=True, check=True).stdout.split()[1])]
    library = build / "library" / "libcollwire.so"
    if library.exists():
        call = ctypes.CDLL(str(library)).collwire_version
        call.restype = ctypes.c_char_p
        found.append(("collwire_version()", call().decode()))
        found.append(("the name of the library", library.resolve().name.removeprefix("libcollwire.so.")))
        found.append(("collwire.pc", re.search(r"^Version: (.*)$", (build / "library" / "collwire.pc").read_text(), re.M)[1]))
    package = (build / "CPackConfig.cmake").read_text()
    found.append(("packages of Debian", re.search(r'CPACK_PACKAGE_VERSION "(.*?)"', package)[1]))
    needs = re.search(r'CPACK_DEBIAN_PYTHON_PACKAGE_DEPENDS ".*collwire \(= (.*?)\)', package)
    if needs:
        found.append(("what python3-collwire needs", needs[1]))
    found.append(("CITATION.cff", re.search(r"^version: (.*)$", (source / "CITATION.cff").read_text(), re.M)[1].strip('"')))
    # The newest section that is not "Unreleased".
    found.append(("CHANGELOG.md", re.search(r"^## (\d\S*)", (source / "CHANGELOG.md").read_text(), re.M)[1]))
    return found


def main():
    source, build = map(pathlib.Path, sys.argv[1:3])
    version = re.search(r"project\(collwire VERSION (\S+)", (source / "CMakeLists.txt").read_text())[1]
    wrong = [f"{who} has {found}, CMakeLists.txt {version}" for who, found in versions(source, build) if found != version]
    # Files that would be a second place to edit.
    for name in ("python/pyproject.toml", "python/collwire/__init__.py", "cmake/release/Containerfile"):
        file = source / name
        if file.exists() and re.search(rf"\b{re.escape(version)}\b", file.read_text()):
            wrong.append(f"{name} states {version} a second time")
    for text in wrong:
        print("FAILED:", text)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
