#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""All scenarios of this project with engine.fast_forward off and exact: the same bytes.

usage: check_scenarios.py [--events LIMIT] [--jobs N] SOURCE_FOLDER
with the executable in $COLLWIRE. With --events, a scenario whose full run has more is left out; at least 20 must
remain. Captures and series, which are not skipped, are taken out of the scenarios.
"""
import argparse
import collections
import json
import multiprocessing
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

COLLWIRE = os.environ.get("COLLWIRE", "build/collwire")
OPTIONS = argparse.Namespace(events=None)
OF_LIMIT = "events reached"  # in the reason of a run that reached it
NO_SCENARIO = ("schema.json", "study.json")


def run(path, out, mode, events):
    """Exit code, files without the scenario, and what was skipped; None if it has too many events."""
    command = [
        COLLWIRE,
        "run",
        str(path),
        "--quiet",
        "--out",
        str(out),
        "--set",
        f"engine.fast_forward={mode}",
        "--set",
        "capture=[]",
    ]
    if events is not None:
        command += ["--set", f"limits.events={events}"]
    done = subprocess.run(command, capture_output=True, check=False)
    if done.returncode not in (0, 1):
        return done.returncode, done.stderr, None
    files = {p.name: p.read_bytes() for p in out.iterdir() if p.is_file()}
    machine = json.loads(files.pop("run.json"))
    metrics = json.loads(files["metrics.json"])
    metrics.pop("scenario")
    if events is not None and OF_LIMIT in (metrics["reason"] or ""):
        return None
    files["metrics.json"] = json.dumps(metrics)
    return done.returncode, files, machine["fast_forward"]


def compare(path):
    """(path, word, text)"""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="scenarios"))
    try:
        full = run(path, folder / "off", "off", OPTIONS.events)
        if full is None:
            return path, "left out", ""
        if full[2] is None:
            return path, "no scenario", full[1].decode(errors="replace")[:200]
        repeated = run(path, folder / "exact", "exact", None)
        if full[:2] != repeated[:2]:
            return path, "different", json.dumps(repeated[2])
        return path, "skipped" if repeated[2]["periods"] else "simulated", repeated[2]["note"] or ""
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--events", type=int)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("folder")
    arguments = parser.parse_args()
    OPTIONS.events = arguments.events
    folder = pathlib.Path(arguments.folder)
    paths = [
        path
        for name in ("scenarios", "bench")
        for path in sorted((folder / name).rglob("*.json"))
        if path.name not in NO_SCENARIO
    ]
    counts = collections.Counter()
    with multiprocessing.Pool(arguments.jobs) as pool:
        for path, word, text in pool.imap_unordered(compare, paths):
            counts[word] += 1
            if word == "different" or arguments.events is None:
                print(f"{word}: {path.relative_to(folder)} {text}", flush=True)
    print(", ".join(f"{n} {word}" for word, n in sorted(counts.items())))
    seen = counts["skipped"] + counts["simulated"]
    return 1 if counts["different"] or not counts["skipped"] or seen < 20 else 0


if __name__ == "__main__":
    sys.exit(main())
