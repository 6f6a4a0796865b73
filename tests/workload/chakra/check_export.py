#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""An exported program runs as the program itself: metrics.json is byte for byte the same but for the
scenario and the name of the job's kind. What cannot be exported is an error, and leaves no files.

usage: check_export.py GOLDEN_FOLDER ASTRA2_DATA"""
import json
import os
import subprocess
import sys
import tempfile

from check_astra2 import cases_packed

COLLWIRE = os.environ.get("COLLWIRE", "build/collwire")


def collwire(*args, code=0):
    got = subprocess.run([COLLWIRE, *args], capture_output=True, text=True, check=False)
    assert got.returncode == code, (args, got.stderr)
    return got


def metrics(scenario, out, sets=()):
    collwire("run", scenario, "--out", out, "--quiet", *sets)
    with open(os.path.join(out, "metrics.json"), encoding="utf-8") as stream:
        result = json.load(stream)
    del result["scenario"]
    for job in result["jobs"]:
        del job["kind"]
    for program in result["programs"]:  # traces know no tokens
        for words in ("tokens_per_s", "samples_per_s", "mfu"):
            del program[words]
    result.pop("memory", None)  # nor shapes
    for slowest in [result["slowest"], *(job.get("slowest") or {} for job in result["jobs"])]:
        slowest.pop("iterations", None)  # nor iterations
    result["explain"] = [text for text in result["explain"] if not text.startswith("iteration ")]
    return json.dumps(result)


def same(scenario, *changes):
    sets = [word for change in changes for word in ("--set", change)]
    with tempfile.TemporaryDirectory() as folder:
        collwire("export", "chakra", scenario, "-o", os.path.join(folder, "t"), *sets)
        own = metrics(scenario, os.path.join(folder, "own"), sets)
        traced = metrics(os.path.join(folder, "t.json"), os.path.join(folder, "traced"))
        assert own == traced, (scenario, changes)


def written(folder, workload):
    """A scenario on one switch, and its metrics; and those of its export."""
    path = os.path.join(folder, "own.json")
    with open(path, "w", encoding="utf-8") as stream:
        json.dump({"name": "own", "topology": {"dims": [{"kind": "switch", "size": 8}]}, "cc": {"kind": "dcqcn"},
                   "workload": workload}, stream)
    collwire("export", "chakra", path, "-o", os.path.join(folder, "x"))
    return [json.loads(metrics(os.path.join(folder, name), os.path.join(folder, f"out-{name}")))
            for name in ("own.json", "x.json")]


def others(folder):
    """Collectives and messages become programs that take the same time."""
    for op in ("all_reduce", "all_gather", "all_to_all", "broadcast"):
        own, made = written(folder, {"kind": "collective", "op": op, "bytes": "4MB", "algorithm": "ring" if op != "broadcast" else "tree",
                                     "chunks": 4, "repeat": 3})
        times = [[(c["start_ns"], c["end_ns"]) for c in m["collectives"]] for m in (own, made)]
        assert times[0] == times[1] and len(times[0]) == 3, (op, times)
    own, made = written(folder, {"kind": "flows", "flows": [
        {"src": 0, "dst": 3, "bytes": "1MB"}, {"src": 1, "dst": 3, "bytes": "2MB", "start": "5us"},
        {"src": 2, "dst": 0, "bytes": "64KB", "start": "7us"}]})
    flows = [sorted((f["src"], f["dst"], f["bytes"], f["start_ns"], f["fct_ns"]) for f in m["flows"]) for m in (own, made)]
    assert flows[0] == flows[1] and len(flows[0]) == 3, flows
    own, made = written(folder, {"kind": "incast", "receiver": 2, "bytes": "300KB"})
    assert [m["flows_summary"]["bytes"] for m in (own, made)] == [2100000, 2100000]
    # The measured times of a recording stay.
    own, made = written(folder, {"kind": "program", "nodes": [
        {"rank": "all", "kind": "collective", "bytes": "1MB", "measured": "70us"}]})
    assert own["measured_collectives"] == made["measured_collectives"] and own["measured_collectives"]["measured_ns"] == 70000


def loop(keyword, **more):
    """A training job of six layers with everything a loop of this kind can have."""
    forward = {"op": "all_gather", "bytes": "100KB"} if keyword not in ("DATA", "HYBRID_DLRM") else {}
    back = {"op": "all_reduce", "bytes": "200KB"} if keyword not in ("DATA", "HYBRID_DLRM") else {}
    layers = [{"name": f"l{i}", "fwd": {"compute": "20us"} | forward, "ig": {"compute": "25us"} | back, "update_delay": "2us",
               "wg": {"compute": "30us", "op": "all_reduce", "bytes": f"{300 * (i + 1)}KB"}} for i in range(6)]
    if keyword == "HYBRID_TRANSFORMER":
        more["model_parallel"] = 8
    return {"kind": "training", "parallelism": keyword, "layers": layers, "iterations": 3, **more}


def training(folder):
    """Training loops take the same time and hide as much, to the nanosecond."""
    system = {"scheduling-policy": "LIFO", "all-reduce-implementation": "ring", "all-gather-implementation": "ring",
              "active-chunks-per-dimension": 1, "preferred-dataset-splits": 4}
    for keyword in ("DATA", "MODEL", "HYBRID_DATA_MODEL", "HYBRID_MODEL_DATA", "HYBRID_TRANSFORMER", "HYBRID_DLRM", "MICRO",
                    "DISTRIBUTED_INFERENCE"):
        for more in ({"stragglers": [{"rank": 3, "factor": 1.5}]}, {"system": system}):
            own, made = written(folder, loop(keyword, **more))
            times = [[m[key][name] for name in ("total_ns", "compute_ns", "exposed_comm_ns")]
                     for m, key in ((own, "training"), (made | {"program": made["programs"][0]}, "program"))]
            assert times[0] == times[1], (keyword, more, times)
    dlrm = {"kind": "training", "iterations": 2, "dlrm": {"batch": 64, "n_tables": 8, "rows": 1000, "dim": 16, "bottom": [64, 16], "top": [64, 1]}}
    own, made = written(folder, dlrm)
    assert own["training"]["total_ns"] == made["programs"][0]["total_ns"], (own["training"], made["programs"])


def main():
    golden, data = sys.argv[1:]
    program, llm = (os.path.join(golden, "program", name) for name in ("scenario.json", "llm.json"))
    same(program)
    same(program, "network=analytical", "workload.order=ready")
    same(llm)
    same(llm, "workload.expert=2", "workload.data=1", "workload.skew=0.7")  # uneven all-to-alls
    with tempfile.TemporaryDirectory() as folder:
        for case in cases_packed(data, folder):
            if case["case"] in ("rc000", "dims010_ring_3d_s1"):
                scenario = os.path.join(folder, case["case"] + ".json")
                groups = ["--groups", case["groups"]] if "groups" in case else []
                collwire("import", "chakra", case["trace"], "--network", case["network"],
                         "--system", case["system"], *groups, "-o", scenario)
                same(scenario)
        others(folder)
        training(folder)
        out = os.path.join(folder, "none")
        os.mkdir(out)
        got = collwire("export", "chakra", program, "-o", os.path.join(out, "t"), "--set",
                       'workload={"kind":"training","parallelism":"DATA","compute_jitter":0.1,"layers":[{"name":"a","fwd":{"compute":"1us"}}]}', code=2)
        assert "workload.compute_jitter" in got.stderr, got.stderr
        got = collwire("export", "chakra", program, "-o", os.path.join(out, "no", "t"), code=2)
        assert "cannot be written" in got.stderr, got.stderr
        assert not os.listdir(out), os.listdir(out)
    print("all as expected")


if __name__ == "__main__":
    main()
