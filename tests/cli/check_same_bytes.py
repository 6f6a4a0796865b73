#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The same files for any number of threads and tiles, on all scenarios of folders, ended at the time at which one
thread has processed so many events. (With a limit of events itself, most windows would be processed in order.)
usage: check_same_bytes.py [--events N] [--every N] [--set PATH=VALUE]... FOLDER_OR_FILE..."""
import argparse
import filecmp
import json
import os
import subprocess
import sys
import tempfile

COLLWIRE = os.environ.get("COLLWIRE", "build/collwire")
WAYS = (("--tiles", "7"), ("--threads", "2", "--tiles", "1"), ("--threads", "3", "--tiles", "4"),
        ("--threads", "7", "--tiles", "2"))
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


def run(scenario, out, *options):
    done = subprocess.run([COLLWIRE, "run", scenario, "--quiet", "--out", out, *options],
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


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--events", type=int, default=100000)
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--set", action="append", default=[])
    parser.add_argument("folders", nargs="+")
    args = parser.parse_args()
    settings = [part for text in args.set for part in ("--set", text)]
    differ, ran, divided, together = [], 0, 0, 0
    for i, scenario in enumerate(scenarios(args.folders)):
        if i % args.every:
            continue
        with tempfile.TemporaryDirectory() as tmp:
            one, other = os.path.join(tmp, "one"), os.path.join(tmp, "other")
            end = end_of(scenario, args.events, one, *settings)
            if end is None:
                continue  # refused: an input of another command, or of a folder of wrong ones
            code = run(scenario, one, "--tiles", "1", *settings, *end)
            ran += 1
            for way in WAYS:
                got = run(scenario, other, *way, *settings, *end)
                if got != code or same(one, other) != ([], []):
                    differ.append((scenario, way, code, got))
                    print("DIFFERS:", *differ[-1], flush=True)
                elif used(other)["windows"]:
                    divided += 1
                    together += (used(other)["parallel"] or 0) > 0
    print(f"{ran} scenarios, {divided} of {ran * len(WAYS)} runs in parts, {together} with windows of several threads, "
          f"{len(differ)} differ")
    return 1 if differ or divided < ran or together == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
