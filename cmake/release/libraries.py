# SPDX-License-Identifier: MIT
"""The libraries that the program and libcollwire need beyond the C library: where they are, of which Debian packages they come,
and their licences. The wheel (python/make_wheel.py) and the release use it."""
import pathlib
import re
import subprocess
import sys

# what PEP 600 lets a wheel expect of the system, as far as C programs use it
SYSTEM = {"libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "librt.so.1", "libutil.so.1", "ld-linux-x86-64.so.2",
          "ld-linux-aarch64.so.1", "libgcc_s.so.1"}
DOC = pathlib.Path("/usr/share/doc")
# in the program and the library themselves: (package that has the headers or the archive, what for)
STATIC = [("libev-dev", "linked into the program as an archive"), ("librandom123-dev", "headers that are compiled in")]


def output(*command):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, check=True).stdout


def version_of(source):
    """The version has one place: project() of CMakeLists.txt."""
    return re.search(r"project\(collwire VERSION (\S+)", (source / "CMakeLists.txt").read_text())[1]


def needed(file):
    return re.findall(r"\(NEEDED\)\s+Shared library: \[(.*?)\]", output("readelf", "-d", file))


def located(file):
    """The libraries that a file needs, directly or not: name -> path."""
    found = dict(re.findall(r"^\s*(\S+) => (/\S+)", output("ldd", file), re.MULTILINE))
    return {name: pathlib.Path(path) for name, path in found.items() if name not in SYSTEM}


class Package:
    """A package of Debian: name, version, architecture, copyright file, and the names of licences in it."""

    def __init__(self, name):
        self.name = name
        self.version, self.architecture = output("dpkg-query", "-W", "-f", "${Version} ${Architecture}\n", name).split("\n")[0].split()
        self.copyright = DOC / name / "copyright"
        if not self.copyright.exists():
            sys.exit(f"release: {self.copyright} is missing, so the licence of {name} is not known")

    def licences(self):
        """The licences that the copyright file names, in the order of the file (machine-readable format of Debian)."""
        found = re.findall(r"^Licen[sc]e: *(\S.*)$", self.copyright.read_text(errors="replace"), re.M)
        return list(dict.fromkeys(name.strip() for name in found))


def owner(path):
    """The package that has a library; its path may begin at / or at /usr."""
    real = path.resolve()
    for name in (path, real, pathlib.Path("/usr") / str(path).lstrip("/"), pathlib.Path("/usr") / str(real).lstrip("/"),
                 pathlib.Path("/" + str(real).removeprefix("/usr/"))):
        done = subprocess.run(["dpkg", "-S", str(name)], capture_output=True, text=True, check=False)
        if done.returncode == 0:
            return Package(done.stdout.split(":")[0])
    sys.exit(f"release: {path}: no package of Debian has it, so its licence is not known")


def bundled(files):
    """name -> (path, Package) of all shared libraries that files need, without those of the C library."""
    found = {}
    for file in files:
        found.update(located(file))
    return {name: (path, owner(path)) for name, path in sorted(found.items()) if not name.startswith("libcollwire")}
