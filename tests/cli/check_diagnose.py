#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""collwire diagnose against hidden clusters: a drawn network with a drawn fault, or none, is measured by packets with another seed, noise
of hosts and an error of 3 %; the injected cause must be named first in 85 % and among the first three in 95 %, and healthy networks
told from others in 95 %. Also: wrong inputs, units that are mixed up, the names of counters, resuming, any number of workers.

usage: check_diagnose.py FIRST-LAST [words], with the executable in $COLLWIRE
"""
import json
import os
import random
import sys
import tempfile

from checks import call, expect, failures, write

ERROR = 0.03
FIRST, THIRD, HEALTHY = 0.85, 0.95, 0.95


# ---- clusters ----

def network(draw):
    rate = draw.choice((100, 200, 400))
    link = {"rate": f"{rate}Gbps", "delay": draw.choice(("500ns", "1us"))}
    kind = draw.choice(("switch", "leaf_spine", "leaf_spine", "rail", "fat_tree"))
    size = draw.choice((8, 16, 32))
    dims = {"switch": [{"kind": "switch", "size": size, "link": link}],
            "leaf_spine": [{"kind": "leaf_spine", "size": size, "ranks_per_leaf": size // 4, "spines": size // 4, "link": link, "trunk": link}],
            "rail": [{"kind": "rail", "size": 16, "gpus_per_server": 4, "link": link}],
            "fat_tree": [{"kind": "fat_tree", "size": 16, "link": link}]}[kind]
    if kind in ("rail", "fat_tree"):
        size = 16
    made = {"name": "cluster", "topology": {"dims": dims}, "cc": {"kind": draw.choice(("none", "dcqcn", "dcqcn", "swift"))},
            "workload": draw.choice(({"kind": "collective", "op": "all_reduce", "bytes": "8MB", "algorithm": "ring"},
                                     {"kind": "collective", "op": "all_to_all", "bytes": "4MB", "algorithm": "direct"},
                                     {"kind": "permutation", "shift": size // 2 + 1, "bytes": "2MB"}))}
    if draw.random() < 0.3:
        made |= {"transport": {"kind": "tcp"}, "cc": {"kind": draw.choice(("cubic", "dctcp"))}}
    elif draw.random() < 0.5:
        made["transport"] = {"kind": "roce", "mtu": "4096B"}
    return made, size, rate


def faults(draw, made, size, rate):
    """Causes that this network may have: kind -> the broken scenario. Places and strengths are drawn."""
    rank = draw.randrange(size)
    roce = made.get("transport", {}).get("kind", "roce") == "roce"
    able = {"slow_link": {**made, "faults": [{"at": f"rank{rank}", "rate": {"share": draw.choice((0.25, 0.4, 0.5))}}]},
            "lossy_link": {**made, "faults": [{"at": f"rank{rank}", "one_way": True, "loss": draw.choice((0.001, 0.004, 0.01))}]},
            "pcie": {**made, "nic": {"bus_rate": f"{rate * draw.choice((0.3, 0.5, 0.6)):.0f}Gbps"}}}
    if roce:
        able["mtu"] = {**made, "transport": {"kind": "roce", "mtu": draw.choice(("256B", "512B"))}}
    else:
        able["host_cores"] = {**made, "host": {"preset": "linux", "cores": draw.choice((1, 2))}}
    if made["topology"]["dims"][0]["kind"] == "leaf_spine":
        able["oversubscription"] = {**made, "faults": [{"at": "leaf*->spine*", "rate": {"share": draw.choice((0.25, 0.4))}}]}
    if size <= 8:
        able["hot_job"] = {**made, "workload": [made["workload"], {"kind": "flows", "name": "other", "flows": [
            {"src": (rank + 3) % size, "dst": rank, "bytes": f"{rate * 2}MB"}]}]}
    return able


def measured(folder, scenario, draw, healthy):
    """CSV of what people have of a run: times and bandwidth, counters, use of links."""
    path, out = write(folder, "truth.json", {**scenario, "seed": draw.randrange(2, 1000)}), os.path.join(folder, "truth")
    done = call("run", path, "--quiet", "--progress", "never", "--out", out, "--set", "explain.try=0", "--set", "noise.step.mean=200ns")
    if done.returncode != 0:
        return None
    with open(os.path.join(out, "metrics.json"), encoding="utf-8") as file:
        m = json.load(file)
    values = {("time", ""): m["jobs"][0]["time_ns"], ("max_queue", ""): m["queues"]["max_bytes"], ("drops", ""): m["drops"]["packets"],
              ("retransmitted", ""): m["recovery"]["retransmitted_packets"], ("pauses", ""): m["pfc"]["pause_frames"],
              ("marks", ""): m["ecn"]["marked_packets"], ("cnps", ""): m["cnps"]}
    if m["jobs"][0].get("busbw_bps"):
        values["busbw", ""] = m["jobs"][0]["busbw_bps"]
    names = list(healthy)
    for at in draw.sample(names, min(len(names), 6)):
        values["utilization", at] = next((link["utilization"] for link in m["links"] if link["at"] == at), 0)
    lines = ["quantity,place,value,unit,spread"]
    for (quantity, place), value in values.items():
        lines.append(f"{quantity},{place},{value * draw.gauss(1, ERROR) if value else 0:.6g},,5%")
    return "\n".join(lines) + "\n"


def check_cluster(folder, seed):
    """The drawn cause, the kinds that are named, in their order, and whether the network is called healthy; None = not drawn."""
    draw = random.Random(seed)
    made, size, rate = network(draw)
    path = write(folder, "cluster.json", made)
    out = os.path.join(folder, "healthy")
    done = call("run", path, "--quiet", "--progress", "never", "--out", out, "--set", "explain.try=0")
    if done.returncode != 0:
        return None
    with open(os.path.join(out, "metrics.json"), encoding="utf-8") as file:
        healthy = json.load(file)
    able = faults(draw, made, size, rate)
    kind = draw.choice([*able, "healthy"])
    broken = able.get(kind, made)
    text = measured(folder, broken, draw, [link["at"] for link in healthy["links"]])
    if text is None:
        return None
    if kind != "healthy":
        with open(os.path.join(folder, "truth", "metrics.json"), encoding="utf-8") as file:
            truth = json.load(file)
        if abs(truth["jobs"][0]["time_ns"] / healthy["jobs"][0]["time_ns"] - 1) < 0.20:
            return None  # nobody would look for it
    done = call("diagnose", write(folder, "m.csv", text), "--network", path, "--format", "json", "--progress", "never")
    if done.returncode != 0:
        return kind, [f"failed: {done.stderr[-200:]}"], False
    found = json.loads(done.stdout)
    return kind, [cause["kind"] for cause in found["causes"]], found["healthy"]


def check_hidden(folder, seeds):
    broken = first = third = right = n = 0
    for seed in seeds:
        one = check_cluster(folder, seed)
        if one is None:
            continue
        kind, kinds, healthy = one
        n += 1
        right += healthy == (kind == "healthy")
        if kind == "healthy":
            continue
        broken += 1
        first += kinds[:1] == [kind]
        third += kind in kinds[:3]
        if kinds[:1] != [kind]:
            print(f"{seed}: {kind}, named {kinds[:4]}{' healthy' if healthy else ''}")
    print(f"{n} clusters, healthy right in {right}; {broken} with a cause: first {first}, in the first three {third}")
    expect(right >= HEALTHY * n, "healthy")
    expect(first >= FIRST * broken and third >= THIRD * broken, "causes")


# ---- words ----

SMALL = {"name": "small", "topology": {"dims": [{"kind": "switch", "size": 4, "link": {"rate": "100Gbps", "delay": "1us"}}]},
         "workload": {"kind": "permutation", "shift": 1, "bytes": "2MB"}}


def check_words(folder):
    path = write(folder, "small.json", SMALL)
    out = os.path.join(folder, "o")
    assert call("run", path, "--quiet", "--out", out).returncode == 0
    with open(os.path.join(out, "metrics.json"), encoding="utf-8") as file:
        time = json.load(file)["jobs"][0]["time_ns"]
    good = write(folder, "good.csv", f"quantity,place,value,unit\ntime,,{time / 1000},us\nnp_cnp_sent,,0,\nrx_prio3_pause,,0,\n")
    found = json.loads(call("diagnose", good, "--network", path, "--format", "json").stdout)
    expect(found["healthy"] and found["causes"] == [], "the healthy network is healthy")
    wrong = write(folder, "units.csv", f"quantity,place,value,unit\ntime,,{time},us\n")
    done = call("diagnose", wrong, "--network", path)
    expect(done.returncode == 0 and done.stdout.startswith("all measured values are 1000 times"), f"units: {done.stdout[:200]}")
    slow = write(folder, "slow.csv", f"quantity,place,value,unit,spread\ntime,,{2 * time / 1000},us,3%\nutilization,rank2->dim0.sw0,0.98,,3%\n"
                                     "utilization,rank1->dim0.sw0,0.49,,3%\n")
    one = call("diagnose", slow, path, "--jobs", "1", "--out", os.path.join(folder, "kept"), "-o", os.path.join(folder, "found.json"),
               "--format", "json").stdout
    for more in (("--jobs", "2"), ("--out", os.path.join(folder, "kept"))):
        expect(call("diagnose", slow, path, "--format", "json", *more).stdout == one, f"the same output: {more}")
    first = json.loads(one)["causes"][0]
    expect(first["kind"] == "slow_link" and "rank2" in first["at"] and first["explains"] > 0.9, f"a slow link: {first}")
    with open(os.path.join(folder, "found.json"), encoding="utf-8") as file:
        expect(json.load(file)["faults"][0]["rate"]["share"] == 0.5, "-o writes the first cause")
    for text, words, said in (("quantity,place,value\ntime,nobody,1\n", (), "the results have no time nobody"),
                              ("quantity,place,value\nspeed,,1\n", (), "speed"), ("quantity,place,value\n", (), ""),
                              ("quantity,place,value\ntime,,1\n", ("--budget", "3"), "runs are too few")):
        done = call("diagnose", write(folder, "bad.csv", text), "--network", path, *words)
        expect(done.returncode == 2 and said in done.stderr and done.stdout == "", f"{text!r}: {done.returncode} {done.stderr}")
    expect(call("diagnose", good).returncode == 2 and call("diagnose").returncode == 2, "no scenario")


def main():
    first, last = (int(word) for word in sys.argv[1].split("-"))
    with tempfile.TemporaryDirectory() as folder:
        check_hidden(folder, range(first, last + 1))
        if sys.argv[2:] == ["words"]:
            check_words(folder)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
