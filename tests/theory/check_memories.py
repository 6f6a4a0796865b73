#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Copies between tiers of memory against closed forms: shared memories to the nanosecond; a remote pool alone within
1 % of the slower of its link and its memories, with every byte on the wire counted; and an incast of pools.

usage: check_memories.py, with the executable in $COLLWIRE.
"""
import sys
import tempfile

from scenario_run import run_made

LINK = {"rate": "100Gbps", "delay": "1us"}
NS_OF_BYTE = 8 / 100  # of the link
# Bytes on the wire: a packet's payload; what a packet with data costs beside it; what its message has once (RETH); an ACK.
MTU, DATA, RETH, ACK = 4096, 82, 16, 86

FAILED = []


def note(good, text):
    print("ok  " if good else "FAIL", text)
    if not good:
        FAILED.append(text)


def run(folder, ranks, job, nodes, size=12, **keys):
    """The metrics of a program on so many ranks of a switch."""
    made = {"name": "memories", "topology": {"dims": [{"kind": "switch", "size": size, "link": LINK}]},
            "workload": {"kind": "program", "ranks": ranks, "nodes": nodes} | job} | keys
    return run_made(made, [], folder)


def ends(metrics):
    return [rank["finish_ns"] for rank in metrics["ranks"]]


def copy(rank, source, to, size, **keys):
    return {"rank": rank, "kind": "copy", "from": source, "to": to, "bytes": size} | keys


def check_shared(folder):
    """k ranks that share a memory take k times as long; each with its own, as long as one."""
    tier = {"rate": "80Gbps", "latency": "3us"}
    nodes = [copy("all", "ddr", "hbm", 1_000_000)]
    for sharing, k in (("rank", 1), ("all", 8), (2, 2), (3, 3)):
        metrics = run(folder, list(range(8)), {"tiers": {"ddr": tier | {"shared_by": sharing}}}, nodes)
        want = [3000 + 100_000 * k] * 8
        if sharing == 3:
            want[6:] = [3000 + 200_000] * 2  # the last memory has two ranks
        note(ends(metrics) == want, f"8 ranks, shared_by {sharing}: {ends(metrics)} ns")
    metrics = run(folder, list(range(8)), {"tiers": {"ddr": tier | {"shared_by": "server"}}}, nodes)
    note(ends(metrics) == [803_000] * 8, f"shared_by server, one switch: {ends(metrics)} ns")


def check_staggered(folder):
    """Rank 1 begins 50 us later: 50 us alone, then half the rate each until rank 0 ends at 150 us."""
    nodes = [copy(0, "ddr", "hbm", 1_000_000), {"rank": 1, "kind": "wait", "time": "50us", "id": 0},
             copy(1, "ddr", "hbm", 1_000_000, id=1, after=0)]
    metrics = run(folder, [0, 1], {"tiers": {"ddr": {"rate": "80Gbps", "shared_by": "all"}}}, nodes)
    note(ends(metrics) == [150_000, 200_000], f"the second copy 50 us later: {ends(metrics)} ns")


def check_directions(folder):
    """A read and a write at once: twice the time with `rate`, each its own with read_rate and write_rate."""
    nodes = [copy(0, "ddr", "hbm", 1_000_000, stream="none"), copy(0, "hbm", "ddr", 1_000_000, stream="none")]
    for tier, want in (({"rate": "80Gbps"}, 200_000), ({"read_rate": "80Gbps", "write_rate": "40Gbps"}, 200_000),
                       ({"read_rate": "80Gbps", "write_rate": "80Gbps"}, 100_000)):
        note(ends(run(folder, [0], {"tiers": {"ddr": tier}}, nodes)) == [want], f"read beside write, {tier}: {want} ns")
    slower = run(folder, [0], {"tiers": {"ssd": {"rate": "8Gbps", "latency": "9us"}, "ddr": {"rate": "80Gbps", "latency": "1us"}}},
                 [copy(0, "ssd", "ddr", 1_000_000)])
    note(ends(slower) == [1_010_000], "from slow to fast: both latencies, and the slower rate")
    limited = run(folder, [0], {"tiers": {"ddr": {"rate": "80Gbps"}, "hbm": {"rate": "40Gbps"}}}, [copy(0, "ddr", "hbm", 1_000_000)])
    note(ends(limited) == [200_000], "hbm with a limit of its own")


def wire_bytes(size, stripe):
    """Bytes on the wire of data in messages of a stripe each."""
    full, rest = divmod(size, stripe)
    packets = full * -(-stripe // MTU) + -(-rest // MTU)
    return size + packets * DATA + -(-size // stripe) * RETH


def host_links(metrics, at):
    return sum(link["bytes"] for link in metrics["links"] if link["at"] == at)


def check_pool(folder, to_pool, size, hosts, rate, stripe=1_000_000):
    """One rank and a pool: request and answer; then the link behind the first stripe of the memories, or the memories and
    behind them their last stripes, which share the link."""
    pool = {"hosts": hosts, "rate": f"{rate}Gbps", "latency": "2us", "stripe": stripe}
    step = copy(0, "hbm", "pool", size) if to_pool else copy(0, "pool", "hbm", size)
    metrics = run(folder, [0], {"tiers": {"pool": pool}}, [step])
    n, memory = len(hosts), 8 / rate
    link = wire_bytes(size, stripe) * NS_OF_BYTE
    first = min(stripe, size)
    one_way = 2000 + 2 * (64 + DATA + RETH) * NS_OF_BYTE
    last = min(size, MTU) + DATA  # store and forward of the last packet
    share = -(-(size // stripe) // n) * stripe if size > stripe else size
    slower = max(link + first * memory, share * memory + min(n, -(-size // first)) * wire_bytes(first, first) * NS_OF_BYTE)
    want = 2 * one_way + 2000 + slower + last * NS_OF_BYTE
    got = ends(metrics)[0]
    note(abs(got / want - 1) < 0.01,
         f"{'to' if to_pool else 'from'} a pool of {n} at {rate} Gb/s, {size} bytes: {got} ns, closed form {want:.0f}")
    small = min(n, -(-size // stripe)) * (64 + DATA + RETH)
    at = "rank0->dim0.sw0"
    acks = sum(flow["packets"] for flow in metrics["flows"] if (flow["src"] != 0)) * ACK
    sent = host_links(metrics, at)
    want_bytes = acks + (wire_bytes(size, stripe) if to_pool else small)
    note(sent == want_bytes, f"  the rank sends {sent} bytes on the wire, by hand {want_bytes}")


def check_incast(folder):
    """8 ranks read 4 MB each from one host: its link is the limit; 4 hosts have 4 times as much."""
    for hosts in (1, 4):
        pool = {"hosts": list(range(8, 8 + hosts)), "stripe": "250KB"}
        metrics = run(folder, list(range(8)), {"tiers": {"pool": pool}}, [copy("all", "pool", "hbm", 4_000_000)])
        want = wire_bytes(8 * 4_000_000, 250_000) * NS_OF_BYTE / hosts
        got = max(ends(metrics))
        note(want < got < 1.03 * want + 10_000, f"8 ranks read from {hosts} hosts: {got} ns, link {want:.0f}")
    pool = {"hosts": list(range(1, 9)), "stripe": "250KB"}
    metrics = run(folder, [0], {"tiers": {"pool": pool}}, [copy(0, "pool", "hbm", 32_000_000)],
                  transport={"kind": "roce"}, cc={"kind": "none"})
    pauses, drops = metrics["pfc"]["pause_frames"], metrics["drops"]["packets"]
    note(pauses > 0 and drops == 0, f"8 hosts send to one rank in class 3: {pauses} pause frames, no drop")
    metrics = run(folder, [0], {"tiers": {"pool": pool | {"class": 1}}}, [copy(0, "pool", "hbm", 32_000_000)],
                  cc={"kind": "none"}, switch={"buffer": "2MB"})
    pauses, drops = metrics["pfc"]["pause_frames"], metrics["drops"]["packets"]
    note(pauses == 0 and drops > 0 and metrics["status"] == "completed",
         f"the same in class 1, which is lossy: {pauses} pause frames, {drops} drops")


def check_both_ends(folder):
    """The local memory is slower than the network: it is the limit, and the network's time is hidden but for a stripe."""
    tiers = {"ddr": {"rate": "20Gbps"}, "pool": {"hosts": [8], "stripe": "100KB"}}
    for source, to in (("pool", "ddr"), ("ddr", "pool")):
        got = ends(run(folder, [0], {"tiers": tiers}, [copy(0, source, to, 10_000_000)]))[0]
        want = 4_000_000 + 100_000 * NS_OF_BYTE
        note(want < got < 1.005 * want, f"{source} to {to}, 20 Gb/s of memory: {got} ns, at least {want:.0f}")


