# SPDX-License-Identifier: MIT
"""Tests the conclusions of studies/dlrm/README.md that follow from physics, on its smallest scenarios.

Each claim is a bound between runs or a count, none is a figure of a run. COLLWIRE is the binary.

Usage: check_dlrm.py [ROOT OF THE PROJECT]
"""
import os
import pathlib
import sys
import tempfile

ROOT = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "studies"))
sys.path.insert(0, str(ROOT / "studies/models"))
import make  # noqa: E402
from runner import Run, cc, execute  # noqa: E402

BINARY = pathlib.Path(os.environ.get("COLLWIRE", "collwire")).resolve()
DLRM, RANKS, SERVERS = "dlrm/dlrm-16", 16, 2
RESNET, ANALYTICAL = "models/resnet50-64", "network=analytical"
ONE_SWITCH = f'topology.dims[1]={{"kind":"switch","size":{SERVERS},"link":{{"rate":"200Gbps","delay":"500ns"}}}}'
SMALL = ("workload.iterations=1", "workload.dlrm.batch=64")
failures = []


def summary(metrics, _):
    embedding = [c for c in metrics["collectives"] if c["name"] == "embedding"]
    # An all-to-all's `bytes` are those of the rank that has most; a rank keeps one share of n. The closed
    # forms of ranks that are alike count none.
    uneven = [c["bytes"] / (c["phases"][0]["bytes"] / (c["ranks"] - 1)) for c in embedding
              if c["op"] == "all_to_all" and c["phases"][0]["bytes"] > 0]
    return {
        "status": metrics["status"],
        "total_ns": metrics["training"]["total_ns"],
        "compute_ns": metrics["training"]["compute_ns"],
        "embedding_bytes": sum(phase["bytes"] for c in embedding for phase in c["phases"]) / metrics["training"]["ranks"],
        "uneven": max(uneven, default=None),
        "marks": metrics["ecn"]["marked_packets"],
        "pauses": metrics["pfc"]["pause_frames"],
        "drops": metrics["drops"]["packets"],
    }


def result(scenario, *overrides):
    with tempfile.TemporaryDirectory() as folder:
        return execute(BINARY, Run(scenario, overrides, 1), summary, folder)


def claim(what, holds, seen):
    print(f"{'ok  ' if holds else 'FAIL'} {what}: {seen}")
    if not holds:
        failures.append(what)


def bounded(what, packets, closed, factor):
    ratio = packets["total_ns"] / closed["total_ns"]
    claim(f"{what}: completes, not below the closed forms nor above {factor} times them",
          packets["status"] == "completed" and 1 <= ratio <= factor, f"{ratio:.3f}")
    claim(f"{what}: the network changes no compute", packets["compute_ns"] == closed["compute_ns"],
          f"{packets['compute_ns']} ns")


def one_flow_a_link():
    """ResNet-50 over one switch a dimension: rings, so a link has one flow. Packets add headers, ACKs and
    the time to store a packet; there is nothing that a policy could react to."""
    closed = result(RESNET, ANALYTICAL)
    runs = {policy: result(RESNET, cc(policy)) for policy in ("none", "window", "dcqcn")}
    for policy, packets in runs.items():
        bounded(f"ResNet-50, {policy}", packets, closed, 1.25)
        ratio = packets["total_ns"] / runs["none"]["total_ns"]
        claim(f"ResNet-50: {policy} ties", abs(ratio - 1) < 0.01 and not packets["marks"] and not packets["pauses"],
              f"{ratio:.4f} of none's time, {packets['marks']} marks, {packets['pauses']} pauses")


def dlrm():
    """The closed forms let all messages of an all-to-all go at once; here they share NICs and trunks."""
    closed = result(DLRM, ANALYTICAL, ONE_SWITCH)
    sent = set()
    for policy in ("none", "window", "dcqcn", "hpcc"):
        packets = result(DLRM, cc(policy))
        bounded(f"DLRM, {policy}", packets, closed, 4)
        sent.add(packets["embedding_bytes"])
    claim("DLRM: a policy changes no bytes", len(sent) == 1, f"{sent}")


def shardings():
    runs = {name: result(DLRM, cc("none"), *SMALL, f"workload.dlrm.sharding={name}") for name in ("table", "column", "row")}
    rows, table = runs["row"]["embedding_bytes"], runs["table"]["embedding_bytes"]
    claim("row-wise: a rank sends as many times the bytes of table-wise as there are ranks",
          abs(rows / table / RANKS - 1) < 1e-3, f"{rows:.0f} of {table:.0f} B")
    claim("column-wise: the same bytes as table-wise",
          abs(runs["column"]["embedding_bytes"] / table - 1) < 1e-3, f"{runs['column']['embedding_bytes']:.0f} B")
    uneven = {name: runs[name]["uneven"] for name in ("table", "column", "row")}
    claim("26 tables on 16 ranks: the fullest has 2 of 26/16", abs(uneven["table"] - 2 * 16 / 26) < 1e-3,
          f"{uneven['table']:.4f}")
    claim("column-wise is more even than table-wise, row-wise is even",
          uneven["row"] < 1.001 < uneven["column"] < uneven["table"], f"{uneven}")


def global_buffer():
    """A ring between servers puts one flow on a port of the global switch, a flat all-reduce 56."""
    dense = ("workload.dlrm.sharding=data", "workload.dlrm.rows=1", "transport.start_jitter=10us", "transport.clock_ppm=100",
             "topology.dims[1].switch.pfc.enabled=false", "transport.rto=4194304ns")
    run = lambda implementation, buffer: result("dlrm/dlrm-global-buffer", *dense, f"topology.dims[1].switch.buffer={buffer}",
                                                f"workload.system.all-reduce-implementation={implementation}")
    small, large = run("ring_ring", "1MB"), run("ring_ring", "32MB")
    claim("hierarchical: 1 MB of a lossy switch is as good as 32", small["drops"] == 0 and
          abs(small["total_ns"] / large["total_ns"] - 1) < 0.01,
          f"{small['total_ns']} of {large['total_ns']} ns, {small['drops']} drops")
    flat = run("oneDirect", "1MB")
    claim("flat: 1 MB drops", flat["drops"] > 0 and flat["total_ns"] > large["total_ns"], f"{flat['drops']} drops")


def weights():
    for name, published, room in (("resnet50", 25.5e6, 0.1e6), ("vgg16", 138.3e6, 0.1e6)):
        count = make.weights(make.MADE[name].layers)
        claim(f"{name}: as many weights as published", abs(count - published) < room, f"{count}")
        file = ROOT / "scenarios/models" / make.MADE[name].file
        claim(f"{name}: the file is what the script makes", file.read_text() == make.text(make.MADE[name].layers),
              file.name)


one_flow_a_link()
dlrm()
shardings()
global_buffer()
weights()
sys.exit(1 if failures else 0)
