# SPDX-License-Identifier: MIT
# `compare --cc all`: the results of policies differ, or the explanations give the reason why they cannot.
# Two policies with equal bytes although packets were marked or notified would share code by mistake.
import json
import os
import subprocess
import sys
import tempfile

SCENARIOS = sys.argv[1]
NOT_RESULTS = ("scenario", "explain", "cc_cuts")  # what may differ between equal runs
NO_FEEDBACK = ("none", "window")
SLOW_START = {"newreno", "cubic"}  # RoCE has no initial window: `all` leaves these out


def results(metrics):
    return json.dumps({k: v for k, v in metrics.items() if k not in NOT_RESULTS}, sort_keys=True)


def runs(name, out):
    path = os.path.join(SCENARIOS, name + ".json")
    subprocess.run([os.environ["COLLWIRE"], "compare", path, "--cc", "all", "--quiet", "--out", out],
                   check=True)
    listed = subprocess.run([os.environ["COLLWIRE"], "list", "cc"], check=True, capture_output=True,
                            text=True).stdout.splitlines()[2:]
    every = [line.split()[0] for line in listed]
    assert SLOW_START < set(every) and SLOW_START.isdisjoint(os.listdir(out)), (name, every)
    for policy in (policy for policy in every if policy not in SLOW_START):
        with open(os.path.join(out, policy, "metrics.json"), encoding="utf-8") as file:
            yield policy, json.load(file)


def check(name, out):
    seen = {}
    for policy, metrics in runs(name, out):
        assert metrics["status"] == "completed", (name, policy)
        twin = seen.setdefault(results(metrics), policy)
        acted = metrics["ecn"]["marked_packets"] > 0 or metrics["cnps"] > 0
        if twin != policy and acted:
            # a policy that ignores marks may be equal only if it never acted
            assert metrics["cc_cuts"] == 0, f"{name}: {policy} and {twin} are the same to the byte"
        if policy not in NO_FEEDBACK and metrics["cc_cuts"] == 0:
            assert any("never acted" in line for line in metrics["explain"]), (name, policy)
    return len(seen)


with tempfile.TemporaryDirectory() as out:
    for name, different in (("incast", 5), ("congestion/victim", 5), ("collectives/allreduce-1d", 1)):
        n = check(name, os.path.join(out, os.path.basename(name)))
        assert n >= different, f"{name}: only {n} different results"
        print(f"{name}: {n} different results")
