#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Long traces need little memory: a set whose ranks are links to one file, a chain of computations with
an all-reduce in every thousandth place, runs in closed form below a limit of resident memory, and
ends when the computations have.

usage: check_large.py RANKS NODES MEGABYTES"""
import json
import os
import subprocess
import sys
import tempfile

from trace_file import node, trace

COLLWIRE = os.environ.get("COLLWIRE", "build/collwire")


def nodes(n):
    for i in range(n):
        after = [i - 1] if i else []
        if i % 1000 == 999:
            yield node(i, "COLL", after, comm="ALL_REDUCE", comm_size=1 << 20, is_cpu_op=False)
        else:
            yield node(i, "COMP", after, us=1 + i % 7, is_cpu_op=False)


def main():
    ranks, count, megabytes = (int(word) for word in sys.argv[1:])
    with tempfile.TemporaryDirectory() as folder:
        first = os.path.join(folder, "t.0.et")
        with open(first, "wb") as stream:
            stream.write(trace(nodes(count)))
        for rank in range(1, ranks):
            os.link(first, os.path.join(folder, f"t.{rank}.et"))
        scenario, out = os.path.join(folder, "s.json"), os.path.join(folder, "out")
        with open(scenario, "w", encoding="utf-8") as stream:
            json.dump({"name": "large", "network": "analytical", "report": {"flows_max": 0},
                       "topology": {"dims": [{"kind": "switch", "size": ranks}]},
                       "workload": {"kind": "chakra", "prefix": "t"}}, stream)
        subprocess.run([COLLWIRE, "run", scenario, "--out", out, "--quiet"], check=True)
        with open(os.path.join(out, "run.json"), encoding="utf-8") as stream:
            run = json.load(stream)
        with open(os.path.join(out, "metrics.json"), encoding="utf-8") as stream:
            metrics = json.load(stream)
    compute = sum(1000 * (1 + i % 7) for i in range(count) if i % 1000 != 999)
    assert all(r["compute_ns"] == compute for r in metrics["ranks"]), compute
    assert len(metrics["ranks"]) == ranks
    used = run["peak_rss_bytes"] / 1e6
    print(f"{ranks} ranks of {count} nodes: {used:.0f} MB, {run['cpu_s']:.0f} s")
    sanitized = os.environ.get("COLLWIRE_SANITIZED", "OFF") == "ON"
    return 0 if sanitized or used < megabytes else 1


sys.exit(main())
