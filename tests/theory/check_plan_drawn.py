#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""collwire plan on random small jobs, of which every layout can run: how far is its first from the best of all?

Of each job all degrees run over packets, with the settings that the plan has for them, and besides SETTINGS random ones
(micro-batch, ZeRO, recomputation, virtual stages). Passes if the first is within 5 % of the best in nine of ten jobs, and
within 15 % in all.

usage: check_plan_drawn.py FIRST-LAST [SETTINGS], seeds of jobs, with the executable in $COLLWIRE.
"""
import json
import os
import random
import subprocess
import sys
import tempfile

COLLWIRE = os.environ["COLLWIRE"]


def drawn(rng):
    """A job on two to four servers, and its number of GPUs."""
    server, servers = rng.choice((2, 4)), rng.choice((2, 4))
    rate = rng.choice(("100Gbps", "200Gbps", "400Gbps"))
    experts = rng.choice((0, 0, 4))
    job = {"kind": "llm", "layers": rng.choice((4, 8)), "hidden": rng.choice((256, 512)), "heads": 8,
           "sequence": rng.choice((128, 256)), "vocabulary": rng.choice((2048, 16384)),
           "global_batch": rng.choice((16, 32)), "gpu": rng.choice(("a100", "h100"))}
    if experts:
        job |= {"experts": experts, "moe_every": rng.choice((1, 2))}
    n = server * servers
    return {"name": "drawn", "cc": {"kind": rng.choice(("dcqcn", "none", "hpcc"))},
            "topology": {"dims": [{"kind": "switch", "size": server, "link": {"rate": "2400Gbps", "delay": "250ns"}},
                                  {"kind": "leaf_spine", "size": servers, "ranks_per_leaf": n // 2, "spines": n // 2,
                                   "link": {"rate": rate, "delay": "1us"}, "trunk": {"rate": rate, "delay": "1us"}}]},
            "workload": job}, n


def plans(path, gpus, out, *args):
    got = subprocess.run([COLLWIRE, "plan", path, "--gpus", str(gpus), "--packets-budget", "1e12", "--out", out, "--format",
                          "json", *args], capture_output=True, text=True, check=True)
    return json.loads(got.stdout)["plans"]


def with_settings(made, layout, rng):
    """The job under degrees of a plan with random settings."""
    made = json.loads(json.dumps(made))
    job = made["workload"]
    for key in ("tensor", "pipeline", "data", "expert", "context"):
        job[key] = layout[key]
    job["micro_batch"] = rng.choice((1, 1, 2, 4))
    job["zero"], job["recompute"] = rng.randrange(4), rng.choice(("none", "none", "selective", "full"))
    job["virtual_stages"] = rng.choice((1, 1, 2)) if layout["pipeline"] > 1 else 1
    job["schedule"] = "interleaved" if job["virtual_stages"] > 1 else "1f1b"
    return made


def run(folder, made):
    """The time of an iteration in ns; infinite where it is not accepted."""
    path, out = os.path.join(folder, "run.json"), os.path.join(folder, "run")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(made, file)
    got = subprocess.run([COLLWIRE, "run", path, "--quiet", "--out", out], capture_output=True, text=True, check=False)
    if got.returncode == 2:
        return float("inf")
    with open(os.path.join(out, "metrics.json"), encoding="utf-8") as file:
        return json.load(file)["programs"][0]["total_ns"]


def check(seed, settings):
    rng = random.Random(seed)
    made, gpus = drawn(rng)
    with tempfile.TemporaryDirectory() as folder:
        path, out = os.path.join(folder, "job.json"), os.path.join(folder, "kept")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(made, file)
        every = plans(path, gpus, out, "--best", "100000")
        first = plans(path, gpus, out)[0]
        assert all(p["by"] == "packets" for p in every)
        best = min(p["time_ns"] for p in every)
        others = [run(folder, with_settings(made, rng.choice(every), rng)) for _ in range(settings)]
    best = min([best] + others)
    closed = min(every, key=lambda p: p["closed_form"]["total_ns"])
    print(f"seed {seed}: {gpus} GPUs, {len(every)} degrees; first {first['time_ns'] / best - 1:+.1%} of the best, "
          f"by closed form alone {closed['time_ns'] / best - 1:+.1%}", flush=True)
    return first["time_ns"] / best - 1


def main():
    begin, end = map(int, sys.argv[1].split("-"))
    settings = int(sys.argv[2]) if len(sys.argv) > 2 else 10
    behind = [check(seed, settings) for seed in range(begin, end + 1)]
    near = sum(b <= 0.05 for b in behind)
    print(f"{near} of {len(behind)} within 5 %, the worst {max(behind):+.1%}")
    sys.exit(0 if near >= 0.9 * len(behind) and max(behind) <= 0.15 else 1)


main()
