# SPDX-License-Identifier: MIT
"""The tarball of the program and the library for Linux: it runs from the folder in which it is unpacked, needs the C library
alone, and no right to install. The libraries stand in lib/collwire, each with its licence, and are found from the files that need
them ($ORIGIN)."""
import gzip
import io
import os
import pathlib
import shutil
import subprocess
import tarfile

from libraries import SYSTEM, Package, STATIC, needed, output

HOST = {"libmpi.so.40", "libmpi.so.12"}  # of the MPI of the machine, which loads the module for several processes
NOTE = """collwire {version} for Linux on {machine}, glibc {glibc} or later

    bin/collwire run share/collwire/scenarios/incast.json

The folder may stand anywhere, and nothing has to be installed. To have the program, its manual page and completions in the usual
places, copy the contents below a prefix of yours:

    cp -r bin lib include share ~/.local/

Reports need no network; `make site` of the sources makes pages of share/doc/collwire. The licences of the libraries in lib/collwire
are in share/doc/collwire/licenses.
"""


def staged(build, stage):
    """`cmake --install` into a folder; the list of files of the user's last installation stays as it is."""
    manifest = build / "install_manifest.txt"
    before = manifest.read_bytes() if manifest.exists() else None
    subprocess.run(["cmake", "--install", build, "--prefix", stage, "--strip"], check=True, stdout=subprocess.DEVNULL)
    manifest.unlink(missing_ok=True)
    if before is not None:
        manifest.write_bytes(before)


def binaries(stage):
    """All ELF files below the folder that are no archives or links."""
    return [path for path in sorted(stage.rglob("*"))
            if path.is_file() and not path.is_symlink() and path.read_bytes()[:4] == b"\x7fELF"]


def bundle(stage, libraries):
    """Copy the libraries, and set where each file looks for what it needs."""
    folder = stage / "lib" / "collwire"
    folder.mkdir(parents=True, exist_ok=True)
    for name, (path, _) in libraries.items():
        shutil.copy(path.resolve(), folder / name)
        (folder / name).chmod(0o755)
        subprocess.run(["strip", "--strip-unneeded", folder / name], check=True)
    for file in binaries(stage):
        place = os.path.relpath(folder, file.parent)
        output("patchelf", "--set-rpath", "$ORIGIN" if place == "." else f"$ORIGIN/{place}", file)
        missing = set(needed(file)) - SYSTEM - HOST - set(libraries)
        if missing:
            raise SystemExit(f"release: {file.name} needs {', '.join(sorted(missing))}, which the tarball does not have")


def licences_of(stage, libraries):
    """The licences of what is bundled and of what is compiled in; that of collwire itself is installed with its pages."""
    licences = stage / "share" / "doc" / "collwire" / "licenses"
    licences.mkdir(parents=True, exist_ok=True)
    packages = {package.name: package for _, package in libraries.values()}
    packages.update({name: Package(name) for name, _ in STATIC})
    for package in packages.values():
        shutil.copy(package.copyright, licences / f"{package.name}.txt")


def glibc(stage):
    """The newest version of the C library of which a file uses a symbol."""
    versions = set()
    for file in binaries(stage):
        for word in output("objdump", "-T", file).split():
            number = word.strip("()").removeprefix("GLIBC_")
            if word.strip("()").startswith("GLIBC_") and number[0].isdigit():
                versions.add(tuple(map(int, number.split("."))))
    return ".".join(map(str, max(versions)))


def packed(folder, file, epoch):
    """A .tar.gz with the same bytes for the same files: sorted, one time, no names of users."""
    def plain(info):
        info.uid = info.gid = 0
        info.uname = info.gname = ""
        info.mtime = epoch
        info.mode = 0o755 if info.isdir() or info.mode & 0o100 else 0o644
        return info
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for path in [folder, *sorted(folder.rglob("*"))]:
            archive.add(path, path.relative_to(folder.parent).as_posix(), recursive=False, filter=plain)
    file.write_bytes(gzip.compress(data.getvalue(), 9, mtime=0))


def make(build, out, work, facts):
    """Write the tarball; returns its path. `facts`: version, epoch, libraries."""
    machine = os.uname().machine
    stage = pathlib.Path(work) / f"collwire-{facts['version']}-linux-{machine}"
    staged(build, stage)
    bundle(stage, facts["libraries"])
    licences_of(stage, facts["libraries"])
    (stage / "README.txt").write_text(NOTE.format(version=facts["version"], machine=machine, glibc=glibc(stage)))
    file = out / f"{stage.name}.tar.gz"
    packed(stage, file, facts["epoch"])
    return file
