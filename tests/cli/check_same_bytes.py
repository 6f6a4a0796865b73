#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The same files in every way of running: several threads and tiles, the reference engine, with captures, and several processes
where mpirun is installed. Each scenario runs once in one part on one thread, ended at the time at which so many events have
been processed (with a limit of events itself, most windows would be processed in order), and then in each way.

The gate takes a part of each group of GROUPS, which the commit's hash draws, so that commits in a row try all; --all takes all.
usage: check_same_bytes.py [--all] [--draw N] SOURCE_DIR      N: repeats what a commit has drawn (printed at the end)"""
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
CAPTURED = ("--set", 'capture=[{"at":"rank0->*","file":"a.pcapng","snaplen":"128B"}]')
PLAIN = ("--plain",)
WAYS_OF_PROCESSES = ((("--tiles", "1", "--together"), 2), (("--threads", "2", "--together"), 2), (("--tiles", "3"), 2))
HOST = 'host={"preset":"linux","ranks":2,"cores":1,"compute":true}'


class Group:
    """Scenarios that run in the same ways, up to `events` events: a commit tries one of `share`; 0 = none."""

    def __init__(self, events, share, folders, settings=(), processes=False):
        self.events, self.share, self.folders, self.processes = events, share, folders, processes
        self.settings = [part for text in settings for part in ("--set", text)]


GROUPS = (
    Group(30000, 12, ["scenarios"]),
    Group(30000, 0, ["tests/bench"]),  # whose networks take seconds to build: with --all alone
    Group(60000, 12, [f"scenarios/{name}" for name in ("dlrm", "llm", "models", "parameter-server", "reproduce")], ["report.timeline=true"]),
    Group(200000, 4, ["scenarios/dlrm/dlrm-64-tcp.json", "scenarios/host"], ["report.timeline=true", HOST]),
    Group(20000, 3, [f"scenarios/{name}.json" for name in ("incast", "collectives/nccl-allreduce", "llm/mixtral-64", "fabric2026/credits",
                                                          "fabric2026/balance", "tcp/incast")], processes=True))
DRAWN = 8  # operations of NCCL that are drawn
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


def drawn(seeds, folder):
    for seed in seeds:
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


def same_but_capture(one, other):
    """With a capture, which is in the scenario and in files of its own, what was measured is the same."""
    measured = []
    for folder in (one, other):
        with open(os.path.join(folder, "metrics.json"), encoding="utf-8") as f:
            measured.append(json.load(f))
        measured[-1].pop("scenario")
    return measured[0] == measured[1]


class Counts:
    """Of scenarios that ran, of runs in parts and on several threads, and of runs that differ."""

    def __init__(self):
        self.ran = self.ways = self.divided = self.together = self.differ = 0


def compare(scenario, group, counts):
    # What an MPI does not free is its own, but a sanitized process ends with an error for it.
    processes = group.processes and shutil.which("mpirun") and os.environ.get("COLLWIRE_SANITIZED", "OFF") != "ON"
    ways = [(way, 1) for way in (*WAYS, PLAIN, CAPTURED)] + (list(WAYS_OF_PROCESSES) if processes else [])
    with tempfile.TemporaryDirectory() as tmp:
        one, other = os.path.join(tmp, "one"), os.path.join(tmp, "other")
        end = end_of(scenario, group.events, one, *group.settings)
        if end is None:
            return  # refused: an input of another command, or of a folder of wrong ones
        code = run(scenario, one, "--tiles", "1", *group.settings, *end)
        counts.ran += 1
        for way, n in ways:
            shutil.rmtree(other, ignore_errors=True)
            got = run(scenario, other, *way, *group.settings, *end, processes=n)
            if got == 2 and way in (PLAIN, CAPTURED):
                continue  # a network in closed form has neither
            counts.ways += 1
            if got != code or not (same_but_capture(one, other) if way == CAPTURED else same(one, other) == ([], [])):
                counts.differ += 1
                print("DIFFERS:", scenario, *way, *group.settings, *end, f"{n} processes, exit {code}, {got}", flush=True)
            elif way in WAYS and n == 1 and used(other)["windows"]:
                counts.divided += 1
                counts.together += (used(other)["parallel"] or 0) > 0


def commit(source):
    """A number of the commit, or 0 outside of a repository."""
    done = subprocess.run(["git", "-C", source, "rev-parse", "--short=7", "HEAD"], capture_output=True, text=True, check=False)
    return int(done.stdout, 16) if done.returncode == 0 else 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--draw", type=int)
    parser.add_argument("source")
    args = parser.parse_args()
    draw_number = commit(args.source) if args.draw is None else args.draw
    counts = Counts()
    with tempfile.TemporaryDirectory() as tmp:
        for group in GROUPS:
            group.events *= 10 if args.all else 1
            every = list(scenarios(os.path.join(args.source, folder) for folder in group.folders))
            share = 1 if args.all else group.share
            for scenario in every[draw_number % share::share] if share else ():
                compare(scenario, group, counts)
        seeds = range(1, 301) if args.all else [1 + (draw_number + i) % 300 for i in range(DRAWN)]
        for scenario in drawn(seeds, tmp):
            compare(scenario, GROUPS[0], counts)
    print(f"draw {draw_number}: {counts.ran} scenarios in {counts.ways} other ways, {counts.divided} runs in parts, {counts.together} with windows "
          f"of several threads, {counts.differ} differ")
    return 1 if counts.differ or counts.divided < counts.ran or counts.together == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
