#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tables of nccl-tests beside a sweep of sizes (`sweep --sizes --against`): forms of several versions, with prefixes of launchers, and
tables that are not understood. All tables are of our own making. Cost: 2 s. usage: check_measured.py, with the executable in $COLLWIRE."""
import os
import subprocess
import sys
import tempfile

COLLWIRE = os.path.abspath(os.environ.get("COLLWIRE", "build/collwire"))
JOB = ('{"name": "ring", "topology": {"dims": [{"kind": "switch", "size": 4, "link": {"rate": "100Gbps", "delay": "1us"}}]},'
       ' "workload": {"kind": "collective", "op": "all_reduce", "bytes": "1MiB", "algorithm": "ring"}}')
NEW = """#                                                              out-of-place                       in-place
#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong
#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)
     1048576        262144     float     sum      -1    200.0    5.24    7.86      0    199.0    5.27    7.90      0
     4194304       1048576     float     sum      -1    600.0    6.99   10.49      0    601.0    6.98   10.47    N/A
# Avg bus bandwidth    : 9.1
"""
OLD = """#       size         count    type   redop     time   algbw   busbw  error     time   algbw   busbw  error
     1048576        262144   float             200.0    5.24    7.86  0e+00    199.0    5.27    7.90  0e+00
     4194304       1048576   float             600.0    6.99   10.49  0e+00    601.0    6.98   10.47  0e+00
"""
failures = []


def expect(holds, what):
    if not holds:
        failures.append(what)
        print("FAILED:", what)


def sweep(folder, table, *more):
    job, file = os.path.join(folder, "job.json"), os.path.join(folder, "table.txt")
    with open(job, "w", encoding="utf-8") as out:
        out.write(JOB)
    with open(file, "w", encoding="utf-8") as out:
        out.write(table)
    words = [COLLWIRE, "sweep", job, "--against", file, "--out", os.path.join(folder, "out"), *(more or ("--sizes", "1M:4M"))]
    return subprocess.run(words, capture_output=True, text=True, check=False)


def main():
    with tempfile.TemporaryDirectory() as folder:
        prefixed = "".join(f"[1,0]<stdout>: {line}\n" for line in NEW.splitlines())
        for what, table in (("as it is", NEW), ("an old one", OLD), ("with prefixes", prefixed), ("with CRLF", NEW.replace("\n", "\r\n"))):
            done = sweep(folder, table)
            rows = [line.split() for line in done.stdout.splitlines() if line.strip().startswith(("1048576", "2097152", "4194304"))]
            expect(done.returncode == 0 and len(rows) == 3, f"{what}: {done.returncode}, {done.stdout} {done.stderr}")
            expect([row[4] for row in rows] == ["200.00", "-", "600.00"], f"{what}: {rows}")
            expect(all(abs(float(row[1]) / float(row[4]) - float(row[5])) < 1e-3 for row in (rows[0], rows[2])), f"{what}: ratios {rows}")
        wrong = (("no table", "hello\n", "has no table"), ("no times", NEW.replace("time ", "tyme "), "no columns time"),
                 ("other columns", NEW.replace("200.0    5.24", "200.0    9.99"), ":4: algbw is not size by time"),
                 ("a row cut short", NEW.replace("    601.0    6.98   10.47    N/A", ""), "other columns"), ("two tables", NEW + NEW, "a second row"),
                 ("no number", NEW.replace("200.0", "nan"), ":4: the row has other columns"), ("nothing", "", "has no table"))
        for what, table, word in wrong:
            done = sweep(folder, table)
            expect(done.returncode == 2 and word in done.stderr and done.stdout == "", f"{what}: {done.returncode}, {done.stderr}")
        done = sweep(folder, NEW, "--vary", "seed=1,2")
        expect(done.returncode == 2 and "--sizes" in done.stderr, f"without sizes: {done.stderr}")
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
