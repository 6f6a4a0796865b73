#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Options of ASTRA-sim 2 whose times follow by hand: messages that wait for their receivers, and collectives
given as traces.

usage: check_options.py, with the executable in $COLLWIRE
"""
import glob
import json
import os
import subprocess
import sys
import tempfile

import trace_file

COLLWIRE = os.path.abspath(os.environ.get("COLLWIRE", "build/collwire"))
GB, LATENCY_NS, READY = 100, 300, 8192
US = 1000
failed = []


def flight(size):
    """A message through a switch: two hops, and its bytes at GB * 2^30 bytes per second."""
    return int(2 * LATENCY_NS + size / (GB * 2 ** 30 / 1e9))


def write(folder, prefix, ranks):
    for rank, nodes in enumerate(ranks):
        with open(f"{folder}/{prefix}.{rank}.et", "wb") as file:
            file.write(trace_file.trace(nodes))


def run(folder, ranks, system, groups=None, options=()):
    """The ends of all ranks, or the errors."""
    for old in glob.glob(f"{folder}/t.*.et"):
        os.remove(old)
    write(folder, "t", ranks)
    scenario = {"name": "options", "network": "analytical", "analytical_route": "first_dim",
                "topology": {"dims": [{"kind": "switch", "size": len(ranks), "link": {
                    "rate": f"{GB * 8 * 2 ** 30}bps", "delay": f"{LATENCY_NS}ns"}}]},
                "workload": {"kind": "chakra", "prefix": "t", "system": system}}
    if groups:
        with open(f"{folder}/groups.json", "w", encoding="utf-8") as file:
            json.dump(groups, file)
        scenario["workload"]["comm_groups"] = "groups.json"
    with open(f"{folder}/s.json", "w", encoding="utf-8") as file:
        json.dump(scenario, file)
    got = subprocess.run([COLLWIRE, "run", "s.json", "--quiet", "--out", "out", *options], check=False, cwd=folder,
                         capture_output=True, text=True)
    if got.returncode != 0:
        return got.stderr
    with open(f"{folder}/out/metrics.json", encoding="utf-8") as file:
        return [rank["finish_ns"] for rank in json.load(file)["ranks"]]


def expect(what, got, wanted):
    good = wanted in got if isinstance(wanted, str) else got == wanted
    if not good:
        failed.append(what)
        print(f"{what}: {got}, expected {wanted}")


def comp(i, us, after=()):
    return trace_file.node(i, "COMP", after, us=us, is_cpu_op=False)


def send(i, peer, size, tag=1, after=()):
    return trace_file.node(i, "SEND", after, comm_dst=peer, comm_size=size, comm_tag=tag)


def recv(i, peer, size, tag=1, after=()):
    return trace_file.node(i, "RECV", after, comm_src=peer, comm_size=size, comm_tag=tag)


def collective(op="ALL_REDUCE", size=1 << 20, group=None):
    name = {"pg_name": group} if group else {}
    return trace_file.node(1, "COLL", comm=op, comm_size=size, **name)


def rendezvous(folder):
    size, wait = 1 << 20, 50
    late_recv = [[send(1, 1, size)], [comp(1, wait), recv(2, 0, size, after=[1])]]
    late_send = [[comp(1, wait), send(2, 1, size, after=[1])], [recv(1, 0, size)]]
    early, both = wait * US + flight(size), wait * US + flight(READY) + flight(size)
    expect("eager, late receive", run(folder, late_recv, {}), [flight(size), wait * US])
    expect("eager, late send", run(folder, late_send, {}), [early, early])
    for on in (True, "true"):
        system = {"rendezvous-protocol": on}
        expect("late receive", run(folder, late_recv, system), [both, both])
        expect("late send", run(folder, late_send, system), [early, early])
    expect("off", run(folder, late_recv, {"rendezvous-protocol": False}), [flight(size), wait * US])
    expect("a wrong value", run(folder, late_recv, {"rendezvous-protocol": 2}), "must be true or false")
    # The n-th message leaves for the n-th receive; a rank sends one message at a time.
    sends = [send(1, 1, size), send(2, 1, size)]
    receives = [recv(1, 0, size), comp(2, wait), recv(3, 0, size, after=[2])]
    expect("two of one key", run(folder, [sends, receives], {"rendezvous-protocol": True}), [both, both])
    # A ring all-reduce: every message is 8192 bytes later.
    n, system = 4, {"endpoint-delay": 10, "rendezvous-protocol": True}
    steps = 2 * (n - 1)
    ring = run(folder, [[collective()]] * n, system)
    expect("ring", ring, [(steps + 1) * 10 + steps * (flight(READY) + flight((1 << 20) // n))] * n)
    packets = ["--set", "network=packet"]
    late = run(folder, late_recv, {"rendezvous-protocol": True}, options=packets)
    least = wait * US + (size + READY) / (GB * 2 ** 30 / 1e9)
    if isinstance(late, str) or not least < min(late) < 1.2 * least:
        expect("packets", late, "an end behind the receive and the bytes of the message")


def tree(size, us):
    """An all-reduce: 3 adds at 2, 1 and 2 add at 0, and back."""
    return [[recv(1, 1, size, 1), recv(2, 2, size, 2), comp(3, us, [1, 2]), send(4, 1, size, 3, [3]),
             send(5, 2, size, 4, [3])],
            [send(1, 0, size, 1), recv(2, 0, size, 3, [1])],
            [recv(1, 3, size, 5), comp(2, us, [1]), send(3, 0, size, 2, [2]), recv(4, 0, size, 4, [3]),
             send(5, 3, size, 6, [4])],
            [send(1, 2, size, 5), recv(2, 2, size, 6, [1])]]


def custom(folder):
    size, us, key = 1 << 18, 3, "all-reduce-implementation-custom"
    system = {"endpoint-delay": 500, key: ["tree"]}
    write(folder, "tree", tree(size, us))
    top, leaf = 3 * flight(size) + 2 * us * US, 4 * flight(size) + 2 * us * US
    expect("tree", run(folder, [[collective()]] * 4, system), [top, top, leaf, leaf])
    expect("tree, size of the node", run(folder, [[collective(size=17)]] * 4, system), [top, top, leaf, leaf])
    ready = {**system, "rendezvous-protocol": True}  # only the first message comes before its receiver's
    later = [top + flight(READY)] * 2 + [leaf + flight(READY)] * 2
    expect("tree by rendezvous", run(folder, [[collective()]] * 4, ready), later)
    expect("other operations", run(folder, [[collective("ALL_GATHER", 1 << 10)]] * 4, system),
           [4 * 500 + 3 * flight(1 << 10)] * 4)
    chain = [comp(1, 7), trace_file.node(2, "COLL", [1], comm="ALL_REDUCE", comm_size=8),
             trace_file.node(3, "COLL", [2], comm="ALL_REDUCE", comm_size=8)]
    begun = 7 * US + leaf  # 3 sends for the second one when the first one has ended there
    expect("two of them", run(folder, [chain] * 4, system), [begun + top] * 2 + [begun + leaf] * 2)
    groups(folder, system, top, leaf)
    for prefix, text in (([], "must be a list of one prefix"), (["none"], "cannot open none.0.et"),
                         ("tree", "must be a list")):
        expect(f"prefix {prefix}", run(folder, [[collective()]] * 4, {key: prefix}), text)
    expect("ranks", run(folder, [[collective()]] * 8, system), "has the traces of 4 ranks, and the job has 8")
    expect("of a node", run(folder, [[collective()]] * 4, {"per-node-custom-implementation": "x"}),
           "are not supported")


def groups(folder, system, top, leaf):
    nodes = [[collective(group="1")] if rank in (1, 3, 5, 7) else [comp(1, 1)] for rank in range(8)]
    got = run(folder, nodes, system, {"1": [1, 3, 5, 7]})
    expect("group", got, [1 * US, top, 1 * US, top, 1 * US, leaf, 1 * US, leaf])
    expect("group in another order", run(folder, nodes, system, {"1": [3, 1, 5, 7]}), "in that of the group's list")
    # A ring of one step: rank r sends to list[r + 1], which is r - 1, and receives from r + 1.
    write(folder, "step", [[send(1, (r + 1) % 4, 1 << 18), recv(2, (r + 3) % 4, 1 << 18)] for r in range(4)])
    one = {"all-to-all-implementation-custom": ["step"]}
    for ranks in ([0, 1, 2, 3], [2, 3, 0, 1]):
        expect(f"step in {ranks}", run(folder, [[collective("ALL_TO_ALL", group="1")]] * 4, one, {"1": ranks}),
               [flight(1 << 18)] * 4)


def main():
    with tempfile.TemporaryDirectory() as folder:
        rendezvous(folder)
        custom(folder)
    print(f"{len(failed)} fail")
    return len(failed) > 0


if __name__ == "__main__":
    sys.exit(main())
