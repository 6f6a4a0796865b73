#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Recordings beside runs, sweeps and libraries (`--against`): times by operation, size and ranks, and by rank; and tables beside what a
library chooses. Recordings are made up (tests/cli/import/traces.py). Cost: 3 s. usage: check_beside.py, with the executable in $COLLWIRE."""
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "import")]
import check_import  # noqa: E402
import traces  # noqa: E402
from checks import COLLWIRE, expect, failures, write  # noqa: E402

FOUR = {"dims": [{"kind": "switch", "size": 4, "link": {"rate": "100Gbps", "delay": "1us"}}]}
TABLE = """#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong
#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)
        1024           256     float     sum      -1     20.0    0.05    0.09      0     30.9    0.03    0.06      0
     4194304       1048576     float     sum      -1     50.0   83.89  146.80      0     99.0   42.37   79.44      0
"""


def call(folder, *words):
    return subprocess.run([COLLWIRE, *words], capture_output=True, text=True, check=False, cwd=folder, timeout=120)


def read(folder, *path):
    with open(os.path.join(folder, *path), encoding="utf-8") as file:
        return json.load(file)


def near(a, b, share=1e-4):
    return abs(a - b) <= share * max(abs(a), abs(b)) + 2


def check_program(folder, what, run, folder_of):
    """The recording beside its own import: the same figures as those that the import brings along, mean by mean."""
    done = call(folder, "import", folder_of, "-o", "job.json")
    expect(done.returncode == 0, f"{what}: import {done.stderr}")
    done = call(folder, "run", "job.json", "--against", folder_of, "--out", "out")
    expect(done.returncode == 0 and f"measured in {folder_of}" in done.stdout, f"{what}: {done.returncode} {done.stdout} {done.stderr}")
    metrics = read(folder, "out", "metrics.json")
    against, own = metrics["against"], metrics["measured_collectives"]["sizes"]
    sizes = {(s["op"], s["bytes"], s["ranks"]): s for s in own}
    expect(against["missing"] == 0 and len(against["rows"]) == len(sizes) > 0, f"{what}: {against}")
    for row in against["rows"]:
        size = sizes[(row["op"], row["bytes"], row["ranks"])]
        expect(row["count"] == size["count"], f"{what}: {row}, {size}")
        expect(near(row["measured_ns"], size["measured_ns"]["mean"]), f"{what}: measured {row}, {size}")
        expect(near(row["simulated_ns"], size["simulated_ns"]["mean"]), f"{what}: simulated {row}, {size}")
    ranks = {r["rank"]: r for r in metrics["ranks"]}
    expect([r["rank"] for r in against["ranks"]] == list(range(len(run.ranks))), f"{what}: ranks {against['ranks']}")
    for row in against["ranks"]:
        events = [e for e in run.events[row["rank"]]]
        span = 1000 * (max(e["end"] for e in events) - min(e["start"] for e in events))
        expect(near(row["measured_ns"], span), f"{what}: rank {row}, {span} ns")
        expect(row["simulated_ns"] == ranks[row["rank"]]["finish_ns"], f"{what}: {row}")
        expect(near(row["ratio"], row["simulated_ns"] / row["measured_ns"]) and near(row["simulated_compute_ns"], row["measured_compute_ns"]),
               f"{what}: {row}")


def check_collective(folder, recording):
    """One collective beside the recording's collectives of its operation, size and ranks."""
    job = {"name": "one", "topology": FOUR, "workload": {"kind": "collective", "op": "all_reduce", "bytes": 800000, "algorithm": "ring"}}
    write(folder, "one.json", job)
    done = call(folder, "run", "one.json", "--against", recording, "--out", "one")
    expect(done.returncode == 0, f"one collective: {done.stderr}")
    against = read(folder, "one", "metrics.json")["against"]
    row = against["rows"][0]
    expect(len(against["rows"]) == 1 and row["measured_ns"] == 1000 * traces.takes_us(800000) and against["ranks"] == [], f"one collective: {against}")
    done = call(folder, "sweep", "one.json", "--sizes", "400000:1600000:2", "--against", recording, "--out", "sweep")
    rows = [line.split() for line in done.stdout.splitlines() if line.strip()[:1].isdigit()]
    expect(done.returncode == 0 and [r[4] for r in rows[:3]] == [f"{traces.takes_us(s):.2f}" for s in (400000, 800000, 1600000)],
           f"a sweep: {done.stdout} {done.stderr}")
    wrong = (("workload.bytes=800001B", "has no row of 800001 B, but 4 sizes from 400000 B to 1600000 B"),
             ("workload.op=all_gather", "has no all_gather of 4 ranks; most of its collectives are all_reduce of 4 ranks"),
             ("topology.dims[0].size=3", "has no all_reduce of 3 ranks"))
    for change, says in wrong:
        done = call(folder, "run", "one.json", "--set", change, "--against", recording, "--out", "wrong")
        expect(done.returncode == 2 and says in done.stderr and done.stdout == "", f"{change}: {done.returncode} {done.stderr}")


