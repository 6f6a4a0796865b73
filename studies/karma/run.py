#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Training beyond the memory of a GPU: speed against batch and against memory by method, and scaling with data
parallelism over packets (after KARMA, Wahib et al., SC 2020). Writes data.csv beside this file, and the tables of
docs/out-of-core.md.

usage: run.py [--jobs N] [--tables | --check] [--most RANKS], with the executable in $COLLWIRE; --tables prints them
from data.csv without runs, --check also compares the page with them and tests the claims of the page; --most leaves
larger networks as they are in data.csv.
"""
import argparse
import concurrent.futures
import csv
import json
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
PAGE = HERE.parent.parent / "docs" / "out-of-core.md"
COLUMNS = ("part", "model", "ranks", "batch", "memory_gb", "method", "need_gb", "samples_per_s", "planned_per_s", "waiting",
           "swapped", "recomputed")
METHODS = ("auto", "swap", "recompute")
# A V100 with 16 GB, single precision at 60 % of 15.7 Tflop/s, PCIe 3.0 x16 (96 Gbit/s, the default); a convolution is
# followed by a normalisation and an activation, whose outputs are kept too.
GPU = {"peak_tflops": 15.7, "efficiency": 0.6, "tensors_per_layer": 3}
MEMORY = 16
BATCHES = {"resnet50": (32, 64, 96, 128, 192, 256, 384, 512), "resnet152": (16, 32, 48, 64, 96, 128, 256, 512),
           "vgg16": (16, 32, 48, 64, 96, 128, 160)}
WEIGHTS = (8, 6, 4, 3, 2, 1.5, 1)  # GB of memory for VGG-16, whose weights, gradients and momentum take 1.66 GB
EACH, KEPT = 256, 64  # samples of a GPU in weak scaling: beyond the memory, and within it
STRONG = 8192
RANKS = (1, 4, 16, 64)


def cases():
    """part, model, ranks, batch, memory, method; `enough` is a GPU whose memory holds all."""
    for model, batches in BATCHES.items():
        for batch in batches:
            for method in METHODS + ("enough",):
                yield "batch", model, 1, batch, MEMORY, method
    for memory in WEIGHTS:
        for method in METHODS + ("enough",):
            yield "memory", "vgg16", 1, 8, memory, method
    for ranks in RANKS:
        for each in (EACH, KEPT):
            for method in METHODS if each == EACH else ("auto",):
                yield "weak", "resnet50", ranks, each * ranks, MEMORY, method
        if STRONG // ranks <= 512:
            for method in METHODS:
                yield "strong", "resnet50", ranks, STRONG, MEMORY, method
    yield "strong", "resnet50", 32, STRONG, MEMORY, "auto"
    yield "strong", "resnet50", 128, STRONG, MEMORY, "auto"


def scenario(part, model, ranks, batch, memory, method):
    dim = {"kind": "switch", "size": ranks} if ranks <= 16 else {
        "kind": "leaf_spine", "size": ranks, "ranks_per_leaf": 16, "spines": 16}
    enough = method == "enough"
    return {
        "name": f"{part}-{model}-{ranks}",
        "topology": {"dims": [dim | {"link": {"rate": "100Gbps", "delay": "500ns"}}]},
        "switch": {"buffer": "64MB"}, "cc": {"kind": "dcqcn"},
        "memory": {"capacity": "100TB" if enough else f"{memory * 1000:.0f}MB"},
        "workload": {"kind": "cnn", "model": model, "strategy": "data" if ranks > 1 else "serial", "batch": batch,
                     "out_of_core": True, "out_of_core_method": "auto" if enough else method, **GPU},
        "report": {"flows_max": 1},
    }


def run(case):
    part, model, ranks, batch, memory, method = case
    row = dict.fromkeys(COLUMNS, "") | dict(zip(COLUMNS, (part, model, ranks, batch, memory, method)))
    with tempfile.TemporaryDirectory() as folder:
        file, out = os.path.join(folder, "scenario.json"), os.path.join(folder, "out")
        with open(file, "w", encoding="utf-8") as to:
            json.dump(scenario(*case), to)
        done = subprocess.run([os.environ.get("COLLWIRE", "build/collwire"), "run", file, "--quiet", "--out", out],
                              capture_output=True, text=True, check=False)
        if done.returncode == 2 and "out_of_core" in done.stderr:
            return row  # it does not fit with this method
        if done.returncode != 0:
            raise RuntimeError(done.stderr)
        with open(os.path.join(out, "metrics.json"), encoding="utf-8") as source:
            metrics = json.load(source)
    p = metrics["programs"][0]
    swap = next(u for u in p["uses"] if u["name"] == "swap")
    return row | {"need_gb": round(metrics["memory"]["max_bytes"] / 1e9, 2), "samples_per_s": round(p["samples_per_s"], 1),
                  "planned_per_s": round(batch / (p["projected_compute_ns"] / 1e9), 1),
                  "waiting": round((swap["exposed_ns"] + swap["waiting_ns"]) / p["total_ns"], 3),
                  "swapped": p["swapped_layers"], "recomputed": p["recomputed_layers"]}


def key(row):
    return tuple(str(row[c]) for c in COLUMNS[:6])


def write(rows):
    order = {tuple(str(v) for v in case): i for i, case in enumerate(cases())}
    rows = sorted((r for r in rows if key(r) in order), key=lambda r: order[key(r)])
    with open(HERE / "data.csv", "w", encoding="utf-8", newline="") as file:
        out = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        out.writeheader()
        out.writerows(rows)


class Data:
    def __init__(self, rows):
        self.rows = {key(r): r for r in rows}

    def row(self, *case):
        return self.rows[tuple(str(v) for v in case)]

    def speed(self, *case):
        """Samples a second; 0 = it does not fit."""
        return float(self.row(*case)["samples_per_s"] or 0)

    def need(self, part, model, batch, memory):
        return float(self.row(part, model, 1, batch, memory, "enough")["need_gb"])


def shown(speed):
    return f"{speed:.0f}" if speed else "no"


def batch_table(data):
    yield "| model | batch | memory that holds all, of 16 GB | enough memory | auto (swapped, recomputed) | swap | recompute |"
    yield "|---|---|---|---|---|---|---|"
    for model, batches in BATCHES.items():
        for batch in batches:
            auto = data.row("batch", model, 1, batch, MEMORY, "auto")
            one = [data.speed("batch", model, 1, batch, MEMORY, m) for m in ("enough",) + METHODS]
            how = f" ({auto['swapped']}, {auto['recomputed']})" if one[1] else ""
            yield (f"| {model} | {batch} | {data.need('batch', model, batch, MEMORY) / MEMORY:.2f} | {shown(one[0])} | "
                   f"{shown(one[1])}{how} | {shown(one[2])} | {shown(one[3])} |")


def memory_table(data):
    yield "| memory, GB | memory that holds all, of it | enough memory | auto | waiting for the host | swap | recompute |"
    yield "|---|---|---|---|---|---|---|"
    for memory in WEIGHTS:
        auto = data.row("memory", "vgg16", 1, 8, memory, "auto")
        one = [data.speed("memory", "vgg16", 1, 8, memory, m) for m in ("enough",) + METHODS]
        waits = f"{100 * float(auto['waiting']):.0f} %" if one[1] else ""
        yield (f"| {memory} | {data.need('memory', 'vgg16', 8, memory) / memory:.2f} | {shown(one[0])} | {shown(one[1])} | "
               f"{waits} | {shown(one[2])} | {shown(one[3])} |")


def weak_table(data):
    yield f"| GPUs | {KEPT} a GPU, all kept | {EACH} a GPU: auto | of the plan | swap | recompute |"
    yield "|---|---|---|---|---|---|"
    for ranks in RANKS:
        one = [data.speed("weak", "resnet50", ranks, EACH * ranks, MEMORY, m) for m in METHODS]
        row = data.row("weak", "resnet50", ranks, EACH * ranks, MEMORY, "auto")
        kept = data.speed("weak", "resnet50", ranks, KEPT * ranks, MEMORY, "auto")
        yield (f"| {ranks} | {shown(kept)} | {shown(one[0])} | {100 * one[0] / float(row['planned_per_s']):.1f} % | "
               f"{shown(one[1])} | {shown(one[2])} |")


def strong_table(data):
    yield "| GPUs | samples of a GPU | auto (swapped, recomputed) | a GPU | swap | recompute |"
    yield "|---|---|---|---|---|---|"
    for ranks in (16, 32, 64, 128):
        row = data.row("strong", "resnet50", ranks, STRONG, MEMORY, "auto")
        speed = float(row["samples_per_s"])
        others = [shown(data.speed("strong", "resnet50", ranks, STRONG, MEMORY, m)) if ranks in RANKS else "" for m in METHODS[1:]]
        yield (f"| {ranks} | {STRONG // ranks} | {shown(speed)} ({row['swapped']}, {row['recomputed']}) | {speed / ranks:.0f} | "
               f"{others[0]} | {others[1]} |")


TABLES = (batch_table, memory_table, weak_table, strong_table)


def claims(data):
    """What the page says of the tables."""
    for model, batches in BATCHES.items():
        auto, swap, again, enough = ([data.speed("batch", model, 1, b, MEMORY, m) for b in batches]
                                     for m in METHODS + ("enough",))
        fits = [data.need("batch", model, b, MEMORY) <= MEMORY for b in batches]
        yield f"{model}: full speed where all fits", all(a == e for a, e, f in zip(auto, enough, fits) if f)
        yield f"{model}: never slower than the others", all(a >= max(s, r) for a, s, r in zip(auto, swap, again))
        yield f"{model}: a decline beyond the memory", all(
            a >= b * 0.995 for a, b, f in zip(auto, auto[1:], fits[1:]) if not f and b)
        over = [data.need("batch", model, b, MEMORY) / MEMORY for b in batches]
        yield f"{model}: at least 89 % of the full speed up to 4.5 times the memory, and 86 % up to 9", all(
            a >= (0.89 if o < 4.5 else 0.86) * e for a, e, o in zip(auto, enough, over) if a)
        yield f"{model}: swap alone loses most", all(s < a for a, s, e in zip(auto, swap, enough) if s and s < 0.98 * e)
    yield "weights leave at little memory, and that costs most", (
        data.speed("memory", "vgg16", 1, 8, WEIGHTS[-3], "auto") < 0.7 * data.speed("memory", "vgg16", 1, 8, WEIGHTS[0], "auto"))
    for ranks in RANKS[1:]:
        auto = data.row("weak", "resnet50", ranks, EACH * ranks, MEMORY, "auto")
        yield f"weak scaling on {ranks}: 99 % of the plan", (
            float(auto["samples_per_s"]) >= 0.99 * float(auto["planned_per_s"]))
    ones = [data.speed("strong", "resnet50", r, STRONG, MEMORY, "auto") / r for r in (16, 32, 64, 128)]
    yield "strong scaling: a GPU is faster where less is beyond its memory, by less than a sixth", (
        ones[0] <= ones[1] <= ones[2] and ones[0] >= 5 / 6 * ones[2])


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--jobs", type=int, default=1)
    arguments.add_argument("--most", type=int, default=1000000)
    arguments.add_argument("--tables", action="store_true")
    arguments.add_argument("--check", action="store_true")
    options = arguments.parse_args()
    rows = []
    if (HERE / "data.csv").exists():
        with open(HERE / "data.csv", encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
    if not options.tables and not options.check:
        todo = [c for c in cases() if c[2] <= options.most]
        keys = {tuple(str(v) for v in c) for c in todo}
        rows = [r for r in rows if key(r) not in keys]
        with concurrent.futures.ProcessPoolExecutor(options.jobs) as pool:
            for row in pool.map(run, sorted(todo, key=lambda c: c[2])):
                rows.append(row)
                write(rows)
    data, failed = Data(rows), 0
    page = PAGE.read_text(encoding="utf-8") if options.check else ""
    for table in TABLES:
        text = "\n".join(table(data))
        if not options.check:
            print(text + "\n")
        elif text not in page:
            print(f"FAIL {PAGE.name} does not have the {table.__name__}")
            failed += 1
    for sentence, holds in claims(data):
        failed += not holds
        print(f"{'ok  ' if holds else 'FAIL'} {sentence}")
    sys.exit(1 if failed else 0)


main()
