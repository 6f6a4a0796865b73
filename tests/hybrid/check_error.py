#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The error of the hybrid network against packets, over drawn jobs (drawn.py) and seeds.

usage: check_error.py FIRST N [--seeds K] [--most RANKS] [--table], with the executable in $COLLWIRE. --table prints lines of
Markdown for docs/hybrid.md.

Of every job, the means over the seeds of the two networks are compared: the time of each job of the scenario. A network of packets
differs among its own seeds, above all where a policy reacts; so its own spread is the other figure: the distance between the mean
of the even and of the odd seeds. Half of the jobs must be within 0.5 %, and nine of ten within 3 %, or within what nine of ten
differ by among their own seeds; without a policy that reacts nine of ten within 1 %. Both networks must complete the same messages.
"""
import json
import os
import statistics
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

from drawn import draw

COLLWIRE = os.environ["COLLWIRE"]
WORKERS = 2


def run(path, network, seed, folder):
    out = os.path.join(folder, f"{network}{seed}")
    done = subprocess.run([COLLWIRE, "run", path, "--quiet", "--out", out, "--set", f"network={network}", "--set", f"seed={seed}"],
                          capture_output=True, text=True, check=False)
    if done.returncode == 2:
        return None, done.stderr
    with open(os.path.join(out, "metrics.json"), encoding="utf-8") as file:
        return json.load(file), done.stderr


def times(runs):
    """[seed][job], in ns."""
    return [[job["time_ns"] for job in run["jobs"]] for run in runs]


def bytes_of(metrics):
    return metrics["flows_summary"]["bytes"], metrics["flows_summary"]["count"]


def compare(seed, seeds, most):
    name, made = draw(seed, most)
    row = {"seed": seed, "kind": name, "policy": made["cc"]["kind"], "noise": "noise" in made, "faults": []}
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "job.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(made, file)
        packet, hybrid = [], []
        for k in range(1, seeds + 1):
            for network, to in (("packet", packet), ("hybrid", hybrid)):
                metrics, stderr = run(path, network, k, folder)
                if metrics is None:
                    row["faults"].append(f"refused: {stderr[-200:]}")
                    return row
                to.append(metrics)
    for p, h in zip(packet, hybrid):
        if p["status"] != h["status"]:
            row["faults"].append(f"packets {p['status']}, hybrid {h['status']}: {h['reason']}")
        elif p["status"] == "completed" and bytes_of(p) != bytes_of(h):
            row["faults"].append(f"messages: packets {bytes_of(p)}, hybrid {bytes_of(h)}")
    if row["faults"] or packet[0]["status"] != "completed":
        return row
    mean = [statistics.mean(column) for column in zip(*times(packet))]
    with_hybrid = [statistics.mean(column) for column in zip(*times(hybrid))]
    row["errors"] = [h / p - 1 for p, h in zip(mean, with_hybrid) if p > 0]
    even, odd = times(packet[0::2]), times(packet[1::2])
    if odd:
        row["spread"] = [abs(statistics.mean(a) / statistics.mean(b) - 1)
                         for a, b in zip(zip(*even), zip(*odd)) if statistics.mean(b) > 0]
    row["quiet"] = statistics.mean(h["hybrid"]["quiet_share"] for h in hybrid)
    row["hops"] = sum(p["packet_hops"] for p in packet), sum(h["packet_hops"] for h in hybrid)
    return row


def quantiles(values):
    ordered = sorted(abs(v) for v in values)
    at = lambda q: ordered[min(len(ordered) - 1, int(q * len(ordered)))]
    return (at(0.5), at(0.9), ordered[-1]) if ordered else (0, 0, 0)


def lines(rows):
    yield "| work | jobs | error p50 | p90 | max | packets' own spread p50 | p90 | max | quiet bytes | packet-hops saved |"
    yield "|---|---|---|---|---|---|---|---|---|---|"
    for kind in sorted({row["kind"] for row in rows}) + ["all"]:
        some = [row for row in rows if kind in (row["kind"], "all") and "errors" in row]
        if not some:
            continue
        errors = quantiles([e for row in some for e in row["errors"]])
        spread = quantiles([s for row in some for s in row.get("spread", [])])
        quiet = statistics.mean(row["quiet"] for row in some)
        packets, hybrid = (sum(row["hops"][i] for row in some) for i in (0, 1))
        cells = [f"{100 * v:.2f} %" for v in (*errors, *spread)]
        yield f"| {kind} | {len(some)} | " + " | ".join(cells) + f" | {100 * quiet:.0f} % | {100 * (1 - hybrid / packets):.0f} % |"


def main():
    options = sys.argv[1:]
    first, n = int(options[0]), int(options[1])
    seeds = int(options[options.index("--seeds") + 1]) if "--seeds" in options else 2
    most = int(options[options.index("--most") + 1]) if "--most" in options else 256
    with ThreadPoolExecutor(WORKERS) as pool:
        rows = list(pool.map(lambda seed: compare(seed, seeds, most), range(first, first + n)))
    faults = [(row["seed"], fault) for row in rows for fault in row["faults"] if not fault.startswith("refused")]
    refused = [row for row in rows if any(fault.startswith("refused") for fault in row["faults"])]
    still = [row for row in rows if "errors" in row and row["policy"] == "none" and row["kind"] != "incast"]
    for row in rows:
        if "errors" in row and max(map(abs, row["errors"]), default=0) > max(0.03, 2 * max(row.get("spread", [0]), default=0)):
            print(f"seed {row['seed']}: {row['kind']}, {row['policy']}, noise {row['noise']}: errors "
                  f"{[f'{100 * e:.2f} %' for e in row['errors']]}, spread {[f'{100 * s:.2f} %' for s in row.get('spread', [])]}")
    print("\n".join(lines(rows)))
    for fault in faults:
        print("FAIL", *fault)
    p50, p90, most_off = quantiles([e for row in still for e in row["errors"]])
    print(f"{len(rows)} jobs, {len(refused)} refused; without a policy: p50 {100 * p50:.2f} %, p90 {100 * p90:.2f} %, max {100 * most_off:.2f} %")
    for row in refused[:3]:
        print("refused", row["seed"], row["faults"])
    half, nine, _ = quantiles([e for row in rows for e in row.get("errors", [])])
    _, own, _ = quantiles([s for row in rows for s in row.get("spread", [])])
    good = half < 0.005 and nine < max(0.03, own) and p90 < 0.01
    if not good:
        print(f"FAIL p50 {half}, p90 {nine} of {own} among seeds, without a policy {p90}")
    sys.exit(bool(faults) or not good or len(refused) > n // 10)


main()
