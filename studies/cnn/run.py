#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Strategies of training convolutional networks on 16 to 1,024 GPUs: projection against packets. Writes data.csv beside
this file, and the tables of docs/cnn.md.

usage: run.py [--jobs N] [--tables] [--most RANKS], with the executable in $COLLWIRE; --tables prints them from data.csv
without runs, --most leaves larger networks as they are in data.csv.
"""
import argparse
import concurrent.futures
import csv
import json
import os
import pathlib
import subprocess
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
COLUMNS = ("model", "strategy", "ranks", "batch", "time_us", "projected_us", "compute_us", "communication_us", "accuracy",
           "one_switch_us", "memory_gb")
MODELS = ("resnet50", "vgg16", "cosmoflow")
SAMPLES = {"resnet50": 32, "vgg16": 32, "cosmoflow": 2}  # of a GPU under data parallelism
RANKS = (16, 64, 256, 1024)
SERVER = 4  # GPUs that divide filters or a domain in the strategies with data parallelism


def cases():
    for model in MODELS:
        few = SAMPLES[model]
        for ranks in RANKS:
            yield model, "data", ranks, few * ranks, {}
            yield model, "data_filter", ranks, few * ranks // SERVER, {"parts": SERVER}
            yield model, "data_spatial", ranks, few * ranks // SERVER, {"parts": SERVER}
            if ranks <= 64:
                yield model, "spatial", ranks, few, {}
                if not (model == "cosmoflow" and ranks > 32):
                    yield model, "filter", ranks, few, {}
                    yield model, "channel", ranks, few, {}
        yield model, "pipeline", 4, few * 4, {"segments": 8}


def scenario(model, strategy, ranks, batch, more, fabric):
    dim = {"kind": "switch", "size": ranks} if not fabric or ranks <= 16 else {
        "kind": "leaf_spine", "size": ranks, "ranks_per_leaf": 16, "spines": 16}
    return {
        "name": f"{model}-{strategy}-{ranks}",
        "topology": {"dims": [dim | {"link": {"rate": "100Gbps", "delay": "500ns"}}]},
        "switch": {"buffer": "64MB"},
        "cc": {"kind": "dcqcn"},
        "workload": {"kind": "cnn", "model": model, "strategy": strategy, "batch": batch, "overlap": False, **more},
        "report": {"flows_max": 1},
    }


def total(made):
    with tempfile.TemporaryDirectory() as folder:
        file, out = os.path.join(folder, "scenario.json"), os.path.join(folder, "out")
        with open(file, "w", encoding="utf-8") as to:
            json.dump(made, to)
        subprocess.run([os.environ.get("COLLWIRE", "build/collwire"), "run", file, "--quiet", "--out", out], check=True)
        with open(os.path.join(out, "metrics.json"), encoding="utf-8") as source:
            return json.load(source)["programs"][0]


def run(case):
    model, strategy, ranks, batch, more = case
    p = total(scenario(*case, True))
    alone = p if ranks <= 16 else total(scenario(*case, False))
    return dict(zip(COLUMNS, (model, strategy, ranks, batch, round(p["total_ns"] / 1e3, 1), round(p["projected_ns"] / 1e3, 1),
                              round(p["projected_compute_ns"] / 1e3, 1), round(p["projected_communication_ns"] / 1e3, 1),
                              round(p["projection_accuracy"], 4), round(alone["total_ns"] / 1e3, 1),
                              round(p["projected_memory_bytes"] / 1e9, 2))))


def write(rows):
    rows.sort(key=lambda r: (MODELS.index(r["model"]), r["strategy"], int(r["ranks"])))
    with open(HERE / "data.csv", "w", encoding="utf-8", newline="") as file:
        out = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        out.writeheader()
        out.writerows(rows)


def tables(rows):
    print("| model | strategy | GPUs | batch | projected (computing + communicating), ms | packets, ms | accuracy | "
          "of the difference contention, ms | memory, GB |")
    print("|---|---|---|---|---|---|---|---|---|")
    for r in rows:
        contention = float(r["time_us"]) - float(r["one_switch_us"])
        print(f"| {r['model']} | {r['strategy']} | {r['ranks']} | {r['batch']} | "
              f"{float(r['projected_us']) / 1e3:.1f} ({float(r['compute_us']) / 1e3:.1f} + "
              f"{float(r['communication_us']) / 1e3:.1f}) | {float(r['time_us']) / 1e3:.1f} | "
              f"{100 * float(r['accuracy']):.1f} % | {contention / 1e3:.1f} | {r['memory_gb']} |")
    print()
    print("| strategy | mean accuracy | least |\n|---|---|---|")
    for strategy in sorted({r["strategy"] for r in rows}):
        own = [100 * float(r["accuracy"]) for r in rows if r["strategy"] == strategy]
        print(f"| {strategy} | {sum(own) / len(own):.1f} % | {min(own):.1f} % |")


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--jobs", type=int, default=1)
    arguments.add_argument("--most", type=int, default=max(RANKS))
    arguments.add_argument("--tables", action="store_true")
    options = arguments.parse_args()
    rows = []
    if (HERE / "data.csv").exists():
        with open(HERE / "data.csv", encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
    if not options.tables:
        todo = [c for c in cases() if c[2] <= options.most]
        keys = {(c[0], c[1], str(c[2])) for c in todo}
        rows = [r for r in rows if (r["model"], r["strategy"], str(r["ranks"])) not in keys]
        with concurrent.futures.ProcessPoolExecutor(options.jobs) as pool:
            for row in pool.map(run, sorted(todo, key=lambda c: c[2])):
                rows.append(row)
                write(rows)
                print(row, flush=True)
    tables(rows)


main()
