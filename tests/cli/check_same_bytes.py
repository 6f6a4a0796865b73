#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The same files for any number of threads and tiles, on all scenarios of folders, ended after some events, and on
operations of NCCL that are drawn. usage: check_same_bytes.py [--events N] [--every N] [--drawn N] FOLDER..."""
import argparse
import filecmp
import json
import os
import random
import subprocess
import sys
import tempfile

COLLWIRE = os.environ.get("COLLWIRE", "build/collwire")
WAYS = (("--tiles", "7"), ("--threads", "2", "--tiles", "1"), ("--threads", "3", "--tiles", "4"),
        ("--threads", "7", "--tiles", "2"))
SILENT = ("run.json", ".collwire")


def scenarios(folders):
    for folder in folders:
        for path, _, names in sorted(os.walk(folder)):
            for name in sorted(names):
                if not name.endswith(".json"):
                    continue
                with open(os.path.join(path, name), encoding="utf-8") as f:
                    try:
                        tree = json.load(f)
                    except ValueError:
                        continue
                if isinstance(tree, dict) and "topology" in tree:
                    yield os.path.join(path, name)


OPERATIONS = {"all_reduce": ("ring", "tree", "auto"), "all_gather": ("ring", "auto"),
              "reduce_scatter": ("ring", "auto"), "broadcast": ("ring",), "reduce": ("ring",), "all_to_all": ("auto",)}


def operation(rng):
    """A job of one or two operations."""
    op = rng.choice(sorted(OPERATIONS))
    library = {"kind": "nccl", "algo": rng.choice(OPERATIONS[op]), "max_ctas": rng.choice((1, 2, 4))}
    if rng.random() < 0.5:
        library["proto"] = rng.choice(("ll", "ll128", "simple"))
    return {"kind": "collective", "op": op, "bytes": rng.choice(("3KB", "100KB", "1MB", "5MB")),
            "repeat": rng.choice((1, 2)), "library": library}


def draw(seed):
    rng = random.Random(seed)
    return {"name": "drawn", "seed": seed, "workload": operation(rng),
            "topology": {"machine": rng.choice(("dgx_a100", "dgx_h100")), "nodes": rng.randint(2, 5)},
            "cc": {"kind": rng.choice(("none", "dcqcn", "hpcc"))}}


def drawn(n, folder):
    for seed in range(1, n + 1):
        path = os.path.join(folder, f"{seed}.json")
        with open(path, "w", encoding="utf-8") as f:
            json.dump(draw(seed), f)
        yield path


def run(scenario, events, out, *ways):
    done = subprocess.run([COLLWIRE, "run", scenario, "--quiet", "--out", out, "--set", f"limits.events={events}", *ways],
                          capture_output=True, timeout=600, check=False)
    return done.returncode


def used(out):
    with open(os.path.join(out, "run.json"), encoding="utf-8") as f:
        return json.load(f)["threads"]


def same(one, other):
    names = sorted(n for n in os.listdir(one) if n not in SILENT)
    there = sorted(n for n in os.listdir(other) if n not in SILENT)
    if names != there:
        return names, there
    return filecmp.cmpfiles(one, other, names, shallow=False)[1:]


class Counts:
    """Of scenarios that ran, of runs in parts, and of runs that differ."""

    def __init__(self):
        self.ran = self.divided = self.differ = 0


def compare(scenario, events, counts):
    with tempfile.TemporaryDirectory() as tmp:
        one, other = os.path.join(tmp, "one"), os.path.join(tmp, "other")
        code = run(scenario, events, one, "--tiles", "1")
        if code == 2:
            return  # refused: an input of another command, or of a folder of wrong ones
        counts.ran += 1
        for way in WAYS:
            got = run(scenario, events, other, *way)
            if got != code or same(one, other) != ([], []):
                counts.differ += 1
                print("DIFFERS:", scenario, *way, f"exit {code}, {got}", same(one, other), flush=True)
            elif used(other)["windows"]:
                counts.divided += 1


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--events", type=int, default=100000)
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--drawn", type=int, default=0)
    parser.add_argument("folders", nargs="+")
    args = parser.parse_args()
    counts = Counts()
    for scenario in list(scenarios(args.folders))[::args.every]:
        compare(scenario, args.events, counts)
    of_files = counts.ran
    with tempfile.TemporaryDirectory() as tmp:
        for scenario in drawn(args.drawn, tmp):
            compare(scenario, args.events, counts)
    print(f"{counts.ran} scenarios, {counts.divided} of {counts.ran * len(WAYS)} runs in parts, {counts.differ} differ")
    few = counts.divided < counts.ran or counts.ran - of_files < 0.8 * args.drawn
    return 1 if counts.differ or few else 0


if __name__ == "__main__":
    sys.exit(main())
