#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Chakra traces in closed form against measured runs of ASTRA-sim 2: the end of every rank and its
exposed communication, to the nanosecond.

usage: check_astra2.py FOLDER [--all] [--backend unaware|aware] [CASE...]
FOLDER has cases.json, runs.csv and the files that the cases name. With --all, every case is run and
the differences are listed; else every case must be exact, except those with a "differs" in
cases.json, which must say why."""
import argparse
import csv
import json
import os
import subprocess
import sys
import tempfile


def run(collwire, folder, case, out):
    scenario = os.path.join(out, "scenario.json")
    system = json.load(open(os.path.join(folder, case["system"]), encoding="utf-8"))
    extra = dict(case.get("extra") or {})
    if "num-queues-per-dim" in extra:
        system["num-queues-per-dim"] = extra.pop("num-queues-per-dim")
    if extra:
        return None, "option " + ", ".join(extra)
    system_file = os.path.join(out, "system.json")
    json.dump(system, open(system_file, "w", encoding="utf-8"))
    command = [collwire, "import", "chakra", os.path.join(folder, case["trace"]),
               "--network", os.path.join(folder, case["network"]), "--system", system_file,
               "-o", scenario]
    for key in ("groups", "memory"):
        if case.get(key):
            command += ["--" + key, os.path.join(folder, case[key])]
    got = subprocess.run(command, capture_output=True, text=True, check=False)
    if got.returncode != 0:
        return None, got.stderr.strip()
    got = subprocess.run([collwire, "run", scenario, "--out", os.path.join(out, "run"), "--quiet"],
                         capture_output=True, text=True, check=False)
    if got.returncode != 0:
        return None, got.stderr.strip()
    metrics = json.load(open(os.path.join(out, "run", "metrics.json"), encoding="utf-8"))
    return {r["rank"]: (r["finish_ns"], r["exposed_comm_ns"]) for r in metrics["ranks"]}, ""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--backend", default="unaware")
    parser.add_argument("cases", nargs="*")
    args = parser.parse_args()
    collwire = os.environ.get("COLLWIRE", "build/collwire")
    runs = {}
    with open(os.path.join(args.folder, "runs.csv"), encoding="utf-8") as stream:
        for row in csv.DictReader(stream):
            runs.setdefault(row["case"], {})[int(row["rank"])] = (
                int(row["finish_ns"]), int(row["exposed_ns"]))
    exact = failed = 0
    differ = []
    for case in json.load(open(os.path.join(args.folder, "cases.json"), encoding="utf-8")):
        name = case["case"]
        if case["backend"] != args.backend or (args.cases and name not in args.cases):
            continue
        with tempfile.TemporaryDirectory() as out:
            ours, why = run(collwire, args.folder, case, out)
        if ours == runs[name]:
            exact += 1
            continue
        if ours is None:
            failed += 1
            differ.append((name, why.splitlines()[0] if why else "failed", case))
            continue
        last, theirs = max(v[0] for v in ours.values()), max(v[0] for v in runs[name].values())
        ranks = sum(ours.get(r) != v for r, v in runs[name].items())
        finish = sum(ours[r][0] != v[0] for r, v in runs[name].items())
        differ.append((name, f"{ranks} of {len(runs[name])} ranks differ ({finish} in finish): "
                       f"{last} for {theirs} ns, ratio {last / theirs:.4f}", case))
    for name, why, case in differ:
        print(f"{name}: {why}")
    print(f"{exact} exact, {len(differ)} differ, {failed} of them without a result")
    stated = all("differs" in case for _, _, case in differ)
    return 0 if args.all or (stated and exact > 0) else 1


if __name__ == "__main__":
    sys.exit(main())
