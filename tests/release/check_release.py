# SPDX-License-Identifier: MIT
"""A release: what is refused, what is in it, that it has the same bytes again, and that the tarball runs where it is unpacked.

usage: check_release.py SOURCE_DIR BUILD_DIR       skipped (77) where the sources are no git repository
"""
import filecmp
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile

INSTRUCTIONS = {"FROM", "COPY", "RUN", "WORKDIR", "ENTRYPOINT", "CMD", "USER", "ENV", "LABEL", "ARG"}
OUTSIDE = {"linux-vdso.so.1", "libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "librt.so.1"}
failures = []


def expect(condition, message):
    if not condition:
        failures.append(message)


def run(*words, **more):
    return subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False, **more)


def release(source, tree, build, out, untagged=False):
    environment = {name: value for name, value in os.environ.items() if name != "RELEASE_UNTAGGED"}
    if untagged:
        environment["RELEASE_UNTAGGED"] = "1"
    return run(sys.executable, "-B", source / "cmake" / "release" / "make_release.py", tree, build, out, env=environment)


def check_refusals(source, tree, build, version, work):
    """Without the tag; with it, but with a change. What was there before stays."""
    out = work / "refused"
    out.mkdir()
    (out / "earlier").write_text("kept")
    done = release(source, tree, build, out)
    expect(done.returncode == 1 and f"has not the tag v{version}" in done.stderr, f"no tag: {done.returncode} {done.stderr}")
    run("git", "-C", tree, "tag", "v9.9.9")
    done = release(source, tree, build, out)
    expect(done.returncode == 1 and f"has not the tag v{version}" in done.stderr, f"another tag: {done.returncode} {done.stderr}")
    run("git", "-C", tree, "tag", f"v{version}")
    (tree / "new-file").write_text("")
    done = release(source, tree, build, out)
    expect(done.returncode == 1 and "changes that are not committed" in done.stderr and "new-file" in done.stderr, f"a change: {done.returncode} {done.stderr}")
    (tree / "new-file").unlink()
    expect(sorted(path.name for path in out.iterdir()) == ["earlier"], "a release that was refused has changed the folder")


def check_sums(out):
    done = run("sha256sum", "-c", "SHA256SUMS", cwd=out)
    names = {line.split("  ")[1] for line in (out / "SHA256SUMS").read_text().splitlines()}
    expect(done.returncode == 0, f"SHA256SUMS: {done.stdout}{done.stderr}")
    expect(names == {path.name for path in out.iterdir()} - {"SHA256SUMS"}, f"SHA256SUMS has {names}")


def check_sources(out, tree, version):
    """The files of the commit and no other; the charts of reports are among them."""
    with tarfile.open(out / f"collwire-{version}.tar.gz") as archive:
        names = {name.partition("/")[2] for name in archive.getnames() if not archive.getmember(name).isdir()}
    expected = set(filter(None, run("git", "-C", tree, "ls-files", "-z").stdout.split("\0")))
    expect(names == expected, f"sources: {sorted(names ^ expected)[:5]}")
    expect({"report/web/built/report-template.html", "report/web/built/report-plot.js"} <= names, "the sources have no charts of reports")


def check_libraries(folder):
    """Each file finds all that it needs below the folder, or in the C library."""
    environment = {"PATH": os.environ["PATH"]}
    for file in sorted(path for path in folder.rglob("*") if path.is_file() and not path.is_symlink() and path.read_bytes()[:4] == b"\x7fELF"):
        paths = re.findall(r"(?:RPATH|RUNPATH)\).*\[(.*)\]", run("readelf", "-d", file).stdout)
        expect(all(part.startswith("$ORIGIN") for path in paths for part in path.split(":")), f"{file.name} looks for libraries in {paths}")
        if file.name == "processes_mpi.so":
            continue  # needs the MPI of the machine
        for name, path in re.findall(r"^\s*(\S+) => (\S+)", run("ldd", file, env=environment).stdout, re.M):
            expect(name in OUTSIDE or path.startswith(str(folder)), f"{file.name} needs {name}, which is {path}")