def check_analytical(folder):
    """In closed form the pool takes its messages' times too."""
    pool = {"hosts": [8], "stripe": "1MB"}
    got = ends(run(folder, [0], {"tiers": {"pool": pool}}, [copy(0, "pool", "hbm", 1_000_000)], network="analytical"))[0]
    want = 2 * 2000 + int(64 * NS_OF_BYTE) + 80_000
    note(abs(got - want) <= 2, f"in closed form: {got} ns, by hand {want}")


def check_pools(folder):
    """Pools with a fabric of their own, by hand: chunks of 4000 bytes through memories, fabric and port."""
    size, chunk = 4_000_000, 4000
    for kind, tier, stages in (
            # 12 ranks, one server of 12: 3 memories of 800 Gb/s, a link of 1200 Gb/s to the server, ports of 160 Gb/s
            ("hierarchical", {"memories": 3, "rate": "800Gbps", "fabric_rate": "1200Gbps", "port_rate": "160Gbps"},
             (12 / 3 * 8 / 800, 12 * 8 / 1200, 8 / 160)),
            ("hierarchical", {"memories": 3, "rate": "800Gbps"}, (12 / 3 * 8 / 800,)),
            # a ring of 12: distances 0 1 1 2 2 3 3 4 4 5 5 6, 36 hops of 12 bytes on 24 links
            ("ring", {"rate": "800Gbps", "fabric_rate": "100Gbps"}, (8 / 800, 36 / 24 * 8 / 100)),
            # a mesh of 4 x 3: 2 ranks of a row send 2 of 4 bytes each over its middle
            ("mesh", {"rate": "400Gbps", "fabric_rate": "100Gbps"}, (8 / 400, 2 * 2 / 4 * 8 / 100))):
        pool = tier | {"pool": kind, "chunk": chunk, "latency": "3us"}
        got = ends(run(folder, list(range(12)), {"tiers": {"far": pool}}, [copy("all", "far", "hbm", size)]))
        want = 3000 + chunk * sum(stages) + (size - chunk) * max(stages)
        note(all(abs(end - want) <= 1 for end in got), f"{kind} pool: {got[0]} ns, by hand {want:.1f}")


