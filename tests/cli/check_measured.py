#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tables of nccl-tests and of OSU's collectives beside a sweep of sizes (`sweep --sizes --against`), and beside one run (`run --against`): forms of several versions, with prefixes of launchers, and
tables that are not understood. All tables are of our own making. Cost: 1 s. usage: check_measured.py, with the executable in $COLLWIRE."""
import csv
import json
import os
import shutil
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
OSU = """
# OSU MPI%s Allreduce Latency Test v7.1
# Datatype: MPI_CHAR.
# Size       Avg Latency(us)   Min Latency(us)   Max Latency(us)  Iterations
1048576               200.00            199.10            201.30         100
4194304               600.00            599.00            601.00         100
"""
JSON = ('{"version": 1, "results": [{"size": 1048576, "count": 262144, "out_of_place": {"time": 200.0, "alg_bw": 5.24, "bus_bw": 7.86, "nwrong": 0}, "in_place": {}},'
        ' {"size": 4194304, "out_of_place": {"time": 600.0, "alg_bw": 6.99, "bus_bw": 10.49}}]}')
PERFTEST = """ #bytes     #iterations    BW peak[MB/sec]    BW average[MB/sec]   MsgRate[Mpps]
 65536      5000             10829.53            10828.44            0.173255
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


def run(folder, table, *more):
    """A run with the table beside it; the program's answer, and `against` of metrics.json (None = there is none)."""
    with open(os.path.join(folder, "job.json"), "w", encoding="utf-8") as out:
        out.write(JOB)
    with open(os.path.join(folder, "table.txt"), "wb") as out:
        out.write(table if isinstance(table, bytes) else table.encode())
    done = subprocess.run([COLLWIRE, "run", "job.json", "--against", "table.txt", "--out", "one", *more],
                          capture_output=True, text=True, check=False, cwd=folder, timeout=60)
    metrics = os.path.join(folder, "one", "metrics.json")
    if not os.path.exists(metrics):
        return done, None
    with open(metrics, encoding="utf-8") as file:
        against = json.load(file).get("against")
    shutil.rmtree(os.path.join(folder, "one"))
    return done, against


def check_runs(folder):
    for what, table, kind in (("a table", NEW, "nccl-tests"), ("OSU's", OSU % "", "OSU"), ("JSON", JSON, "nccl-tests")):
        done, against = run(folder, table, "--set", "workload.repeat=3")
        expect(done.returncode == 0 and done.stderr == "", f"run beside {what}: {done.returncode} {done.stderr}")
        expect(against and against["file"] == "table.txt" and against["kind"] == kind and len(against["rows"]) == 1, f"{what}: {against}")
        row = against["rows"][0]
        expect((row["op"], row["bytes"], row["ranks"], row["count"], row["measured_ns"]) == ("all_reduce", 1048576, 4, 3, 200000), f"{what}: {row}")
        expect(abs(row["ratio"] - row["simulated_ns"] / 200000) < 1e-5 and 0.5 < row["ratio"] < 1, f"{what}: {row}")
        shown = [line.split() for line in done.stdout.splitlines() if line.startswith("  all_reduce  1.05 MB")]
        expect(len(shown) == 1 and shown[0][-1] == f"{row['ratio']:.2f}" and shown[0][5:7] == ["200", "us"], f"{what}: {done.stdout}")
    subprocess.run([COLLWIRE, "run", "job.json", "--against", "table.txt", "--out", "one"], capture_output=True, check=True, cwd=folder)
    drawn = subprocess.run([COLLWIRE, "plot", "one", "--chart", "against", "-o", "one.csv"], capture_output=True, text=True, check=False, cwd=folder)
    if drawn.returncode == 0:
        with open(os.path.join(folder, "one.csv"), encoding="utf-8") as file:
            expect([row["measured_ns"] for row in csv.DictReader(file)] == ["200000"], "the sheet of the chart")
    else:
        expect("charts" in drawn.stderr, f"the chart: {drawn.stderr}")  # this build has none
    again = [run(folder, NEW)[1] for _ in range(2)]
    expect(again[0] == again[1], "two runs differ")
    done = subprocess.run([COLLWIRE, "run", "job.json", "--out", "one"], capture_output=True, text=True, check=False, cwd=folder)
    expect('"against"' not in open(os.path.join(folder, "one", "metrics.json"), encoding="utf-8").read(), "a run without a table has `against`")
    shutil.rmtree(os.path.join(folder, "one"))
    deep = b'{"results": ' + b"[" * 5000
    wrong = ((NEW, ("--set", "workload.bytes=2MiB"), "table.txt: has no row of 2097152 B, but 2 sizes from 1048576 B to 4194304 B"),
             (OSU % "", ("--set", "workload.op=all_gather"), "is of all_reduce, and the job of all_gather"),
             (NEW, ("--set", "workload={\"kind\":\"incast\",\"bytes\":\"1MB\"}"), "the job is of kind incast: give a job of kind collective"), ("", (), "has no table"),
             (b"\0" * 100, (), "has no table"), (b"\xff\xfe" + NEW.encode("utf-16le"), (), "has no table"), (deep, (), "table.txt"),
             (NEW[:NEW.rindex("601.0")], (), "other columns"), (NEW.replace("200.0", "-200.0"), (), "other columns"))
    for table, more, says in wrong:
        done, against = run(folder, table, *more)
        lines = [line for line in done.stderr.splitlines() if line]
        expect(done.returncode == 2 and says in done.stderr and against is None, f"{says}: {done.returncode} {lines}")
    # The table of eight ranks has another quotient of bandwidths.
    done, against = run(folder, NEW.replace("7.86      0", "9.17      0").replace("10.49      0", "12.23      0"))
    expect(done.returncode == 0 and against and "busbw is 1.75 times algbw, and 1.50 times for all_reduce of 4 ranks" in done.stderr, f"another number of ranks: {done.stderr}")


