#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The estimate of `validate` against runs of shipped scenarios of all kinds of work: packet-hops within a factor of 2, and
the time of CPU within a factor of 2.5 of the median of the same factor over all of them, since machines differ. Alone this
shows the time; some 6 s. usage: check_estimates.py SCENARIOS"""
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile

COLLWIRE = os.path.abspath(os.environ.get("COLLWIRE", "build/collwire"))
WORKS = ("collectives/rail", "collectives/nccl-allreduce", "start/nccl", "start/dlrm", "start/alltoall", "start/training", "start/cnn", "start/llm",
         "start/program", "start/parameter-server", "models/resnet50-64", "reproduce/training-policy/alltoall")
UNITS = {"ps": 1e-12, "ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1, "min": 60, "h": 3600}
SENTENCE = re.compile(r"over\s+([0-9.e+]+)\s+packet-hops,\s+about\s+([0-9.]+)\s+(\w+)")


def ratios(tmp, path):
    """Estimated over counted packet-hops and time of CPU; the less busy of two runs."""
    told = subprocess.run([COLLWIRE, "validate", path], capture_output=True, text=True, check=True).stdout
    hops, number, unit = SENTENCE.search(told).groups()
    runs = []
    while not runs or len(runs) < 2 and runs[0]["cpu_s"] < 0.5:
        subprocess.run([COLLWIRE, "run", path, "--quiet", "--out", tmp], check=True, capture_output=True)
        with open(os.path.join(tmp, "run.json"), encoding="utf-8") as f:
            runs.append(json.load(f))
    run = min(runs, key=lambda r: r["cpu_s"])
    return float(hops) / run["packet_hops"], float(number) * UNITS[unit] / max(run["cpu_s"], 1e-4), run["cpu_s"]


def main():
    failed = 0
    with tempfile.TemporaryDirectory() as tmp:
        found = {work: ratios(tmp, os.path.join(sys.argv[1], f"{work}.json")) for work in WORKS}
    # runs of a few milliseconds are mostly set-up, of which the estimate says nothing
    machine = statistics.median(time for _, time, cpu_s in found.values() if cpu_s >= 0.02)
    for work, (hops, time, cpu_s) in found.items():
        good = 0.5 <= hops <= 2 and (cpu_s < 0.02 or 0.4 <= time / machine <= 2.5)
        print(f"{'ok' if good else 'FAILED'}: {work}: hops {hops:.2f}, time {time:.2f} ({time / machine:.2f} of the machine's), {cpu_s:.3f} s")
        failed += not good
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
