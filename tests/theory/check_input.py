#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Batches of training data against closed forms: hidden where they are read faster than the batches before them are
computed, else exposed by the difference, to the nanosecond; from a local memory, with a global shuffle, and from hosts.

usage: check_input.py, with the executable in $COLLWIRE.
"""
import sys
import tempfile

from scenario_run import run_made

LINK = {"rate": "100Gbps", "delay": "1us"}
SHAPES = "one,conv,3,64,224,224,1,3,1\ntwo,conv,64,64,224,224,1,3,1\n"
ITERATIONS = 5

FAILED = []


def note(good, text):
    print("ok  " if good else "FAIL", text)
    if not good:
        FAILED.append(text)


def run(folder, ranks, tiers, given, batch=8, strategy="data", **keys):
    """Metrics of a convolutional network; by default without any collective (one rank)."""
    made = {"name": "input", "topology": {"dims": [{"kind": "switch", "size": 8, "link": LINK}]},
            "workload": {"kind": "cnn", "ranks": ranks, "shapes": "shapes.csv", "batch": batch, "strategy": strategy,
                         "iterations": ITERATIONS, "peak_tflops": 100} | ({"tiers": tiers, "input": given} if given else {}) | keys}
    with open(folder + "/shapes.csv", "w", encoding="utf-8") as file:
        file.write("name,kind,channels,filters,width,height,depth,kernel,stride\n" + SHAPES)
    return run_made(made, [], folder)


def part(metrics, name):
    return {use["name"]: use["exposed_ns"] + use["waiting_ns"] for use in metrics["programs"][0]["uses"]}[name]


def check_local(folder):
    """One rank: T = bytes / rate + latency is read for each batch, C is computed."""
    compute = run(folder, [0], None, None)["programs"][0]["total_ns"] / ITERATIONS
    for rate, prefetch in ((8, 0), (8, 1), (8, 4), (2, 0), (2, 1), (2, 3), (0.5, 1)):
        read = 8 * 100_000 * 8 / rate + 20_000
        tier = {"ssd": {"read_rate": f"{rate}Gbps", "latency": "20us"}}
        metrics = run(folder, [0], tier, {"from": "ssd", "sample_bytes": "100KB", "prefetch": prefetch})
        # a batch is read when the one `prefetch` before begins to compute, and after the one before is read
        begin, read_end, total = [], [], 0
        for k in range(ITERATIONS):
            gate = (begin[k - prefetch] if prefetch > 0 else total) if k >= prefetch else 0
            start = max(read_end[-1] if read_end else 0, gate)
            read_end.append(start + read)
            begin.append(max(total, read_end[k]))
            total = begin[k] + compute
        got, exposed = metrics["programs"][0]["total_ns"], part(metrics, "input")
        note(abs(got - total) <= 2 and abs(exposed - (total - ITERATIONS * compute)) <= 2,
             f"reading {read:.0f} ns, computing {compute:.0f}, prefetch {prefetch}: {got} ns with {exposed} exposed, "
             f"by hand {total:.0f}")
        if prefetch == 1:
            want = read + (ITERATIONS - 1) * max(0, read - compute)
            note(abs(exposed - want) <= 2, f"  exposed: the first batch and {ITERATIONS - 1} differences, {want:.0f} ns")
        said = any("waits for input" in text for text in metrics["explain"])
        note(said == (exposed >= 0.01 * got), f"  the explanations name input: {said}")


def check_shuffle(folder):
    """A global shuffle exchanges 7/8 of what each of 8 ranks has read; a local one sends nothing."""
    tier = {"ssd": {"read_rate": "80Gbps"}}
    ranks = list(range(8))
    for shuffle in ("local", "global"):
        metrics = run(folder, ranks, tier, {"from": "ssd", "sample_bytes": "80KB", "shuffle": shuffle}, batch=64)
        sent = sum(flow["bytes"] for flow in metrics["flows"])
        gradients = sum(flow["bytes"] for flow in run(folder, ranks, None, None, batch=64)["flows"])
        want = ITERATIONS * 8 * 8 * 80_000 * 7 / 8 if shuffle == "global" else 0
        note(sent - gradients == want, f"shuffle {shuffle}: {sent - gradients} bytes over the network, by hand {want:.0f}")
    shared = {"ssd": {"read_rate": "80Gbps", "shared_by": "all"}}
    times = [part(run(folder, ranks, tiers, {"from": "ssd", "sample_bytes": "1MB", "prefetch": 0}, batch=64), "input")
             for tiers in (tier, shared)]
    note(abs(times[1] / times[0] - 8) < 1e-3, f"one SSD of 8 ranks: {times[1] / times[0]:.4f} times the wait for one each")


def check_hosts(folder):
    """A parallel file system: its class is its own, its messages are those of its batches, and its hosts share out."""
    hosts = {"fs": {"hosts": [4, 5, 6, 7], "stripe": "100KB", "class": 1}}
    metrics = run(folder, [0, 1, 2, 3], hosts, {"from": "fs", "sample_bytes": "100KB"}, batch=64)
    reads = [flow for flow in metrics["flows"] if flow["src"] > 3]
    want = ITERATIONS * 64 * 100_000
    note(sum(flow["bytes"] for flow in reads) == want, f"read from hosts: {sum(flow['bytes'] for flow in reads)}")
    by_host = {flow["src"]: 0 for flow in reads}
    for flow in reads:
        by_host[flow["src"]] += flow["bytes"]
    note(set(by_host.values()) == {want // 4}, f"each host: {by_host}")
    one = {"fs": {"hosts": [4], "stripe": "100KB"}}
    waits = [part(run(folder, [0, 1, 2, 3], tiers, {"from": "fs", "sample_bytes": "1MB", "prefetch": 0}, batch=64), "input")
             for tiers in (hosts, one)]
    note(3.9 < waits[1] / waits[0] < 4.1, f"one host in place of four: {waits[1] / waits[0]:.3f} times the wait")


def check_ranks(folder):
    """Who reads what: all samples on the first stage of a pipeline, each rank all of them under filter."""
    tier = {"ssd": {"read_rate": "80Gbps"}}
    for strategy, want in (("pipeline", [8, 0]), ("filter", [8, 8]), ("data", [4, 4]), ("spatial", [4, 4])):
        metrics = run(folder, [0, 1], tier, {"from": "ssd", "sample_bytes": "100KB"}, strategy=strategy)
        got = [sum(use["bytes"] for use in rank["uses"] if use["name"] == "input") for rank in metrics["ranks"]]
        note(got == [ITERATIONS * n * 100_000 for n in want], f"{strategy}: {got}")


def check_llm(folder):
    """A transformer: the ranks of the first stage read their sequences."""
    made = {"name": "input", "topology": {"dims": [{"kind": "switch", "size": 8, "link": LINK}]},
            "workload": {"kind": "llm", "layers": 2, "hidden": 256, "heads": 4, "sequence": 512, "vocabulary": 1000, "iterations": 2,
                         "global_batch": 16, "tensor": 2, "data": 2, "pipeline": 2, "tiers": {"ssd": {"read_rate": "1Gbps"}},
                         "input": {"from": "ssd", "sample_bytes": "4KB", "shuffle": "global"}}}
    metrics = run_made(made, [], folder)
    got = [sum(use["bytes"] for use in rank["uses"] if use["name"] == "input") for rank in metrics["ranks"]]
    each = 2 * 8 * 4000
    note(got == [each + each * 3 // 4] * 4 + [0] * 4, f"llm: {got} (read, and 3/4 of it sent to the others)")


def check_training(folder):
    """A training loop of one rank and one layer: C + 3 ns of steps a pass; its samples as those of a program."""
    layer = {"name": "one", "fwd": {"compute": "300us"}, "ig": {"compute": "0us"}, "wg": {"compute": "500us"}}
    job = {"kind": "training", "parallelism": "DATA", "iterations": ITERATIONS, "ranks": [0], "dims": [1], "layers": [layer]}
    alone = run_made({"name": "input", "topology": {"dims": [{"kind": "switch", "size": 8, "link": LINK}]}, "workload": job}, [], folder)
    compute = alone["training"]["total_ns"] / ITERATIONS
    for rate, prefetch in ((8, 0), (8, 1), (8, 3), (1, 0), (1, 1), (1, 2)):
        read = 800_000 * 8 / rate + 10_000
        given = job | {"tiers": {"ssd": {"read_rate": f"{rate}Gbps", "latency": "10us"}},
                       "input": {"from": "ssd", "sample_bytes": "100KB", "samples": 8, "prefetch": prefetch}}
        metrics = run_made({"name": "input", "topology": {"dims": [{"kind": "switch", "size": 8, "link": LINK}]},
                            "workload": given}, [], folder)
        hidden = compute if prefetch > 0 else 0
        want = read + (ITERATIONS - 1) * max(0, read - hidden)
        got = metrics["training"]["input_ns"]
        total = metrics["training"]["total_ns"]
        note(abs(got - want) <= 5 * ITERATIONS and abs(total - got - ITERATIONS * compute) <= 2 and
             any("waits for input" in text for text in metrics["explain"]),
             f"training: reading {read:.0f} ns, computing {compute:.0f}, prefetch {prefetch}: {got} ns, by hand {want:.0f}")


def main():
    with tempfile.TemporaryDirectory() as folder:
        check_local(folder)
        check_shuffle(folder)
        check_hosts(folder)
        check_ranks(folder)
        check_llm(folder)
        check_training(folder)
    sys.exit(bool(FAILED))


main()
