#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Check captures of two classes: the DSCP of each job's packets and the class vector of PFC frames.

Runs collwire on scenarios/congestion/storage-beside-rdma.json as it is, and with the lossless class moved
to 5, captures a rank that sends both classes, lets check_capture.py dissect the file with tshark, and
compares DSCP and class vectors, read here from the bytes, with the metrics.
"""
import collections
import json
import os
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import check_capture  # noqa: E402

DSCP = {0: 0, 1: 8, 2: 16, 3: 26, 4: 32, 5: 40}
ACK_OPCODE = 0x11


def run(scenario, out, lossless):
    capture = [{"at": "rank0", "file": "rank0.pcap", "filter": "", "snaplen": "128B"}]
    command = [os.environ["COLLWIRE"], "run", scenario, "--quiet", "--out", out,
               "--set", "capture=" + json.dumps(capture),
               "--set", f"workload[0].class={lossless}",
               "--set", f'switch.classes.{lossless}={{"lossless":true,"weight":3}}']
    subprocess.run(command, check=True)
    with open(os.path.join(out, "metrics.json"), encoding="utf-8") as file:
        return json.load(file)


def seen(path):
    """Return counts of data and ACK packets by DSCP, and of PFC frames by class vector."""
    data, ack, pfc = collections.Counter(), collections.Counter(), collections.Counter()
    for _, _, _, frame in check_capture.records(path):
        if frame[12:14] == b"\x88\x08":
            pfc[frame[17]] += 1
        elif frame[42] == ACK_OPCODE:
            ack[frame[15] >> 2] += 1
        else:
            data[frame[15] >> 2] += 1
    return data, ack, pfc


def check(scenario, lossless):
    wrong = []
    with tempfile.TemporaryDirectory() as out:
        metrics = run(scenario, out, lossless)
        path = os.path.join(out, "rank0.pcap")
        data, ack, pfc = seen(path)
        tool = os.path.join(os.path.dirname(os.path.abspath(__file__)), "check_capture.py")
        if subprocess.run([sys.executable, tool, path], check=False).returncode:
            wrong.append("check_capture.py found something")
    sent = collections.Counter()
    for flow in metrics["flows"]:
        if flow["src"] == 0:
            sent[DSCP[1 if flow["job"] else lossless]] += flow["packets"]
    if data != sent or len(sent) != 2:
        wrong.append(f"data by DSCP {dict(data)}, expected {dict(sent)}")
    if set(ack) != set(sent):
        wrong.append(f"ACKs by DSCP {dict(ack)}")
    if set(pfc) != {1 << lossless}:
        wrong.append(f"PFC frames by class vector {dict(pfc)}, expected only class {lossless}")
    drops = metrics["drops"]["by_reason"]
    if drops["lossy_threshold"] == 0 or drops["headroom"] != 0:
        wrong.append(f"drops {drops}")
    for line in wrong:
        print(f"lossless class {lossless}: {line}")
    return bool(wrong)


def main():
    if not shutil.which("tshark"):
        print("skipped: no tshark")
        return 77
    return int(any([check(sys.argv[1], lossless) for lossless in (3, 5)]))


sys.exit(main())
