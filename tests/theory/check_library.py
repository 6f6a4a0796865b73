#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Collectives of NCCL (`library`) in closed form: rings, trees, costs of hosts, PXN, bytes in a capture.

Servers have one GPU and hang on one switch; packets have no headers, so a message of m bytes takes m / G, a packet
more at the switch, and two delays. The receiver's grant of 64 bytes takes as long before the first message.

usage: check_library.py, with the executable in $COLLWIRE.
"""
import json
import os
import struct
import subprocess
import sys
import tempfile

COLLWIRE = os.environ["COLLWIRE"]
FAILED = []
RATE = 100e9 / 8  # bytes/s
DELAY_US = 0.5  # of a link
MTU = 4096
COSTS = ("launch", "primitive", "link", "tree_link", "send", "receive")
PROTOCOLS = ("ll", "ll128", "simple")
FREE = {f"{cost}_{p}": "0ns" for cost in COSTS for p in PROTOCOLS} | {"proxy": "0ns", "check_rate": "0bps"}
FREE |= {f"block_rate_{p}": "0bps" for p in PROTOCOLS}


def expect(what, holds):
    print(("ok: " if holds else "NOT: ") + what)
    if not holds:
        FAILED.append(what)


def near(what, us, wanted, share):
    expect(f"{what}: {us:.3f} us, {wanted:.3f} in closed form ({100 * (us / wanted - 1):+.2f} %)",
           abs(us / wanted - 1) <= share)


def scenario(nodes, op, size, library, costs=None, **more):
    return {
        "name": "library",
        "topology": {"machine": {"like": "1gpu_h100_400", "nic_rate": "100Gbps"}, "nodes": nodes,
                     "fabric": {"kind": "switch", "link": {"rate": "100Gbps", "delay": f"{DELAY_US}us"}}},
        "transport": {"wire_overhead": {"data": "0B", "ack": "1B"}, "mtu": f"{MTU}B"},
        "workload": {"kind": "collective", "op": op, "bytes": size,
                     "library": {"kind": "nccl", "host_cost": FREE | (costs or {}), **library}},
        **more,
    }


def run(folder, made):
    path, out = os.path.join(folder, "scenario.json"), os.path.join(folder, "out")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(made, file)
    subprocess.run([COLLWIRE, "run", path, "--quiet", "--out", out], check=True)
    with open(os.path.join(out, "metrics.json"), encoding="utf-8") as file:
        return json.load(file)


def duration(metrics):
    return metrics["collectives"][0]["duration_ns"] / 1e3


def wire_us(size):
    """Of a message alone."""
    return (size + min(size, MTU)) / RATE * 1e6 + 2 * DELAY_US


def check_ring(folder):
    """Two slices a step follow each other around the ring; the port or the way of a slice bounds a step."""
    for nodes, size in ((2, 1 << 20), (4, 1 << 20), (8, 8 << 20), (5, 5 << 18)):
        library = {"algo": "ring", "proto": "simple", "max_nchannels": 1}
        us = duration(run(folder, scenario(nodes, "all_reduce", size, library)))
        part = size / nodes / 2
        step = max(wire_us(part), 2 * part / RATE * 1e6)
        wanted = wire_us(64) + (2 * nodes - 3) * step + part / RATE * 1e6 + wire_us(part)
        near(f"ring of {nodes}, one channel, {size >> 10} KiB", us, wanted, 0.01)
    for channels in (2, 4):  # together they fill the port
        library = {"algo": "ring", "proto": "simple", "max_nchannels": channels}
        us = duration(run(folder, scenario(4, "all_reduce", 64 << 20, library)))
        near(f"ring of 4, {channels} channels, 64 MiB", us, 1.5 * (64 << 20) / RATE * 1e6, 0.03)


def check_tree(folder):
    """Of two servers: chunks go up one after the other, and each comes back as soon as it has arrived."""
    chunk = 512 << 10
    for chunks in (1, 4, 16):
        library = {"algo": "tree", "proto": "simple", "max_nchannels": 1}
        us = duration(run(folder, scenario(2, "all_reduce", chunks * chunk, library)))
        wanted = wire_us(64) + (chunks - 1) * chunk / RATE * 1e6 + 2 * wire_us(chunk)
        near(f"tree of 2, {chunks} chunks", us, wanted, 0.01)


def check_costs(folder):
    """Every hop of a small message takes each cost once, and the last rank ends with one more primitive."""
    costs = {"launch_ll": "6us", "primitive_ll": "1us", "send_ll": "3us", "receive_ll": "2us", "proxy": "250ns"}
    for nodes in (2, 4, 16):
        library = {"algo": "ring", "proto": "ll", "max_nchannels": 1}
        us = duration(run(folder, scenario(nodes, "all_reduce", 8 * nodes, library, costs)))
        hop = 1 + 3 + 0.25 + wire_us(16) + 2
        near(f"costs of hosts, ring of {nodes}", us, 6 + 2 * (nodes - 1) * hop + 1, 0.01)


def inside(gpus, proto, size, rate_gbytes):
    """A broadcast along the GPUs of one server, on one channel, whose blocks copy at a rate."""
    costs = {f"block_rate_{proto}": f"{8 * rate_gbytes}Gbps"}
    return {"name": "inside", "topology": {"machine": {"like": "dgx_h100", "gpus": gpus, "nics": gpus}, "nodes": 1},
            "workload": {"kind": "collective", "op": "broadcast", "bytes": size,
                         "library": {"kind": "nccl", "algo": "ring", "proto": proto, "max_nchannels": 1, "nvls": False,
                                     "host_cost": FREE | costs}}}


def check_lines(folder):
    """LL and LL128 forward line by line in a server: every further GPU adds the way of a line, not a copy of the message."""
    nvlink = 18 * 20.6e9  # bytes/s to the NVSwitch
    for proto, line, wire, size in (("ll", 256, 512, 16 << 10), ("ll128", 1920, 2048, 480_000)):
        for gpus in (2, 4, 8):
            for rate in (1, 4):
                us = duration(run(folder, inside(gpus, proto, size, rate)))
                hop = line / rate / 1e3 + 2 * wire / nvlink * 1e6 + 0.5
                near(f"{proto} along {gpus} GPUs at {rate} GB/s", us, size / rate / 1e3 + (gpus - 1) * hop, 0.01)
    # LL goes by rounds of all threads: 17 KiB are 4.25 of 512 threads, or 8.5 of the 256 that eight GPUs have.
    for gpus, whole in ((2, 5 * 4096), (4, 5 * 4096), (8, 9 * 2048)):
        us = duration(run(folder, inside(gpus, "ll", 17 << 10, 1)))
        hop = 256 / 1e3 + 2 * 512 / nvlink * 1e6 + 0.5
        near(f"ll along {gpus} GPUs, the last round not full", us, whole / 1e3 + (gpus - 1) * hop, 0.01)
    # Under Simple a slice is stored at each hop.
    for gpus in (2, 4, 8):
        us = duration(run(folder, inside(gpus, "simple", 256 << 10, 4)))
        hop = (256 << 10) / 4e3 + ((256 << 10) + 4096) / nvlink * 1e6 + 0.5
        near(f"simple along {gpus} GPUs", us, (gpus - 1) * hop + (256 << 10) / 4e3, 0.01)


def check_growth(folder):
    """A way that is forced never takes less time for more bytes."""
    for machine, ways in (("dgx_h100", (("ring", "ll"), ("tree", "ll128"), ("nvlstree", "simple"))), ("dgx_a100", (("tree", "simple"), ("ring", "ll128")))):
        for algo, proto in ways:
            times = []
            for size in (64 << shift for shift in range(0, 18)):
                made = {"name": "growth", "topology": {"machine": machine, "nodes": 2},
                        "workload": {"kind": "collective", "op": "all_reduce", "bytes": size,
                                     "library": {"kind": "nccl", "algo": algo, "proto": proto}}}
                times.append(duration(run(folder, made)))
            falls = [f"{64 << i}: {a} to {b}" for i, (a, b) in enumerate(zip(times, times[1:])) if b < a]
            expect(f"{machine}, {algo} {proto} from 64 B to 8 MiB: {falls}", not falls)


def check_rails(folder):
    """Each NIC of a server has a rail: no byte crosses a spine, and the slower of NICs and of the GPUs' buses bounds the time."""
    size, gpus, servers = 64 << 20, 8, 2
    each = 2 * (gpus * servers - 1) / (gpus * servers) * size / gpus  # that leaves by the NICs of a GPU
    for like, nics, gbps, bound in (("dgx_h100", 8, 400, 50e9), ("dgx_h100", 16, 100, 25e9), ("dgx_h100", 16, 400, 48e9),
                                    ("dgx_h100", 32, 200, 48e9), ("dgx_a100", 16, 100, 24e9)):
        library = {"kind": "nccl", "algo": "ring", "proto": "simple", "host_cost": FREE}
        made = {"name": "rails", "topology": {"machine": {"like": like, "nics": nics, "nic_rate": f"{gbps}Gbps"}, "nodes": servers},
                "transport": {"wire_overhead": {"data": "0B", "ack": "1B"}, "ack_interval": 16},
                "workload": {"kind": "collective", "op": "all_reduce", "bytes": size, "library": library}}
        metrics = run(folder, made)
        near(f"{like} with {nics} x {gbps}G", duration(metrics), each / bound * 1e6, 0.03)
        rails = {link["at"] for link in metrics["links"] if link["at"].startswith("rank") and "rail" in link["at"]}
        expect(f"{link_bytes(metrics, 'spine')} bytes through spines, {len(rails)} ports to rails",
               link_bytes(metrics, "spine") == 0 and len(rails) == servers * max(nics, gpus))


