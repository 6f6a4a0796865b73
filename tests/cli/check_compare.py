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
                            text=True).stdout.splitlines()
    every = [line.split()[0] for line in listed if line[:2] == "  " and line[2] != " "]
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


def check_two_transports(out):
    """A policy replaces that of the transport that can run it; the other one stays."""
    path = os.path.join(SCENARIOS, "mixed-tcp-roce.json")
    compare = [os.environ["COLLWIRE"], "compare", path, "--quiet", "--out", out, "--cc"]
    small = ["--set", "workload[0].bytes=100KB", "--set", "workload[1].bytes=100KB"]
    subprocess.run([*compare, "newreno:ecn,timely,dcqcn", *small], check=True)
    wanted = {"newreno-ecn": ("dcqcn", "newreno"), "timely": ("timely", "cubic"), "dcqcn": ("dcqcn", "cubic")}
    for policy, kinds in wanted.items():
        with open(os.path.join(out, policy, "metrics.json"), encoding="utf-8") as file:
            entries = json.load(file)["scenario"]["cc"]
        assert [e["transport"] for e in entries] == ["roce", "tcp"], entries
        assert tuple(e["kind"] for e in entries) == kinds, (policy, entries)
    subprocess.run([*compare, "all", *small], check=True)
    both, roce = {"none", "window", "dctcp", "swift"}, {"hpcc", "timely", "powertcp"}
    found = {name for name in os.listdir(out) if os.path.isdir(os.path.join(out, name))}
    assert SLOW_START | roce < found and both.isdisjoint(found), found
    refused = subprocess.run([*compare, "dctcp"], check=False, capture_output=True, text=True)
    assert refused.returncode == 2 and "runs on roce and on tcp" in refused.stderr, refused


with tempfile.TemporaryDirectory() as out:
    check_two_transports(os.path.join(out, "two"))
    for name, different in (("incast", 5), ("congestion/victim", 5), ("collectives/allreduce-1d", 1)):
        n = check(name, os.path.join(out, os.path.basename(name)))
        assert n >= different, f"{name}: only {n} different results"
        print(f"{name}: {n} different results")
