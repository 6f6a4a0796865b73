#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Made sets against the sets they are like, on networks of which the model knows nothing.

usage: fidelity.py SCENARIOS [--seeds K] [--quick] [--table], with the executable in $COLLWIRE.

Sources: a transformer with noise in its times and a slow rank, one with experts, and Chakra traces. Each is run on three
networks with K seeds, and so is a set made from it with each seed. The means of total time and exposed share, and the bytes
of each use, must be within 5 %. (Where paths are chosen by hashes and flows are few, as in the fat tree, a change of times by
1 % changes who collides with whom, and the total of a single run by several per cent.) --quick: the first source alone, and
smaller.
--table prints the table of docs/synth.md.
"""
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile

COLLWIRE = os.environ["COLLWIRE"]
LIMIT = 0.05
FAILED = []

MODELS = {
    "transformer, 16 ranks": {"kind": "llm", "model": "gpt_13b", "layers": 8, "tensor": 2, "pipeline": 2, "data": 4,
                              "micro_batch": 1, "global_batch": 16, "sequence": 1024},
    "experts, 16 ranks": {"kind": "llm", "model": "mixtral_8x7b", "layers": 4, "tensor": 2, "expert": 4, "data": 2,
                          "micro_batch": 1, "global_batch": 16, "sequence": 1024},
    "replicas, 16 ranks": {"kind": "llm", "model": "custom", "hidden": 1024, "heads": 8, "vocabulary": 8192, "layers": 8,
                           "tensor": 1, "data": 16, "micro_batch": 8, "global_batch": 256, "sequence": 2048},
}

QUICK = {"transformer, 8 ranks": {"kind": "llm", "model": "gpt_13b", "layers": 4, "tensor": 2, "pipeline": 2, "data": 2,
                                  "micro_batch": 1, "global_batch": 4, "sequence": 512}}


def networks(ranks):
    link, fast = {"rate": "200Gbps", "delay": "1us"}, {"rate": "400Gbps", "delay": "500ns"}
    return {
        "leaf-spine, Ultra Ethernet, NSCC": {
            "topology": {"dims": [{"kind": "leaf_spine", "size": ranks, "ranks_per_leaf": ranks // 4, "spines": 4, "link": link, "trunk": link}]},
            "transport": {"kind": "uec"}, "cc": {"kind": "nscc"}},
        "switch, TCP, CUBIC": {
            "topology": {"dims": [{"kind": "switch", "size": ranks, "link": {"rate": "100Gbps", "delay": "5us"}}]},
            "transport": {"kind": "tcp"}, "cc": {"kind": "cubic"}},
        "fat tree, RoCE, HPCC": {
            "topology": {"dims": [{"kind": "fat_tree", "size": ranks, "link": fast, "trunk": fast}]},
            "transport": {"kind": "roce"}, "cc": {"kind": "hpcc"}},
    }


def expect(what, holds):
    print(("ok: " if holds else "NOT: ") + what)
    if not holds:
        FAILED.append(what)


def write(path, value):
    with open(path, "w", encoding="utf-8") as file:
        json.dump(value, file)
    return path


def run(folder, scenario):
    """(total ns, exposed share, bytes of each use) of a scenario file."""
    out = os.path.join(folder, "out")
    subprocess.run([COLLWIRE, "run", scenario, "--quiet", "--out", out], check=True)
    with open(os.path.join(out, "metrics.json"), encoding="utf-8") as file:
        program = json.load(file)["programs"][0]
    return program["total_ns"], program["exposed_share"], {use["name"]: use["bytes"] for use in program["uses"]}


def noisy(nodes, seed):
    """Times times a lognormal of deviation 10 %; rank 5 takes 15 % longer, and one of 200 computations hangs for a while."""
    draw = random.Random(seed)
    lines = []
    with open(nodes, encoding="utf-8") as file:
        for line in file:
            node = json.loads(line)
            if node.get("kind") == "compute":
                factor = draw.lognormvariate(0, 0.1) * (1.15 if node["rank"] == 5 else 1) * (3 if draw.random() < 0.005 else 1)
                node["time"] = f"{int(int(node['time'][:-2]) * factor)}ps"
            lines.append(json.dumps(node))
    with open(nodes, "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")


def source_of(folder, name, model):
    """A scenario with the noisy program of a model."""
    network = next(iter(networks(8 if "8 ranks" in name else 16).values()))
    plain = write(os.path.join(folder, "model.json"), network | {"name": "source", "workload": model})
    nodes = os.path.join(folder, "source.jsonl")
    subprocess.run([COLLWIRE, "workload", "llm", plain, "-o", nodes], check=True)
    noisy(nodes, len(name))
    return network | {"name": "source", "workload": {"kind": "program", "file": nodes, "comm_streams": 5}}


def chakra(scenarios):
    with open(os.path.join(scenarios, "chakra", "gpt.json"), encoding="utf-8") as file:
        scenario = json.load(file)
    scenario.pop("$schema", None)
    job = scenario["workload"]
    for key in ("prefix", "comm_groups"):
        job[key] = os.path.join(os.path.abspath(scenarios), "chakra", job[key])
    return scenario


def difference(made, source):
    return made / source - 1 if source else 0.0


def spread(values):
    """The largest distance of a value from the mean, over the mean."""
    return max(abs(difference(value, statistics.mean(values))) for value in values)


def compare(folder, name, source, seeds):
    """Rows (source, network, values) of one source: means over seeds of the source's runs and of those of a made set each."""
    like, ranks, rows = os.path.join(folder, "like.json"), 8 if "8 ranks" in name else 16, []
    for net, parts in networks(ranks).items():
        network = write(os.path.join(folder, "network.json"), parts | {"name": "n"})
        theirs, ours = [], []
        for seed in range(1, seeds + 1):
            path = write(os.path.join(folder, "source.json"), source | parts | {"seed": seed})
            theirs.append(run(folder, path))
            subprocess.run([COLLWIRE, "synth", path, "-o", like, "--network", network, "--quiet"], check=True)
            ours.append(run(folder, like))
        totals = [[each[0] for each in runs] for runs in (theirs, ours)]
        shares = [statistics.mean(each[1] for each in runs) for runs in (theirs, ours)]
        total, share = difference(*(statistics.mean(each) for each in reversed(totals))), difference(shares[1], shares[0])
        sizes = max(abs(difference(mine[2].get(use, 0), sent)) for own, mine in zip(theirs, ours) for use, sent in own[2].items())
        rows.append((name, net, statistics.mean(totals[0]), spread(totals[0]), shares[0], total, share, sizes))
        expect(f"{name} on {net}: total {100 * total:+.1f} % (seeds of the set itself: {100 * spread(totals[0]):.1f} %), exposed share "
               f"{100 * shares[0]:.1f} % {100 * share:+.1f} %, bytes {100 * sizes:.1f} %",
               abs(total) <= LIMIT and abs(share) <= LIMIT and sizes <= LIMIT)
    return rows


def print_table(rows):
    print("\n| set | network | total, its seeds | exposed | made: total | exposed | bytes of each use |\n|---|---|---|---|---|---|---|")
    for name, net, mean, wide, exposed, total, share, sizes in rows:
        print(f"| {name} | {net} | {mean / 1e6:.2f} ms ± {100 * wide:.1f} % | {100 * exposed:.1f} % | {100 * total:+.1f} % | "
              f"{100 * share:+.1f} % | {100 * sizes:.1f} % |")


def main():
    scenarios = sys.argv[1]
    seeds = int(sys.argv[sys.argv.index("--seeds") + 1]) if "--seeds" in sys.argv else 2
    with tempfile.TemporaryDirectory() as folder:
        rows = []
        for name, model in MODELS.items() if "--quick" not in sys.argv else QUICK.items():
            rows += compare(folder, name, source_of(folder, name, model), seeds)
        rows += compare(folder, "Chakra traces, 8 ranks", chakra(scenarios), seeds)
    if "--table" in sys.argv:
        print_table(rows)
    if FAILED:
        sys.exit(f"{len(FAILED)} of {len(rows)} comparisons failed")


if __name__ == "__main__":
    main()
