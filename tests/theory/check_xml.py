#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Algorithms of XML files (`library` of kind xml) in closed form: a ring, dependencies, bytes, NICs, refusals.

Servers have one GPU and hang on one switch; packets have no headers, as in check_library.py.

usage: check_xml.py FOLDER, of the XML files, with the executable in $COLLWIRE.
"""
import json
import os
import subprocess
import sys
import tempfile
from random import Random

COLLWIRE = os.environ["COLLWIRE"]
FILES = os.path.abspath(sys.argv[1]) if len(sys.argv) > 1 else None
FAILED = []
RATE = 100e9 / 8  # bytes/s
DELAY_US = 0.5  # of a link
MTU = 4096
COSTS = ("launch", "primitive", "link", "tree_link", "send", "receive")
PROTOCOLS = ("ll", "ll128", "simple")
FREE = {f"{cost}_{p}": "0ns" for cost in COSTS for p in PROTOCOLS} | {"proxy": "0ns"}
FREE |= {f"block_rate_{p}": "0bps" for p in PROTOCOLS}


def expect(what, holds):
    print(("ok: " if holds else "NOT: ") + what)
    if not holds:
        FAILED.append(what)


def near(what, us, wanted, share):
    expect(f"{what}: {us:.3f} us, {wanted:.3f} in closed form ({100 * (us / wanted - 1):+.2f} %)",
           abs(us / wanted - 1) <= share)


def scenario(size, library, costs=None, op="all_reduce", nodes=4):
    return {
        "name": "xml",
        "topology": {"machine": {"like": "1gpu_h100_400", "nic_rate": "100Gbps"}, "nodes": nodes,
                     "fabric": {"kind": "switch", "link": {"rate": "100Gbps", "delay": f"{DELAY_US}us"}}},
        "transport": {"wire_overhead": {"data": "0B", "ack": "1B"}, "mtu": f"{MTU}B"},
        "workload": {"kind": "collective", "op": op, "bytes": size, "library": library | {"host_cost": FREE | (costs or {})}},
    }


def xml(name, **more):
    return {"kind": "xml", "file": os.path.join(FILES, name)} | more


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
    """The ring of a file is NCCL's: two slices a step follow each other around it."""
    nodes = 4
    for size in (1 << 18, 1 << 20, 16 << 20):
        metrics = run(folder, scenario(size, xml("ring4.xml")))
        collective = metrics["collectives"][0]
        nccl = {"kind": "nccl", "algo": "ring", "proto": "simple", "max_nchannels": 1}
        same = run(folder, scenario(size, nccl))["collectives"][0]
        expect(f"ring of {size >> 10} KiB takes as long as NCCL's", collective["duration_ns"] == same["duration_ns"])
        sent = collective["phases"][0]["bytes"]
        expect(f"ring of {size >> 10} KiB: {sent} bytes sent", sent == 2 * (nodes - 1) * size)
    part = (1 << 20) / nodes / 2
    step = max(wire_us(part), 2 * part / RATE * 1e6)
    wanted = wire_us(64) + (2 * nodes - 3) * step + part / RATE * 1e6 + wire_us(part)
    near("ring of 4, 1024 KiB", duration(run(folder, scenario(1 << 20, xml("ring4.xml")))), wanted, 0.01)
    expect("the library is named", collective["algorithm"] == "xml" and collective["library"] == {
        "algorithm": "ring4", "protocol": "Simple", "channels": 1, "threads": None, "chunk_bytes": 2 << 20})


def check_chunk(folder):
    """With `chunk` loops are shorter: the ring has two slices of every loop."""
    size, chunk = 1 << 20, 64 << 10
    metrics = run(folder, scenario(size, xml("ring4.xml", chunk=f"{chunk}B")))
    loops = size // 4 // chunk
    expect("messages of loops", metrics["collectives"][0]["phases"][0]["messages"] == loops * 4 * 6 * 2)
    expect("bytes of loops", metrics["collectives"][0]["phases"][0]["bytes"] == 6 * size)


def check_dependencies(folder):
    """Every dependency costs its hop: a primitive to send, the way to the other GPU, and one to receive."""
    for proto, name, hops in (("simple", "hierarchical4.xml", 3), ("ll", "allpairs4.xml", 2)):
        costs = {f"launch_{proto}": "6us", f"primitive_{proto}": "1us", f"send_{proto}": "3us", f"receive_{proto}": "2us"}
        us = duration(run(folder, scenario(32, xml(name), costs)))
        # two slices of a step under Simple, the second one empty: a primitive each, one after the other
        hop = 1 + 3 + wire_us(16) + 2 + 1 + (1 if proto == "simple" else 0)
        # the reductions of all pairs are one primitive
        near(f"costs of hosts, {name}", us, 6 + hops * hop + (1 if proto == "ll" else 0), 0.01)
    sent = run(folder, scenario(1 << 20, xml("allpairs4.xml")))["collectives"][0]["phases"][0]["bytes"]
    expect(f"all pairs under LL: {sent} bytes sent", sent == 2 * 6 << 20)


