#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""ASTRA-sim 2's collectives as traces (`library` of kind xml, `traces`): closed forms, messages, refusals.

Servers and packets are those of check_xml.py.

usage: check_trace_collectives.py, with the executable in $COLLWIRE.
"""
import json
import os
import subprocess
import sys
import tempfile
from random import Random

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "workload", "chakra")]

from check_xml import COLLWIRE, FAILED, expect, near, refused, run, scenario, wire_us  # noqa: E402
from trace_file import node, trace  # noqa: E402


def write(folder, ranks, old=False, name="traces"):
    """The traces of a collective, a list of nodes for each rank. Returns the library."""
    for file in os.listdir(folder):
        if file.endswith(".et"):
            os.remove(os.path.join(folder, file))
    for rank, nodes in enumerate(ranks):
        with open(os.path.join(folder, f"{name}.{rank}.et"), "wb") as file:
            file.write(trace(nodes, old))
    return {"kind": "xml", "traces": os.path.join(folder, name)}


def send(i, to, size, after=(), tag=0):
    return node(i, "SEND", after, comm_dst=to, comm_size=size, comm_tag=tag)


def receive(i, source, size, after=(), tag=0):
    return node(i, "RECV", after, comm_src=source, comm_size=size, comm_tag=tag)


def ring(n, size, us):
    """Each step sends on what the one before has received and reduced."""
    ranks = []
    for rank in range(n):
        nodes, before = [], []
        for step in range(n - 1):
            first = 3 * step
            nodes += [send(first, (rank + 1) % n, size, before, step), receive(first + 1, (rank - 1) % n, size, [], step),
                      node(first + 2, "COMP", [first + 1], us)]
            before = [first + 2]
        ranks.append(nodes)
    return ranks


def duration(metrics):
    return metrics["collectives"][0]["duration_ns"] / 1e3


def check_ring(folder):
    """Every step waits for the one before, and for its computation."""
    n, size = 4, 64 << 10
    for old in (False, True):
        for us in (0, 5, 80):
            library = write(folder, ring(n, size, us), old)
            metrics = run(folder, scenario(1 << 20, library, nodes=n))
            # the receivers' leave to send comes before the first message alone
            wanted = wire_us(64) + (n - 1) * (wire_us(size) + us)
            near(f"ring of {n}, {us} us a step, {'old' if old else 'new'} schema", duration(metrics), wanted, 0.001)
    collective = metrics["collectives"][0]
    expect("messages have the sizes of the traces", collective["phases"][0]["bytes"] == n * (n - 1) * size)
    expect("the library is named", collective["algorithm"] == "xml" and collective["library"]["algorithm"] == "traces")
    other = run(folder, scenario(5 << 20, library, op="all_to_all", nodes=n))["collectives"][0]
    expect("whatever the size and the operation", other["duration_ns"] == collective["duration_ns"])


def check_long(folder):
    """A long message is steps of what goes at once, two slices each, which follow each other."""
    size = (5 << 20) + 12345
    library = write(folder, [[send(0, 1, size)], [receive(0, 0, size)]])
    phase = run(folder, scenario(1, library, nodes=2))["collectives"][0]["phases"][0]
    expect("2 MiB at once", phase["messages"] == 6 and phase["bytes"] == size)
    phase = run(folder, scenario(1, library | {"chunk": "64KiB"}, nodes=2))["collectives"][0]["phases"][0]
    expect("64 KiB at once", phase["messages"] == 2 * -(-size // 65536) and phase["bytes"] == size)


def check_graph(folder):
    """A node with several dependencies waits for the last one; computations of a GPU follow each other."""
    size = 4096
    for first, second in ((3, 40), (40, 3)):
        ranks = [[node(7, "COMP", [], first), node(5, "COMP", [], second), send(9, 1, size, [5, 7])], [receive(1, 0, size)]]
        us = duration(run(folder, scenario(1, write(folder, ranks), nodes=2)))
        near(f"after {first} and {second} us", us, first + second + wire_us(size), 0.001)
    # two messages of one pair, received in the other order: equal sizes, other tags
    ranks = [[send(0, 1, size, [], 1), send(1, 1, size, [0], 2)], [receive(0, 0, size, [], 2), receive(1, 0, size, [], 1)]]
    metrics = run(folder, scenario(1, write(folder, ranks), nodes=2))
    expect("tags match, whatever the order", metrics["collectives"][0]["phases"][0]["bytes"] == 2 * size)


def check_refusals(folder):
    def no(ranks, part):
        refused(folder, scenario(1 << 20, write(folder, ranks), nodes=2), part)

    one = [receive(0, 0, 8)]
    no([[send(0, 1, 9)], []], "traces.0.et: node 0 (record 1): unmatched send: rank 1 does not receive 9 bytes with tag 0")
    no([[], one], "traces.1.et: node 0 (record 1): unmatched receive: rank 0 does not send 8 bytes with tag 0")
    no([[send(0, 1, 8), send(0, 1, 8)], one], "another node has this id")
    no([[send(0, 1, 8, [4])], one], "waits for node 4, which the file does not have")
    no([[send(0, 1, 8, [0])], one], "waits for nodes that wait for it")
    no([[send(0, 2, 8)], one], "comm_dst 2 must be from 0 to 1")
    no([[send(0, 0, 8)], one], "sends a message to itself")
    no([[send(0, 1, 0)], one], "comm_size 0 must be from 1")
    no([[node(0, "COLL", comm="ALL_REDUCE", comm_size=8)], one], "has no place in a collective")
    no([[receive(0, 1, 8), send(1, 1, 8, [0])], [receive(0, 0, 8), send(1, 0, 8, [0])]], "the steps never end")
    no([[send(0, 1, 8)], one, []], "has steps of 3 GPUs, and 2 ranks take part")
    both = write(folder, [[send(0, 1, 8)], one]) | {"file": "a.xml"}
    refused(folder, scenario(8, both, nodes=2), "needs one of `file`")
    refused(folder, scenario(8, {"kind": "xml"}, nodes=2), "needs one of `file`")
    refused(folder, scenario(8, {"kind": "xml", "traces": "none"}, nodes=2), "cannot open none.0.et")


def drawn(random):
    """Random messages and computations, with dependencies on any nodes before, and now and then behind."""
    n = random.randint(2, 4)
    ranks = [[] for _ in range(n)]
    for _ in range(random.randint(1, 40)):
        a, b = random.sample(range(n), 2)
        size, tag = random.choice((1, 1000, 300_000)), random.randrange(3)
        ranks[a].append(send(len(ranks[a]), b, size, [], tag))
        ranks[b].append(receive(len(ranks[b]), a, size, [], tag))
        ranks[a].append(node(len(ranks[a]), "COMP", [], random.randrange(10)))
    for nodes in ranks:
        for i, x in enumerate(nodes):
            span = len(nodes) if random.random() < 0.01 else i
            x["after"] = sorted(random.sample(range(span), min(span, random.choice((0, 0, 1, 3)))))
        random.shuffle(nodes)
    return ranks


def check_drawn(folder):
    """What is accepted runs to its end, with all bytes."""
    random = Random(2)
    path, counts = os.path.join(folder, "scenario.json"), [0, 0]
    for _ in range(60):
        ranks = drawn(random)
        made = scenario(100_000, write(folder, ranks), nodes=len(ranks))
        with open(path, "w", encoding="utf-8") as file:
            json.dump(made, file)
        got = subprocess.run([COLLWIRE, "validate", path], capture_output=True, text=True, check=False)
        if got.returncode == 0:
            sent = run(folder, made)["collectives"][0]["phases"][0]["bytes"]
            wanted = sum(x["attributes"]["comm_size"] for nodes in ranks for x in nodes if x["kind"] == "SEND")
            counts[0] += sent == wanted
        else:
            counts[1] += "never end" in got.stderr or "wait for it" in got.stderr
    expect(f"{counts[0]} drawn traces ended with all bytes, {counts[1]} were refused for a circle",
           sum(counts) == 60 and min(counts) > 5)


def main():
    with tempfile.TemporaryDirectory() as folder:
        check_ring(folder)
        check_long(folder)
        check_graph(folder)
        check_refusals(folder)
        check_drawn(folder)
    sys.exit(1 if FAILED else 0)


main()
