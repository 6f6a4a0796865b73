#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The scripts of tests/bench/: rows of scale.sh, and the comparison with csg-htsim by a program that takes its arguments,
reads its connections and prints its lines. usage: check_bench.py FOLDER_OF_BENCH"""
import glob
import os
import shutil
import subprocess
import sys
import tempfile

COLLWIRE = os.path.abspath(os.environ.get("COLLWIRE", "build/collwire"))
BENCH = os.path.abspath(sys.argv[1])
failures = []

# As main_roce.cpp of csg-htsim: unknown arguments end it with status 1, and a flow that ends is a line.
FAKE = r"""#!/usr/bin/env python3
import sys
values = {"-nodes": 1, "-strat": 1, "-paths": 1, "-linkspeed": 1, "-hop_latency": 1, "-q": 1, "-pfc_thresholds": 2,
          "-mtu": 1, "-end": 1, "-tm": 1}
given, i = {}, 1
while i < len(sys.argv):
    if sys.argv[i] not in values:
        sys.exit(1)
    given[sys.argv[i]] = sys.argv[i + 1:i + 1 + values[sys.argv[i]]]
    i += 1 + values[sys.argv[i]]
with open(given["-tm"][0], encoding="utf-8") as f:
    lines = f.read().split("\n")
assert lines[0] == "Nodes " + given["-nodes"][0] and lines[1].startswith("Connections ")
print("Starting simulation")
for line in lines[2 + SKIPPED:]:
    if line:
        pair, _, number, _, start, _, size = line.split()
        source, to = pair.split("->")
        print(f"Flow Roce_{source}_{to} {number} finished at 57.5 total bytes {size}")
sum(range(3000000))
print("Done")
print("New: 1 Rtx: 0")
"""


def expect(holds, what):
    if not holds:
        failures.append(what)
        print("FAILED:", what)


def script(name, *args, **env):
    options = os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0"  # Open MPI keeps memory to the end
    done = subprocess.run(["sh", os.path.join(BENCH, name), *args], capture_output=True, text=True, timeout=300,
                          check=False, env={**os.environ, "COLLWIRE": COLLWIRE, "ASAN_OPTIONS": options, **env})
    return done.returncode, done.stdout.splitlines(), done.stderr


def scale():
    code, lines, errors = script("scale.sh", "--quick", "2")
    rows = [line.split() for line in lines[1:]]
    expect(code == 0, f"scale.sh ends with {code}: {errors}")
    ways = [["1", "1"], ["2", "1"]]
    if shutil.which("mpirun") and glob.glob(os.path.join(os.path.dirname(COLLWIRE), "lib*", "**", "processes_mpi.so"), recursive=True):
        ways.append(["1", "2"])  # as processes
    expect([row[:4] for row in rows] == [[name, ranks, *way] for name in ("fat_tree", "leaf_spine")
                                         for ranks in ("64", "128") for way in ways], f"a row for each run: {rows}")
    # 100 packets a flow and as many ACKs; on a fat tree of 64 ranks and more half way round is six links away
    hops = {(row[0], row[1]): int(row[4]) for row in rows}
    expect(all(hops["fat_tree", n] == 12 * 100 * int(n) for n in ("64", "128")), f"hops of fat trees: {hops}")
    expect(all(100 * 8 * int(n) <= hops["leaf_spine", n] < 100 * 8.1 * int(n) for n in ("64", "128")),
           f"hops over leaf and spine: {hops}")
    expect(all(float(row[5]) > 0 and float(row[6]) > 0 for row in rows), "times are not zero")


def htsim():
    for args in ([], ["/nonexistent"]):
        code, lines, errors = script("htsim.sh", *args)
        expect(code == 0 and len(lines) == 1 and "not compared" in lines[0], f"without htsim: {code} {lines} {errors}")
    small = {"RANKS": "16", "BYTES": "100000", "RUNS": "1"}
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "htsim_roce")
        for skipped in (0, 1):
            with open(program, "w", encoding="utf-8") as f:
                f.write(FAKE.replace("SKIPPED", str(skipped)))
            os.chmod(program, 0o755)
            code, lines, errors = script("htsim.sh", folder, **small)
            if skipped:
                expect(code == 1 and "15 of 16 flows have ended" in errors, f"a flow that does not end: {code} {errors}")
                continue
            row = lines[1].split() if len(lines) == 2 else []
            expect(code == 0 and row[:2] == ["16", "htsim_roce"], f"a row for htsim: {code} {lines} {errors}")
            expect(row and float(row[3]) > 0.02, f"CPU seconds of the program: {row}")
        with open(program, "w", encoding="utf-8") as f:
            f.write("#!/bin/sh\necho broken >&2\nexit 3\n")
        code, lines, errors = script("htsim.sh", folder, **small)
        expect(code == 1 and "broken" in errors, f"a program that fails: {code} {errors}")


scale()
htsim()
sys.exit(1 if failures else 0)
