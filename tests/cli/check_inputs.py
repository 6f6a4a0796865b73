#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Files that are larger or stranger than any program writes: the work is in proportion to their size, or one error refuses them.

Only this test compares the CPU time of a reader at two sizes of its file, so only it finds a list that is searched for each
line. usage: check_inputs.py TRACES, the folder tests/profile, with the executable in $COLLWIRE.
"""
import gzip
import json
import os
import resource
import sqlite3
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, sys.argv[1])
import traces  # noqa: E402

COLLWIRE = os.environ["COLLWIRE"]
SANITIZED = os.environ.get("COLLWIRE_SANITIZED", "") in ("1", "ON")
FAILED = []
TIMES = 4  # larger
GROWTH = 9  # times the CPU time at most, where work in proportion takes 4, and quadratic work 16
FLOOR_S = 0.05  # of CPU, which the start of the program and the noise of the machine may take


def expect(what, good):
    print(("ok: " if good else "NOT: ") + what)
    if not good:
        FAILED.append(what)


def call(*words):
    """The result of a command, with the seconds of CPU that it took."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([COLLWIRE, *words], capture_output=True, text=True, check=False, timeout=250)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    done.cpu_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return done


def log(path, threads):
    with open(path, "w", encoding="utf-8") as file:
        for i in range(threads):
            key = f"host{i}:{i}:{i} [0] NCCL INFO"
            file.write(f"{key} NCCL_NAME{i} set by environment to 1.\n{key} comm 0x{i} rank 0 nRanks {8 + i} nNodes 1 localRanks 8 localRank 0\n"
                       f"{key} Channel 00/02 : 0 1 2 3 4 5 6 7\n")


def nsys(folder, n, kind):
    """An export with n calls: each of its own GPU and communicator, or thread, or all in one stream, which sends and reduces in turn."""
    os.makedirs(folder)
    kernels, launches, ranges = [], [], []
    for i in range(n):
        pid = (i + 1 if kind == "gpus" else 1) << 24
        tid, at = pid + (i if kind == "threads" else 0), 1000 * i
        group = 0xabc0 + (i if kind == "gpus" else 0)
        sends = kind == "kernels" and i % 2 == 0
        data = traces.payload(9 if sends else 4, group, struct.pack("<Q", 1000), *([struct.pack("<i", 0)] if sends else []))
        kernels.append((at + 500, at + 900, 0, 1, 7, i + 1, pid, 1, 1))
        launches.append((at + 100, at + 200, 0, tid, i + 1, 4, 0))
        ranges.append((at + 50, at + 60, 59, tid, 3 if sends else 2, 1, data))
    with sqlite3.connect(os.path.join(folder, "a.sqlite")) as db:
        traces.nsys_tables(db)
        db.executemany("INSERT INTO StringIds VALUES (?, ?)", [(1, "ncclDevKernel_AllReduce_Sum_f32_RING_LL"), (2, "ncclAllReduce"), (3, "ncclSend"), (4, "cudaLaunchKernel")])
        db.executemany("INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", kernels)
        db.executemany("INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (?, ?, ?, ?, ?, ?, ?)", launches)
        db.executemany("INSERT INTO NVTX_EVENTS (start, end, eventType, globalTid, textId, domainId, binaryData) VALUES (?, ?, ?, ?, ?, ?, ?)", ranges)
    db.close()


def check_growth(folder):
    def logs(n):
        path = os.path.join(folder, f"{n}.log")
        log(path, n)
        return "library", "nccl", "--machine", "dgx_h100", "--nodes", "1", "--against", path

    def exports(kind):
        def made(n):
            where = os.path.join(folder, f"{kind}{n}")
            nsys(where, n, kind)
            return "import", "nsys", where, "-o", os.path.join(folder, "out.json")
        return made

    # 65,536 ranks are the most of a job, so that one GPU more ends with an error after all were read
    for what, make, n in (("threads, variables and communicators of a log", logs, 10000), ("GPUs and communicators of nsys", exports("gpus"), 8000),
                          ("threads of nsys", exports("threads"), 20000), ("kernels of nsys without ranges", exports("kernels"), 20000)):
        small, command = call(*make(n)), make(TIMES * n)
        large = call(*command)
        for _ in range(2):  # beside other load a process may take several times its CPU time, but not thrice in a row
            if large.cpu_s >= GROWTH * max(small.cpu_s, FLOOR_S):
                large = min(large, call(*command), key=lambda done: done.cpu_s)
        expect(f"{what}: {small.cpu_s:.2f} s, {TIMES} times as many {large.cpu_s:.2f} s", large.cpu_s < GROWTH * max(small.cpu_s, FLOOR_S))
        expect(f"{what}: an exit code", small.returncode in (0, 1, 2) and large.returncode in (0, 1, 2))


