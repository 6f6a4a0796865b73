#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Figures of tutorials and courses from which this project began, redone: runs, claims, and the page README.md.

usage: run.py [--jobs N]   all runs, then data.csv and the page (about two minutes on one core)
       run.py --page       the page from data.csv, without runs
       run.py --check      claims hold on data.csv, and the page is made of it
       run.py --runs-check [--quick]   the runs again (--quick: those of seconds): data.csv must be what they give
The executable is $COLLWIRE, else build/collwire.
"""
import concurrent.futures
import csv
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

import page

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
FOLDER = "scenarios/reproduce/tutorials"


def collective(bytes_, algorithm):
    more = {"ranks_per_server": 4} if algorithm == "shifted_halving_doubling" else {}
    return "workload=" + json.dumps({"kind": "collective", "op": "all_reduce", "bytes": bytes_, "algorithm": algorithm, **more})


def runs():
    """(figure, name, scenario, settings) of every run."""
    for dims in (1, 2, 3):
        for size in ("64KB", "16MB"):
            yield "torus", f"{dims}d {size}", f"torus-{dims}d", (f"workload.bytes={size}",)
    wide = "topology.dims[0].link.rate=1600Gbps"
    yield "asymmetric", "equal", "torus-3d", ("workload.bytes=16MB",)
    yield "asymmetric", "wide", "torus-3d", ("workload.bytes=16MB", wide)
    yield "asymmetric", "wide, aware", "torus-3d", ("workload.bytes=16MB", wide, "workload.schedule=bandwidth_aware")
    yield "resnet", "slide", "resnet50-torus", ()
    for nodes, sizes in ((8, (2, 2, 2)), (16, (2, 4, 2)), (32, (2, 4, 4)), (64, (2, 8, 4)), (128, (2, 8, 8))):
        yield "nodes", str(nodes), "resnet50-packages", tuple(f"topology.dims[{d}].size={n}" for d, n in enumerate(sizes))
    for speed in (0.5, 1, 2, 4):
        yield "speed", str(speed), "resnet50-packages", (f"workload.compute_scale={1 / speed}",)
    for name in ("flat", "hierarchical"):
        for size in ("300KB", "1MB", "4MB", "32MB"):
            yield "buffers", f"{name} {size}", f"buffer-{name}", (f"topology.dims[1].switch.buffer={size}",)
    for ranks in (64, 256, 1024):
        for algorithm in ("shifted_halving_doubling", "halving_doubling", "ring"):
            yield "loop", f"loop {algorithm} {ranks}", f"dln-{ranks}", (collective("2MB", algorithm),)
        for algorithm in ("halving_doubling", "ring"):
            yield "loop", f"tree {algorithm} {ranks}", f"fat-tree-{ranks}", (collective("2MB", algorithm),)
    for model in ("resnet152", "gnmt", "dlrm", "transformer-1t"):
        for scale in (1, 0.5, 0.25, 0.125):
            for name, sets in (("baseline", ()), ("Themis", ("workload.system.inter-dimension-scheduling=offlineGreedy",
                                                             "workload.system.intra-dimension-scheduling=smallestFirst"))):
                yield "themis", f"{model} {scale} {name}", f"../themis/{model}", (f"workload.compute_scale={scale}", *sets)
    for model in ("vgg16", "gpt3"):
        for machine in ("dgx2", "tpu"):
            yield "exercise", f"{model} {machine}", f"../exercise3/{model}-{machine}", ()
    for name, threshold in (("circuits", "100KB"), ("packets", "1GB")):
        yield "hybrid", name, "hybrid-circuits", (f"topology.dims[1].threshold={threshold}",)


def command(scenario, sets):
    """As it is written on the page."""
    path = os.path.normpath(f"{FOLDER}/{scenario}.json")
    return ["collwire", "run", path, *(part for each in sets for part in ("--set", each))]


def run(each):
    """A row of data.csv."""
    figure, name, scenario, sets = each
    with tempfile.TemporaryDirectory() as out:
        call = [os.environ.get("COLLWIRE", str(ROOT / "build/collwire")), *command(scenario, sets)[1:], "--quiet", "--out", out]
        subprocess.run(call, check=True, cwd=ROOT, stderr=subprocess.DEVNULL)
        with open(os.path.join(out, "metrics.json"), encoding="utf-8") as file:
            metrics = json.load(file)
    training, collectives = metrics["training"], metrics["collectives"]
    total = training["total_ns"] if training else collectives[0]["duration_ns"]
    # of each dimension the first phase, the mean over collectives
    queueing = {phase["dim"] + 1: statistics.mean(next(p["queueing_ns"] for p in each["phases"] if p["dim"] == phase["dim"]) for each in collectives)
                for phase in collectives[0]["phases"]} if figure == "speed" else {}
    return {"figure": figure, "name": name, "total_ns": total, "exposed_ns": training["exposed_comm_ns"] if training else "",
            "drops": metrics["drops"]["packets"], "bytes": sum(dim["bytes"] for dim in collectives[0]["dims"]) if figure == "torus" else "",
            "queueing_1_ns": queueing.get(1, ""), "queueing_2_ns": queueing.get(2, ""), "queueing_3_ns": queueing.get(3, "")}


QUICK = ("torus", "asymmetric", "resnet", "nodes", "speed", "exercise", "hybrid")


def run_all(jobs, figures=None):
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        return list(pool.map(run, [each for each in runs() if figures is None or each[0] in figures]))


def read():
    with open(HERE / "data.csv", encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def texts(rows):
    return [{key: str(value) for key, value in row.items()} for row in rows]


def make_page(rows):
    commands = {(figure, name): command(scenario, sets) for figure, name, scenario, sets in runs()}
    return page.make(rows, commands)


def check(rows):
    """Claims, and the page. Returns the exit code."""
    failed = [text for text, holds in page.claims(rows) if not holds]
    if (HERE / "README.md").read_text(encoding="utf-8") != make_page(rows):
        failed.append("README.md is made of data.csv: run.py --page")
    for text in failed:
        print("NOT: " + text)
    return 1 if failed else 0


def main():
    if "--check" in sys.argv:
        return check(read())
    if "--runs-check" in sys.argv:
        figures = QUICK if "--quick" in sys.argv else None
        made, kept = texts(run_all(2, figures)), [row for row in read() if figures is None or row["figure"] in figures]
        different = [ours["figure"] + " " + ours["name"] for ours, theirs in zip(made, kept) if ours != theirs]
        print("\n".join(different) or "data.csv is what the runs give")
        return 1 if different or len(made) != len(kept) else 0
    if "--page" not in sys.argv:
        jobs = int(sys.argv[sys.argv.index("--jobs") + 1]) if "--jobs" in sys.argv else 1
        rows = run_all(jobs)
        with open(HERE / "data.csv", "w", encoding="utf-8", newline="") as file:
            out = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
            out.writeheader()
            out.writerows(rows)
    rows = read()
    (HERE / "README.md").write_text(make_page(rows), encoding="utf-8")
    return check(rows)


if __name__ == "__main__":
    sys.exit(main())
