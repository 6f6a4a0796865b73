# SPDX-License-Identifier: MIT
"""The library as installed: its symbols and layouts are the recorded ones, the examples build and run with the
shared and the static library, and uninstalling leaves nothing.

usage: check_library.py SOURCE_DIR BUILD_DIR     (REGEN=1 records tests/library/abi.txt anew)
"""
import difflib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

SOURCE, BUILD = (pathlib.Path(a).resolve() for a in sys.argv[1:3])
FAILURES = []
WORK = pathlib.Path(tempfile.mkdtemp(prefix="library"))
PREFIX = WORK / "prefix"
LIB = PREFIX / "lib"
CC = os.environ.get("CC", "cc")
SCENARIO = SOURCE / "scenarios" / "incast.json"


def expect(holds, what):
    if not holds:
        FAILURES.append(what)
        print("FAILED:", what)


def run(*args, **options):
    environment = dict(os.environ, LD_LIBRARY_PATH=str(LIB), PKG_CONFIG_PATH=str(LIB / "pkgconfig"), COLLWIRE_LIBRARY=str(LIB / "libcollwire.so"))
    environment.update(options.pop("env", {}))
    done = subprocess.run([str(a) for a in args], capture_output=True, text=True, check=False, cwd=WORK, env=environment, **options)
    return done.returncode, done.stdout, done.stderr


def must(*args):
    code, stdout, stderr = run(*args)
    if code != 0:
        sys.exit(f"{' '.join(map(str, args))}: {code}\n{stdout}\n{stderr}")
    return stdout


def flags(*what):
    return must("pkg-config", *what, "collwire").split()


# ---- the interface ----

def check_abi():
    must(CC, "-std=c11", "-Wall", "-Wextra", "-Werror", SOURCE / "tests" / "library" / "layout.c", *flags("--cflags"), "-o", "layout")
    symbols = sorted(line.split()[-1].replace("@@", "@") for line in
                     must("nm", "-D", "--defined-only", "--with-symbol-versions", LIB / "libcollwire.so").splitlines()
                     if "@" in line.split()[-1] and not line.split()[-1].startswith("COLLWIRE"))
    now = "\n".join(symbols) + "\n" + must(WORK / "layout")
    recorded = SOURCE / "tests" / "library" / "abi.txt"
    if os.environ.get("REGEN"):
        recorded.write_text(now)
    want = recorded.read_text() if recorded.exists() else ""
    expect(now == want, "the interface differs from tests/library/abi.txt:\n" + "\n".join(difflib.unified_diff(
        want.splitlines(), now.splitlines(), "recorded", "now", lineterm="", n=1)))
    soname = must("readelf", "-d", LIB / "libcollwire.so")
    expect("libcollwire.so.0]" in soname, soname)
    static = [line.split()[2] for line in must("nm", "-g", "--defined-only", LIB / "libcollwire.a").splitlines() if len(line.split()) == 3]
    expect(set(static) == {name.split("@")[0] for name in symbols}, f"symbols of the static library: {sorted(set(static))[:5]}")
    for header in sorted((PREFIX / "include" / "collwire").glob("*.h")): # each can be included alone
        code, _, stderr = run(CC, "-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only", "-x", "c", f"-I{PREFIX}/include", header)
        expect(code == 0 or "pragma once in main file" in stderr, f"{header.name}: {stderr}")
    if shutil.which("c++"):
        source = WORK / "plus.cpp"
        source.write_text('#include <collwire/collwire.h>\nint main() { return collwire_version()[0] == 0; }\n')
        must("c++", "-std=c++17", "-Wall", "-Werror", source, *flags("--cflags", "--libs"), "-o", "plus")
        must(WORK / "plus")


# ---- the examples ----

