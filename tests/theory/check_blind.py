#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Drawn runs whose true cause is known (blind.py): it is among the first two sentences, and no reason names it in the
run without it; the first sentence, if it names a cause, saves at least 2 % of the run; figures are true. `collwire
explain --verify` measures them: a figure without "up to" is the saving within 10 %, a bound holds and is at most twice
the saving. Of a hundred figures three may miss that, and at most one in three is a bound.

usage: check_blind.py SEED N [--table], with the executable in $COLLWIRE. --table prints lines of Markdown.
"""
import json
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

from blind import draw
from reasons_run import COLLWIRE, run_made

REAL = 0.05  # of the run: a drawn cause that costs less is none
FALSE = 0.02  # of the run: less is no saving
TOLERANCE = 0.1
ROUNDING = 0.01  # of the run
WORKERS = 2
# Some delay, some difference between paths and a shorter timer are left; a third algorithm may be better than a second.
REMAINS = ("latency", "uneven_paths", "algorithm", "timer")


def verified(folder, n=4):
    """What `explain --verify` found for the run in a folder."""
    subprocess.run([COLLWIRE, "explain", folder, "--verify", str(n), "--jobs", "1", "--progress", "never"],
                   capture_output=True, check=False)
    path = os.path.join(folder, "verified.json")
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf-8") as file:
        return json.load(file)["causes"]


def figure(cause, bound):
    """"exact", "bound", "none" or "wrong": how the stated saving of a cause compares with the true one."""
    stated, saved, before = cause["stated_ns"], cause["saved_ns"], cause["before_ns"]
    if stated is None or saved is None:
        return "none"
    if bound:
        return "bound" if saved <= stated + ROUNDING * before and stated <= 2 * saved else "wrong"
    return "exact" if abs(saved - stated) <= TOLERANCE * max(saved, stated) else "wrong"


def judge(seed):
    name, made, remedy, kinds = draw(seed)
    with tempfile.TemporaryDirectory() as folder:
        before = run_made(made, [], folder)
        causes = verified(os.path.join(folder, "out"))
        after = run_made(made, remedy, folder)
    total, without = before["jobs"][0]["time_ns"], after["jobs"][0]["time_ns"]
    gone = name in REMAINS or not any(reason["kind"] in kinds for reason in after["reasons"])
    reasons = {reason["sentence"]: reason for reason in before["reasons"]}
    first = [reasons[s]["kind"] if s in reasons else "" for s in before["explain"][:2]]
    leads = bool(causes) and causes[0]["sentence"] == before["explain"][0]
    true = not leads or (causes[0]["saved_ns"] or 0) >= FALSE * causes[0]["before_ns"]
    return {"seed": seed, "name": name, "real": (total - without) / total >= REAL, "saved": (total - without) / total,
            "first": first, "named": any(kind in kinds for kind in first) and gone, "true": true,
            "figures": [(c["kind"], figure(c, reasons[c["sentence"]]["bound"]), c) for c in causes]}


def share(ns, cause):
    return "-" if ns is None else f"{100 * ns / cause['before_ns']:.0f} %"


def table_row(one):
    stated = [f"{kind} {share(c['stated_ns'], c)} / {share(c['saved_ns'], c)}" for kind, _, c in one["figures"][:2]]
    return f"| {one['seed']} | {one['name'].replace('_', ' ')} | {100 * one['saved']:.0f} % | {', '.join(stated)} |"


def main():
    first, n, table = int(sys.argv[1]), int(sys.argv[2]), "--table" in sys.argv
    counts = {"exact": 0, "bound": 0, "none": 0, "wrong": 0}
    bad, real = 0, 0
    with ThreadPoolExecutor(WORKERS) as pool:
        for one in pool.map(judge, range(first, first + n)):
            if not one["real"]:
                continue
            real += 1
            for _, verdict, _ in one["figures"]:
                counts[verdict] += 1
            good = one["named"] and one["true"]
            bad += not good
            figures = " ".join(f"{kind} {share(c['stated_ns'], c)}/{share(c['saved_ns'], c)} {verdict}"
                               for kind, verdict, c in one["figures"])
            verdict = "ok  " if good else "FAIL"
            print(table_row(one) if table else
                  f"{verdict} {one['seed']} {one['name']} {one['saved']:.2f}: {one['first']} {figures}")
    print(f"{real} causes, {bad} bad; figures: {counts}", file=sys.stderr)
    stated = counts["exact"] + counts["bound"] + counts["wrong"]
    sys.exit(bad > 0 or real < n / 2 or 100 * counts["wrong"] > 3 * stated + 50 or 3 * counts["bound"] > stated)


if __name__ == "__main__":
    main()
