# SPDX-License-Identifier: MIT
"""Random programs: check_programs.py FIRST COUNT runs programs of the seeds FIRST .. FIRST+COUNT-1.

Every program of a drawn graph completes, or validate names the cycle that was put into it (exit 2), or,
where streams take nodes as they become ready, the run ends with the ranks that wait for each other.
In program order a run is a system of maxima and sums, so that
 - the analytical network is never faster than the longest path: computations, and for what comes from other
   ranks at least two link latencies after they have begun;
 - packets are never faster than the analytical network, but for 1 ns (its times are whole nanoseconds,
   rounded down, so it is the faster one; metrics are rounded to the nearest).
"""
import json
import os
import random
import subprocess
import sys
import tempfile

LATENCY_NS = 500
JOINING = ("all_reduce", "all_gather", "reduce_scatter", "all_to_all")


class Draw:
    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.ranks = self.rng.randint(2, 7)
        self.groups = {f"g{i}": self.rng.sample(range(self.ranks), self.rng.randint(1, self.ranks))
                       for i in range(self.rng.randint(1, 4))}
        self.nodes = []
        self.counts = [0] * self.ranks
        self.in_order = self.rng.random() < 0.7
        self.streams = self.rng.randint(1, 3)

    def add(self, rank, node):
        known = self.counts[rank]
        after = sorted(self.rng.sample(range(known), min(known, self.rng.choice((0, 1, 1, 2, 3)))))
        node = {"rank": rank, "id": known, "after": after, **node}
        self.counts[rank] += 1
        self.nodes.append(node)
        return node

    def make(self):
        for _ in range(self.rng.randint(3, 40)):
            kind = self.rng.choice(("compute", "compute", "wait", "message", "collective", "join", "copy"))
            rank = self.rng.randrange(self.ranks)
            if kind in ("compute", "wait"):
                self.add(rank, {"kind": kind, "time": f"{self.rng.choice((0, 1, 50, 700, 9000))}ns"})
            elif kind == "copy":
                self.add(rank, {"kind": kind, "bytes": self.rng.randint(0, 100000)})
            elif kind == "join":
                self.add(rank, {"kind": kind})
            elif kind == "message":
                other = self.rng.choice([r for r in range(self.ranks) if r != rank])
                # messages of one tag match in the order in which they start, which may differ
                tag, size = len(self.nodes), self.rng.randint(1, 60000)
                self.add(rank, {"kind": "send", "to": other, "tag": tag, "bytes": size})
                self.add(other, {"kind": "recv", "from": rank, "tag": tag})
            else:
                group = self.rng.choice(list(self.groups))
                stream = f"comm{self.rng.randrange(self.streams)}"
                node = {"kind": "collective", "op": self.rng.choice(JOINING), "group": group,
                        "bytes": self.rng.randint(5000, 60000), "stream": stream}
                for member in self.groups[group]:
                    self.add(member, dict(node))
        cycle = None
        if self.rng.random() < 0.15:
            late = [n for n in self.nodes if n["after"]]
            if late:
                node = self.rng.choice(late)
                first = next(n for n in self.nodes
                             if n["rank"] == node["rank"] and n["id"] == node["after"][0])
                first["after"] = first["after"] + [node["id"]]
                cycle = node["rank"]
        if not self.nodes:
            self.add(0, {"kind": "join"})
        return cycle


def longest_path_ns(draw):
    """A lower bound of the end, node by node in the order in which they were drawn."""
    ends, last, sent, joined = {}, {}, {}, {}
    collectives = [dict() for _ in range(draw.ranks)]
    for node in draw.nodes:
        rank, kind = node["rank"], node["kind"]
        start = max([ends[rank, i] for i in node["after"]], default=0)
        stream = {"compute": "compute", "copy": "copy", "collective": node.get("stream")}.get(kind)
        if stream:
            start = max(start, last.get((rank, stream), 0))
        end = start
        if kind in ("compute", "wait"):
            end += int(node["time"][:-2])
        elif kind == "copy":
            end += node["bytes"] * 8 // 400
        elif kind == "send":
            end += 2 * LATENCY_NS
            sent.setdefault((rank, node["to"], node["tag"]), []).append(end)
        elif kind == "recv":
            end = max(end, sent[node["from"], rank, node["tag"]].pop(0))
        elif kind == "collective":
            number = collectives[rank].get(node["group"], 0)
            collectives[rank][node["group"]] = number + 1
            joined.setdefault((node["group"], number), []).append(start)
        ends[rank, node["id"]] = end
        if stream:
            last[rank, stream] = end
    return max(ends.values(), default=0)


def run(scenario, folder, network):
    done = subprocess.run([os.environ["COLLWIRE"], "run", "-", "--out", folder, "--quiet"], check=False,
                          input=json.dumps({**scenario, "network": network}).encode(),
                          capture_output=True)
    metrics = None
    if done.returncode in (0, 1):
        with open(f"{folder}/metrics.json", encoding="utf-8") as f:
            metrics = json.load(f)
    return done.returncode, metrics, done.stderr.decode()


def check(seed, folder):
    draw = Draw(seed)
    cycle = draw.make()
    scenario = {"name": "program", "topology": {"dims": [
        {"kind": "switch", "size": draw.ranks,
         "link": {"rate": "100Gbps", "delay": f"{LATENCY_NS}ns"}}]},
        "workload": {"kind": "program", "order": "program" if draw.in_order else "ready",
                     "comm_streams": draw.streams, "groups": draw.groups, "nodes": draw.nodes}}
    code, metrics, text = run(scenario, folder, "analytical")
    if cycle is not None:
        assert code == 2 and f"rank {cycle}: its nodes wait for each other in a cycle" in text, text
        return "cycle"
    if not draw.in_order and code == 1:
        assert metrics["status"] == "incomplete" and metrics["waiting"], metrics["reason"]
        return "deadlock"
    assert code == 0, text
    total = metrics["programs"][0]["total_ns"]
    code, packets, text = run(scenario, folder, "packet")
    if not draw.in_order:
        assert code == 0 or packets["waiting"], text
        return "ready"
    assert code == 0, text
    # a window of one node delays what is not read, but nothing waits for ever
    code, narrow, text = run({**scenario, "workload": {**scenario["workload"], "window": 1}}, folder,
                             "analytical")
    assert code == 0 and narrow["programs"][0]["total_ns"] >= total, text or "faster with a narrow window"
    least = longest_path_ns(draw)
    assert total >= least, f"{total} ns are less than the longest path's {least}"
    took = packets["programs"][0]["total_ns"]
    assert took >= total - 1, f"packets took {took} ns, less than the closed form's {total}"
    return "completed"


def main(first, count):
    found, bad = {}, 0
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(first, first + count):
            try:
                outcome = check(seed, folder)
                found[outcome] = found.get(outcome, 0) + 1
            except AssertionError as failure:
                bad += 1
                print(f"seed {seed}: {failure}")
    print(found)
    return 1 if bad or not found.get("completed") or not found.get("cycle") else 0


sys.exit(main(int(sys.argv[1]), int(sys.argv[2])))
