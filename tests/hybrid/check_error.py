#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The error of the hybrid network against packets, over drawn jobs (drawn.py) and seeds.

usage: check_error.py FIRST N [--seeds K] [--most RANKS] [--rows FILE], with the executable in $COLLWIRE. FILE keeps a line of JSON
for each job, and jobs that it has are not run again; write_error.py makes docs/hybrid.md and sim/hybrid/error_rows.h of it.

Of every job the means over the seeds of the two networks are compared: the time of each job of the scenario, of its collectives,
and what a training job waits for communication. A network of packets differs among its own seeds, above all where a policy reacts;
so its own spread is the other figure: the distance between the mean of the even and of the odd seeds. Every third job runs under a
second policy as well, and the ratio of the two policies' times is compared. Half of the times must be within 0.5 %, and nine of ten
within 3 %, or within what nine of ten differ by among their own seeds; without a policy that reacts nine of ten within 1 %. Both
networks must complete the same messages.
"""
import json
import os
import statistics
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

from drawn import draw, other_policy

COLLWIRE = os.environ["COLLWIRE"]
WORKERS = 2
NETWORKS = ("packet", "hybrid")
PAIRS = 3  # one job of so many has a second policy


def run(path, network, seed, folder):
    out = os.path.join(folder, f"{network}{seed}")
    done = subprocess.run([COLLWIRE, "run", path, "--quiet", "--out", out, "--set", f"network={network}", "--set", f"seed={seed}"],
                          capture_output=True, text=True, check=False)
    if done.returncode == 2:
        raise ValueError(f"refused: {done.stderr[-200:]}")
    with open(os.path.join(out, "metrics.json"), encoding="utf-8") as file:
        return json.load(file)


def values(metrics):
    """What a run says of its jobs, by measure, in ns."""
    return {"completion": [job["time_ns"] for job in metrics["jobs"]],
            "collective": [job["collective_ns"] for job in metrics["jobs"] if job["collective_ns"]],
            "exposed": [p["exposed_comm_ns"] for p in metrics["programs"] if p["exposed_comm_ns"]]}


def means(runs, measure):
    """Over the seeds, of each job."""
    return [statistics.mean(column) for column in zip(*(values(run)[measure] for run in runs))]


def both(made, seeds):
    """The runs of the two networks over the seeds, by network."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "job.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(made, file)
        return {n: [run(path, n, k, folder) for k in range(1, seeds + 1)] for n in NETWORKS}


def faults_of(runs):
    for p, h in zip(runs["packet"], runs["hybrid"]):
        count = [(m["flows_summary"]["bytes"], m["flows_summary"]["count"]) for m in (p, h)]
        if p["status"] != h["status"]:
            yield f"packets {p['status']}, hybrid {h['status']}: {h['reason']}"
        elif p["status"] == "completed" and count[0] != count[1]:
            yield f"messages: packets {count[0]}, hybrid {count[1]}"


def apart(a, b):
    return [y / x - 1 for x, y in zip(a, b) if x > 0]


def ratio_error(seed, made, runs, seeds):
    """How far the ratio of two policies' times is off, for each job; and how far it is among the packets' own seeds."""
    other = both(other_policy(seed, made), seeds)
    if any(run["status"] != "completed" for runs_of in other.values() for run in runs_of):
        return [], []
    ratio = lambda network, part: [b / a for a, b in zip(means(runs[network][part], "completion"), means(other[network][part], "completion"))]
    whole = slice(None)
    own = apart(ratio("packet", slice(0, None, 2)), ratio("packet", slice(1, None, 2))) if seeds > 1 else []
    return apart(ratio("packet", whole), ratio("hybrid", whole)), own


