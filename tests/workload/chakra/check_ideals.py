#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Ideal times of ASTRA-sim's streams: rings of one queue go one way round, those of two queues both ways, each
for half of the chunks, and an all-to-all by ring passes every block from neighbour to neighbour. Long messages
on a ring of links are within 3 % of the ideal time (acknowledgements that share the links), never faster.

usage: check_ideals.py, with the executable in $COLLWIRE
"""
import json
import os
import subprocess
import sys
import tempfile

import trace_file

COLLWIRE = os.environ.get("COLLWIRE", "build/collwire")
RANKS, BYTES, RATE = 8, 8000000, 100e9
# Share of the vector that a rank sends: rings of n ranks, and n(n-1)/2 blocks of an all-to-all.
SENDS = {"ALL_REDUCE": 2 * (RANKS - 1) / RANKS, "ALL_GATHER": RANKS - 1, "ALL_TO_ALL": (RANKS - 1) / 2}


def collective(folder, op, kind, queues):
    for rank in range(RANKS):
        with open(f"{folder}/t.{rank}.et", "wb") as file:
            file.write(trace_file.trace([trace_file.node(1, "COLL", [], comm=op, comm_size=BYTES)]))
    scenario = {"name": "ideals",
                "topology": {"dims": [{"kind": kind, "size": RANKS, "link": {"rate": "100Gbps", "delay": "10ns"}}]},
                "workload": {"kind": "chakra", "prefix": "t",
                             "system": {"preferred-dataset-splits": 4, "num-queues-per-dim": queues}}}
    with open(f"{folder}/s.json", "w", encoding="utf-8") as file:
        json.dump(scenario, file)
    subprocess.run([COLLWIRE, "run", f"{folder}/s.json", "--quiet", "--out", f"{folder}/out"], check=True)
    with open(f"{folder}/out/metrics.json", encoding="utf-8") as file:
        return json.load(file)["collectives"][0]


def main():
    failed = 0
    for op, share in SENDS.items():
        for kind in ("ring", "dln"):
            for queues in (1, 2):
                with tempfile.TemporaryDirectory() as folder:
                    c = collective(folder, op, kind, queues)
                least_ns = share * BYTES * 8 / RATE * 1e9 / queues  # without headers
                good = 0.97 <= c["efficiency"] <= 1 and least_ns < c["ideal_ns"] < 1.05 * least_ns
                failed += not good
                if not good:
                    print(f"{op} {kind} {queues} queues: ideal {c['ideal_ns']} ns, bytes alone {least_ns:.0f} ns, "
                          f"took {c['duration_ns']} ns")
    print(f"{failed} of {4 * len(SENDS)} fail")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