FIRST, LAST_IMMEDIATE, ONLY, ONLY_IMMEDIATE = 0x06, 0x09, 0x0A, 0x0B


def writes(path):
    """Bytes of the RDMA writes of a capture from each address, and the number of those with immediate."""
    sizes, immediate = {}, {}
    with open(path, "rb") as file:
        data = file.read()
    at = 24
    while at < len(data):
        kept = struct.unpack_from("<I", data, at + 8)[0]
        frame = data[at + 16 : at + 16 + kept]
        at += 16 + kept
        if frame[12:14] != b"\x08\x00" or struct.unpack_from(">H", frame, 36)[0] != 4791:
            continue
        if frame[42] in (FIRST, ONLY, ONLY_IMMEDIATE):
            sizes.setdefault(frame[26:30], []).append(struct.unpack_from(">I", frame, 42 + 12 + 12)[0])
        if frame[42] in (LAST_IMMEDIATE, ONLY_IMMEDIATE):
            immediate[frame[26:30]] = immediate.get(frame[26:30], 0) + 1
    return sizes, immediate


def check_capture(folder):
    """LL doubles the bytes, LL128 sends 2048 for each 1920 begun; every message has been cleared by 64 bytes."""
    nodes, size = 2, 100_000
    for proto, wire in (("ll", lambda n: 2 * -(-n // 8) * 8), ("ll128", lambda n: -(-n // 1920) * 2048), ("simple", int)):
        library = {"algo": "ring", "proto": proto, "max_nchannels": 1}
        file = os.path.join(folder, "out", "rank0.pcap")
        run(folder, scenario(nodes, "all_reduce", size, library, capture=[{"at": "rank0", "file": "rank0.pcap", "snaplen": "100B"}]))
        sizes, immediate = writes(file)
        both = list(sizes.values())
        expect(f"{proto}: every message is a write with immediate, no grant is",
               all(immediate[source] == len([n for n in sizes[source] if n != 64]) for source in sizes))
        for sizes in both:
            data = [n for n in sizes if n != 64]
            expect(f"{proto}: {sum(data)} bytes in {len(data)} writes of a rank", sum(data) == 2 * wire(size // 2))
        expect(f"{proto}: a write of 64 bytes for every message, empty ones too",
               len(both) == 2 and both[0].count(64) == both[1].count(64) == len([n for n in both[0] if n != 64]))


def link_bytes(metrics, part):
    return sum(link["bytes"] for link in metrics["links"] if part in link["at"])


def check_pxn(folder):
    """With PXN all sends between servers stay on the receiver's rail, after one more way over NVLink."""
    bytes_, nodes, gpus = 8 << 20, 4, 8
    inside = {}
    for pxn in (True, False):
        made = {"name": "pxn", "topology": {"machine": "dgx_h100", "nodes": nodes},
                "workload": {"kind": "collective", "op": "all_to_all", "bytes": bytes_, "library": {"kind": "nccl", "pxn": pxn}}}
        metrics = run(folder, made)
        spines = link_bytes(metrics, "spine")
        expect(f"pxn {pxn}: {spines} bytes through spines", (spines == 0) == pxn)
        inside[pxn] = sum(link["bytes"] for link in metrics["links"] if link["at"].startswith("dim0.sw"))
    pair = bytes_ // (nodes * gpus)
    staged = nodes * gpus * (gpus - 1) * (nodes - 1) * pair  # to other servers, by the NIC of another GPU
    near("bytes over NVLink that PXN adds", inside[True] - inside[False], staged, 0.02)


def check_errors(folder):
    """One clear error each, with its path, exit 2, and nothing written."""
    machine = {"machine": "dgx_h100", "nodes": 2}
    wrong = (
        ({"algo": "tree"}, "all_gather", machine, "workload.library: NCCL 2.27.7 has no all_gather by the given `algo` and `proto`"),
        ({"algo": "pat"}, "all_gather", machine, "has no all_gather"),
        ({"algo": "collnet"}, "all_reduce", machine, "workload.library.algo: collnet needs switches that add"),
        ({"algo": "collnet"}, "all_gather", machine, "workload.library.algo: collnet has all_reduce alone"),
        ({"nccl": "2.19.3"}, "all_reduce", machine, 'workload.library.nccl: "2.19.3" is not one of'),
        ({"env": "NCCL_FOO=1"}, "all_reduce", machine, "workload.library.env: NCCL_FOO is not known"),
        ({"env": "NCCL_PROTO=LL1"}, "all_reduce", machine, "workload.library.env: NCCL_PROTO"),
        ({}, "all_reduce", machine | {"machine": "dgx_h1000"}, 'topology.machine: unknown machine "dgx_h1000"; did you mean "dgx_h100"?'),
        ({}, "all_reduce", {"dims": [{"kind": "switch", "size": 8}]}, "workload.library: needs a machine"),
        ({}, "all_reduce", {"machine": "dgx_h100", "dims": [{"kind": "switch", "size": 4}]}, "topology.machine: dgx_h100 has 8 GPUs"),
        ({}, "all_reduce", {"machine": "dgx_h100"}, "topology.nodes: is required"),
        ({}, "all_reduce", {"machine": {"like": "dgx_h100", "nics": 3}, "nodes": 2}, "topology.machine: 3 NICs are not spread evenly over 8 GPUs"),
        ({}, "all_reduce", {"machine": "dgx2", "nodes": 4, "fabric": {"kind": "switch"}}, "workload.library: the NICs of a server's GPUs must reach"),
        ({}, "all_reduce", {"machine": "tpu_v4", "nodes": 1}, "workload.library: needs a machine that NCCL runs on"),
    )
    for library, op, topology, message in wrong:
        made = {"name": "wrong", "topology": topology,
                "workload": {"kind": "collective", "op": op, "bytes": "1MB", "library": {"kind": "nccl", **library}}}
        path, out = os.path.join(folder, "wrong.json"), os.path.join(folder, "wrong")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(made, file)
        done = subprocess.run([COLLWIRE, "run", path, "--out", out], capture_output=True, text=True, check=False)
        lines = done.stderr.splitlines()
        expect(f"{message}", done.returncode == 2 and len(lines) == 1 and message in lines[0] and not os.path.exists(out))
    extra = {"algorithm": "ring", "chunks": 2}
    made["topology"] = machine
    made["workload"] = {"kind": "collective", "op": "all_reduce", "bytes": "1MB", "library": {"kind": "nccl"}, **extra}
    with open(path, "w", encoding="utf-8") as file:
        json.dump(made, file)
    done = subprocess.run([COLLWIRE, "validate", path], capture_output=True, text=True, check=False)
    expect("what the library decides cannot be given", done.returncode == 2 and done.stderr.count("is decided by the library") == 2)


def check_queue_pairs(folder):
    """Several queue pairs and two-part sends change neither what is sent nor, on one path, how long it takes."""
    for op, size in (("all_reduce", 8 << 20), ("all_to_all", 8 << 20), ("gather", 100_000), ("scatter", 100_000)):
        alone = duration(run(folder, scenario(5, op, size, {})))
        for more in ({"qps_per_connection": 4}, {"qps_per_connection": 3, "split_data_on_qps": True}, {"adaptive_routing": True}):
            near(f"{op} with {more}", duration(run(folder, scenario(5, op, size, more))), alone, 0.12)
        slow = scenario(5, op, size, {"adaptive_routing": True})
        slow["transport"]["qp"] = "per_message"  # the notice has a queue pair of its own
        near(f"{op}, a notice on another queue pair waits for its data", duration(run(folder, slow)), alone, 0.12)


def main():
    with tempfile.TemporaryDirectory() as folder:
        check_queue_pairs(folder)
        check_errors(folder)
        check_ring(folder)
        check_tree(folder)
        check_costs(folder)
        check_lines(folder)
        check_growth(folder)
        check_rails(folder)
        check_capture(folder)
        check_pxn(folder)
    sys.exit(1 if FAILED else 0)


main()
