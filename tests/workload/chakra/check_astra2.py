#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Chakra traces in closed form against measured runs of ASTRA-sim 2: the end of every rank and its
exposed communication, to the nanosecond.

usage: check_astra2.py DATA [--backend unaware|aware] [--report] [CASE...]
DATA is tests/data/chakra/astra2.json, or a folder with cases.json, runs.csv and the files that the
cases name. Every case must be exact, except those with "differs", which must differ; with --report
the differences are only listed."""
import argparse
import base64
import csv
import gzip
import json
import os
import subprocess
import sys
import tempfile


# Options of ASTRA-sim's command line that are keys of `system` here.
IN_SYSTEM = ("num-queues-per-dim", "rendezvous-protocol")


def write(path, value):
    mode = "wb" if isinstance(value, bytes) else "w"
    with open(path, mode, **({} if mode == "wb" else {"encoding": "utf-8"})) as stream:
        stream.write(value)
    return path


def cases_packed(data, out):
    """The cases of one JSON document, whose files are written to `out`."""
    with open(data, encoding="utf-8") as stream:
        document = json.load(stream)
    for name, ranks in document["traces"].items():
        for rank, text in enumerate(ranks):
            trace = base64.b64decode(text)
            trace = gzip.decompress(trace) if trace.startswith(b"\x1f\x8b") else trace
            write(os.path.join(out, f"{name}.{rank}.et"), trace)
    for i, case in enumerate(document["cases"]):
        made = {"case": case["case"], "trace": os.path.join(out, case["trace"]),
                "differs": case.get("differs"), "extra": {}, "cwd": out, "backend": case.get("backend", "unaware"),
                "network": write(os.path.join(out, f"{i}.yml"), case["network"]),
                "ranks": {rank: tuple(times) for rank, times in enumerate(case["ranks"])}}
        for key in ("system", "groups", "memory"):
            if key in case:
                made[key] = write(os.path.join(out, f"{i}-{key}.json"), json.dumps(case[key]))
        yield made


def cases_folder(folder, out):
    """The cases of a folder of measured runs."""
    runs = {}
    with open(os.path.join(folder, "runs.csv"), encoding="utf-8") as stream:
        for row in csv.DictReader(stream):
            runs.setdefault(row["case"], {})[int(row["rank"])] = (
                int(row["finish_ns"]), int(row["exposed_ns"]))
    with open(os.path.join(folder, "cases.json"), encoding="utf-8") as stream:
        listed = json.load(stream)
    for i, case in enumerate(listed):
        made = dict(case, ranks=runs[case["case"]], extra=dict(case.get("extra") or {}), cwd=folder)
        for key in ("trace", "network", "system", "groups", "memory"):
            if case.get(key):
                made[key] = os.path.abspath(os.path.join(folder, case[key]))
        options = {key: made["extra"].pop(key) for key in IN_SYSTEM if key in made["extra"]}
        if options:
            with open(made["system"], encoding="utf-8") as stream:
                system = json.load(stream)
            system.update(options)
            made["system"] = write(os.path.join(out, f"{i}-system.json"), json.dumps(system))
        yield made


def run(collwire, case, out):
    """The end and the exposed communication of every rank; or None, and why."""
    if case["extra"]:
        return None, "option " + ", ".join(case["extra"])
    scenario = os.path.join(out, "scenario.json")
    command = [collwire, "import", "chakra", case["trace"], "--network", case["network"],
               "--system", case["system"], "-o", scenario]
    for key in ("groups", "memory"):
        if case.get(key):
            command += ["--" + key, case[key]]
    for command in (command, [collwire, "run", scenario, "--out", os.path.join(out, "run"), "--quiet"]):
        if "run" in command and case["backend"] == "aware":
            command += ["--set", "analytical_route=links"]
        got = subprocess.run(command, capture_output=True, text=True, check=False, cwd=case["cwd"])
        if got.returncode != 0:
            return None, got.stderr.strip() or f"exit code {got.returncode}"
    with open(os.path.join(out, "run", "metrics.json"), encoding="utf-8") as stream:
        metrics = json.load(stream)
    return {r["rank"]: (r["finish_ns"], r["exposed_comm_ns"]) for r in metrics["ranks"]}, ""


def difference(ours, theirs):
    last, expected = max(v[0] for v in ours.values()), max(v[0] for v in theirs.values())
    ranks = sum(ours.get(rank) != times for rank, times in theirs.items())
    return f"{ranks} of {len(theirs)} ranks differ, {last} ns for {expected}: {last / expected:.4f}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("data")
    parser.add_argument("--report", action="store_true")
    parser.add_argument("--backend")
    parser.add_argument("cases", nargs="*")
    args = parser.parse_args()
    collwire = os.path.abspath(os.environ.get("COLLWIRE", "build/collwire"))
    exact, wrong = 0, []
    with tempfile.TemporaryDirectory() as out:
        cases = (cases_folder if os.path.isdir(args.data) else cases_packed)(args.data, out)
        for case in cases:
            if args.backend not in (None, case["backend"]) or (
                    args.cases and case["case"] not in args.cases):
                continue
            ours, why = run(collwire, case, out)
            same = ours == case["ranks"]
            exact += same
            if not same:
                why = why.splitlines()[0] if ours is None else difference(ours, case["ranks"])
                print(f"{case['case']}: {why}" +
                      (f" (stated: {case['differs']})" if case.get("differs") else ""))
            if same == bool(case.get("differs")):
                wrong.append(case["case"])
    print(f"{exact} exact")
    if wrong and not args.report:
        print("not as expected:", ", ".join(wrong))
    return 0 if args.report or (exact > 0 and not wrong) else 1


if __name__ == "__main__":
    sys.exit(main())
