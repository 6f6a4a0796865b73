#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Training loops over the network in closed form, restated from the written rules and compared.

    check_astra.py small            our own small inputs, with numbers derived by hand
    check_astra.py random [N SEED]  N seeded random inputs against the restatement of astra_rules.py
    check_astra.py rows             inputs of ASTRA-sim 1.0 with the times measured on it
    check_astra.py columns          EndToEnd.csv and detailed.csv of ASTRA-sim 1.0, cell by cell
    check_astra.py samples          every input of tests/data/astra-sim is read as what it says

The restatement of astra_rules.py is by the same hands as the program: it guards against regressions, not
against misreading. `rows` are measured on the original.

What the rules leave open is not compared: a queue that two sources change in one nanosecond (ends of
phases of two dimensions, or the loop), rings split by a model-parallel group, initiating layers that
are checkpoints themselves, DLRM exchanges other than layer 0's, fewer bytes than chunks.
"""
import csv
import json
import os
import random
import subprocess
import sys
import tempfile

import astra_files
from astra_rules import FWD, IG, LOOPS, WG, Dim, orders

HERE = os.path.dirname(os.path.abspath(__file__))


# ---- files of ASTRA-sim ----


def read_network(path):
    with open(path) as file:
        net = json.load(file)
    rows = zip(
        net["topologies-per-dim"],
        net["units-count"],
        net["links-count"],
        net["link-latency"],
        net["link-bandwidth"],
    )
    dims = [Dim(*row) for row in rows]
    for i, d in enumerate(dims):
        d.choice = i
    return dims


def read_system(path):
    system = {
        "scheduling-policy": "LIFO",
        "endpoint-delay": 0,
        "active-chunks-per-dimension": 1,
        "preferred-dataset-splits": 1,
        "collective-optimization": "baseline",
        "intra-dimension-scheduling": "FIFO",
        "inter-dimension-scheduling": "ascending",
    }
    with open(path) as file:
        for line in file:
            if line.strip():
                key, value = (part.strip() for part in line.split(":"))
                system[key] = int(value) if value.isdigit() else value
                if key.endswith("implementation"):
                    system[key] = value.split("_")
    return system


def read_workload(path):
    with open(path) as file:
        lines = [line.split() for line in file if line.strip()]
    words = lines[0]
    w = {"keyword": words[0], "layers": []}
    if words[0].startswith("HYBRID_DLRM"):
        w["last_bottom"] = int(words[1])
    if words[0].startswith("HYBRID_TRANSFORMER"):
        w["group"] = int(words[2])
    if words[0] == "HYBRID_TRANSFORMER_FWD_IN_BCKWD":
        k = int(words[4])
        w["checkpoints"] = [int(x) for x in words[5 : 5 + k]]
        w["initiates"] = [int(x) for x in words[7 + k :]]
    for line in lines[2:]:
        layer = {
            "compute": [int(line[2 + 3 * p]) for p in range(3)],
            "comm": [(line[3 + 3 * p], int(line[4 + 3 * p])) for p in range(3)],
            "update": int(line[11]),
        }
        if len(line) > 12:
            layer["keyword"] = line[12]
        w["layers"].append(layer)
    return w


def collwire(folder, network, system, workload, passes, scale):
    """(finish, compute) in ns by the program."""
    program = os.environ["COLLWIRE"]
    scenario = os.path.join(folder, "s.json")
    words = ["import", "astra", network, system, workload, "-o", scenario]
    words += ["--passes", str(passes), "--compute-scale", str(scale)]
    subprocess.run([program] + words, check=True)
    out = os.path.join(folder, "out")
    subprocess.run([program, "run", scenario, "--out", out, "--quiet"], check=True)
    with open(os.path.join(out, "metrics.json")) as file:
        training = json.load(file)["training"]
    return training["total_ns"], training["compute_ns"]


def files_case(network, system, workload, passes, scale):
    return (read_network(network), read_system(system), read_workload(workload), passes, scale)


# ---- random inputs ----


def random_network(draw):
    dims = []
    for _ in range(draw.choice([1, 1, 2, 2, 3])):
        kind = draw.choice(["Ring", "Switch", "FullyConnected"])
        n = draw.choice([1, 2, 2, 3, 4, 4, 5, 6, 8])
        links = draw.choice([2, 4]) if kind == "Ring" else draw.choice([1, 2, 3])
        if kind == "FullyConnected":
            links *= max(n - 1, 1)
        if kind == "Ring" and n < 3:
            links = draw.choice([1, 2])
        dims.append((kind, n, links, draw.choice([0, 1, 50, 500, 700]), draw.choice([5, 25, 31, 50])))
    return dims


def network_text(dims):
    names = ["topologies-per-dim", "units-count", "links-count", "link-latency", "link-bandwidth"]
    net = {name: [d[i] for d in dims] for i, name in enumerate(names)}
    return json.dumps({"dimensions-count": len(dims)} | net)


def random_system(draw, dims):
    def algorithms(exchange, more=()):
        names = []
        for _, n, _, _, _ in dims[: max(1, len(dims) - draw.choice([0, 0, 0, 0, 1]))]:
            halves = [] if exchange or n & (n - 1) else ["halvingDoubling", *more]
            names.append(draw.choice(["ring", "direct"] + halves))
        return "_".join(names)

    rows = {
        "scheduling-policy": draw.choice(["LIFO", "FIFO"]),
        "endpoint-delay": draw.choice([0, 1, 10, 77]),
        "active-chunks-per-dimension": draw.choice([1, 1, 2, 3]),
        "preferred-dataset-splits": draw.choice([1, 2, 3, 4, 7, 16]),
        "boost-mode": draw.choice([0, 1]),
        "all-reduce-implementation": algorithms(False, ["doubleBinaryTree"]),
        "all-gather-implementation": algorithms(False),
        "reduce-scatter-implementation": algorithms(False),
        "all-to-all-implementation": algorithms(True),
        "collective-optimization": draw.choice(["baseline", "localBWAware"]),
        "intra-dimension-scheduling": draw.choice(["FIFO", "smallestFirst"]),
        "inter-dimension-scheduling": draw.choice(["ascending", "roundRobin", "offlineGreedy"]),
    }
    return "".join(f"{key}: {value}\n" for key, value in rows.items())


def random_group(draw, dims):
    """Complete dimensions from 0, and a part of a switched or fully connected one."""
    group, whole = 1, draw.randrange(len(dims) + 1)
    for d in dims[:whole]:
        group *= d[1]
    if whole < len(dims) and dims[whole][0] != "Ring":
        n = dims[whole][1]
        group *= draw.choice([f for f in range(1, n + 1) if n % f == 0])
    return group


def random_marks(draw, n):
    checkpoints = sorted({0} | {draw.randrange(n) for _ in range(2)})
    initiates = [k for k in range(n) if k not in checkpoints and draw.random() < 0.5]
    return checkpoints, initiates


def random_workload(draw, dims, keyword):
    n = draw.choice([1, 2, 3, 5])
    line = [keyword]
    if keyword.startswith("HYBRID_DLRM"):
        n = draw.choice([3, 4, 6])
        line.append(draw.randrange(n - 1))
    elif keyword.startswith("HYBRID_TRANSFORMER"):
        line += ["model_parallel_NPU_group:", random_group(draw, dims)]
        if keyword.endswith("BCKWD"):
            checkpoints, initiates = random_marks(draw, n)
            line += ["checkpoints:", len(checkpoints)] + checkpoints
            line += ["checkpoint_initiates:", len(initiates)] + initiates
    text = " ".join(map(str, line)) + f"\n{n}\n"
    for k in range(n):
        words = [f"layer{k}", -1]
        for part in (FWD, IG, WG):
            op = draw.choice(["NONE", "ALLREDUCE", "ALLTOALL", "ALLGATHER", "REDUCESCATTER"])
            if keyword.startswith("HYBRID_DLRM") and part != WG:
                op = draw.choice(["NONE", "ALLTOALL", "ALLTOALL"]) if k == 0 else "NONE"
            if keyword == "MICRO" and part == WG and op == "NONE":
                op = "ALLREDUCE"
            size = 0 if op == "NONE" else int(2 ** draw.uniform(12, 24))
            words += [draw.choice([0, draw.randrange(200), draw.randrange(200000)]), op, size]
        words.append(draw.choice([0, 1, 200]))
        if keyword == "HYBRID_CUSTOMIZED":
            words.append(draw.choice(["DATA", "MODEL", "HYBRID_DATA_MODEL", "HYBRID_MODEL_DATA"]))
        text += " ".join(map(str, words)) + "\n"
    return text


def write(path, text):
    with open(path, "w") as file:
        file.write(text)
    return path


def random_case(folder, seed):
    draw = random.Random(seed)
    dims = random_network(draw)
    keyword = list(LOOPS)[seed % len(LOOPS)]
    return (
        write(os.path.join(folder, "network.json"), network_text(dims)),
        write(os.path.join(folder, "system.txt"), random_system(draw, dims)),
        write(os.path.join(folder, "workload.txt"), random_workload(draw, dims, keyword)),
        draw.choice([1, 2, 3]),
        draw.choice([1, 1, 0.41, 1.7]),
    )


def check_random(count, first):
    compared = wrong = ambiguous = 0
    seed = first
    while compared < count:
        with tempfile.TemporaryDirectory() as folder:
            files = random_case(folder, seed)
            results, tied = orders(files_case(*files))
            if tied or len(results) > 1:
                ambiguous += 1
            else:
                compared += 1
                want, got = results.pop(), collwire(folder, *files)
                if want != got:
                    wrong += 1
                    print(f"seed {seed}: {got} where the rules say {want}")
                    if "-v" in sys.argv:
                        for path in files[:3]:
                            with open(path) as file:
                                print(file.read())
        seed += 1
    print(f"{compared} inputs compared, {wrong} differ; {ambiguous} left out: events in one ns")
    return wrong


# ---- recorded numbers ----


def check_files(rows, name):
    """rows: network, system, workload, passes, compute scale, finish, compute; name(kind, stem)."""
    wrong = 0
    for network, system, workload, passes, scale, *want in rows:
        files = (name("network", network), name("system", system), name("workload", workload))
        with tempfile.TemporaryDirectory() as folder:
            got = collwire(folder, *files, passes, scale)
        rules, _ = orders(files_case(*files, passes, scale))
        good = got == tuple(want) and got in rules
        print(f"{network} {system} {workload}: {got}, recorded {tuple(want)}, rules {rules}")
        wrong += not good
    return wrong


# Our own, in tests/data/astra-sim/small. Times in ns.
#
# ring4: T of a message = trunc(10 + bytes / 107.37). Layer 1 reduces 80000 B in 2 chunks: messages of
#   10000 B, T = 103, a chunk 6 T + 7 D = 688; layer 0's 40000 B: T = 56, a chunk 406. Loop: forward
#   100 + 1 + 300 + 1, weight gradient 500: layer 1 issues at 902; 1 + 400 + 1 + 200: layer 0 at 1504.
#   LIFO: chunk of 1 to 1590, both of 0 to 2402 (update delay 5), chunk of 1 to 3090, seen at 3097.
# pair: an all-reduce of 8000 B in 2 chunks, bandwidth-aware. Reduce-scatter by halving over a switch
#   of 4: 2000 and 1000 B in 274 and 237, with 3 delays 514; direct all-reduce of 1000 B between 2:
#   2 * 96 + 3 = 195; all-gather of 1000 B by doubling, as the all-reduce's list says: 514. Chunk A:
#   514, 709, waits for B's reduce-scatter until 1028, 1542; B: 1028, 1223, waits until 1542, 2056;
#   update delay 4.
SMALL = [
    ("ring4", "ring4", "mlp", 1, 1, 3097, 1500),
    ("pair", "pair", "micro", 1, 1, 2060, 0),
]
ENDS = {"network": ".json", "system": "_system.txt", "workload": "_workload.txt"}


def check_small():
    folder = os.path.join(astra_files.DATA, "small")
    return check_files(SMALL, lambda kind, stem: os.path.join(folder, stem + ENDS[kind]))


def check_rows():
    data = astra_files.figures()
    keys = ("network", "system", "workload", "passes", "compute_scale", "finish_ns", "compute_ns")
    rows = [tuple(row[key] for key in keys) for row in data["rows"]]
    with tempfile.TemporaryDirectory() as folder:
        return check_files(rows, lambda kind, stem: astra_files.write_file(
            folder, kind + "s", stem, data))


# Cells of the files that ASTRA-sim 1.0 (tag tutorial-isca2022) writes for ResNet-50 on the torus, in us.
# Columns as it names them; "wg exposed comm" only of the first layer, since it leaves what the last pass
# waits for at its end to that layer.
CELLS = {
    "EndToEnd.csv": {
        "conv1": {"fwd compute": 26.006, "wg compute": 64.582, "ig compute": 0, "wg exposed comm": 17.364,
                  "wg total comm": 17.366, "ig total comm": 0, "workload finished at": 4875.201},
        "layer_64_1_conv4": {"fwd compute": 6.912, "wg total comm": 4.796},
        "layer_64_1_conv1": {"wg total comm": 27.08},
        "layer_64_1_conv2": {"wg total comm": 47.906},
    },
    "detailed.csv": {
        "conv1": {"queuing delay phase 0": 0, "queuing delay phase 1": 1.8795,
                  "queuing delay phase 2": 0.5455, "queuing delay phase 3": 0,
                  "queuing delay phase 4": 0.137, "queuing delay phase 5": 2.3575,
                  "network delay phase 1": 0.035, "network delay phase 2": 0.018,
                  "network delay phase 3": 0.005, "network delay phase 4": 0.018,
                  "network delay phase 5": 0.035, "avg chunk delay dimension 1": 5.160194,
                  "avg chunk delay dimension 2": 2.582556, "avg chunk delay dimension 3": 1.298667},
        "layer_64_1_conv2": {"queuing delay phase 1": 6.8005, "queuing delay phase 2": 2.5125,
                             "queuing delay phase 3": 1.2645, "queuing delay phase 4": 3.2625,
                             "queuing delay phase 5": 6.7425, "network delay phase 1": 0.135,
                             "network delay phase 2": 0.068, "network delay phase 3": 0.017},
    },
}
# Messages of all ranks and both passes, 4 chunks, 64 ranks: 3 along a ring of 4, twice for an all-reduce.
MESSAGES = {"reduce_scatter": 2 * 4 * 64 * 3, "all_reduce": 2 * 4 * 64 * 6, "all_gather": 2 * 4 * 64 * 3}


def csv_rows(folder, name):
    with open(os.path.join(folder, "out", name), newline="") as file:
        return list(csv.DictReader(file))


def check_columns():
    data, wrong = astra_files.figures(), 0
    with tempfile.TemporaryDirectory() as folder:
        files = [astra_files.write_file(folder, kind, stem, data) for kind, stem in
                 (("networks", "sample_Torus3D"), ("systems", "torus_LIFO"),
                  ("workloads", "Resnet50_DataParallel"))]
        collwire(folder, *files, 2, 1)
        for name, layers in CELLS.items():
            rows = {row["layer"]: row for row in csv_rows(folder, name)}
            for layer, cells in layers.items():
                for column, want in cells.items():
                    got = rows[layer].get(column)
                    if not got or abs(float(got) - want) > 1e-6:
                        wrong += 1
                        print(f"{name}: {column} of {layer} is {got}, in ASTRA-sim {want}")
        for row in csv_rows(folder, "EndToEnd.csv"):
            if float(row["wg exposed comm"]) > float(row["wg total comm"]):
                wrong += 1
                print(f"{row['layer']}: more exposed than total communication")
        for row in csv_rows(folder, "phases.csv"):
            if int(row["messages"]) != MESSAGES[row["op"]]:
                wrong += 1
                print(f"phases.csv: {row['messages']} messages of {row['op']} of {row['layer']}")
    return wrong


def imported(folder, network, system, workload):
    """The scenario that `collwire import astra` makes, after validation; its errors as text."""
    path = os.path.join(folder, "s.json")
    words = [os.environ["COLLWIRE"], "import", "astra", network, system, workload, "-o", path]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        return None, done.stderr
    with open(path) as file:
        return json.load(file), ""


KINDS = {"Ring": "ring", "Switch": "switch", "FullyConnected": "fully_connected"}


def network_read(data, name, got):
    network = data["networks"][name]
    want = [(KINDS[k], n) for k, n in zip(network["topologies-per-dim"], network["units-count"])]
    return [(d["kind"], d["size"]) for d in got["topology"]["dims"]] == want


def system_read(data, name, got):
    splits = data["systems"][name]["preferred-dataset-splits"]
    return str(got["workload"]["system"]["preferred-dataset-splits"]) == splits


def workload_read(data, name, got):
    job, workload = got["workload"], data["workloads"][name]
    want = (workload["keyword"].split()[0], len(workload["layers"]))
    return (job["parallelism"], len(job["layers"])) == want


FITTING = {1: ("Ring16", "s1_ring"), 2: ("dgx2", "dgx2"), 3: ("sample_Torus3D", "torus_LIFO")}


def network_for(system):
    """A network with as many dimensions as the system has algorithms."""
    return FITTING[len(system["all-reduce-implementation"].split("_"))][0]


def system_for(network):
    return FITTING[network["dimensions-count"]][1]


def check_samples():
    """Each network, system and workload, combined with others that fit."""
    data, wrong = astra_files.figures(), 0
    cases = [(network_read, name, (name, system_for(network), "ar128"))
             for name, network in data["networks"].items()]
    cases += [(system_read, name, (network_for(system), name, "ar128"))
              for name, system in data["systems"].items()]
    cases += [(workload_read, name, ("sample_Torus3D", "torus_LIFO", name)) for name in data["workloads"]]
    for check, name, files in cases:
        with tempfile.TemporaryDirectory() as folder:
            got, said = imported(folder, *(astra_files.write_file(folder, kind, stem, data) for kind, stem
                                           in zip(("networks", "systems", "workloads"), files)))
        later = check is system_read and "not supported" in said
        if not later and not (got and check(data, name, got)):
            wrong += 1
            print(f"{name} is not read as what it says: {said or got}")
    print(f"{len(cases)} inputs, {wrong} wrong")
    return wrong


def main():
    mode = sys.argv[1]
    if mode == "rows":
        sys.exit(check_rows() > 0)
    if mode == "columns":
        sys.exit(check_columns() > 0)
    if mode == "samples":
        sys.exit(check_samples() > 0)
    if mode == "small":
        sys.exit(check_small() > 0)
    count, seed = (int(sys.argv[i]) if len(sys.argv) > i else n for i, n in ((2, 165), (3, 1)))
    sys.exit(check_random(count, seed) > 0)


if __name__ == "__main__":
    main()
