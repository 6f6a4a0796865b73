#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""UEC against uet-htsim (tests/data/uet-htsim): flow completion times of incasts, permutations and all-to-alls, and the queue
of long flows.

usage: check_uec.py SET ...       SET: short, or long; the executable is in $COLLWIRE

The mean of the flows' times is within 5 % of theirs and the largest within 10 %, or within the spread of their seeds where that is
wider. Where one path a flow is chosen by a hash (ECMP) their permutations and ours differ, so both lie within 15 and 30 %.
"""
import csv
import itertools
import json
import os
import random
import subprocess
import sys
import tempfile

DATA = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "data", "uet-htsim", "summary.csv")
FABRICS = {"ls16": (16, 4, 4), "ls64": (64, 8, 8), "ls128": (128, 8, 8), "ls128os4": (128, 8, 2), "ls256": (256, 16, 16)}
POLICIES = {"nscc": "nscc", "rccc": "rccc", "both": "nscc_rccc"}
PACKET, PAYLOAD, HEADER = 4150, 4086, 64
QUEUE, RTO, SLOW_QUEUE, SLOW_RTO = 219950, "41.39us", 5 * 219950, "146.97us"
TARGET, TARGET_WITHOUT_TRIMMING = 162642, 216856  # 0.75 and 1 bandwidth-delay product


def scenario(topo, policy, spray, trim, seed, workload, **more):
    size, per_leaf, spines = FABRICS[topo.removesuffix("_400")]
    link = {"rate": "400Gbps", "delay": "500ns"}
    queue = (QUEUE if trim else SLOW_QUEUE) - PACKET  # ours is without the packet in transmission
    return {"name": "uec", "seed": seed,
            "topology": {"dims": [{"kind": "leaf_spine", "size": size, "ranks_per_leaf": per_leaf, "spines": spines,
                                   "link": link, "trunk": link}]},
            "switch": {"queue_limit": {"bytes": f"{queue}B"}, "trimming": {"enabled": trim, "victim": "coin"}},
            "transport": {"kind": "uec", "mtu": f"{PAYLOAD}B", "spray": spray, "rto": RTO if trim else SLOW_RTO,
                          "wire_overhead": {"data": f"{HEADER}B", "ack": f"{HEADER}B"}},
            "cc": {"kind": POLICIES[policy]}, "workload": workload, **more}


def incast(n, size, _seed):
    return {"kind": "incast", "senders": [16 + i for i in range(n)], "receiver": 0, "bytes": f"{size}B"}


def permutation(n, size, seed):
    rng = random.Random(seed)
    while True:
        to = rng.sample(range(n), n)
        if all(src != dst for src, dst in enumerate(to)):
            return {"kind": "flows", "flows": [{"src": s, "dst": d, "bytes": f"{size}B"} for s, d in enumerate(to)]}


def all_to_all(n, size, seed, window):
    """Every rank sends to all others in a random order, `window` messages at a time."""
    rng, nodes = random.Random(seed), []
    for src in range(n):
        for k, dst in enumerate(rng.sample([d for d in range(n) if d != src], n - 1)):
            send = {"rank": src, "id": 2 * k, "kind": "send", "to": dst, "bytes": f"{size}B"}
            nodes.append(send | ({"after": 2 * (k - window)} if k >= window else {}))
        nodes += [{"rank": src, "id": 1001 + 2 * d, "kind": "recv", "from": d} for d in range(n) if d != src]
    return {"kind": "program", "nodes": nodes}


def run(spec):
    with tempfile.TemporaryDirectory() as out:
        path = os.path.join(out, "s.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(spec, file)
        subprocess.run([os.environ["COLLWIRE"], "run", path, "--quiet", "--out", os.path.join(out, "o")], check=True)
        with open(os.path.join(out, "o", "metrics.json"), encoding="utf-8") as file:
            return json.load(file)


def reference(**keys):
    with open(DATA, encoding="utf-8") as file:
        found = [row for row in csv.DictReader(file) if all(row[key] == value for key, value in keys.items()) and not row["extra"]]
    assert len(found) == 1, (keys, len(found))
    return found[0]


def compare(group, tm, topo, policy, spray, trim, workload, seeds):
    ecmp = spray == "none"
    theirs = reference(group=group, tm=tm, topo=topo, cc=policy, lb="ecmp1" if ecmp else spray, trim=str(int(trim)), failed="0")
    times = [run(scenario(topo, policy, spray, trim, seed, workload(seed)))["flows_summary"]["fct_ns"] for seed in seeds]
    for key, allowed, spread in (("mean", 0.15 if ecmp else 0.05, "spread_mean_pct"), ("max", 0.3 if ecmp else 0.1, "spread_max_pct")):
        ours, other = sum(t[key] for t in times) / len(times) / 1e3, float(theirs[f"fct_{key}"])
        off = ours / other - 1
        print(f"{group} {tm} {policy} {spray} trim {int(trim)}: {key} {ours:.1f} us, theirs {other:.1f}, {100 * off:+.1f} %")
        assert abs(off) <= max(allowed, float(theirs[spread]) / 100), (group, tm, policy, spray, key, ours, other)


def steady(n, trim, mean_queue):
    """The queue of n long flows: within 5 % of theirs, and of the target where flows are few."""
    spec = scenario("ls256", "nscc", "mixed", trim, 1, incast(n, 240_000_000 // n, 1), duration="1500us",
                    report={"sample": "1us", "sample_at": ["leaf0->rank0"]})
    (samples,) = run(spec)["series"]["queue_bytes"].values()
    queue = sum(samples[500:]) / len(samples[500:]) + PACKET
    target = TARGET if trim else TARGET_WITHOUT_TRIMMING
    print(f"steady {n} flows, trim {int(trim)}: queue {queue:.0f} B, theirs {mean_queue}, target {target}")
    assert abs(queue / mean_queue - 1) < 0.05, (n, trim, queue)
    assert 0.97 < queue / target < 1.2, (n, trim, queue)


def alone():
    """One packet takes an RTT, each further one a transmission more: exact to the rounding of 1 ns."""
    for size, packets in ((4086, 1), (40860, 10)):
        fct = run(scenario("ls256", "nscc", "mixed", True, 1, incast(1, size, 1)))["flows_summary"]["fct_ns"]["max"]
        assert abs(fct - 4337.12 - (packets - 1) * PACKET * 8 / 400) <= 1, (size, fct)


def short():
    alone()
    for n, policy in itertools.product((8, 16), POLICIES):
        compare("incast", f"incast{n}_2MB", "ls256_400", policy, "mixed", True, lambda s, n=n: incast(n, 2_000_000, s), (1,))
    for policy, spray, trim in (("nscc", "oblivious", True), ("nscc", "reps", True), ("nscc", "mixed", True), ("nscc", "mixed", False),
                                ("nscc", "bitmap", False), ("rccc", "mixed", True), ("both", "mixed", True)):
        compare("perm128", "perm128", "ls128_400", policy, spray, trim, lambda s: permutation(128, 2_000_000, s), (1,))
    for n, queue in ((2, 161970), (8, 176954), (32, 187608)):
        steady(n, True, queue)


def long():
    for n, policy in itertools.product((64, 128), POLICIES):
        compare("incast", f"incast{n}_2MB", "ls256_400", policy, "mixed", True, lambda s, n=n: incast(n, 2_000_000, s), (1, 2, 3))
    for policy, spray, trim in itertools.product(("nscc", "rccc", "both"), ("oblivious", "bitmap", "reps", "mixed", "none"), (True, False)):
        if policy == "nscc" or (trim and spray in ("oblivious", "mixed", "none")):
            compare("perm128", "perm128", "ls128_400", policy, spray, trim, lambda s: permutation(128, 2_000_000, s), (1, 2, 3))
            if not (policy != "nscc" or (spray == "none")):
                compare("perm16", "perm16", "ls16_400", policy, spray, trim, lambda s: permutation(16, 2_000_000, s), (1, 2, 3))
    for policy in ("nscc", "both"):
        compare("os4", "perm128", "ls128os4_400", policy, "mixed", True, lambda s: permutation(128, 2_000_000, s), (1, 2, 3))
    for policy, (tm, topo, n, size, window) in itertools.product(POLICIES, (("a2a16_w4", "ls16_400", 16, 1_000_000, 4),
                                                                            ("a2a64_w8", "ls64_400", 64, 250_000, 8))):
        compare("a2a", tm, topo, policy, "mixed", True, lambda s, n=n, b=size, w=window: all_to_all(n, b, s, w), (1, 2, 3))
    for n, queue in ((2, 219795), (8, 225574)):
        steady(n, False, queue)


if __name__ == "__main__":
    for name in sys.argv[1:]:
        {"short": short, "long": long}[name]()
