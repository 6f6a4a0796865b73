#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Training in the words of its users: MFU, tokens and GPU-hours against their formulas, and `collwire shrink`, whose
messages have the sizes of the whole job's.

usage: check_training.py SCENARIOS, with the executable in $COLLWIRE.
"""
import json
import os
import re
import subprocess
import sys
import tempfile

COLLWIRE, SCENARIOS = os.path.abspath(os.environ["COLLWIRE"]), os.path.abspath(sys.argv[1])
failures = []


def expect(condition, what):
    print("ok  " if condition else "FAIL", what)
    if not condition:
        failures.append(what)


def run(scenario, folder, *sets):
    path, out = os.path.join(folder, "job.json"), os.path.join(folder, "out")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(scenario, file)
    subprocess.run([COLLWIRE, "run", path, "--quiet", "--out", out, *sets], check=True)
    with open(os.path.join(out, "metrics.json"), encoding="utf-8") as file:
        return json.load(file)


def model(**more):
    job = {"kind": "llm", "model": "custom", "layers": 8, "hidden": 2048, "heads": 16, "sequence": 1024,
           "vocabulary": 32000, "gpu": "h100", "global_batch": 16, "pipeline": 2, "tensor": 2, "data": 2} | more
    return {"name": "llm", "workload": job, "topology": {"dims": [
        {"kind": "switch", "size": 8, "link": {"rate": "400Gbps", "delay": "500ns"}}]}}


def flops(job):
    """Of an iteration: Narayanan et al., SC 2021, section 5.1, with the causal half of attention counted in full."""
    h, tokens, layers = job["hidden"], job["global_batch"] * job["sequence"], job["layers"]
    layer = 8 * h * h + 16 * h * h + 4 * job["sequence"] * h  # attention, feed-forward (4h), scores
    return 3 * tokens * (layers * layer + 2 * h * job["vocabulary"])


def words(folder):
    peak = 989.4e12
    for more in ({}, {"pipeline": 1, "tensor": 4}, {"recompute": "full"}, {"iterations": 2}):
        made = model(**more)
        job, program = made["workload"], run(made, folder)["programs"][0]
        seconds, iterations = program["total_ns"] / 1e9, job.get("iterations", 1)
        mfu = iterations * flops(job) / (seconds * 8 * peak)
        tokens = iterations * job["global_batch"] * job["sequence"] / seconds
        expect(abs(program["mfu"] - mfu) < 2e-3 * mfu, f"MFU of {more}: {program['mfu']} against {mfu}")
        expect(abs(program["tokens_per_s"] - tokens) < 1e-3 * tokens, f"tokens/s: {program['tokens_per_s']}")
        expect(abs(program["gpu_hours"] - 8 * seconds / 3600) < 1e-6 * program["gpu_hours"], "GPU-hours")
        expect(0 < program["mfu"] < 0.5 and 0 <= program["exposed_share"] < 1, f"shares: {program['exposed_share']}")
    alone = run(model(pipeline=1, tensor=1, data=1, global_batch=4) | {"topology": {"dims": [
        {"kind": "switch", "size": 1}]}}, folder)["programs"][0]
    expect(alone["exposed_share"] == 0 and abs(alone["mfu"] - 0.5) < 0.1, f"a GPU alone: {alone['mfu']}")


def sizes(metrics):
    return {flow["bytes"] for flow in metrics["flows"]}


def shrink(folder):
    whole, small = os.path.join(folder, "whole.json"), os.path.join(folder, "small.json")
    made = model(iterations=2, zero=0)
    with open(whole, "w", encoding="utf-8") as file:
        json.dump(made, file)
    done = subprocess.run([COLLWIRE, "shrink", whole, "-o", small], capture_output=True, text=True, check=False)
    expect(done.returncode == 0 and "layers 8 -> 2" in done.stderr and "bubble" in done.stderr, f"{done.stderr}")
    with open(small, encoding="utf-8") as file:
        smaller = json.load(file)
    # results of the smaller job do not pass for those of the whole one
    expect(smaller["name"] == made["name"] + "-shrunk", smaller["name"])
    expect(smaller["shrunk"].startswith(f"of {made['name']}; ") and "layers 8 -> 2" in smaller["shrunk"], smaller["shrunk"])
    shown = subprocess.run([COLLWIRE, "run", small, "--out", os.path.join(folder, "small")], capture_output=True, text=True,
                           check=True).stdout
    expect(shown.startswith(smaller["name"]) and f"  shrunk: of {made['name']}; " in shown, "a run says that it is shrunk")
    words = " ".join(shown.split())
    expect(re.search(r"tokens/s \d+, MFU [\d.]+ of the shrunk job; the whole one runs in closed form, in seconds", words)
           and "network=analytical" in words and words.count("tokens/s") == words.count("MFU") == 1, f"rates of a shrunk job: {shown}")
    expect(smaller["workload"]["shrunk"].startswith("layers 8 -> 2"), f"the job says so too: {smaller['workload']}")
    with open(os.path.join(folder, "small", "metrics.json"), encoding="utf-8") as file:
        expect(json.load(file)["programs"][0]["shrunk"] == smaller["workload"]["shrunk"], "and its results")
    shown = subprocess.run([COLLWIRE, "compare", small, "--cc", "none,dcqcn", "--out", os.path.join(folder, "two")], capture_output=True,
                           text=True, check=True).stdout
    expect(shown.count(f"shrunk: of {made['name']}; ") == 1 and "network=analytical" in shown, f"a comparison says so once: {shown}")
    shown = subprocess.run([COLLWIRE, "run", whole, "--out", os.path.join(folder, "large")], capture_output=True, text=True,
                           check=True).stdout
    expect("shrunk" not in shown, "a run of the whole does not")
    all_flows = ("--set", "report.flows_max=100000")
    before, after = run(made, folder, *all_flows), run(smaller, folder, *all_flows)
    ordinary = sizes(before) & sizes(after)
    expect(len(after["flows"]) < len(before["flows"]) / 4, f"{len(after['flows'])} of {len(before['flows'])} messages")
    # gradients are exchanged by all layers of a stage together, so these are smaller
    expect(len(sizes(after) - ordinary) <= 2, f"sizes of messages: {sizes(after)} of {sizes(before)}")
    for scenario in (small, f"{SCENARIOS}/incast.json"):
        done = subprocess.run([COLLWIRE, "shrink", scenario], capture_output=True, text=True, check=False)
        expect(done.returncode == 2 and "nothing repeats" in done.stderr and not done.stdout, f"{done.stderr}")


with tempfile.TemporaryDirectory() as place:
    words(place)
    shrink(place)
sys.exit(len(failures) > 0)
