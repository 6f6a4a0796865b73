#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The regret of what NCCL and RCCL choose: the time of the choice over that of the best way that can be forced.

The rules of choice were fitted to hardware. So where a model has another way much faster, the model is wrong there, or a
reason is known, which docs/nccl.md gives in a table. Checked are all-reduces of two servers:
- the choice takes at most 1.25 times as long as the best way, or at most the factor that the table of the page has;
- a row of that table is needed: the factor is above 1.25, and is at most 0.05 above what is measured;
- neither a way that is forced nor the choice takes less time for more bytes, but for 2 %.

usage: check_regret.py NCCL.md short|long, with the executable in $COLLWIRE.
"""
import json
import os
import re
import subprocess
import sys
import tempfile

COLLWIRE = os.environ["COLLWIRE"]
FAILED = []
MOST = 1.25
FALL = 0.02
OPTIONS = ("--set", "explain.try=0")
MACHINES = ("dgx_a100", "dgx_h100", "dgx_b200", "gh200", "1gpu_h100_400", "mi300x")
KIB, MIB = 1 << 10, 1 << 20
SIZES = {"short": (KIB, 64 * KIB, MIB), "long": (KIB, 8 * KIB, 64 * KIB, 256 * KIB, MIB, 4 * MIB, 16 * MIB, 64 * MIB, 128 * MIB, 256 * MIB)}
WAYS = [(algo, proto) for algo in ("ring", "tree") for proto in ("ll", "ll128", "simple")] + [("nvlstree", "simple")]


def expect(what, holds):
    print(("ok: " if holds else "NOT: ") + what)
    if not holds:
        FAILED.append(what)


def run(folder, machine, size, way=None):
    """The time in us and the way that ran, or None where the library cannot run it."""
    library = {"kind": "rccl" if machine == "mi300x" else "nccl"}
    if way:
        library |= {"algo": way[0], "proto": way[1]}
    made = {"name": "regret", "topology": {"machine": machine, "nodes": 2}, "transport": {"mtu": "4096B", "ack_interval": 16},
            "switch": {"buffer": "1GB"}, "report": {"flows_max": 1},
            "workload": {"kind": "collective", "op": "all_reduce", "bytes": size, "library": library}}
    path, out = os.path.join(folder, "scenario.json"), os.path.join(folder, "out")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(made, file)
    done = subprocess.run([COLLWIRE, "run", path, "--quiet", "--out", out, *OPTIONS], capture_output=True, text=True, check=False)
    if way and done.returncode == 2:
        return None
    if done.returncode != 0:
        sys.exit(done.stderr)
    with open(os.path.join(out, "metrics.json"), encoding="utf-8") as file:
        collective = json.load(file)["collectives"][0]
    return collective["duration_ns"] / 1e3, f"{collective['library']['algorithm']} {collective['library']['protocol']}"


def words(size):
    return f"{size // MIB} MiB" if size >= MIB else f"{size // KIB} KiB"


def explained(page):
    """Of the table of the page: the factor by machine and size."""
    with open(page, encoding="utf-8") as file:
        rows = re.findall(r"^\| `(\w+)` \| (\d+ [KM]iB) \| [^|]* \| [^|]* \| ([\d.]+) \|", file.read(), re.M)
    return {(machine, size): float(factor) for machine, size, factor in rows}


def main():
    page, length = sys.argv[1:]
    reasons, sizes = explained(page), SIZES[length]
    with tempfile.TemporaryDirectory() as folder:
        for machine in MACHINES:
            before = {}
            for size in sizes:
                own, name = run(folder, machine, size)
                ways = {way: made[0] for way in WAYS if (made := run(folder, machine, size, way))}
                best = min(ways, key=ways.get)
                regret, what = own / ways[best], f"{machine}, {words(size)}"
                said = f"{what}: {name} {own:.1f} us, the best is {' '.join(best)} {ways[best]:.1f}, {regret:.3f}"
                if (machine, words(size)) in reasons:
                    factor = reasons[machine, words(size)]
                    expect(f"{said}, {factor} on the page", MOST < factor and factor - 0.05 <= regret <= factor)
                else:
                    expect(said, regret <= MOST)
                for way in ways:
                    expect(f"{what} by {' '.join(way)} takes no less than fewer bytes", ways[way] >= (1 - FALL) * before.get(way, 0))
                expect(f"{what} takes no less than fewer bytes", own >= (1 - FALL) * before.get(None, 0))
                before = ways | {None: own}
    unknown = {key for key in reasons if key[0] not in MACHINES or key[1] not in map(words, SIZES["long"])}
    expect(f"rows of the page that are not tried: {unknown}", not unknown)
    sys.exit(1 if FAILED else 0)


main()
