#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Ranks with several links of a graph: a message takes all of them, in the time of the closed form.

usage: check_ports.py N, with the executable in $COLLWIRE. N drawn graphs, each of one of three shapes: every rank has a link to each of
two to four switches (NVSwitches); to each of two to four leaves of its group, which all spines join (dual ToR); or two to four links to
one switch (NICs). Rings, direct exchanges and halving and doubling take the bytes of a rank over the rate of all its links together,
and the latency of their steps, within 3 %; the first sentence of a run, where it was tried, saves time; and a ring over switches
without `transport.stripe` says that ports are idle.
"""
import json
import os
import random
import subprocess
import sys
import tempfile

COLLWIRE = os.environ["COLLWIRE"]
WITHIN, PAYLOAD, FRAME = 0.03, 4096, 4096 + 98
MB = 1_000_000


def graph(draw):
    """Links of a drawn graph: ranks, links a rank, shape, Gb/s, and links between ranks on a path."""
    ranks, links, shape = draw.choice((4, 8, 16)), draw.choice((2, 3, 4)), draw.choice(("switches", "leaves", "nics"))
    rate, made = draw.choice((100, 200, 400)), []

    def add(a, b, gbps):
        made.append({"a": a, "b": b, "rate": f"{gbps}Gbps", "delay": "500ns"})

    if shape == "leaves":
        groups = ranks // 4
        for rank in range(ranks):
            for link in range(links):
                add(f"rank{rank}", f"sw{rank // 4 * links + link}", rate)
        for leaf in range(groups * links if groups > 1 else 0):
            for spine in range(links):  # a spine for each leaf of a group, wide enough for any choice of paths
                add(f"sw{leaf}", f"sw{groups * links + spine}", 8 * rate)
        return ranks, links, shape, rate, groups * links + (links if groups > 1 else 0), made
    for rank in range(ranks):
        for link in range(links):
            add(f"rank{rank}", f"sw{link if shape == 'switches' else 0}", rate)
    return ranks, links, shape, rate, links if shape == "switches" else 1, made


def run(folder, scenario, sets=()):
    path, out = os.path.join(folder, "s.json"), os.path.join(folder, "out")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(scenario, file)
    done = subprocess.run([COLLWIRE, "run", path, "--progress", "never", "--out", out, *(w for s in sets for w in ("--set", s))],
                          capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    with open(os.path.join(out, "metrics.json"), encoding="utf-8") as file:
        return json.load(file)


def bytes_of(algorithm, ranks, size):
    """What a rank sends in an all-reduce, or in an all-to-all of `size` bytes a rank."""
    return 2 * (ranks - 1) / ranks * size if algorithm != "direct" else (ranks - 1) / ranks * size


def check(seed):
    draw = random.Random(seed)
    ranks, links, shape, rate, switches, made = graph(draw)
    algorithm = draw.choice(("ring", "direct", "halving_doubling"))
    size = draw.choice((32, 64, 128)) * MB
    scenario = {"name": "ports", "seed": seed, "topology": {"dims": [{"kind": "graph", "size": ranks, "file": "net.json"}]},
                "transport": {"mtu": f"{PAYLOAD}B"},
                "workload": {"kind": "collective", "op": "all_to_all" if algorithm == "direct" else "all_reduce", "bytes": size,
                             "algorithm": algorithm}}
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "net.json"), "w", encoding="utf-8") as file:
            json.dump({"switches": switches, "links": made}, file)
        metrics = run(folder, scenario)
        idle = run(folder, scenario, ("transport.stripe=false", "explain.try=0"))
    one = metrics["collectives"][0]
    line_ns = bytes_of(algorithm, ranks, size) * FRAME / PAYLOAD * 8 / (links * rate)
    took, wrong = one["end_ns"] - one["start_ns"], []
    if not 0.999 * line_ns <= took:
        wrong.append(f"faster than its links: {took} for {line_ns:.0f}")
    if one["efficiency"] is None or one["efficiency"] < 1 - WITHIN or one["efficiency"] > 1.0005:
        wrong.append(f"efficiency {one['efficiency']}")
    first = next((r for r in metrics["reasons"] if r["sentence"] == metrics["explain"][0]), None)
    if first and first["tried"] and not (first["saved_ns"] or 0) > 0:
        wrong.append(f"first sentence: {first['sentence']}")
    if any("idle planes" in sentence for sentence in metrics["explain"]):
        wrong.append("ports are idle")
    if algorithm == "ring" and shape == "switches" and not any("idle planes" in sentence for sentence in idle["explain"]):
        wrong.append("idle ports are not said")
    return f"{seed}: {ranks} ranks, {links} links, {shape}, {algorithm}: {'; '.join(wrong)}" if wrong else None


def main():
    wrong = [text for text in map(check, range(int(sys.argv[1]))) if text]
    print("\n".join(wrong) or f"{sys.argv[1]} graphs")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