def compare(seed, seeds, most):
    name, made = draw(seed, most)
    row = {"seed": seed, "kind": name, "policy": made["cc"]["kind"], "noise": "noise" in made, "faults": []}
    try:
        runs = both(made, seeds)
        row["faults"] = list(faults_of(runs))
        packet, hybrid = runs["packet"], runs["hybrid"]
        if row["faults"] or any(run["status"] != "completed" for run in packet):
            return row
        row["errors"] = {m: apart(means(packet, m), means(hybrid, m)) for m in values(packet[0])}
        if seeds > 1:
            row["spread"] = {m: apart(means(packet[0::2], m), means(packet[1::2], m)) for m in values(packet[0])}
        if seed % PAIRS == 0:
            row["errors"]["ratio"], own = ratio_error(seed, made, runs, seeds)
            row.setdefault("spread", {})["ratio"] = own
    except ValueError as refusal:
        row["faults"].append(str(refusal))
        return row
    row["quiet"] = statistics.mean(h["hybrid"]["quiet_share"] for h in hybrid)
    row["hops"] = sum(p["packet_hops"] for p in packet), sum(h["packet_hops"] for h in hybrid)
    return row


def quantiles(many):
    """p50, p90 and the most of distances."""
    ordered = sorted(abs(v) for v in many)
    at = lambda q: ordered[min(len(ordered) - 1, int(q * len(ordered)))]
    return (at(0.5), at(0.9), ordered[-1]) if ordered else (0, 0, 0)


def gathered(rows, what, measure):
    return [v for row in rows for v in row.get(what, {}).get(measure, [])]


def all_rows(first, n, seeds, most, path):
    known = {}
    if path and os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            known = {row["seed"]: row for row in map(json.loads, file)}
    made = [seed for seed in range(first, first + n) if seed not in known]
    with ThreadPoolExecutor(WORKERS) as pool:
        for row in pool.map(lambda seed: compare(seed, seeds, most), made):
            known[row["seed"]] = row
            if path:
                with open(path, "a", encoding="utf-8") as file:
                    file.write(json.dumps(row) + "\n")
    return [known[seed] for seed in range(first, first + n)]


def main():
    options = sys.argv[1:]
    first, n = int(options[0]), int(options[1])
    option = lambda name, default: options[options.index(name) + 1] if name in options else default
    rows = all_rows(first, n, int(option("--seeds", 2)), int(option("--most", 256)), option("--rows", None))
    refused = [row for row in rows if any(fault.startswith("refused") for fault in row["faults"])]
    faults = [(row["seed"], fault) for row in rows for fault in row["faults"] if row not in refused]
    for row in rows:
        off, own = (max(map(abs, row.get(what, {}).get("completion", [])), default=0) for what in ("errors", "spread"))
        if off > max(0.03, 2 * own):
            print(f"seed {row['seed']}: {row['kind']}, {row['policy']}, noise {row['noise']}: error {100 * off:.2f} %, spread {100 * own:.2f} %")
    for measure in ("completion", "collective", "exposed", "ratio"):
        error, own = (quantiles(gathered(rows, what, measure)) for what in ("errors", "spread"))
        print(f"{measure}: p50, p90, max " + ", ".join(f"{100 * v:.2f} %" for v in error) + "; among packets' seeds " + ", ".join(f"{100 * v:.2f} %" for v in own))
    for fault in faults:
        print("FAIL", *fault)
    still = [row for row in rows if row["policy"] == "none" and row["kind"] != "incast"]
    p50, p90, most_off = quantiles(gathered(still, "errors", "completion"))
    print(f"{len(rows)} jobs, {len(refused)} refused; without a policy: p50 {100 * p50:.2f} %, p90 {100 * p90:.2f} %, max {100 * most_off:.2f} %")
    for row in refused[:3]:
        print("refused", row["seed"], row["faults"])
    half, nine, _ = quantiles(gathered(rows, "errors", "completion"))
    _, own, _ = quantiles(gathered(rows, "spread", "completion"))
    good = half < 0.005 and nine < max(0.03, own) and p90 < 0.01
    if not good:
        print(f"FAIL p50 {half}, p90 {nine} of {own} among seeds, without a policy {p90}")
    sys.exit(bool(faults) or not good or len(refused) > n // 10)


if __name__ == "__main__":
    main()
