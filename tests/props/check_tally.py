#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Policy tally over random scenarios (docs/tally.md): no drop in a lossless class, the bound on the queue of a
destination, no starvation among equal flows, and never slower than `window` beyond a factor.

usage: check_tally.py FIRST-LAST      seeds; with the executable in $COLLWIRE
"""
import concurrent.futures
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile

COLLWIRE = os.environ["COLLWIRE"]
SLOWER = 2.5  # times as long as window, at most: another draw of paths may put two flows more on a link
SLOWER_THERE = 1.5  # the same on the paths of window, with exact hints
JAIN = 0.6  # of equal flows to one destination, at least
MTU, WIRE = 4096, 4178


def fabric(rng):
    rate = rng.choice([100, 200, 400])
    link = {"rate": f"{rate}Gbps", "delay": f"{rng.choice([300, 500, 1000, 2000])}ns"}
    if rng.random() < 0.4:
        n = rng.randint(3, 48)
        return {"kind": "switch", "size": n, "link": link}, n, rate
    per = rng.choice([2, 4, 8])
    n = per * rng.randint(2, 6)
    return {"kind": "leaf_spine", "size": n, "ranks_per_leaf": per, "spines": rng.randint(1, per), "link": link, "trunk": link}, n, rate


def job(rng, n, ranks=None):
    size = rng.choice([20, 100, 500, 2000]) * 1000
    kind = rng.choice(["incast", "permutation", "collective", "collective"])
    if ranks:
        n = len(ranks)
    if kind == "incast":
        made = {"kind": "incast", "receiver": n - 1, "senders": rng.randint(1, n - 1), "bytes": f"{size}B"}
    elif kind == "permutation":
        made = {"kind": "permutation", "shift": rng.randint(1, n - 1), "bytes": f"{size}B"}
    else:
        op, algorithm = rng.choice([("all_reduce", "ring"), ("all_reduce", "double_binary_tree"), ("all_to_all", "direct"),
                                    ("all_reduce", "direct"), ("all_gather", "ring"), ("all_reduce", "halving_doubling")])
        made = {"kind": "collective", "op": op, "algorithm": algorithm, "bytes": f"{size}B", "chunks": rng.choice([1, 2])}
    return made if not ranks else dict(made, ranks=ranks)


def scenario(seed):
    rng = random.Random(seed)
    dim, n, rate = fabric(rng)
    made = {"name": f"tally-{seed}", "seed": seed, "topology": {"dims": [dim]}, "transport": {"start_jitter": rng.choice(["0ns", "500ns", "5us"])}}
    if rng.random() < 0.25 and n >= 6:
        half = [list(range(0, n, 2)), list(range(1, n, 2))]
        made["workload"] = [dict(job(rng, n, ranks), name=f"job{i}") for i, ranks in enumerate(half)]
    else:
        made["workload"] = job(rng, n)
    if rng.random() < 0.3:
        made["transport"]["hint_error"] = rng.choice([0.1, 0.25, 0.5])
    return made, rate


def run(made, name, folder, **policy):
    file = folder / f"{name}.json"
    file.write_text(json.dumps(dict(made, cc=policy)))
    out = folder / name
    done = subprocess.run([COLLWIRE, "run", str(file), "--quiet", "--out", str(out)], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{name}: {done.returncode} {done.stderr}")
    return json.loads((out / "metrics.json").read_text())


def bound(made, rate, metrics):
    """Of the queue at the destination of an incast or a permutation with exact hints on one switch: 4 BDPs and
    2 packets for each flow and hop; None = not such a scenario."""
    work, dim = made["workload"], made["topology"]["dims"][0]
    if isinstance(work, list) or work["kind"] == "collective" or dim["kind"] != "switch" or "hint_error" in made["transport"]:
        return None
    flows = work.get("senders", 1)
    delay_ns = int(dim["link"]["delay"][:-2])
    packet_ns = WIRE * 8 / rate
    base_ns = 4 * delay_ns + 2 * packet_ns + 2 * 84 * 8 / rate
    return 4 * base_ns * rate / 8 + (2 * flows + 4) * WIRE


def check(seed):
    made, rate = scenario(seed)
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        ours, window = run(made, "ours", folder, kind="tally"), run(made, "window", folder, kind="window")
        there = run(made, "there", folder, kind="tally", paths=False)
    found = []
    if ours["drops"]["packets"] > 0:
        found.append(f"{ours['drops']['packets']} drops")
    most = bound(made, rate, ours)
    if most is not None and ours["queues"]["max_bytes"] > most:
        found.append(f"queue {ours['queues']['max_bytes']}, bound {most:.0f}")
    if most is not None and ours["flows_summary"]["jain"] < JAIN:
        found.append(f"Jain {ours['flows_summary']['jain']}")
    ratio = ours["sim_time_ns"] / window["sim_time_ns"]
    if ratio > SLOWER:
        found.append(f"{ratio:.2f} times as long as window")
    exact = "hint_error" not in made["transport"]
    there_ratio = there["sim_time_ns"] / window["sim_time_ns"] if exact else 1
    if there_ratio > SLOWER_THERE:
        found.append(f"{there_ratio:.2f} times as long as window on the same paths")
    return seed, found, ratio, there_ratio, ours["flows_summary"]["jain"] if most is not None else 1


first, last = map(int, sys.argv[1].split("-"))
with concurrent.futures.ThreadPoolExecutor(2) as pool:
    results = list(pool.map(check, range(first, last + 1)))
for number, found, *_ in results:
    if found:
        print(f"seed {number}: {'; '.join(found)}")
ratios = sorted(ratio for _, _, ratio, _, _ in results)
print(f"{len(results)} scenarios, {sum(bool(found) for _, found, *_ in results)} failed; time by that of window: "
      f"{ratios[0]:.2f} to {ratios[-1]:.2f}, median {ratios[len(ratios) // 2]:.3f}; on its paths at most {max(there for *_, there, _ in results):.2f}; least Jain {min(jain for *_, jain in results):.3f}")
sys.exit(any(found for _, found, *_ in results))
