#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The estimate of `validate` against runs of shipped scenarios of all kinds of work: packet-hops within a factor of 2, and
the time of CPU within a factor of 2.5 of the median of the same factor over all of them, since machines differ. Alone this
shows the time; some 6 s, more beside other load. usage: check_estimates.py SCENARIOS"""
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
SHORT_S = 0.02  # runs of a few milliseconds are mostly set-up, of which the estimate says nothing
SENTENCE = re.compile(r"over\s+([0-9.e+]+)\s+packet-hops,\s+about\s+([0-9.]+)\s+(\w+)")


def estimate(path):
    """Packet-hops and seconds of CPU, as `validate` says."""
    told = subprocess.run([COLLWIRE, "validate", path], capture_output=True, text=True, check=True).stdout
    hops, number, unit = SENTENCE.search(told).groups()
    return float(hops), float(number) * UNITS[unit]


def run(tmp, path):
    """Counted packet-hops and time of CPU."""
    subprocess.run([COLLWIRE, "run", path, "--quiet", "--out", tmp], check=True, capture_output=True)
    with open(os.path.join(tmp, "run.json"), encoding="utf-8") as f:
        result = json.load(f)
    return result["packet_hops"], max(result["cpu_s"], 1e-4)


def judge(estimates, runs):
    """The number of estimates out of bounds, and a line of each."""
    ratios = {work: estimates[work][1] / runs[work][1] for work in WORKS}
    machine = statistics.median(ratios[work] for work in WORKS if runs[work][1] >= SHORT_S)
    failed, lines = 0, []
    for work, ratio in ratios.items():
        hops, cpu_s = estimates[work][0] / runs[work][0], runs[work][1]
        good = 0.5 <= hops <= 2 and (cpu_s < SHORT_S or 0.4 <= ratio / machine <= 2.5)
        lines.append(f"{'ok' if good else 'FAILED'}: {work}: hops {hops:.2f}, time {ratio:.2f} ({ratio / machine:.2f} of the machine's), {cpu_s:.3f} s")
        failed += not good
    return failed, lines


def main():
    paths = {work: os.path.join(sys.argv[1], f"{work}.json") for work in WORKS}
    estimates = {work: estimate(path) for work, path in paths.items()}
    runs, failed = {}, 1
    with tempfile.TemporaryDirectory() as tmp:
        # Whatever else the machine does only adds time, for a round or two: the least of all rounds counts.
        for turn in range(8):
            for work, path in paths.items():
                if turn < 2 or runs[work][1] < 0.5:
                    runs[work] = min(runs.get(work, (0, float("inf"))), run(tmp, path), key=lambda r: r[1])
            failed, lines = judge(estimates, runs)
            if turn > 0 and not failed:
                break
    print("\n".join(lines))
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