def check_c():
    source = PREFIX / "share" / "collwire" / "examples" / "c" / "run.c"
    must(CC, "-std=c11", "-Wall", "-Wextra", "-Werror", source, *flags("--cflags", "--libs"), "-o", "shared")
    libraries = [flag for flag in flags("--static", "--libs") if flag != "-lcollwire"]
    must(CC, "-std=c11", source, *flags("--cflags"), LIB / "libcollwire.a", *libraries, "-o", "static")
    must(PREFIX / "bin" / "collwire", "run", SCENARIO, "--set", "cc.kind=dcqcn", "--quiet", "--out", "o")
    time_us = json.loads((WORK / "o" / "metrics.json").read_text())["sim_time_ns"] / 1e3
    for program in ("shared", "static"):
        code, stdout, stderr = run(WORK / program, SCENARIO, "dcqcn")
        expect(code == 0 and stdout.startswith("incast under dcqcn: ") and abs(float(stdout.split()[3]) - time_us) < 1,
               f"{program}: {code} {stdout} {stderr}")
        code, stdout, stderr = run(WORK / program, SCENARIO, "dcqn")
        expect(code == 2 and 'cc.kind: unknown policy "dcqn"; did you mean "dcqcn"?' in stderr, f"{program}: {code} {stderr}")


BINDING = """
import collwire as cw, json, sys
assert cw.run(sys.argv[1], set={"cc.kind": "dcqcn"}).metrics == json.load(open("o/metrics.json")), "other metrics"
cw.add_plugin(sys.argv[2])
assert cw.policies()[-1] == "aimd"
assert cw.run(sys.argv[1], set={"cc": {"kind": "aimd"}}).completed
assert cw.compare(sys.argv[1], ["none", "aimd"]).names == ["none", "aimd"]
"""


def check_python():
    folder = PREFIX / "share" / "collwire" / "examples"
    must(CC, "-std=c11", "-shared", "-fPIC", *flags("--cflags"), folder / "policy" / "aimd.c", "-o", "aimd.so")
    where = {"PYTHONPATH": str(BUILD / "python"), "PYTHONDONTWRITEBYTECODE": "1", "COLLWIRE": str(PREFIX / "bin" / "collwire")}
    code, stdout, stderr = run(sys.executable, "-c", BINDING, SCENARIO, WORK / "aimd.so", env=where)
    expect(code == 0, f"the Python package: {stdout} {stderr}")


# ---- another locale ----

def check_locale():
    if not shutil.which("localedef") or not pathlib.Path("/usr/share/i18n/locales/de_DE").exists():
        print("localedef has no de_DE: numbers with a decimal comma are not tried")
        return
    (WORK / "locales").mkdir()
    run("localedef", "-i", "de_DE", "-f", "UTF-8", WORK / "locales" / "de_DE.UTF-8")
    done = subprocess.run([BUILD / "tests" / "library" / "run", "library"], cwd=SOURCE, capture_output=True, text=True, check=False,
                          env=dict(os.environ, COLLWIRE=str(BUILD / "collwire"), LOCPATH=str(WORK / "locales"), TEST_LOCALE="de_DE.UTF-8"))
    expect(done.returncode == 0, f"with a decimal comma: {done.stdout} {done.stderr}")


# ---- installing ----

def check_uninstall():
    root = WORK / "root"
    environment = dict(os.environ, DESTDIR=str(root))
    subprocess.run(["cmake", "--install", BUILD, "--prefix", "/opt/x"], env=environment, check=True, capture_output=True)
    expect((root / "opt/x/bin/collwire").exists() and (root / "opt/x/include/collwire/cc.h").exists(), "DESTDIR")
    must(root / "opt/x/bin/collwire", "--version")
    (root / "opt/x/share/man/man1/other.1").write_text("another's")
    (WORK / "list").mkdir() # `make install` keeps the list so
    shutil.copy(BUILD / "install_manifest.txt", WORK / "list" / "installed_files.txt")
    done = subprocess.run(["sh", SOURCE / "cmake" / "uninstall.sh", WORK / "list"], env=environment, capture_output=True, text=True, check=False)
    left = sorted(str(path.relative_to(root)) for path in root.rglob("*") if path.is_file() or path.is_symlink())
    folders = [path for path in root.rglob("*collwire*")]
    expect(done.returncode == 0 and left == ["opt/x/share/man/man1/other.1"] and not folders, f"left: {left} {folders} {done.stderr}")


installed = subprocess.run(["cmake", "--install", BUILD, "--prefix", PREFIX], capture_output=True, text=True, check=False)
if installed.returncode != 0:
    sys.exit(installed.stdout + installed.stderr)
try:
    check_abi()
    check_c()
    check_python()
    check_locale()
    check_uninstall()
finally:
    shutil.rmtree(WORK)
print(f"{len(FAILURES)} failures")
sys.exit(len(FAILURES) > 0)
