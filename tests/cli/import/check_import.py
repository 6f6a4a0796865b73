#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""collwire import kineto, inspector, nsys: a made-up run comes back with its operations, groups, sizes, order and times.

usage: check_import.py, with the executable in $COLLWIRE.
"""
import json
import os
import random
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import traces  # noqa: E402

COLLWIRE = os.environ["COLLWIRE"]
FAILED = []


def expect(what, holds):
    print(("ok: " if holds else "NOT: ") + what)
    if not holds:
        FAILED.append(what)


def call(*args):
    return subprocess.run([COLLWIRE, *args], capture_output=True, text=True, check=False)


def read(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def program(path):
    """Groups and nodes by rank."""
    with open(path, encoding="utf-8") as file:
        lines = [json.loads(line) for line in file]
    nodes = {}
    for line in lines[1:]:
        nodes.setdefault(line["rank"], []).append(line)
    groups = {name: value["ranks"] if isinstance(value, dict) else value for name, value in lines[0]["groups"].items()}
    return groups, nodes


def nanoseconds(text):
    return int(text.removesuffix("ns"))


def replay(groups, nodes):
    """Runs a program as its rules say, collectives taking what traces.takes_us() says. Ends of ranks, begins and ends of calls, in ns."""
    ended = {r: {} for r in nodes}  # rank -> id -> end
    streams = {r: {} for r in nodes}
    for r, listed in nodes.items():
        for node in listed:
            stream = node["stream"] if node["stream"] != "none" else f"none{node['id']}"
            streams[r].setdefault(stream, []).append(node)
    free = {r: {s: 0 for s in streams[r]} for r in nodes}
    calls = {r: [] for r in nodes}
    begun, number = {}, {r: {} for r in nodes}
    progress = True
    while progress:
        progress = False
        for r in nodes:
            for s, queue in streams[r].items():
                while queue and all(a in ended[r] for a in node_after(queue[0])):
                    node = queue[0]
                    start = max([free[r][s]] + [ended[r][a] for a in node_after(node)])
                    if node["kind"] in ("compute", "wait"):
                        end = start + nanoseconds(node["time"])
                    else:
                        key, members, size = matched(r, node, groups, number[r])
                        begun.setdefault(key, {})[r] = start
                        if len(begun[key]) < members:
                            break
                        end = max(begun[key].values()) + 1000 * traces.takes_us(size(begun, nodes))
                        number[r][key[:-1]] = key[-1] + 1
                        calls[r].append((node, start, end))
                    ended[r][node["id"]] = free[r][s] = end
                    queue.pop(0)
                    progress = True
    expect("the program runs to its end", not any(q for r in nodes for q in streams[r].values()))
    return {r: max(ended[r].values()) for r in nodes}, calls


def node_after(node):
    return node.get("after", [])


def matched(rank, node, groups, number):
    """What a call is matched by, how many take part, and its size."""
    if node["kind"] == "collective":
        key = ("group", node["group"])
        return (*key, number.get(key, 0)), len(groups[node["group"]]), lambda *_: node["bytes"]
    pair = (rank, node["to"]) if node["kind"] == "send" else (node["from"], rank)
    key = ("pair", *pair)
    k = number.get(key, 0)

    def size(_, nodes):
        sends = [n for n in nodes[pair[0]] if n["kind"] == "send" and n["to"] == pair[1]]
        return sends[k]["bytes"]

    return (*key, k), 2, size


def check_program(what, run, path, named, timed=True):
    """The program of `path` is the run: calls in order with groups, sizes and measured times, and (timed) the same timeline."""
    groups, nodes = program(path)
    expect(f"{what}: groups", {k: v for k, v in groups.items()} ==
           {named(k): v for k, v in run.groups.items() if any(e.get("group") == k for es in run.events for e in es)})
    known = [[e for e in events if timed == "all" or "op" in e] for events in run.events]
    begin = min(e["start"] for events in known for e in events)
    ends, calls = replay(groups, nodes)
    for r, events in enumerate(run.events):
        want = sorted((e for e in events if "op" in e), key=lambda e: (e["start"], named(e["group"])))
        got = sorted(calls[r], key=lambda c: (c[1], c[0].get("group", "pg")))
        expect(f"{what}: rank {r} has {len(want)} calls", len(want) == len(got))
        for e, (node, start, end) in zip(want, got):
            same = node.get("op", node["kind"]) == e["op"] and (node["kind"] == "recv" or node["bytes"] == e["bytes"])
            same = same and (node["kind"] != "collective" or node["group"] == named(e["group"]))
            same = same and (node["kind"] != "collective" or nanoseconds(node["measured"]) == round(1000 * (e["end"] - e["start"])))
            if not same:
                expect(f"{what}: rank {r}: {e} is {node}", False)
            if timed and (abs(start - 1000 * (e["start"] - begin)) > 2 or abs(end - 1000 * (e["end"] - begin)) > 2):
                expect(f"{what}: rank {r}: {e} is at {start} to {end} ns, begin {begin}", False)
        last = max(e["end"] for e in known[r])
        if timed:
            expect(f"{what}: rank {r} ends at {ends[r]} ns", abs(ends[r] - 1000 * (last - begin)) <= 2)


# ---- runs ----


def data_parallel(ranks, steps):
    """Backward with buckets that overlap, and a step that waits for them."""
    group = {"0": list(range(ranks))}
    program_of = []
    for r in range(ranks):
        mine = []
        for s in range(steps):
            mine.append(("step", 5 + s))
            for k in range(4):
                mine += [("compute", 40 + 3 * k + r), ("call", "comm0", "0", "all_reduce", 400000 * (k + 1))]
            mine += [("compute", 20), ("wait", "comm0"), ("compute", 15), ("idle", 7 + r)]
        program_of.append(mine)
    return traces.Run(group, program_of, [0, -250, 37] + [5 * r for r in range(3, ranks)])


def pipeline_and_tensor():
    """Two stages of two ranks: all-reduces inside a stage, messages between."""
    groups = {"1": [0, 1], "2": [2, 3], "3": [0, 2], "4": [1, 3]}
    ranks = [[], [], [], []]
    for micro in range(3):
        for r in (0, 1):
            ranks[r] += [("compute", 50 + 2 * r), ("call", "comm0", "1", "all_reduce", 800000), ("wait", "comm0"),
                         ("compute", 10), ("send", "comm1", str(3 + r), r + 2, 200000 + 4 * micro)]
        for r in (2, 3):
            ranks[r] += [("compute", 3), ("recv", "comm1", str(1 + r), r - 2, 200000 + 4 * micro), ("wait", "comm1"), ("compute", 60),
                         ("call", "comm0", "2", "reduce_scatter", 640000), ("wait", "comm0"), ("compute", 5)]
    return traces.Run(groups, ranks)


def drawn(seed):
    """A random run: the same calls on all ranks, other computations."""
    rng = random.Random(seed)
    n = rng.choice([2, 3, 4])
    ranks = [[] for _ in range(n)]
    for _ in range(30):
        kind = rng.random()
        if kind < 0.4:
            op, stream = rng.choice(sorted(traces.NAMES)), rng.choice(["comm0", "comm1"])
            size = 4 * n * rng.randrange(1, 200000)
            for r in range(n):
                ranks[r].append(("call", stream, "0" if stream == "comm0" else "1", op, size))
        elif kind < 0.55:
            stream = rng.choice(["comm0", "comm1"])
            for r in range(n):
                ranks[r].append(("wait", stream))
                ranks[r].append(("compute", rng.randrange(1, 90)))
        else:
            for r in range(n):
                ranks[r].append(("compute", rng.randrange(1, 90)))
                if rng.random() < 0.2:
                    ranks[r].append(("idle", rng.randrange(1, 30)))
    for r in range(n):
        ranks[r] = [("compute", 5)] + ranks[r] + [("call", "comm0", "0", "all_reduce", 4 * n), ("call", "comm1", "1", "all_reduce", 4 * n)]
    return traces.Run({"0": list(range(n)), "1": list(range(n))}, ranks)


def check_kineto(folder):
    def named(group):
        return f"pg{group}"

    for what, run, described in (("data parallel", data_parallel(4, 2), "kernel"), ("pipeline", pipeline_and_tensor(), "kernel"),
                                 ("described by the CPU", data_parallel(3, 1), "record_param_comms"),
                                 ("described by graphs", data_parallel(3, 1), "graph"),
                                 *((f"drawn {seed}", drawn(seed), "kernel") for seed in range(20))):
        where = os.path.join(folder, what.replace(" ", "-"))
        traces.write_kineto(where, run, described, zipped=(1,))
        out = os.path.join(folder, "job.json")
        done = call("import", "kineto", where, "-o", out)
        expect(f"{what}: imported", done.returncode == 0)
        if done.returncode != 0:
            print(done.stderr)
            continue
        check_program(what, run, os.path.join(folder, "job.nodes.jsonl"), named, timed="all")
        if what == "data parallel":
            print(done.stdout)
            expect("offsets of clocks", "up to -250 us from rank 0 (rank 1), spread 0" in done.stdout)
            done = call("run", out, "--quiet", "--out", os.path.join(folder, "out"))
            expect("the scenario runs", done.returncode == 0)
            print(done.stderr, end="")


def check_hidden(folder):
    """A collective that computing hides is waited for where the program did, if that was recorded."""
    mine = [("compute", 10), ("call", "comm0", "0", "all_reduce", 400000), ("compute", 50), ("compute", 60), ("wait", "comm0"), ("compute", 5)]
    run = traces.Run({"0": [0, 1]}, [mine, mine])
    for waits in (True, False):
        where = os.path.join(folder, f"hidden-{waits}")
        traces.write_kineto(where, run, waits=waits)
        call("import", "kineto", where, "-o", os.path.join(folder, "job.json"))
        _, nodes = program(os.path.join(folder, "job.nodes.jsonl"))
        collective = next(n["id"] for n in nodes[0] if n["kind"] == "collective")
        waiting = [n for n in nodes[0] if collective in node_after(n)]
        expect(f"hidden collective, waits {waits}", [nanoseconds(n["time"]) for n in waiting] == ([5000] if waits else []))


def check_inspector(folder):
    def named(group):
        return f"0x{int(group) + 0xabc0:x}"

    runs = [("data parallel", data_parallel(4, 2), True), ("pipeline", pipeline_and_tensor(), True), ("without starts", data_parallel(4, 2), False),
            *((f"drawn {seed}", drawn(seed), True) for seed in range(20, 30))]
    for what, run, verbose in runs:
        what = f"inspector {what}"
        where = os.path.join(folder, what.replace(" ", "-"))
        traces.write_inspector(where, run, verbose)
        out = os.path.join(folder, "job.json")
        done = call("import", "inspector", where, "-o", out)
        expect(f"{what}: imported", done.returncode == 0)
        if done.returncode != 0:
            print(done.stderr)
            continue
        check_program(what, run, os.path.join(folder, "job.nodes.jsonl"), named, timed=verbose)
        expect(f"{what}: says whether it has times", ("no times of starts" in done.stdout) != verbose)


def check_nsys(folder):
    def named(group):
        return f"0x{int(group) + 0xabc0:x}"

    runs = [("data parallel", data_parallel(4, 2), True, True), ("pipeline", pipeline_and_tensor(), False, False),
            ("without inits", data_parallel(3, 1), False, True), *((f"drawn {seed}", drawn(seed), True, seed % 2 == 0) for seed in range(30, 40))]
    for what, run, inits, grouped in runs:
        what = f"nsys {what}"
        where = os.path.join(folder, what.replace(" ", "-"))
        traces.write_nsys(where, run, inits, grouped)
        out = os.path.join(folder, "job.json")
        done = call("import", "nsys", where, "-o", out)
        expect(f"{what}: imported", done.returncode == 0)
        if done.returncode != 0:
            print(done.stderr)
            continue
        check_program(what, run, os.path.join(folder, "job.nodes.jsonl"), named, timed="all")


def main():
    with tempfile.TemporaryDirectory() as folder:
        check_kineto(folder)
        check_hidden(folder)
        check_inspector(folder)
        check_nsys(folder)
    print(f"{len(FAILED)} failed" if FAILED else "all hold")
    return 1 if FAILED else 0


if __name__ == "__main__":
    sys.exit(main())
