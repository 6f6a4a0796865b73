#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""UEC against uet-htsim (tests/data/uet-htsim): flow completion times of incasts, permutations and all-to-alls, and the queue
of long flows.

usage: check_uec.py SET ...       SET: short, or long; the executable is in $COLLWIRE

The mean of the flows' times is within 5 % of theirs and the largest within 10 %, or within the spread of their seeds where that is
wider. In all-to-alls with credits uet-htsim's flows starve: one that is in debt asks for its debt divided by the flows of its
port, and with nothing in flight never asks again. Ours ask for the whole debt, and again after a timeout, so they may be up to 10 %
(mean) and 50 % (largest) faster. Where one path a flow is chosen by a hash (ECMP) their permutations and ours differ, so both lie within 15 and 30 %.
"""
import csv
import itertools
import json
import math
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
    """Every rank sends to all others, `window` messages at a time, in the order of uet-htsim's matrices
    (gen_serialn_alltoall.py): in a random ring of ranks each sends to those at distances 1, 1 + h, 1 + 2h, ..., then 2,
    2 + h, ..., with h = (n - 1) // window, so that every rank receives from as many as it sends to."""
    ring, nodes, h = list(range(n)), [], (n - 1) // window
    random.Random(seed).shuffle(ring)
    steps = [d + turn * h for d in range(1, h + 1) for turn in range(window)] + list(range(window * h + 1, n))
    for at, src in enumerate(ring):
        for k, step in enumerate(steps):
            send = {"rank": src, "id": 2 * k, "kind": "send", "to": ring[(at + step) % n], "bytes": f"{size}B"}
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
        starves = group == "a2a" and policy != "nscc"  # see above: ours may be faster
        least = {"mean": -0.1, "max": -0.5}[key] if starves else -max(allowed, float(theirs[spread]) / 100)
        assert least <= off <= max(allowed, float(theirs[spread]) / 100), (group, tm, policy, spray, key, ours, other)


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


def shallow_incast():
    """128 senders into 200 KB of queue: no header is lost, no timer expires, and all is over two RTTs after the last link has
    carried the data and the headers of trimmed packets."""
    spec = scenario("ls256", "nscc", "mixed", True, 1, incast(128, 20 * PAYLOAD, 1))
    spec["switch"]["queue_limit"]["bytes"], spec["transport"]["rto"] = "200KB", "auto"
    m = run(spec)
    trims = m["trims"]["packets"]
    drain, rtt = (128 * 20 * PACKET + trims * HEADER) * 8 / 400, 4337.12
    print(f"shallow incast: {trims} trims, {m['sim_time_ns']} ns, drain {drain:.0f}")
    assert trims > 1000 and m["drops"]["packets"] == 0 and m["uec"]["timeouts"] == 0, (trims, m["drops"], m["uec"])
    assert drain < m["sim_time_ns"] <= drain + 2 * rtt, (m["sim_time_ns"], drain)


def two_to_one(leaves, per_leaf, size):
    """A permutation across leaves with half as many uplinks as hosts, with all links and with one that has failed: with REPS the
    busiest link carries at most 5 % more than its share of data and ACKs (an ACK a packet), the mean flow takes at most
    5 % longer than that. NSCC's windows are not equal when flows end, so the rates of flows differ: 99 of 100 take at most 15 % longer
    (uet-htsim's last flow of 128 at 4:1 too: 192 us, 167 us by the bytes), and the last one of more flows lies farther out. With one path a flow the links are at the bound of hash collisions: the flows take
    as long as the largest number of flows on an uplink or downlink needs; its mean over hashes is that of balls in bins."""
    n, uplinks = leaves * per_leaf, per_leaf // 2
    packets = -(-size // 4096)
    link = {"rate": "400Gbps", "delay": "500ns"}
    flows = [{"src": i, "dst": (i + n // 2) % n, "bytes": f"{size}B", "start": "2us"} for i in range(n)]
    wire, ack = size + packets * (102 + 24), packets * (74 + 24)
    for spray, failed in (("reps", 0), ("reps", 1), ("none", 0)):
        m = run({"name": "uec", "seed": 1,
                 "topology": {"dims": [{"kind": "leaf_spine", "size": n, "ranks_per_leaf": per_leaf, "spines": uplinks,
                                        "link": link, "trunk": link}]},
                 "switch": {"queue_limit": {"bytes": "216KB"}, "trimming": {"enabled": True}},
                 "transport": {"kind": "uec", "spray": spray, "entropies": 256}, "report": {"flows_max": 0},
                 "faults": [{"at": "leaf0->spine0", "down": "0us", "detect": "1ns"}] if failed else [],
                 "workload": {"kind": "flows", "flows": flows}})
        share = per_leaf * (wire + ack) * 8 / 400 / (uplinks - failed)
        busiest = max(l["bytes"] for l in m["links"] if "spine" in l["at"]) * 8 / 400
        fct = m["flows_summary"]["fct_ns"]
        told = f"{n} hosts at 2:1, {spray}, failed {failed}: busiest link {busiest / share:.3f}, flows {fct['mean'] / share:.3f}, p99 {fct['p99'] / share:.3f}, last {fct['max'] / share:.3f} of the bound"
        print(told)
        if spray == "reps":
            assert busiest / share < 1.05 and fct["mean"] / share < 1.05 and fct["p99"] / share < 1.15 and fct["max"] / share < 1.2, told
        else:  # flows on the busiest of the uplinks and downlinks of all leaves
            collisions = max_of_bins(per_leaf, uplinks, 2 * leaves)
            most = busiest / ((wire + ack) * 8 / 400)
            print(f"  most flows on a link {most:.1f}, expected {collisions:.2f}")
            assert abs(most / collisions - 1) < 0.25 and 0.95 < fct["max"] / busiest < 1.1, (told, most, collisions)


def max_of_bins(balls, bins, groups):
    """The mean of the largest number of balls in a bin over independent groups, from the probability that no bin of a group has
    more than k balls: balls! times the coefficient of x^balls in (sum of x^j / j! up to k)^bins, over bins^balls."""
    def at_most(k):
        poly, one = [1.0], [1 / math.factorial(j) for j in range(k + 1)]
        for _ in range(bins):
            poly = [sum(poly[i] * one[j - i] for i in range(len(poly)) if 0 <= j - i <= k) for j in range(min(balls, len(poly) + k - 1) + 1)]
        return min(1.0, poly[balls] * math.factorial(balls) / bins ** balls) if len(poly) > balls else 0.0
    return sum(1 - at_most(k) ** groups for k in range(balls))


def short():
    alone()
    shallow_incast()
    two_to_one(8, 16, 4_000_000)
    for n, policy in itertools.product((8, 16), POLICIES):
        compare("incast", f"incast{n}_2MB", "ls256_400", policy, "mixed", True, lambda s, n=n: incast(n, 2_000_000, s), (1,))
    for policy, spray, trim in (("nscc", "oblivious", True), ("nscc", "reps", True), ("nscc", "mixed", True), ("nscc", "mixed", False),
                                ("nscc", "bitmap", False), ("rccc", "mixed", True), ("both", "mixed", True)):
        compare("perm128", "perm128", "ls128_400", policy, spray, trim, lambda s: permutation(128, 2_000_000, s), (1,))
    for n, queue in ((2, 161970), (8, 176954), (32, 187608)):
        steady(n, True, queue)


def long():
    two_to_one(32, 32, 8_000_000)
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
