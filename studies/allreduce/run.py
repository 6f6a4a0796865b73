#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes the tables of docs/study-allreduce.md.

Every row is a committed scenario with overrides, under a policy, with one seed or several:
`run.py --show` prints each as a command line. A finished run is kept in --out under a hash of
simulator, scenario, overrides and seed, so that a second call makes only what is missing.
"""
import pathlib
import re
import shlex
import sys
import typing

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import runner  # noqa: E402
from runner import Run, cc, mean, size, spread  # noqa: E402

PER_ACK = "transport.cnp=per_ack"
POLICIES = {  # label in the tables: overrides
    "none": [cc("none")],
    "window": [cc("window", k=1)],
    "dcqcn+w": [cc("dcqcn", preset="khan2022"), PER_ACK],
    "dcqcn": [cc("dcqcn", preset="khan2022", window_bdp=0), PER_ACK],
    "dcqcn scaled": [cc("dcqcn", preset="scaled")],
    "dctcp+w": [cc("dctcp", preset="khan2022")],
    "dctcp": [cc("dctcp", preset="khan2022", window_bdp=0)],
    "timely+w": [cc("timely", preset="scaled", window_bdp=1)],
    "timely": [cc("timely", preset="scaled")],
    "hpcc": [cc("hpcc", preset="khan2022")],
    "swift": [cc("swift")],
    "powertcp": [cc("powertcp")],
}
SIX = ["none", "window", "dcqcn+w", "dctcp+w", "timely+w", "hpcc"]
BARE = ["dcqcn", "dctcp", "timely"]

STATIC = "switch.routing.kind=static"
ONE = ["workload.bytes=32MB", "workload.chunks=1"]
ONE_EACH = [f"workload[{job}].{setting}" for job in (0, 1) for setting in ("bytes=16MB", "chunks=1")]
FAILED = 'faults=[{"at":"leaf0->spine0","down":"0us","detect":"0us"}]'
NVSWITCH_ECN_OFF = 'topology.dims[0].switch={"ecn":{"enabled":false}}'
STRIDED = "workload.mapping=strided"
FRESH = "transport.qp=per_message"
A2A = "workload.bytes=16MB"


class Case(typing.NamedTuple):
    """Rows that differ by policy alone."""
    name: str
    scenario: str
    overrides: list
    policies: list
    seeds: int = 1


TABLES = {
    "full": [
        Case("1D", "collectives/allreduce-1d-128", [STATIC], SIX + BARE),
        Case("2D", "collectives/allreduce-2d-128", [STATIC], SIX + BARE),
        Case("2D, all chunks at once", "collectives/allreduce-2d-128", [STATIC, "workload.active_chunks=4"],
             ["none", "window", "dcqcn+w", "hpcc"]),
    ],
    "nvswitch-ecn": [
        Case("2D, no marks in NVSwitches", "collectives/allreduce-2d-128", [STATIC, *ONE, NVSWITCH_ECN_OFF],
             ["none", *BARE, "dcqcn scaled"]),
        Case("2D", "collectives/allreduce-2d-128", [STATIC, *ONE], ["none", *BARE, "dcqcn scaled"]),
    ],
    "ecmp-1d": [
        Case("1D, collision-free", "collectives/allreduce-1d-128", [STATIC, *ONE], ["none"]),
        Case("1D, ECMP", "collectives/allreduce-1d-128", ONE, SIX + BARE, 10),
    ],
    "ecmp-2d": [
        Case("2D, collision-free", "collectives/allreduce-2d-128", [STATIC, *ONE], ["none"]),
        Case("2D, ECMP", "collectives/allreduce-2d-128", ONE, SIX + BARE + ["dcqcn scaled"], 10),
        Case("2D, ECMP, 128 MB", "collectives/allreduce-2d-128", [], ["none", "dcqcn+w", "hpcc"], 3),
        Case("2D, ECMP, 128 MB, all chunks at once", "collectives/allreduce-2d-128", ["workload.active_chunks=4"],
             ["none", "window", "dcqcn+w", "hpcc"], 3),
    ],
    "qp": [
        Case("persistent", "collectives/allreduce-2d-128", ONE, ["none", "dcqcn+w", "dctcp+w", "timely+w", "hpcc"], 5),
        Case("per message", "collectives/allreduce-2d-128", [*ONE, FRESH],
             ["none", "dcqcn+w", "dctcp+w", "timely+w", "hpcc"], 5),
    ],
    "mapping": [
        Case("1D strided, collision-free", "collectives/allreduce-1d-128", [STATIC, *ONE, STRIDED], SIX),
        Case("1D strided, ECMP", "collectives/allreduce-1d-128", [*ONE, STRIDED],
             ["none", "window", "dcqcn+w", "hpcc"], 3),
    ],
    "flat": [
        Case("1D, no NVSwitch", "collectives/allreduce-1d-128-flat", [STATIC, *ONE], SIX),
        Case("2D, no NVSwitch", "collectives/allreduce-2d-128-flat", [STATIC, *ONE], SIX),
        Case("1D, no NVSwitch, 128 MB", "collectives/allreduce-1d-128-flat", [STATIC],
             ["none", "dcqcn+w"]),
        Case("2D, no NVSwitch, 128 MB", "collectives/allreduce-2d-128-flat", [STATIC],
             ["none", "window", "dcqcn+w"]),
    ],
    "failed": [
        Case("2D, whole", "collectives/allreduce-2d-128", [STATIC, *ONE], SIX),
        Case("2D, one uplink failed", "collectives/allreduce-2d-128", [STATIC, *ONE, FAILED],
             SIX + ["dcqcn scaled"]),
    ],
    "jobs": [
        Case("collision-free", "collectives/allreduce-two-jobs-128", [STATIC, *ONE_EACH],
             SIX + ["dcqcn scaled"]),
        Case("ECMP", "collectives/allreduce-two-jobs-128", ONE_EACH, SIX + ["dcqcn scaled"], 5),
    ],
    "alltoall": [
        Case("8 in flight, collision-free", "collectives/alltoall-128", [A2A, STATIC], ["none"]),
        Case("8 in flight, ECMP", "collectives/alltoall-128", [A2A],
             SIX + BARE + ["dcqcn scaled", "swift", "powertcp"], 3),
        Case("all in flight, ECMP", "collectives/alltoall-128", [A2A, "workload.in_flight=auto"],
             SIX + BARE + ["dcqcn scaled"]),
    ],
    "messages": [case for size in ("8MB", "32MB", "128MB") for case in (
        Case(f"{size}, collision-free", "collectives/alltoall-32", [f"workload.bytes={size}", STATIC], ["none"]),
        Case(f"{size}, ECMP", "collectives/alltoall-32", [f"workload.bytes={size}"], SIX + BARE, 3))],
    "repeat": [
        Case("persistent", "collectives/alltoall-32", ["workload.repeat=4"], SIX + ["dcqcn scaled"], 5),
        Case("per message", "collectives/alltoall-32", ["workload.repeat=4", FRESH], SIX + ["dcqcn scaled"], 5),
    ],
}


def runs(case, policy):
    return [Run(case.scenario, (*case.overrides, *POLICIES[policy]), seed)
            for seed in range(1, case.seeds + 1)]


def span(collectives):
    return max(c["end_ns"] for c in collectives) - min(c["start_ns"] for c in collectives)


def summary(metrics, _run=None):
    """What the tables show of a run; of two jobs at once the slower, of repetitions all together."""
    jobs = {}
    for collective in metrics["collectives"]:
        jobs.setdefault(collective["job"], []).append(collective)
    slowest = max(jobs.values(), key=span)
    took = span(slowest)
    inside = [s["max_bytes"] for s in metrics["queues"]["switches"] if ".sw" in s["at"]]
    fabric = [s["max_bytes"] for s in metrics["queues"]["switches"] if ".sw" not in s["at"]]
    return {
        "status": metrics["status"],
        "duration_ns": took,
        "busbw_bps": sum(c["busbw_bps"] * c["duration_ns"] for c in slowest) / took,
        "queue_inside": max(inside, default=None),
        "queue_fabric": max(fabric, default=None),
        "marks": metrics["ecn"]["marked_packets"],
        "cnps": metrics["cnps"],
        "cuts": metrics["cc_cuts"],
        "pauses": metrics["pfc"]["pause_frames"],
        "drops": metrics["drops"]["packets"],
        "explain": metrics["explain"],
    }


def row(name, policy, results, plain):
    """`plain`: the results of `none` with the same seeds."""
    times = [r["duration_ns"] / 1e6 for r in results]
    ratios = [a["duration_ns"] / b["duration_ns"] for a, b in zip(results, plain)]
    pick = lambda key: [r[key] for r in results]
    worst = lambda key: max((v for v in pick(key) if v is not None), default=None)
    return [name, policy, spread(times, 3), f"{max(times):.3f}" if len(times) > 1 else "",
            "1" if policy == "none" else spread(ratios, 3),
            f"{mean(pick('busbw_bps')) / 1e9:.1f}",
            size(worst("queue_fabric")), size(worst("queue_inside")),
            *(f"{mean(pick(key)):.0f}" for key in ("marks", "cnps", "pauses"))]


HEAD = ["case", "policy", "time, ms", "worst, ms", "over none", "busbw, Gb/s", "queue, fabric",
        "queue, NVSwitch", "marks", "CNPs", "pauses"]


def table(cases, cache):
    """Commands and rows in Markdown; None where runs are missing."""
    lines, rows = ["```sh"], []
    for case in cases:
        seeds = f"--seed 1  # and 2 to {case.seeds}" if case.seeds > 1 else "--seed 1"
        lines += runner.example(case.name, case.scenario, case.overrides, f"POLICY {seeds}")
        found = {policy: [cache.get(run) for run in runs(case, policy)] for policy in case.policies}
        if any(None in results for results in found.values()):
            return None
        rows += [row(case.name, policy, results, found["none"]) for policy, results in found.items()]
    return "\n".join([*lines, "```", "", runner.markdown(HEAD, rows)])


def collisions(cache):
    """The ECMP runs in 2D by the number of flows on the fullest uplink, as `none` reports it."""
    case = next(case for case in TABLES["ecmp-2d"] if case.seeds == 10)
    groups = {}
    for seed in range(case.seeds):
        found = {policy: cache.get(runs(case, policy)[seed]) for policy in SIX}
        if None in found.values():
            return None
        uneven = re.search(r"carried ([0-9.]+) times the mean", " ".join(found["none"]["explain"]))
        groups.setdefault(round(float(uneven[1])), []).append(found)
    lines = [f"| flows on the fullest uplink | seeds | 30 steps of that uplink, ms | {' | '.join(SIX)} |",
             "|---:" * (3 + len(SIX)) + "|"]
    for flows, seeds in sorted(groups.items()):
        bound = 30 * flows * 250 * 1082 * 8 / 200e9 * 1e3  # 250 packets of 1082 B a message
        times = (mean([found[policy]["duration_ns"] for found in seeds]) / 1e6 for policy in SIX)
        lines.append(f"| {flows} | {len(seeds)} | {bound:.3f} | {' | '.join(f'{t:.3f}' for t in times)} |")
    return "\n".join(lines)


def policies():
    lines = ["| policy | in place of POLICY |", "|---|---|"]
    lines += [f"| {name} | `{shlex.join(w for o in overrides for w in ('--set', o))}` |"
              for name, overrides in POLICIES.items()]
    return "\n".join(lines)


def texts(chosen, cache):
    made = {"policies": policies(), **{name: table(TABLES[name], cache) for name in chosen}}
    if "ecmp-2d" in made:
        made["collisions"] = collisions(cache)
    return made


if __name__ == "__main__":
    wanted = {name: [run for case in cases for policy in case.policies for run in runs(case, policy)]
              for name, cases in TABLES.items()}
    sys.exit(runner.main("allreduce", __doc__, wanted, summary, lambda result: result["duration_ns"], texts))
