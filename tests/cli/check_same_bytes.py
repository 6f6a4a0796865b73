#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The same files for any number of threads and tiles, on all scenarios of folders, ended at the time at which one
thread has processed so many events. (With a limit of events itself, most windows would be processed in order.)
The same on operations of NCCL that are drawn.
With --processes N also by N processes, where mpirun is installed.
usage: check_same_bytes.py [--events N] [--processes N] [--every N] [--drawn N] [--set PATH=VALUE]... FOLDER_OR_FILE..."""
import argparse
import filecmp
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile

COLLWIRE = os.environ.get("COLLWIRE", "build/collwire")
# --together: else a run goes on as one where its windows have few events, as those of small scenarios.
WAYS = (("--tiles", "7", "--together"), ("--threads", "2", "--tiles", "1"), ("--threads", "3", "--tiles", "4", "--together"),
        ("--threads", "7", "--tiles", "2", "--together"))
SILENT = ("run.json", ".collwire")


def scenarios(folders):
    for folder in folders:
        if os.path.isfile(folder):
            yield folder
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


MPIRUN = ["mpirun", "--allow-run-as-root", "--oversubscribe", "-n"]


def run(scenario, out, *options, processes=1):
    launcher = [*MPIRUN, str(processes)] if processes > 1 else []
    done = subprocess.run([*launcher, COLLWIRE, "run", scenario, "--quiet", "--out", out, *options],
                          capture_output=True, timeout=600, check=False)
    return done.returncode


def end_of(scenario, events, out, *options):
    """Returns the options that end a run where `events` are over: none if it has fewer. None = it is refused."""
    code = run(scenario, out, "--tiles", "1", "--set", f"limits.events={events}", *options)
    if code == 2:
        return None
    with open(os.path.join(out, "metrics.json"), encoding="utf-8") as f:
        metrics = json.load(f)
    ended = metrics["status"] == "completed" or metrics["sim_time_ns"] < 1
    return () if ended else ("--set", f"limits.sim_time={metrics['sim_time_ns']}ns")


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
    """Of scenarios that ran, of runs in parts and on several threads, and of runs that differ."""

    def __init__(self):
        self.ran = self.divided = self.together = self.differ = 0


def compare(scenario, events, settings, counts, processes):
    ways = [(way, 1) for way in WAYS]
    if processes > 1:
        ways += [(("--tiles", "1", "--together"), processes), (("--threads", "2", "--together"), processes),
                 (("--tiles", "3"), processes)]
    with tempfile.TemporaryDirectory() as tmp:
        one, other = os.path.join(tmp, "one"), os.path.join(tmp, "other")
        end = end_of(scenario, events, one, *settings)
        if end is None:
            return  # refused: an input of another command, or of a folder of wrong ones
        code = run(scenario, one, "--tiles", "1", *settings, *end)
        counts.ran += 1
        for way, n in ways:
            got = run(scenario, other, *way, *settings, *end, processes=n)
            if got != code or same(one, other) != ([], []):
                counts.differ += 1
                print("DIFFERS:", scenario, *way, f"{n} processes, exit {code}, {got}", flush=True)
            elif n == 1 and used(other)["windows"]:
                counts.divided += 1
                counts.together += (used(other)["parallel"] or 0) > 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--events", type=int, default=100000)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--set", action="append", default=[])
    parser.add_argument("--drawn", type=int, default=0)
    parser.add_argument("folders", nargs="+")
    args = parser.parse_args()
    settings = [part for text in args.set for part in ("--set", text)]
    counts = Counts()
    processes = args.processes if shutil.which("mpirun") else 1
    with tempfile.TemporaryDirectory() as tmp:
        for scenario in list(scenarios(args.folders))[::args.every] + list(drawn(args.drawn, tmp)):
            compare(scenario, args.events, settings, counts, processes)
    print(f"{counts.ran} scenarios, {counts.divided} of {counts.ran * len(WAYS)} runs in parts, {counts.together} with "
          f"windows of several threads, {counts.differ} differ")
    few = counts.divided < counts.ran or counts.together == 0 or counts.ran < args.drawn
    return 1 if counts.differ or few else 0


if __name__ == "__main__":
    sys.exit(main())
