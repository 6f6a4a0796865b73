#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Defaults, against the same said in full: a key that is left out gives the bytes of its default written out, where the
default hangs on other keys of the scenario. Alone this shows them; some 2 s. usage: check_defaults.py"""
import json
import os
import subprocess
import sys
import tempfile

COLLWIRE = os.path.abspath(os.environ.get("COLLWIRE", "build/collwire"))
failures = []


def expect(holds, what):
    if not holds:
        failures.append(what)
        print("FAILED:", what)


def call(*words):
    done = subprocess.run([COLLWIRE, *words], capture_output=True, text=True, check=False, timeout=120)
    return done.returncode, done.stdout, done.stderr


def run(tmp, scenario, *more):
    path, out = os.path.join(tmp, "s.json"), os.path.join(tmp, "out")
    with open(path, "w", encoding="utf-8") as f:
        json.dump({"name": "s", **scenario}, f)
    code, _, said = call("run", path, "--quiet", "--out", out, *more)
    expect(code == 0, f"{scenario}: exit {code}, {said}")
    with open(os.path.join(out, "metrics.json"), encoding="utf-8") as f:
        return json.load(f)


def same(tmp, short, full, *more):
    """Both give the same results, and the same resolved scenario."""
    one, two = run(tmp, short, *more), run(tmp, full, *more)
    expect(one == two, f"{short} is not {full}: {one['sim_time_ns']} and {two['sim_time_ns']} ns")
    return one


TWO = {"dims": [{"kind": "switch", "size": 4}, {"kind": "switch", "size": 3}]}


def over_dimensions(tmp):
    """A plain collective on dimensions that no other one joins: each runs its own algorithm, hierarchically. An all-reduce
    of n bytes over 4 x 3 ranks at equal rates then takes n (2 * 3/4 + 1/4 * 2 * 2/3) / rate, by baseline
    n (2 * 3/4 + 2 * 2/3) / rate (Rashidi et al., ISPASS 2020), and ACKs and steps a few percent."""
    ideal = {"bandwidth_aware": 16e6 * 8 / 100 * (1.5 + 1 / 3), "baseline": 16e6 * 8 / 100 * (1.5 + 4 / 3)}
    job = {"kind": "collective", "op": "all_reduce", "bytes": "16MB"}
    full = {"algorithm": ["ring", "ring"], "schedule": "bandwidth_aware"}
    made = same(tmp, {"topology": TWO, "workload": job}, {"topology": TWO, "workload": job | full})
    expect(1 <= made["sim_time_ns"] / ideal["bandwidth_aware"] < 1.06, f"hierarchical: {made['sim_time_ns']} ns")
    slow = run(tmp, {"topology": TWO, "workload": job | {"schedule": "baseline"}})
    expect(1 <= slow["sim_time_ns"] / ideal["baseline"] < 1.06, f"baseline: {slow['sim_time_ns']} ns")
    for op in ("reduce_scatter", "all_gather", "all_to_all"):
        same(tmp, {"topology": TWO, "workload": job | {"op": op}}, {"topology": TWO, "workload": job | full | {"op": op}})


def unequal_vectors(tmp):
    """DLRM's tables on a machine of several dimensions."""
    job = {"kind": "training", "dlrm": {"batch": 64, "bottom": [16, 16], "top": [8, 1], "dim": 16, "n_tables": 9}}
    zion = {"machine": "zion", "nodes": 2}
    short = run(tmp, {"topology": zion, "workload": job})
    full = {"system": {"all-to-all-implementation": "oneDirect", "collective-optimization": "localBWAware"}}
    long = run(tmp, {"topology": zion, "workload": job | full})
    expect(short["training"] == long["training"], "DLRM on zion")


def trunks(tmp):
    leaf = {"kind": "leaf_spine", "size": 8, "ranks_per_leaf": 4, "spines": 4, "link": {"rate": "400Gbps", "delay": "2us"}}
    job = {"kind": "permutation", "bytes": "100KB", "shift": 4}
    for trunk in ({}, {"delay": "2us"}, {"rate": "400Gbps"}):
        same(tmp, {"topology": {"dims": [{**leaf, "trunk": trunk} if trunk else leaf]}, "workload": job},
             {"topology": {"dims": [{**leaf, "trunk": leaf["link"]}]}, "workload": job})


def machines(tmp):
    job = {"kind": "collective", "op": "all_reduce", "bytes": "1MB"}
    same(tmp, {"topology": {"machine": "dgx_h100", "nodes": 4, "fabric": {"kind": "rail", "spines": 8}}, "workload": job},
         {"topology": {"machine": "dgx_h100", "nodes": 4, "fabric": {"kind": "rail", "gpus_per_server": 8, "spines": 8}}, "workload": job})
    nodes = {"machine": "dgx_a100", "nodes": 2}
    for word in ("Simple", "SIMPLE"):
        same(tmp, {"topology": nodes, "workload": job | {"library": {"kind": "nccl", "proto": word}}},
             {"topology": nodes, "workload": job | {"library": {"kind": "nccl", "proto": "simple"}}})


NETWORK = {"topology-name": "Hierarchical", "topologies-per-dim": ["Ring", "Ring"], "dimension-type": ["N", "N"],
           "dimensions-count": 2, "units-count": [2, 4], "links-count": [2, 2], "link-latency": [500, 500],
           "link-bandwidth": [12.5, 25], "nic-latency": [0, 0], "router-latency": [0, 0], "hbm-latency": [500, 500],
           "hbm-bandwidth": [370, 370], "hbm-scale": [0, 0]}
SYSTEM = "scheduling-policy: LIFO\nendpoint-delay: 10\npreferred-dataset-splits: 2\nall-reduce-implementation: oneRing\n"
WORKLOAD = "MICRO\n1\nar -1 1 NONE 0 1 NONE 0 1 ALLREDUCE 1048576 1\n"


def astra(tmp):
    """topology.astra by hand and `import astra` of the same files take the same time in closed form: a message between
    ranks that differ in both dimensions crosses the last one alone."""
    files = {"network": json.dumps(NETWORK), "system": SYSTEM, "workload": WORKLOAD}
    for name, text in files.items():
        with open(os.path.join(tmp, name), "w", encoding="utf-8") as f:
            f.write(text)
    at = {name: os.path.join(tmp, name) for name in files}
    code, text, said = call("import", "astra", *at.values())
    expect(code == 0, f"import: {said}")
    imported = json.loads(text)
    made = run(tmp, {**imported, "name": "s"})
    by_hand = {"network": "analytical", "topology": {"astra": "network"}, "workload": imported["workload"]}
    expect(run(tmp, by_hand)["sim_time_ns"] == made["sim_time_ns"], f"topology.astra: not {made['sim_time_ns']} ns")
    other = run(tmp, {**by_hand, "analytical_route": "all_dims"})
    expect(other["sim_time_ns"] > made["sim_time_ns"], "the route makes a difference")


def main():
    with tempfile.TemporaryDirectory() as tmp:
        for part in (over_dimensions, unequal_vectors, trunks, machines, astra):
            part(tmp)
    print("failed" if failures else "all as expected")
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