def all_to_all(path, gpus):
    """An all-to-all with a thread block for each pair."""
    with open(path, "w", encoding="utf-8") as file:
        file.write(f'<algo name="direct" nchunksperloop="{gpus}" nchannels="1" proto="Simple" ngpus="{gpus}" coll="alltoall">\n')
        for gpu in range(gpus):
            file.write(f'<gpu id="{gpu}" i_chunks="{gpus}" o_chunks="{gpus}" s_chunks="0">\n')
            for block, peer in enumerate(p for p in range(gpus) if p != gpu):
                file.write(f'<tb id="{block}" send="{peer}" recv="{peer}" chan="0">'
                           f'<step s="0" type="s" srcbuf="i" srcoff="{peer}" dstbuf="o" dstoff="{gpu}" cnt="1"/>'
                           f'<step s="1" type="r" srcbuf="i" srcoff="{gpu}" dstbuf="o" dstoff="{peer}" cnt="1"/></tb>\n')
            file.write("</gpu>\n")
        file.write("</algo>\n")


def check_nics(folder):
    """Each GPU has its own NIC; with PXN all sends between servers stay on the receiver's rail."""
    size, nodes, gpus = 2 << 20, 2, 8
    n = nodes * gpus
    path = os.path.join(folder, "direct.xml")
    all_to_all(path, n)
    for pxn in (True, False):
        made = {"name": "nics", "topology": {"machine": "dgx_h100", "nodes": nodes},
                "workload": {"kind": "collective", "op": "all_to_all", "bytes": size,
                             "library": {"kind": "xml", "file": path, "pxn": pxn}}}
        metrics = run(folder, made)
        spines = sum(link["bytes"] for link in metrics["links"] if "spine" in link["at"])
        expect(f"pxn {pxn}: {spines} bytes through spines", (spines == 0) == pxn)
        sent = metrics["collectives"][0]["phases"][0]["bytes"]
        expect(f"all-to-all of {n}: {sent} bytes sent", sent == n * (n - 1) * size // n)


def refused(folder, made, part):
    path = os.path.join(folder, "scenario.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(made, file)
    got = subprocess.run([COLLWIRE, "validate", path], capture_output=True, text=True, check=False)
    expect(f"refused: {part}", got.returncode == 2 and part in got.stderr)


def check_refusals(folder):
    """What would hang, or does not fit the job, is refused before the run."""
    ring = os.path.join(FILES, "ring4.xml")
    with open(ring, encoding="utf-8") as file:
        text = file.read()
    hangs = os.path.join(folder, "hangs.xml")
    with open(hangs, "w", encoding="utf-8") as file:  # every GPU receives before it sends
        file.write(text.replace('s="0" type="s"', 's="0" type="r"').replace('s="6" type="r"', 's="6" type="s"'))
    refused(folder, scenario(1 << 20, xml(hangs)), "waits for")
    refused(folder, scenario(1 << 20, xml(ring), op="all_gather"), 'coll "allreduce" is not the operation all_gather')
    refused(folder, scenario(1 << 20, xml(ring), nodes=5), "has steps of 4 GPUs, and 5 ranks take part")
    refused(folder, scenario(1 << 20, xml("missing.xml")), "missing.xml cannot be opened: ")
    refused(folder, scenario(1 << 20, xml(ring, chunk="3MiB")), "take 2097152 bytes at once")
    sized = os.path.join(folder, "sized.xml")  # sizes for which MSCCL takes the file: a warning beyond them
    with open(sized, "w", encoding="utf-8") as file:
        file.write(text.replace('inplace="1"', 'minBytes="1000" maxBytes="2000000"'))
    path = os.path.join(folder, "scenario.json")
    for size, said in ((999, "is for sizes from 1.00 KB (minBytes), and the collective has 999 B"), (1 << 20, ""), (1 << 21, "is for sizes up to 2.00 MB (maxBytes)")):
        with open(path, "w", encoding="utf-8") as file:
            json.dump(scenario(size, xml(sized)), file)
        got = subprocess.run([COLLWIRE, "validate", path], capture_output=True, text=True, check=False)
        expect(f"sizes of a file: {size} B", got.returncode == 0 and said in got.stderr and (said != "") == (got.stderr != ""))
    refused(folder, scenario(1 << 20, xml(os.path.join(folder, "minus.xml"))), "minus.xml cannot be opened")
    with open(os.path.join(folder, "minus.xml"), "w", encoding="utf-8") as file:
        file.write(text.replace('inplace="1"', 'minBytes="-1"'))
    refused(folder, scenario(1 << 20, xml(os.path.join(folder, "minus.xml"))), 'minBytes="-1" is no number from 0')
    many = os.path.join(folder, "many.xml")  # both send eight chunks, and then receive as many
    with open(many, "w", encoding="utf-8") as file:
        file.write('<algo name="many" nchunksperloop="8" nchannels="1" proto="Simple" ngpus="2" coll="custom">\n')
        for gpu in (0, 1):
            file.write(f'<gpu id="{gpu}"><tb id="0" send="{1 - gpu}" recv="{1 - gpu}" chan="0">'
                       '<step s="0" type="s" cnt="8"/><step s="1" type="r" cnt="8"/></tb></gpu>\n')
        file.write("</algo>\n")
    # two messages for what goes at once, and room for four: at least four of the chunks must go together
    metrics = run(folder, scenario(4 << 20, xml(many), nodes=2))
    expect("many chunks of a step go together", metrics["collectives"][0]["phases"][0]["messages"] == 2 * 2 * 2)
    refused(folder, scenario((4 << 20) + 8, xml(many), nodes=2), "with more than 4.19 MB its steps would fill the buffers")


def drawn(path, random):
    """Random messages between pairs of thread blocks, and dependencies, where some steps have changed their places."""
    gpus, proto = random.randint(2, 4), random.choice(("LL", "LL128", "Simple"))
    blocks = [[] for _ in range(gpus)]  # of each GPU: peer, channel, steps
    for channel in range(random.randint(1, 5)):
        a, b = random.sample(range(gpus), 2)
        pair = [[b, channel, []], [a, channel, []]]
        blocks[a].append(pair[0])
        blocks[b].append(pair[1])
        for _ in range(random.randint(1, 12)):
            to, count = random.randrange(2), random.choice((1, 1, 1, 2, 5))
            pair[to][2].append(["r", count, ""])
            pair[1 - to][2].append(["s", count, ""])
    for own in blocks:
        for block, (_, _, steps) in enumerate(own):
            for step in steps:
                after = random.randrange(len(own))
                if random.random() < 0.05 and after != block:
                    step[2] = f' depid="{after}" deps="{random.randrange(len(own[after][2]))}"'
            for i in range(len(steps) - 1):
                if random.random() < 0.1 and steps[i][0] != steps[i + 1][0]:
                    steps[i], steps[i + 1] = steps[i + 1], steps[i]
    with open(path, "w", encoding="utf-8") as file:
        file.write(f'<algo name="drawn" nchunksperloop="4" nchannels="5" proto="{proto}" ngpus="{gpus}" coll="custom">\n')
        for gpu, own in enumerate(blocks):
            file.write(f'<gpu id="{gpu}">\n')
            for block, (peer, channel, steps) in enumerate(own):
                file.write(f'<tb id="{block}" send="{peer}" recv="{peer}" chan="{channel}">')
                for kind, count, waits in steps:
                    file.write(f'<step type="{kind}" cnt="{count}"{waits}/>')
                file.write("</tb>\n")
            file.write("</gpu>\n")
        file.write("</algo>\n")
    return gpus


def check_drawn(folder):
    """What is accepted runs to its end."""
    random = Random(1)
    path, scenario_path = os.path.join(folder, "drawn.xml"), os.path.join(folder, "scenario.json")
    accepted = refusals = 0
    for _ in range(60):
        gpus = drawn(path, random)
        made = scenario(random.choice((64, 100_000, 1 << 20)), xml(path), nodes=gpus)
        with open(scenario_path, "w", encoding="utf-8") as file:
            json.dump(made, file)
        got = subprocess.run([COLLWIRE, "validate", scenario_path], capture_output=True, text=True, check=False)
        if got.returncode == 0:
            run(folder, made)
            accepted += 1
        else:
            refusals += "never end" in got.stderr or "fill the buffers" in got.stderr
    expect(f"{accepted} drawn algorithms ended, {refusals} were refused for a circle",
           accepted + refusals == 60 and min(accepted, refusals) > 10)


def main():
    with tempfile.TemporaryDirectory() as folder:
        check_ring(folder)
        check_chunk(folder)
        check_dependencies(folder)
        check_nics(folder)
        check_refusals(folder)
        check_drawn(folder)
    sys.exit(1 if FAILED else 0)


if __name__ == "__main__":
    main()
