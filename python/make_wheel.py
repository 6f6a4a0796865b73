# SPDX-License-Identifier: MIT
"""Writes a wheel with the package, libcollwire, the program, and the libraries that both need beyond the C library,
each with its licence; scenarios and the files of Wireshark, which the program finds beside it; and, for policies in C,
the headers and an example, which pip puts into the environment. Nothing is fetched. The tag names the oldest glibc that has all symbols which the files use
(PEP 600), so it follows from the system on which the wheel is made.

usage: make_wheel.py SOURCE_DIR BUILD_DIR OUTPUT_DIR      (needs patchelf, binutils, and dpkg for the licences)
"""
import base64
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "cmake" / "release"))
from libraries import SYSTEM, located, needed, output, owner, version_of  # noqa: E402  pylint: disable=wrong-import-position

DESCRIPTION = """# collwire

Simulates RoCE, TCP and Ultra Ethernet under collectives and training jobs, packet by packet, and says where the time went.

    import collwire as cw
    print(cw.compare("job.json", ["none", "dcqcn", "swift"], seeds=5).frame())
"""


def glibc(files):
    """The newest version of glibc of which a file uses a symbol."""
    versions = {tuple(int(part) for part in version.split("."))
                for file in files for version in re.findall(r"GLIBC_(\d+(?:\.\d+)+)", output("objdump", "-T", file))}
    return max(versions)


class Wheel:
    def __init__(self, source, build):
        self.source, self.build = source, build
        self.version = version_of(source)
        self.work = pathlib.Path(tempfile.mkdtemp(prefix="wheel"))
        self.native = self.work / "collwire" / "_native"
        self.info = self.work / f"collwire-{self.version}.dist-info"
        self.binaries = []

    def package(self):
        shutil.copytree(self.build / "python" / "collwire", self.work / "collwire",
                        ignore=shutil.ignore_patterns("__pycache__", "_native", ".mypy_cache"))

    def take(self, path, to):
        to.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path.resolve(), to)
        to.chmod(0o755)
        subprocess.run(["strip", "--strip-unneeded", str(to)], check=True)
        self.binaries.append(to)

    def binaries_and_libraries(self):
        program, library = self.build / "collwire", self.build / "library" / "libcollwire.so"
        self.take(program, self.native / "bin" / "collwire")
        self.take(library, self.native / "lib" / "libcollwire.so.0")
        libraries = {**located(program), **located(library)}
        # Names of their own, so that a library of the same name which the host program has is not taken for them.
        names = {}
        for name, path in sorted(libraries.items()):
            digest = hashlib.sha256(path.read_bytes()).hexdigest()[:8]
            names[name] = name.replace(".so", f"-{digest}.so", 1)
            self.take(path, self.native / "lib" / names[name])
            output("patchelf", "--set-soname", names[name], self.native / "lib" / names[name])
            self.licence(path)
        for file in self.binaries:
            for name in needed(file):
                if name in names:
                    output("patchelf", "--replace-needed", name, names[name], file)
            output("patchelf", "--set-rpath", "$ORIGIN/../lib" if file.parent.name == "bin" else "$ORIGIN", file)
        expected = SYSTEM | set(names.values())
        for file in self.binaries:
            missing = set(needed(file)) - expected
            if missing:
                sys.exit(f"{file.name} needs {', '.join(sorted(missing))}, which the wheel does not have")

    def licence(self, path):
        """The copyright file of the Debian package of a library."""
        package = owner(path)
        to = self.info / "licenses" / f"{package.name}.txt"
        to.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(package.copyright, to)

    def share(self):
        for name in ("report-template.html", "report-plot.js", "report-LICENCES.txt"):
            to = self.native / "share" / "collwire" / name
            to.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(self.build / "share" / "collwire" / name, to)
        for folder in ("scenarios", "net/capture/wireshark"):
            shutil.copytree(self.source / folder, self.native / "share" / "collwire" / pathlib.PurePath(folder).name)

    def headers(self):
        """What builds a policy in C. The wheel's library is not for linking, so its collwire.pc has no Libs."""
        prefix = self.work / f"collwire-{self.version}.data" / "data"
        shutil.copytree(self.source / "include" / "collwire", prefix / "include" / "collwire")
        shutil.copytree(self.source / "examples" / "policy", prefix / "share" / "collwire" / "examples" / "policy",
                        ignore=shutil.ignore_patterns("__pycache__", "*.so", "out"))
        to = prefix / "lib" / "pkgconfig" / "collwire.pc"
        to.parent.mkdir(parents=True)
        to.write_text("prefix=${pcfiledir}/../..\n\nName: collwire\nDescription: Headers of congestion control policies (collwire)\n"
                      f"Version: {self.version}\nCflags: -I${{prefix}}/include\n")

    def metadata(self):
        major, minor = glibc(self.binaries)[:2]
        machine = os.uname().machine
        self.tag = f"py3-none-manylinux_{major}_{minor}_{machine}"
        self.info.mkdir(parents=True, exist_ok=True)
        (self.info / "licenses").mkdir(exist_ok=True)
        shutil.copy(self.source / "LICENSE", self.info / "licenses" / "LICENSE")
        (self.info / "WHEEL").write_text(f"Wheel-Version: 1.0\nGenerator: collwire {self.version}\nRoot-Is-Purelib: false\nTag: {self.tag}\n")
        (self.info / "METADATA").write_text(
            f"Metadata-Version: 2.1\nName: collwire\nVersion: {self.version}\n"
            "Summary: Transports and congestion control under distributed training, packet by packet\n"
            "License: MIT, and those of the bundled libraries in the folder licenses\nRequires-Python: >=3.9\n"
            "Classifier: Programming Language :: Python :: 3\nClassifier: Operating System :: POSIX :: Linux\nClassifier: Typing :: Typed\n"
            "Provides-Extra: pandas\nRequires-Dist: pandas; extra == 'pandas'\n"
            "Provides-Extra: xarray\nRequires-Dist: pandas; extra == 'xarray'\nRequires-Dist: xarray; extra == 'xarray'\n"
            f"Description-Content-Type: text/markdown\n\n{DESCRIPTION}")
        (self.info / "entry_points.txt").write_text("[console_scripts]\ncollwire = collwire._program:main\n")

    def write(self, folder):
        folder.mkdir(parents=True, exist_ok=True)
        file = folder / f"collwire-{self.version}-{self.tag}.whl"
        record = []
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
            for path in sorted(path for path in self.work.rglob("*") if path.is_file()):
                name, data = path.relative_to(self.work).as_posix(), path.read_bytes()
                digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip("=")
                record.append(f"{name},sha256={digest},{len(data)}")
                self.add(archive, name, data, path in self.binaries)
            name = f"{self.info.name}/RECORD"
            self.add(archive, name, "".join(f"{line}\n" for line in record + [f"{name},,"]).encode(), False)
        return file

    @staticmethod
    def add(archive, name, data, executable):
        about = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)) # the same files give the same bytes
        about.external_attr = (0o100755 if executable else 0o100644) << 16
        about.compress_type = zipfile.ZIP_DEFLATED
        archive.writestr(about, data)


def main():
    source, build, folder = (pathlib.Path(argument).resolve() for argument in sys.argv[1:4])
    wheel = Wheel(source, build)
    try:
        wheel.package()
        wheel.binaries_and_libraries()
        wheel.share()
        wheel.headers()
        wheel.metadata()
        file = wheel.write(folder)
    finally:
        shutil.rmtree(wheel.work)
    print(f"{file} ({file.stat().st_size / 1e6:.1f} MB, {len(wheel.binaries) - 2} libraries)")


if __name__ == "__main__":
    main()
