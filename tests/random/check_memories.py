#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Random copies between random tiers: every run completes; what each rank sends and receives is what its copies ask for, byte by
byte; no rank ends before the longest of its lower bounds; one thread and three give the same metrics, and
so does the reference engine.

usage: check_memories.py FIRST LAST, numbers of cases, with the executable in $COLLWIRE.
"""
import json
import os
import random
import subprocess
import sys
import tempfile

COLLWIRE = os.environ["COLLWIRE"]
RANKS = 12
LINK_BPS = 100e9


def tier_of(r, hosts):
    """A local tier, a remote one, or a pool."""
    form = r.choice(("local", "local", "remote", "remote", "pool"))
    rate = f"{r.choice((8, 28, 90, 200, 777))}Gbps"
    if form == "pool":
        return {"pool": r.choice(("hierarchical", "ring", "mesh")), "rate": rate, "fabric_rate": "150Gbps", "latency": "700ns"}
    tier = {"latency": r.choice(("0ns", "300ns", "5us"))}
    if r.random() < 0.5:
        tier["rate"] = rate
    else:
        tier |= {"read_rate": rate, "write_rate": f"{r.choice((16, 60, 333))}Gbps"}
    if form == "remote":
        tier |= {"hosts": r.sample(hosts, r.randint(1, len(hosts))), "stripe": r.choice((3000, 65536, 250_000))}
        if r.random() < 0.3:
            tier["class"] = 1
    elif r.random() < 0.5:
        tier["shared_by"] = r.choice(("rank", "server", "all", 2, 3))
    return tier


def copies_of(r, tiers, ranks):
    """Nodes with legal ends, each behind some earlier one of its rank."""
    remote = {name for name, tier in tiers.items() if "hosts" in tier}
    pools = {name for name, tier in tiers.items() if "pool" in tier}
    nodes, names = [], ["hbm", *tiers]
    for rank in range(ranks):
        for i in range(r.randint(1, 5)):
            source, to = r.sample(names, 2)
            if {source, to} <= remote or ({source, to} & pools and "hbm" not in (source, to)):
                source, to = r.choice(names[1:]), "hbm"
            node = {"rank": rank, "id": i, "kind": "copy", "from": source, "to": to, "bytes": r.randint(1, 700_000)}
            if r.random() < 0.5:
                node["stream"] = "none"
            if i > 0 and r.random() < 0.5:
                node["after"] = r.randrange(i)
            nodes.append(node)
    return nodes


def case_of(number):
    r = random.Random(number)
    order = r.sample(range(RANKS), RANKS)
    ranks = sorted(order[:r.randint(3, RANKS - 2)])
    hosts = [rank for rank in range(RANKS) if rank not in ranks]
    tiers = {f"t{i}": tier_of(r, hosts) for i in range(r.randint(1, 4))}
    return {"name": "memories", "seed": number,
            "topology": {"dims": [r.choice((
                {"kind": "switch", "size": RANKS, "link": {"rate": "100Gbps", "delay": "1us"}},
                {"kind": "leaf_spine", "size": RANKS, "ranks_per_leaf": 4, "spines": 2,
                 "link": {"rate": "100Gbps", "delay": "1us"}, "trunk": {"rate": "100Gbps", "delay": "1us"}}))]},
            "cc": {"kind": r.choice(("none", "dcqcn", "swift"))}, "transport": {"rto": "300us", "retry_limit": 100},
            "workload": {"kind": "program", "ranks": ranks, "tiers": tiers, "nodes": copies_of(r, tiers, len(ranks))}}


def run(path, out, *options):
    subprocess.run([COLLWIRE, "run", path, "--quiet", "--out", out, *options], check=True)
    with open(os.path.join(out, "metrics.json"), encoding="utf-8") as file:
        metrics = json.load(file)
    metrics.pop("scenario")
    return metrics


def traffic_of(case):
    """By rank of the network, the bytes of the messages that it sends and receives."""
    job, sums = case["workload"], {}
    for node in job["nodes"]:
        for name, reads in ((node["from"], True), (node["to"], False)):
            tier = job["tiers"].get(name, {})
            if "hosts" not in tier:
                continue
            rank = job["ranks"][node["rank"]]
            count = min(len(tier["hosts"]), -(-node["bytes"] // tier["stripe"]))
            sums.setdefault(rank, [0, 0])
            sums[rank][0] += count * 64 if reads else node["bytes"]
            sums[rank][1] += node["bytes"] if reads else count * 64
    return sums


def bound_ns(case, rank):
    """What a rank cannot be faster than: its bytes on its link in each direction, its own copies on its own memories."""
    job = case["workload"]
    sent = traffic_of(case).get(job["ranks"][rank], [0, 0])
    bounds = [8e9 * max(sent) / LINK_BPS]
    for node in job["nodes"]:
        if node["rank"] == rank:
            for name, key in ((node["from"], "read_rate"), (node["to"], "write_rate")):
                tier = job["tiers"].get(name, {})
                rate = tier.get(key, tier.get("rate"))
                if rate and "pool" not in tier:
                    n = len(tier.get("hosts", [0]))
                    bounds.append(8 * node["bytes"] / float(rate.removesuffix("Gbps")) / n)
    return max(bounds)


def check(number, folder):
    case = case_of(number)
    path = os.path.join(folder, "case.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(case, file)
    metrics = run(path, os.path.join(folder, "one"))
    faults = [] if metrics["status"] == "completed" else [metrics["status"]]
    for rank, (out, back) in traffic_of(case).items():
        got = [sum(flow["bytes"] for flow in metrics["flows"] if flow[end] == rank) for end in ("src", "dst")]
        if got != [out, back]:
            faults.append(f"rank {rank} sends and receives {got}, not {[out, back]}")
    for i, rank in enumerate(metrics["ranks"]):
        if rank["finish_ns"] + 1 < bound_ns(case, i):
            faults.append(f"rank {i} ends at {rank['finish_ns']}, before {bound_ns(case, i):.0f}")
    for options in (("--threads", "3"), ("--plain",)):
        if run(path, os.path.join(folder, "other"), *options) != metrics:
            faults.append(f"{' '.join(options)} differs")
    for fault in faults:
        print(f"case {number}: {fault}")
    return not faults


def main():
    first, last = int(sys.argv[1]), int(sys.argv[2])
    with tempfile.TemporaryDirectory() as folder:
        good = [check(number, folder) for number in range(first, last + 1)]
    print(f"{sum(good)} of {len(good)} cases")
    sys.exit(not all(good))


main()
