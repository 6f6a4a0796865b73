#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tables of nccl-tests, rccl-tests and OSU's collectives beside a sweep of sizes (`sweep --sizes --against`), and beside one run (`run --against`), where those of perftest stand beside messages: forms of
several versions, with prefixes of launchers, and tables that are not understood. All tables are of our own making. Cost: 1 s. usage: check_measured.py, with the executable in $COLLWIRE."""
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
RECORD = '{"numCycle":0, "name":"AllReduce", "nodes":1, "ranks":4, "ranksPerNode":4, "gpusPerRank":1, "size":%d, "type":"float", "redop":"sum", "inPlace":%d, "time":%.6f, "algBw":%.6f, "busBw":%.6f, "wrong":"0"}'
RECORDS = [RECORD % (size, place, time, size / time / 1e3, size / time / 1e3 * 1.5)
           for size, time in ((1048576, 200.0), (4194304, 600.0)) for place in (0, 1)]
RCCL = "[\n" + ",\n".join(RECORDS) + "\n]\n"
LINES = "".join(record + "\n" for record in RECORDS)
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
    for what, table, kind in (("a table", NEW, "nccl-tests"), ("OSU's", OSU % "", "OSU"), ("JSON", JSON, "nccl-tests"), ("JSON of rccl-tests", RCCL, "rccl-tests"), ("its lines", LINES, "rccl-tests")):
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
             (NEW, ("--set", "workload={\"kind\":\"incast\",\"bytes\":\"1MB\"}"), "is of a collective, and the job is of kind incast"), ("", (), "has no table"),
             (b"\0" * 100, (), "has no table"), (b"\xff\xfe" + NEW.encode("utf-16le"), (), "has no table"), (deep, (), "table.txt"),
             (NEW[:NEW.rindex("601.0")], (), "other columns"), (NEW.replace("200.0", "-200.0"), (), "other columns"))
    for table, more, says in wrong:
        done, against = run(folder, table, *more)
        lines = [line for line in done.stderr.splitlines() if line]
        expect(done.returncode == 2 and says in done.stderr and against is None, f"{says}: {done.returncode} {lines}")
    # The table of eight ranks has another quotient of bandwidths.
    done, against = run(folder, NEW.replace("7.86      0", "9.17      0").replace("10.49      0", "12.23      0"))
    expect(done.returncode == 0 and against and "busbw is 1.75 times algbw, and 1.50 times for all_reduce of 4 ranks" in done.stderr, f"another number of ranks: {done.stderr}")


# ---- messages between two hosts ----

RULE = "-" * 87 + "\n"
FLOWS = {"name": "pair", "topology": {"dims": [{"kind": "switch", "size": 2, "link": {"rate": "100Gbps", "delay": "500ns"}}]},
         "workload": {"kind": "flows", "connections": "pair", "flows": [{"src": 0, "dst": 1, "bytes": 65536}] * 40 + [{"src": 0, "dst": 1, "bytes": 4096}] * 3}}


def perftest(title, heading, *rows):
    return (RULE + f"                    {title}\n Dual-port       : OFF\t\tDevice         : mlx5_0\n Number of qps   : 1\t\tTransport type : IB\n Mtu             : 4096[B]\n" + RULE
            + " local address: LID 0000 QPN 0x01b1 PSN 0x9b7f1d\n" + RULE + heading + "\n" + "".join(f" {row}\n" for row in rows) + RULE)


GIGABITS = " #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]"
MEBIBYTES = GIGABITS.replace("Gb/sec", "MiB/sec")
LATENCY = " #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]    t_stdev[usec]   99% percentile[usec]   99.9% percentile[usec] "
WRITE = perftest("RDMA_Write BW Test", GIGABITS, "65536      5000             92.50              92.00                 0.175476")
DELAY = "4096    1000          2.01           6.31         2.50                2.55             0.11            2.80                    6.31"
OSU_PAIR = """# OSU MPI %s Test v5.6.2
# Size      %s
4096        %s
65536       %s
"""


def pair(folder, table, *more, job=None):
    with open(os.path.join(folder, "pair.json"), "w", encoding="utf-8") as out:
        json.dump(job or FLOWS, out)
    with open(os.path.join(folder, "table.txt"), "wb") as out:
        out.write(table if isinstance(table, bytes) else table.encode())
    done = subprocess.run([COLLWIRE, "run", "pair.json", "--against", "table.txt", "--out", "two", *more],
                          capture_output=True, text=True, check=False, cwd=folder, timeout=60)
    if done.returncode != 0:
        return done, None, None
    with open(os.path.join(folder, "two", "metrics.json"), encoding="utf-8") as file:
        metrics = json.load(file)
    shutil.rmtree(os.path.join(folder, "two"))
    return done, metrics["against"], metrics["flows"]


def check_pairs(folder):
    bandwidths = (("Gb/s", WRITE, "write"), ("MiB/s", perftest("Send BW Test", MEBIBYTES, "65536 5000 11000.00 10967.25 0.175476"), "send"),
                  ("MB/s", perftest("RDMA_Read BW Test", MEBIBYTES.replace("MiB", "MB"), "65536 5000 11000.00 10967.25 0.175476"), "read"),
                  ("a service level", perftest("RDMA_Write BW Test", GIGABITS.replace("#bytes", "#bytes #sl"), "65536 3 5000 92.50 92.00 0.175476"), "write"),
                  ("without a rate", perftest("RDMA_Write BW Test", MEBIBYTES.replace("MsgRate[Mpps]", "").replace("MiB", "MB"), "65536 5000 11000.00 10967.25"), "write"),
                  ("a tag", "".join(f"[1,0]<stdout>:{line}\n" for line in WRITE.splitlines()), "write"), ("CRLF", WRITE.replace("\n", "\r\n"), "write"))
    for what, table, op in bandwidths:
        done, against, flows = pair(folder, table)
        expect(against and done.stderr == "", f"{what}: {done.returncode} {done.stderr}")
        if not against:
            continue
        sent = [flow for flow in flows if flow["bytes"] == 65536]
        span = max(flow["start_ns"] + flow["fct_ns"] for flow in sent) - min(flow["start_ns"] for flow in sent)
        row = against["rows"][0]
        expect((against["kind"], against["what"], len(against["rows"]), row["op"], row["ranks"], row["count"]) == ("perftest", "goodput", 1, op, 2, 40), f"{what}: {against}")
        expect(abs(row["measured_bps"] / 92e9 - 1) < 1e-4 and abs(row["simulated_bps"] / (40 * 65536 * 8e9 / span) - 1) < 1e-4, f"{what}: {row}")
        expect(abs(row["ratio"] - row["measured_bps"] / row["simulated_bps"]) < 1e-5, f"{what}: {row}")
        shown = [line for line in done.stdout.splitlines() if line.startswith(f"  {op} ")]
        expect(len(shown) == 1 and "92.0 Gb/s" in shown[0], f"{what}: {done.stdout}")
    for what, title, key in (("WRITE", "RDMA_Write Latency Test", "delivered_ns"), ("SEND", "Send Latency Test", "delivered_ns"), ("READ", "RDMA_Read Latency Test", "fct_ns")):
        done, against, flows = pair(folder, perftest(title, LATENCY, DELAY))
        times = [flow[key] for flow in flows or () if flow["bytes"] == 4096]
        expect(against and against["rows"][0]["measured_ns"] == 2500 and abs(against["rows"][0]["simulated_ns"] - sum(times) / 3) < 1 and "measured_bps" in against["rows"][0]
               and against["rows"][0]["measured_bps"] is None, f"{what}: {done.stderr} {against}")
    done, against, _ = pair(folder, OSU_PAIR % ("Latency", "Latency (us)", "2.50", "9.00"))
    expect(against and [row["measured_ns"] for row in against["rows"]] == [2500, 9000] and against["what"] == "delivery", f"OSU's latency: {done.stderr} {against}")
    done, against, _ = pair(folder, OSU_PAIR % ("Bandwidth", "Bandwidth (MB/s)", "8192.00", "11500.00"))
    expect(against and against["rows"][1]["measured_bps"] == 92000000000 and against["what"] == "goodput", f"OSU's bandwidth: {done.stderr} {against}")
    both = WRITE.replace("BW Test", "Bidirectional BW Test").replace("92.00 ", "180.00").replace("0.175476", "0.343323")
    back = json.loads(json.dumps(FLOWS))
    back["workload"]["flows"] += [{"src": 1, "dst": 0, "bytes": 65536}] * 40
    done, against, _ = pair(folder, both, job=back)
    expect(against and against["what"] == "goodput_both" and against["rows"][0]["count"] == 80 and 150e9 < against["rows"][0]["simulated_bps"] < 200e9, f"both directions: {done.stderr} {against}")
    done, against, _ = pair(folder, GIGABITS + "\n 65536 5000 92.5 92.00 0.175476\n")
    expect(against and against["rows"][0]["op"] == "message" and "no line with a title" in done.stderr, f"without a title: {done.stderr}")
    wrong = ((both, (), "is of both directions at once, and no message of 65536 B goes from rank 1 to 0"), (WRITE.replace("65536", "131072").replace("0.175476", "0.087738"), (), "has no row of 65536 B, but 1 size"),
             (WRITE.replace("0.175476", "0.275476"), (), ":10:71: the message rate is not bandwidth by size"), (WRITE.replace("92.00 ", "nan"), (), ":10:49: sizes and values must be numbers above 0"),
             (WRITE.replace("92.00 ", "-1"), (), ":10:49: sizes and values"), (WRITE.replace("0.175476", ""), (), ":10:2: the row has fewer columns"), (WRITE.replace("average[Gb/sec]", "average[furlong]"), (), ":9:2: columns that are not understood"),
             (WRITE + WRITE, (), "a second row of this size"), (WRITE + WRITE.replace("RDMA_Write", "Send"), (), "a second title"), (WRITE.replace(GIGABITS, LATENCY), (), ":9:2: the title is of another test"),
             (LATENCY + "\n" + DELAY, (), ":1:2: the line with the title is missing"), (perftest("Send Latency Test", LATENCY.replace("usec", "cycles"), DELAY), (), "columns that are not understood"),
             (WRITE, ("--set", "report.flows_max=5"), "set report.flows_max=43"), (NEW, (), "is of a collective, and the job is of kind flows"), (b"\0" + WRITE.encode(), (), ""), (WRITE[:400], (), "has no table"),
             (OSU_PAIR % ("Latency", "Bandwidth (MB/s)", "1", "2"), (), ":2: the title is of another test"))
    for table, more, says in wrong:
        done, against, _ = pair(folder, table, *more)
        lines = [line for line in done.stderr.splitlines() if line and "warning" not in line]
        expect((done.returncode == 2 and len(lines) == 1 and says in lines[0]) or (not says and done.returncode in (0, 2)), f"{says}: {done.returncode} {lines}")


def main():
    with tempfile.TemporaryDirectory() as folder:
        prefixed = "".join(f"[1,0]<stdout>: {line}\n" for line in NEW.splitlines())
        for what, table in (("as it is", NEW), ("an old one", OLD), ("with prefixes", prefixed), ("with CRLF", NEW.replace("\n", "\r\n")),
                            ("OSU", OSU % ""), ("OSU on GPUs", OSU % "-CUDA"), ("OSU before 7", OSU.replace("Avg Latency(us)   Min Latency(us)   Max Latency(us)  Iterations", "Latency (us)")
                             .replace("            199.10            201.30         100", "").replace("            599.00            601.00         100", "") % ""),
                            ("OSU with tags", "".join(f"[1,0]<stdout>:{line}\n" for line in (OSU % "").splitlines())),
                            ("JSON", JSON), ("JSON of rccl-tests", RCCL), ("its lines", LINES)):
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
                 ("OSU between two hosts", (OSU % "").replace("Allreduce ", ""), "is of messages between two hosts"), ("perftest", PERFTEST, "is of messages between two hosts"),
                 ("OSU of threads", (OSU % "").replace("Allreduce", "Multi Threaded"), ":2: is no benchmark whose sizes"),
                 ("OSU's title over perftest", (OSU % "")[:60] + PERFTEST, "the job is a collective"), ("two kinds", OSU % "" + NEW, "a heading of another kind"),
                 ("rccl-tests, other times", RCCL.replace("200.0", "100.0"), "[0]: alg_bw is not size by time"), ("rccl-tests, two operations", RCCL.replace("AllReduce", "AllGather", 1), "[1]: a second operation"),
                 ("rccl-tests, no place", RCCL.replace('"inPlace":0', '"inPlace":2', 1), "[0]: needs `inPlace`, 0 or 1"), ("rccl-tests, a name", RCCL.replace("AllReduce", "HyperCube"), "[0]: needs `name`"),
                 ("rccl-tests, two runs", RCCL.replace('"ranks":4', '"ranks":8', 1), "[1]: another number of ranks"), ("rccl-tests, cut off", RCCL[:120], "line 2, column"),
                 ("rccl-tests, lines cut off", LINES + '{"name": ', "line 5, column"), ("rccl-tests, one size twice", LINES + LINES, "line 5: a second row"), ("rccl-tests, deep", "[{" + "[" * 5000, "line 1, column"),
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
        check_pairs(folder)
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