def check_training(folder, recording):
    """Another job of as many ranks: sizes that it does not have are counted."""
    layers = [{"name": "l", "fwd": {"compute": "10us"}, "ig": {"compute": "10us"}, "wg": {"compute": "10us", "op": "all_reduce", "bytes": 400000}}]
    write(folder, "train.json", {"name": "train", "topology": FOUR, "workload": {"kind": "training", "iterations": 4, "parallelism": "DATA", "layers": layers}})
    done = call(folder, "run", "train.json", "--against", recording, "--out", "train")
    if done.returncode != 0:
        expect(False, f"training: {done.stderr}")
        return
    against = read(folder, "train", "metrics.json")["against"]
    expect(against["missing"] == 3 and [(r["bytes"], r["count"]) for r in against["rows"]] == [(400000, 4)], f"training: {against}")
    expect("of 3 operations, sizes and numbers of ranks in it this run has no collective" in done.stdout, f"training: {done.stdout}")
    # Two iterations were recorded and four are simulated: the time of ranks is twice that of the recording.
    once = read(folder, "out", "metrics.json")["against"]["ranks"]
    expect(all(near(a["measured_ns"], 2 * b["measured_ns"]) for a, b in zip(against["ranks"], once)) and len(once) == 4, f"training: {against['ranks']}, {once}")
    three = json.loads(json.dumps(FOUR))
    three["dims"][0]["size"] = 3
    done = call(folder, "run", "train.json", "--set", "topology.dims[0].size=3", "--against", recording, "--out", "wrong")
    expect(done.returncode == 2 and "is a recording of 4 ranks, and the job has 3" in done.stderr, f"other ranks: {done.stderr}")
    done = call(folder, "run", "train.json", "--against", "table.txt", "--out", "wrong")
    expect(done.returncode == 2 and "the job is of kind training: give a job of kind collective or flows, or a recording" in done.stderr, f"a table: {done.stderr}")


def check_library(folder, eight):
    done = call(folder, "library", "nccl", "--machine", "dgx_h100", "--nodes", "1", "--against", "table.txt")
    rows = [line.split() for line in done.stdout.splitlines() if line.strip()[:1].isdigit()]
    expect(done.returncode == 0 and [r[0] for r in rows] == ["1024", "4194304"] and done.stderr == "", f"library: {done.stdout} {done.stderr}")
    done = call(folder, "library", "nccl", "--machine", "dgx_h100", "--nodes", "1", "--against", "table.txt", "--format", "json", "--bytes", "4MiB")
    answer = json.loads(done.stdout)
    write(folder, "nccl.json", {"name": "n", "topology": {"machine": "dgx_h100", "nodes": 1},
                                "workload": {"kind": "collective", "op": "all_reduce", "bytes": "4MiB", "library": {"kind": "nccl"}}})
    call(folder, "run", "nccl.json", "--network", "hybrid", "--out", "nccl")
    one = read(folder, "nccl", "metrics.json")["collectives"][0]
    row = answer["rows"][0]
    expect(len(answer["rows"]) == 1 and row["measured_ns"] == 50000 and near(row["simulated_ns"], one["end_ns"] - one["start_ns"]), f"library: {answer}")
    expect(row["algo"] == one["library"]["algorithm"].lower().replace("_", "") or row["algo"] in one["library"]["algorithm"].lower(), f"library: {row}, {one['library']}")
    done = call(folder, "library", "nccl", "--machine", "dgx_h100", "--nodes", "1", "--against", eight)
    expect(done.returncode == 0 and "(kineto)" in done.stdout and " 400000  " in done.stdout, f"a recording: {done.stdout} {done.stderr}")
    done = call(folder, "library", "nccl", "--machine", "dgx_h100", "--nodes", "2", "--against", eight)
    expect(done.returncode == 2 and "has no all_reduce of 16 ranks; most of its collectives are all_reduce of 8 ranks" in done.stderr, f"other ranks: {done.stderr}")
    done = call(folder, "library", "nccl", "--machine", "dgx_h100", "--nodes", "2", "--against", "table.txt")
    expect(done.returncode == 0 and "busbw is 1.75 times algbw, and 1.88 times for all_reduce of 16 ranks" in done.stderr, f"another factor: {done.stderr}")
    done = call(folder, "library", "rccl", "--machine", "mi300x", "--nodes", "1", "--against", "table.txt")
    expect(done.returncode == 0 and "4194304" in done.stdout, f"rccl: {done.stdout} {done.stderr}")
    done = call(folder, "library", "nccl", "--machine", "dgx_h100", "--nodes", "1", "--against", "table.txt", "--bytes", "2KiB")
    expect(done.returncode == 2 and "has no row of 2048 B" in done.stderr, f"another size: {done.stderr}")
    write(folder, "log.txt", "a:1:2 [0] NCCL INFO Channel 00/01 :    0   1   2   3   4   5   6   7\n")
    done = call(folder, "library", "rccl", "--machine", "mi300x", "--nodes", "1", "--against", "log.txt")
    expect(done.returncode == 2 and "compares with logs of NCCL, not of RCCL" in done.stderr, f"a log of RCCL: {done.stderr}")


def main():
    with tempfile.TemporaryDirectory() as folder:
        write(folder, "table.txt", TABLE)
        two = check_import.data_parallel(4, 2)
        traces.write_kineto(os.path.join(folder, "pipeline"), check_import.pipeline_and_tensor())
        traces.write_kineto(os.path.join(folder, "two"), two)
        traces.write_kineto(os.path.join(folder, "eight"), check_import.data_parallel(8, 1))
        check_program(folder, "a pipeline", check_import.pipeline_and_tensor(), "pipeline")
        check_program(folder, "data parallel", two, "two")
        check_collective(folder, "two")
        check_training(folder, "two")
        traces.write_inspector(os.path.join(folder, "inspector"), two)
        done = call(folder, "run", "one.json", "--against", "inspector", "--out", "one")
        expect(done.returncode == 0 and read(folder, "one", "metrics.json")["against"]["kind"] == "inspector", f"Inspector: {done.stderr}")
        traces.write_inspector(os.path.join(folder, "two"), two)
        done = call(folder, "run", "one.json", "--against", "two", "--out", "wrong")
        expect(done.returncode == 2 and "give one recording" in done.stderr and not os.path.exists(os.path.join(folder, "wrong")), f"two kinds: {done.stderr}")
        check_library(folder, "eight")
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
