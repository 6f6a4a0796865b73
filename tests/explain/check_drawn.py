#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Drawn runs with none, one or two planted causes (planted.py): what `collwire run` says first was tried and saves what it
says, the planted cause is among the first sentences, and no policy is named where `none` saves nothing.

usage: check_drawn.py SEED N [--table], with the executable in $COLLWIRE. --table prints a line of Markdown a cause.

Of N runs:
- a first sentence that a trial supports saves at least 1 % of its job's time, and running the scenario again with its
  settings gives the saving that it states (to the nanosecond: the trial is that run);
- a planted cause counts where its own removal saves 5 % or more. It is "first" where the first sentence names it, or
  names something that saves at least as much; likewise "second". 95 % must be first, 99 % first or second;
- a policy is among the tried reasons with a saving only where `none` saves 1 %.
"""
import json
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

from planted import draw

COLLWIRE = os.environ["COLLWIRE"]
REAL = 0.05  # of the time of the job: a planted cause that costs less does not count
SAVES = 0.01
WORKERS = 2
FIRST, SECOND = 0.95, 0.99


def run(path, out, sets=(), quiet=False):
    args = [COLLWIRE, "run", path, "--out", out, "--progress", "never"] + (["--quiet"] if quiet else [])
    for one in sets:
        args += ["--set", one]
    done = subprocess.run(args, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        return None, done
    with open(os.path.join(out, "metrics.json"), encoding="utf-8") as file:
        return json.load(file), done


def times(metrics):
    return [job["time_ns"] if job["status"] == "completed" else None for job in metrics["jobs"]]


def share_of(before, after, removed=None):
    """The largest share of a job's time that is saved; jobs beyond a removed one have moved up."""
    best = 0
    for j, time in enumerate(before):
        k = j - (removed is not None and j > removed)
        if j != removed and time and k < len(after) and after[k]:
            best = max(best, (time - after[k]) / time)
    return best


def removed_job(sets):
    return int(sets[0][9:sets[0].index("]")]) if sets and sets[0].startswith("workload[") and sets[0].endswith("]=null") else None


def saved_share(reason, before):
    time = before[reason["job"]]
    return reason["saved_ns"] / time if reason["saved_ns"] is not None and time else 0


def again(path, out, reason, before):
    """None if running the scenario again with a reason's settings gives the saving that it states, else the difference. A
    trial on the hybrid network is held against the run on that network."""
    hybrid = ["network=hybrid"] if "tried on the hybrid network" in reason["sentence"] else []
    metrics, done = run(path, out, hybrid + reason["set"], quiet=True)
    if metrics is None:
        return done.stderr[-300:]
    if hybrid:
        before = times(run(path, out, hybrid, quiet=True)[0])
    job, removed = reason["job"], removed_job(reason["set"])
    time = times(metrics)[job - (removed is not None and job > removed)]
    return None if time == before[job] - reason["saved_ns"] else f"{time} for {before[job]} - {reason['saved_ns']}"


def judge(seed):
    name, made, causes = draw(seed)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "made.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(made, file)
        metrics, done = run(path, os.path.join(folder, "out"))
        one = {"seed": seed, "name": name, "bad": [], "causes": []}
        if metrics is None:
            one["bad"].append(f"did not run: {done.stderr[-400:]}")
            return one
        before, reasons = times(metrics), metrics["reasons"]
        named = {reason["sentence"]: reason for reason in reasons}
        lead = [named.get(sentence) for sentence in metrics["explain"][:2]]
        one["lead"] = [(r["kind"], saved_share(r, before)) if r else None for r in lead]
        one["reasons"] = [(r["kind"], r["tried"], round(saved_share(r, before), 3)) for r in reasons if r["set"]]
        first = lead[0] if lead else None
        if first and first["tried"]:
            if saved_share(first, before) < SAVES:
                one["bad"].append(f"the first sentence saves {saved_share(first, before):.3f}: {first['sentence']}")
            wrong = again(path, os.path.join(folder, "again"), first, before)
            if wrong:
                one["bad"].append(f"the trial is another run: {wrong}: {first['sentence']}")
        for reason in reasons:
            if reason["kind"] in ("cuts", "window", "target") and reason["tried"] and reason["saved_ns"] is not None and \
                    metrics["explain"].index(reason["sentence"]) == 0 and saved_share(reason, before) < SAVES:
                one["bad"].append(f"a policy is blamed: {reason['sentence']}")
        for kinds, remedy in causes:
            without, done = run(path, os.path.join(folder, "without"), remedy, quiet=True)
            if without is None:
                one["bad"].append(f"{remedy}: {done.stderr[-300:]}")
                continue
            true = share_of(before, times(without), removed_job(remedy))
            hits = [bool(r) and (r["kind"] in kinds or (r["tried"] and saved_share(r, before) >= true - 0.005)) for r in lead]
            one["causes"].append((kinds, true, hits[:1] == [True], any(hits)))
        return one


def main():
    first, n, table = int(sys.argv[1]), int(sys.argv[2]), "--table" in sys.argv
    bad, real, leads, second = 0, 0, 0, 0
    with ThreadPoolExecutor(WORKERS) as pool:
        for one in pool.map(judge, range(first, first + n)):
            for text in one["bad"]:
                print(f"FAIL {one['seed']} {one['name']}: {text}")
            bad += bool(one["bad"])
            count = [c for c in one["causes"] if c[1] >= REAL]
            # Of two planted causes only one can be first: the sentence that saves most.
            good = any(c[2] for c in count), all(c[3] for c in count)
            if count:
                real += 1
                leads += good[0]
                second += good[1]
            if table or (count and not all(good)):
                print(f"{'ok  ' if all(good) else 'miss'} {one['seed']} {one['name']} "
                      f"{[(c[0][0], round(c[1], 3), c[2], c[3]) for c in one['causes']]} lead {one.get('lead')} {one.get('reasons')}")
    print(f"{n} runs, {bad} bad; {real} with a planted cause of 5 %: {leads} first, {second} in the first two", file=sys.stderr)
    sys.exit(bad > 0 or real < n / 3 or leads < FIRST * real or second < SECOND * real)


if __name__ == "__main__":
    main()
