#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares collectives over TCP of the simulator with measured ones over Linux TCP (tests/data/mpi-tcp).

check_collectives.py [--table] [CASE...] runs the cases (default: all but those of a policy that is not modelled) with
several seeds of the measured noise of hosts, and compares the median of each end with the measured ones: it must lie
within 5 % of the measured median or inside the measured range. Fails if fewer than 90 % of the ends do; docs/tcp.md
says which do not, and what is known of them.
"""
import concurrent.futures
import csv
import json
import os
import statistics
import subprocess
import sys
import tempfile

COLLWIRE = os.environ.get("COLLWIRE", "build/collwire")
DATA = os.path.join(os.path.dirname(__file__), "..", "data", "mpi-tcp", "runs.csv")
SHARE, WITHIN = 0.9, 0.05
SEEDS = 41  # the median of a distribution with two modes needs more than five: 201 give the same ends
FAST = "400Gbps"  # hosts reach the switch without delay
QUICK = 1464  # packets acknowledged one by one: 16 MB receive buffer
# The spread of starts in the notes of the measurement: up to 1 ms, and 5 ms for all-to-alls, which post 7 messages.
START = {"a2a": "5ms"}
START_OTHERS = "1ms"
ENDS = ("first_ms", "total_ms")
POLICY = {"reno": "newreno", "cubic": "cubic"}


class Program:
    """Nodes of all ranks, in the form of a job of kind program."""

    def __init__(self, ranks):
        self.nodes, self.counts = [], [0] * ranks

    def add(self, rank, after, **node):
        self.counts[rank] += 1
        self.nodes.append({"rank": rank, "id": self.counts[rank], "after": after, **node})
        return self.counts[rank]

    def send(self, rank, peer, size, after):
        return self.add(rank, after, kind="send", to=peer, bytes=size)

    def recv(self, rank, peer, after):
        return self.add(rank, after, kind="recv", **{"from": peer})


def ring(p, n, rank, size, after):
    """Reduce-scatter and all-gather; the segment of a step is sent when that of the step before has arrived."""
    last = after
    for _ in range(2 * (n - 1)):
        p.send(rank, (rank + 1) % n, size // n, last)
        last = [p.recv(rank, (rank - 1) % n, last)]
    return last


def exchange(p, rank, peer, size, after):
    p.send(rank, peer, size, after)
    return [p.recv(rank, peer, after)]


def doubling(p, n, rank, size, after):
    """Recursive doubling with the full vector."""
    last, distance = after, 1
    while distance < n:
        last = exchange(p, rank, rank ^ distance, size, last)
        distance *= 2
    return last


def rabenseifner(p, n, rank, size, after):
    last, steps, distance = after, [], 1
    while distance < n:
        steps.append((distance, size // (2 * distance)))
        distance *= 2
    for distance, part in steps + steps[::-1]:
        last = exchange(p, rank, rank ^ distance, part, last)
    return last


def all_to_all(p, n, rank, size, after):
    """Everything is posted at once."""
    for d in range(1, n):
        p.send(rank, (rank + d) % n, size, after)
    return [p.recv(rank, (rank - d) % n, after) for d in range(1, n)]


def pairwise(p, n, rank, size, after):
    last = after
    for d in range(1, n):
        p.send(rank, (rank + d) % n, size, last)
        last = [p.recv(rank, (rank - d) % n, last)]
    return last


def broadcast(p, n, rank, size, after):
    """A binomial tree; a rank sends to all its children at once."""
    last, distance = after, 1
    while distance < n:
        if rank & distance:
            last = [p.recv(rank, rank - distance, after)]
            break
        distance *= 2
    distance //= 2
    while distance > 0:
        if rank + distance < n:
            p.send(rank, rank + distance, size, last)
        distance //= 2
    return last


APPS = {"ring": ring, "rd": doubling, "rab": rabenseifner, "a2a": all_to_all, "pairwise": pairwise,
        "bcast": broadcast}


def program(app, n, size, iterations):
    p = Program(n)
    for rank in range(n):
        after = []
        for _ in range(iterations):
            if app == "incast":  # all iterations are written at once
                if rank > 0:
                    p.send(rank, 0, size, [])
                else:
                    for peer in range(1, n):
                        p.recv(0, peer, [])
            else:
                after = APPS[app](p, n, rank, size, after)
    return {"kind": "program", "nodes": p.nodes}


def parameters(text):
    """The parameters of a case, and those of each of its jobs: `job` is ranks@start@policy."""
    words = [word.split("=", 1) for word in text.split()]
    box = {key: value for key, value in words if key != "job"}
    jobs = [value.split("@") for key, value in words if key == "job"]
    return box, [box | {"cc": policy} for _, _, policy in jobs] or [box]


def network(box, n):
    """The exact star: an output port has a rate, a delay and a limited queue. With `uprate` each host has a FIFO
    before it, into which the packets of a window go at once: a switch of its own."""
    rate, delay = float(box["rate"]), f"{float(box['dly']):g}ms"
    slow = dict([box["slow"].split(":")]) if "slow" in box else {}
    links = []
    for rank in range(n):
        up = {"rate": FAST, "delay": "0ns"}
        if "tbf" in box:  # a shaper whose queue TCP small queues keep short
            up["rate"] = f"{int(float(box['tbf']))}bps"
        down = {"rate": f"{int(float(slow.get(str(rank), rate)))}bps", "delay": delay}
        if "uprate" in box:
            links.append({"a": f"rank{rank}", "b": f"sw{1 + rank}", **up})
            up["rate"] = f"{int(float(box['uprate']))}bps"
        links.append({"a": f"sw{1 + rank}" if "uprate" in box else f"rank{rank}", "b": "sw0", **up, "reverse": down})
    return {"switches": 1 + n if "uprate" in box else 1, "links": links}


def scenario(case, box, jobs, seed):
    n = int(box["n"])
    made = {"name": case.replace("+", "_"), "seed": seed,
            "topology": {"dims": [{"kind": "graph", "size": n, "file": "star.json"}]},
            "transport": {"kind": "tcp", "wire_overhead": {"data": "52B", "ack": "52B"}, "timer_tick": "4ms",
                          "sack_compression": "1ms", "receive_window": "16MB", "send_buffer": "16MB",
                          "quick_ack": QUICK},
            "cc": {"kind": POLICY[jobs[0]["cc"]]},
            "switch": {"buffer": "4GB", "lossy_alpha": 1000, "pfc": {"enabled": False},
                       "queue_limit": {"packets": int(box["qpk"]) - 1, "at": "dim0.sw0"}},
            "noise": {"start": START.get(jobs[0]["app"], START_OTHERS)},
            "report": {"flows_max": 100000},
            "limits": {"stall": "1000s"}}
    if "ecnk" in box:
        made["transport"]["ecn"] = "on"
        made["switch"]["ecn"] = {"enabled": True, "kmin_packets": int(box["ecnk"]), "at": "arrival"}
    made["workload"] = [program(job["app"], n, int(job["bytes"]), int(job["iters"])) | {"name": f"job{i}"}
                        for i, job in enumerate(jobs)]
    return made


def ends_of(metrics, jobs):
    """The ends of the first and the last iteration of each job, in ms, by the names of the data."""
    ends = {}
    for i, job in enumerate(jobs):
        pairs, first, total = {}, 0, 0
        for f in metrics["flows"]:
            if f["job"] == i:
                pairs.setdefault((f["src"], f["dst"]), []).append(f["start_ns"] + f["delivered_ns"])
        for times in pairs.values():
            times.sort()
            first = max(first, times[len(times) // int(job["iters"]) - 1])
            total = max(total, times[-1])
        prefix = f"job{i}_" if len(jobs) > 1 else ""
        ends |= {prefix + "first_ms": first / 1e6, prefix + "total_ms": total / 1e6}
    return ends


def run(work):
    case, box, jobs, seed = work
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "star.json"), "w", encoding="utf-8") as file:
            json.dump(network(box, int(box["n"])), file)
        path = os.path.join(folder, "scenario.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(scenario(case, box, jobs, seed), file)
        done = subprocess.run([COLLWIRE, "run", path, "--quiet", "--out", os.path.join(folder, "out")],
                              capture_output=True, check=False)
        if done.returncode != 0:
            raise RuntimeError(f"{case}: {done.stderr.decode()}")
        with open(os.path.join(folder, "out", "metrics.json"), encoding="utf-8") as file:
            return case, ends_of(json.load(file), jobs)


def is_modelled(case):
    """Not BBR."""
    return "bbr" not in case


def main():
    words = [w for w in sys.argv[1:] if w != "--table"]
    table = "--table" in sys.argv[1:]
    rows, cases = {}, {}
    with open(DATA, encoding="utf-8") as file:
        for row in csv.DictReader(file):
            cases[row["case"]] = row["box_parameters"]
            if row["metric"].endswith(ENDS):
                rows[row["case"], row["metric"]] = [float(row[k]) for k in ("median", "min", "max")]
    chosen = [c for c in cases if is_modelled(c) and (not words or any(c.startswith(w) for w in words))]
    work = [(c, *parameters(cases[c]), seed) for c in chosen for seed in range(1, SEEDS + 1)]
    found = {}
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for case, ends in pool.map(run, work):
            for metric, value in ends.items():
                found.setdefault((case, metric), []).append(value)
    good = total = 0
    for key, values in found.items():
        if key not in rows:
            continue
        median, low, high = rows[key]
        ours = statistics.median(values)
        holds = low <= ours <= high or abs(ours - median) <= WITHIN * median
        good, total = good + holds, total + 1
        if table or not holds:
            print(f"{'   ' if holds else 'OUT'} {key[0]:34} {key[1]:9} Linux {median:9.1f} [{low:.1f}, {high:.1f}] "
                  f"ours {ours:9.1f} [{min(values):.1f}, {max(values):.1f}] {ours / median:.3f}")
    print(f"{good} of {total} ends within {WITHIN:.0%} or inside the measured range ({good / total:.1%})")
    return good < SHARE * total


if __name__ == "__main__":
    sys.exit(main())
