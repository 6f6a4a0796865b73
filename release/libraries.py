# SPDX-License-Identifier: MIT
"""The libraries that the program and libcollwire need beyond the C library: where they are, of which Debian packages they come,
and their licences."""
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "python"))
from make_wheel import SYSTEM, located, needed  # noqa: E402,F401  pylint: disable=wrong-import-position,unused-import

DOC = pathlib.Path("/usr/share/doc")
# in the program and the library themselves: (package that has the headers or the archive, what for)
STATIC = [("libev-dev", "linked into the program as an archive"), ("librandom123-dev", "headers that are compiled in")]


def output(*command):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, check=True).stdout


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