def check_use(folder, source, work):
    """Run in a folder of any name, as nobody; and a program in C with the library."""
    moved = work / "any where"
    shutil.copytree(folder, moved, symlinks=True)
    os.chmod(work, 0o755)
    results = work / "results"
    results.mkdir(mode=0o777)
    results.chmod(0o777)
    words = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"] if os.getuid() == 0 and shutil.which("setpriv") else []
    environment = {"PATH": "/usr/bin:/bin", "HOME": "/nonexistent"}
    program = moved / "bin" / "collwire"
    done = run(*words, program, "compare", moved / "share/collwire/scenarios/incast.json", "--cc", "none,dcqcn", "--out", results / "out", env=environment)
    expect(done.returncode == 0 and (results / "out" / "report.html").exists(), f"compare from the tarball: {done.returncode} {done.stderr}")
    done = run(*words, program, "plot", results / "out", "--chart", "time", "-o", results / "time.svg", env=environment)
    expect(done.returncode == 0 and (results / "time.svg").exists(), f"plot from the tarball: {done.returncode} {done.stderr}")
    pc = dict(environment, PKG_CONFIG_PATH=str(folder / "lib" / "pkgconfig"))
    if shutil.which("pkg-config") and shutil.which("cc"):
        flags = run("pkg-config", "--cflags", "--libs", "collwire", env=pc).stdout.split()
        done = run("cc", source / "examples" / "c" / "run.c", *flags, f"-Wl,-rpath,{folder / 'lib'}", "-o", work / "run")
        expect(done.returncode == 0, f"the example in C: {done.stderr}")
        done = run(work / "run", source / "scenarios" / "incast.json", "swift", env=environment)
        expect(done.returncode == 0, f"the example in C: {done.stdout}{done.stderr}")


def check_tarball(out, source, work):
    file = next(out.glob("collwire-*-linux-*.tar.gz"))
    with tarfile.open(file) as archive:
        members = archive.getmembers()
        expect({(member.uid, member.gid, member.uname) for member in members} == {(0, 0, "")}, "the tarball names a user")
        expect(len({member.mtime for member in members}) == 1, "the tarball has several times")
        archive.extractall(work / "unpacked")
    folder = next((work / "unpacked").iterdir())
    for name in ("bin/collwire", "lib/libcollwire.so", "lib/libcollwire.a", "lib/pkgconfig/collwire.pc", "include/collwire/collwire.h",
                 "share/man/man1/collwire.1", "share/bash-completion/completions/collwire", "share/zsh/site-functions/_collwire",
                 "share/fish/vendor_completions.d/collwire.fish", "share/collwire/scenarios/incast.json", "share/collwire/scenarios/schema.json",
                 "share/collwire/report-template.html", "share/collwire/report-plot.js",
                 "share/doc/collwire/docs/README.md", "share/doc/collwire/README.md", "share/doc/collwire/copyright", "README.txt"):
        expect((folder / name).exists(), f"the tarball has no {name}")
    check_libraries(folder)
    check_use(folder, source, work)
    return folder


def check_bill(out, folder, version):
    """Each library of the tarball is in the bill of materials, with its version and licence, and its licence is in the tarball."""
    bill = json.loads((out / f"collwire-{version}.cdx.json").read_text())
    expect(bill["bomFormat"] == "CycloneDX" and bill["specVersion"] == "1.5", "not CycloneDX 1.5")
    parts = bill["components"]
    expect(all(part["version"] and part["licenses"] and part["purl"].startswith("pkg:") for part in parts), "a part without version, licence or place")
    files = {item["name"].split(":")[2] for part in parts for item in part["properties"] if item["name"].startswith("collwire:file:")}
    shipped = {path.name for path in (folder / "lib" / "collwire").iterdir()} - {"processes_mpi.so"}
    expect(files == shipped, f"libraries in the bill or the tarball alone: {sorted(files ^ shipped)}")
    names = {part["name"] for part in parts}
    expect({"echarts", "libev-dev", "librandom123-dev"} <= names, f"the bill lacks what is compiled in: {sorted(names)}")
    for part in parts:
        if part["purl"].startswith("pkg:deb/"):
            text = folder / "share/doc/collwire/licenses" / f"{part['name']}.txt"
            expect(text.exists() and text.stat().st_size > 200, f"no licence of {part['name']}")
    references = {part["bom-ref"] for part in parts}
    expect(set(bill["dependencies"][0]["dependsOn"]) == references, "dependencies that are no parts")


