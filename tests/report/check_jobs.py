#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""jobs[] of metrics.json against the lists of flows, collectives and trainings of the same run."""
import json
import os
import subprocess
import tempfile

NETWORK = {"dims": [{"kind": "fat_tree", "size": 8, "tiers": 2, "radix": 4, "link": {"rate": "100Gbps", "delay": "500ns"}}]}
LAYERS = [{"name": "a", "fwd": {"compute": "5us"}, "ig": {"compute": "5us"},
           "wg": {"compute": "5us", "op": "all_reduce", "bytes": "200KB"}}]


def training(name, ranks, start):
    return {"kind": "training", "name": name, "ranks": ranks, "start": start, "iterations": 2,
            "parallelism": "DATA", "layers": LAYERS, "dims": [4]}


MIXED = [
    {"name": "left", "kind": "collective", "op": "all_reduce", "bytes": "100KB", "ranks": [0, 1, 2], "repeat": 3},
    {"name": "right", "kind": "collective", "op": "all_to_all", "algorithm": "direct", "bytes": "100KB",
     "ranks": [1, 2, 3], "start": "3us"},
    {"kind": "incast", "name": "raw", "senders": 5, "receiver": 7, "bytes": "50KB", "start": "1us"},
    {"kind": "flows", "name": "none", "flows": [{"src": 0, "dst": 3, "bytes": "50KB", "start": "1s"}]},
]


def run(workload, *sets):
    scenario = {"name": "jobs", "topology": NETWORK, "workload": workload, "cc": {"kind": "dcqcn"}}
    with tempfile.TemporaryDirectory() as tmp:
        path = os.path.join(tmp, "s.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(scenario, file)
        out = os.path.join(tmp, "out")
        subprocess.run([os.environ["COLLWIRE"], "run", path, "--out", out, "--quiet", *sets], check=False)
        with open(os.path.join(out, "metrics.json"), encoding="utf-8") as file:
            return json.load(file)


def near(a, b):
    return abs(a - b) <= 1e-6 * abs(b) + 1


def stats(values):
    """Nearest-rank percentiles."""
    values = sorted(values)
    at = {p: values[-(-len(values) * p // 100) - 1] for p in (50, 95, 99)}
    return {"min": values[0], "mean": sum(values) / len(values), "p50": at[50], "p95": at[95], "p99": at[99],
            "max": values[-1]}


def check_job(metrics, j):
    job = metrics["jobs"][j]
    flows = [f for f in metrics["flows"] if f["job"] == j]
    done = [f for f in flows if f["status"] == "completed"]
    collectives = [c for c in metrics["collectives"] if c["job"] == j and c["end_ns"] is not None]
    assert job["job"] == j and job["messages"] == len(flows), (job, len(flows))
    assert job["bytes"] == sum(f["bytes"] for f in flows), job
    for key in ("fct_ns", "slowdown"):
        wanted = stats([f[key] for f in done]) if done else dict.fromkeys(("min", "mean", "p50", "p95", "p99", "max"))
        for name, value in wanted.items():
            found = job[key][name]
            assert found == value if value is None else abs(found - value) <= 1e-5 * value + (key == "fct_ns"), (key, name)
    assert job["collectives"] == len(collectives), job
    for key, of in (("collective_ns", "duration_ns"), ("busbw_bps", "busbw_bps"), ("efficiency", "efficiency")):
        if collectives and job["status"] == "completed":
            assert near(job[key], sum(c[of] for c in collectives) / len(collectives)), (key, job)
        else:
            assert job[key] is None, job
    if job["status"] == "completed":
        ends = [c["end_ns"] for c in collectives] or [f["start_ns"] + f["fct_ns"] for f in done]
        trains = [t for t in trainings(metrics) if t["job"] == j]
        end = job["start_ns"] + trains[0]["total_ns"] if trains else max(ends)
        assert near(job["end_ns"], end) and job["time_ns"] == job["end_ns"] - job["start_ns"], (job, end)
    else:
        assert job["end_ns"] is None and job["time_ns"] is None, job


def trainings(metrics):
    return [metrics["training"]] if metrics["training"] else [j["training"] for j in metrics["jobs"] if j["training"]]


def check(metrics, statuses):
    assert [j["status"] for j in metrics["jobs"]] == statuses, [j["status"] for j in metrics["jobs"]]
    for j in range(len(statuses)):
        check_job(metrics, j)
    total = sum(j["messages"] for j in metrics["jobs"])
    assert total == metrics["flows_summary"]["count"] == len(metrics["flows"]), total


mixed = run(MIXED, "--set", "duration=200us")
check(mixed, ["completed", "completed", "completed", "running"])
assert mixed["training"] is None and all(j["training"] is None for j in mixed["jobs"])
assert [j["name"] for j in mixed["jobs"]] == ["left", "right", "raw", "none"]
check(run(MIXED[:1]), ["completed"])
one = run([training("t", [0, 1, 2, 3], "2us"), MIXED[2]])
check(one, ["completed", "completed"])
assert one["training"]["name"] == "t" and one["jobs"][0]["training"] is None
two = run([training("t", [0, 1, 2, 3], "2us"), training("u", [4, 5, 6, 7], "0us")])
check(two, ["completed", "completed"])
assert two["training"] is None and [j["training"]["name"] for j in two["jobs"]] == ["t", "u"]
assert two["jobs"][0]["start_ns"] == 2000 and len(two["jobs"][1]["training"]["layers"]) == 1
# A run that ends before a job: two of three collectives have ended, and their mean is not the job's.
cut = run([MIXED[0] | {"name": name, "repeat": n, "ranks": ranks} for name, n, ranks in (("cut", 3, [0, 1, 2]), ("whole", 2, [4, 5, 6]))],
          "--set", "limits.sim_time=60us")
check(cut, ["running", "completed"])
assert cut["jobs"][0]["collectives"] == 2 and cut["jobs"][0]["busbw_bps"] is None and cut["jobs"][1]["busbw_bps"] > 0, cut["jobs"]
print("jobs agree with flows, collectives and trainings")
