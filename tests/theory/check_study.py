# SPDX-License-Identifier: MIT
"""Tests conclusions of docs/study-allreduce.md that follow from physics, on 32 instead of 128 GPUs.

Each claim is a bound between runs, none is a figure of a run. The policies are those of the study's own
runner. COLLWIRE is the binary.

Usage: check_study.py [ROOT OF THE PROJECT]
"""
import os
import pathlib
import sys
import tempfile

ROOT = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "studies/allreduce"))
import run as study  # noqa: E402

BINARY = pathlib.Path(os.environ.get("COLLWIRE", "collwire")).resolve()
KMIN = 600e3
WIRE, INT = 1082, 42  # bytes of a full packet on the wire; of its telemetry
failures = []


def result(scenario, policy, *overrides, seed=1):
    run = study.Run(scenario, (*overrides, *study.POLICIES[policy]), seed)
    with tempfile.TemporaryDirectory() as folder:
        return study.runner.execute(BINARY, run, study.summary, folder)


def times(results):
    return [r["duration_ns"] for r in results]


def claim(what, holds, seen):
    print(f"{'ok  ' if holds else 'FAIL'} {what}: {seen}")
    if not holds:
        failures.append(what)


def one_flow_an_uplink():
    """1D in rank order: a ToR sends one flow up and receives one, so there is no congestion."""
    none = result("collectives/allreduce-1d-32", "none", study.STATIC)
    for policy in study.POLICIES:
        r = result("collectives/allreduce-1d-32", policy, study.STATIC)
        ratio = r["duration_ns"] / none["duration_ns"]
        # Telemetry lengthens packets, and HPCC leaves 1 - eta of the line free; the others only react.
        most = (WIRE + INT) / WIRE / (0.95 if policy == "hpcc" else 1) if policy in ("hpcc", "powertcp") else 1
        claim(f"1D: {policy} costs no more than its telemetry and headroom",
              0.999 <= ratio <= most * 1.005, f"{ratio:.4f} of none's time, <= {most:.3f}")
        claim(f"1D: {policy} finds no congestion",
              r["queue_fabric"] < KMIN and r["queue_inside"] < KMIN and not r["marks"] and not r["pauses"],
              f"queue {max(r['queue_fabric'], r['queue_inside'])} B, {r['marks']} marks, {r['pauses']} pauses")


def collisions():
    """2D: 8 flows hash onto 8 uplinks; the fullest uplink determines the time under any policy."""
    free = result("collectives/allreduce-2d-32", "none", study.STATIC)["duration_ns"]
    seeds = range(1, 4)
    none = times(result("collectives/allreduce-2d-32", "none", seed=seed) for seed in seeds)
    claim("2D: every seed collides", min(none) > 1.02 * free, f"best {min(none) / free:.2f} of collision-free")
    claim("2D: and the worst dearly", max(none) > 1.2 * free, f"{max(none) / free:.2f} of collision-free")
    for policy in ("window", "dcqcn+w", "timely+w", "hpcc"):
        runs = [result("collectives/allreduce-2d-32", policy, seed=seed) for seed in seeds]
        ratios = [a / b for a, b in zip(times(runs), none)]
        claim(f"2D: {policy} mends no collision", min(ratios) > 0.98, f"{min(ratios):.3f} of none's time at best")
        claim(f"2D: {policy}: the buffer takes what collides", all(r["pauses"] == 0 for r in runs), "no pause")
        if policy == "window":  # messages of 250 KB never fill 1.75 MB
            claim("2D: a window above the message is idle", max(ratios) < 1.01, f"{max(ratios):.4f}")
    # If a collision causes marks, a rate that was cut takes longer to recover than the collective lasts. About
    # one of three ECMP seeds causes marks.
    more = range(1, 9)
    ratios = [
        result("collectives/allreduce-2d-32", "dcqcn+w", seed=s)["duration_ns"] / result("collectives/allreduce-2d-32", "none", seed=s)["duration_ns"]
        for s in more
    ]
    claim("2D: a cut outlasts the collision", max(ratios) > 1.2, f"{max(ratios):.2f} of none's time")


def forgetting():
    """A queue pair for one message smaller than a BDP has sent it before the first mark is reported."""
    for seed in (1, 2):
        window, cut = (result("collectives/allreduce-2d-32", policy, study.FRESH, seed=seed)["duration_ns"]
                       for policy in ("window", "dcqcn+w"))
        claim(f"2D, queue pairs that forget, seed {seed}: DCQCN is its window", abs(cut / window - 1) < 0.02,
              f"{cut / window:.4f} of the window's time")


def all_to_all():
    """Eight messages of 250 KB share a NIC, so that each is sent in 87 us: hardly longer than the 70 us in
    which the first feedback arrives. A policy can delay little of it; more of a second or longer message."""
    none = result("collectives/alltoall-32", "none")["duration_ns"]
    for policy in ("window", "dcqcn+w", "dctcp+w", "timely+w"):
        ratio = result("collectives/alltoall-32", policy)["duration_ns"] / none
        claim(f"all-to-all: {policy} comes too late", 0.98 < ratio < 1.10, f"{ratio:.4f} of none's time")
    again = {policy: result("collectives/alltoall-32", policy, "workload.repeat=4") for policy in ("none", "window", "dcqcn+w")}
    ratio = again["window"]["duration_ns"] / again["none"]["duration_ns"]
    claim("four in a row: a window has no memory", abs(ratio - 1) < 0.01, f"{ratio:.4f} of none's time")
    ratio = again["dcqcn+w"]["duration_ns"] / again["none"]["duration_ns"]
    claim("four in a row: DCQCN remembers", ratio > 1.2, f"{ratio:.2f} of none's time")
    plain, cut = (result("collectives/alltoall-32", policy, "workload.bytes=32MB") for policy in ("none", "dcqcn+w"))
    claim("1 MB a pair: DCQCN avoids pauses", cut["pauses"] < plain["pauses"] / 10,
          f"{cut['pauses']} of {plain['pauses']}")
    ratio = cut["duration_ns"] / plain["duration_ns"]
    claim("1 MB a pair: and pays for it in time", ratio > 1.2, f"{ratio:.2f} of none's time")


one_flow_an_uplink()
collisions()
forgetting()
all_to_all()
sys.exit(1 if failures else 0)
