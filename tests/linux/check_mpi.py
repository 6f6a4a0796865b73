#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares collectives of Open MPI in the simulator with measured ones over Linux TCP (tests/data/mpi-tcp/mpi.csv).

check_mpi.py [--table] [--seeds N] [CASE...] runs the cases with several seeds of the noise of hosts, and compares the
median of each end with the measured ones: it must lie within 10 % of the measured median or inside the measured range
in nine of ten ends, and the median of all deviations within 5 %. docs/mpi.md has the table, and what is known of the rest.
"""
import concurrent.futures
import csv
import json
import os
import statistics
import subprocess
import sys
import tempfile

from check_collectives import COLLWIRE, POLICY, network

DATA = os.path.join(os.path.dirname(__file__), "..", "data", "mpi-tcp", "mpi.csv")
SHARE, WITHIN, MEDIAN = 0.9, 0.10, 0.05
# Times of a process, read from recorded packets: an answer 0.09 ms after its request, the next message of a process
# 0.27 ms after what it waited for, starts 0.73 ms apart at 1 MB and some 4.5 ms at 8 MB.
LIBRARY = {"kind": "mpi", "event": "90us", "step": "180us", "copy_rate": "16Gbps", "reduce_rate": "64Gbps"}
NOISE = {"step": {"mean": "30us", "distribution": "exponential"}}
OPERATIONS = {"ring": ("all_reduce", "ring"), "rd": ("all_reduce", "recursive_doubling"),
              "rab": ("all_reduce", "rabenseifner"), "segring": ("all_reduce", "segmented_ring"),
              "a2apair": ("all_to_all", "pairwise"), "a2alin": ("all_to_all", "linear"), "bcast": ("broadcast", "binomial")}
ENDS = ("first_ms", "total_ms", "warm_ms")


def parameters(case, text):
    """The box's parameters, and the job: operation, algorithm, bytes, repeats."""
    box = dict(word.split("=", 1) for word in text.split(" mpi ")[0].split())
    _, name, _, size = case.split(".")[:4]
    n, size = int(box["n"]), int(size[:-1]) * {"K": 1 << 10, "M": 1 << 20}[size[-1]]
    op, algo = OPERATIONS[name]
    repeat = 1 if size >= 8 << 20 else 2 if n == 8 else 3
    return box, {"op": op, "bytes": size * n if op == "all_to_all" else size, "repeat": repeat,
                 "library": LIBRARY | {"algo": algo}}


def scenario(case, box, job, seed):
    n = int(box["n"])
    made = {"name": case, "seed": seed,
            "topology": {"dims": [{"kind": "graph", "size": n, "file": "star.json"}]},
            "transport": {"kind": "tcp", "wire_overhead": {"data": "52B", "ack": "52B"}, "timer_tick": "4ms",
                          "sack_compression": "1ms", "duplex": True, "packet_counting": True},
            "cc": {"kind": POLICY[box["cc"]]},
            "switch": {"buffer": "4GB", "lossy_alpha": 1000, "pfc": {"enabled": False},
                       "queue_limit": {"packets": int(box["qpk"]) - 1, "at": "dim0.sw0"}},
            "host": {"ranks": n, "cores": 1}, "noise": NOISE, "limits": {"stall": "1000s"},
            "workload": {"kind": "collective"} | job}
    if "ecnk" in box:
        made["transport"]["ecn"] = "on"
        made["switch"]["ecn"] = {"enabled": True, "kmin_packets": int(box["ecnk"]), "at": "arrival"}
    return made


def run(work):
    case, text, seed = work
    box, job = parameters(case, text)
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "star.json"), "w", encoding="utf-8") as file:
            json.dump(network(box, int(box["n"])), file)
        path = os.path.join(folder, "scenario.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(scenario(case, box, job, seed), file)
        done = subprocess.run([COLLWIRE, "run", path, "--quiet", "--out", os.path.join(folder, "out")],
                              capture_output=True, check=False)
        if done.returncode != 0:
            raise RuntimeError(f"{case}: {done.stderr.decode()}")
        with open(os.path.join(folder, "out", "metrics.json"), encoding="utf-8") as file:
            ends = [c["end_ns"] / 1e6 for c in json.load(file)["collectives"]]
    found = {"first_ms": ends[0], "total_ms": ends[-1]}
    return case, found | ({"warm_ms": (ends[-1] - ends[0]) / (len(ends) - 1)} if len(ends) > 1 else {})


def main():
    words = sys.argv[1:]
    table, seeds = "--table" in words, 11
    if "--seeds" in words:
        at = words.index("--seeds")
        seeds = int(words[at + 1])
        del words[at:at + 2]
    words = [w for w in words if w != "--table"]
    rows, cases = {}, {}
    with open(DATA, encoding="utf-8") as file:
        for row in csv.DictReader(file):
            cases[row["case"]] = row["box_parameters"]
            if row["metric"] in ENDS:
                rows[row["case"], row["metric"]] = [float(row[k]) for k in ("median", "min", "max")]
    chosen = [c for c in cases if not words or any(c.startswith(w) for w in words)]
    found = {}
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for case, ends in pool.map(run, [(c, cases[c], seed) for c in chosen for seed in range(1, seeds + 1)]):
            for metric, value in ends.items():
                found.setdefault((case, metric), []).append(value)
    good, deviations = 0, []
    for key, values in found.items():
        if key not in rows:
            continue
        median, low, high = rows[key]
        ours = statistics.median(values)
        deviations.append(abs(ours / median - 1))
        holds = low <= ours <= high or deviations[-1] <= WITHIN
        good += holds
        if table or not holds:
            print(f"{'   ' if holds else 'OUT'} {key[0]:28} {key[1]:9} Open MPI {median:8.1f} [{low:.1f}, {high:.1f}] "
                  f"ours {ours:8.1f} [{min(values):.1f}, {max(values):.1f}] {ours / median:.3f}")
    middle = statistics.median(deviations)
    print(f"{good} of {len(deviations)} ends within {WITHIN:.0%} or inside the measured range; median deviation {middle:.1%}")
    return good < SHARE * len(deviations) or middle > MEDIAN


if __name__ == "__main__":
    sys.exit(main())
