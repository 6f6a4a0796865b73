#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Public threads in which somebody asked whether it is the fabric, and found the cause: what was measured there (figures of the thread), the network
as it is described, and what `diagnose` names first or tied with the first. Networks are those of the thread as far as it tells them.

usage: check_diagnose_cases.py CASE..., or none for all, with the executable in $COLLWIRE. Cost: 212 and 106 take 10 s, all 8 minutes."""
import json
import os
import subprocess
import sys
import tempfile

from checks import COLLWIRE, write

M, G = 1 << 20, 1 << 30
PAIRS = "quantity,place,value,unit,spread\n" + "".join(f"bandwidth,rank{a}->rank{b},{v},GB/s,3%\n" for a, b, v in ((0, 1, 49.36), (2, 3, 88.36), (3, 0, 49.3), (4, 1, 86.8)))
SWITCH = {"topology": {"dims": [{"kind": "switch", "size": 5, "link": {"rate": "800Gbps", "delay": "1us"}}]}, "workload": {"kind": "permutation", "bytes": "4MB"}}


def machine(like, nodes, **more):
    return {"topology": {"machine": {"like": like, **more} if more else like, "nodes": nodes},
            "workload": {"kind": "collective", "op": "all_reduce", "bytes": "16MB", "library": {"kind": "nccl"}}}


# case: the network, rows (bytes, busbw in GB/s) or a CSV, what the thread found, the kinds that say so; none = healthy; missed: named below the first
CASES = {
    "949": (machine("dgx_a100", 2, nics=2), 16, [(32 * M, 24), (128 * M, 26.5), (256 * M, 27)], "NVIDIA/nccl 949: ACS on, 27 of 48 GB/s", {"pcie", "slow_nic"}),
    "949-after": (machine("dgx_a100", 2, nics=2), 16, [(128 * M, 46.5), (256 * M, 48)], "NVIDIA/nccl 949: ACS off", set()),
    "112": (machine("dgx_a100", 2, nics=1), 16, [(G, 9.84)], "NVIDIA/nccl-tests 112: ACS on, one NIC of 200 Gb/s", {"pcie", "slow_nic"}),
    "465": (machine("dgx_a100", 4, gpus=4, nics=1, nic_rate="100Gbps"), 16, [(128 * M, 6)], "NVIDIA/nccl 465: no GPUDirect RDMA, half of 12 GB/s", {"pcie", "gdr_off"}),
    "212": (machine("dgx_h100", 1), 8, [(256 * M, 340), (G, 365)], "NVIDIA/nccl-tests 212: a ring in place of NVLS", {"library"}),
    "106": (SWITCH, 5, PAIRS, "NVIDIA/nccl-tests 106: one of five nodes at half of its bandwidth", {"slow_nic", "slow_link"}),
    "1368": (machine("dgx_h100", 5, nics=4), 40, [(G, 150)], "NVIDIA/nccl 1368: a tree in place of a ring", {"library"}),
    "378": (machine("dgx_a100", 4, nics=1, nic_rate="100Gbps"), 32, [(64 * M, 0.5)], "NVIDIA/nccl 378: RoCE without flow control, 0.x GB/s", {"pfc_off", "lossy_link"}),
}
MISSED = {"1368"}
HEADING = "#  size  count  type  redop  root  time  algbw  busbw  #wrong\n"


def table(rows, ranks):
    text = HEADING
    for size, bus in rows:
        alg = bus / (2 * (ranks - 1) / ranks)
        text += f"{size} {size // 4} float sum -1 {size / alg / 1e3:.1f} {alg:.2f} {bus:.2f} 0\n"
    return text


def case(folder, name):
    network, ranks, measured, found, kinds = CASES[name]
    write(folder, "network.json", {"name": "network", **network})
    write(folder, "measured", measured if isinstance(measured, str) else table(measured, ranks))
    done = subprocess.run([COLLWIRE, "diagnose", "measured", "--network", "network.json", "--format", "json"], capture_output=True, text=True, check=False, cwd=folder, timeout=900)
    if done.returncode not in (0, 1) or not done.stdout:
        print(f"{name}: {done.returncode} {done.stderr}")
        return False
    answer = json.loads(done.stdout)
    first = [c for i, c in enumerate(answer["causes"]) if i == 0 or (c["tie"] and answer["causes"][0]["tie"])]
    named = {c["kind"] for c in first}
    right = answer["healthy"] if not kinds else not answer["healthy"] and bool(kinds & named)
    said = "healthy" if answer["healthy"] else "; ".join(f"{c['kind']} {c.get('at') or ''}".strip() for c in first)
    print(f"{'right' if right else 'missed'}: {found}: {said}" + ("" if answer["healthy"] else f"; next: {answer['causes'][0]['next']}"))
    return right != (name in MISSED)


def main():
    failed = 0
    for name in sys.argv[1:] or CASES:
        with tempfile.TemporaryDirectory() as folder:
            failed += not case(folder, name)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
