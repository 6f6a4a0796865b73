#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Noise of hosts (`noise`): a constant delay in closed form, what it acts on, and that only the seed matters.

A ring of n ranks has 2 (n - 1) steps; each begins with the delay, and so does the end of the last one.

usage: check_noise.py, with the executable in $COLLWIRE.
"""
import json
import os
import subprocess
import sys
import tempfile

COLLWIRE = os.environ["COLLWIRE"]
FAILED = []
RANKS = 8
RING = {"name": "ring", "topology": {"dims": [{"kind": "switch", "size": RANKS}]},
        "workload": {"kind": "collective", "op": "all_reduce", "bytes": "1MB", "algorithm": "ring"}}
FLOWS = {"name": "flows", "topology": RING["topology"],
         "workload": [{"kind": "incast", "receiver": 0, "bytes": "100KB"},
                      {"kind": "permutation", "name": "p", "shift": 3, "bytes": "100KB"},
                      {"kind": "flows", "name": "f", "flows": [{"src": 1, "dst": 2, "bytes": 5000, "start": "3us"}]}]}
TRAINING = {"name": "training", "topology": RING["topology"],
            "workload": {"kind": "training", "iterations": 1, "parallelism": "DATA", "layers": [
                {"name": "l", "fwd": {"compute": "10us"}, "ig": {"compute": "10us"},
                 "wg": {"compute": "10us", "op": "all_reduce", "bytes": "80KB"}}]}}


def expect(what, holds):
    print(("ok: " if holds else "NOT: ") + what)
    if not holds:
        FAILED.append(what)


def run(folder, made, noise, *more, seed=1):
    path = os.path.join(folder, "scenario.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(made | {"noise": noise, "seed": seed}, file)
    out = os.path.join(folder, "out")
    subprocess.run([COLLWIRE, "run", path, "--quiet", "--out", out, *more], check=True, capture_output=True)
    with open(os.path.join(out, "metrics.json"), encoding="utf-8") as file:
        metrics = json.load(file)
    metrics.pop("scenario")
    return metrics


def duration(metrics):
    return metrics["collectives"][0]["duration_ns"]


def main():
    with tempfile.TemporaryDirectory() as folder:
        quiet = run(folder, RING, {"preset": "none"})
        for delay in (1000, 14000):
            step = {"mean": f"{delay}ns", "distribution": "constant"}
            longer = duration(run(folder, RING, {"step": step})) - duration(quiet)
            wanted = (2 * (RANKS - 1) + 1) * delay
            # without delays an ACK of 84 bytes goes ahead of the data of each step but the first: 6.7 ns at 100 Gb/s
            ahead = 2 * (RANKS - 1) * 6.8
            expect(f"a delay of {delay} ns makes a ring {longer} ns longer, {wanted} in closed form",
                   wanted - ahead - 1 <= longer <= wanted + 1)
        step = {"mean": "5us", "distribution": "constant"}
        alone = TRAINING["workload"] | {"parallelism": "MODEL", "layers": [
            {"name": "l", "fwd": {"compute": "10us"}, "ig": {"compute": "10us"}, "wg": {"compute": "10us"}}]}
        longer = run(folder, TRAINING | {"workload": alone}, {"step": step})["training"]["total_ns"] - \
            run(folder, TRAINING | {"workload": alone}, {})["training"]["total_ns"]
        expect(f"computations are longer by {longer} ns: three of 5 us", longer == 15000)
        cluster = run(folder, RING, {"preset": "cluster"})
        expect("the preset changes a collective", duration(cluster) > duration(quiet))
        expect("with a start that is given it keeps its other values",
               run(folder, RING, {"preset": "cluster", "start": "50us"}) == cluster)
        expect("another seed is another draw", duration(run(folder, RING, {"preset": "cluster"}, seed=2)) != duration(cluster))
        for more in (("--threads", "2"), ("--threads", "3"), ("--plain",)):
            expect(f"{' '.join(more)} changes nothing", run(folder, RING, {"preset": "cluster"}, *more) == cluster)
        starts = [f["start_ns"] for f in run(folder, FLOWS, {"start": "50us"})["flows"]]
        expect(f"raw flows start late: {starts}", 0 < max(starts) <= 50000 and len(set(starts)) > 1)
        expect("raw flows have no steps", run(folder, FLOWS, {"step": step}) == run(folder, FLOWS, {}))
        expect("nor has the network in closed form",
               run(folder, RING | {"network": "analytical"}, {"preset": "cluster"}) ==
               run(folder, RING | {"network": "analytical"}, {}))
        sent = run(folder, RING, {"start": "100us"})["flows"]
        starts = [min(f["start_ns"] for f in sent if f["src"] == rank) for rank in range(RANKS)]
        expect(f"ranks start at {starts} ns", 20000 < max(starts) <= 100000 and len(set(starts)) == RANKS)
        replaced = run(folder, RING, {"start": "100us"}, "--set", "transport.start_jitter=1us")
        jitter = run(folder, RING, {}, "--set", "transport.start_jitter=1us")
        expect("transport.start_jitter replaces the start", replaced == jitter)
        links = run(folder, RING, {"link": {"delay": "2us"}})
        expect("longer links make a ring longer", duration(links) > duration(quiet) + 14000)
        marked = RING | {"cc": {"kind": "dcqcn"}, "switch": {"ecn": {"kmin": "5KB", "kmax": "10KB"}},
                         "workload": {"kind": "collective", "op": "gather", "bytes": "8MB"}}
        said = [s for s in run(folder, marked, {})["explain"] if "in lockstep" in s]
        expect(f"marks in lockstep are said first: {said}", len(said) == 1)
        expect("with noise nothing is said",
               not [s for s in run(folder, marked, {"preset": "lab"})["explain"] if "in lockstep" in s])
    return len(FAILED) > 0


if __name__ == "__main__":
    sys.exit(main())
