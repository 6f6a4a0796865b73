#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""collwire partition: scenarios that are written run, and are never worse than an equal split; refusals.

usage: check_partition.py, with the executable in $COLLWIRE.
"""
import json
import os
import random
import subprocess
import sys
import tempfile

COLLWIRE = os.environ["COLLWIRE"]
FAILED = []


def expect(what, holds):
    print(("ok: " if holds else "NOT: ") + what)
    if not holds:
        FAILED.append(what)


def call(*args):
    return subprocess.run([COLLWIRE, *args], capture_output=True, text=True, check=False)


def write(folder, name, value):
    path = os.path.join(folder, name)
    with open(path, "w", encoding="utf-8") as file:
        json.dump(value, file)
    return path


def read(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def run(folder, path):
    """The metrics of a scenario."""
    out = os.path.join(folder, "out")
    subprocess.run([COLLWIRE, "run", path, "--quiet", "--out", out], check=True)
    return read(os.path.join(out, "metrics.json"))


def cnn(ranks, **more):
    return {"name": "layers", "topology": {"dims": [{"kind": "switch", "size": ranks,
                                                     "link": {"rate": "100Gbps", "delay": "1us"}}]},
            "workload": {"kind": "cnn", "batch": 16, **more}}


def projected(folder, scenario, stages):
    made = json.loads(json.dumps(scenario))
    made["workload"] |= {"strategy": "pipeline", "stages": stages}
    return run(folder, write(folder, "stages.json", made))["programs"][0]["projected_ns"]


def check_layers(folder):
    """Stages of a pipeline: written, run, and in the job's own closed form not above equal ones."""
    for model, ranks, layers in (("resnet50", 8, 56), ("vgg16", 4, 21), ("cosmoflow", 3, 13)):
        scenario = cnn(ranks, model=model, strategy="data")
        path, out = write(folder, "cnn.json", scenario), os.path.join(folder, "pipeline.json")
        got = call("partition", path, "--parts", str(ranks), "-o", out)
        assert got.returncode == 0, got.stderr
        made = read(out)["workload"]
        expect(f"{model}: a pipeline of {ranks} stages", made["strategy"] == "pipeline" and len(made["stages"]) == ranks)
        equal = [i * layers // ranks + 1 for i in range(ranks)]
        ours = run(folder, out)["programs"][0]["projected_ns"]
        for other, name in ((equal, "equal"), (made["stages"], "the same")):
            theirs = projected(folder, scenario, other)
            expect(f"{model}: {ours} ns, {name} stages {theirs} ns", ours <= theirs)
        expect(f"{model}: written twice alike",
               call("partition", path, "--parts", str(ranks)).stdout == call("partition", path, "--parts", str(ranks)).stdout)


def graph(seed):
    made = random.Random(seed)
    n = made.randrange(5, 60)
    names = [f"op{i}" for i in range(n)]
    made.shuffle(names)
    edges = [{"from": names[a], "to": names[b], "bytes": made.randrange(200000)}
             for a, b in (sorted(made.sample(range(n), 2)) for _ in range(2 * n))]
    listed = sorted(names)
    return {"operators": [{"name": v, "time_ns": made.randrange(20000), "memory_bytes": made.randrange(1 << 20)} for v in listed],
            "edges": edges}


def check_written(g, job, parts):
    """Every operator is once in the program with its time, and every edge between ranks a message."""
    nodes = job["nodes"]
    rank = {n["name"]: n["rank"] for n in nodes if n["kind"] == "compute"}
    times = {n["name"]: n["time"] for n in nodes if n["kind"] == "compute"}
    cut = sorted((rank[e["from"]], rank[e["to"]], max(1, e["bytes"])) for e in g["edges"] if rank[e["from"]] != rank[e["to"]])
    sent = sorted((n["rank"], n["to"], int(n["bytes"][:-1])) for n in nodes if n["kind"] == "send")
    received = sorted((n["from"], n["rank"]) for n in nodes if n["kind"] == "recv")
    return (len(rank) == len(g["operators"]) == sum(n["kind"] == "compute" for n in nodes)
            and set(rank.values()) == set(range(parts)) and sent == cut and received == [c[:2] for c in cut]
            and all(times[o["name"]] == f"{o['time_ns'] * 1000}ps" for o in g["operators"]))


def topological(g):
    """Operators behind all that they depend on; those without a dependency first, as listed."""
    missing = {o["name"]: sum(e["to"] == o["name"] for e in g["edges"]) for o in g["operators"]}
    order = [name for name, n in missing.items() if n == 0]
    for name in order:
        for e in g["edges"]:
            if e["from"] == name:
                missing[e["to"]] -= 1
                if missing[e["to"]] == 0:
                    order.append(e["to"])
    return order


def closed_form(g, rank):
    """ns of the rank with the most to compute, and of all bytes between ranks on a link of 400 Gbit/s."""
    busy = {}
    for o in g["operators"]:
        busy[rank[o["name"]]] = busy.get(rank[o["name"]], 0) + o["time_ns"]
    return max(busy.values()) + sum(e["bytes"] for e in g["edges"] if rank[e["from"]] != rank[e["to"]]) * 8 / 400


def check_operators(folder):
    """Programs of random graphs complete, and compute as long as their operators."""
    for seed in range(12):
        g, parts = graph(seed), 2 + seed % 4
        path, out = write(folder, "graph.json", g), os.path.join(folder, "program.json")
        got = call("partition", path, "--parts", str(parts), "-o", out)
        assert got.returncode == 0, got.stderr
        job = read(out)["workload"]
        expect(f"graph {seed}: the program has its operators and edges", check_written(g, job, parts))
        ours = closed_form(g, {n["name"]: n["rank"] for n in job["nodes"] if n["kind"] == "compute"})
        equal = closed_form(g, {name: i * parts // len(g["operators"]) for i, name in enumerate(topological(g))})
        expect(f"graph {seed}: {ours:.0f} ns in closed form, an equal split {equal:.0f} ns", ours <= equal)
        metrics = run(folder, out)
        computed = sum(r["compute_ns"] for r in metrics["ranks"])
        expect(f"graph {seed}: completed, {computed} ns of computing", metrics["status"] == "completed"
               and abs(computed - sum(o["time_ns"] for o in g["operators"])) <= parts)
    text = call("partition", path, "--parts", "3").stdout
    expect("stdout has the scenario alone", json.loads(text)["workload"]["kind"] == "program")
    one = call("partition", write(folder, "few.json", {"operators": [{"name": str(i), "time_ns": i} for i in range(6)]}),
               "--parts", "6")
    expect("as many ranks as operators, on stdout alone", json.loads(one.stdout)["workload"]["kind"] == "program")
    slow = {**g, "topology": {"dims": [{"kind": "switch", "size": 8, "link": {"rate": "1Gbps", "delay": "1us"}}]},
            "cc": {"kind": "dcqcn"}}
    made = json.loads(call("partition", write(folder, "slow.json", slow), "--parts", "2").stdout)
    expect("the graph's topology and policy", made["topology"]["dims"][0]["size"] == 8 and made["cc"]["kind"] == "dcqcn")


def dlrm(ranks, tables, **more):
    return {"name": "tables", "topology": {"dims": [{"kind": "switch", "size": ranks,
                                                     "link": {"rate": "100Gbps", "delay": "1us"}}]},
            "workload": {"kind": "training", "dlrm": {"batch": 256, "tables": tables, "bottom": [64, 32], "top": [64, 1]} | more}}


def tables_ns(made, rank, ranks):
    """Lookups three times at 1555 GB/s, vectors twice at 100 Gbit/s, of the ranks with the most."""
    looked, sent = [0] * ranks, [0] * ranks
    for t, r in zip(made, rank):
        looked[r] += t["dim"] * t["pooling"]
        sent[r] += t["dim"]
    elements = 256 * ranks * 4
    return 3 * elements * max(looked) / 1555 + 2 * elements * max(sent) * (ranks - 1) / ranks * 8 / 100


def check_tables(folder):
    """Tables by cost: written and run, never above equal numbers, and shorter over packets."""
    for seed in range(4):
        made, ranks = random.Random(seed), 4
        tables = [{"rows": made.randrange(1000, 100000), "dim": made.choice([16, 32, 64, 128]), "pooling": made.choice([1, 2, 20, 400])}
                  for _ in range(14)]
        path, out = write(folder, "dlrm.json", dlrm(ranks, tables)), os.path.join(folder, "placed.json")
        got = call("partition", path, "--parts", str(ranks), "-o", out)
        assert got.returncode == 0, got.stderr
        placed = read(out)["workload"]["dlrm"]["placement"]
        equal = [i * ranks // 14 for i in range(14)]
        ours, theirs = tables_ns(tables, placed, ranks), tables_ns(tables, equal, ranks)
        expect(f"tables {seed}: {ours:.0f} ns in closed form, equal numbers {theirs:.0f} ns", ours <= theirs)
        packets = run(folder, out)["sim_time_ns"]
        as_equal = run(folder, write(folder, "equal.json", dlrm(ranks, tables, placement=equal)))["sim_time_ns"]
        expect(f"tables {seed}: {packets} ns over packets, equal numbers {as_equal} ns", packets <= as_equal)
    for bad, message in (({"placement": [0]}, "placement: lists 1 ranks"), ({"placement": [0] * 13 + [4]}, "placement[13]: must be a rank from 0 to 3"),
                         ({"placement": [0] * 14, "sharding": "row"}, "placement: belongs to")):
        got = call("validate", write(folder, "bad.json", dlrm(ranks, tables, **bad)))
        expect(f"{bad}: {got.stderr.strip()}", got.returncode == 2 and "workload.dlrm." + message in got.stderr)
    refused(folder, "tables without a rank of their own", dlrm(ranks, tables, sharding="row"), "workload.dlrm.sharding: must be table", parts="4")
    refused(folder, "tables on other ranks", dlrm(ranks, tables), "--parts: the tables are on the job's 4 ranks", parts="3")
    big = dlrm(ranks, [{"rows": 1000000, "dim": 128, "pooling": 1}]) | {"memory": {"capacity": "100MB", "fit": "off"}}
    refused(folder, "a table that fits nowhere", big, "memory.capacity: no placement", parts="4")


def refused(folder, what, model, message, parts="2", path=None):
    out = os.path.join(folder, "refused.json")
    got = call("partition", path or write(folder, "bad.json", model), *(["--parts", parts] if parts else []), "-o", out)
    lines = [line for line in got.stderr.splitlines() if line]
    expect(f"{what}: {got.stderr.strip()}", got.returncode == 2 and len(lines) == 1 and message in lines[0]
           and not os.path.exists(out) and got.stdout == "")


def check_refusals(folder):
    ops = [{"name": n, "time_ns": 1} for n in "abc"]

    def edge(a, b, size=1):
        return {"from": a, "to": b, "bytes": size}
    refused(folder, "a cycle", {"operators": ops, "edges": [edge("a", "b"), edge("b", "c"), edge("c", "b")]},
            "edges: the operators depend on each other in a cycle: b -> c -> b")
    refused(folder, "an edge to itself", {"operators": ops, "edges": [edge("a", "a")]}, "edges[0].to: ")
    refused(folder, "an unknown operator", {"operators": ops, "edges": [edge("a", "z")]},
            'edges[0].to: no operator is called "z"')
    refused(folder, "a negative size", {"operators": ops, "edges": [edge("a", "b", -1)]}, "edges[0].bytes: -1 is not from 0")
    refused(folder, "a negative time", {"operators": [{"name": "a", "time_ns": -3}, ops[1]]}, "operators[0].time_ns: -3 is not from 0")
    refused(folder, "a name twice", {"operators": ops + ops[:1]}, "operators[3].name: ")
    refused(folder, "an unknown key", {"operators": [{**ops[0], "color": 1}, ops[1]]}, "operators[0].color: ")
    refused(folder, "no operators", {"operators": []}, "operators: must not be empty")
    refused(folder, "more ranks than operators", {"operators": ops}, "--parts: there are 3 operators", parts="4")
    refused(folder, "memory", {"operators": [{**o, "memory_bytes": 10} for o in ops], "capacity_bytes": 19},
            "capacity_bytes: no division among 2 ranks")
    refused(folder, "a workload besides", {"operators": ops, "workload": {"kind": "collective"}}, "workload: ")
    refused(folder, "more ranks than layers", cnn(64, model="vgg16"), "workload.strategy: pipeline can use at most", parts="64")
    refused(folder, "other ranks than the job's", cnn(8, model="vgg16"), "--parts: a pipeline has a stage for each rank", parts="4")
    refused(folder, "no number of parts", cnn(8, model="vgg16"), "--parts: is required", parts=None)
    refused(folder, "an llm job", {"workload": {"kind": "llm"}}, "workload: the layers of an llm job are alike")
    refused(folder, "another job", {"workload": {"kind": "collective"}}, "workload: partition takes")
    refused(folder, "no file", None, "cannot be opened", path=os.path.join(folder, "none.json"))
    both = call("partition", write(folder, "bad.json", {"operators": [{"name": "a", "time_ns": -1}, {"name": "b"}]}), "--parts", "2")
    expect("all errors at once", both.returncode == 2 and len(both.stderr.splitlines()) == 2)


def check_stages(folder):
    """`stages` of a cnn job as a scenario has them."""
    def validate(stages, **more):
        job = cnn(2, model="vgg16", **({"strategy": "pipeline"} | more), stages=stages)
        return call("validate", write(folder, "job.json", job))
    for good in (["conv1_1", "fc6"], [1, 4], ["conv1_1", 21]):
        expect(f"stages {good}", validate(good).returncode == 0)
    for bad, message in ((["conv1_1"], "stages: lists 1 stages"), (["conv1_2", "fc6"], "stages[0]: the first stage begins"),
                         (["conv1_1", "conv9"], "stages[1]: no layer"), ([1, 22], "stages[1]: must be a layer from 2 to 21"),
                         ([1, 1], "stages[1]: must be a layer from 2"), ([1, 2.5], "stages[1]: must be a layer, by its name"),
                         ("conv1_1", "stages: ")):
        got = validate(bad)
        expect(f"stages {bad}: {got.stderr.strip()}", got.returncode == 2 and "workload." + message in got.stderr)
    expect("stages under another strategy", "workload.stages: belongs to" in validate([1, 2], strategy="data").stderr)


with tempfile.TemporaryDirectory() as scratch:
    check_layers(scratch)
    check_operators(scratch)
    check_tables(scratch)
    check_refusals(scratch)
    check_stages(scratch)
sys.exit(1 if FAILED else 0)