def check_links(folder):
    """In closed form by links, stripes wait for the link: 8 MB at 100 Gb/s, store and forward of one stripe."""
    pool = {"hosts": [8], "stripe": "1MB"}
    got = ends(run(folder, [0], {"tiers": {"pool": pool}}, [copy(0, "pool", "hbm", 8_000_000)], network="analytical",
                   analytical_route="links"))[0]
    want = 4000 + 2 * int(64 * NS_OF_BYTE) + 9 * 80_000
    note(abs(got - want) <= 2, f"in closed form by links: {got} ns, by hand {want}")


def main():
    with tempfile.TemporaryDirectory() as folder:
        check_shared(folder)
        check_staggered(folder)
        check_directions(folder)
        for to_pool in (False, True):
            check_pool(folder, to_pool, 16_000_000, [8], 400)
            check_pool(folder, to_pool, 16_000_000, [8, 9, 10, 11], 400)
            check_pool(folder, to_pool, 16_000_000, [8], 50)
            check_pool(folder, to_pool, 16_000_000, [8, 9], 25)
            check_pool(folder, to_pool, 700_000, [8, 9], 400)
        check_pools(folder)
        check_incast(folder)
        check_both_ends(folder)
        check_analytical(folder)
        check_links(folder)
    sys.exit(bool(FAILED))


main()
