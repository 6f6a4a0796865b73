#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Of two or three jobs the one that delays another is in the first two sentences (faster trunks may save more), with the port
that both use and what the other saved without it; a job that shares nothing is not named.

usage: check_jobs.py, with the executable in $COLLWIRE.
"""
import os
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "theory"))
from scenario_run import run_made  # noqa: E402

TRAIN = [0, 1, 8, 9, 16, 17, 24, 25]
OTHERS = [rank for rank in range(32) if rank not in TRAIN]
RING = {"kind": "collective", "op": "all_reduce", "bytes": "16MB", "algorithm": "ring", "name": "train", "ranks": TRAIN}
A2A = {"kind": "collective", "op": "all_to_all", "bytes": "8MB", "name": "train", "ranks": TRAIN}
GRADIENT = {"compute": "50us", "op": "all_reduce", "bytes": "8MB"}
LAYERS = {"kind": "training", "name": "train", "parallelism": "DATA", "layers": [
    {"name": "l", "fwd": {"compute": "50us"}, "ig": {"compute": "50us"}, "wg": GRADIENT}]}
BATCH = {"kind": "collective", "op": "all_to_all", "bytes": "32MB", "name": "batch",
         "ranks": [2, 3, 10, 11, 18, 19, 26, 27]}
COPY = {"kind": "flows", "name": "copy", "flows": [{"src": 2, "dst": 10, "bytes": "64MB"},
                                                   {"src": 3, "dst": 11, "bytes": "64MB"}]}
SMALL = {"kind": "collective", "op": "all_reduce", "bytes": "1MB", "algorithm": "ring", "name": "small",
         "ranks": [4, 5, 12, 13]}
APART = [rank for rank in OTHERS if rank not in SMALL["ranks"]]


def incast(receiver, senders=OTHERS, **more):
    return {"kind": "incast", "name": "ckpt", "receiver": 0, "bytes": "8MB", "senders": 7,
            "ranks": [receiver, *senders[:7]]} | more


# jobs, spines, the job to blame (None = none) and where
CASES = [
    ([RING, incast(8)], 8, "ckpt", "leaf1->rank8"),
    ([RING, incast(2, [3, 10, 11, 18, 19, 26, 27], bytes="16MB")], 4, "ckpt", "leaf0->rank2"),
    ([RING, BATCH], 2, "batch", "spine"),
    ([RING, COPY], 1, "copy", "spine0"),
    ([RING, RING | {"name": "other", "bytes": "32MB"}], 8, "other", "leaf"),
    ([LAYERS, incast(8)], 8, "ckpt", "leaf1->rank8"),
    ([A2A, incast(16)], 8, "ckpt", "leaf2->rank16"),
    ([incast(8), RING], 8, "ckpt", "leaf1->rank8"),
    ([RING, SMALL, incast(24, APART)], 8, "ckpt", "leaf3->rank24"),
    ([RING, incast(8, start="500us")], 8, "ckpt", "leaf1->rank8"),
    ([RING, RING | {"name": "neighbour", "ranks": [4, 5, 6, 7]}], 8, None, ""),
]


def check(jobs, spines, culprit, where, policy, folder):
    made = {"name": "jobs", "cc": {"kind": policy}, "workload": jobs, "topology": {"dims": [
        {"kind": "leaf_spine", "size": 32, "ranks_per_leaf": 8, "spines": spines,
         "link": {"rate": "100Gbps", "delay": "1us"}}]}}
    train = next(i for i, job in enumerate(jobs) if job["name"] == "train")
    metrics = run_made(made, ["explain.try=3"], folder)
    said = [r for r in metrics["reasons"] if r["kind"] == "job" and (r["saved_ns"] or 0) > 0.01 * metrics["jobs"][r["job"]]["time_ns"]]
    if culprit is None:
        good = not said
    else:
        of = [r for r in said if r["seen"].startswith(f"job {culprit} sent for ")]
        good = bool(of) and (policy != "none" or where in of[0]["at"]) and of[0]["sentence"] in metrics["explain"][:2]
        good &= f"without job {culprit}: tried, job " in of[0]["sentence"]
    print(f"{'ok  ' if good else 'FAIL'} {policy} {[job['name'] for job in jobs]}: {metrics['explain'][0]}")
    return good


def main():
    with tempfile.TemporaryDirectory() as folder:
        results = [check(*case, policy, folder) for policy in ("none", "dcqcn") for case in CASES
                   if policy == "none" or case[1] != 4]  # there no port is shared but trunks
    sys.exit(not all(results))


main()
