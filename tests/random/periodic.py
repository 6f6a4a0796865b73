#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs with engine.fast_forward exact against full runs of the same scenario: metrics (but for
`scenario`), which have the critical paths, and all other files are the same bytes.

usage: periodic.py [--jobs N] [--keep FOLDER] [--general] FIRST-LAST
with the executable in $COLLWIRE. Scenarios are periodic on purpose (collectives and long flows on
symmetric networks), and most have a trap: one late rank, one more flow, clocks that differ by 1 ppm, a fault in
the middle, a policy timer of another period, a limit that ends the run, a second job, a remainder. With
--general they are those of generate.py, over all keys. Every tenth run with skipping has two threads. The last line counts the runs that were skipped in part.
"""
import argparse
import collections
import json
import multiprocessing
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
# pylint: disable=wrong-import-position
import check
import generate

COLLWIRE = os.environ.get("COLLWIRE", "build/collwire")
SECONDS = 120
OPTIONS = argparse.Namespace(general=False, keep=None)

POLICIES = tuple(
    {"kind": kind}
    for kind in (
        "none",
        "none",
        "none",
        "none",
        "dcqcn",
        "dcqcn",
        "window",
        "window",
        "swift",
        "swift",
        "dctcp",
        "timely",
        "hpcc",
        "timely_patched",
        "powertcp",
        "tally",
    )
)


def topology(rng):
    """Dimensions of a network in which all ranks are alike, and their number."""
    link = {
        "rate": rng.choice(("100Gbps", "200Gbps", "400Gbps", "70Gbps")),
        "delay": rng.choice(("500ns", "1us", "2us")),
    }
    form = rng.randrange(6)
    if form <= 1:
        n = rng.choice((2, 4, 8, 16, 16, 32))
        return [{"kind": "switch", "size": n, "link": link}], n
    if form == 2:
        n = rng.choice((4, 6, 8, 16))
        return [{"kind": rng.choice(("ring", "fully_connected", "mesh")), "size": n, "link": link}], n
    if form == 3:
        return [
            {
                "kind": "leaf_spine",
                "size": 8,
                "ranks_per_leaf": 4,
                "spines": rng.choice((1, 2, 4)),
                "link": link,
                "trunk": link,
            }
        ], 8
    a, b = rng.choice(((2, 4), (4, 4), (4, 2)))
    kinds = ("switch", "ring", "fully_connected")
    return [
        {"kind": rng.choice(kinds), "size": a, "link": link},
        {"kind": rng.choice(kinds), "size": b, "link": dict(link, rate="100Gbps")},
    ], a * b


def layer(rng, number):
    """A layer of a data-parallel network."""
    size = rng.choice(("64KB", "500KB"))
    return {
        "name": f"layer{number}",
        "fwd": {"compute": f"{rng.choice((1, 5, 20))}us"},
        "ig": {"compute": "3us"},
        "wg": {"compute": "2us", "op": "all_reduce", "bytes": size},
    }


def steps(rng, ranks):
    """A program in which every rank computes and sends to the next, again and again."""
    nodes = []
    n, size, compute = rng.choice((20, 60)), rng.choice((1000, 30000, 200000)), f"{rng.choice((1, 7, 30))}us"
    for rank in range(ranks):
        for i in range(n):
            after = [3 * i - 1, 3 * i - 2] if i else []
            nodes += [
                {"rank": rank, "id": 3 * i, "kind": "compute", "time": compute, "after": after},
                {
                    "rank": rank,
                    "id": 3 * i + 1,
                    "kind": "send",
                    "to": (rank + 1) % ranks,
                    "bytes": size,
                    "after": [3 * i],
                },
                {"rank": rank, "id": 3 * i + 2, "kind": "recv", "from": (rank - 1) % ranks, "after": [3 * i]},
            ]
    return {"kind": "program", "nodes": nodes}


def job(rng, dims, ranks):
    """Work that repeats itself: steps of collectives, long flows, iterations."""
    form = rng.randrange(10)
    size = f"{rng.choice((512, 1000, 2000, 4000, 8000))}KB"
    if form <= 4 or ranks < 3:
        op = rng.choice(("all_reduce", "all_reduce", "all_gather", "reduce_scatter", "all_to_all"))
        trees = ("halving_doubling", "tree") if op == "all_reduce" else ()
        made = {
            "kind": "collective",
            "op": op,
            "bytes": size,
            "algorithm": rng.choice(("ring", "ring", "ring", "ring", "ring", "direct", *trees)),
        }
        if rng.random() < 0.4:
            made["chunks"] = rng.choice((1, 2, 3, 8))
        return made
    if form == 5:  # neighbours in the innermost dimension
        return {"kind": "permutation", "shift": 1, "bytes": size}
    if form <= 7:
        return steps(rng, ranks)
    return {
        "kind": "training",
        "iterations": rng.choice((8, 20, 40)),
        "parallelism": "DATA",
        "layers": [layer(rng, i) for i in range(rng.choice((1, 3)))],
    }


def listed(made):
    """The jobs so far, with names."""
    jobs = made["workload"] if isinstance(made["workload"], list) else [made["workload"]]
    return [dict(job, name=f"job{i}") for i, job in enumerate(jobs)]


def trap(rng, made, ranks):
    """Something that spoils the repetition, at the beginning or in the middle."""
    kind = rng.choice(
        (
            "none",
            "none",
            "none",
            "none",
            "jitter",
            "flow",
            "clock",
            "fault",
            "loss",
            "timer",
            "duration",
            "job",
            "ack",
            "cnp",
            "qps",
            "selective",
        )
    )
    transport = made.setdefault("transport", {})
    at = f"{rng.choice((3, 20, 50, 120, 300))}us"
    if kind == "jitter":
        transport["start_jitter"] = rng.choice(("1ps", "1ns", "3us"))
    elif kind == "flow":
        made["workload"] = [
            *listed(made),
            {
                "kind": "flows",
                "name": f"job{len(listed(made))}",
                "flows": [{"src": 0, "dst": 1, "bytes": rng.choice(("1B", "100KB")), "start": at}],
            },
        ]
    elif kind == "clock":
        transport["clock_ppm"] = rng.choice((1, 0.001, 100))
    elif kind == "fault":
        made["faults"] = [
            {"at": f"rank{rng.randrange(ranks)}->*", "down": at, "up": f"{rng.choice((301, 320, 400))}us"}
        ]
    elif kind == "loss":
        made["faults"] = [{"at": f"rank{rng.randrange(ranks)}->*", "packets": [rng.choice((20, 150))]}]
        transport["rto"] = "300us"
    elif kind == "timer":
        made["cc"] = {"kind": "dcqcn", "rate_timer": "7us", "alpha_timer": "11us"}
        made["switch"]["ecn"] = {"kmin": "5KB", "kmax": "5KB"}
    elif kind == "duration":
        made["duration"] = at
    elif kind == "job":
        made["workload"] = [
            *listed(made),
            dict(job(rng, made["topology"]["dims"], ranks), name=f"job{len(listed(made))}", start=at),
        ]
    elif kind == "ack":
        transport["ack_interval"] = rng.choice((2, 7, 16))
        transport["ack_class"] = rng.choice(("data", "control"))
    elif kind == "cnp":
        transport["cnp_interval"] = "13us"
    elif kind == "qps":
        transport["qps_per_pair"] = rng.choice((2, 3))
    elif kind == "selective":
        transport["recovery"] = "selective_repeat"


def short_steps(rng, seed):
    """Chunks of a few packets a step, with windows that close, again and again: skipping ends and begins
    while senders wait for their windows."""
    n = rng.choice((4, 8, 8, 16))
    kind = rng.choice(("switch", "switch", "switch", "ring", "leaf_spine"))
    more = {"ranks_per_leaf": 4, "spines": 2} if kind == "leaf_spine" else {}
    made = {
        "name": f"periodic{seed}",
        "seed": seed,
        "topology": {"dims": [{"kind": kind, "size": n, **more}]},
        "transport": {"recovery": rng.choice(("selective_repeat", "selective_repeat", "go_back_n"))},
        "workload": {
            "kind": "collective",
            "op": rng.choice(("all_reduce", "all_gather")),
            "bytes": f"{rng.choice((200, 500, 800, 1000))}KB",
            "chunks": rng.choice((2, 4)),
            "repeat": rng.choice((2, 3)),
        },
        "cc": {"kind": rng.choice(("none", "dcqcn", "window", "swift"))},
    }
    if rng.random() < 0.2:
        made["switch"] = {}
        trap(rng, made, n)
    return made


def periodic(seed):
    rng = random.Random(seed)
    if seed % 4 == 0:
        return short_steps(rng, seed)
    dims, ranks = topology(rng)
    made = {
        "name": f"periodic{seed}",
        "seed": seed,
        "topology": {"dims": dims},
        "workload": job(rng, dims, ranks),
        "switch": {"routing": {"relay": True}} if len(dims) > 1 else {},
        "cc": dict(rng.choice(POLICIES)),
        "transport": {"mtu": rng.choice(("1000B", "4096B", "1500B"))},
    }
    if rng.random() < 0.2:
        made["switch"]["buffer"] = rng.choice(("6MB", "16MB"))
    trap(rng, made, ranks)
    if rng.random() < 0.2:
        trap(rng, made, ranks)
    return made


def run(path, out, mode, *more):
    command = [COLLWIRE, "run", str(path), "--quiet", "--out", str(out), "--set", f"engine.fast_forward={mode}", *more]
    try:
        done = subprocess.run(command, capture_output=True, timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return None, {}, None
    if done.returncode not in (0, 1):
        return done.returncode, {}, done.stderr.decode(errors="replace")
    files = {p.name: p.read_bytes() for p in out.iterdir() if p.is_file()}
    if "run.json" not in files:
        return "crashed", {}, done.stderr.decode(errors="replace")
    machine = json.loads(files.pop("run.json"))
    metrics = json.loads(files["metrics.json"])
    metrics.pop("scenario")
    files["metrics.json"] = json.dumps(metrics)
    return done.returncode, files, machine["fast_forward"]


def compare(seed, folder):
    """What happened, in one word; raises ValueError."""
    path = folder / "scenario.json"
    made = generate.scenario(seed, folder) if OPTIONS.general else periodic(seed)
    made.pop("engine", None)
    if OPTIONS.general:  # what would only say that captures and series are not skipped
        made.pop("capture", None)
        made.get("report", {}).pop("sample", None)
        made.get("limits", {}).pop("events", None)
    if made.get("limits", {}).get("wall"):
        made["limits"].pop("wall")
    for _ in range(check.REPAIRS if OPTIONS.general else 1):
        path.write_text(json.dumps(made), encoding="utf-8")
        full, files, why = run(path, folder / "off", "off")
        if full != 2 or not check.repaired(made, why):
            break
    if full is None:
        return "slow"
    threads = ("--threads", "2") if seed % 10 == 0 else ()
    got, repeated, skipped = run(path, folder / "exact", "exact", *threads)
    if got != full:
        raise ValueError(f"exit {got}, not {full}: {skipped if isinstance(skipped, str) else ''}")
    if full not in (0, 1):
        return "refused"
    for name, content in files.items():
        if repeated.get(name) != content:
            raise ValueError(f"{name} differs: {difference(content, repeated.get(name))} {json.dumps(skipped)}")
    if skipped["periods"] and skipped["stretches"] > 1:
        return "skipped again"
    return "skipped" if skipped["periods"] else "tried" if skipped["stretches"] else "simulated"


def difference(a, b):
    try:
        a, b = json.loads(a), json.loads(b)
    except (TypeError, ValueError):
        return ""
    key = next((key for key in a if a[key] != b.get(key)), "order")
    return f"{key}: {json.dumps(a.get(key))[:200]} .. {json.dumps(b.get(key))[:200]}"


def one(seed):
    folder = pathlib.Path(tempfile.mkdtemp(prefix="periodic"))
    try:
        return seed, compare(seed, folder), None
    except ValueError as finding:
        if OPTIONS.keep:
            shutil.copytree(folder, pathlib.Path(OPTIONS.keep) / str(seed), dirs_exist_ok=True)
        return seed, "different", str(finding)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--keep")
    parser.add_argument("--general", action="store_true")
    parser.add_argument("--least", type=float, default=0, help="share of runs that must be skipped in part")
    parser.add_argument("seeds")
    arguments = parser.parse_args()
    OPTIONS.general, OPTIONS.keep = arguments.general, arguments.keep
    first, last = (int(end) for end in arguments.seeds.split("-"))
    counts = collections.Counter()
    with multiprocessing.Pool(arguments.jobs) as pool:
        for seed, end, why in pool.imap_unordered(one, range(first, last + 1)):
            counts[end] += 1
            if why:
                print(f"seed {seed}: {why}", flush=True)
    print(", ".join(f"{n} {end}" for end, n in sorted(counts.items())))
    total = sum(counts.values()) - counts["refused"] - counts["slow"]
    skipped = counts["skipped"] + counts["skipped again"]
    return 1 if counts["different"] or skipped < arguments.least * total else 0


if __name__ == "__main__":
    sys.exit(main())