def main():
    with tempfile.TemporaryDirectory() as folder:
        prefixed = "".join(f"[1,0]<stdout>: {line}\n" for line in NEW.splitlines())
        for what, table in (("as it is", NEW), ("an old one", OLD), ("with prefixes", prefixed), ("with CRLF", NEW.replace("\n", "\r\n")),
                            ("OSU", OSU % ""), ("OSU on GPUs", OSU % "-CUDA"), ("OSU before 7", OSU.replace("Avg Latency(us)   Min Latency(us)   Max Latency(us)  Iterations", "Latency (us)")
                             .replace("            199.10            201.30         100", "").replace("            599.00            601.00         100", "") % ""),
                            ("OSU with tags", "".join(f"[1,0]<stdout>:{line}\n" for line in (OSU % "").splitlines())),
                            ("JSON", JSON)):
            done = sweep(folder, table)
            rows = [line.split() for line in done.stdout.splitlines() if line.strip().startswith(("1048576", "2097152", "4194304"))]
            expect(done.returncode == 0 and len(rows) == 3, f"{what}: {done.returncode}, {done.stdout} {done.stderr}")
            expect([row[4] for row in rows] == ["200.00", "-", "600.00"], f"{what}: {rows}")
            with open(os.path.join(folder, "out", "sweep.csv"), encoding="utf-8") as file:
                points = list(csv.DictReader(file))
            expect([point["measured_ns"] for point in points] == ["200000", "", "600000"], f"{what}: sweep.csv {points}")
            expect(all(abs(int(point["collective_ns"]) / int(point["measured_ns"]) - float(point["measured_ratio"])) < 1e-5
                       for point in points if point["measured_ns"]), f"{what}: ratios of sweep.csv {points}")
            expect(all(abs(float(row[1]) / float(row[4]) - float(row[5])) < 1e-3 for row in (rows[0], rows[2])), f"{what}: ratios {rows}")
        wrong = (("no table", "hello\n", "has no table"), ("no times", NEW.replace("time ", "tyme "), "no columns time"),
                 ("other columns", NEW.replace("200.0    5.24", "200.0    9.99"), ":4: algbw is not size by time"),
                 ("a row cut short", NEW.replace("    601.0    6.98   10.47    N/A", ""), "other columns"), ("two tables", NEW + NEW, "a second row"),
                 ("no number", NEW.replace("200.0", "nan"), ":4: the row has other columns"), ("nothing", "", "has no table"), ("OSU of another operation", (OSU % "").replace("Allreduce", "Allgather"), "is of all_gather, and the job of all_reduce"),
                 ("OSU between two hosts", (OSU % "").replace("Allreduce ", ""), ":2: is no collective"), ("perftest", PERFTEST, ":1: is no collective"),
                 ("OSU without a title", "\n".join((OSU % "").splitlines()[3:]), ":1: the line with the title is missing"),
                 ("OSU with NaN", (OSU % "").replace("199.10", "nan"), ":5: the row has other columns"), ("OSU, negative", (OSU % "").replace("199.10", "-1"), ":5: the row"),
                 ("OSU, no time", (OSU % "").replace("200.00", "0.00"), ":5: the latency must be above 0"), ("OSU twice", OSU % "" + OSU % "", "a second row"),
                 ("two OSU tests", OSU % "" + (OSU % "").replace("Allreduce", "Reduce"), "a second title"),
                 ("JSON, other times", JSON.replace("200.0", "100.0"), "results[0]: alg_bw is not size by time"), ("JSON, negative", JSON.replace("4194304", "-1"), "results[1]: needs"),
                 ("JSON, cut off", JSON[:100], ""), ("JSON of another kind", "{}", "has no list `results`"), ("NUL", "\0" + NEW[:40], "has no table"))
        for what, table, word in wrong:
            done = sweep(folder, table)
            expect(done.returncode == 2 and word in done.stderr and done.stdout == "", f"{what}: {done.returncode}, {done.stderr}")
        gather = (OSU % "").replace("Allreduce", "Allgather").replace("1048576 ", "262144 ").replace("4194304 ", "1048576 ")
        done = sweep(folder, gather, "--sizes", "1M:4M", "--set", "workload.op=all_gather")
        rows = [line.split() for line in done.stdout.splitlines() if line.strip().startswith(("1048576", "2097152", "4194304"))]
        expect([row[4] for row in rows] == ["200.00", "-", "600.00"], f"sizes of a rank's part: {rows} {done.stderr}")
        done = sweep(folder, NEW, "--vary", "seed=1,2")
        expect(done.returncode == 2 and "--sizes" in done.stderr, f"without sizes: {done.stderr}")
        check_runs(folder)
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