def check_container(out):
    """The recipe: known instructions, one FROM, and files that the release has."""
    text = (out / "Containerfile").read_text()
    lines = [line for line in re.sub(r"\\\n", " ", text).splitlines() if line.strip() and not line.startswith("#")]
    words = [line.split()[0] for line in lines]
    expect(set(words) <= INSTRUCTIONS and words[0] == "FROM" and words.count("FROM") == 1, f"Containerfile: {words}")
    for line in lines:
        if line.startswith("COPY"):
            for pattern in line.split()[1:-1]:
                expect(len(list(out.glob(pattern))) == 1, f"COPY {pattern} finds {list(out.glob(pattern))}")
        if line.startswith(("ENTRYPOINT", "CMD")):
            expect(isinstance(json.loads(line.split(maxsplit=1)[1]), list), line)


def main():
    source, build = (pathlib.Path(word).resolve() for word in sys.argv[1:3])
    if run("git", "-C", source, "rev-parse", "--show-toplevel").stdout.strip() != str(source):
        print("skipped: the sources are no git repository")
        return 77
    version = re.search(r"project\(collwire VERSION (\S+)", (source / "CMakeLists.txt").read_text())[1]
    with tempfile.TemporaryDirectory(prefix="collwire-release-") as name:
        work = pathlib.Path(name)
        tree = work / "tree"
        subprocess.run(["git", "clone", "-q", "--shared", source, tree], check=True)
        run("git", "-C", tree, "tag", "-d", f"v{version}")
        check_refusals(source, tree, build, version, work)
        if sys.argv[3:] == ["refusals"]:
            print("\n".join(f"FAILED: {text}" for text in failures))
            return 1 if failures else 0
        before = (build / "install_manifest.txt").read_bytes() if (build / "install_manifest.txt").exists() else None
        for folder in ("one", "two"):
            done = release(source, tree, build, work / folder)
            if done.returncode != 0:
                sys.exit(f"make_release.py: {done.returncode}\n{done.stdout}{done.stderr}")
        after = (build / "install_manifest.txt").read_bytes() if (build / "install_manifest.txt").exists() else None
        expect(before == after, "the list of installed files has changed")
        out = work / "one"
        names = sorted(path.name for path in out.iterdir())
        expect(names == sorted(path.name for path in (work / "two").iterdir()), "two releases have different files")
        different = filecmp.cmpfiles(out, work / "two", names, shallow=False)[1:]
        expect(different == ([], []), f"two releases differ in {different}")
        packages = {name.partition("_")[0] for name in names if name.endswith(".deb")}
        expect({"collwire"} <= packages <= {"collwire", "collwire-mpi", "python3-collwire"}, f"packages: {names}")
        expect(("python3-collwire" in packages) == (source / "python/collwire").exists(), f"packages: {names}")
        expect(len(list(out.glob("*.whl"))) == (1 if (source / "python/make_wheel.py").exists() else 0), f"wheel: {names}")
        check_sums(out)
        check_sources(out, tree, version)
        check_bill(out, check_tarball(out, source, work), version)
        check_container(out)
        digest = hashlib.sha256((out / "SHA256SUMS").read_bytes()).hexdigest()[:12]
    for text in failures:
        print("FAILED:", text)
    print(f"{len(names)} files, {digest}, {len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
