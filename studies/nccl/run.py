#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""An all-reduce on 128 GPUs over ECMP: a textbook ring against NCCL. Writes data.csv beside this file, and the tables of docs/nccl.md.

usage: run.py [--jobs N] [--tables], with the executable in $COLLWIRE; --tables prints them from data.csv without runs.
"""
import argparse
import concurrent.futures
import csv
import json
import os
import pathlib
import subprocess
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
COLUMNS = ("way", "cc", "bytes", "choice", "time_us", "messages", "flows", "max_over_mean", "max_queue_kb", "pauses")
SIZES = ("1MB", "16MB", "128MB", "1GB")
POLICIES = {
    "none": ({"kind": "none"}, {"kind": "roce"}),
    "dcqcn": ({"kind": "dcqcn"}, {"kind": "roce"}),
    "hpcc": ({"kind": "hpcc"}, {"kind": "roce"}),
    "swift": ({"kind": "swift"}, {"kind": "roce"}),
    "uec": ({"kind": "nscc"}, {"kind": "uec"}),
}
WAYS = {"textbook": {"algorithm": ["ring", "ring"], "schedule": "bandwidth_aware", "chunks": 4}, "nccl": {"library": {"kind": "nccl"}}}


def scenario(way, cc, size):
    policy, transport = POLICIES[cc]
    pace = {"ack_interval": 16} if transport["kind"] == "roce" else {}
    return {
        "name": f"{way}-{cc}-{size}",
        "description": "16 DGX H100, the NICs of two on a leaf, as many links up as down, ECMP",
        "topology": {"machine": "dgx_h100", "nodes": 16, "fabric": {"kind": "leaf_spine", "ranks_per_leaf": 16, "spines": 16}},
        "switch": {"buffer": "64MB"},
        "transport": transport | pace,
        "cc": policy,
        "workload": {"kind": "collective", "op": "all_reduce", "bytes": size, **WAYS[way]},
        "report": {"flows_max": 1},
        "capture": [{"at": "rank0", "file": "rank0.pcap", "to": "1ns"}],  # for qpmap.csv, which lists all flows
    }


def run(way, cc, size):
    with tempfile.TemporaryDirectory() as folder:
        file, out = os.path.join(folder, "scenario.json"), os.path.join(folder, "out")
        with open(file, "w", encoding="utf-8") as to:
            json.dump(scenario(way, cc, size), to)
        subprocess.run([os.environ.get("COLLWIRE", "build/collwire"), "run", file, "--quiet", "--out", out], check=True)
        with open(os.path.join(out, "metrics.json"), encoding="utf-8") as source:
            metrics = json.load(source)
        with open(os.path.join(out, "qpmap.csv"), encoding="utf-8") as source:
            pairs = list(csv.DictReader(source))
    one = metrics["collectives"][0]
    chosen = one["library"]
    choice = f"{chosen['algorithm']} {chosen['protocol']}, {chosen['channels']} channels" if chosen and chosen["channels"] else "rings"
    up = [link["bytes"] for link in metrics["links"] if "->spine" in link["at"]]
    mean = sum(up) / len(up) if up else 0
    between = [p for p in pairs if int(p["src"]) // 8 != int(p["dst"]) // 8]
    return dict(
        zip(
            COLUMNS,
            (
                way,
                cc,
                size,
                choice,
                round(one["duration_ns"] / 1e3, 1),
                one["phases"][0]["messages"],
                len(between),
                round(max(up) / mean, 2) if mean else 0,
                round(max(s["max_bytes"] for s in metrics["queues"]["switches"] if not s["at"].startswith("dim0")) / 1e3),
                metrics["pfc"]["pause_frames"],
            ),
        )
    )


def tables(rows):
    of = {(row["way"], row["cc"], row["bytes"]): row for row in rows}
    print("| bytes | NCCL's choice | flows between servers: ring, NCCL | messages: ring, NCCL | fullest uplink over the mean: ring, NCCL |")
    print("|---:|---|---:|---:|---:|")
    for size in SIZES:
        ring, nccl = of.get(("textbook", "none", size)), of.get(("nccl", "none", size))
        if ring and nccl:
            print(f"| {size} | {nccl['choice']} | {ring['flows']}, {nccl['flows']} | {ring['messages']}, {nccl['messages']} | {ring['max_over_mean']}, {nccl['max_over_mean']} |")
    print()
    print("| bytes | way | " + " | ".join(POLICIES) + " | longest queue KB, " + ", ".join(POLICIES) + " |")
    print("|---:|---|" + "---:|" * (len(POLICIES) + 1))
    for size in SIZES:
        for way in WAYS:
            found = [of.get((way, cc, size)) for cc in POLICIES]
            times = " | ".join(row["time_us"] if row else "" for row in found)
            queues = ", ".join(row["max_queue_kb"] if row else "" for row in found)
            print(f"| {size} | {way} | {times} | {queues} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--sizes", default=",".join(SIZES))
    parser.add_argument("--tables", action="store_true")
    options = parser.parse_args()
    data = HERE / "data.csv"
    if not options.tables:
        wanted = [(way, cc, size) for size in options.sizes.split(",") for way in WAYS for cc in POLICIES]
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool, open(data, "w", encoding="utf-8", newline="") as to:
            writer = csv.DictWriter(to, COLUMNS, lineterminator="\n")
            writer.writeheader()
            for row in pool.map(lambda what: run(*what), wanted):
                writer.writerow(row)
                to.flush()
    with open(data, encoding="utf-8") as source:
        tables(list(csv.DictReader(source)))


main()
