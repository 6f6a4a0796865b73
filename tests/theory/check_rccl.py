#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs of RCCL on MI300X (`library` of kind rccl): bytes of each channel in a capture, how full the mesh is, results.

usage: check_rccl.py, with the executable in $COLLWIRE.
"""
import collections
import json
import os
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "net", "capture"))
import pcapng

COLLWIRE = os.environ["COLLWIRE"]
FAILED = []
WRITES = (0x06, 0x0A, 0x0B)  # RDMA write first, only, only with immediate
GRANT = 64  # bytes of a clear-to-send
LINK = 48e9  # bytes/s between two GPUs


def expect(what, holds):
    print(("ok: " if holds else "NOT: ") + what)
    if not holds:
        FAILED.append(what)


def scenario(nodes, op, size, library=None, **more):
    return {"name": "rccl", "topology": {"machine": "mi300x", "nodes": nodes},
            "transport": {"wire_overhead": {"data": "0B", "ack": "1B"}},
            "workload": {"kind": "collective", "op": op, "bytes": size, "library": {"kind": "rccl", **(library or {})}}, **more}


def command(folder, made, *options):
    path, out = os.path.join(folder, "scenario.json"), os.path.join(folder, "out")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(made, file)
    return subprocess.run([COLLWIRE, "run", path, "--quiet", "--out", out, *options], capture_output=True, text=True, check=False)


def run(folder, made, *options):
    done = command(folder, made, *options)
    if done.returncode != 0:
        sys.exit(done.stderr)
    with open(os.path.join(folder, "out", "metrics.json"), encoding="utf-8") as file:
        return json.load(file)


def check_channels(folder):
    """A rank at the end of 8 rings leaves its server with each of them on a connection of its own."""
    chunks = 2 * 16 - 2  # that a rank sends on, of 16 of a channel
    for proto, size, of_channel in (("simple", 16 << 20, chunks * (16 << 20) // 64 // 16),
                                    ("ll", 2 << 20, 2 * chunks * (2 << 20) // 64 // 16)):
        library = {"algo": "ring", "proto": proto}
        capture = [{"at": "rank7", "file": "rank7.pcapng", "snaplen": "100B"}]
        metrics = run(folder, scenario(2, "all_reduce", size, library, capture=capture))
        data = collections.Counter()
        for packet in pcapng.read(os.path.join(folder, "out", "rank7.pcapng")).packets:
            if packet.interface != "rank7->rail7" or packet.data[42] not in WRITES:
                continue
            length = struct.unpack_from(">I", packet.data, 42 + 12 + 12)[0]
            if length != GRANT:
                data[packet.facts.flow, packet.facts.dst] += length
        expect(f"{proto}: of 64 channels 8 leave by the NIC of rank 7, with {of_channel} bytes each: {sorted(data.values())}",
               sorted(data.values()) == [of_channel] * 8)
        expect(f"{proto}: and stay on its rail", {dst for _, dst in data} == {15})
        spines = sum(link["bytes"] for link in metrics["links"] if "spine" in link["at"])
        expect(f"{proto}: no ring crosses a spine: {spines} bytes", spines == 0)


def check_mesh(folder):
    """The rings of one server load all links of the mesh alike: 8 of the 56 channels each."""
    size, gpus = 448 << 20, 8
    metrics = run(folder, scenario(1, "all_reduce", size))
    loads = {link["bytes"] for link in metrics["links"]}
    want = 8 * (size // 56) * 2 * (gpus - 1) // gpus
    # beside the data there are acknowledgements
    expect(f"56 links with {min(loads)} to {max(loads)} bytes, {want} of data",
           len(metrics["links"]) == 56 and want <= min(loads) == max(loads) < 1.02 * want)
    took, least = metrics["collectives"][0]["duration_ns"] / 1e9, want / LINK
    expect(f"{took * 1e6:.0f} us, of which the links take {least * 1e6:.0f}", least < took < 1.15 * least)


def check_results(folder):
    """What was chosen, in metrics and in words, over packets and in closed form; channels in the timeline."""
    made = scenario(2, "all_reduce", "16MB", report={"timeline": True, "timeline_ranks": 1})
    for network in ("packet", "analytical"):
        metrics = run(folder, made, "--set", f"network={network}")
        collective = metrics["collectives"][0]
        expect(f"{network}: {collective['library']}", collective["library"] ==
               {"algorithm": "Tree", "protocol": "Simple", "channels": 64, "threads": 256, "chunk_bytes": 32768})
        expect(f"{network}: the kind, {collective['algorithm']}", collective["algorithm"] == "rccl")
        words = [line for line in metrics["explain"] if "RCCL chose Tree with protocol Simple" in str(line)]
        expect(f"{network}: {words}", len(words) == 1 and "64 channels of 256 threads" in str(words))
    run(folder, made)
    with open(os.path.join(folder, "out", "timeline.json"), encoding="utf-8") as file:
        names = {event["name"] for event in json.load(file)["traceEvents"]}
    shown = {int(name.split("channel ")[1]) for name in names if ", channel " in name}
    expect(f"{len(shown)} channels in the timeline", shown == set(range(64)))
    exchange = run(folder, scenario(2, "all_to_all", "1MB"))
    expect("all-to-all", "RCCL sends all_to_all" in str(exchange["explain"]))


def check_settings(folder):
    """What a setting of the number of channels and a part of a server give."""
    got = run(folder, scenario(1, "all_reduce", "64MB", {"env": "NCCL_MIN_NCHANNELS=112 RCCL_MSCCL_ENABLE=0"}))["collectives"][0]
    expect(f"112 channels: {got['library']}", got["library"]["channels"] == 112)
    made = scenario(2, "all_reduce", "1MB")
    made["workload"]["ranks"] = [8, 9, 10, 11]  # part of a server: 24 channels, shares of whole 8 KiB for 21
    few = run(folder, made)["collectives"][0]["library"]
    expect(f"four GPUs of a server: {few}", (few["algorithm"], few["channels"]) == ("Ring", 21))


def check_errors(folder):
    """One clear error each, with its path, exit 2, and nothing written."""
    machine = {"machine": "mi300x", "nodes": 2}
    wrong = (
        ({}, {"machine": "dgx_h100", "nodes": 2},
         "workload.library: RCCL would not run here: RCCL's tables here are those of MI300X (gfx942)."),
        ({}, {"machine": {"like": "gh200"}, "nodes": 2}, "RCCL's tables here are those of MI300X (gfx942)."),
        ({}, {"machine": {"like": "mi300x", "nics": 4}, "nodes": 2}, "RCCL's rings between servers are those of 8 GPUs with a NIC each."),
        ({}, {"dims": [{"kind": "switch", "size": 8}]}, 'needs a machine that RCCL runs on: give the topology a `machine`, such as "mi300x"'),
        ({"rccl": "2.20.5"}, machine, 'workload.library.rccl: "2.20.5" is not one of 2.21.5'),
        ({"nccl": "2.21.5"}, machine, "workload.library.nccl"),
        ({"nthreads": 256}, machine, "workload.library.nthreads"),
        ({"algo": "nvls"}, machine, 'workload.library.algo: "nvls" is not one of auto, tree, ring'),
        ({"env": "NCCL_NVLS_ENABLE=0"}, machine, "workload.library.env: NCCL_NVLS_ENABLE has no meaning for RCCL"),
        ({"env": "RCCL_MSCCL_ENABLE=1"}, machine, "workload.library.env: RCCL_MSCCL_ENABLE: MSCCL is not modelled"),
        # RCCL itself would run a ring of any protocol in place of what is forced and cannot be
        ({"proto": "ll128"}, machine, "workload.library: RCCL 2.21.5 has no all_reduce by the given `algo` and `proto`"),
        ({"env": "NCCL_ALGO=Tree NCCL_PROTO=LL128"}, machine, "workload.library: RCCL 2.21.5 has no all_reduce by the given"),
        ({"algo": "tree", "proto": "simple"}, {"machine": "mi300x", "nodes": 1}, "RCCL 2.21.5 has no all_reduce by the given"),
        ({"min_nchannels": 129}, machine, "workload.library.min_nchannels: 129 is above the maximum 128"),
    )
    for library, topology, message in wrong:
        made = {**scenario(2, "all_reduce", "1MB", library), "topology": topology}
        out = os.path.join(folder, "wrong")
        done = command(folder, made, "--out", out)
        lines = done.stderr.splitlines()
        expect(f"{message}", done.returncode == 2 and len(lines) == 1 and message in lines[0] and not os.path.exists(out))


def main():
    with tempfile.TemporaryDirectory() as folder:
        check_errors(folder)
        check_channels(folder)
        check_mesh(folder)
        check_results(folder)
        check_settings(folder)
    sys.exit(1 if FAILED else 0)


main()
