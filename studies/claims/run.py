#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How far the headline figures of README, docs and studies move when the assumptions that they were made under are drawn.

Each claim is a scenario, the ratios that the claim states, and assumptions with the values that clusters have. Every draw
takes one value of each assumption, runs all variants under it, and gives one row of data.csv. The ranges, and for each
ratio the assumption whose values part its rows most (the largest difference of medians), are README.md beside this file.

usage: run.py --collwire PROGRAM [--draws N] [--jobs N] [--check ROWS]
--check runs only so many rows of each claim again and compares them with data.csv: the same bytes or an error."""
import argparse
import concurrent.futures
import copy
import csv
import json
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
SPRAY = {"switch.routing.kind": "spray", "transport.recovery": "selective_repeat", "transport.reorder": 256}
NCCL = {"name": "e", "topology": {"machine": "dgx_h100", "nodes": 16, "fabric": {"kind": "leaf_spine", "ranks_per_leaf": 16, "spines": 16}},
        "switch": {"buffer": "64MB"}, "transport": {"kind": "roce", "ack_interval": 16}, "report": {"flows_max": 1},
        "workload": {"kind": "collective", "op": "all_reduce", "bytes": "128MB"}}
TEXTBOOK = {"workload.algorithm": ["ring", "ring"], "workload.schedule": "bandwidth_aware", "workload.chunks": 4}


def cc(kind, preset=None):
    return {"cc": {"kind": kind, **({"preset": preset} if preset else {})}}


def put(tree, path, value):
    """Set a key by its path; None removes it."""
    keys = path.replace("]", "").replace("[", ".").split(".")
    for key in keys[:-1]:
        tree = tree[int(key)] if isinstance(tree, list) else tree.setdefault(key, {})
    if value is None:
        tree.pop(keys[-1], None)
    else:
        tree[int(keys[-1]) if isinstance(tree, list) else keys[-1]] = value


def last_collectives(metrics, n):
    return statistics.fmean(c["duration_ns"] for c in metrics["collectives"][-n:])


def ring(metrics, draw):
    return last_collectives(metrics, 2 if draw.get("connections") == "warm" else 1)


# Assumptions: name -> {value's name: keys it sets}.
NOISE = {"none": {}, "cluster": {"noise.preset": "cluster"}}
WARM = {"cold": {}, "warm": {"workload.repeat": 4}}


def latency(path):
    return {"0": {}, "600ns": {path: "600ns"}}


CLAIMS = {
    "rail": {
        "scenario": "scenarios/collectives/rail.json", "time": ring, "base": "none",
        "variants": {"none": cc("none"), "swift": cc("swift"), "hpcc": cc("hpcc"), "dcqcn": cc("dcqcn"), "spray": {**cc("none"), **SPRAY}},
        "assumptions": {"connections": WARM, "noise": NOISE, "switch latency": latency("switch.latency"),
                        "trunk delay": {"default": {}, "5us": {"topology.dims[1].trunk.delay": "5us"}},
                        "buffer": {"default": {}, "8MB": {"switch.buffer": "8MB"}},
                        "ACK every": {"default": {}, "16": {"transport.ack_interval": 16}}}},
    "allreduce": {
        "scenario": "scenarios/reproduce/studies/allreduce-2026.json", "time": ring, "base": "none",
        "variants": {"none": cc("none"), "static": {**cc("none"), "topology.dims[1].switch.routing.kind": "static"},
                     "dcqcn nic": cc("dcqcn", "nic"), "dcqcn scaled": cc("dcqcn", "scaled"), "timely": cc("timely"), "hpcc": cc("hpcc")},
        "assumptions": {"connections": WARM, "noise": {"none": {}, "cluster": {"transport.start_jitter": None, "noise.preset": "cluster"}},
                        "switch latency": latency("topology.dims[1].switch.latency"),
                        "queue pairs": {"1": {}, "4": {"transport.qps_per_pair": 4, "transport.qp_scaling": "split",
                                                       "topology.dims[1].switch.routing.hash": "dst_qp"}},
                        "buffer": {"default": {}, "16MB": {"topology.dims[1].switch.buffer": "16MB"}}}},
    "victim": {
        "scenario": "scenarios/congestion/victim.json", "base": "none",
        "time": lambda m, _: next(f["delivered_ns"] for f in m["flows"] if f["src"] == 3),
        "variants": {"none": cc("none"), "window": cc("window"), "hpcc": cc("hpcc"), "swift": cc("swift"), "dcqcn nic": cc("dcqcn", "nic"),
                     "dcqcn scaled": cc("dcqcn", "scaled"), "timely": cc("timely")},
        "assumptions": {"buffer": {"default": {}, "1MB": {"switch.buffer": "1MB"}, "32MB": {"switch.buffer": "32MB"}},
                        "link delay": {"default": {}, "100ns": {"topology.dims[0].link.delay": "100ns"}, "5us": {"topology.dims[0].link.delay": "5us"}},
                        "ACK every": {"default": {}, "16": {"transport.ack_interval": 16}},
                        "MTU": {"default": {}, "4096B": {"transport.mtu": "4096B"}},
                        "PFC's alpha": {"default": {}, "1": {"switch.pfc.alpha": 1.0}}}},
    "dlrm": {
        "scenario": "scenarios/dlrm/dlrm-64.json", "base": "none",
        "time": lambda m, _: m["training"]["total_ns"] / len(m["training"]["iterations"]),
        "variants": {"none": cc("none"), "window": cc("window"), "dcqcn nic": cc("dcqcn", "nic"), "timely": cc("timely"),
                     "spray": {**cc("none"), "topology.dims[1].switch.routing": {"kind": "spray"}, "transport.recovery": "selective_repeat",
                               "transport.reorder": 256}},
        "assumptions": {"iterations": {"2": {}, "4": {"workload.iterations": 4}}, "noise": NOISE,
                        "switch latency": latency("topology.dims[1].switch.latency"),
                        "link delay": {"default": {}, "2us": {"topology.dims[1].link.delay": "2us"}},
                        "buffer": {"default": {}, "4MB": {"switch.buffer": "4MB"}}}},
    "nccl": {
        "scenario": NCCL, "time": lambda m, _: last_collectives(m, 1), "base": "nccl",
        "variants": {"nccl": {**cc("none"), "workload.library.kind": "nccl"}, "nccl dcqcn": {**cc("dcqcn"), "workload.library.kind": "nccl"},
                     "textbook": {**cc("none"), **TEXTBOOK}, "textbook dcqcn": {**cc("dcqcn"), **TEXTBOOK}},
        "assumptions": {"noise": NOISE, "switch latency": latency("switch.latency"), "buffer": {"64MB": {}, "16MB": {"switch.buffer": "16MB"}},
                        "queue pairs": {"1": {}, "4": {"workload.library.env": "NCCL_IB_QPS_PER_CONNECTION=4", "transport.qps_per_pair": 4,
                                                       "transport.qp_scaling": "split"}}}},
}


def draws_of(name, n):
    """The first draw is the claim as it is stated: seed 1, and the first value of every assumption."""
    rng, claim = random.Random(f"claims {name}"), CLAIMS[name]
    made = [{"seed": 1, **{key: next(iter(values)) for key, values in claim["assumptions"].items()}}]
    while len(made) < n + 1:
        made.append({"seed": rng.randint(2, 1000), **{key: rng.choice(list(values)) for key, values in claim["assumptions"].items()}})
    return made


def scenario_of(claim, draw, variant):
    made = copy.deepcopy(claim["scenario"]) if isinstance(claim["scenario"], dict) else json.loads((ROOT / claim["scenario"]).read_text())
    made.pop("$schema", None)
    made["seed"] = draw["seed"]
    for key, value in draw.items():
        for path, setting in (claim["assumptions"][key][value].items() if key != "seed" else ()):
            nccl = variant.startswith("nccl")  # NCCL has queue pairs of its own
            if not (path.startswith("workload.library.") and not nccl or path.startswith("transport.qp") and nccl):
                put(made, path, setting)
    for path, setting in claim["variants"][variant].items():
        put(made, path, setting)
    return made


def run(program, name, draw, variant):
    claim = CLAIMS[name]
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "s.json")
        path.write_text(json.dumps(scenario_of(claim, draw, variant)), encoding="utf-8")
        done = subprocess.run([program, "run", path, "--quiet", "--out", pathlib.Path(folder, "o")], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise RuntimeError(f"{name} {draw} {variant}: exit {done.returncode}: {done.stderr}")
        return claim["time"](json.loads(pathlib.Path(folder, "o", "metrics.json").read_text()), draw)


def rows_of(program, name, draws, jobs):
    variants = list(CLAIMS[name]["variants"])
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        times = list(pool.map(lambda at: run(program, name, *at), [(draw, variant) for draw in draws for variant in variants]))
    for i, draw in enumerate(draws):
        took = dict(zip(variants, times[i * len(variants):]))
        assumptions = " ".join(f"{key}={value}" for key, value in draw.items())
        yield {"claim": name, "draw": i, "assumptions": assumptions, "base_ns": f"{took[CLAIMS[name]['base']]:.0f}",
               "ratios": " ".join(f"{v.replace(' ', '_')}={took[v] / took[CLAIMS[name]['base']]:.4f}" for v in variants)}


FIELDS = ["claim", "draw", "assumptions", "base_ns", "ratios"]


def pairs(text, named=()):
    """"a=1 b c=2" as pairs; names may have spaces."""
    found, rest = {}, text
    for key in named:
        at = rest.index(f"{key}=")
        found[key] = rest[at + len(key) + 1:].split(" ")[0]
    return found


def moved_most(rows, variant, assumptions):
    """The assumption whose values part the ratios of a variant most, and by how much their medians differ."""
    best = ("", 0.0)
    for key in assumptions:
        groups = {}
        for row in rows:
            groups.setdefault(pairs(row["assumptions"], assumptions)[key], []).append(ratio(row, variant))
        medians = [statistics.median(group) for group in groups.values()]
        best = max(best, (key, max(medians) - min(medians)), key=lambda pair: pair[1])
    return best


def ratio(row, variant):
    return float(pairs(row["ratios"], [variant.replace(" ", "_")])[variant.replace(" ", "_")])


def write_page(rows):
    lines = ["# How far the headline figures move", "",
             "Ratios of times to that of the variant named, as stated (seed 1, the first value of each assumption) and over the draws of",
             "[run.py](run.py); `moved most by` is the assumption whose values part the draws most, with the difference of their medians.",
             "Made by `python3 studies/claims/run.py --collwire build/collwire`; the rows are in [data.csv](data.csv).", ""]
    for name, claim in CLAIMS.items():
        own = [row for row in rows if row["claim"] == name]
        if not own:
            continue
        drawn = own[1:]
        lines += [f"## {name}", "", f"{len(drawn)} draws of the seed and of: " + "; ".join(
            f"{key} ({', '.join(values)})" for key, values in claim["assumptions"].items()) + ".", "",
            f"| over {claim['base']} | as stated | least | median | most | moved most by |", "|---|---:|---:|---:|---:|---|"]
        for variant in claim["variants"]:
            if variant == claim["base"]:
                continue
            values = [ratio(row, variant) for row in drawn]
            key, by = moved_most(drawn, variant, claim["assumptions"])
            lines.append(f"| {variant} | {ratio(own[0], variant):.2f} | {min(values):.2f} | {statistics.median(values):.2f} | {max(values):.2f} | "
                         f"{key} ({by:.2f}) |")
        lines.append("")
    (HERE / "README.md").write_text("\n".join(lines), encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--collwire", required=True)
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--check", type=int)
    parser.add_argument("claims", nargs="*", default=[])
    options = parser.parse_args()
    data, made, wrong = HERE / "data.csv", [], 0
    known = {(row["claim"], row["draw"]): row for row in csv.DictReader(data.open(encoding="utf-8"))} if options.check else {}
    for name in options.claims or CLAIMS:
        draws = draws_of(name, options.draws)
        for row in rows_of(options.collwire, name, draws[:options.check] if options.check else draws, options.jobs):
            print(row["claim"], row["draw"], row["base_ns"], row["ratios"], flush=True)
            made.append({key: str(value) for key, value in row.items()})
            if options.check and known.get((row["claim"], str(row["draw"]))) != made[-1]:
                wrong += 1
                print(f"data.csv has {known.get((row['claim'], str(row['draw'])))}: run studies/claims/run.py anew, and read its page")
    if not options.check:
        with data.open("w", encoding="utf-8", newline="") as f:
            writer = csv.DictWriter(f, FIELDS, lineterminator="\n")
            writer.writeheader()
            writer.writerows(made)
        write_page(made)
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