def refused(what, folder, scenario, sentence, most_s=2):
    path = os.path.join(folder, "refused.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"name": "f", **scenario}, file)
    done = call("validate", path)
    expect(f"{what}: {done.cpu_s:.2f} s, {done.stderr.strip()[:200]}", done.returncode == 2 and sentence in done.stderr and len(done.stderr.splitlines()) == 1 and
           (SANITIZED or done.cpu_s < most_s))


def check_bombs(folder):
    switch = {"topology": {"dims": [{"kind": "switch", "size": 1}]}}
    for name, piece, times, sentence in (("empty", b"\0" * 1000000, 20, "record 1 at byte 1 is empty: it is no node"),
                                         ("small", b"\2\x08\1" * 333333, 30, "expand more than 250 times")):
        with gzip.open(os.path.join(folder, f"{name}.0.et.gz"), "wb") as file:
            file.write(b"\0")
            for _ in range(times):
                file.write(piece)
        refused(f"a trace of {name} records", folder, {**switch, "workload": {"kind": "chakra", "prefix": name}}, sentence)
    for name, text in (("attribute", '<algo name="' + "a" * (8 << 20) + '"/>'), ("comment", "<!--" + "a" * (8 << 20) + "-->"), ("tag", "<" + "a" * (8 << 20) + ">")):
        with open(os.path.join(folder, f"{name}.xml"), "w", encoding="utf-8") as file:
            file.write(text)
        refused(f"an XML {name} of 8 MiB", folder, {"topology": {"machine": "1gpu_h100_400", "nodes": 2}, "workload": {
            "kind": "collective", "op": "all_reduce", "bytes": "1MB", "library": {"kind": "xml", "file": f"{name}.xml"}}}, "is longer than 1 MiB", 1)


def check_limits(folder):
    refused("a capture without links", folder, {"topology": {"dims": [{"kind": "ring", "size": 1}]}, "capture": [{"at": "rank0", "file": "a.pcap"}],
            "workload": {"kind": "collective", "op": "all_reduce", "bytes": "1MB"}}, 'capture[0].at: this network has no links, so there is nothing at "rank0"')
    with open(os.path.join(folder, "nodes.jsonl"), "w", encoding="utf-8") as file:
        file.write('{"rank": 0, "kind": "compute", "time": "5us"}\n' * 2)
    refused("nodes of no ranks: one error, of the network", folder, {"topology": {"dims": [{"kind": "ring", "size": 0}]}, "workload": {"kind": "program", "file": "nodes.jsonl"}},
            "topology.dims[0].size")
    graph, out = os.path.join(folder, "graph.json"), os.path.join(folder, "divided.json")
    with open(graph, "w", encoding="utf-8") as file:  # each operator takes the most that one may
        json.dump({"operators": [{"name": str(i), "time_ns": 1e14} for i in range(200)], "edges": [{"from": str(i), "to": str(i + 1), "bytes": 1} for i in range(199)]}, file)
    done = call("partition", graph, "--parts", "2", "-o", out)
    expect("operators that no run can end", done.returncode == 2 and "operators: take 10000000 s on 2 ranks in closed form, more than a run can last" in done.stderr and not os.path.exists(out))


def main():
    with tempfile.TemporaryDirectory() as folder:
        check_bombs(folder)
        check_limits(folder)
        if not SANITIZED:  # whose allocations take other times
            check_growth(folder)
    print(f"{len(FAILED)} failed" if FAILED else "all hold")
    return 1 if FAILED else 0


if __name__ == "__main__":
    sys.exit(main())
