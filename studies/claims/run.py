#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How far the headline figures of README, docs and studies move when the assumptions that they were made under are drawn.

Each claim is a scenario, the ratios that the claim states, and assumptions with the values that clusters have. Every draw
takes one value of each assumption, runs all variants under it, and gives one row of data.csv. The ranges, and for each
ratio the assumption whose values part its rows most (the largest difference of medians), are README.md beside this file.

usage: run.py --collwire PROGRAM [--draws N] [--jobs N] [--check ROWS [--variants NAME,..]] [CLAIM ..], or --page
Claims that are named are run and the rows of the others kept. --check runs only so many rows of each claim again, or some of
their variants, and compares them with data.csv, and this with README.md: the same bytes or an error. --page writes README.md
from data.csv without runs."""
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
sys.path.insert(0, str(HERE.parent))
from ranges import STEPS, Ranges, pairs, ratio, step  # noqa: E402
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


# The closed form knows no tiers: one switch in their place.
CLOSED_FORM = {"network": "analytical", "topology.dims[1].kind": "switch", "topology.dims[1].ranks_per_leaf": None,
               "topology.dims[1].spines": None, "topology.dims[1].trunk": None}
NO_LATENCY = {**CLOSED_FORM, "topology.dims[0].link.delay": "0ns", "topology.dims[1].link.delay": "0ns", "topology.dims[1].switch.latency": None}
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
        "scenario": "scenarios/reproduce/studies/dlrm.json", "base": "none",
        "time": lambda m, _: m["training"]["total_ns"] / len(m["training"]["iterations"]),
        "variants": {"none": cc("none"), "no latency": NO_LATENCY, "closed form": CLOSED_FORM,
                     # 64 ports need more headroom than 4 MB have.
                     "one switch": {"topology.dims[1].ranks_per_leaf": 64, "topology.dims[1].spines": 1, "switch.buffer": "32MB"},
                     "static": {"topology.dims[1].switch.routing": {"kind": "static"}},
                     "spray": {"topology.dims[1].switch.routing": {"kind": "spray"}, "transport.recovery": "selective_repeat",
                               "transport.reorder": 256},
                     "window": cc("window"), "dcqcn nic": cc("dcqcn", "nic"), "dcqcn scaled": cc("dcqcn", "scaled"), "timely": cc("timely"),
                     "hpcc": cc("hpcc")},
        "assumptions": {"iterations": {"2": {}, "4": {"workload.iterations": 4}},
                        "noise": {"none": {}, "cluster": {"transport.start_jitter": None, "noise.preset": "cluster"}},
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


def rows_of(program, name, draws, jobs, variants=()):
    variants = [v for v in CLAIMS[name]["variants"] if not variants or v in (*variants, CLAIMS[name]["base"])]
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        times = list(pool.map(lambda at: run(program, name, *at), [(draw, variant) for draw in draws for variant in variants]))
    for i, draw in enumerate(draws):
        took = dict(zip(variants, times[i * len(variants):]))
        assumptions = " ".join(f"{key}={value}" for key, value in draw.items())
        yield {"claim": name, "draw": i, "assumptions": assumptions, "base_ns": f"{took[CLAIMS[name]['base']]:.0f}",
               "ratios": " ".join(f"{v.replace(' ', '_')}={took[v] / took[CLAIMS[name]['base']]:.4f}" for v in variants)}


FIELDS = ["claim", "draw", "assumptions", "base_ns", "ratios"]


def line(name, claim, of, *more):
    values = claim.values(of)
    key, by = claim.moved_most(of)
    cells = [name, *(f"{value:.2f}" for value in (of(claim.stated), min(values), statistics.median(values), max(values))), *more, f"{key} ({by:.2f})"]
    return f"| {' | '.join(cells)} |"


def page_of(rows):
    lines = ["# How far the headline figures move", "",
             "Ratios of times to that of the variant named, as stated (seed 1, the first value of each assumption) and over the draws of",
             "[run.py](run.py); `moved most by` is the assumption whose values part the draws most, with the difference of their medians.",
             "Made by `python3 studies/claims/run.py --collwire build/collwire`; the rows are in [data.csv](data.csv).", ""]
    for name in dict.fromkeys(row["claim"] for row in rows):
        claim, of = CLAIMS[name], Ranges(name, rows)
        lines += [f"## {name}", "", f"{len(of.drawn)} draws of the seed and of: " + "; ".join(
            f"{key} ({', '.join(values)})" for key, values in claim["assumptions"].items()) + ".", "",
            f"| over {claim['base']} | as stated | least | median | most | moved most by |", "|---|---:|---:|---:|---:|---|"]
        lines += [line(variant, of, ratio(variant)) for variant in claim["variants"] if variant != claim["base"]]
        if name in STEPS:
            steps = {key: step(*ends) for key, ends in STEPS[name].items()}
            largest = of.largest(steps)
            lines += ["", f"What each step takes longer than the one before, as a share of the time of {claim['base']}: " + "; ".join(
                f"{key} ({ends[0]} to {ends[1]})" for key, ends in STEPS[name].items()) + ".", "",
                "| step | as stated | least | median | most | largest in draws | moved most by |", "|---|---:|---:|---:|---:|---:|---|"]
            lines += [line(key, of, steps[key], str(largest[key])) for key in steps]
        lines.append("")
    return "\n".join(lines)


def differs(row, stored):
    """Whether a row, perhaps of some variants only, is not what data.csv has."""
    fields = [{key: value for key, value in of.items() if key != "ratios"} for of in (row, stored)]
    return fields[0] != fields[1] or not set(pairs(row["ratios"]).items()) <= set(pairs(stored["ratios"]).items())


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--collwire")
    parser.add_argument("--page", action="store_true")
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--check", type=int)
    parser.add_argument("--variants", type=lambda text: text.split(","), default=())
    parser.add_argument("claims", nargs="*", default=[])
    options = parser.parse_args()
    if not options.collwire and not options.page or options.variants and not options.check:
        parser.error("--collwire or --page is missing, or --variants has no --check")
    data, page, made, wrong = HERE / "data.csv", HERE / "README.md", [], 0
    stored = list(csv.DictReader(data.open(encoding="utf-8")))
    if options.page:
        page.write_text(page_of(stored), encoding="utf-8")
        return 0
    known = {(row["claim"], row["draw"]): row for row in stored}
    chosen = options.claims or list(CLAIMS)
    for name in chosen:
        draws = draws_of(name, options.draws)
        for row in rows_of(options.collwire, name, draws[:options.check] if options.check else draws, options.jobs, options.variants):
            print(row["claim"], row["draw"], row["base_ns"], row["ratios"], flush=True)
            made.append({key: str(value) for key, value in row.items()})
            if options.check and differs(made[-1], known[row["claim"], str(row["draw"])]):
                wrong += 1
                print(f"data.csv has {known[row['claim'], str(row['draw'])]}: run studies/claims/run.py anew, and read its page")
    if options.check:
        if page.read_text(encoding="utf-8") != page_of(stored):
            wrong += 1
            print("README.md is not what data.csv gives: run studies/claims/run.py --page")
        return bool(wrong)
    made += [row for row in stored if row["claim"] not in chosen]
    made.sort(key=lambda row: (list(CLAIMS).index(row["claim"]), int(row["draw"])))
    with data.open("w", encoding="utf-8", newline="") as f:
        writer = csv.DictWriter(f, FIELDS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(made)
    page.write_text(page_of(made), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
